"""Models that do not look.

baseline/random, first and longest see text and choices alone, and say nothing to open questions.

baseline/silent, eager, after:SECONDS and blind-history watch a stream, and know of it what a
session is handed: the words of questions, their choices, the frames' times. To a question that
stands open silent and blind-history say nothing, eager speaks at once, after at the first frame so
long after the newest one before it was asked: of choices the numbers of all, else "1". To one that
must be answered silent says nothing, the others Yes where that is a choice, the first choice, or
"1"; but blind-history says No to a question of yes and no that it hears for the first or second
time, then Yes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from string import ascii_uppercase

from snellen.core.model import Emission, Query, Reply, Request, SessionSpec
from snellen.core.profile import Profile
from snellen.errors import UsageError
from snellen.media.content import Frame

Pick = Callable[[Sequence[str], int], int]
"""Chooses among choices, given a number drawn from the request's words and seed."""

PICKS: dict[str, Pick] = {
    "random": lambda choices, drawn: drawn % len(choices),
    "first": lambda choices, drawn: 0,
    "longest": lambda choices, drawn: max(range(len(choices)), key=lambda i: len(choices[i])),
}


ENOUGH = 2
"""Noes that blind-history says before it says Yes: OVO-Bench's questions of CRR are asked twice
before what they ask for is seen."""


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Blind | Watcher:
    """The baseline of this name.

    Raises:
        UsageError: of after:SECONDS these are no number of seconds.
    """
    title = f"baseline/{name}"
    if name in PICKS:
        return Blind(title, PICKS[name])
    kind, _, amount = name.partition(":")
    return Watcher(title, kind, _seconds(title, amount) if kind == "after" else 0.0)


def _seconds(title: str, amount: str) -> float:
    try:
        seconds = float(amount)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise UsageError(f"{title}: write baseline/after:5, with a number of seconds.")
    return seconds


class Blind:
    """Picks a choice and names it as the question lists it: by its letter, or in words."""

    wants_frames = False

    def __init__(self, name: str, pick: Pick) -> None:
        self.name = name
        self._pick = pick

    async def generate(self, request: Request) -> Reply:
        if not request.choices:
            return Reply(text="", stop="stop")
        words = "\n".join(message.text for message in request.messages)
        question = request.messages[-1].text
        raw = f"{self.name}\n{request.seed}\n{words}\n{request.choices}".encode()
        drawn = int.from_bytes(blake2b(raw, digest_size=8).digest())
        number = self._pick(request.choices, drawn)
        return Reply(text=_named(question, request.choices, number), stop="stop")


def _named(question: str, choices: Sequence[str], number: int) -> str:
    """`B` where the question lists the choice as "B. …" or "(B) …", else its text."""
    letter = ascii_uppercase[number : number + 1]
    listed = rf"(?<!\w){letter}[).:]\s*{re.escape(choices[number].strip())}"
    return letter if letter and re.search(listed, question) else choices[number]


class Watcher:
    """Watches without looking; `kind` is silent, eager, after or blind-history."""

    def __init__(self, name: str, kind: str, seconds: float) -> None:
        self.name = name
        self.kind = kind
        self.seconds = seconds

    async def open(self, spec: SessionSpec) -> WatcherSession:
        return WatcherSession(self)


class WatcherSession:
    """The time of the newest frame, what is to be said when, and what was asked."""

    def __init__(
        self,
        watcher: Watcher,
        now: float = 0.0,
        due: Sequence[tuple[float, Emission]] = (),
        asked: Sequence[str] = (),
    ) -> None:
        self._watcher = watcher
        self._now = now
        self._due = [*due]
        self._asked = [*asked]

    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]:
        self._now = max(frame.time for frame in frames)
        said = [emission for time, emission in self._due if time <= self._now]
        self._due = [one for one in self._due if one[0] > self._now]
        return said

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]:
        kind = self._watcher.kind
        if must_answer:
            self._asked.append(query.text)
            text = "" if kind == "silent" else self._reply(query)
            return [Emission(text=text, query=query.id)]
        if kind not in ("eager", "after"):
            return []
        numbers = range(1, max(1, len(query.choices)) + 1)
        said = [Emission(text=str(number), query=query.id) for number in numbers]
        if kind == "eager":
            return said
        self._due += [(self._now + self._watcher.seconds, emission) for emission in said]
        return []

    async def fork(self) -> WatcherSession:
        return WatcherSession(self._watcher, self._now, self._due, self._asked)

    async def close(self) -> None:
        pass

    def _reply(self, query: Query) -> str:
        if {choice.lower() for choice in query.choices} == {"yes", "no"}:
            if self._watcher.kind != "blind-history":
                return "Yes"
            return "Yes" if self._asked.count(query.text) > ENOUGH else "No"
        return _named(query.text, query.choices, 0) if query.choices else "1"
