"""Analyzes several sides together: ranks, the value of the best setting, and models whose order
depends on the setting."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import stdev

from msgspec.structs import replace

from snellen import stats
from snellen.analysis.comparing._document import (
    BestOf,
    Comparison,
    Leaderboard,
    RankFlip,
    Standing,
)
from snellen.analysis.comparing._measured import NO_SUMS, MetricValue, View, Views, differ
from snellen.analysis.comparing._names import are_checkpoints, setting_names
from snellen.analysis.comparing._pairing import Pairing, pair_samples, same_questions
from snellen.analysis.comparing._words import significant
from snellen.analysis.comparing.sides import LoadedSide, in_order
from snellen.metrics import Direction
from snellen.scoring import MetricReport, metric_report
from snellen.stats import Estimate
from snellen.text.amounts import counted

PLAIN = "nothing set"
UNTESTED = "no groups and no rank intervals: some pairs have no test"
UNRANKED = "not ranked: Snellen does not know whether a higher {} is better"
UNDEFINED = "rank intervals contain all ranks, since in many resamples a side has no value"


def leaderboard(
    benchmark: str, sides: Sequence[LoadedSide], names: Sequence[str], view_cache: Views
) -> Leaderboard | None:
    """Rank all sides by the first metric, on the samples that all sides share. The sides
    have no letters yet. The result is None if no sample counts on all sides."""
    pairing = pair_samples(sides, names)
    if not pairing.n:
        return None
    notes = [
        f"{counted(left.n, 'sample', 'samples')} left out: {left.why}" for left in pairing.unpaired
    ]
    views = view_cache.of(sides, pairing)
    metrics = {name: view.headline for name, view in zip(names, views, strict=True)}
    # Values are rounded, since a rounding error must not decide a rank.
    values = {
        name: float(f"{metric.report.value:.12g}")
        for name, metric in metrics.items()
        if metric.report.value is not None
    }
    notes += [
        f"{name} has no value: {metric.report.reason}"
        for name, metric in metrics.items()
        if name not in values
    ]
    direction = views[0].direction
    # A greater worth gives a better rank. Without a direction, all sides have the same worth.
    sign = {"higher": 1, "lower": -1, None: 0}[direction]
    worth = {name: sign * value for name, value in values.items()}
    # The sort is stable: equal sides keep their order.
    order = sorted(values, key=lambda name: -worth[name])
    ranks, unknown = _rank_intervals([metrics[name] for name in order], direction)
    if direction is None:
        notes.append(UNRANKED.format(views[0].first))
    if unknown is not None:
        notes.append(unknown)
    return Leaderboard(
        benchmark=benchmark,
        scoring=sides[0].scoring,
        metric=views[0].first,
        samples=pairing.n,
        clusters=pairing.clusters,
        standings=[
            Standing(
                name=name,
                value=metrics[name].report,
                rank=1 + sum(other > worth[name] for other in worth.values())
                if direction
                else None,
                ranks=ranks[index] if ranks else None,
                group="",
            )
            for index, name in enumerate(order)
        ],
        notes=notes,
        direction=direction,
    )


def _rank_intervals(
    sides: Sequence[MetricValue], direction: Direction | None
) -> tuple[list[tuple[int, int]] | None, str | None]:
    """Return the rank interval of each side, or the reason why there are none. If some pair cannot
    be tested, there are no intervals."""
    pairs = [*combinations(sides, 2)]
    untested = [difference for pair in pairs if (difference := differ(*pair)).p is None]
    if untested:
        reasons = filter(
            None, dict.fromkeys(difference.difference.reason for difference in untested)
        )
        return None, f"{UNTESTED} ({'; '.join(reasons)})"
    if not pairs:  # at most one side has a value
        return [(1, 1) for _ in sides], None
    if direction is None:
        return None, None
    sums = [side.sums for side in sides if side.sums is not None]
    ranks = stats.ranks(sums, lower_is_better=direction == "lower")
    if ranks is None:
        return [(1, len(sides)) for _ in sides], UNDEFINED
    return ranks, None


def with_groups(board: Leaderboard, pairs: Sequence[Comparison]) -> Leaderboard:
    """Give the sides of a leaderboard their letters, by the adjusted p values of their pairs. Sides
    that share a letter do not differ significantly. If some pair has no test, there are no
    letters."""
    differs = {
        frozenset((pair.a, pair.b)): significant(next(iter(pair.metrics.values())))
        for pair in pairs
        if pair.benchmark == board.benchmark
    }
    names = [standing.name for standing in board.standings]
    of_pairs = {
        (i, j): differs.get(frozenset((names[i], names[j])))
        for i, j in combinations(range(len(names)), 2)
    }
    if None in of_pairs.values() or any(note.startswith(UNTESTED) for note in board.notes):
        return board
    groups = stats.letters(len(names), lambda i, j: not of_pairs[i, j])
    standings = [
        replace(standing, group=group)
        for standing, group in zip(board.standings, groups, strict=True)
    ]
    return replace(board, standings=standings)


def best_of(
    benchmark: str, sides: Sequence[LoadedSide], names: Sequence[str], view_cache: Views
) -> list[BestOf]:
    """Estimate the value of the best setting, for each model with several settings. The result is
    empty if it is unknown whether a higher metric is better."""
    groups: list[list[int]] = []
    for number, side in enumerate(sides):
        group = next((group for group in groups if _is_choice(sides[group[0]], side)), None)
        if group is None:
            groups.append([number])
        else:
            group.append(number)
    results = []
    for numbers in groups:
        chosen = [sides[n] for n in numbers]
        if len({setting for setting in setting_names(chosen)}) < 2:
            continue  # one setting, or unknown ones
        pairing = pair_samples(chosen, [names[n] for n in numbers])
        if not pairing.n:
            continue
        views = view_cache.of(chosen, pairing)
        metrics = {names[n]: view.headline for n, view in zip(numbers, views, strict=True)}
        values = {name: metric.report.value for name, metric in metrics.items()}
        known = {name: value for name, value in values.items() if value is not None}
        direction = views[0].direction
        if len(known) < 2 or direction is None:
            continue
        choose = max if direction == "higher" else min
        results.append(
            BestOf(
                benchmark=benchmark,
                scoring=chosen[0].scoring,
                metric=views[0].first,
                model=chosen[0].model,
                values={name: metric.report for name, metric in metrics.items()},
                best=choose(known, key=known.__getitem__),
                held_out=_held_out(chosen, pairing, direction),
                spread=stdev(known.values()),
                notes=[f"on the {pairing.n:,} samples that all settings share"],
                checkpoints=are_checkpoints(chosen),
            )
        )
    return results


def _is_choice(a: LoadedSide, b: LoadedSide) -> bool:
    """Whether two sides are settings of a model to choose from. Sides with different data, another
    probe, or different questions are not."""
    return (
        a.model == b.model
        and all(a.identity.get(field) == b.identity.get(field) for field in ("data", "probe"))
        and same_questions(a, b)
    )


def _held_out(
    settings: Sequence[LoadedSide], pairing: Pairing, direction: Direction
) -> MetricReport:
    """Estimate the value of the chosen setting on held-out samples. The categories of all settings
    are first put in the same order, so that their sums can be combined."""
    views = [View(in_order(side), pairing, n) for n, side in enumerate(settings)]
    metrics = [view.headline for view in views]
    unit, n = metrics[0].report.unit, pairing.n
    sums = [metric.sums for metric in metrics if metric.sums is not None]
    if len(sums) < len(metrics) or len({part.sums.shape[1] for part in sums}) > 1:
        return metric_report(Estimate(value=None, unit=unit, n=n, reason=NO_SUMS))
    return metric_report(stats.held_out(sums, n=n, unit=unit, lower_is_better=direction == "lower"))


def rank_flips(
    board: Leaderboard, sides: Sequence[LoadedSide], names: Sequence[str]
) -> list[RankFlip]:
    """The pairs of models whose order depends on the setting: each model is above the other in some
    setting."""
    standings = {standing.name: standing for standing in board.standings}
    by_model: dict[str, dict[str, Standing]] = {}
    for side, name, setting in zip(sides, names, setting_names(sides), strict=True):
        if name in standings:
            by_model.setdefault(side.model, {})[setting or PLAIN] = standings[name]
    flips = []
    for model_a, model_b in combinations(by_model, 2):
        above: list[tuple[str, Standing, Standing]] = []
        below: list[tuple[str, Standing, Standing]] = []
        for setting in by_model[model_a]:
            if setting in by_model[model_b]:
                pair = by_model[model_a][setting], by_model[model_b][setting]
                first, second = pair[0].rank, pair[1].rank
                if first is not None and second is not None and first != second:
                    (above if first < second else below).append((setting, *pair))
        if above and below:
            flips.append(
                RankFlip(
                    benchmark=board.benchmark,
                    models=(model_a, model_b),
                    first_above=[setting for setting, _, _ in above],
                    second_above=[setting for setting, _, _ in below],
                    significant=all(
                        any(_are_distinct(*pair) for _, *pair in way) for way in (above, below)
                    ),
                )
            )
    return flips


def _are_distinct(first: Standing, second: Standing) -> bool:
    """Whether two standings differ significantly, which means that they have letters but share
    none."""
    return bool(first.group and second.group) and not {*first.group} & {*second.group}
