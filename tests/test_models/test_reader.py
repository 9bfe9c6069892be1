"""The reader sees pictures alone: large ones well, and at chance with another question's."""

import ast
import asyncio
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from itertools import combinations
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import snellen
from snellen import registry
from snellen.benchmarks.eyechart import LADDERS, eyechart
from snellen.core.model import Generates, Reply, Request, loaded
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.errors import Rejected
from snellen.media import images
from snellen.media.content import Image, user
from snellen.media.drawing import UNIT, Canvas
from snellen.models.reader import Reader

CHART = eyechart(seed=5, n=9 * 96)
TASKS = ("letters", "rotation", "noise", "clutter", "contrast")


@cache
def samples() -> tuple[Sample, ...]:
    return tuple(CHART.sample(row.position, row) for row in CHART.data)


@cache
def respond(question: str, picture: bytes, choices: tuple[str, ...] = ()) -> str:
    request = Request(messages=(user(Image(picture), question),), choices=choices)
    return Reader().generate_batch([loaded(request)])[0].text


def score(sample: Sample, picture: bytes) -> float:
    """What the reader scores on a sample's question when it is shown this picture."""
    scoring = CHART.scorings["official"]
    reply = respond(sample.question, picture, sample.choices)
    value = total_score(scoring.score(scoring.parse(Reply(text=reply), sample), sample))
    assert value is not None
    return value


@cache
def pictures() -> dict[str, bytes]:
    """What is shown with each sample, by its id."""
    shown = {}
    for sample in samples():
        request = CHART.request(sample)
        assert request is not None
        medium = request.messages[0].content[0]
        assert isinstance(medium, Image) and isinstance(medium.source, bytes)
        shown[sample.id] = medium.source
    return shown


def picture(sample: Sample) -> bytes:
    return pictures()[sample.id]


@cache
def by_level(task: str) -> list[tuple[float, list[float]]]:
    """The levels of a ladder, the hardest first, and the scores at each."""
    scores = defaultdict(list)
    for sample in samples():
        if sample.tags["task"] == task:
            scores[sample.tags[task]].append(score(sample, picture(sample)))
    levels = [(float(re.findall("[0-9.]+", name)[0]), values) for name, values in scores.items()]
    return sorted(levels, reverse=LADDERS[task].harder == "higher")


def share(scores: Sequence[float]) -> float:
    return sum(scores) / len(scores)


def falls(levels: Sequence[Sequence[float]]) -> float:
    """How many standard errors the linear trend of scores over the levels' ranks is above none.

    Cochran and Armitage's test (Armitage 1955, Biometrics 11, 375) with the rows' own variance,
    since letters of a row are not independent. The hardest level comes first.
    """
    rank = np.repeat(np.arange(len(levels)), [len(scores) for scores in levels]).astype(float)
    scores = np.concatenate(levels)
    centred = rank - rank.mean()
    return float((centred @ scores) / np.sqrt((centred @ centred) * scores.var()))


def reversal(levels: Sequence[Sequence[float]]) -> float:
    """The largest rise of the mean score from a level to a harder one, in standard errors.

    A level's variance is at least that of its letters read by themselves at the two levels' mean.
    """
    rises = []
    for hard, easy in combinations(levels, 2):
        mean = share([*hard, *easy])
        variance = sum(
            max(float(np.var(level)), mean * (1 - mean) / 5) / len(level) for level in (hard, easy)
        )
        rises.append((share(hard) - share(easy)) / max(variance, 1e-9) ** 0.5)
    return float(max(rises))


def shares(task: str, shown: Callable[[int], int]) -> float:
    """The mean score on a task when sample k is shown the picture of sample `shown(k)`."""
    task_samples = [sample for sample in samples() if sample.tags["task"] == task]
    return share(
        [
            score(sample, picture(task_samples[shown(k) % len(task_samples)]))
            for k, sample in enumerate(task_samples)
        ]
    )


@pytest.mark.parametrize(
    ("task", "easy"), [("letters", 10), ("noise", 2.8), ("clutter", 8), ("contrast", 1)]
)
def test_what_is_easy_on_a_ladder_is_read(task: str, easy: float) -> None:
    sign = -1 if LADDERS[task].harder == "higher" else 1
    rows = [
        value for level, values in by_level(task) if sign * level >= sign * easy for value in values
    ]
    assert share(rows) >= 0.85


def test_upright_letters_are_read() -> None:
    assert share(by_level("rotation")[-1][1]) >= 0.95


@pytest.mark.parametrize("task", ["letters", "noise", "clutter"])
def test_the_hardest_level_is_read_no_better_than_by_chance(task: str) -> None:
    # Eight rows of five letters, of ten kinds: 0.1, and 3.3 standard errors of 0.047.
    assert share(by_level(task)[0][1]) <= 0.26


def test_letters_turned_further_than_half_a_right_angle_are_guessed_at_best() -> None:
    # Seven rows a level or eight, nine levels: 0.1, and 3.3 standard errors of the most that
    # such rows can differ by, 0.3 / sqrt(63).
    rows = [value for level, values in by_level("rotation") if level > 45 for value in values]
    assert share(rows) <= 0.1 + 3.3 * 0.3 / 63**0.5


@pytest.mark.parametrize("task", ["letters", "rotation", "noise", "clutter"])
def test_letters_are_read_ever_worse_as_they_get_harder(task: str) -> None:
    levels = [values for level, values in by_level(task) if task != "rotation" or level <= 45]
    assert falls(levels) > 3.3  # 1 in 2,000 without a trend
    # Of at most 66 pairs of levels that are alike, one is 3.8 standard errors apart in 1 of 100.
    assert reversal(levels) < 3.8


def test_contrast_does_not_matter() -> None:
    assert {share(values) for _, values in by_level("contrast")} == {1.0}


@pytest.mark.parametrize("task", ["colors", "counts", "positions", "relations"])
def test_colors_counts_positions_and_relations_are_seen(task: str) -> None:
    assert shares(task, lambda k: k) >= 0.97


# Chance, and 3.3 standard errors to either side: of 96 answers, or of 480 letters.
@pytest.mark.parametrize(
    ("task", "chance", "answers"),
    [
        *((task, 1 / 10, 480) for task in TASKS),
        ("colors", 1 / 8, 96),
        ("counts", 1 / 20, 96),
        ("positions", 1 / 4, 96),
        ("relations", 1 / 4, 96),
    ],
)
def test_with_another_question_s_picture_it_is_at_chance(
    task: str, chance: float, answers: int
) -> None:
    reach = 3.3 * (chance * (1 - chance) / answers) ** 0.5
    steps = 26 if task == "rotation" else 24  # to a picture of the same level
    assert chance - reach <= shares(task, lambda k: k + steps) <= chance + reach


def encoded(pixels: np.ndarray, form: str = "PNG") -> bytes:
    out = BytesIO()
    PIL.Image.fromarray(pixels.astype(np.uint8)).save(out, form)
    return out.getvalue()


@pytest.mark.parametrize(
    ("change", "form"),
    [
        (lambda p: 255 - p, "PNG"),
        (lambda p: 150 - p // 8, "PNG"),
        (lambda p: p * np.array([0.4, 0.7, 1.0]), "PNG"),
        (lambda p: np.repeat(np.repeat(p, 3, axis=0), 3, axis=1), "PNG"),
        (lambda p: np.pad(p, ((0, 90), (50, 0), (0, 0)), constant_values=255), "PNG"),
        (lambda p: p, "JPEG"),
        (lambda p: p, "WEBP"),
    ],
    ids=["negative", "faint", "tinted", "enlarged", "on a larger sheet", "jpeg", "webp"],
)
def test_contrast_size_place_and_format_do_not_matter(
    change: Callable[[np.ndarray], np.ndarray], form: str
) -> None:
    sample = next(sample for sample in samples() if sample.tags["letters"] == "016 pixels")
    changed = encoded(change(images.pixels(Image(picture(sample)))), form)
    assert respond(sample.question, changed) == sample.target


def test_it_counts_connected_pieces_whatever_their_shape() -> None:
    pixels = np.full((60, 60, 3), 255)
    pixels[5:25, 5:10] = pixels[5:25, 20:25] = pixels[20:25, 5:25] = 0  # a U: its arms meet late
    pixels[5:25, 30:50] = 0
    pixels[10:20, 35:45] = 255  # a ring
    pixels[40, 40] = pixels[41, 41] = 0  # a diagonal
    assert respond("How many marks are there?", encoded(pixels)) == "3"


def test_a_letter_in_two_pieces_is_one_letter() -> None:
    pixels = np.full((30, 40, 3), 255)
    pixels[10:20, 10:12] = pixels[10:20, 15:17] = 0
    assert respond("Which letter is this? One of H, Z.", encoded(pixels)) == "H"


@pytest.mark.parametrize("hidden", [0, 2, 4])
def test_letters_beside_one_that_a_stroke_runs_through_are_read(hidden: int) -> None:
    canvas = Canvas(240, 200)
    for position, letter in enumerate("HSNZC"):
        canvas.draw(letter, (10 + 48 * position) * UNIT, 120 * UNIT, 24 * UNIT)
    canvas.pixels[20:160, 20 + 48 * hidden : 24 + 48 * hidden] = 0
    read = respond("The picture shows 5 letters, each of them one of H, S, N, Z, C.", canvas.png())
    assert len(read) == 5
    assert [letter for k, letter in enumerate(read) if k != hidden] == [
        letter for k, letter in enumerate("HSNZC") if k != hidden
    ]


def test_without_a_list_of_letters_it_reads_the_alphabet() -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    canvas = Canvas(26 * 60, 60)
    for position, letter in enumerate(alphabet):
        canvas.draw(letter, (60 * position + 15) * UNIT, 15 * UNIT, 30 * UNIT)
    assert respond("Which letters are these?", canvas.png()) == alphabet


def test_other_questions_and_empty_pictures_get_no_answer() -> None:
    blank = encoded(np.full((20, 20, 3), 255))
    letters = picture(samples()[45])
    assert respond("Is this a good picture?", letters) == ""
    assert respond("How many circles are there?", blank) == ""
    nothing = Request(messages=(user("How many circles are there?"),))
    assert Reader().generate_batch([nothing])[0].text == ""


def test_it_says_which_ninth_of_a_picture_where_the_choices_are_ninths() -> None:
    ninths = ("top left", "top", "top right", "left", "centre", "right", "bottom left", "bottom")
    for number, ninth in enumerate(ninths):
        pixels = np.full((90, 90, 3), 255)
        down, right = divmod(number, 3)
        pixels[30 * down + 3 : 30 * down + 12, 30 * right + 14 : 30 * right + 27] = 0
        assert respond("Where is the mark?", encoded(pixels), ninths) == ninth


def test_it_says_where_the_square_is_seen_from_the_circle_too() -> None:
    canvas = Canvas(80, 80)
    canvas.draw("disc", 10 * UNIT, 40 * UNIT, 20 * UNIT)
    canvas.draw("square", 50 * UNIT, 45 * UNIT, 15 * UNIT)
    assert respond("Where is the circle, seen from the square?", canvas.png()) == "left"
    assert respond("Where is the square, seen from the circle?", canvas.png()) == "right"


def test_a_damaged_picture_is_a_failure_and_no_answer() -> None:
    good = picture(samples()[0])
    damaged = good[:60] + bytes(20) + good[80:]
    with pytest.raises(Rejected, match="cannot be decoded"):
        respond("How many circles are there?", damaged)


def test_opened_by_its_name_it_answers_many_at_once() -> None:
    model = registry.model("baseline/reader").model
    assert isinstance(model, Generates)
    count_samples = [sample for sample in samples() if sample.tags["task"] == "counts"][:20]

    async def body() -> list[str]:
        requests = [CHART.request(sample) for sample in count_samples]
        replies = [model.generate(loaded(request)) for request in requests if request]
        return [reply.text for reply in await asyncio.gather(*replies)]

    assert model.name == "baseline/reader"
    assert asyncio.run(body()) == [sample.target for sample in count_samples]


def test_it_knows_nothing_of_what_draws_or_asks() -> None:
    folder = Path(snellen.__file__).parent / "models"
    imported = {
        node.module
        for name in (
            *("reader.py", "reader_places.py", "reader_shapes.py", "reader_tables.py"),
            "zoomer.py",
        )
        for node in ast.walk(ast.parse((folder / name).read_bytes()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("snellen")
    }
    assert imported == {
        "snellen.media.content",
        "snellen.media.views",
        "snellen.models.batch",
        "snellen.models.zoomer",
        "snellen.errors",
        "snellen.media",
        "snellen.core.model",
        "snellen.core.profile",
        "snellen.models.reader_places",
        "snellen.models.reader_shapes",
        "snellen.models.reader_tables",
    }


OWN = eyechart(seed=5, n=3 * 64, tasks="point+box+table")


@cache
def own_samples(task: str) -> tuple[tuple[Sample, bytes], ...]:
    rows = (OWN.sample(row.position, row) for row in OWN.data)
    return tuple((sample, shown(sample)) for sample in rows if sample.tags["task"] == task)


def shown(sample: Sample) -> bytes:
    request = OWN.request(sample)
    assert request is not None
    medium = request.messages[0].content[0]
    assert isinstance(medium, Image) and isinstance(medium.source, bytes)
    return medium.source


def own_score(sample: Sample, picture: bytes) -> float:
    scoring = OWN.scorings["official"]
    reading = scoring.parse(Reply(text=respond(sample.question, picture)), sample)
    value = total_score(scoring.score(reading, sample))
    assert value is not None
    return value


@pytest.mark.parametrize(("task", "least"), [("point", 0.95), ("box", 0.9), ("table", 0.95)])
def test_places_and_tables_are_seen(task: str, least: float) -> None:
    assert share([own_score(*pair) for pair in own_samples(task)]) >= least


@pytest.mark.parametrize("task", ["point", "box"])
def test_with_another_question_s_picture_it_is_nowhere_near(task: str) -> None:
    pairs = own_samples(task)
    others = [*pairs[1:], pairs[0]]
    # A letter covers at most 40² of 336² pixels: 1.4 %, and 3.3 standard errors of 64 answers.
    assert (
        share([own_score(pair[0], other[1]) for pair, other in zip(pairs, others, strict=True)])
        <= 0.063
    )


@pytest.mark.parametrize("task", ["point", "box"])
def test_a_place_is_in_pixels_of_the_size_that_the_question_states(task: str) -> None:
    sample, picture = own_samples(task)[0]
    enlarged = np.repeat(np.repeat(images.pixels(Image(picture)), 3, axis=0), 3, axis=1)
    numbers = [
        [float(number) for number in text.strip("[]").split(", ")]
        for text in (respond(sample.question, encoded(enlarged)), sample.target or "")
    ]
    assert numbers[0] == pytest.approx(numbers[1], abs=1.0)


def test_a_table_is_read_wherever_its_page_lies() -> None:
    sample, page = own_samples("table")[0]
    pixels = np.pad(images.pixels(Image(page)), ((40, 9), (20, 31), (0, 0)), constant_values=255)
    assert respond(sample.question, encoded(255 - pixels)) == sample.target


def test_a_page_without_rules_has_no_table() -> None:
    canvas = Canvas(100, 100)
    canvas.draw("H", 10 * UNIT, 10 * UNIT, 20 * UNIT)
    assert respond(own_samples("table")[0][0].question, canvas.png()) == ""
