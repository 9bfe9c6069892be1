"""ANLS: the edit-distance similarity of an answer to the most similar reference."""

from collections.abc import Iterable


def anls(answer: str, references: Iterable[str]) -> float:
    """The normalized Levenshtein similarity of one answer to its most similar reference, in [0, 1].

        s = max_r (1 - d(a', r') / max(|a|, |r|)),    0 where s < 1/2

    a' and r' are the answer and the reference in lowercase, with single spaces between words. d is
    the number of code points that must be inserted, deleted, or replaced. The mean of s over all
    questions is the ANLS of Biten et al. 2019, https://arxiv.org/abs/1905.13648, equation 1. The
    details below follow the code of the organizers of DocVQA and InfographicVQA:
    QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:
    eval_mm/infographicsvqa_eval.py#L131-L145.

    - |a| and |r| are the lengths of the texts in uppercase, including all spaces. Spaces around an
      answer can therefore increase its score, and so can "ß", which becomes two letters in
      uppercase.
    - A similarity of exactly 1/2 is kept, whereas the paper's formula sets it to 0.
    - Two empty texts are equal.

    >>> anls("Kitten", ["sitting", "kitten "])
    1.0
    >>> anls("ab", ["ax"]), anls("abc", ["axx"])
    (0.5, 0.0)

    Raises:
        ValueError: There are no references.
        TypeError: The references are a single string, or the answer is not a string.
    """
    from rapidfuzz.distance import Levenshtein

    several = _checked(answer, references)
    normalized = _even(answer)
    length = len(answer.upper())
    nearest = min(
        _share(Levenshtein.distance(_even(right), normalized), max(len(right.upper()), length))
        for right in several
    )
    score = 1 - nearest
    return 0.0 if score < 0.5 else score


def anls_mmpretrain(answer: str, references: Iterable[str]) -> float:
    """`anls` as mmpretrain computes it: the lengths include extra spaces in the answer and exclude
    extra spaces in the reference.

    Source: open-mmlab/mmpretrain@ee7f2e88501f61aa95c742dd5f429f039935ee90:
    mmpretrain/evaluation/metrics/ANLS.py#L57-L86.

    >>> anls_mmpretrain("ax", ["a  "]), anls("ax", ["a  "]), anls_mmpretrain("ax  ", ["a"])
    (0.5, 0.6666666666666667, 0.75)

    Raises:
        ValueError: There are no references.
        TypeError: The references are a single string, or the answer is not a string.
    """
    return anls(answer, map(_even, _checked(answer, references)))


def anls_pix2struct(answer: str, references: Iterable[str]) -> float:
    """Pix2Struct's ANLS of an answer, in [0, 1]. All spaces count.

        s = max_r s_r,    s_r = 1 - d(a', r') / max(|a'|, |r'|),    0 where s_r <= 1/2

    a' and r' are the answer and the reference in lowercase. A similarity of exactly 1/2 gives 0, as
    in the paper. Pix2Struct's published results were computed in this way. Source:
    google-research/pix2struct@945f27e936c9464d9d7c133f1bd1f4f383be9e99:pix2struct/metrics.py
    #L25-L36, #L58-L78, and #L139-L143 (in percent). One difference: two empty texts are equal here,
    while the authors' code divides by zero.

    >>> anls_pix2struct("Cat ", ["cat"]), anls_pix2struct("ab", ["ax"])
    (0.75, 0.0)

    Raises:
        ValueError: There are no references.
        TypeError: The references are a single string, or the answer is not a string.
    """
    several = _checked(answer, references)
    score = max(_likeness(answer.lower(), right.lower()) for right in several)
    return score if score > 0.5 else 0.0


def anls_m4c(answer: str, references: Iterable[str]) -> float:
    """ST-VQA's ANLS of an answer as mmf computes it for M4C, in [0, 1]. Inner spaces count.

        s = max_r (1 - d(a', r') / max(|a'|, |r'|)),    0 where s < 1/2

    a' and r' are the answer and the reference in lowercase and without spaces at the ends. Source:
    haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:llava/eval/m4c_evaluator.py
    #L276-L298. One difference: two empty texts are equal here, while the authors' code divides by
    zero.

    >>> anls_m4c(" Cat ", ["cat"]), anls_m4c("a  b", ["a b"]), anls_m4c("ab", ["ax"])
    (1.0, 0.75, 0.5)

    Raises:
        ValueError: There are no references.
        TypeError: The references are a single string, or the answer is not a string.
    """
    several = _checked(answer, references)
    lowered = answer.lower().strip()
    score = max(_likeness(lowered, right.lower().strip()) for right in several)
    return 0.0 if score < 0.5 else score


def _checked(answer: object, references: Iterable[str]) -> list[str]:
    """Check the answer and the references, and return the references as a list."""
    # A single string would be treated as references of one letter each.
    if isinstance(references, str):
        raise TypeError(f"references must be a list of answers, not one text: [{references!r}]")
    if not isinstance(answer, str):
        raise TypeError(f"an answer must be text, not a {type(answer).__name__}: {answer!r:.80}")
    several = list(references)
    if not several:
        raise ValueError("an answer cannot be scored without references")
    return several


def _likeness(answer: str, right: str) -> float:
    from rapidfuzz.distance import Levenshtein

    return 1 - _share(Levenshtein.distance(right, answer), max(len(right), len(answer)))


def _even(text: str) -> str:
    return " ".join(text.lower().split())


def _share(distance: int, length: int) -> float:
    return distance / length if length else 0.0
