"""Parsing rules that the yes/no benchmarks share: our own, and those of other toolkits."""

import re

from snellen.answers.yes_no import yes_or_no
from snellen.benchmarks.families import pins
from snellen.benchmarks.families.tasks import as_reading
from snellen.core import Reading, Reply, Sample

KIT_RULE = f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/yorn.py#L254-L261"
SHORT = "Answer the question using a single word or phrase."
"""The line that LLaVA adds after each question."""
YES_NO = ("yes", "no")

_SIGNS = ';/[]"{}()=+\\_-><@`,?!'
_THOUSANDS = re.compile(r"(\d)(,)(\d)")
_FULL_STOP = re.compile(r"(?<!\d)\.(?!\d)")
_MOST_FULL_STOPS = 32
"""The maximum number of full stops that VLMEvalKit removes. VLMEvalKit passes `re.UNICODE`, which
is 32, as the argument `count` of `sub`."""


def robust_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the final yes or no of a reply, by our rules."""
    return as_reading(yes_or_no(reply.text, sample.question))


def vlmevalkit_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse yes or no if exactly one of the two words occurs in the reply.

    A reply with both words or neither is unparsed. VLMEvalKit asks a judge about such a reply, if a
    judge is configured.
    """
    words = without_signs(reply.text.strip().lower()).split()
    matches = tuple(word for word in YES_NO if word in words)
    if len(matches) == 1:
        return Reading(answer=matches[0], rule="only word", candidates=matches)
    return Reading(
        answer=None, rule="both words" if matches else "neither word", candidates=matches
    )


def without_signs(text: str) -> str:
    """Remove or replace punctuation marks, as VLMEvalKit does.

    A mark that is next to a space anywhere in the text is removed wherever it occurs; any other
    mark is replaced by a space. If the text has a comma between digits, all marks are removed
    instead. Full stops are removed unless they are next to a digit. Asterisks and colons are kept.
    """
    # vlmeval/smp/misc.py#L18-L33
    thousands = _THOUSANDS.search(text) is not None
    left = text
    for sign in _SIGNS:
        next_to_blank = f"{sign} " in text or f" {sign}" in text
        left = left.replace(sign, "" if next_to_blank or thousands else " ")
    return _FULL_STOP.sub("", left, count=_MOST_FULL_STOPS)


def wrong_answer(sample: Sample) -> str:
    return "no" if sample.target == "yes" else "yes"
