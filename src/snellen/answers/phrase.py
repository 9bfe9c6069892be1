"""Finds the short phrase that a reply gives as its answer."""

import re
from typing import NamedTuple

from snellen.answers._search import SearchText, WordSearch
from snellen.answers.reply import final_text
from snellen.lazy import lazy_pattern


class Phrase(NamedTuple):
    """The phrase that was found in a reply."""

    answer: str | None
    """The phrase without quotation marks, emphasis, and the period at its end; None if no phrase
    was found."""
    rule: str
    """The rule that found the phrase, or the reason why none was found."""
    candidates: tuple[str, ...] = ()
    """The phrases that the reply could mean."""


_BOXED = lazy_pattern(r"\\boxed\s{0,3}\{(?:\\text\s{0,3}\{)?([^{}]{1,300})\}")
ANSWER_IS = lazy_pattern(
    r"\banswer\s{0,5}(?:(?:is|would be|should be)\b\s{0,5}:?|\*{0,2}:)(?=([^\n]{1,300}))",
    re.IGNORECASE,
)
_ANSWERS = WordSearch(ANSWER_IS, ("answer",))
# A sentence ends after a word of three or more letters if a capital letter follows. The periods
# in "Dr. Smith", "U.S. Steel", and "Jan. 5" do not end a sentence.
_SENTENCE = lazy_pattern(
    r"""(?:(?<=\w{3})(?<!\bMrs)(?<!\bInc)(?<!\bLtd)|(?<=[\d)"'\u2019\u201d*%]))"""
    r"""[.!?](?=\**\s+["'(*]*[A-Z])"""
)
_AROUND = " \t\n\r*_`\"'\u2018\u2019\u201c\u201d"
# The last full stop of "6 p.m." belongs to the answer; that of "3.5." does not.
_LAST_STOP = lazy_pattern(r"(?<!\.[^\W\d])\.$")


def final_phrase(text: str) -> Phrase:
    r"""Find the phrase that a reply gives as its answer. Never guess.

    Tagged reasoning is not part of the reply. The phrase is the content of \boxed{…}; otherwise the
    text after "the answer is" or "Answer:", up to the end of the sentence; otherwise the whole
    reply. The first of these rules that applies decides. If it finds several phrases, the reply is
    unparsed.

    >>> final_phrase('The answer is **"May 5, 1970"**. It stands at the top.').answer
    'May 5, 1970'
    >>> final_phrase("Dr. Smith.").answer
    'Dr. Smith'
    """
    text = final_text(text)
    answers = _ANSWERS.finditer(SearchText(text))
    for rule, parts in (
        ("boxed", _BOXED.findall(text)),
        ("the answer is", (match[1] for match in answers)),
    ):
        phrases = [_bare(_SENTENCE.split(phrase)[0]) for phrase in parts]
        distinct = {phrase.lower(): phrase for phrase in phrases if phrase}
        if len(distinct) == 1:
            (only,) = distinct.values()
            return Phrase(only, rule)
        if distinct:
            return Phrase(None, f"several: {rule}", tuple(distinct.values()))
    reply = _bare(text)
    return Phrase(reply or None, "whole reply" if reply else "nothing said")


def _bare(text: str) -> str:
    text = text.strip(_AROUND)
    return _LAST_STOP.sub("", text).strip(_AROUND) if text.strip(".") else ""
