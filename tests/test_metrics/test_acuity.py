"""Where reading ends: the right level, with an interval that holds it, or the reason for none."""

import math
from dataclasses import replace

import numpy as np
import pytest

from snellen.metrics import Category, Columns
from snellen.metrics.acuity import threshold
from snellen.stats import Estimate

SIZES = (2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32)
ACUITY = threshold("letters", unit="pixels", trials=5, guess=0.1, harder="lower")


def columns(levels: np.ndarray, score: np.ndarray, cluster: np.ndarray | None = None) -> Columns:
    n = len(score)
    names = [f"{level:06.2f} pixels" for level in sorted(set(levels.tolist()))] + [""]
    blank = np.empty(n, dtype=object)
    codes = [names.index(f"{level:06.2f} pixels") for level in levels]
    return Columns(
        score=score,
        answer=blank,
        target=blank,
        references=blank,
        state=Category(codes=np.zeros(n, dtype=np.int32), names=("answered",)),
        tags={"letters": Category(codes=np.array(codes, dtype=np.int32), names=tuple(names))},
        cluster=np.arange(n, dtype=np.int32) if cluster is None else cluster,
    )


def measured(read: dict[int, float], rows: int = 6, **options: object) -> Estimate:
    """The threshold where each of `rows` rows of a level has this share of its letters read."""
    options = {"trials": 5, "guess": 0.1, "harder": "lower", **options}
    metric = threshold("letters", unit="pixels", **options)  # type: ignore[arg-type]
    levels = np.repeat(list(read), rows)
    return metric(columns(levels, np.repeat(list(read.values()), rows)))


# -- the value


def test_acuity_is_where_the_curve_crosses_half_way() -> None:
    # Symmetric in log size about 8 px and 55 %: every symmetric curve that fits crosses there.
    estimate = measured({4: 0.2, 8: 0.55, 16: 0.9})
    assert estimate.value == pytest.approx(8, rel=0.02)
    assert (estimate.unit, estimate.n) == ("pixels", 18)


def test_with_another_chance_to_guess_half_way_is_elsewhere() -> None:
    # Half-way from 1/2 to 1 is 3/4, from 0 to 1 it is 1/2.
    assert measured({4: 0.6, 8: 0.75, 16: 0.9}, guess=0.5).value == pytest.approx(8, rel=0.02)
    assert measured({4: 0.2, 8: 0.5, 16: 0.8}, guess=0.0).value == pytest.approx(8, rel=0.02)


def test_acuity_scales_with_the_letters() -> None:
    small = measured({4: 0.1, 6: 0.4, 9: 0.9, 12: 1.0})
    large = measured({40: 0.1, 60: 0.4, 90: 0.9, 120: 1.0})
    assert small.value is not None and large.value is not None
    assert large.value / small.value == pytest.approx(10, rel=1e-6)
    assert small.ci95 is not None and large.ci95 is not None
    assert np.divide(large.ci95, small.ci95) == pytest.approx(10, rel=1e-6)


def test_where_higher_levels_are_harder_the_curve_falls() -> None:
    easy_first = measured({4: 0.9, 8: 0.55, 16: 0.2}, harder="higher")
    mirrored = measured({4: 0.2, 8: 0.55, 16: 0.9})
    assert easy_first.value == pytest.approx(8, rel=0.02)
    assert easy_first.ci95 is not None and mirrored.ci95 is not None
    low, high = mirrored.ci95
    assert easy_first.ci95 == pytest.approx((64 / high, 64 / low), rel=1e-3)


def test_on_a_linear_scale_levels_may_be_zero_and_distances_are_differences() -> None:
    estimate = measured({0: 0.9, 30: 0.55, 60: 0.2}, harder="higher", scale="linear")
    assert estimate.value == pytest.approx(30, abs=0.6)
    assert estimate.ci95 is not None
    assert 30 - estimate.ci95[0] == pytest.approx(estimate.ci95[1] - 30, abs=1.5)


def test_a_sudden_end_of_reading_has_an_interval_of_the_gap_s_width() -> None:
    estimate = measured({3: 0.0, 4: 0.0, 5: 1.0, 6: 1.0})
    assert estimate.value is not None and estimate.ci95 is not None
    assert 4 < estimate.ci95[0] < estimate.value < estimate.ci95[1] < 5
    assert estimate.ci95[1] / estimate.ci95[0] > 1.05


def test_letters_missed_at_every_size_do_not_move_it() -> None:
    missed = dict.fromkeys((10, 13, 16, 20, 25, 32), 0.8)
    estimate = measured({4: 0.1, 6: 0.1, 8: 0.5, **missed})
    # 55 % lie between 8 px (50 %) and 10 px (80 %), nearer to the first; a curve that must
    # reach 100 % crosses at 10.2 px.
    assert estimate.value is not None
    assert 8 < estimate.value < 8.6


def expected(curve: str, at: float) -> dict[int, float]:
    """The shares read of an eye whose curve is of this shape, 55 % at `at` pixels."""
    shares = {}
    for size in SIZES:
        octaves = math.log2(size / at)
        weibull = -math.expm1(-math.log(2) * math.exp(2.5 * octaves))
        shape = {
            "logistic": 1 / (1 + math.exp(-3 * octaves)),
            "weibull": weibull,
            "mirrored": math.exp(-math.log(2) * math.exp(-2.5 * octaves)),
            "normal": (1 + math.erf(1.5 * octaves)) / 2,
        }[curve]
        shares[size] = 0.1 + 0.9 * shape
    return shares


@pytest.mark.parametrize("curve", ["logistic", "weibull", "mirrored", "normal"])
@pytest.mark.parametrize("at", [4.4, 9.0])
def test_acuity_is_found_whatever_shape_the_curve_has(curve: str, at: float) -> None:
    assert measured(expected(curve, at)).value == pytest.approx(at, rel=0.015)


# -- reasons


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        (
            {2: 1.0, 4: 1.0, 8: 1.0},
            "accuracy is 100 % at the hardest level, 2.00 pixels",
        ),
        ({2: 0.0, 4: 0.0, 8: 0.0}, "accuracy is 0 % at the easiest level, 8.00 pixels"),
        ({2: 0.1, 4: 0.1, 8: 0.2}, "accuracy is 20 % at the easiest level, 8.00 pixels"),
    ],
)
def test_what_is_read_everywhere_or_nowhere_has_a_reason_for_a_value(
    read: dict[int, float], reason: str
) -> None:
    estimate = measured(read)
    assert (estimate.value, estimate.ci95, estimate.reason) == (None, None, reason)
    assert estimate.n == 18


def test_where_the_levels_do_not_differ_there_is_no_value() -> None:
    estimate = measured(dict.fromkeys(SIZES, 0.55))
    assert (estimate.value, estimate.ci95) == (None, None)
    assert estimate.reason == "nothing shows that the levels of letters differ"


def test_where_harder_levels_are_read_better_there_is_no_value() -> None:
    estimate = measured({2: 0.9, 4: 0.8, 8: 0.5, 16: 0.2, 32: 0.1})
    assert (estimate.value, estimate.ci95) == (None, None)


def test_an_interval_with_an_open_end_is_none() -> None:
    estimate = measured({2: 0.5, 4: 0.5, 8: 0.6, 16: 0.6, 32: 0.7}, rows=3)
    assert estimate.ci95 is None
    assert estimate.reason in (
        "nothing shows that the levels of letters differ",
        "the interval reaches far beyond the levels of letters",
    )


@pytest.mark.parametrize("levels", [{}, {8: 0.6}])
def test_rows_of_fewer_than_two_levels_have_no_threshold(levels: dict[int, float]) -> None:
    estimate = measured(levels)
    assert (estimate.value, estimate.n, estimate.reason) == (
        None,
        0,
        "fewer than two levels of letters",
    )


def test_rows_without_a_level_are_left_out() -> None:
    read = {4: 0.2, 8: 0.55, 16: 0.9}
    read_shares = np.repeat(list(read.values()), 6)
    alone = columns(np.repeat(list(read), 6), read_shares)
    code = alone.tags["letters"].codes
    others = Category(
        codes=np.append(code, [3] * 5).astype(np.int32), names=alone.tags["letters"].names
    )
    many = replace(
        columns(np.full(23, 8), np.append(read_shares, np.ones(5))), tags={"letters": others}
    )
    assert ACUITY(many) == ACUITY(alone)


def test_below_ten_rows_there_is_no_interval_but_the_reason() -> None:
    estimate = measured({4: 0.0, 8: 0.6, 16: 1.0}, rows=3)
    assert estimate.value is not None
    assert (estimate.ci95, estimate.reason) == (None, "9 clusters: an interval needs at least 10")


def test_without_scores_of_single_samples_there_is_no_threshold() -> None:
    with pytest.raises(ValueError, match="needs a score for each sample"):
        ACUITY(replace(columns(np.array([4, 8]), np.ones(2)), score=None))


# -- the interval


def simulated(rng: np.random.Generator, at: float, slope: float, spread: float = 0.0) -> Columns:
    """72 rows read by an eye of this acuity; where rows differ, its acuity is that of the row."""
    sizes = np.repeat(SIZES, 6)
    sharp = at * np.exp(spread / slope * rng.standard_normal(len(sizes)))
    return columns(sizes, rng.binomial(5, 0.1 + 0.9 / (1 + (sharp / sizes) ** slope)) / 5)


def test_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    table = simulated(rng, 6.0, 4.0)
    assert ACUITY(table.where(rng.permutation(72))) == ACUITY(table)


def test_rows_that_stand_for_one_picture_do_not_narrow_the_interval() -> None:
    table = simulated(np.random.default_rng(2), 8.0, 4.0)
    once, four = ACUITY(table), ACUITY(table.where(np.tile(np.arange(72), 4)))
    assert once.ci95 is not None and four.ci95 is not None
    widths = [math.log(high / low) for low, high in (once.ci95, four.ci95)]
    assert widths[1] > 0.85 * widths[0]


def test_four_times_the_rows_halve_the_interval() -> None:
    widths = []
    for rows in (6, 24):
        estimate = measured({4: 0.2, 6: 0.4, 8: 0.6, 12: 0.8}, rows=rows)
        assert estimate.ci95 is not None
        widths.append(math.log(estimate.ci95[1] / estimate.ci95[0]))
    assert widths[0] / widths[1] == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize(
    ("slope", "spread"), [(4.0, 0.0), (8.0, 0.0), (4.0, 1.0)], ids=["wide", "steep", "rows differ"]
)
def test_the_interval_covers_the_true_acuity(slope: float, spread: float) -> None:
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(150):
        at = math.exp(rng.uniform(math.log(4), math.log(20)))
        estimate = ACUITY(simulated(rng, at, slope, spread))
        assert estimate.ci95 is not None
        covered += estimate.ci95[0] <= at <= estimate.ci95[1]
    # 95 %, and 2.6 standard errors of 150 to either side; `perf/acuity.py` tells it finer.
    assert 136 <= covered <= 149
