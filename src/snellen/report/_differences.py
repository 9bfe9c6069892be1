"""Prepares the tables of a comparison for HTML and LaTeX. `comparing` writes the sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from snellen.analysis.comparing import (
    BestOf,
    Comparison,
    Comparisons,
    Flips,
    Leaderboard,
    MetricDifference,
    p_value,
    shown_difference,
)
from snellen.analysis.result import metric_label, shown
from snellen.scoring import MetricReport

SIDES = ("model", "benchmark", "replies", "failed", "where")
LEADERBOARD = ("model", "rank", "ranks", "value", "95 % interval", "groups", "n", "remark")
DIFFERENCE = ("difference", "95 % interval", "p", "adjusted p", "n", "remark")
SETTINGS = ("setting", "value", "95 % interval", "n", "remark")


def sides(of: Comparisons) -> list[tuple[str, ...]]:
    """A row for each side, with the columns that SIDES lists."""
    return [
        (side.name, side.benchmark, f"{side.n:,}", f"{side.replies.get('failed', 0):,}", side.where)
        for side in of.sides
    ]


def standings(board: Leaderboard, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """The table of a leaderboard: the headings, then a row for each side, the best side first. The
    columns for ranks and groups are left out if the leaderboard has no ranks or groups."""
    absent = {
        *(() if board.is_ranked else ("rank",)),
        *(() if board.has_rank_intervals else ("ranks",)),
        *(() if board.is_tested else ("group", "groups")),
    }
    kept = tuple(name for name in columns if name not in absent)
    rows = [kept]
    for standing in board.standings:
        cells = shown(standing.value)
        known = {
            "model": standing.name,
            "rank": str(standing.rank),
            "ranks": "-".join(dict.fromkeys(map(str, standing.ranks or ()))),
            "value": cells.value,
            "95 % interval": cells.interval,
            "group": standing.group,
            "groups": standing.group,
            "n": cells.n,
            "remark": cells.remark,
        }
        rows.append(tuple(known[name] for name in kept))
    return rows


def differences(
    heading: str, comparison: Comparison, metrics: Mapping[str, MetricDifference]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The headings and the rows of a table of differences. Each row shows a metric or category,
    with the values of both sides."""
    rows: list[tuple[str, ...]] = []
    for name, metric in metrics.items():
        cells = shown_difference(metric.difference)
        values = shown(metric.a).value, shown(metric.b).value
        ps = p_value(metric.p), p_value(metric.adjusted)
        rows.append((row_name(name, metric), *values, *cells[:2], *ps, *cells[2:]))
    return (heading, comparison.a, comparison.b, *DIFFERENCE), rows


def row_name(name: str, difference: MetricDifference) -> str:
    """The name of a metric or category. The name of a category whose row shows another metric than
    the first is followed by this metric: `cn (chinese)`."""
    if not difference.other_metric:
        return name
    return f"{name} ({metric_label(difference.other_metric, difference.a.better)})"


def by_label(metrics: Mapping[str, MetricDifference]) -> dict[str, MetricDifference]:
    """The differences of metrics, keyed by the metrics' names as tables show them."""
    return {metric_label(name, metric.a.better): metric for name, metric in metrics.items()}


def in_points(metric: MetricReport) -> MetricReport:
    """Convert a difference of fractions to percentage points (pp). Other differences stay
    unchanged."""
    if metric.unit != "fraction" or metric.value is None:
        return metric
    ci95 = None if metric.ci95 is None else (100 * metric.ci95[0], 100 * metric.ci95[1])
    return replace(metric, value=100 * metric.value, ci95=ci95, unit="pp")


def flips(comparison: Comparison, counts: Flips) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The headings and the rows of a table that counts the samples that are right on both sides, on
    one side, or on neither."""
    return ("", f"right in {comparison.b}", f"wrong in {comparison.b}"), [
        (f"right in {comparison.a}", f"{counts.both:,}", f"{counts.only_a:,}"),
        (f"wrong in {comparison.a}", f"{counts.only_b:,}", f"{counts.neither:,}"),
    ]


def settings(best_of: BestOf) -> list[tuple[str, ...]]:
    """A row for each setting, then a row with the value of the best setting on held-out samples.
    SETTINGS lists the columns."""
    rows: list[tuple[str, ...]] = [
        (name, *shown(metric)) for name, metric in best_of.values.items()
    ]
    return [*rows, ("the best, on held-out samples", *shown(best_of.held_out))]


def by_benchmark(of: Comparisons) -> tuple[list[str], list[list[str]]]:
    """The headings and the rows of a table of models by benchmarks. A cell contains the model's
    value and the letters of its groups in the benchmark's leaderboard."""
    cells = {
        (standing.name, board.benchmark): f"{shown(standing.value).value} {standing.group}".rstrip()
        for board in of.leaderboards
        for standing in board.standings
    }
    models = dict.fromkeys(name for name, _ in cells)
    names = [board.benchmark for board in of.leaderboards]
    headings = [metric_label(board.benchmark, board.direction) for board in of.leaderboards]
    return ["model", *headings], [
        [it, *(cells.get((it, name), "") for name in names)] for it in models
    ]
