"""ANLS: how near an answer is to the nearest of several right ones, by their letters."""

from collections.abc import Iterable


def anls(answer: str, references: Iterable[str]) -> float:
    """The average normalised Levenshtein similarity's part of one question, in [0, 1].

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
        ValueError: there are no references.
    """
    from rapidfuzz.distance import Levenshtein

    said = _even(answer)
    length = len(answer.upper())
    nearest = min(
        _share(Levenshtein.distance(_even(right), said), max(len(right.upper()), length))
        for right in references
    )
    score = 1 - nearest
    return 0.0 if score < 0.5 else score


def _even(text: str) -> str:
    return " ".join(text.lower().split())


def _share(distance: int, length: int) -> float:
    return distance / length if length else 0.0
