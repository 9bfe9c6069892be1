"""Prepares the tables for runs of the same models with several settings. The tables show the effect
of the setting on each model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from snellen import stats
from snellen.analysis.comparing import (
    Comparison,
    Comparisons,
    Side,
    best,
    p_value,
    rank_flip_text,
    shown_difference,
)
from snellen.analysis.result import metric_label, shown
from snellen.scoring import MetricReport

SWEEP = (
    *("setting", "model", "value", "95 % interval", "minus the first", "95 % interval"),
    *("p", "adjusted p", "n", "remark"),
)
PLAIN = "nothing set"

Swept = tuple[str, list[Sequence[str]], list[str]]


def swept(document: Comparisons) -> Iterator[Swept]:
    """Yield the table of each benchmark: a title, rows, and notes. SWEEP lists the columns of the
    rows."""
    for benchmark in dict.fromkeys(side.benchmark for side in document.sides):
        sides = [side for side in document.sides if side.benchmark == benchmark]
        pairs = [
            comparison for comparison in document.comparisons if comparison.benchmark == benchmark
        ]
        by_model: dict[str, list[Side]] = {}
        for side in sides:
            by_model.setdefault(side.model, []).append(side)
        several = {model: of for model, of in by_model.items() if len(of) > 1}
        if several and pairs:
            yield _of_benchmark(benchmark, several, pairs, document)


def _of_benchmark(
    benchmark: str,
    by_model: dict[str, list[Side]],
    pairs: Sequence[Comparison],
    document: Comparisons,
) -> Swept:
    between = {(comparison.a, comparison.b): comparison for comparison in pairs}
    metric = metric_label(next(iter(pairs[0].metrics)), pairs[0].direction)
    values = _values(benchmark, pairs, document)
    tests = [
        (of[0].name, side.name)
        for of in by_model.values()
        for side in of[1:]
        if (of[0].name, side.name) in between
    ]
    known = {
        key: p for key in tests if (p := next(iter(between[key].metrics.values())).p) is not None
    }
    adjusted = dict(zip(known, stats.holm([*known.values()]), strict=True))
    rows: list[Sequence[str]] = []
    for model, of in by_model.items():
        first = of[0].name
        for side in of:
            value = shown(values[side.name]) if side.name in values else ("-", "", "", "")
            cells: Sequence[str] = ("", "", "", "")
            remark = value[3]
            if (first, side.name) in between:
                metric_difference = next(iter(between[first, side.name].metrics.values()))
                less = shown_difference(metric_difference.difference)
                cells = (
                    *less[:2],
                    p_value(metric_difference.p),
                    p_value(adjusted.get((first, side.name))),
                )
                remark = "; ".join(dict.fromkeys(filter(None, (remark, less.remark))))
            rows.append((_setting(side), model, *value[:2], *cells, value[2], remark))
    best_settings = [
        best_setting for best_setting in document.best_of if best_setting.benchmark == benchmark
    ]
    flips = [flip for flip in document.rank_flips if flip.benchmark == benchmark]
    notes = [*map(best, best_settings), *map(rank_flip_text, flips)]
    if not flips and _are_ranked_in_all_settings(benchmark, by_model, document):
        notes.append("the order of the models is the same in all settings")
    if len(known) > 1:
        notes.append(f"p is adjusted by Holm's method over the {len(known)} differences shown")
    shown_sides = [side for of in by_model.values() for side in of]
    notes += [f"note: {side.name}: {note}" for side in shown_sides for note in side.noticed]
    order = {setting: n for n, setting in enumerate(dict.fromkeys(row[0] for row in rows))}
    rows.sort(key=lambda row: order[row[0]])
    what = f"{benchmark}: {pairs[0].scoring} {metric} by setting"
    return f"{what}, on the samples that all share", rows, notes


def _are_ranked_in_all_settings(
    benchmark: str, by_model: dict[str, list[Side]], document: Comparisons
) -> bool:
    """Whether several models have a rank in all settings, so that their order is known."""
    ranked = {
        standing.name
        for board in document.leaderboards
        if board.benchmark == benchmark
        for standing in board.standings
        if standing.rank is not None
    }
    settings = [{_setting(side) for side in of if side.name in ranked} for of in by_model.values()]
    every = set().union(*settings)
    return len(by_model) > 1 and bool(every) and all(of == every for of in settings)


def _values(
    benchmark: str, pairs: Sequence[Comparison], document: Comparisons
) -> dict[str, MetricReport]:
    """The first metric of each side, on the samples that all sides share; empty if there are no
    such samples."""
    for board in document.leaderboards:
        if board.benchmark == benchmark:
            return {standing.name: standing.value for standing in board.standings}
    if sum(side.benchmark == benchmark for side in document.sides) > 2:
        return {}  # each pair shares different samples
    (pair,) = pairs  # two sides have no leaderboard
    metric = next(iter(pair.metrics.values()))
    return {pair.a: metric.a, pair.b: metric.b}


def _setting(side: Side) -> str:
    """The setting in a side's name: the part after the model's name."""
    rest = side.name.removeprefix(side.model).strip()
    return rest.removeprefix("(").removesuffix(")") or PLAIN
