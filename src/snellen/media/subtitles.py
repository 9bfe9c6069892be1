"""Subtitles of videos: files in the SubRip format, and the lines that belong to frames."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from snellen.media.content import Cue

TAG = re.compile(r"</?[A-Za-z][^<>]*>")
CLOCK = re.compile(r"(\d{1,3}):(\d\d):(\d\d)[,.](\d{1,3})")


def cues(text: str) -> list[Cue]:
    """Parse a SubRip file. Blocks without an arrow or without text are left out. Tags are removed,
    and the lines of a block are joined by spaces. A line whose times cannot be read is never on
    display: its times are infinite."""
    parsed = []
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")):
        before, arrow, content = block.partition("-->")
        # The rest of the line after the arrow has the end time.
        first, _, rest = content.partition("\n")
        words = TAG.sub("", rest.replace("\n", " ")).strip()
        if arrow and words:
            parsed.append(Cue(_seconds(before), _seconds(first), words))
    return parsed


def has_times(text: str) -> bool:
    """Whether a text has a line with the times of a subtitle, as every SubRip file does."""
    return any(
        arrow and CLOCK.search(before) and CLOCK.search(after)
        for before, arrow, after in (line.partition("-->") for line in text.splitlines())
    )


def _seconds(text: str) -> float:
    match = CLOCK.search(text)
    if match is None:
        return math.inf
    hours, minutes, seconds, fraction = match.groups()
    milliseconds = int(fraction.ljust(3, "0"))
    return (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) + milliseconds / 1000


def lines_at(lines: Sequence[Cue], times: Sequence[float]) -> list[str]:
    """The line on display at each time. Times without a line are left out, and a line that is on
    display at several times occurs as often.

    If several lines are on display, the first one in the file is taken. A line is not on display at
    its very start and end. Times are rounded to milliseconds. Source: look4u-ok/video-slicer@
    25a29bf35a8c4fbad0157e64cdf179701b0733aa:slice_and_extract.py#L76-L87.
    """
    shown = []
    for time in times:
        now = round(time * 1000) / 1000
        shown += next(([cue.text] for cue in lines if cue.start < now < cue.end), [])
    return shown


def once_at(lines: Sequence[Cue], times: Sequence[float]) -> list[str]:
    """The lines on display at these times, each once, in the order of the file. A line is on
    display from its start up to, but not including, its end."""
    return [cue.text for cue in lines if any(cue.start <= time < cue.end for time in times)]
