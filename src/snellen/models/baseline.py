"""Baseline models, which do not look at pictures or videos.

`baseline/random`, `first`, and `longest` use only the text and the choices of a question. If a
question has no choices, the reply is empty.

`baseline/silent`, `eager`, `after:SECONDS`, and `blind-history` watch a stream. These baselines use
only the text of questions, the choices, and the times of frames.

If a question may be answered at any time, `silent` and `blind-history` say nothing. `eager` speaks
immediately. `after` waits for the first frame that is at least SECONDS later than the newest frame
at the time of the question. `eager` and `after` say the numbers of all choices, or "1" if there are
no choices.

If a question must be answered, `silent` returns an empty text. The other baselines say "Yes" if the
choices are yes and no. For all other choices, they give the first choice, and without choices "1".
However, `blind-history` answers "No" the first two times that a yes-or-no question is asked, and
"Yes" after that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from string import ascii_uppercase

from snellen.core.model import Emission, Query, Reply, Request, SessionSpec
from snellen.core.profile import Profile
from snellen.core.prompts import IMAGE_MARK
from snellen.errors import UsageError
from snellen.media.content import Frame

Pick = Callable[[Sequence[str], int], int]
"""Returns the index of the choice to pick. The arguments are the choices and a random number that
is derived from the request's text and seed."""

PICKS: dict[str, Pick] = {
    "random": lambda choices, drawn: drawn % len(choices),
    "first": lambda choices, drawn: 0,
    "longest": lambda choices, drawn: max(range(len(choices)), key=lambda i: len(choices[i])),
}


ENOUGH = 2
"""How many times `blind-history` answers "No" before it answers "Yes". OVO-Bench asks each question
of its task CRR twice before the answer is visible."""


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Blind | Watcher:
    """Open the baseline `name`.

    Raises:
        UsageError: SECONDS in after:SECONDS is not a number of seconds.
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
        raise UsageError(
            f"{title}: the number of seconds is missing or invalid. Write baseline/after:5, for "
            "example."
        )
    return seconds


class Blind:
    """Picks a choice without looking at the picture. The reply is the choice's letter if the
    question shows letters, and otherwise the choice's text."""

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
        letters = ascii_uppercase[: len(request.choices)]
        if f"among A through {letters[-1]}" in question:  # without the choices, as in a later turn
            return Reply(text=letters[number], stop="stop")
        return Reply(text=_choice_text(question, request.choices, number), stop="stop")


def _choice_text(question: str, choices: Sequence[str], number: int) -> str:
    """Return the choice's letter if the question lists it, as in "B. …" or "(b) …". Otherwise,
    return the choice's text. Marks of pictures, such as <image 1>, are not in the question's text.
    """
    letter = ascii_uppercase[number : number + 1]
    shown = re.escape(IMAGE_MARK.sub("", choices[number]).strip())
    listed = rf"(?<!\w)[{letter}{letter.lower()}][).:]\s*{shown}"
    return letter if letter and re.search(listed, question) else choices[number]


class Watcher:
    """A baseline that watches a stream without looking at the frames. `kind` is silent, eager,
    after, or blind-history."""

    def __init__(self, name: str, kind: str, seconds: float) -> None:
        self.name = name
        self.kind = kind
        self.seconds = seconds

    async def open(self, spec: SessionSpec) -> WatcherSession:
        return WatcherSession(self)


class WatcherSession:
    """A session of a `Watcher`, which stores the time of the newest frame, the scheduled messages,
    and the texts of earlier questions."""

    def __init__(
        self,
        watcher: Watcher,
        now: float = 0.0,
        due: Sequence[tuple[float, Emission]] = (),
        history: Sequence[str] = (),
    ) -> None:
        self._watcher = watcher
        self._now = now
        self._due = [*due]
        self._history = [*history]

    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]:
        self._now = max(frame.time for frame in frames)
        emissions = [emission for time, emission in self._due if time <= self._now]
        self._due = [item for item in self._due if item[0] > self._now]
        return emissions

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]:
        kind = self._watcher.kind
        if must_answer:
            self._history.append(query.text)
            text = "" if kind == "silent" else self._reply(query)
            return [Emission(text=text, query=query.id)]
        if kind not in ("eager", "after"):
            return []
        numbers = range(1, max(1, len(query.choices)) + 1)
        emissions = [Emission(text=str(number), query=query.id) for number in numbers]
        if kind == "eager":
            return emissions
        self._due += [(self._now + self._watcher.seconds, emission) for emission in emissions]
        return []

    async def fork(self) -> WatcherSession:
        return WatcherSession(self._watcher, self._now, self._due, self._history)

    async def close(self) -> None:
        pass

    def _reply(self, query: Query) -> str:
        if {choice.lower() for choice in query.choices} == {"yes", "no"}:
            if self._watcher.kind != "blind-history":
                return "Yes"
            return "Yes" if self._history.count(query.text) > ENOUGH else "No"
        return _choice_text(query.text, query.choices, 0) if query.choices else "1"
