"""VQA accuracy, which depends on how many of ten people gave the same answer as the model."""

from collections.abc import Callable, Collection, Sequence

from snellen.text.vqa import (
    normalize,
    normalize_textvqa,
    normalize_vlmevalkit,
    without_line_breaks,
    without_punctuation,
)

LONGEST_KEPT = 80
"""The maximum length, in characters, of an answer that is cached. Longer answers rarely occur
again."""
MOST_KEPT = 1 << 17
NOBODY = "an answer cannot be scored without people's answers"


class _RuleCache(dict[str, str]):
    """A cache of normalized texts, since most answers occur many times. After `MOST_KEPT` entries,
    nothing more is added, since the most common answers occur early."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        super().__init__()
        self._rule = rule
        self._last: tuple[Sequence[str], list[str]] = ((), [])

    def __missing__(self, text: str) -> str:
        normalized = self._rule(text)
        if len(text) <= LONGEST_KEPT and len(self) < MOST_KEPT:
            self[text] = normalized
        return normalized

    def references(self, texts: Collection[str]) -> list[str]:
        # Several scorings normalize the references of one sample in turn. Their tuple is the same
        # object each time.
        last, normalized = self._last
        if texts is last:
            return normalized
        normalized = [*map(self.__getitem__, texts)]
        if isinstance(texts, tuple):
            self._last = texts, normalized
        return normalized

    def matches(self, answer: str, references: Sequence[str]) -> int:
        """The number of people who gave the answer."""
        return self.references(references).count(self[answer])


_LINES = _RuleCache(without_line_breaks)
_NORMALISED = _RuleCache(lambda text: normalize(without_line_breaks(text)))
_TEXTVQA = _RuleCache(normalize_textvqa)
_VLMEVALKIT = _RuleCache(normalize_vlmevalkit)
_UNPUNCTUATED = _RuleCache(without_punctuation)


def vqa_accuracy(answer: str, references: Sequence[str]) -> float:
    """The VQA accuracy of an answer, given the answers of several people, usually ten.

        s = 1/n · Σ_i min(1, m_i / 3)

    n is the number of people, and m_i is the number of people other than person i who gave the
    answer. With ten people, 1, 2, 3, and 4 or more matches give scores of 0.3, 0.6, 0.9, and 1. The
    paper has another formula, min(1, m/3) (Antol et al. 2015, https://arxiv.org/abs/1505.00468,
    section 3). In [0, 1]; higher is better. Source:
    GT-Vision-Lab/VQA@a013f0043c1e2cdc995922dfe257f7149aa9af06:
    PythonEvaluationTools/vqaEvaluation/vqaEval.py#L86-L112.

    As in the authors' code, answers are normalized only if people disagree, so "Red" is wrong if
    all ten people answered "red". One difference: this function identifies people by position, and
    the authors' code identifies them by `answer_id`. If `answer_id` is missing, the authors' code
    leaves out not only person i, but everyone who gave the same answer as person i. An answer that
    all ten people gave then scores 0.

    >>> vqa_accuracy("The cat.", ["cat"] * 3 + ["dog"] * 7)
    0.9
    >>> vqa_accuracy("Red", ["red"] * 10), vqa_accuracy("Red", ["red"] * 9 + ["pink"])
    (0.0, 1.0)

    Raises:
        ValueError: There are no references.
        TypeError: The references are a single string, or the answer is not a string.
    """
    _check_texts(answer, references)
    lines = {*_LINES.references({*references})}
    if len(lines) > 1:
        matches = _NORMALISED.matches(answer, references)
    else:
        matches = len(references) if _LINES[answer] in lines else 0
    return _others_share(matches, len(references))


def vqa_accuracy_always(answer: str, references: Sequence[str]) -> float:
    """`vqa_accuracy` as lmms-eval computes it: answers are normalized even if all people agree.

    Source: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
    lmms_eval/tasks/vqav2/utils.py#L21-L42.

    >>> vqa_accuracy_always("Red", ["red"] * 10)
    1.0

    Raises:
        ValueError: There are no references.
        TypeError: The references are a single string, or the answer is not a string.
    """
    _check_texts(answer, references)
    return _others_share(_NORMALISED.matches(answer, references), len(references))


def vqa_accuracy_lavis(answer: str, references: Sequence[str]) -> float:
    """`vqa_accuracy` as LAVIS computes it, with references that are hardly normalized.

    The answer is always normalized. References lose only their punctuation, and only if the
    references differ from each other. A reference such as "the cat", "Cat", or "two" can therefore
    never be matched.

    Source: salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7:
    lavis/common/vqa_tools/vqa_eval.py#L210-L231.

    >>> vqa_accuracy_lavis("two", ["two"] * 10), vqa_accuracy_lavis("2 cats", ["2-cats", "2"] * 5)
    (0.0, 1.0)

    Raises:
        ValueError: There are no references.
        TypeError: The references are a single string, or the answer is not a string.
    """
    _check_texts(answer, references)
    if len(set(references)) > 1:
        references = _UNPUNCTUATED.references(references)
    return _others_share(references.count(_NORMALISED[answer]), len(references))


def vqa_accuracy_mmpretrain(answer: str, references: Sequence[str]) -> float:
    """The VQA accuracy of mmpretrain: the share of people who gave the answer, divided by 0.3.

        s = min(1, m / n / 0.3)

    The answer was given by m of n people. With ten people, 1, 2, and 3 or more matches give scores
    of 1/3, 2/3, and 1. All texts are normalized. Source:
    open-mmlab/mmpretrain@ee7f2e88501f61aa95c742dd5f429f039935ee90:
    mmpretrain/evaluation/metrics/vqa.py#L242-L268.

    >>> vqa_accuracy_mmpretrain("cat", ["a cat"] * 3 + ["dog"] * 7)
    1.0

    Raises:
        ValueError: There are no references.
        TypeError: The references are a single string, or the answer is not a string.
    """
    _check_texts(answer, references)
    if not references:
        raise ValueError(NOBODY)
    return min(1.0, _NORMALISED.matches(answer, references) / len(references) / 0.3)


def textvqa_accuracy(answer: str, references: Sequence[str]) -> float:
    """TextVQA's accuracy: `vqa_accuracy` with mmf's normalization, which is applied even if all
    people agree.

    In [0, 1]; higher is better. Source: haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:
    llava/eval/m4c_evaluator.py#L225-L257. The code in mmf is the same, but requires exactly ten
    people.

    >>> textvqa_accuracy("STOP, sign?", ["stop sign"] * 2 + ["stop"] * 8)
    0.6

    Raises:
        ValueError: There are no references.
        TypeError: The references are a single string, or the answer is not a string.
    """
    _check_texts(answer, references)
    return _others_share(_TEXTVQA.matches(answer, references), len(references))


def stvqa_accuracy(answer: str, references: Sequence[str]) -> float:
    """ST-VQA's accuracy: 1 if the answer is one of the references, else 0. All texts are normalized
    in the same way as for TextVQA in mmf.

    Source: haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:
    llava/eval/m4c_evaluator.py#L260-L273.

    >>> stvqa_accuracy("The stop, sign?", ["yield", "stop sign"]), stvqa_accuracy("sign", ["signs"])
    (1.0, 0.0)

    Raises:
        TypeError: The references are a single string, or the answer is not a string.
    """
    _check_texts(answer, references)
    return float(_TEXTVQA.matches(answer, references) > 0)


def textvqa_accuracy_vlmevalkit(answer: str, references: Sequence[str]) -> float:
    """`vqa_accuracy` with VLMEvalKit's normalization, which is applied even if all people agree.

    Source: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:
    vlmeval/dataset/utils/vqa_eval.py#L257-L270.

    >>> textvqa_accuracy_vlmevalkit("3.", ["3"] * 10), textvqa_accuracy("3.", ["3"] * 10)
    (0.0, 1.0)

    Raises:
        ValueError: There are no references.
        TypeError: The references are a single string, or the answer is not a string.
    """
    _check_texts(answer, references)
    return _others_share(_VLMEVALKIT.matches(answer, references), len(references))


def _check_texts(answer: object, references: object) -> None:
    # A single string would be treated as the answers of people who gave one letter each.
    if isinstance(references, str):
        raise TypeError(f"references must be a list of answers, not one text: [{references!r}]")
    if not isinstance(answer, str):
        raise TypeError(f"an answer must be text, not a {type(answer).__name__}: {answer!r:.80}")


def _others_share(matches: int, people: int) -> float:
    """The mean of min(1, m_i / 3), as in `vqa_accuracy`, computed from the total number of
    matches."""
    if not people:
        raise ValueError(NOBODY)
    thirds = matches * min(matches - 1, 3) + (people - matches) * min(matches, 3)
    return thirds / (3 * people)
