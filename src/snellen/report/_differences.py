"""What documents say about comparisons, in plain text; each format lays it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from snellen.comparing import BestOf, Comparison, Comparisons, Flips, Leaderboard, MetricDifference
from snellen.result import Shown, shown
from snellen.scoring import MetricReport

SIGNIFICANT = 0.05
LEADERBOARD = (
    *("model", "rank", "ranks in 95 %", "value", "95 % interval", "groups", "n", "remark"),
)
DIFFERENCE = (*("difference", "95 % interval", "p", "adjusted p", "detectable", "n", "remark"),)
SIDES = ("name", "benchmark", "n", "failed", "where")
BEST_OF = ("setting", "value", "95 % interval", "n", "remark")


def sides(of: Comparisons) -> list[tuple[str, ...]]:
    """A row under SIDES for each side."""
    return [
        (one.name, one.benchmark, f"{one.n:,}", f"{one.replies.get('failed', 0):,}", one.where)
        for one in of.sides
    ]


def standings(board: Leaderboard) -> list[tuple[str, ...]]:
    """A row under LEADERBOARD for each side, the best first."""
    rows = []
    for one in board.standings:
        low, high = one.ranks
        ranks = f"{low}" if low == high else f"{low}-{high}"
        cells = shown(one.value)
        rows.append((one.name, f"{one.rank}", ranks, *cells[:2], one.group, *cells[2:]))
    return rows


def differences(
    heading: str, one: Comparison, found: Mapping[str, MetricDifference]
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Headings, and a row for each metric or category, by name."""
    return [heading, one.a, one.b, *DIFFERENCE], [
        (name, *difference(metric)) for name, metric in found.items()
    ]


def difference(one: MetricDifference) -> tuple[str, ...]:
    """Both sides' values, and cells under DIFFERENCE."""
    less = signed(one.difference)
    detectable = replace(one.difference, value=one.detectable, ci95=None)
    return (
        shown(one.a).value,
        shown(one.b).value,
        *less[:2],
        p_value(one.p),
        p_value(one.adjusted),
        "" if one.detectable is None else shown(in_points(detectable)).value,
        *less[2:],
    )


def signed(metric: MetricReport) -> Shown:
    """A difference with its sign: `+3.20 pp`, `[+1.10, +5.30]`."""
    if metric.value is None:
        return shown(metric)
    metric = in_points(metric)
    assert metric.value is not None
    decimals = 2 if metric.unit == "pp" or abs(metric.value) >= 1 or metric.value == 0 else 4

    def number(value: float) -> str:
        return f"{value:+z,.{decimals}f}"

    interval = ""
    if metric.ci95 is not None:
        interval = f"[{number(metric.ci95[0])}, {number(metric.ci95[1])}]"
    said = f"{number(metric.value)} {metric.unit}".rstrip()
    return Shown(said, interval, f"{metric.n:,}", metric.reason or "")


def in_points(metric: MetricReport) -> MetricReport:
    """A difference of fractions in percentage points (pp), any other as it is."""
    if metric.unit != "fraction" or metric.value is None:
        return metric
    ci95 = None if metric.ci95 is None else (100 * metric.ci95[0], 100 * metric.ci95[1])
    return replace(metric, value=100 * metric.value, ci95=ci95, unit="pp")


def p_value(p: float | None) -> str:
    """
    >>> p_value(0.0000123), p_value(0.04), p_value(None)
    ('< 0.0001', '0.0400', '')
    """
    if p is None:
        return ""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def verdict(one: Comparison) -> str:
    """The first metric's difference in a sentence: who is better, by how much, and is it so."""
    metric, found = next(iter(one.metrics.items()))
    cells = signed(found.difference)
    p = found.p if found.adjusted is None else found.adjusted
    if found.difference.value is None:
        return f"{metric} has no difference: {cells.remark}."
    by = f"{cells.value} {cells.interval}".rstrip()
    said = f"{metric} of {one.b} less that of {one.a}: {by}"
    if p is None:
        return f"{said}. Whether it is more than chance is not known: {cells.remark}."
    which = "p" if found.adjusted is None else "adjusted p"
    is_it = "is" if p < SIGNIFICANT else "is not"
    number = p_value(p)
    return (
        f"{said}; it {is_it} significant at 5 % ({which} {'' if '<' in number else '= '}{number})."
    )


def flips(
    one: Comparison, found: Flips
) -> tuple[tuple[str, ...], list[tuple[str, ...]], list[str]]:
    """Headings and rows of how many samples are right on both sides, on one, on none; and which,
    and McNemar's p."""
    headings = ("", f"right in {one.b}", f"wrong in {one.b}")
    rows = [
        (f"right in {one.a}", f"{found.both:,}", f"{found.only_a:,}"),
        (f"wrong in {one.a}", f"{found.only_b:,}", f"{found.neither:,}"),
    ]
    said = [
        f"right in {side} alone, such as {', '.join(examples)}"
        for side, examples in ((one.a, found.examples_a), (one.b, found.examples_b))
        if examples
    ]
    if found.p is not None:
        said.append(f"McNemar's exact p: {p_value(found.p)}")
    return headings, rows, said


def unpaired(one: Comparison) -> Iterator[str]:
    """Why samples are in no difference."""
    for left in one.unpaired:
        such = f", such as {', '.join(left.examples)}" if left.examples else ""
        yield f"{left.n:,} not compared: {left.why}{such}"


def best_of(one: BestOf) -> list[tuple[str, ...]]:
    """A row under BEST_OF for each setting, and what choosing the best of them is worth."""
    rows: list[tuple[str, ...]] = [(name, *shown(found)) for name, found in one.values.items()]
    return [*rows, (f"choosing the best ({one.best}), held out", *shown(one.held_out))]


def grid(of: Comparisons) -> tuple[list[str], list[list[str]]]:
    """Models by benchmarks out of the leaderboards, with their letters: headings and rows."""
    boards = {board.benchmark: board for board in of.leaderboards}
    models = dict.fromkeys(one.name for board in of.leaderboards for one in board.standings)
    rows = []
    for model in models:
        cells = []
        for board in boards.values():
            found = next((one for one in board.standings if one.name == model), None)
            value = "" if found is None else f"{shown(found.value).value} {found.group}"
            cells.append(value.rstrip())
        rows.append([model, *cells])
    return ["model", *boards], rows
