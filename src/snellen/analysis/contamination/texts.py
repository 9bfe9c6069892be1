"""Decides whether two texts ask the same thing, by comparing words and n-grams."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Words = tuple[str, ...]

_NO_BLANKS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
WORD = re.compile(rf"[{_NO_BLANKS}]|[^\W_{_NO_BLANKS}]+")
"""Matches a run of letters and digits, or one character of a script that has no spaces between
words."""
MARK = re.compile(r"<(?:image|video|img)[\s_\d]{0,8}>", re.IGNORECASE)
N = 8
"""The number of words in an n-gram. A data set and a corpus may have shorter n-grams in common by
chance. For comparison, the n-grams have 8 to 13 words in the GPT-3 paper, and 8 words in the PaLM
paper."""
SHORTEST = 3
"""The minimum number of words of a question that counts as a part of a longer text."""
SENTENCE_END = re.compile(r"[!?;\n。！？；：]|[.:](?!\w)")
"""Matches the end of a sentence, but not the point in a number."""
NEAR = 0.7
"""The minimum share of a question's n-grams that one text must contain, as in the PaLM paper."""
TEMPLATE = 10
"""If more than this number of questions share the same words, the words are a template, and a match
of these words alone does not count. The GPT-3 paper also leaves out such common n-grams."""
SMALL = frozenset(
    ("a", "an", "are", "do", "does", "is", "it", "of", "please", "that", "the", "this")
)
"""Words that may be missing in one of two wordings of the same question."""
EXACT = frozenset(
    (
        *("anti", "except", "never", "no", "not", "without"),
        *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    )
)
"""Words that must be the same in both texts, and in the same order. The same rule applies to
numbers."""
TYPO = 83.0
LONG_WORD = 5
MOST_SPELT = 2
"""The maximum number of words that may be spelled differently in two texts."""
LEAST_ALIKE = 80.0
NEARLY = 0.9999
"""The highest similarity of texts that are not identical. Identical texts have similarity 1."""
LONG = 20
LEFT_OVER = 0.1


def words(text: str) -> Words:
    """
    >>> words("<image>\\nIs the CAT black? 选B")
    ('is', 'the', 'cat', 'black', '选', 'b')
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return tuple(WORD.findall(MARK.sub(" ", text).casefold()))


def alike(a: Words, b: Words) -> float:
    """The similarity of two questions if they ask the same thing (1 if their words are identical);
    otherwise 0.

    Two questions ask the same thing if they differ only in small words (`the`, `please`) and in
    spelling (`colour`, `color`). In long texts, a tenth of the words may differ. Numbers and
    negations must be the same, in the same order.

    >>> round(alike(words("Is the colour of it red?"), words("is the color of it red")), 2)
    0.83
    >>> alike(words("Is there a cat?"), words("Is there a bat?"))
    0.0
    """
    if a == b:
        return 1.0
    room = LEFT_OVER * min(len(a), len(b)) if min(len(a), len(b)) >= LONG else 0
    # Most pairs are rejected here.
    if len((set(a) ^ set(b)) - SMALL) > 2 * (room + MOST_SPELT):
        return 0.0
    if [word for word in a if _counts(word)] != [word for word in b if _counts(word)]:
        return 0.0
    ours, theirs = Counter(a), Counter(b)
    only_a = [word for word in (ours - theirs).elements() if word not in SMALL]
    only_b = [word for word in (theirs - ours).elements() if word not in SMALL]
    if len([*_unmatched(only_a, only_b)]) > 2 * room:
        return 0.0
    from rapidfuzz import fuzz

    ratio = fuzz.ratio(a, b)
    # The same words in another order may be a different question: man bites dog.
    return min(NEARLY, ratio / 100) if ratio >= LEAST_ALIKE else 0.0


def _counts(word: str) -> bool:
    """Whether both texts must contain this word, in the same order relative to other such words."""
    return word in EXACT or any(sign.isdigit() for sign in word)


def _unmatched(only_a: Sequence[str], only_b: Sequence[str]) -> Iterator[str]:
    """Yield the words of both texts, except words that the other text spells differently."""
    left = [*only_b]
    for word in only_a:
        spelt = next((other for other in left if _spelling(word, other)), None)
        if spelt is None:
            yield word
        else:
            left.remove(spelt)
    yield from left


def _spelling(word: str, other: str) -> bool:
    from rapidfuzz import fuzz

    return min(len(word), len(other)) >= LONG_WORD and fuzz.ratio(word, other) >= TYPO


def has(text: Words, part: Words) -> bool:
    """Whether `text` contains the words of `part` in sequence; False if `part` is empty."""
    return f" {' '.join(part)} " in f" {' '.join(text)} " if part else False


def contains_question(text: str, question: Words) -> bool:
    """Whether a text contains a question as one of its parts.

    A question with fewer than N words must be a sentence of its own. A question with fewer than
    SHORTEST words never counts, since its words are in many other questions.

    >>> contains_question("Look. What is this? Answer briefly.", words("What is this?"))
    True
    >>> contains_question("What is this man holding?", words("What is this?"))
    False
    """
    if len(question) >= N:
        return has(words(text), question)
    if len(question) < SHORTEST:
        return False
    sentences = [words(sentence) for sentence in SENTENCE_END.split(text)]
    every = tuple(word for sentence in sentences for word in sentence)
    ends = {0, *accumulate(map(len, sentences))}
    return any(
        start + len(question) in ends and every[start : start + len(question)] == question
        for start in ends
    )


class Grams:
    """An index of the n-grams of many questions.

    The index does not contain questions with fewer than N words, or n-grams that occur in more than
    TEMPLATE questions.
    """

    def __init__(self, questions: Sequence[Words]) -> None:
        import numpy as np

        hashed, of = _grams(questions)
        # Each n-gram of a question counts once.
        both = np.unique(np.stack([hashed, of.astype(np.uint64)]), axis=1)
        _, kind_of, n = np.unique(both[0], return_inverse=True, return_counts=True)
        kept = n[kind_of] <= TEMPLATE
        self._hashed, self._of = both[0][kept], both[1][kept].astype(np.intp)
        self._n = np.bincount(self._of, minlength=len(questions))
        self._kinds = np.unique(self._hashed)
        self._starts = np.searchsorted(self._hashed, self._kinds)
        self._ends = np.append(self._starts[1:], len(self._hashed))
        self._likely = np.zeros(1 << _LIKELY, np.bool_)
        self._likely[self._kinds >> np.uint64(64 - _LIKELY)] = True

    def near(self, texts: Sequence[Words]) -> Iterator[tuple[int, int, float]]:
        """Find the pairs of a text and a question in which the text contains at least the share
        NEAR of the question's n-grams. Yields the index of the text, the index of the question, and
        the share."""
        import numpy as np

        if not len(self._kinds):
            return
        hashed, of = _grams(texts)
        likely = self._likely[hashed >> np.uint64(64 - _LIKELY)]
        hashed, of = hashed[likely], of[likely]
        kind = np.minimum(np.searchsorted(self._kinds, hashed), len(self._kinds) - 1)
        hit = self._kinds[kind] == hashed
        if not hit.any():
            return
        pairs = np.unique(np.stack([of[hit], kind[hit]]), axis=1)
        shared: Counter[tuple[int, int]] = Counter()
        for text, kind_number in pairs.T.tolist():
            for question in self._of[self._starts[kind_number] : self._ends[kind_number]].tolist():
                shared[text, question] += 1
        for (text, question), n in shared.items():
            share = n / int(self._n[question])
            if share >= NEAR:
                yield text, question, min(NEARLY, share)


_LIKELY = 22
"""The number of leading hash bits that are compared first. They already rule out nearly all n-grams
that are in no question."""
_FACTOR = 0x9E3779B97F4A7C15


def _grams(texts: Sequence[Words]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The hash of every n-gram, and the index of the text that contains it."""
    import numpy as np

    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    total = int(lengths.sum())
    hashed = np.fromiter((hash(word) for text in texts for word in text), np.int64, total)
    of = np.repeat(np.arange(len(texts)), lengths)
    if total < N:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    word = hashed.view(np.uint64)
    size = total - N + 1
    grams = np.zeros(size, np.uint64)
    for offset in range(N):
        grams = grams * np.uint64(_FACTOR) + word[offset : offset + size]
    # The last multiplication makes the upper bits depend on every word.
    grams = (grams ^ (grams >> np.uint64(32))) * np.uint64(_FACTOR)
    within_text = of[:size] == of[N - 1 :]
    return grams[within_text], of[:size][within_text]
