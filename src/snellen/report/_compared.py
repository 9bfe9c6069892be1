"""What every report of a comparison says, in plain text and once; each format lays it out."""

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
    lines,
    p_value,
    rank_flip_text,
    shown_difference,
    significant,
    verdict,
)
from snellen.analysis.result import shown
from snellen.report._differences import by_benchmark, standings

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
DIFFERENCES = ("a", "b", "b less a", "95 % interval", "p", "adjusted p", "n", "remark")


class Part(NamedTuple):
    """A part of a report: a title, lines below it, a table (headings first, or nothing), and lines
    below that. In an `untested` table no difference has a p."""

    title: str
    above: Sequence[str] = ()
    table: Sequence[Sequence[str]] = ()
    below: Sequence[str] = ()
    untested: bool = False


def parts(document: Comparisons, *, whole: bool) -> Iterator[Part]:
    """A document part by part: standings, then pairs; of several pairs the details only if `whole`
    is asked for. The one pair of two sides comes first, and what choosing between them is worth,
    which its verdict says as well, only if `whole` is."""
    pairs = document.comparisons
    for board in document.leaderboards:
        yield _board(board)
    if len(document.leaderboards) > 1:
        headings, rows = by_benchmark(document)
        below = ["each with its group of the benchmark's own table"]
        yield Part("models by benchmarks", (), [headings, *rows], below)
    if len(pairs) > 1:
        for benchmark in dict.fromkeys(one.benchmark for one in pairs):
            yield _pairs([one for one in pairs if one.benchmark == benchmark])
    if len(pairs) > 1:
        yield from _by_setting(document)
    if len(pairs) == 1 or whole:
        for one in pairs:
            yield from _pair(one, document)
    if len(pairs) == 1 and whole:
        yield from _by_setting(document)
    said = [f"note: {note}" for note in (*adjustments(document), *document.notes)]
    if len(pairs) > 1 and not whole:
        said.append("`snellen compare A B` shows one pair whole; so does --format md all of them")
    yield Part("", said)


def _by_setting(document: Comparisons) -> Iterator[Part]:
    said = [best(one) for one in document.best_of]
    said += [rank_flip_text(one) for one in document.rank_flips]
    if said:
        yield Part("by setting", said)


def _board(board: Leaderboard) -> Part:
    rows = standings(board, BOARD)
    title = (
        f"{board.benchmark}: {board.scoring} {board.metric} on the {board.samples:,} samples that "
        "all have"
    )
    below = [f"note: {note}" for note in board.notes]
    return Part(title, (), rows if len(rows) > 1 else (), below)


def _pairs(pairs: Sequence[Comparison]) -> Part:
    first = pairs[0]
    metric = next(iter(first.metrics))
    rows = []
    for one in pairs:
        found = next(iter(one.metrics.values()))
        cells = shown_difference(found.difference, found.a)
        sure = {True: "yes", False: "no", None: ""}[significant(found)]
        ps = p_value(found.p), p_value(found.adjusted)
        rows.append((one.b, one.a, *cells[:2], *ps, sure, cells.n, cells.remark))
    return Part(f"{first.benchmark}: {first.scoring} {metric}, all pairs", (), [PAIRS, *rows])


def _pair(one: Comparison, document: Comparisons) -> Iterator[Part]:
    title = f"{one.benchmark}: {one.b} (b) against {one.a} (a)"
    yield Part(
        title,
        [verdict(one)],
        _table(one.scoring, one.metrics),
        [
            f"{one.samples:,} samples in {one.clusters:,} clusters",
            *lines(one, document.sides),
        ],
    )
    for tag, categories in one.breakdown.items():
        yield from _parted(tag, categories)
    yield from _parted("capability", one.capabilities)


def _parted(tag: str, found: Mapping[str, MetricDifference]) -> Iterator[Part]:
    if found:
        untested = all(one.p is None for one in found.values())
        yield Part(f"by {tag}", (), _table(tag, found), untested=untested)


def _table(heading: str, found: Mapping[str, MetricDifference]) -> list[Sequence[str]]:
    """A row for each metric or category; without a column of adjusted p where nothing is."""
    rows: list[Sequence[str]] = []
    for name, one in found.items():
        cells = shown_difference(one.difference, one.a)
        ps = p_value(one.p), p_value(one.adjusted)
        sides = shown(one.a).value, shown(one.b).value
        rows.append((name, *sides, *cells[:2], *ps, cells.n, cells.remark))
    headings = (heading, *DIFFERENCES)
    place = headings.index("adjusted p")
    if not any(row[place] for row in rows):
        return [[*row[:place], *row[place + 1 :]] for row in (headings, *rows)]
    return [headings, *rows]
