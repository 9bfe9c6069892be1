"""Scripts of clips in which letters appear and vanish: what is shown when, and the questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from snellen.media import encode
from snellen.media.drawing._canvas import UNIT, Canvas

WIDTH, HEIGHT = 320, 240
FPS = 10
"""Frame k is shown from k / FPS seconds on."""
GRAY, INK = (128,) * 3, (0,) * 3
LETTERS = "CDHKNORSVZ"
"""Sloan's ten letters, which are about equally legible."""
FLASHES = (1, 2, 4, 8, 16)
"""Lengths of the letters in frames."""
ORDINALS = ("first", "second", "third")
CLEAR = 5
"""Fewest frames between a change and a question."""
MARGIN = 8
"""Empty pixels along the edges."""

T = TypeVar("T")
Kind = Literal["letter", "count", "order", "flash"]
Draw = Callable[[int], int]
"""Draws a number below a limit."""


@dataclass(frozen=True, kw_only=True)
class ShownLetter:
    """A letter on the screen."""

    letter: str
    """The letter."""
    first: int
    """The first frame that shows it."""
    end: int
    """The first frame that does not show it any more."""
    x: int
    """Its left edge, in sixteenths of a pixel."""
    y: int
    """Its top edge, in sixteenths of a pixel."""
    side: int
    """Its width and height, in sixteenths of a pixel."""


@dataclass(frozen=True, kw_only=True)
class ClipQuestion:
    """A question about a clip."""

    time: float
    """When it is asked, in seconds, halfway between two frames. Later frames do not count."""
    text: str
    """The question."""
    choices: tuple[str, ...] = ()
    """The choices; empty if the answer is a number."""
    target: str
    """The right answer."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """`flash`: how long the letter was on the screen."""


@dataclass(frozen=True, kw_only=True)
class Script:
    """The content of a clip."""

    kind: Kind
    """The kind of question."""
    n_frames: int
    """The number of frames."""
    shown: tuple[ShownLetter, ...]
    """The letters, in order of time, one at a time."""
    questions: tuple[ClipQuestion, ...]
    """The questions, in order of time."""


def clip_script(kind: Kind, seed: str) -> Script:
    """A clip of 10 to 40 seconds; the same on every machine.

    letter  one letter after the other: which one is there now?
    count   two letters, again and again: how many times was this one there so far?
    order   different letters: which one was the first, the second, the third?
    flash   letters on an empty screen, for 0.1 to 1.6 seconds each: which one was the last?
    """
    # Of all methods of Random, only random() is guaranteed to be stable across Python versions.
    return SCRIPTS[kind](partial(_below, Random(f"{seed} {kind}")))


def clip_frame(script: Script, index: int) -> NDArray[np.uint8]:
    """The screen at a frame: (240, 320, 3), RGB, read-only.

    Raises:
        IndexError: the clip has no such frame.
    """
    if not 0 <= index < script.n_frames:
        raise IndexError(f"a clip of {script.n_frames} frames has no frame {index}")
    return _screen(
        next(
            (
                appearance
                for appearance in script.shown
                if appearance.first <= index < appearance.end
            ),
            None,
        )
    )


def write_clip(script: Script, path: Path) -> None:
    """Write the clip as an MP4 file, as `media.encode.mp4` does."""
    frames = (clip_frame(script, index) for index in range(script.n_frames))
    encode.mp4(path, frames, fps=Fraction(FPS))


@lru_cache(maxsize=8)  # consecutive frames show the same screen
def _screen(shown: ShownLetter | None) -> NDArray[np.uint8]:
    canvas = Canvas(WIDTH, HEIGHT, GRAY)
    if shown:
        canvas.draw(shown.letter, shown.x, shown.y, shown.side, INK)
    canvas.pixels.flags.writeable = False
    return canvas.pixels


# -- scripts


def _letter(draw: Draw) -> Script:
    """6 to 8 letters of 2 to 5 seconds, no two in a row alike. Asked during every second letter."""
    letters = [_choice(draw, LETTERS)]
    for _ in range(5 + draw(3)):
        letters.append(_choice(draw, LETTERS.replace(letters[-1], "")))
    lengths = [20 + draw(31) for _ in letters]
    shown, n_frames = _timeline(draw, letters, lengths, off=(0, 0))
    return Script(
        kind="letter",
        n_frames=n_frames,
        shown=shown,
        questions=tuple(
            _question(
                _between(draw, appearance.first, appearance.end),
                "Which letter is on the screen now, at the end of the video so far?",
                appearance.letter,
            )
            for appearance in shown[1::2]
        ),
    )


def _count(draw: Draw) -> Script:
    """6 to 9 letters, each from a set of two. Asked on the empty screen after three of them."""
    names = _drawn(draw, LETTERS, 2)
    letters = [_choice(draw, names) for _ in range(6 + draw(4))]
    # Letters and gaps last over a second, so that a model that looks once a second sees them all.
    lengths = [12 + draw(9) for _ in letters]
    shown, n_frames = _timeline(draw, letters, lengths, off=(12, 20))
    questions = []
    for index in sorted(_drawn(draw, range(len(shown)), 3)):
        name = _choice(draw, names)
        questions.append(
            ClipQuestion(
                time=_after(draw, shown, index, n_frames),
                text=f"Letters come and go. How many times has the letter {name} come so far?\n"
                "Reply with the number in digits and nothing else.",
                target=str(letters[: index + 1].count(name)),
            )
        )
    return Script(kind="count", n_frames=n_frames, shown=shown, questions=tuple(questions))


def _order(draw: Draw) -> Script:
    """5 to 7 different letters. Asked on the empty screen after the third or a later letter."""
    letters = _drawn(draw, LETTERS, 5 + draw(3))
    lengths = [15 + draw(16) for _ in letters]
    shown, n_frames = _timeline(draw, letters, lengths, off=(12, 20))
    places = sorted(_drawn(draw, range(2, len(shown)), 3))
    questions = tuple(
        _question(
            _after(draw, shown, index, n_frames),
            f"Letters come and go. Which letter came {ORDINALS[rank]}?",
            letters[rank],
        )
        for index, rank in zip(places, _drawn(draw, range(3), 3), strict=True)
    )
    return Script(kind="order", n_frames=n_frames, shown=shown, questions=questions)


def _flash(draw: Draw) -> Script:
    """A letter for each length in `FLASHES`. Asked on the empty screen after each letter.

    Each letter is drawn independently, so naming the previous letter is right only by chance.
    """
    letters = [_choice(draw, LETTERS) for _ in FLASHES]
    lengths = _drawn(draw, FLASHES, len(FLASHES))
    shown, n_frames = _timeline(draw, letters, lengths, off=(30, 60))
    questions = tuple(
        _question(
            _after(draw, shown, index, n_frames),
            "Letters come and go. Which letter came last?",
            appearance.letter,
            flash=f"{(appearance.end - appearance.first) / FPS:.1f} seconds",
        )
        for index, appearance in enumerate(shown)
    )
    return Script(kind="flash", n_frames=n_frames, shown=shown, questions=questions)


SCRIPTS: Mapping[Kind, Callable[[Draw], Script]] = {
    "letter": _letter,
    "count": _count,
    "order": _order,
    "flash": _flash,
}
CLIP_KINDS: tuple[Kind, ...] = tuple(SCRIPTS)


def _timeline(
    draw: Draw, letters: Sequence[str], lengths: Sequence[int], *, off: tuple[int, int]
) -> tuple[tuple[ShownLetter, ...], int]:
    """Letters of 60 to 120 pixels at random positions, and the number of frames they need.

    Before, between and after them the screen is empty for `off` (fewest and most) frames.
    """
    least, most = off
    shown = []
    now = least + draw(most - least + 1)
    for letter, length in zip(letters, lengths, strict=True):
        side = (60 + draw(61)) * UNIT
        x, y = (
            MARGIN * UNIT + draw((room - 2 * MARGIN) * UNIT - side + 1) for room in (WIDTH, HEIGHT)
        )
        shown.append(ShownLetter(letter=letter, first=now, end=now + length, x=x, y=y, side=side))
        now += length + least + draw(most - least + 1)
    return tuple(shown), now


def _question(time: float, text: str, letter: str, **tags: str) -> ClipQuestion:
    return ClipQuestion(
        time=time,
        text=f"{text} It is one of {', '.join(LETTERS)}.\nReply with the letter and nothing else.",
        choices=tuple(LETTERS),
        target=letter,
        tags=tags,
    )


def _after(draw: Draw, shown: Sequence[ShownLetter], index: int, n_frames: int) -> float:
    """A time on the empty screen after a letter."""
    end = shown[index + 1].first if index + 1 < len(shown) else n_frames
    return _between(draw, shown[index].end, end)


def _between(draw: Draw, first: int, end: int) -> float:
    """The middle of a frame at least `CLEAR` frames from both ends."""
    frame = first + CLEAR + draw(end - first - 2 * CLEAR)
    return (2 * frame + 1) / (2 * FPS)


def _choice(draw: Draw, names: Sequence[T]) -> T:
    return names[draw(len(names))]


def _drawn(draw: Draw, names: Sequence[T], n: int) -> list[T]:
    """`n` distinct items, in random order."""
    left = list(names)
    return [left.pop(draw(len(left))) for _ in range(n)]


def _below(random: Random, limit: int) -> int:
    return int(random.random() * limit)
