"""WUPS: how similar two short answers are, by the similarity of their words in WordNet.

doc-doc/NExT-OE@a83f8f581191da07675e0fc83074e0dfcf907273:eval_oe.py#L6-L12 and metrics.py#L11-L79.
The lemmas are those of alvations/pywsd@591d388f5e30817701e9eea9371a37db35f1f361:pywsd/utils.py
#L81-L139 and tokenize.py, which the authors call. Sentences, tags, stems, and WordNet are nltk's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from snellen.errors import DataError, install

DOWNLOAD = "python -m nltk.downloader wordnet punkt_tab averaged_perceptron_tagger_eng"
PARTS_OF_SPEECH = {"NN": "n", "JJ": "a", "VB": "v", "RB": "r"}
"""WordNet's parts of speech, keyed by the first two letters of a tag."""
KNOWN_WORDS = 1 << 16


@contextmanager
def needing_nltk() -> Iterator[None]:
    """Turn an error about a missing package, or about missing data of nltk, into a `DataError`."""
    try:
        yield
    except ImportError as error:
        raise DataError(
            f"WUPS needs the package nltk, which is not installed. Run `{install('ocr')}`."
        ) from error
    except LookupError as error:
        if type(error) is not LookupError:  # a mistake in code, such as a missing key
            raise
        raise DataError(
            f"WUPS needs WordNet and other data of nltk, which are not installed. Run `{DOWNLOAD}`."
        ) from error


@cache
def stop_words() -> frozenset[str]:
    """The words that the authors leave out."""
    path = resources.files(__package__).joinpath("wups_stop_words.txt")
    return frozenset(path.read_text(encoding="utf-8").split())


def meaningful(text: str) -> str:
    """The lemmas of a text without stop words, in lowercase and joined by blanks.

    Raises:
        DataError: nltk or its data are not installed.
    """
    with needing_nltk():
        lemmas = [lemma_of(word.lower(), tag) for word, tag in tagger().tag(words_of(text))]
    return " ".join(lemma for lemma in lemmas if lemma not in stop_words())


@cache
def tagger() -> Any:
    """The tagger that nltk's pos_tag loads again for each text."""
    from nltk.tag.perceptron import PerceptronTagger

    return PerceptronTagger()


def words_of(text: str) -> list[str]:
    from nltk import sent_tokenize

    split = word_tokenizer()
    return [word for sentence in sent_tokenize(text) for word in split.tokenize(sentence)]


@cache
def word_tokenizer() -> Any:
    """The tokenizer of the Penn Treebank, which here also separates other quotation marks."""
    from nltk.tokenize.treebank import TreebankWordTokenizer

    tokenizer = TreebankWordTokenizer()
    for name, pattern, replacement in (
        ("STARTING_QUOTES", "([«“\u2018„]|[`]+)", r" \1 "),
        ("ENDING_QUOTES", "([»”\u2019]+)", r" \1 "),
        ("PUNCTUATION", "([^\\.])(\\.)([\\])}>\"'»”\u2019 ]*+)\\s*$", r"\1 \2 \3 "),
    ):
        rules = [(re.compile(pattern), replacement), *getattr(tokenizer, name)]
        setattr(tokenizer, name, rules)
    return tokenizer


@lru_cache(KNOWN_WORDS)
def lemma_of(word: str, tag: str) -> str:
    """The lemma of a word or, if it is not in WordNet, the stem. If neither is, the word. A word
    whose tag is of no part of speech in WordNet is tagged again, alone."""
    from nltk.corpus import wordnet
    from nltk.stem import PorterStemmer, WordNetLemmatizer

    part = PARTS_OF_SPEECH.get(tag[:2])
    if part is None:
        ((_, alone),) = tagger().tag([word])
        part = PARTS_OF_SPEECH.get(alone[:2], "n")
    lemma: str = WordNetLemmatizer().lemmatize(word, pos=part)
    if wordnet.synsets(lemma):
        return lemma
    stem: str = PorterStemmer().stem(word)
    return stem if wordnet.synsets(stem) else word


def wups(first: str, second: str) -> float:
    """The WUPS at threshold 0 of two texts that `meaningful` returns. In [0, 1].

    Raises:
        DataError: nltk or its data are not installed.
    """
    with needing_nltk():
        from nltk import word_tokenize

        words = word_tokenize(first), word_tokenize(second)
        return min(share_of(*words), share_of(*reversed(words)))


def check_installation() -> None:
    """Compute the WUPS of two words, which needs nltk and all of its data.

    Raises:
        DataError: nltk or its data are not installed.
    """
    wups(meaningful("a dog"), meaningful("a cat"))


def share_of(words: Sequence[str], others: Sequence[str]) -> float:
    """The product of each word's similarity to the most similar of the other words. Words that are
    similar to no other word are left out, and without any similar words, the product is 0."""
    best = (max((similarity(word, other) for other in others), default=0.0) for word in words)
    similar = [value for value in best if value]
    return math.prod(similar) if similar else 0.0


@lru_cache(KNOWN_WORDS)
def similarity(first: str, second: str) -> float:
    """Wu and Palmer's similarity of the first senses of two words. 0 if a word is not in WordNet,
    and 1 for a word and itself."""
    from nltk.corpus import wordnet

    if first == second:
        return 1.0
    senses = [wordnet.synsets(word) for word in (first, second)]
    if not all(senses):
        return 0.0
    return senses[0][0].wup_similarity(senses[1][0]) or 0.0
