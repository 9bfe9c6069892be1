"""The tables of a comparison that HTML and LaTeX lay out; their sentences are `comparing`'s."""

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
from snellen.analysis.result import shown
from snellen.scoring import MetricReport

SIDES = ("model", "benchmark", "replies", "failed", "where")
LEADERBOARD = ("model", "rank", "ranks", "value", "95 % interval", "groups", "n", "remark")
DIFFERENCE = ("difference", "95 % interval", "p", "adjusted p", "n", "remark")
SETTINGS = ("setting", "value", "95 % interval", "n", "remark")


def sides(of: Comparisons) -> list[tuple[str, ...]]:
    """A row under SIDES for each side."""
    return [
        (one.name, one.benchmark, f"{one.n:,}", f"{one.replies.get('failed', 0):,}", one.where)
        for one in of.sides
    ]


def standings(board: Leaderboard, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Headings and a row for each side, the best first. Of `columns`, only those of the board:
    ranks and groups can be missing."""
    absent = {
        *(() if board.is_ranked else ("rank", "ranks")),
        *(() if board.is_tested else ("group", "groups")),
    }
    kept = tuple(name for name in columns if name not in absent)
    rows = [kept]
    for one in board.standings:
        cells = shown(one.value)
        known = {
            "model": one.name,
            "rank": str(one.rank),
            "ranks": "-".join(dict.fromkeys(map(str, one.ranks or ()))),
            "value": cells.value,
            "95 % interval": cells.interval,
            "group": one.group,
            "groups": one.group,
            "n": cells.n,
            "remark": cells.remark,
        }
        rows.append(tuple(known[name] for name in kept))
    return rows


def differences(
    heading: str, one: Comparison, found: Mapping[str, MetricDifference]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headings, and a row for each metric or category with both sides' values."""
    rows: list[tuple[str, ...]] = []
    for name, metric in found.items():
        cells = shown_difference(metric.difference)
        values = shown(metric.a).value, shown(metric.b).value
        ps = p_value(metric.p), p_value(metric.adjusted)
        rows.append((name, *values, *cells[:2], *ps, *cells[2:]))
    return (heading, one.a, one.b, *DIFFERENCE), rows


def in_points(metric: MetricReport) -> MetricReport:
    """A difference of fractions in percentage points (pp), any other as it is."""
    if metric.unit != "fraction" or metric.value is None:
        return metric
    ci95 = None if metric.ci95 is None else (100 * metric.ci95[0], 100 * metric.ci95[1])
    return replace(metric, value=100 * metric.value, ci95=ci95, unit="pp")


def flips(one: Comparison, found: Flips) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headings and rows of how many samples are right on both sides, on one, on none."""
    return ("", f"right in {one.b}", f"wrong in {one.b}"), [
        (f"right in {one.a}", f"{found.both:,}", f"{found.only_a:,}"),
        (f"wrong in {one.a}", f"{found.only_b:,}", f"{found.neither:,}"),
    ]


def settings(one: BestOf) -> list[tuple[str, ...]]:
    """A row under SETTINGS for each, and for what choosing the best of them is worth."""
    rows: list[tuple[str, ...]] = [(name, *shown(found)) for name, found in one.values.items()]
    return [*rows, ("the best, on samples that did not choose it", *shown(one.held_out))]


def by_benchmark(of: Comparisons) -> tuple[list[str], list[list[str]]]:
    """Models by benchmarks, with their groups: headings and rows."""
    cells = {
        (one.name, board.benchmark): f"{shown(one.value).value} {one.group}".rstrip()
        for board in of.leaderboards
        for one in board.standings
    }
    models = dict.fromkeys(name for name, _ in cells)
    names = [board.benchmark for board in of.leaderboards]
    return ["model", *names], [
        [it, *(cells.get((it, name), "") for name in names)] for it in models
    ]
