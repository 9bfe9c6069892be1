"""The difference of two thresholds on the same rows, with an interval that uses the pairing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import snellen
from snellen import stats
from snellen.analysis.result import Result
from snellen.cli import exit_code
from snellen.metrics import Category, Columns
from snellen.metrics.acuity import threshold
from snellen.stats import Estimate, Influence

LEVELS = (4, 6, 9, 13, 20)
ACUITY = threshold("letters", unit="pixels", trials=5, guess=0.1, harder="lower")


def columns(at: NDArray[np.intp], score: NDArray[np.float64]) -> Columns:
    blank = np.empty(len(score), dtype=object)
    names = tuple(f"{level:03} pixels" for level in LEVELS)
    return Columns(
        score=score,
        answer=blank,
        target=blank,
        references=blank,
        state=Category(codes=np.zeros(len(score), dtype=np.int32), names=("answered",)),
        tags={"letters": Category(codes=at.astype(np.int32), names=names)},
        cluster=np.arange(len(score), dtype=np.int32),
    )


def two_eyes(rows: int, *, shared: float) -> tuple[Columns, Columns]:
    """Two models that read the same rows, half of whose letters the first reads at 9 pixels and the
    second at 7. `shared` is the standard deviation of the rows' difficulty, in octaves."""
    rng = np.random.default_rng(5)
    at = np.arange(rows) % len(LEVELS)
    size = np.log2(np.array(LEVELS))[at] + shared * rng.standard_normal(rows)
    scores = []
    for middle in (9, 7):
        chance = 0.1 + 0.9 / (1 + np.exp(-5 * (size - np.log2(middle))))
        scores.append(rng.binomial(5, chance) / 5)
    return columns(at, scores[0]), columns(at, scores[1])


def paired(a: Columns, b: Columns) -> stats.Difference:
    return stats.difference_by_intervals(ACUITY(a), ACUITY(b), n=a.n)


def width(difference: stats.Difference) -> float:
    assert difference.estimate.ci95 is not None
    low, high = difference.estimate.ci95
    return high - low


def test_the_interval_is_as_wide_as_a_paired_bootstrap_says() -> None:
    a, b = two_eyes(200, shared=0.6)
    rng = np.random.default_rng(1)
    drawn = []
    for _ in range(120):
        rows = rng.integers(0, 200, 200)  # the same rows for both
        values = ACUITY(a.where(rows)).value, ACUITY(b.where(rows)).value
        assert values[0] is not None and values[1] is not None
        drawn.append(values[1] - values[0])
    by_resampling = 2 * 1.97 * float(np.std(drawn, ddof=1))
    assert width(paired(a, b)) == pytest.approx(by_resampling, rel=0.2)


def test_rows_that_are_hard_for_both_make_the_interval_narrower() -> None:
    a, b = two_eyes(200, shared=0.6)
    first, second = ACUITY(a), ACUITY(b)
    assert second.influence is not None
    elsewhere = Influence(cluster=second.influence.cluster + 200, values=second.influence.values)
    apart = stats.difference_by_intervals(
        first, Estimate(value=second.value, n=200, ci95=second.ci95, influence=elsewhere), n=200
    )
    assert width(paired(a, b)) < 0.9 * width(apart)
    assert apart.method == "paired intervals by cluster, correlation 0.00"


def known(value: float, low: float, high: float, *values: float) -> Estimate:
    influence = Influence(cluster=np.arange(len(values)), values=np.array(values))
    return Estimate(
        value=value, unit="pixels", n=len(values), ci95=(low, high), influence=influence
    )


def test_the_ends_are_those_of_zou_s_formula() -> None:
    # By hand, with r = 1/2: √(1² - 2 · 1/2 · 1 · 1.5 + 1.5²) = √1.75 below, and √(0.5² - 1/2 · 1 ·
    # 0.5 · 2 + 1²) = √0.75 above.
    a = known(10, 9, 11.5, 1, 1, 0, 0)
    b = known(7, 6, 7.5, 1, 0, 1, 0)
    difference = stats.difference_by_intervals(a, b, n=4)
    assert difference.estimate.value == -3
    assert difference.estimate.ci95 == pytest.approx((-3 - 1.75**0.5, -3 + 0.75**0.5))
    assert difference.method == "paired intervals by cluster, correlation 0.50"


@pytest.mark.parametrize(("shift", "is_below"), [(0.99, False), (1.01, True)])
def test_p_is_below_5_percent_if_the_interval_leaves_out_0(shift: float, is_below: bool) -> None:
    a = known(10, 9, 11, 1, 0, 1, 0, 2)
    half = 2**0.5 * shift  # without correlation, the half-width is √2
    b = known(10 + half, 9 + half, 11 + half, 0, 1, 0, 1, 0)
    difference = stats.difference_by_intervals(a, b, n=5)
    assert difference.p is not None and (difference.p < 0.05) == is_below


def test_two_equal_sides_have_no_difference() -> None:
    a = known(10, 9, 12, 1, 2, 3)
    difference = stats.difference_by_intervals(a, a, n=3)
    assert (difference.estimate.value, difference.p) == (0, 1)
    assert difference.estimate.ci95 is None


def zoomed(out: Path, n: int, **tools: Any) -> Result:
    return snellen.evaluate(
        f"eyechart:tasks=far,n={n}", "baseline/zoomer", out=out, image_size=336, **tools
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    out = tmp_path_factory.mktemp("runs")
    without, with_zoom = zoomed(out, 40).run, zoomed(out, 40, tools=["zoom"]).run
    assert without is not None and with_zoom is not None
    return without, with_zoom


def test_compare_shows_the_interval_in_python_on_the_terminal_and_as_json(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    acuity = snellen.compare(*runs).first.metrics["far_acuity"]
    a, b, difference = acuity.a, acuity.b, acuity.difference
    assert a.ci95 is not None and b.ci95 is not None and difference.ci95 is not None
    assert a.value is not None and b.value is not None and difference.value is not None
    low, high = difference.ci95
    assert low < difference.value == b.value - a.value < high < 0
    assert acuity.p is not None and acuity.p < 0.0001
    # No wider than without pairing: as far as both own intervals together.
    assert high - low <= (a.ci95[1] - a.ci95[0]) + (b.ci95[1] - b.ci95[0])
    arguments = ["compare", *map(str, runs)]
    assert exit_code(arguments) == 0
    shown = capsys.readouterr().out
    line = next(line for line in shown.splitlines() if "far_acuity" in line)
    assert f"[{low:+.2f}, {high:+.2f}]" in line
    assert exit_code([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    metrics = document["comparisons"][0]["metrics"]
    assert metrics["far_acuity"]["difference"]["ci95"] == [low, high]


def test_a_threshold_without_an_interval_has_a_difference_with_the_reason(tmp_path: Path) -> None:
    results = zoomed(tmp_path, 8), zoomed(tmp_path, 8, tools=["zoom"])
    acuity = snellen.compare(*results).first.metrics["far_acuity"]
    assert acuity.difference.ci95 is None
    assert acuity.difference.reason is not None
    assert "clusters" in acuity.difference.reason or "level" in acuity.difference.reason
