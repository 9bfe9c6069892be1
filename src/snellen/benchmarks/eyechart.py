"""eyechart: reading letters that are small, turned, faint, or hidden; colors, counts, positions.

Paper    none. The rows of letters follow Ferris et al. 1982, Am. J. Ophthalmology 94, 91: five of
         Sloan's ten letters in a row, as far apart as they are wide.
Data     The pictures are drawn from `seed`, without a download. Each has `side` x `side` pixels.
         There are `n` samples in total, divided equally among the tasks in `tasks` (joined by +).
         Five tasks are ladders: each picture shows one row of letters, and the rows become harder
         to read from level to level.
         `letters`: the letters are 2 to 32 pixels high (`sizes`, joined by +). The letters of the
         other ladders are `size` pixels high.
         `rotation`: each letter is turned about its center by 0 to 180 degrees, clockwise or
         counterclockwise. This ladder uses ten other letters, since a turned N is a Z, and a turned
         O is still an O.
         `noise`: the contrast of the ink, divided by the standard deviation of the noise, falls
         from 4 to 0.08.
         `clutter`: 4 to 181 random strokes cover the picture. These strokes are as thick as those
         of the letters, and as long as the letters are high.
         `contrast`: the difference between the ink and the paper falls from 128 gray levels (of
         255) to 1.
         Four more tasks ask for the color of a shape (colors), the number of circles, from 1 to 20
         (counts), which quarter of the picture contains a square (positions), or on which side of a
         square a circle is (relations).
         Four tasks are not part of the default. `point` and `box` ask where a letter is, of five
         letters that are 12 to 40 pixels high (families/chart_places.py). `table` shows a page with
         a ruled table of 3 to 6 rows and 2 to 4 columns (families/chart_page.py). `far` is a ladder
         in a picture that is four times as wide and high, with letters that are 2 to 64 pixels high
         (families/chart_far.py). If the picture is scaled down for a model (--image-size 336), most
         of these letters can be read only with a zoom.
Prompt   The prompt is Snellen's own: the picture, a question, and the form of the answer (QUESTIONS
         below).
Scoring  `official`: Snellen's own rule. The whole reply is the answer. Case, surrounding spaces,
         quotes, and asterisks, a final full stop, and a leading "Answer:" are ignored.
         For ladders, the score is the share of the five letters that the reply has in the right
         position. Scoring letter by letter gives a finer scale (Bailey et al. 1991, Invest.
         Ophthalmol. Vis. Sci. 32, 422). If a reply does not have exactly five letters (a ? counts
         as a letter), the positions of its letters are unknown, so the reply is unparsed.
         For tasks that are not ladders, an answer is either right or wrong, except in two tasks.
         A `point` is right if it is in the square of the letter. The score of a `box` is its IoU,
         and that of a `table` is TEDS (families/html_tables.py). A reply with another number of
         points or boxes than one is unparsed. The question asks for pixels of the original picture.
         If the model's coordinates are set, numbers are in these coordinates instead.
         `accuracy` is the mean score. `acuity` is the height in pixels at which 55 % of the letters
         are read, halfway between guessing (10 %) and 100 %. `far_acuity` is the same for `far`, in
         pixels of the large picture. Each of the other ladders has a metric for the level at which
         55 % of its letters are read. `localization` is the distance in pixels from the center of
         the letter within which half of the points lie, and `box_localization` that from the right
         edges within which all edges of half of the boxes lie. A reply without an answer counts as
         farther away than all others.
Proof    None needed: the benchmark and its scoring are defined here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from typing import Any, Literal

import orjson

from snellen import metrics
from snellen.benchmarks.families import chart_far, chart_page, chart_places
from snellen.benchmarks.families.chart_rows import (
    PER_ROW,
    SEPARATORS,
    bare_text,
    read_row,
    row_question,
    row_score,
)
from snellen.benchmarks.families.chart_scenes import (
    BLACK,
    LETTERS,
    MARGIN,
    WHITE,
    ChartTask,
    Draw,
    Scene,
    inside,
    pick,
    shape,
)
from snellen.benchmarks.families.grounding import PIXELS, box_of
from snellen.core import (
    Answer,
    Benchmark,
    Capabilities,
    Check,
    Coordinates,
    CoordinateUse,
    History,
    Presentation,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import Drawn, Row
from snellen.errors import UsageError
from snellen.media.content import Image, Message, user
from snellen.media.drawing import UNIT, Canvas
from snellen.metrics.acuity import threshold

KIND = "mixed"
LANGUAGES = ("en",)
LICENSE = "Apache-2.0"
PROOF = "own"
SIZE = 648
ALIASES: dict[str, dict[str, object]] = {}

SIZES = (2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32)
TURNED = "AFGJLPRTUY"
"""The letters for the ladder `rotation`. No turned letter looks like another letter in this list,
and no letter looks the same upside down."""
MIDDLE = 128
NOISE = 24
"""The standard deviation of the noise, in gray levels from 0 to 255. With the darkest ink, 1 pixel
in 2,000 is clipped."""
COLORS = {
    "red": (215, 40, 40),
    "orange": (240, 140, 30),
    "yellow": (235, 220, 50),
    "green": (45, 160, 65),
    "blue": (50, 85, 210),
    "purple": (130, 55, 170),
    "brown": (120, 75, 35),
    "black": (20, 20, 20),
}
OWN_TASKS: Mapping[str, ChartTask] = {
    **chart_places.TASKS,
    **chart_page.TASKS,
    **chart_far.TASKS,
}
"""The tasks that have files of their own. They are not part of the default."""
CAPABILITIES = Capabilities(
    tag="task",
    leaves={
        **dict.fromkeys(("letters", "rotation", "noise", "clutter"), "OCR/text"),
        "colors": "perception/attribute",
        "counts": "perception/counting",
        "positions": "perception/spatial",
        "relations": "perception/spatial",
        **{name: task.capability for name, task in OWN_TASKS.items()},
    },
    source="ours",
)
QUARTERS = ("top left", "top right", "bottom left", "bottom right")
SIDES = {"left": (-1, 0), "right": (1, 0), "above": (0, -1), "below": (0, 1)}
MOST = 20


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """Rows of letters that become harder to read, and the metric for the level at which the model
    can no longer read them."""

    levels: tuple[int, ...]
    """The levels of the ladder, in the order in which they are assigned to samples."""
    label: Callable[[int], str]
    """A function that gives the label of a level in results."""
    metric: str
    """The name of the metric for the level at which the model can no longer read the letters."""
    unit: str
    """The unit of the levels."""
    harder: Literal["lower", "higher"]
    """Which levels are harder to read: the lower ones or the higher ones."""
    scale: Literal["log", "linear"] = "log"
    """The scale of the axis on which the levels are plotted."""
    alphabet: str = LETTERS
    """The letters that are drawn."""


LADDERS = {
    "letters": Ladder(
        levels=SIZES, label="{:03} pixels".format, metric="acuity", unit="pixels", harder="lower"
    ),
    "rotation": Ladder(
        levels=tuple(range(0, 181, 15)),
        label="{:03} degrees".format,
        metric="rotation",
        unit="degrees",
        harder="higher",
        scale="linear",
        alphabet=TURNED,
    ),
    "noise": Ladder(
        levels=(2, 3, 4, 6, 8, 12, 17, 24, 34, 48, 68, 96),  # the ink's depth
        label=lambda depth: f"snr {depth / NOISE:.3f}",
        metric="noise",
        unit="signal/noise",
        harder="lower",
    ),
    "clutter": Ladder(
        levels=(4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181),
        label="{:03} strokes".format,
        metric="clutter",
        unit="strokes",
        harder="higher",
    ),
    "contrast": Ladder(
        levels=(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128),
        label="{:03} levels".format,
        metric="contrast",
        unit="levels of 255",
        harder="lower",
    ),
}
HOW = {"rotation": ", each turned by the same angle", "clutter": " among strokes"}
QUESTIONS = {
    **{task: row_question(ladder.alphabet, HOW.get(task, "")) for task, ladder in LADDERS.items()},
    "colors": "What color is the shape in the picture?",
    "counts": "How many circles are in the picture?\n"
    "Reply with the number in digits and nothing else.",
    "positions": "In which quarter of the picture is the square?",
    "relations": "Where is the circle, seen from the square?",
}
FORMS = {
    "colors": "Reply with one of these words and nothing else: {}.",
    "positions": "Reply with one of these and nothing else: {}.",
    "relations": "Reply with one of these words and nothing else: {}.",
}
"""The sentence that follows a question and lists the question's choices, keyed by task."""
CHOICES: Mapping[str, tuple[str, ...]] = {
    "colors": tuple(COLORS),
    "positions": QUARTERS,
    "relations": tuple(SIDES),
}


def eyechart(
    seed: int = 0,
    n: int = 648,
    tasks: str = "+".join(QUESTIONS),
    sizes: str = "+".join(map(str, SIZES)),
    size: int = 24,
    side: int = 336,
    data: Path | None = None,
) -> Benchmark:
    """Build the benchmark. The same `seed` draws the same pictures on every machine.

    Raises:
        UsageError: a task does not exist, there is nothing to draw, the letters do not fit, or
            `data` is passed, which this benchmark does not use.
    """
    if data is not None:
        raise UsageError(f"eyechart draws its own pictures and reads no data. Leave out {data}.")
    kinds = tasks.split("+")
    known = (*QUESTIONS, *OWN_TASKS)
    if len(set(kinds)) < len(kinds) or not set(kinds) <= set(known):
        raise UsageError(
            f"eyechart:tasks must be one or more of {'+'.join(known)}, without repetition, "
            f"but is {tasks!r}."
        )
    if n < 1:
        raise UsageError(f"eyechart:n must be at least 1, but is {n}.")
    chart = _Chart(seed=seed, sizes=_sizes(sizes), size=size, side=side)
    ladders = {task: ladder for task, ladder in LADDERS.items() if task in kinds}
    own = {kind: OWN_TASKS[kind] for kind in kinds if kind in OWN_TASKS}
    own_ladders = {kind: task.ladder for kind, task in own.items() if task.ladder is not None}
    use = CoordinateUse(parse=_parse, of_prompt=PIXELS, is_demanded=True)
    return Benchmark(
        name="eyechart",
        asks=2,
        data=Drawn(f"eyechart, drawn from seed {seed}", partial(chart.rows, n, kinds)),
        sample=partial(_sample, (*LADDERS, *own_ladders)),
        prompt=_prompt,
        scorings={
            "official": Scoring(
                version=2,
                source="ours",
                parse=use.bound,
                coordinates=use if any(task.reads_places for task in own.values()) else None,
                score=_score,
                partial=True,
                metrics=_metrics(ladders, own.values()),
            )
        },
        max_answer_tokens=max([64, *(task.max_answer_tokens for task in own.values())]),
        check=Check(
            says=lambda _, answer: answer,
            wrong=_wrong,
            expect={"official": {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}},
        ),
        presentation=Presentation(
            break_down_by=("task", *ladders, *own_ladders),
            capabilities=CAPABILITIES,
            ladders={**{task: ladder.metric for task, ladder in ladders.items()}, **own_ladders},
            target_answer=_target if own else None,
            target_box=_box if own_ladders else None,
        ),
    )


def _sizes(text: str) -> tuple[int, ...]:
    words = text.split("+")
    if not all(re.fullmatch("[0-9]{1,3}", word) for word in words) or len(set(words)) < len(words):
        raise UsageError(
            f"eyechart:sizes must be distinct heights in pixels, such as 4+8+16, but is {text!r}."
        )
    return tuple(map(int, words))


def _metrics(ladders: Mapping[str, Ladder], own: Iterable[ChartTask]) -> dict[str, metrics.Metric]:
    return {
        "accuracy": metrics.mean,
        **{ladder.metric: _end(task, ladder) for task, ladder in ladders.items()},
        **{name: metric for task in own for name, metric in task.metrics.items()},
    }


def _end(task: str, ladder: Ladder) -> metrics.Metric:
    """The metric for the level of a ladder at which the model can no longer read the letters."""
    return threshold(
        task,
        unit=ladder.unit,
        trials=PER_ROW,
        guess=1 / len(ladder.alphabet),
        harder=ladder.harder,
        scale=ladder.scale,
    )


# -- rows, which describe the pictures


@dataclass(frozen=True, kw_only=True)
class _Chart:
    """Generates random rows. A row lists the objects that its picture shows, with their
    positions."""

    seed: int
    sizes: tuple[int, ...]
    size: int
    side: int

    def __post_init__(self) -> None:
        if not 224 <= self.side <= 2048:
            raise UsageError(f"eyechart:side must be 224 to 2048 pixels, but is {self.side}.")
        largest = (self.side - 2 * MARGIN) // (2 * PER_ROW)
        for name, sizes in (("sizes", self.sizes), ("size", (self.size,))):
            if not all(2 <= size <= largest for size in sizes):
                raise UsageError(
                    f"eyechart:{name} must be 2 to {largest} pixels if the picture has "
                    f"{self.side}, since {PER_ROW} letters must fit in a row."
                )

    def rows(self, n: int, tasks: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        for row_index in range(n):
            number, turn = divmod(row_index, len(tasks))
            task = tasks[turn]
            # Only random() is guaranteed to give the same numbers in every version of Python.
            draw = partial(_below, Random(f"{self.seed} {task} {number}"))
            label = ""
            if ladder := LADDERS.get(task):
                # The levels take turns, so that the first rows include all of them.
                levels = self.sizes if task == "letters" else ladder.levels
                level = levels[number % len(levels)]
                label = ladder.label(level)
                scene = self._row(draw, task, level)
            elif task in OWN_TASKS:
                scene = OWN_TASKS[task].scene(draw, self.side, number)
                label = scene.level
            else:
                scene = SCENES[task](draw, self.side)
            yield {
                "id": f"{task}-{number}",
                "task": task,
                "level": label,
                "answer": scene.answer,
                "picture": scene.picture(self.side),
                **({"question": scene.question} if scene.question else {}),
            }

    def _row(self, draw: Draw, task: str, level: int) -> Scene:
        """Draw a row of letters at a level of a ladder. The properties that other ladders vary stay
        fixed."""
        side = (level if task == "letters" else self.size) * UNIT
        paper = MIDDLE + level // 2 if task == "noise" else WHITE
        ink = paper - level if task in ("noise", "contrast") else BLACK
        turn = level - 2 * level * draw(2) if task == "rotation" else 0
        # Turned letters extend beyond their squares.
        over = side // 4 if turn else 0
        x = inside(draw, self.side, (2 * PER_ROW - 1) * side + 2 * over) + over
        y = inside(draw, self.side, side + 2 * over) + over
        alphabet = LADDERS[task].alphabet
        row = [alphabet[draw(len(alphabet))] for _ in range(PER_ROW)]
        return Scene(
            answer="".join(row),
            shapes=[
                shape(letter, x + 2 * k * side, y, side, (ink, ink, ink), turn)
                for k, letter in enumerate(row)
            ],
            paper=paper,
            strokes=(draw(1 << 32), level, side) if task == "clutter" else None,
            noise=(draw(1 << 32), NOISE) if task == "noise" else None,
        )


def _below(random: Random, limit: int) -> int:
    return int(random.random() * limit)


def _colors(draw: Draw, room: int) -> Scene:
    """Draw a disc or square of 8 to 80 pixels. Each color channel varies by up to 15 of 255
    levels."""
    name = pick(draw, tuple(COLORS))
    color = [value - 15 + draw(31) for value in COLORS[name]]
    side = (8 + draw(73)) * UNIT
    x, y = inside(draw, room, side), inside(draw, room, side)
    return Scene(answer=name, shapes=[shape(pick(draw, ("disc", "square")), x, y, side, color)])


def _counts(draw: Draw, room: int) -> Scene:
    """Draw 1 to 20 discs of 12 to 32 pixels that are at least 4 pixels apart."""
    wanted = 1 + draw(MOST)
    discs: list[tuple[int, int, int]] = []
    while len(discs) < wanted:
        side = (12 + draw(21)) * UNIT
        x, y = inside(draw, room, side), inside(draw, room, side)
        # Centers and distances are doubled, so that they are integers.
        if all(
            (2 * x + side - 2 * ox - other) ** 2 + (2 * y + side - 2 * oy - other) ** 2
            > (side + other + 8 * UNIT) ** 2
            for ox, oy, other in discs
        ):
            discs.append((x, y, side))
    return Scene(answer=str(wanted), shapes=[shape("disc", x, y, side) for x, y, side in discs])


def _positions(draw: Draw, room: int) -> Scene:
    """Draw a square of 6 to 40 pixels that is completely inside one quarter of the picture."""
    quarter = draw(len(QUARTERS))
    side = (6 + draw(35)) * UNIT
    half = room // 2
    x = quarter % 2 * half * UNIT + inside(draw, half, side)
    y = quarter // 2 * half * UNIT + inside(draw, half, side)
    return Scene(answer=QUARTERS[quarter], shapes=[shape("square", x, y, side)])


def _relations(draw: Draw, room: int) -> Scene:
    """Draw a square and a disc of 12 to 40 pixels. The disc is to the left of the square, to the
    right of it, above it, or below it, and at most 27 degrees off that direction."""
    answer = pick(draw, tuple(SIDES))
    right, down = SIDES[answer]
    while True:
        square, disc = ((12 + draw(29)) * UNIT for _ in range(2))
        x, y = inside(draw, room, square), inside(draw, room, square)
        disc_x, disc_y = inside(draw, room, disc), inside(draw, room, disc)
        # The distance between the centers, doubled so that it is an integer.
        across = 2 * disc_x + disc - 2 * x - square
        along = 2 * disc_y + disc - 2 * y - square
        towards, aside = right * across + down * along, down * across + right * along
        if towards > square + disc + 8 * UNIT and towards > 2 * abs(aside):
            shapes = [shape("square", x, y, square), shape("disc", disc_x, disc_y, disc)]
            return Scene(answer=answer, shapes=shapes)


SCENES: Mapping[str, Callable[[Draw, int], Scene]] = {
    "colors": _colors,
    "counts": _counts,
    "positions": _positions,
    "relations": _relations,
}


# -- samples


def _sample(leveled: Sequence[str], _: int, row: Row) -> Sample:
    """Build a sample. Each of the tasks in `leveled` has a tag with the level."""
    return Sample(
        id=row["id"],
        question=row.get("question") or QUESTIONS[row["task"]],
        choices=CHOICES.get(row["task"], ()),
        target=row["answer"],
        tags={
            "task": row["task"],
            **{task: row["level"] if task == row["task"] else "" for task in leveled},
        },
        data=row["picture"],
    )


def _prompt(sample: Sample, _: History) -> tuple[Message, ...]:
    """Build the prompt: the picture, which is drawn here, and the question."""
    drawn = _drawn(orjson.dumps(sample.data))
    form = FORMS.get(sample.tags["task"], "").format(", ".join(sample.choices))
    question = "\n".join(filter(None, (sample.question, form)))
    return (user(Image(drawn, label=f"{sample.id}, drawn"), question),)


# All pictures are cached (10 MB), since each model, repeat, and baseline gets the same ones.
@lru_cache(maxsize=1024)
def _drawn(data: bytes) -> bytes:
    """Draw a picture from the JSON in its row. Returns a PNG."""
    picture = orjson.loads(data)
    side, paper = picture["side"], picture["paper"]
    canvas = Canvas(side, side, (paper,) * 3)
    for rule in picture.get("rules", ()):
        canvas.fill(*rule)
    for what, x, y, width, color, turn in picture["shapes"]:
        canvas.draw(what, x, y, width, color, turn)
    if picture["strokes"]:
        seed, n, length = picture["strokes"]
        draw = partial(_below, Random(seed))
        for _stroke in range(n):
            x, y = (draw(side * UNIT) - length // 2 for _axis in range(2))
            canvas.draw("-", x, y, length, turn=15 * draw(12))
    if picture["noise"]:
        canvas.add_noise(*picture["noise"])
    return canvas.png()


# -- the official scoring


def _target(sample: Sample) -> Answer | None:
    """The right answer as an object, for tasks that have files of their own."""
    task = OWN_TASKS.get(sample.tags["task"])
    return None if task is None else task.target(sample)


def _box(sample: Sample) -> tuple[float, float, float, float] | None:
    """Where to look, for tasks whose answer is not the place itself."""
    task = OWN_TASKS.get(sample.tags["task"])
    return None if task is None or task.ladder is None else box_of(sample)


def _parse(reply: Reply, sample: Sample, coordinates: Coordinates) -> Reading:
    task = sample.tags["task"]
    if task in OWN_TASKS:
        return OWN_TASKS[task].parse(reply, sample, coordinates)
    text = bare_text(reply)
    if task in LADDERS:
        return read_row(text)
    if task == "counts":
        if re.fullmatch(r"[0-9]{1,4}", text):
            return Reading(answer=str(int(text)), rule="a number")
    else:
        words = SEPARATORS.sub(" ", text)
        if words in sample.choices:
            return Reading(answer=words, rule="one of the words")
    return Reading(answer=None, rule="none")


def _score(reading: Reading, sample: Sample) -> float:
    """The share of letters in the right position for ladders. For all other tasks, 1 if the answer
    is right, else 0."""
    if reading.answer is None or sample.target is None:
        return 0.0
    if sample.tags["task"] in OWN_TASKS:
        return OWN_TASKS[sample.tags["task"]].score(reading, sample)
    if sample.tags["task"] not in LADDERS:
        return float(reading.answer == sample.target)
    assert isinstance(reading.answer, str)
    return row_score(reading.answer, sample.target)


def _wrong(sample: Sample) -> str:
    """A wrong answer of the right form: the number plus one, the next choice, or the next letter of
    the alphabet in each position."""
    target, task = sample.target or "", sample.tags["task"]
    if task in OWN_TASKS:
        return OWN_TASKS[task].wrong
    if task == "counts":
        return str(int(target) + 1)
    if sample.choices:
        return sample.choices[(sample.choices.index(target) + 1) % len(sample.choices)]
    letters = LADDERS[task].alphabet
    return "".join(letters[(letters.index(letter) + 1) % len(letters)] for letter in target)
