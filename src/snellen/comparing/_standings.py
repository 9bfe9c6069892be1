"""Several sides at once: who stands where, and which ranks depend on the setting."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from snellen import stats
from snellen.comparing._measured import Measured, Views, differ
from snellen.comparing._names import setting_names
from snellen.comparing._pairing import paired
from snellen.comparing._report import Leaderboard, RankFlip, Standing
from snellen.comparing._sides import Loaded

LEVEL = 0.05
UNKNOWN = "the ranks could be any: there is no test of every pair"


def leaderboard(
    benchmark: str, sides: Sequence[Loaded], names: Sequence[str], made: Views
) -> Leaderboard:
    """All sides by the first metric, on the samples that all have."""
    together = paired(sides, names)
    notes = [f"{one.n:,} samples left out: {one.why}" for one in together.unpaired]
    views = made.of(sides, together)
    measured = {name: view.headline for name, view in zip(names, views, strict=True)}
    values = {
        name: one.report.value for name, one in measured.items() if one.report.value is not None
    }
    notes += [
        f"{name} has no value: {one.report.reason}"
        for name, one in measured.items()
        if name not in values
    ]
    # The sort is stable: equals stay in the order in which they were given.
    order = sorted(values, key=lambda name: -values[name])
    ranks, groups = _standings([measured[name] for name in order])
    if ranks is None:
        notes.append(UNKNOWN)
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
                rank=1 + sum(other > values[name] for other in values.values()),
                ranks=(1, len(order)) if ranks is None else ranks[place],
                group=groups[place],
            )
            for place, name in enumerate(order)
        ],
        notes=notes,
    )


def _standings(sides: Sequence[Measured]) -> tuple[list[tuple[int, int]] | None, list[str]]:
    """Between which ranks each is, None where a pair has no test; and letters: those that share one
    do not differ at 5 %, by Holm over all pairs."""
    pairs = [*combinations(range(len(sides)), 2)]
    tested = {pair: p for pair in pairs if (p := differ(*(sides[n] for n in pair)).p) is not None}
    adjusted = dict(zip(tested, stats.holm([*tested.values()]), strict=True))
    groups = stats.letters(len(sides), lambda i, j: adjusted.get((i, j), 1.0) >= LEVEL)
    sums = [one.sums for one in sides if one.sums is not None]
    return (stats.ranks(sums) if len(tested) == len(pairs) else None), groups


def rank_flips(board: Leaderboard, sides: Sequence[Loaded], names: Sequence[str]) -> list[RankFlip]:
    """The pairs of models of which each is above the other in some setting."""
    standing = {one.name: one for one in board.standings}
    by_model: dict[str, dict[str, Standing]] = {}
    for side, name, setting in zip(sides, names, setting_names(sides), strict=True):
        if name in standing:
            by_model.setdefault(side.model, {})[setting] = standing[name]
    found = []
    for one, other in combinations(by_model, 2):
        above: list[tuple[str, Standing, Standing]] = []
        below: list[tuple[str, Standing, Standing]] = []
        for setting in by_model[one]:
            if setting in by_model[other]:
                pair = by_model[one][setting], by_model[other][setting]
                if pair[0].rank != pair[1].rank:
                    (above if pair[0].rank < pair[1].rank else below).append((setting, *pair))
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
    """Whether two standings share no letter."""
    return not {*one.group} & {*other.group}
