"""The eye chart: the same everywhere, as hard as its levels say, and read strictly."""

from collections import Counter
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from snellen.benchmarks.eyechart import (
    LADDERS,
    NOISE,
    QUARTERS,
    QUESTIONS,
    SIZES,
    TURNED,
    eyechart,
)
from snellen.benchmarks.families.chart_scenes import LETTERS
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import reading_state
from snellen.errors import UsageError
from snellen.media import images
from snellen.media.content import Image

OFFICIAL = eyechart().scorings["official"]


def drawn(**options: object) -> list[Sample]:
    chart = eyechart(**options)  # type: ignore[arg-type]
    return [chart.sample(row.position, row) for row in chart.data]


def picture(sample: Sample) -> bytes:
    request = eyechart().request(sample)
    assert request is not None
    shown = request.messages[0].content[0]
    assert isinstance(shown, Image) and isinstance(shown.source, bytes)
    return shown.source


# -- rows and pictures


def test_the_chart_is_the_same_on_every_machine() -> None:
    chart = eyechart(n=54)
    digest = sha256(b"".join(picture(chart.sample(row.position, row)) for row in chart.data))
    assert chart.data.facts().digest == "05dc2cbff0f4ee314792dfb2d421cca8"
    assert digest.hexdigest() == "1dfb37d0bd441a8309a8f52005a3a55e5282af5305f43250d9c6e226b100f171"


def test_another_seed_draws_other_pictures() -> None:
    assert {picture(s) for s in drawn(n=12)} & {picture(s) for s in drawn(n=12, seed=1)} == set()


def test_a_smaller_chart_is_the_beginning_of_a_larger_one() -> None:
    assert drawn(n=20) == drawn(n=40)[:20]


def test_a_task_by_itself_has_the_same_samples_as_among_others() -> None:
    together = [sample for sample in drawn(n=90) if sample.tags["task"] == "counts"]
    assert drawn(n=10, tasks="counts") == together


def test_every_task_and_every_level_of_it_has_equally_many_rows() -> None:
    rows = list(eyechart().data)
    assert Counter(row["task"] for row in rows) == dict.fromkeys(QUESTIONS, 72)
    for task, ladder in LADDERS.items():
        counts = Counter(row["level"] for row in rows if row["task"] == task)
        assert set(counts) == {ladder.label(level) for level in ladder.levels}
        # Rotation has 13 levels: they have 5 rows or 6.
        assert set(counts.values()) == ({5, 6} if task == "rotation" else {6})


def test_a_sample_has_the_tag_of_its_own_ladder_alone() -> None:
    for sample in drawn(n=18):
        levels = {task for task in LADDERS if sample.tags[task]}
        assert levels == {sample.tags["task"]} & set(LADDERS)


def test_results_are_broken_down_by_the_ladders_that_were_asked() -> None:
    chart = eyechart(tasks="noise+colors")
    assert chart.presentation.break_down_by == ("task", "noise")
    assert list(chart.scorings["official"].metrics) == ["accuracy", "noise"]


def test_sizes_are_those_that_are_asked_for() -> None:
    chosen = drawn(n=6, tasks="letters", sizes="4+8+30")
    names = ["004 pixels", "008 pixels", "030 pixels"]
    assert [sample.tags["letters"] for sample in chosen] == names * 2


@pytest.mark.parametrize("task", list(QUESTIONS))
def test_answers_are_spread_over_all_that_there_are(task: str) -> None:
    targets = [row["answer"] for row in eyechart(n=400, tasks=task).data]
    kinds = {"colors": 8, "counts": 20, "positions": 4, "relations": 4}.get(task, 10)
    answers = [letter for row in targets for letter in row] if task in LADDERS else targets
    counts = [answers.count(answer) for answer in set(answers)]
    assert len(counts) == kinds
    # Chi-square with 3 to 19 degrees of freedom is below 43.8 in 99.9 % of draws, or more.
    mean = len(answers) / kinds
    assert sum((count - mean) ** 2 / mean for count in counts) < 43.8


def pixels(sample: Sample) -> np.ndarray:
    """(side, side), the green channel."""
    return images.pixels(Image(picture(sample)))[:, :, 1].astype(int)


def ink(sample: Sample) -> np.ndarray:
    inked: np.ndarray = images.pixels(Image(picture(sample))).min(axis=2) < 250
    return inked


def level(sample: Sample) -> int:
    """The number of pixels, degrees or strokes of the sample's level."""
    return int(sample.tags[sample.tags["task"]].split()[0])


def spans(there: np.ndarray) -> list[tuple[int, int]]:
    ends = np.flatnonzero(np.diff(there, prepend=False, append=False)).tolist()
    return list(zip(ends[::2], ends[1::2], strict=True))


def test_a_row_of_letters_is_as_high_as_its_tag_says() -> None:
    for sample in drawn(n=24, tasks="letters"):
        rows = np.flatnonzero(ink(sample).any(axis=1))
        height = level(sample)
        assert height <= rows[-1] - rows[0] + 1 <= height + 1  # it may begin within a pixel
        columns = np.flatnonzero(ink(sample).any(axis=0))
        assert 9 * height <= columns[-1] - columns[0] + 2 <= 9 * height + 3


@pytest.mark.parametrize(("size", "side"), [(10, 336), (32, 336), (98, 1000)])
def test_turned_letters_stand_apart_and_inside_the_picture(size: int, side: int) -> None:
    for sample in drawn(n=26, tasks="rotation", size=size, side=side):
        inked = ink(sample)
        assert len(spans(inked.max(axis=0))) == 5, sample.id
        margins = [inked[:2], inked[-2:], inked[:, :2], inked[:, -2:]]
        assert not any(margin.any() for margin in margins), sample.id


def test_letters_are_turned_by_the_level_to_either_side() -> None:
    # An L fills the corner of its box that its stroke turns in: bottom left upright, top left
    # when turned clockwise by 90 degrees, bottom right against the clock.
    corners = set()
    for sample in drawn(n=260, tasks="rotation"):
        if level(sample) == 90 and "L" in (sample.target or ""):
            inked = ink(sample)
            first, last = spans(inked.max(axis=0))[(sample.target or "").index("L")]
            there = spans(inked[:, first:last].max(axis=1))
            box = inked[there[0][0] : there[-1][1], first:last]
            middle = len(box) // 2
            arms = {
                "top": box[2].sum(), "bottom": box[-3].sum(),
                "left": box[:, 2].sum(), "right": box[:, -3].sum(),
            }  # fmt: skip
            corners.add(tuple(sorted(side for side, n in arms.items() if n > middle)))
    assert corners == {("left", "top"), ("bottom", "right")}


def test_noise_is_as_strong_as_its_tag_says() -> None:
    for sample in drawn(n=12, tasks="noise"):
        depth = round(float(sample.tags["noise"].removeprefix("snr ")) * NOISE)
        _, _, y, height, _, _ = sample.data["shapes"][0]  # type: ignore[index]
        levels = pixels(sample)
        paper = np.concatenate([levels[: y // 16], levels[(y + height) // 16 + 1 :]])
        # Of 100,000 pixels: standard errors 0.08 and 0.05.
        assert paper.mean() == pytest.approx(128 + depth // 2, abs=0.3)
        assert paper.std() == pytest.approx(NOISE, abs=0.3)


def test_letters_in_noise_are_as_deep_as_its_tag_says() -> None:
    for sample in drawn(n=12, tasks="noise"):
        depth = round(float(sample.tags["noise"].removeprefix("snr ")) * NOISE)
        colors = {tuple(shape[4]) for shape in sample.data["shapes"]}  # type: ignore[attr-defined]
        assert colors == {(sample.data["paper"] - depth,) * 3}  # type: ignore[operator]


def test_contrast_is_as_faint_as_its_tag_says() -> None:
    for sample in drawn(n=12, tasks="contrast"):
        assert pixels(sample).max() == 255
        assert pixels(sample).min() == 255 - level(sample)


def test_clutter_has_as_many_strokes_as_its_tag_says() -> None:
    # 24 pixels: a pen 4.8 wide that goes 19.2 covers 19.2 x 4.8 + 2.4² pi = 110.3 pixels, or less
    # where a stroke ends at the picture's edge or lies on another.
    for sample in drawn(n=36, tasks="clutter"):
        rest = replace(sample, data={**sample.data, "strokes": None})
        added = (pixels(rest) - pixels(sample)).sum() / 255
        assert added <= level(sample) * 111
        if level(sample) <= 16:
            assert added >= level(sample) * 110.3 * 0.5
    many = [sample for sample in drawn(n=36, tasks="clutter") if level(sample) == 181]
    assert {tuple(sample.data["strokes"])[1:] for sample in many} == {(181, 24 * 16)}  # type: ignore[arg-type]


def test_a_square_lies_in_the_quarter_that_its_answer_names() -> None:
    for sample in drawn(n=30, tasks="positions"):
        rows, columns = np.nonzero(ink(sample))
        quarters = {
            (y // 168, x // 168) for y, x in zip(rows.tolist(), columns.tolist(), strict=True)
        }
        assert quarters == {divmod(QUARTERS.index(sample.target or ""), 2)}


def test_a_circle_is_on_the_side_of_the_square_that_its_answer_names() -> None:
    for sample in drawn(n=32, tasks="relations"):
        alone = []
        for shape in sample.data["shapes"]:  # type: ignore[attr-defined]
            rows, columns = np.nonzero(
                ink(replace(sample, data={**sample.data, "shapes": [shape]}))
            )
            box = (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
            alone.append((len(rows) / box > 0.9, columns.mean(), rows.mean()))
        (_, circle_x, circle_y), (_, square_x, square_y) = sorted(alone)
        right, down = circle_x - square_x, circle_y - square_y
        sides = {"right": right, "left": -right, "below": down, "above": -down}
        assert sample.target == max(sides, key=lambda side: sides[side])
        assert max(abs(right), abs(down)) > 1.9 * min(abs(right), abs(down))
        assert (ink(sample).sum()) == sum(
            ink(replace(sample, data={**sample.data, "shapes": [shape]})).sum()
            for shape in sample.data["shapes"]  # type: ignore[attr-defined]
        ), "they do not overlap"


def test_circles_do_not_touch() -> None:
    for sample in drawn(n=30, tasks="counts"):
        edges = np.diff(ink(sample).astype(int), axis=1, prepend=0)
        # Euler's number of discs that do not touch is their number; by runs: begins minus joins.
        runs = (edges == 1).sum()
        inked = ink(sample)
        both = inked[1:] & inked[:-1]
        joins = (np.diff(both.astype(int), axis=1, prepend=0) == 1).sum()
        assert runs - joins == int(sample.target or "0")


@pytest.mark.parametrize("side", [224, 700])
def test_pictures_are_as_large_as_they_are_asked_to_be(side: int) -> None:
    for sample in drawn(n=18, side=side, sizes="5+20", size=20):
        assert pixels(sample).shape == (side, side)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tasks": "letters+smells"}, "'letters\\+smells'"),
        ({"tasks": "letters+letters"}, "without repetition"),
        ({"tasks": ""}, "one or more of"),
        ({"n": 0}, "at least 1"),
        ({"sizes": "4,8"}, "such as 4\\+8\\+16, but is '4,8'"),
        ({"sizes": "4+4"}, "such as"),
        ({"sizes": "1+8"}, "eyechart:sizes must be 2 to 32 pixels"),
        ({"sizes": "8+33"}, "eyechart:sizes must be 2 to 32 pixels"),
        ({"size": 33}, "eyechart:size must be 2 to 32 pixels if the picture has 336"),
        ({"side": 200}, "224 to 2048 pixels, but is 200"),
        ({"data": "folder"}, "reads no data"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        eyechart(**options)  # type: ignore[arg-type]


# -- scoring


def sample_of(task: str, target: str) -> Sample:
    return replace(drawn(n=1, tasks=task)[0], target=target)


@pytest.mark.parametrize(
    ("task", "target", "reply", "answer", "score"),
    [
        ("letters", "CDHKN", "CDHKN", "CDHKN", 1.0),
        ("letters", "CDHKN", "c, d, h, k, n.", "CDHKN", 1.0),
        ("letters", "CDHKN", "Answer: **C D H K N**", "CDHKN", 1.0),
        ("letters", "CDHKN", "C D H K O", "CDHKO", 0.8),
        ("letters", "CDHKN", "?D?K?", "?D?K?", 0.4),
        ("letters", "CDHKN", "DHKNC", "DHKNC", 0.0),
        ("letters", "CDHKN", "CDHK", None, 0.0),
        ("letters", "CDHKN", "CDHKNO", None, 0.0),
        ("letters", "CDHKN", "The letters are C D H K N", None, 0.0),
        ("letters", "CDHKN", "1 2 3 4 5", None, 0.0),
        ("rotation", "AFGJL", "AFGLJ", "AFGLJ", 0.6),
        ("noise", "CDHKN", "?????", "?????", 0.0),
        ("colors", "red", " Red.\n", "red", 1.0),
        ("colors", "red", "blue", "blue", 0.0),
        ("colors", "red", "red or orange", None, 0.0),
        ("colors", "red", "crimson", None, 0.0),
        ("counts", "7", "7", "7", 1.0),
        ("counts", "7", "`07`", "7", 1.0),
        ("counts", "7", "17", "17", 0.0),
        ("counts", "7", "seven", None, 0.0),
        ("counts", "7", "6 or 7", None, 0.0),
        ("counts", "7", "9" * 5000, None, 0.0),
        ("positions", "top left", "Top-Left", "top left", 1.0),
        ("positions", "top right", '"Top right".', "top right", 1.0),
        ("positions", "top left", "top", None, 0.0),
        ("relations", "above", "Above", "above", 1.0),
        ("relations", "above", "below", "below", 0.0),
        ("relations", "above", "above the square", None, 0.0),
        ("positions", "top left", "upper left", None, 0.0),
        ("positions", "top left", "", None, 0.0),
    ],
)
def test_replies_are_read_strictly(
    task: str, target: str, reply: str, answer: str | None, score: float
) -> None:
    sample = sample_of(task, target)
    reading = OFFICIAL.parse(Reply(text=reply), sample)
    assert reading.answer == answer
    assert OFFICIAL.score(reading, sample) == pytest.approx(score)
    assert reading_state(reading, sample) == ("unparsed" if answer is None else "answered")


def test_the_wrong_dummy_is_wrong_in_every_letter() -> None:
    check = eyechart().check
    assert check is not None
    for sample in drawn(n=90):
        reading = OFFICIAL.parse(Reply(text=check.says(sample, check.wrong(sample))), sample)
        assert reading.answer is not None
        assert OFFICIAL.score(reading, sample) == 0.0


def test_every_letter_of_the_chart_is_one_that_its_question_lists() -> None:
    for task, ladder in LADDERS.items():
        shown = {letter for s in drawn(n=60, tasks=task) for letter in s.target or ""}
        assert shown == set(ladder.alphabet) == set(TURNED if task == "rotation" else LETTERS)
        assert f"one of {', '.join(ladder.alphabet)}." in QUESTIONS[task]


def test_all_sizes_are_read_by_whoever_reads_everything() -> None:
    chart = eyechart(n=72, tasks="letters")
    assert [level(sample) for sample in drawn(n=12, tasks="letters")] == list(SIZES)
    assert list(chart.scorings["official"].metrics) == ["accuracy", "acuity"]
