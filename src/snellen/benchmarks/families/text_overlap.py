"""How much two texts agree, as OCRBench v2 measures it: the mean of BLEU-4, METEOR, F-measure, and
edit similarity.

Yuliang-Liu/MultimodalOCR@794c36d6423cf1d5764081128bcaeb46b240def6:OCRBench_v2/eval_scripts/
page_ocr_metric.py#L11-L36. Words come from jieba if a text has Chinese characters, and from blanks
otherwise. BLEU, METEOR, and the F-measure are those of nltk, without smoothing. METEOR looks up in
WordNet the words of a reply that match no word of the reference. WordNet is needed only for words
that it may contain.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from snellen.benchmarks.families.edit_distance import plain_similarity
from snellen.errors import DataError, install

CHINESE = re.compile("[\u4e00-\u9fa5]")
LEMMA = re.compile(r"[a-z0-9_.'/-]+")
"""The characters of WordNet 3.0's lemmas. Other words are not in it."""
DIGIT_INSIDE = re.compile(r"[a-z].*[0-9].*[a-z]")
WITH_DIGITS = ("c2h6", "h2o", "y2k")
"""The words of WordNet 3.0 with a digit between letters, without those of several words."""
ENDINGS = tuple("sndgrt")
"""The last letters of the endings that WordNet removes to get a word's base form."""
INSTALL_WORDNET = "python -m nltk.downloader wordnet"


@cache
def missing_packages() -> tuple[str, ...]:
    """The names of the required packages that are not installed."""
    return tuple(name for name in ("jieba", "nltk") if find_spec(name) is None)


def agreement(text: str, right: str) -> float:
    """The mean of BLEU-4, METEOR, F-measure, and edit similarity.

    Raises:
        DataError: a package or WordNet is missing. The message says how to install it.
    """
    if names := missing_packages():
        raise DataError(
            f"BLEU and METEOR need the packages {' and '.join(names)}, which are not installed. "
            f"Run `{install('ocr')}`."
        )
    from nltk.metrics import f_measure
    from nltk.translate.bleu_score import sentence_bleu
    from nltk.translate.meteor_score import meteor_score

    chinese = bool(CHINESE.search(text) or CHINESE.search(right))
    reference, words = words_of(right, chinese), words_of(text, chinese)
    with warnings.catch_warnings(action="ignore"):  # about n-grams that do not match
        bleu = sentence_bleu([reference], words)
    meteor = meteor_score([reference], words, wordnet=WordNet(reference))
    f1 = f_measure({*reference}, {*words}) or 0.0
    return float(bleu + meteor + f1 + plain_similarity(text, right)) / 4


def check_installation() -> None:
    """Compare two words that METEOR looks up.

    Raises:
        DataError: a package or WordNet is missing.
    """
    agreement("dog", "cat")


def words_of(text: str, chinese: bool) -> list[str]:
    if not chinese:
        return text.split()
    with warnings.catch_warnings(action="ignore"):  # about backslashes in its source
        import jieba
    jieba.setLogLevel("ERROR")
    words: list[str] = jieba.lcut(text)
    return words


class WordNet:
    """The synonyms that METEOR looks up, to compare them with the words of a reference."""

    def __init__(self, reference: Sequence[str]) -> None:
        self.needed = any(LEMMA.fullmatch(word.lower()) for word in reference)

    def synsets(self, word: str) -> Sequence[Any]:
        """The sets of synonyms of a word.

        Raises:
            DataError: WordNet is not installed, and the word may be in it.
        """
        if not self.needed or not may_be_in_wordnet(word):
            return ()
        from nltk.corpus import wordnet

        try:
            synsets: Sequence[Any] = wordnet.synsets(word)
        except LookupError as error:
            raise DataError(
                f"METEOR must look up {word[:40]!r} in WordNet, which is not installed. Run "
                f"`{INSTALL_WORDNET}`."
            ) from error
        return synsets


def may_be_in_wordnet(word: str) -> bool:
    """Whether WordNet 3.0 may contain a word in lowercase.

    >>> [may_be_in_wordnet(word) for word in ("total", "y2k", "total7x", "合", "$3", "!")]
    [True, True, False, False, False, False]
    """
    if not LEMMA.fullmatch(word) or not re.search("[a-z0-9]", word):
        return False
    if DIGIT_INSIDE.search(word) and not word.endswith(ENDINGS):
        return word in WITH_DIGITS
    return True
