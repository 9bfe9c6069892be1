"""eyechart: how small may letters be, what colour, how many, where: pictures drawn by the package.

Paper    none; the rows of letters follow Ferris et al. 1982, Am. J. Ophthalmology 94, 91: Sloan's
         ten letters, five a row, as far apart as they are wide
Data     drawn from `seed`, no download; 336 x 336 pixels, on white. letters: one row, 2 to 32
         pixels high; colours: of one shape; counts: of circles, 1 to 9; positions: of one square.
         `n` samples, equally many of each of `tasks` (joined by +)
Prompt   ours: the picture, a question, and the form of the answer (QUESTIONS below)
Scoring  official (ours): the whole reply is the answer, once case, spaces, quotes, asterisks, a
         final full stop and a leading "Answer:" are taken off. letters: the share of the five that
         stand in their place (letter by letter is the finer scale, Bailey et al. 1991, Invest.
         Ophthalmol. Vis. Sci. 32, 422); of more or fewer than five nobody knows which stands
         where: unparsed. All others: right or not.
         accuracy is the mean score, acuity the height in pixels at which 55 % of the letters are
         read, half-way between chance and always
Proof    by definition: the benchmark and its scoring are ours
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from snellen import metrics
from snellen.benchmark import Benchmark, Check, History, Reading, Scoring
from snellen.content import Image, Message, user
from snellen.datasets import Drawn, Row
from snellen.drawing import UNIT, Canvas
from snellen.errors import UsageError
from snellen.metrics.acuity import acuity
from snellen.model import Reply
from snellen.sample import Sample

ALIASES: dict[str, dict[str, object]] = {}

SIDE = 336
LETTERS = "CDHKNORSVZ"
PER_ROW = 5
HEIGHTS = (2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32)
COLOURS = {
    "red": (215, 40, 40),
    "orange": (240, 140, 30),
    "yellow": (235, 220, 50),
    "green": (45, 160, 65),
    "blue": (50, 85, 210),
    "purple": (130, 55, 170),
    "brown": (120, 75, 35),
    "black": (20, 20, 20),
}
PLACES = (
    "top left", "top", "top right",
    "left", "centre", "right",
    "bottom left", "bottom", "bottom right",
)  # fmt: skip
MOST = 9
MARGIN = 8
"""Pixels that stay empty along the edges, and around a ninth of the picture."""
QUESTIONS = {
    "letters": f"The picture shows one row of {PER_ROW} letters. "
    f"Each of them is one of {', '.join(LETTERS)}.\n"
    f"Reply with the {PER_ROW} letters from left to right and nothing else.",
    "colours": "What colour is the shape in the picture?\n"
    f"Reply with one of these words and nothing else: {', '.join(COLOURS)}.",
    "counts": "How many circles are in the picture?\n"
    "Reply with the number in digits and nothing else.",
    "positions": "Where in the picture is the square?\n"
    f"Reply with one of these and nothing else: {', '.join(PLACES)}.",
}
CHOICES: Mapping[str, tuple[str, ...]] = {"colours": tuple(COLOURS), "positions": PLACES}


def eyechart(
    seed: int = 0,
    n: int = 288,
    tasks: str = "letters+colours+counts+positions",
    data: Path | None = None,
) -> Benchmark:
    """The benchmark; the same `seed` draws the same pictures on every machine.

    Raises:
        UsageError: there is no such task, nothing to draw, or `data`, which it has no use for.
    """
    if data is not None:
        raise UsageError(f"eyechart draws its own pictures and reads no data: leave {data} out.")
    kinds = tasks.split("+")
    unknown = [kind for kind in kinds if kind not in QUESTIONS]
    if unknown or len(set(kinds)) < len(kinds):
        raise UsageError(
            f"eyechart:tasks is one or more of {'+'.join(QUESTIONS)}, each once, not {tasks!r}."
        )
    if n < 1:
        raise UsageError(f"eyechart:n is at least 1, not {n}.")
    return Benchmark(
        name="eyechart",
        asks=1,
        data=Drawn(f"eyechart, drawn from seed {seed}", partial(_rows, seed, n, kinds)),
        sample=_sample,
        prompt=_prompt,
        scorings={
            "official": Scoring(
                version=1,
                source="ours",
                parse=_parse,
                score=_score,
                metrics={
                    "accuracy": metrics.mean,
                    "acuity": acuity(height="height", letters=PER_ROW, guess=1 / len(LETTERS)),
                },
            )
        },
        break_down_by=("task", "height"),
        max_answer_tokens=64,
        check=Check(
            says=lambda _, answer: answer,
            wrong=_wrong,
            expect={"official": {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}},
        ),
    )


# -- rows: all that is in a picture; places and sizes in sixteenths of a pixel

Draw = Callable[[int], int]
"""A number below a limit."""
Shape = list[Any]
"""What, x, y, side, colour: as `Canvas.draw` takes them, in JSON's types."""


def _rows(seed: int, n: int, kinds: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    for place in range(n):
        number, turn = divmod(place, len(kinds))
        kind = kinds[turn]
        # Of all that Random offers, only random() is promised to stay the same in every Python.
        draw = partial(_below, Random(f"{seed} {kind} {number}"))
        answer, height, shapes = SCENES[kind](draw, number)
        yield {
            "id": f"{kind}-{number}",
            "task": kind,
            "answer": answer,
            "height": height,
            "shapes": shapes,
        }


def _below(random: Random, limit: int) -> int:
    return int(random.random() * limit)


def _letters(draw: Draw, number: int) -> tuple[str, int | None, list[Shape]]:
    """Each height in turn, so that the first rows have them all."""
    height = HEIGHTS[number % len(HEIGHTS)]
    side = height * UNIT
    x, y = _inside(draw, SIDE, (2 * PER_ROW - 1) * side), _inside(draw, SIDE, side)
    row = [LETTERS[draw(len(LETTERS))] for _ in range(PER_ROW)]
    shapes = [_shape(letter, x + 2 * k * side, y, side) for k, letter in enumerate(row)]
    return "".join(row), height, shapes


def _colours(draw: Draw, _: int) -> tuple[str, int | None, list[Shape]]:
    """A disc or square of 8 to 80 pixels; each colour varies by 15 of 255 a channel."""
    name = _one(draw, tuple(COLOURS))
    colour = [value - 15 + draw(31) for value in COLOURS[name]]
    side = (8 + draw(73)) * UNIT
    x, y = _inside(draw, SIDE, side), _inside(draw, SIDE, side)
    return name, None, [_shape(_one(draw, ("disc", "square")), x, y, side, colour)]


def _counts(draw: Draw, _: int) -> tuple[str, int | None, list[Shape]]:
    """1 to 9 discs of 12 to 32 pixels, at least 4 pixels apart."""
    wanted = 1 + draw(MOST)
    discs: list[tuple[int, int, int]] = []
    while len(discs) < wanted:
        side = (12 + draw(21)) * UNIT
        x, y = _inside(draw, SIDE, side), _inside(draw, SIDE, side)
        # Centres and distances doubled, to stay with integers.
        if all(
            (2 * x + side - 2 * ox - other) ** 2 + (2 * y + side - 2 * oy - other) ** 2
            > (side + other + 8 * UNIT) ** 2
            for ox, oy, other in discs
        ):
            discs.append((x, y, side))
    return str(wanted), None, [_shape("disc", x, y, side) for x, y, side in discs]


def _positions(draw: Draw, _: int) -> tuple[str, int | None, list[Shape]]:
    """A square of 6 to 40 pixels, wholly inside one ninth of the picture."""
    place = draw(len(PLACES))
    side = (6 + draw(35)) * UNIT
    ninth = SIDE // 3
    x = place % 3 * ninth * UNIT + _inside(draw, ninth, side)
    y = place // 3 * ninth * UNIT + _inside(draw, ninth, side)
    return PLACES[place], None, [_shape("square", x, y, side)]


SCENES: Mapping[str, Callable[[Draw, int], tuple[str, int | None, list[Shape]]]] = {
    "letters": _letters,
    "colours": _colours,
    "counts": _counts,
    "positions": _positions,
}


def _inside(draw: Draw, room: int, length: int) -> int:
    """Where something of this length begins, in `room` pixels with a margin on both sides."""
    return MARGIN * UNIT + draw((room - 2 * MARGIN) * UNIT - length + 1)


def _one(draw: Draw, names: Sequence[str]) -> str:
    return names[draw(len(names))]


def _shape(what: str, x: int, y: int, side: int, colour: Sequence[int] = (0, 0, 0)) -> Shape:
    return [what, x, y, side, list(colour)]


# -- samples


def _sample(_: int, row: Row) -> Sample:
    height = row["height"]
    return Sample(
        id=row["id"],
        question=QUESTIONS[row["task"]],
        choices=CHOICES.get(row["task"], ()),
        target=row["answer"],
        # Two digits, so that heights sort by size.
        tags={"task": row["task"], "height": "" if height is None else f"{height:02}px"},
        data={"shapes": row["shapes"]},
    )


def _prompt(sample: Sample, _: History) -> tuple[Message, ...]:
    """The picture, drawn only now, and the question."""
    canvas = Canvas(SIDE, SIDE)
    shapes: Any = sample.data["shapes"]
    for what, x, y, side, colour in shapes:
        canvas.draw(what, x, y, side, colour)
    picture = Image(canvas.png(), place=f"{sample.id}, drawn")
    return (user(picture, sample.question),)


# -- the official scoring

SEPARATORS = re.compile(r"[\s,;|-]+")


def _parse(reply: Reply, sample: Sample) -> Reading:
    text = reply.text.strip(" \t\r\n*\"'`").removesuffix(".")
    text = re.sub(r"\Aanswer:", "", text.lower()).strip(" \t\r\n*\"'`")
    task = sample.tags["task"]
    if task == "letters":
        row = SEPARATORS.sub("", text).upper()
        if len(row) == PER_ROW and re.fullmatch("[A-Z?]+", row):
            return Reading(answer=row, rule="five letters")
    elif task == "counts":
        if re.fullmatch(r"[0-9]{1,4}", text):
            return Reading(answer=str(int(text)), rule="a number")
    else:
        words = SEPARATORS.sub(" ", text).replace("center", "centre")
        if words in sample.choices:
            return Reading(answer=words, rule="one of the words")
    return Reading(answer=None, rule="none")


def _score(reading: Reading, sample: Sample) -> float:
    """The share of letters in their place; for the others 1 or 0."""
    if reading.answer is None or sample.target is None:
        return 0.0
    if sample.tags["task"] != "letters":
        return float(reading.answer == sample.target)
    assert isinstance(reading.answer, str)
    pairs = zip(reading.answer, sample.target, strict=True)
    return sum(read == shown for read, shown in pairs) / len(sample.target)


def _wrong(sample: Sample) -> str:
    """An answer of the right form that is wrong throughout: the next one in the list."""
    target = sample.target or ""
    if sample.tags["task"] == "counts":
        return str(int(target) + 1)
    if sample.choices:
        return sample.choices[(sample.choices.index(target) + 1) % len(sample.choices)]
    return "".join(LETTERS[(LETTERS.index(letter) + 1) % len(LETTERS)] for letter in target)
