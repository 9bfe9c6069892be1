"""The short phrase that a reply settles on."""

import re
from typing import NamedTuple

from snellen.answers.reply import final_text


class Phrase(NamedTuple):
    """The phrase that a reply settles on."""

    answer: str | None
    """The phrase without quotation marks, emphasis, and the full stop at its end; None if there is
    none."""
    rule: str
    """The rule that found it, or gave up."""
    candidates: tuple[str, ...] = ()
    """The phrases that the reply could have meant."""


_BOXED = re.compile(r"\\boxed\s{0,3}\{(?:\\text\s{0,3}\{)?([^{}]{1,300})\}")
_ANSWER_IS = re.compile(
    r"\banswer\s{0,5}(?:(?:is|would be|should be)\b\s{0,5}:?|\*{0,2}:)(?=([^\n]{1,300}))",
    re.IGNORECASE,
)
# "Dr. Smith", "U.S. Steel", and "Jan. 5" do not end a sentence. It ends after a longer word that a
# capital or nothing follows.
_SENTENCE = re.compile(
    r"""(?:(?<=\w{3})(?<!\bMrs)(?<!\bInc)(?<!\bLtd)|(?<=[\d)"'\u2019\u201d*%]))"""
    r"""[.!?](?=\**\s+["'(*]*[A-Z])"""
)
_AROUND = " \t\n\r*_`\"'\u2018\u2019\u201c\u201d"
_LAST_STOP = re.compile(r"(?<!\.\w)\.$")


def final_phrase(text: str) -> Phrase:
    r"""The phrase that a reply settles on; never a guess.

    Tagged reasoning is not part of the reply. These rules are tried in order: \boxed{…}; the text
    after "the answer is" or "Answer:", to the end of its sentence; the whole reply. The first that
    applies decides. If it finds two phrases, the reply is unparsed.

    >>> final_phrase('The answer is **"May 5, 1970"**. It stands at the top.').answer
    'May 5, 1970'
    >>> final_phrase("Dr. Smith.").answer
    'Dr. Smith'
    """
    text = final_text(text)
    for rule, pattern in (("boxed", _BOXED), ("the answer is", _ANSWER_IS)):
        phrases = [_bare(_SENTENCE.split(phrase)[0]) for phrase in pattern.findall(text)]
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
