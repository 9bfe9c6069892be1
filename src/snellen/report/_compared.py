"""Prepares the content of a report on a comparison, as plain text. Each output format lays out this
content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from snellen.analysis.comparing import (
    Comparison,
    Comparisons,
    Leaderboard,
    MetricDifference,
    adjustments,
    best,
    cost_lines,
    lines,
    p_value,
    rank_flip_text,
    shown_difference,
    significant,
    verdict,
)
from snellen.analysis.result import metric_label, shown
from snellen.report._differences import by_benchmark, by_label, row_name, standings

BOARD = ("rank", "model", "value", "95 % interval", "ranks", "group", "n", "remark")
PAIRS = (
    "model",
    "against",
    "difference",
    "95 % interval",
    "p",
    "adjusted p",
    "significant",
    "n",
    "remark",
)
DIFFERENCES = ("a", "b", "b minus a", "95 % interval", "p", "adjusted p", "n", "remark")


class Part(NamedTuple):
    """A section of a report: a heading, lines of text, and a table."""

    title: str
    """Its heading."""
    above: Sequence[str] = ()
    """Lines above the table."""
    table: Sequence[Sequence[str]] = ()
    """The rows of the table; the first row contains the headings. Empty if the section has no
    table."""
    below: Sequence[str] = ()
    """Lines below the table."""
    untested: bool = False
    """Whether the table's differences were not tested and therefore have no p-values."""
    most: int = 0
    """The maximum width of the table in characters if the output is not a terminal. Longer texts
    are wrapped. If the maximum is 0, each row is on one line."""


def parts(document: Comparisons, *, detailed: bool) -> Iterator[Part]:
    """The sections of a report on a comparison: the leaderboards, then the pairs of runs. For
    several pairs, each pair's details are included only if `detailed` is true. For a single pair,
    the details are always included; the results by setting, which partly repeat the details, are
    included only if `detailed` is true."""
    pairs = document.comparisons
    for board in document.leaderboards:
        yield _board(board, document)
    if len(document.leaderboards) > 1:
        headings, rows = by_benchmark(document)
        has_letters = any(board.is_tested for board in document.leaderboards)
        below = ["The letters after a value are the model's groups."] * has_letters
        yield Part("models by benchmarks", (), [headings, *rows], below)
    if len(pairs) > 1:
        for benchmark in dict.fromkeys(comparison.benchmark for comparison in pairs):
            yield _pairs([comparison for comparison in pairs if comparison.benchmark == benchmark])
    if len(pairs) > 1:
        yield from _by_setting(document)
    if len(pairs) == 1 or detailed:
        for comparison in pairs:
            yield from _pair(comparison, document)
    if len(pairs) == 1 and detailed:
        yield from _by_setting(document)
    notes = [f"note: {note}" for note in (*adjustments(document), *document.notes)]
    if len(pairs) > 1 and not detailed:
        notes.append(
            "`snellen compare A B` shows one pair in full, and --format md shows all pairs in full"
        )
    yield Part("", notes)


def _by_setting(document: Comparisons) -> Iterator[Part]:
    sentences = [best(result) for result in document.best_of]
    sentences += [rank_flip_text(result) for result in document.rank_flips]
    if sentences:
        is_training = all(result.checkpoints for result in document.best_of)
        is_training = is_training and not document.rank_flips
        yield Part("by checkpoint" if is_training else "by setting", sentences)


def _board(board: Leaderboard, document: Comparisons) -> Part:
    rows = standings(board, BOARD)
    title = (
        f"{board.benchmark}: {board.scoring} {metric_label(board.metric, board.direction)} on the "
        f"{board.samples:,} samples that all share"
    )
    names = [standing.name for standing in board.standings]
    below = [*cost_lines(board.benchmark, names, document.sides)]
    below += [f"note: {note}" for note in board.notes]
    return Part(title, (), rows if len(rows) > 1 else (), below)


def _pairs(pairs: Sequence[Comparison]) -> Part:
    first = pairs[0]
    metric = metric_label(next(iter(first.metrics)), first.direction)
    rows = []
    for comparison in pairs:
        metric_difference = next(iter(comparison.metrics.values()))
        cells = shown_difference(metric_difference.difference, metric_difference.a)
        sure = {True: "yes", False: "no", None: ""}[significant(metric_difference)]
        ps = p_value(metric_difference.p), p_value(metric_difference.adjusted)
        rows.append((comparison.b, comparison.a, *cells[:2], *ps, sure, cells.n, cells.remark))
    return Part(f"{first.benchmark}: {first.scoring} {metric}, all pairs", (), [PAIRS, *rows])


def _pair(comparison: Comparison, document: Comparisons) -> Iterator[Part]:
    title = f"{comparison.benchmark}: {comparison.b} (b) against {comparison.a} (a)"
    yield Part(
        title,
        [verdict(comparison)],
        _table(comparison.scoring, by_label(comparison.metrics)),
        [
            f"{comparison.samples:,} samples in {comparison.clusters:,} clusters",
            *lines(comparison, document.sides),
        ],
    )
    metric = metric_label(next(iter(comparison.metrics)), comparison.direction)
    for tag, categories in comparison.breakdown.items():
        yield from _category_parts(f"{metric} by {tag}", tag, categories)
    yield from _category_parts("by capability", "capability", comparison.capabilities)


def _category_parts(
    title: str, tag: str, differences: Mapping[str, MetricDifference]
) -> Iterator[Part]:
    if differences:
        untested = all(difference.p is None for difference in differences.values())
        yield Part(title, (), _table(tag, differences), untested=untested)


def _table(heading: str, differences: Mapping[str, MetricDifference]) -> list[Sequence[str]]:
    """A table with a row for each metric or category. The column of adjusted p-values is left out
    if it is empty."""
    rows: list[Sequence[str]] = []
    for name, difference in differences.items():
        cells = shown_difference(difference.difference, difference.a)
        ps = p_value(difference.p), p_value(difference.adjusted)
        sides = shown(difference.a).value, shown(difference.b).value
        rows.append((row_name(name, difference), *sides, *cells[:2], *ps, cells.n, cells.remark))
    headings = (heading, *DIFFERENCES)
    adjusted_column = headings.index("adjusted p")
    if not any(row[adjusted_column] for row in rows):
        return [[*row[:adjusted_column], *row[adjusted_column + 1 :]] for row in (headings, *rows)]
    return [headings, *rows]
