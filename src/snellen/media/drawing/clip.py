"""Scripts for clips in which letters appear and disappear, with questions about the letters."""

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
"""The number of frames per second. Frame k appears k / FPS seconds after the start."""
GRAY, INK = (128,) * 3, (0,) * 3
LETTERS = "CDHKNORSVZ"
"""Sloan's ten letters, which are about equally legible."""
FLASHES = (1, 2, 4, 8, 16)
"""The numbers of frames for which the letters of the kind `flash` are shown."""
ORDINALS = ("first", "second", "third")
CLEAR = 5
"""The minimum number of frames between a change on the screen and a question."""
MARGIN = 8
"""The width, in pixels, of the empty margin along the edges."""

T = TypeVar("T")
Kind = Literal["letter", "count", "order", "flash"]
Draw = Callable[[int], int]
"""Draws a random integer that is at least 0 and below a limit."""


@dataclass(frozen=True, kw_only=True)
class ShownLetter:
    """A letter that is shown on the screen."""

    letter: str
    """The letter."""
    first: int
    """The first frame that shows the letter."""
    end: int
    """The first frame that no longer shows the letter."""
    x: int
    """The position of the left edge, in sixteenths of a pixel."""
    y: int
    """The position of the top edge, in sixteenths of a pixel."""
    side: int
    """The width and height of the letter, in sixteenths of a pixel."""


@dataclass(frozen=True, kw_only=True)
class ClipQuestion:
    """A question about a clip."""

    time: float
    """The time at which the question is asked, in seconds. This time is halfway between two frames.
    Frames after this time do not affect the answer."""
    text: str
    """The text of the question."""
    choices: tuple[str, ...] = ()
    """The choices; empty if the answer is a number."""
    target: str
    """The right answer."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """The tags of the question. The tag `flash` states how long the letter was on the screen."""


@dataclass(frozen=True, kw_only=True)
class Script:
    """The content of a clip."""

    kind: Kind
    """The kind of question."""
    n_frames: int
    """The number of frames."""
    shown: tuple[ShownLetter, ...]
    """The letters, in chronological order. Only one letter is on the screen at a time."""
    questions: tuple[ClipQuestion, ...]
    """The questions, in chronological order."""


def clip_script(kind: Kind, seed: str) -> Script:
    """The script of a clip of 10 to 40 seconds. The same seed gives the same script on every
    machine.

    - `letter`: letters follow each other. Which letter is on the screen now?

    - `count`: two letters appear repeatedly. How many times has this letter appeared so far?

    - `order`: different letters appear. Which letter was the first, the second, or the third?

    - `flash`: letters appear for 0.1 to 1.6 seconds each. Which letter was the last?
    """
    # random() is the only method of Random that is guaranteed to be stable across Python versions.
    return SCRIPTS[kind](partial(_below, Random(f"{seed} {kind}")))


def clip_frame(script: Script, index: int) -> NDArray[np.uint8]:
    """The pixels of a frame: (240, 320, 3), RGB, read-only.

    Raises:
        IndexError: The clip has no frame with this index.
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
    """Write the clip as an MP4 file with `media.encode.mp4`."""
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
    """Show 6 to 8 letters for 2 to 5 seconds each; successive letters differ. A question is asked
    while every second letter is on the screen."""
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
    """Show two letters 6 to 9 times in all, in random order. Three questions are asked, each after
    a letter while the screen is empty."""
    names = _drawn(draw, LETTERS, 2)
    letters = [_choice(draw, names) for _ in range(6 + draw(4))]
    # Letters and gaps last longer than a second, so that a model with one frame per second sees
    # all of them.
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
    """Show 5 to 7 different letters. Questions are asked while the screen is empty, after the third
    letter or later."""
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
    """Show one letter for each duration in `FLASHES`. After each letter, a question is asked while
    the screen is empty.

    Each letter is drawn independently, so a model that names the previous letter is right only by
    chance.
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
    """Place letters of 60 to 120 pixels at random positions. Returns the letters and the number of
    frames.

    Before, between, and after the letters, the screen is empty for a random number of frames. `off`
    contains the minimum and the maximum number of empty frames.
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
    """A time after a letter, while the screen is empty."""
    end = shown[index + 1].first if index + 1 < len(shown) else n_frames
    return _between(draw, shown[index].end, end)


def _between(draw: Draw, first: int, end: int) -> float:
    """The time in the middle of a random frame that is at least `CLEAR` frames after `first` and
    before `end`."""
    frame = first + CLEAR + draw(end - first - 2 * CLEAR)
    return (2 * frame + 1) / (2 * FPS)


def _choice(draw: Draw, names: Sequence[T]) -> T:
    return names[draw(len(names))]


def _drawn(draw: Draw, names: Sequence[T], n: int) -> list[T]:
    """Draw `n` distinct items, in random order."""
    left = list(names)
    return [left.pop(draw(len(left))) for _ in range(n)]


def _below(random: Random, limit: int) -> int:
    return int(random.random() * limit)
