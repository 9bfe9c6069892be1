"""ANLS: how near an answer is to the nearest of several right ones, by their letters."""

from collections.abc import Iterable


def anls(answer: str, references: Iterable[str]) -> float:
    """The average normalized Levenshtein similarity's part of one question, in [0, 1].

        s = max_r (1 - d(a', r') / max(|a|, |r|)),    0 where s < 1/2

    a' and r' are answer and reference in small letters, with single blanks between words; d is the
    number of code points to insert, delete or replace. Biten et al. 2019,
    https://arxiv.org/abs/1905.13648, equation 1, as the organisers of DocVQA and InfographicVQA
    compute it: QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:
    eval_mm/infographicsvqa_eval.py#L131-L145. Of that code are these, too:

    - |a| and |r| are the lengths in capitals and with all blanks: blanks around an answer raise its
      score, and so does "ß", which is two letters in capitals.
    - exactly 1/2 counts; in the paper it does not.
    - two empty texts are the same.

    >>> anls("Kitten", ["sitting", "kitten "])
    1.0
    >>> anls("ab", ["ax"]), anls("abc", ["axx"])
    (0.5, 0.0)

    Raises:
        ValueError: there are no references. TypeError: they are one text, or the answer is none.
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
    """`anls` where only blanks of the answer count for the length, and none of a reference.

    Source: open-mmlab/mmpretrain@ee7f2e88501f61aa95c742dd5f429f039935ee90:
    mmpretrain/evaluation/metrics/ANLS.py#L57-L86.

    >>> anls_mmpretrain("ax", ["a  "]), anls("ax", ["a  "]), anls_mmpretrain("ax  ", ["a"])
    (0.5, 0.6666666666666667, 0.75)

    Raises:
        ValueError: there are no references. TypeError: they are one text, or the answer is none.
    """
    return anls(answer, map(_even, _checked(answer, references)))


def anls_pix2struct(answer: str, references: Iterable[str]) -> float:
    """Pix2Struct's ANLS of an answer, in [0, 1]: of small letters, blanks as any other sign.

        s = max_r s_r,    s_r = 1 - d(a', r') / max(|a'|, |r'|),    0 where s_r <= 1/2

    Exactly 1/2 is nothing, as in the paper; Pix2Struct's published figures used this. Source:
    google-research/pix2struct@945f27e936c9464d9d7c133f1bd1f4f383be9e99:pix2struct/metrics.py
    #L25-L36, #L58-L78 and #L139-L143, in percent. Where ours differs: two empty texts are the same;
    the authors' code divides by zero.

    >>> anls_pix2struct("Cat ", ["cat"]), anls_pix2struct("ab", ["ax"])
    (0.75, 0.0)

    Raises:
        ValueError: there are no references. TypeError: they are one text, or the answer is none.
    """
    several = _checked(answer, references)
    score = max(_likeness(answer.lower(), right.lower()) for right in several)
    return score if score > 0.5 else 0.0


def anls_m4c(answer: str, references: Iterable[str]) -> float:
    """ST-VQA's ANLS of an answer as mmf has it for M4C, in [0, 1]: blanks count between words.

        s = max_r (1 - d(a', r') / max(|a'|, |r'|)),    0 where s < 1/2

    a' and r' are in small letters and without blanks at the ends. Source:
    haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:llava/eval/m4c_evaluator.py
    #L276-L298. Where ours differs: two empty texts are the same; the authors' code divides by zero.

    >>> anls_m4c(" Cat ", ["cat"]), anls_m4c("a  b", ["a b"]), anls_m4c("ab", ["ax"])
    (1.0, 0.75, 0.5)

    Raises:
        ValueError: there are no references. TypeError: they are one text, or the answer is none.
    """
    several = _checked(answer, references)
    lowered = answer.lower().strip()
    score = max(_likeness(lowered, right.lower().strip()) for right in several)
    return 0.0 if score < 0.5 else score


def _checked(answer: object, references: Iterable[str]) -> list[str]:
    """The references, of which there are some."""
    # One text would be taken for references of a letter each.
    if isinstance(references, str):
        raise TypeError(f"references is a list of answers, not one text: [{references!r}]")
    if not isinstance(answer, str):
        raise TypeError(f"an answer is a text, not a {type(answer).__name__}: {answer!r:.80}")
    several = list(references)
    if not several:
        raise ValueError("an answer is scored by its references, and there are none")
    return several


def _likeness(answer: str, right: str) -> float:
    from rapidfuzz.distance import Levenshtein

    return 1 - _share(Levenshtein.distance(right, answer), max(len(right), len(answer)))


def _even(text: str) -> str:
    return " ".join(text.lower().split())


def _share(distance: int, length: int) -> float:
    return distance / length if length else 0.0
