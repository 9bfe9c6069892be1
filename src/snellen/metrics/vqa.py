"""VQA accuracy: how many of ten people gave an answer, each of them left out in turn."""

from collections.abc import Callable, Collection, Sequence

from snellen.text.vqa import (
    join_lines,
    normalise,
    normalise_textvqa,
    normalise_vlmevalkit,
    without_punctuation,
)

LONGEST_KEPT = 80
"""Characters of an answer that is likely to come again; longer ones are not kept."""
MOST_KEPT = 1 << 17
NOBODY = "an answer is scored by those of people, and there are none"


class _RuleCache(dict[str, str]):
    """What a rule makes of single texts: most answers come again and again. The commonest come
    early, so that once there are `MOST_KEPT` no other needs to be kept."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        super().__init__()
        self._rule = rule
        self._last: tuple[Sequence[str], list[str]] = ((), [])

    def __missing__(self, text: str) -> str:
        made = self._rule(text)
        if len(text) <= LONGEST_KEPT and len(self) < MOST_KEPT:
            self[text] = made
        return made

    def references(self, texts: Collection[str]) -> list[str]:
        # Several scorings ask for one sample's, one after the other; a tuple stays as it is.
        last, made = self._last
        if texts is last:
            return made
        made = [*map(self.__getitem__, texts)]
        if isinstance(texts, tuple):
            self._last = texts, made
        return made

    def matches(self, answer: str, references: Sequence[str]) -> int:
        """How many people gave the answer."""
        return self.references(references).count(self[answer])


_LINES = _RuleCache(join_lines)
_NORMALISED = _RuleCache(lambda text: normalise(join_lines(text)))
_TEXTVQA = _RuleCache(normalise_textvqa)
_VLMEVALKIT = _RuleCache(normalise_vlmevalkit)
_UNPUNCTUATED = _RuleCache(without_punctuation)


def vqa_accuracy(answer: str, references: Sequence[str]) -> float:
    """VQA's accuracy of an answer, given those of (usually ten) people.

        s = 1/n · Σ_i min(1, m_i / 3)        m_i: how many of the other n - 1 gave the answer

    Of ten, 1, 2, 3 and 4 or more make 0.3, 0.6, 0.9 and 1: not the papers' min(1, m/3), Antol et
    al. 2015, https://arxiv.org/abs/1505.00468, section 3. In [0, 1]; higher is better. Source:
    GT-Vision-Lab/VQA@a013f0043c1e2cdc995922dfe257f7149aa9af06:
    PythonEvaluationTools/vqaEvaluation/vqaEval.py#L86-L112.

    Quirk: answers are normalised only where people differ, so that "Red" is not what all ten call
    "red". Where ours differs: people are told apart by their place, the authors' by `answer_id`;
    without these nobody is left out but all who gave the same answer, and what all ten say is
    worth nothing.

    >>> vqa_accuracy("The cat.", ["cat"] * 3 + ["dog"] * 7)
    0.9
    >>> vqa_accuracy("Red", ["red"] * 10), vqa_accuracy("Red", ["red"] * 9 + ["pink"])
    (0.0, 1.0)

    Raises:
        ValueError: there are no references. TypeError: they are one text, or the answer is none.
    """
    _check_texts(answer, references)
    lines = {*_LINES.references({*references})}
    if len(lines) > 1:
        matches = _NORMALISED.matches(answer, references)
    else:
        matches = len(references) if _LINES[answer] in lines else 0
    return _others_share(matches, len(references))


def vqa_accuracy_always(answer: str, references: Sequence[str]) -> float:
    """`vqa_accuracy` where answers are normalised even if all people agree, as lmms-eval has it.

    Source: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
    lmms_eval/tasks/vqav2/utils.py#L21-L42.

    >>> vqa_accuracy_always("Red", ["red"] * 10)
    1.0

    Raises:
        ValueError: there are no references. TypeError: they are one text, or the answer is none.
    """
    _check_texts(answer, references)
    return _others_share(_NORMALISED.matches(answer, references), len(references))


def vqa_accuracy_lavis(answer: str, references: Sequence[str]) -> float:
    """`vqa_accuracy` as LAVIS has it: the answer is always normalised, references lose only
    punctuation, and that only where they differ.

    A reference such as "the cat", "Cat" or "two" is thus out of reach.

    Source: salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7:
    lavis/common/vqa_tools/vqa_eval.py#L210-L231.

    >>> vqa_accuracy_lavis("two", ["two"] * 10), vqa_accuracy_lavis("2 cats", ["2-cats", "2"] * 5)
    (0.0, 1.0)

    Raises:
        ValueError: there are no references. TypeError: they are one text, or the answer is none.
    """
    _check_texts(answer, references)
    if len(set(references)) > 1:
        references = _UNPUNCTUATED.references(references)
    return _others_share(references.count(_NORMALISED[answer]), len(references))


def vqa_accuracy_mmpretrain(answer: str, references: Sequence[str]) -> float:
    """The share of people who gave the answer, 0.3 being enough; all is always normalised.

        s = min(1, m / n / 0.3)

    Of ten, 1, 2 and 3 or more make 1/3, 2/3 and 1. Source:
    open-mmlab/mmpretrain@ee7f2e88501f61aa95c742dd5f429f039935ee90:
    mmpretrain/evaluation/metrics/vqa.py#L242-L268.

    >>> vqa_accuracy_mmpretrain("cat", ["a cat"] * 3 + ["dog"] * 7)
    1.0

    Raises:
        ValueError: there are no references. TypeError: they are one text, or the answer is none.
    """
    _check_texts(answer, references)
    if not references:
        raise ValueError(NOBODY)
    return min(1.0, _NORMALISED.matches(answer, references) / len(references) / 0.3)


def textvqa_accuracy(answer: str, references: Sequence[str]) -> float:
    """TextVQA's accuracy of an answer: `vqa_accuracy`, with mmf's normaliser for all answers, also
    where all people agree.

    In [0, 1]; higher is better. Source: haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:
    llava/eval/m4c_evaluator.py#L225-L257, as in mmf, which asks for exactly ten people.

    >>> textvqa_accuracy("STOP, sign?", ["stop sign"] * 2 + ["stop"] * 8)
    0.6

    Raises:
        ValueError: there are no references. TypeError: they are one text, or the answer is none.
    """
    _check_texts(answer, references)
    return _others_share(_TEXTVQA.matches(answer, references), len(references))


def stvqa_accuracy(answer: str, references: Sequence[str]) -> float:
    """ST-VQA's accuracy of an answer: 1 if it is one of the references, all normalised as mmf
    does TextVQA's, else 0.

    Source: haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:
    llava/eval/m4c_evaluator.py#L260-L273.

    >>> stvqa_accuracy("The stop, sign?", ["yield", "stop sign"]), stvqa_accuracy("sign", ["signs"])
    (1.0, 0.0)

    Raises:
        TypeError: the references are one text, or the answer is none.
    """
    _check_texts(answer, references)
    return float(_TEXTVQA.matches(answer, references) > 0)


def textvqa_accuracy_vlmevalkit(answer: str, references: Sequence[str]) -> float:
    """`vqa_accuracy` with VLMEvalKit's normaliser for all answers, also where all people agree.

    Source: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:
    vlmeval/dataset/utils/vqa_eval.py#L257-L270.

    >>> textvqa_accuracy_vlmevalkit("3.", ["3"] * 10), textvqa_accuracy("3.", ["3"] * 10)
    (0.0, 1.0)

    Raises:
        ValueError: there are no references. TypeError: they are one text, or the answer is none.
    """
    _check_texts(answer, references)
    return _others_share(_VLMEVALKIT.matches(answer, references), len(references))


def _check_texts(answer: object, references: object) -> None:
    # One text would be taken for people of a letter each.
    if isinstance(references, str):
        raise TypeError(f"references is a list of answers, not one text: [{references!r}]")
    if not isinstance(answer, str):
        raise TypeError(f"an answer is a text, not a {type(answer).__name__}: {answer!r:.80}")


def _others_share(matches: int, people: int) -> float:
    """The mean over people of min(1, how many others match / 3), where so many match in all."""
    if not people:
        raise ValueError(NOBODY)
    thirds = matches * min(matches - 1, 3) + (people - matches) * min(matches, 3)
    return thirds / (3 * people)
