"""Several sides at once: who stands where, what the best setting is worth, which ranks depend on
the setting."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import stdev

from snellen import stats
from snellen.analysis.comparing._document import BestOf, Leaderboard, RankFlip, Standing
from snellen.analysis.comparing._measured import NO_SUMS, Measured, View, Views, differ
from snellen.analysis.comparing._names import setting_names
from snellen.analysis.comparing._pairing import Paired, paired
from snellen.analysis.comparing._words import LEVEL
from snellen.analysis.comparing.sides import Loaded, in_order
from snellen.metrics import Direction
from snellen.scoring import MetricReport, metric_report
from snellen.stats import Estimate

PLAIN = "nothing set"
UNTESTED = "no groups and no rank intervals: some pairs have no test"
UNRANKED = "not ranked: Snellen does not know whether a higher {} is better"
UNDEFINED = "the ranks could be any: in many resamples a side has no value"


def leaderboard(
    benchmark: str, sides: Sequence[Loaded], names: Sequence[str], made: Views
) -> Leaderboard | None:
    """All sides by the first metric, on the samples that all have; None where they have none."""
    together = paired(sides, names)
    if not together.n:
        return None
    notes = [f"{one.n:,} samples left out: {one.why}" for one in together.unpaired]
    views = made.of(sides, together)
    measured = {name: view.headline for name, view in zip(names, views, strict=True)}
    # To so many digits: what rounding leaves between equals is no rank.
    values = {
        name: float(f"{one.report.value:.12g}")
        for name, one in measured.items()
        if one.report.value is not None
    }
    notes += [
        f"{name} has no value: {one.report.reason}"
        for name, one in measured.items()
        if name not in values
    ]
    direction = views[0].direction
    # A greater worth gives a better rank. Without a direction, all sides are worth the same.
    sign = {"higher": 1, "lower": -1, None: 0}[direction]
    worth = {name: sign * value for name, value in values.items()}
    # The sort is stable: equals stay in the order in which they were given.
    order = sorted(values, key=lambda name: -worth[name])
    ranks, groups, unknown = _standings([measured[name] for name in order], direction)
    if direction is None:
        notes.append(UNRANKED.format(views[0].first))
    if unknown is not None:
        notes.append(unknown)
    return Leaderboard(
        benchmark=benchmark,
        scoring=sides[0].scoring,
        metric=views[0].first,
        samples=together.n,
        clusters=together.clusters,
        standings=[
            Standing(
                name=name,
                value=measured[name].report,
                rank=1 + sum(one > worth[name] for one in worth.values()) if direction else None,
                ranks=(ranks[place] if ranks else (1, len(order))) if direction else None,
                group=groups[place],
            )
            for place, name in enumerate(order)
        ],
        notes=notes,
        direction=direction,
    )


def _standings(
    sides: Sequence[Measured], direction: Direction | None
) -> tuple[list[tuple[int, int]] | None, list[str], str | None]:
    """The rank interval of each side, its letters, and the reason if either is unknown.

    Sides that share a letter do not differ significantly at 5 % (Holm over all pairs). If a pair
    has no test, there are no intervals and no letters.
    """
    pairs = [*combinations(range(len(sides)), 2)]
    differences = {pair: differ(*(sides[n] for n in pair)) for pair in pairs}
    tested = {pair: one.p for pair, one in differences.items() if one.p is not None}
    if len(tested) < len(pairs):
        untested = [one for one in differences.values() if one.p is None]
        reasons = filter(None, dict.fromkeys(one.difference.reason for one in untested))
        return None, [""] * len(sides), f"{UNTESTED} ({'; '.join(reasons)})"
    adjusted = dict(zip(tested, stats.holm([*tested.values()]), strict=True))
    groups = stats.letters(len(sides), lambda i, j: adjusted[i, j] >= LEVEL)
    if not pairs:  # one side at most has a value
        return [(1, 1) for _ in sides], groups, None
    if direction is None:
        return None, groups, None
    sums = [one.sums for one in sides if one.sums is not None]
    ranks = stats.ranks(sums, lower_is_better=direction == "lower")
    return ranks, groups, UNDEFINED if ranks is None else None


def best_of(
    benchmark: str, sides: Sequence[Loaded], names: Sequence[str], made: Views
) -> list[BestOf]:
    """What choosing the best setting is worth, for each model with several settings. Empty if the
    metric's direction is unknown."""
    models: dict[tuple[str, str], list[int]] = {}
    for number, side in enumerate(sides):
        # Other data, or a probe, is no setting that somebody could choose.
        asked = repr([side.identity.get(field) for field in ("data", "probe")])
        models.setdefault((side.model, asked), []).append(number)
    found = []
    for (model, _), numbers in models.items():
        chosen = [sides[n] for n in numbers]
        if len({setting for setting in setting_names(chosen)}) < 2:
            continue  # one setting, or nobody knows which
        together = paired(chosen, [names[n] for n in numbers])
        if not together.n:
            continue
        views = made.of(chosen, together)
        measured = {names[n]: view.headline for n, view in zip(numbers, views, strict=True)}
        values = {name: one.report.value for name, one in measured.items()}
        known = {name: value for name, value in values.items() if value is not None}
        direction = views[0].direction
        if len(known) < 2 or direction is None:
            continue
        choose = max if direction == "higher" else min
        found.append(
            BestOf(
                benchmark=benchmark,
                scoring=chosen[0].scoring,
                metric=views[0].first,
                model=model,
                values={name: one.report for name, one in measured.items()},
                best=choose(known, key=known.__getitem__),
                held_out=_held_out(chosen, together, direction),
                spread=stdev(known.values()),
                notes=[f"{together.n:,} samples that all settings have"],
            )
        )
    return found


def _held_out(settings: Sequence[Loaded], together: Paired, direction: Direction) -> MetricReport:
    """What choosing gives, of sums that mean the same for all settings."""
    views = [View(in_order(side), together, n) for n, side in enumerate(settings)]
    measured = [view.headline for view in views]
    unit, n = measured[0].report.unit, together.n
    sums = [one.sums for one in measured if one.sums is not None]
    if len(sums) < len(measured) or len({one.sums.shape[1] for one in sums}) > 1:
        return metric_report(Estimate(value=None, unit=unit, n=n, reason=NO_SUMS))
    return metric_report(stats.held_out(sums, n=n, unit=unit, lower_is_better=direction == "lower"))


def rank_flips(board: Leaderboard, sides: Sequence[Loaded], names: Sequence[str]) -> list[RankFlip]:
    """The pairs of models of which each is above the other in some setting."""
    standing = {one.name: one for one in board.standings}
    by_model: dict[str, dict[str, Standing]] = {}
    for side, name, setting in zip(sides, names, setting_names(sides), strict=True):
        if name in standing:
            by_model.setdefault(side.model, {})[setting or PLAIN] = standing[name]
    found = []
    for one, other in combinations(by_model, 2):
        above: list[tuple[str, Standing, Standing]] = []
        below: list[tuple[str, Standing, Standing]] = []
        for setting in by_model[one]:
            if setting in by_model[other]:
                pair = by_model[one][setting], by_model[other][setting]
                first, second = pair[0].rank, pair[1].rank
                if first is not None and second is not None and first != second:
                    (above if first < second else below).append((setting, *pair))
        if above and below:
            found.append(
                RankFlip(
                    benchmark=board.benchmark,
                    models=(one, other),
                    first_above=[setting for setting, _, _ in above],
                    second_above=[setting for setting, _, _ in below],
                    significant=all(
                        any(_apart(*pair) for _, *pair in way) for way in (above, below)
                    ),
                )
            )
    return found


def _apart(one: Standing, other: Standing) -> bool:
    """Whether two standings are known to differ: both have letters, and share none."""
    return bool(one.group and other.group) and not {*one.group} & {*other.group}
