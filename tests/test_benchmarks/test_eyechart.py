"""The eye chart: the same everywhere, read strictly, and an acuity that can be trusted."""

import math
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from snellen import stats
from snellen.benchmark import reading_state
from snellen.benchmarks.eyechart import HEIGHTS, LETTERS, PLACES, eyechart
from snellen.content import Image
from snellen.errors import UsageError
from snellen.media import images
from snellen.metrics import Category, Columns
from snellen.metrics.acuity import acuity
from snellen.model import Reply
from snellen.sample import Sample

OFFICIAL = eyechart().scorings["official"]


def drawn(**options: object) -> list[Sample]:
    chart = eyechart(**options)  # type: ignore[arg-type]
    return [chart.sample(row.place, row) for row in chart.data]


def picture(sample: Sample) -> bytes:
    request = eyechart().request(sample)
    assert request is not None
    shown = request.messages[0].content[0]
    assert isinstance(shown, Image) and isinstance(shown.source, bytes)
    return shown.source


# -- rows and pictures


def test_the_chart_is_the_same_on_every_machine() -> None:
    chart = eyechart(n=24)
    digest = sha256(b"".join(picture(chart.sample(row.place, row)) for row in chart.data))
    assert chart.data.facts().digest == "0f56229eea001fae5069c512bc2b654c"
    assert digest.hexdigest() == "9f6b43a86b2dc0a382787816258372c044c190ba5b22845258ba89905224e100"


def test_another_seed_draws_other_pictures() -> None:
    assert {picture(s) for s in drawn(n=12)} & {picture(s) for s in drawn(n=12, seed=1)} == set()


def test_a_smaller_chart_is_the_beginning_of_a_larger_one() -> None:
    assert drawn(n=20) == drawn(n=40)[:20]


def test_a_task_by_itself_has_the_same_samples_as_among_others() -> None:
    together = [sample for sample in drawn(n=40) if sample.tags["task"] == "counts"]
    assert drawn(n=10, tasks="counts") == together


def test_every_height_has_equally_many_rows() -> None:
    heights = [row["height"] for row in eyechart().data if row["task"] == "letters"]
    assert {height: heights.count(height) for height in heights} == dict.fromkeys(HEIGHTS, 6)


@pytest.mark.parametrize("task", ["letters", "colours", "counts", "positions"])
def test_answers_are_spread_over_all_that_there_are(task: str) -> None:
    targets = [row["answer"] for row in eyechart(n=400, tasks=task).data]
    kinds = {"letters": 10, "colours": 8, "counts": 9, "positions": 9}[task]
    answers = [letter for row in targets for letter in row] if task == "letters" else targets
    counts = [answers.count(answer) for answer in set(answers)]
    assert len(counts) == kinds
    # Chi-square with at most 9 degrees of freedom is below 27.9 in 99.9 % of draws.
    mean = len(answers) / kinds
    assert sum((count - mean) ** 2 / mean for count in counts) < 27.9


def ink(sample: Sample) -> np.ndarray:
    inked: np.ndarray = images.pixels(Image(picture(sample))).min(axis=2) < 250
    return inked


def test_a_row_of_letters_is_as_high_as_its_tag_says() -> None:
    for sample in drawn(n=24, tasks="letters"):
        rows = np.flatnonzero(ink(sample).any(axis=1))
        height = int(sample.tags["height"].removesuffix("px"))
        assert height <= rows[-1] - rows[0] + 1 <= height + 1  # it may begin within a pixel
        columns = np.flatnonzero(ink(sample).any(axis=0))
        assert 9 * height <= columns[-1] - columns[0] + 2 <= 9 * height + 3


def test_a_square_lies_in_the_ninth_that_its_answer_names() -> None:
    for sample in drawn(n=60, tasks="positions"):
        rows, columns = np.nonzero(ink(sample))
        ninths = {
            (y // 112, x // 112) for y, x in zip(rows.tolist(), columns.tolist(), strict=True)
        }
        assert ninths == {divmod(PLACES.index(sample.target or ""), 3)}


def test_circles_do_not_touch() -> None:
    for sample in drawn(n=60, tasks="counts"):
        edges = np.diff(ink(sample).astype(int), axis=1, prepend=0)
        # Euler's number of discs that do not touch is their number; by runs: begins minus joins.
        runs = (edges == 1).sum()
        inked = ink(sample)
        both = inked[1:] & inked[:-1]
        joins = (np.diff(both.astype(int), axis=1, prepend=0) == 1).sum()
        assert runs - joins == int(sample.target or "0")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tasks": "letters+smells"}, "'letters\\+smells'"),
        ({"tasks": "letters+letters"}, "each once"),
        ({"tasks": ""}, "one or more of"),
        ({"n": 0}, "at least 1"),
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
        ("colours", "red", " Red.\n", "red", 1.0),
        ("colours", "red", "blue", "blue", 0.0),
        ("colours", "red", "red or orange", None, 0.0),
        ("colours", "red", "crimson", None, 0.0),
        ("counts", "7", "7", "7", 1.0),
        ("counts", "7", "`07`", "7", 1.0),
        ("counts", "7", "17", "17", 0.0),
        ("counts", "7", "seven", None, 0.0),
        ("counts", "7", "6 or 7", None, 0.0),
        ("counts", "7", "9" * 5000, None, 0.0),
        ("positions", "top left", "Top-Left", "top left", 1.0),
        ("positions", "centre", '"Center"', "centre", 1.0),
        ("positions", "top left", "top", "top", 0.0),
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
    for sample in drawn(n=40):
        reading = OFFICIAL.parse(Reply(text=check.says(sample, check.wrong(sample))), sample)
        assert reading.answer is not None
        assert OFFICIAL.score(reading, sample) == 0.0


# -- acuity


def columns(heights: np.ndarray, score: np.ndarray, cluster: np.ndarray | None = None) -> Columns:
    n = len(score)
    names = [f"{height:02}px" for height in sorted(set(heights.tolist()))] + [""]
    blank = np.empty(n, dtype=object)
    return Columns(
        score=score,
        answer=blank,
        target=blank,
        references=blank,
        state=Category(codes=np.zeros(n, dtype=np.int32), names=("answered",)),
        tags={
            "height": Category(
                codes=np.array([names.index(f"{h:02}px") for h in heights], dtype=np.int32),
                names=tuple(names),
            )
        },
        cluster=np.arange(n, dtype=np.int32) if cluster is None else cluster,
    )


def measured(read: dict[int, float], rows: int = 6) -> stats.Estimate:
    """The acuity where each of `rows` rows of a height has this share of its five letters read."""
    heights = np.repeat(list(read), rows)
    return METRIC(columns(heights, np.repeat(list(read.values()), rows)))


METRIC = acuity(height="height", letters=5, guess=0.1)


def test_acuity_is_where_the_curve_crosses_half_way() -> None:
    # Symmetric in log height about 8 px and 55 %: whatever the slope, the best curve crosses there.
    found = measured({4: 0.2, 8: 0.55, 16: 0.9})
    assert found.value == pytest.approx(8, rel=0.01)
    assert (found.unit, found.n) == ("pixels", 18)


def test_acuity_scales_with_the_letters() -> None:
    small = measured({4: 0.1, 6: 0.4, 9: 0.9, 12: 1.0}).value
    large = measured({40: 0.1, 60: 0.4, 90: 0.9, 120: 1.0}).value
    assert small is not None and large is not None
    assert large / small == pytest.approx(10, rel=0.011)


def test_a_sudden_end_of_reading_has_an_interval_of_the_gap_s_width() -> None:
    found = measured({3: 0.0, 4: 0.0, 5: 1.0, 6: 1.0})
    assert found.value is not None and found.ci95 is not None
    assert 4 < found.ci95[0] < found.value < found.ci95[1] < 5
    assert found.ci95[1] / found.ci95[0] > 1.05


def test_letters_missed_at_every_size_do_not_move_it() -> None:
    missed = dict.fromkeys((10, 13, 16, 20, 25, 32), 0.8)
    found = measured({4: 0.1, 6: 0.1, 8: 0.5, **missed})
    # 55 % lie between 8 px (50 %) and 10 px (80 %), nearer to the first; a curve that must
    # reach 100 % crosses at 10.2 px.
    assert found.value is not None
    assert 8 < found.value < 8.6


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        ({2: 1.0, 4: 1.0, 8: 1.0}, "the smallest letters, 2 px, are read: 100% of them"),
        ({2: 0.0, 4: 0.0, 8: 0.0}, "the largest letters, 8 px, are not read: 0% of them"),
        ({2: 0.1, 4: 0.1, 8: 0.2}, "the largest letters, 8 px, are not read: 20% of them"),
        ({8: 0.6}, "letters of fewer than two heights"),
    ],
)
def test_acuity_is_undefined_with_its_reason(read: dict[int, float], reason: str) -> None:
    found = measured(read)
    assert (found.value, found.ci95, found.reason) == (None, None, reason)


def test_acuity_of_pictures_without_letters_is_undefined() -> None:
    table = columns(np.array([4, 8]), np.array([1.0, 1.0]))
    other = Category(codes=np.array([0, 0], dtype=np.int32), names=("",))
    found = METRIC(replace(table, tags={"height": other}))
    assert (found.value, found.n) == (None, 0)
    assert found.reason == "letters of fewer than two heights"


def test_below_ten_rows_there_is_no_interval_but_the_reason() -> None:
    found = measured({4: 0.0, 8: 0.6, 16: 1.0}, rows=3)
    assert found.value is not None
    assert (found.ci95, found.reason) == (None, "9 clusters: an interval needs at least 10")


def test_rows_that_stand_for_one_picture_do_not_narrow_the_interval() -> None:
    rng = np.random.default_rng(2)
    heights = np.repeat(HEIGHTS, 6)
    score = rng.binomial(5, chance(heights, 8.0, 4.0)) / 5
    once = METRIC(columns(heights, score))
    cluster = np.tile(np.arange(len(score), dtype=np.int32), 4)
    four = METRIC(columns(np.tile(heights, 4), np.tile(score, 4), cluster))
    assert once.ci95 is not None and four.ci95 is not None
    widths = [math.log(high / low) for low, high in (once.ci95, four.ci95)]
    assert widths[1] > 0.85 * widths[0]


def chance(heights: np.ndarray, at: float | np.ndarray, slope: float) -> np.ndarray:
    """The share of letters that an eye of this acuity reads, without lapses."""
    return 0.1 + 0.9 / (1 + (at / heights) ** slope)


@pytest.mark.parametrize(
    ("at", "slope", "spread"), [(8.0, 5.0, 0.0), (3.0, 10.0, 0.0), (12.0, 4.0, 1.0)]
)
def test_the_interval_covers_the_true_acuity(at: float, slope: float, spread: float) -> None:
    rng = np.random.default_rng(11)
    heights = np.repeat(HEIGHTS, 6)
    covered = 0
    for _ in range(100):
        # Where rows differ, an eye is as sharp as it is for the row at hand: letters are clustered.
        sharp = at * np.exp(spread / slope * rng.standard_normal(len(heights)))
        found = METRIC(columns(heights, rng.binomial(5, chance(heights, sharp, slope)) / 5))
        assert found.ci95 is not None
        covered += found.ci95[0] <= at <= found.ci95[1]
    assert covered >= 89  # 95 of 100, less 2.8 standard errors


def test_every_letter_of_the_chart_is_one_of_sloan_s_ten() -> None:
    assert {letter for s in drawn(n=60, tasks="letters") for letter in s.target or ""} == set(
        LETTERS
    )
