"""Sides to a document: all pairs on each benchmark, and the tests adjusted for their number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from snellen import stats
from snellen.analysis.comparing._document import (
    BestOf,
    Comparison,
    Comparisons,
    Flips,
    Leaderboard,
    MetricDifference,
    RankFlip,
    Side,
)
from snellen.analysis.comparing._measured import Measured, View, Views, adjusted, differ
from snellen.analysis.comparing._names import benchmark_names, settings, side_names
from snellen.analysis.comparing._pairing import EXAMPLES, Paired, paired, share
from snellen.analysis.comparing._probes import probe_of, ranked, said_of_probes, under_one_scoring
from snellen.analysis.comparing._standings import best_of, leaderboard, rank_flips
from snellen.analysis.comparing._words import notes_of, significant
from snellen.analysis.comparing.sides import COUNTS, NOT_JUDGED, Loaded, has_state
from snellen.errors import UsageError
from snellen.store import FORMAT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def compare(
    sides: Sequence[Loaded], notes: Sequence[str] = (), *, details: bool = True
) -> Comparisons:
    """Every two sides of one benchmark that share samples; of three or more the leaderboard too.
    Without `details` several pairs have their first metric alone, one pair has everything anyway.

    Raises:
        UsageError: there are no two that share a sample.
    """
    counting = [side for side in sides if (side.state == COUNTS).any()]
    # A run that failed throughout must not take the others' standings with it.
    every = _groups(counting if len(counting) > 1 else sides)
    groups = [group for group in every if len(group) > 1]
    if not groups:
        raise UsageError(_why_none(sides))
    alone = [group[0] for group in every if len(group) == 1]
    sharing = [group for group in _groups(sides) if len(group) > 1]
    said = [
        f"{one.where} is in no comparison: no other sample of its questions counts"
        if any(one in group for group in sharing)
        else f"{one.where} is in no comparison: nothing else here has its questions{_as_probe(one)}"
        for one in alone
    ]
    if len(counting) > 1:
        said += [
            f"{side.where} is in no comparison: none of its {len(side.ids):,} samples counts"
            for side in sides
            if side not in counting
        ]
    whole = details or (len(groups) == 1 and len(groups[0]) == 2)
    found: list[Comparison] = []
    boards: list[Leaderboard] = []
    best: list[BestOf] = []
    flips: list[RankFlip] = []
    shown: list[Side] = []
    notes_by_benchmark: dict[str, list[str]] = {}
    views = Views()
    benchmarks = benchmark_names(groups, [group[0].benchmark.name for group in groups])
    for group, benchmark, names in zip(groups, benchmarks, side_names(groups), strict=True):
        these = [_side(*one, benchmark) for one in zip(group, names, strict=True)]
        shown += these
        notes_by_benchmark[benchmark] = [*notes_of(these)]
        for pair in combinations(zip(group, names, strict=True), 2):
            (a, name_a), (b, name_b) = pair
            together = paired((a, b), (name_a, name_b))
            if together.n:
                both = under_one_scoring((a, b), (name_a, name_b))
                one = _Pair(both, (name_a, name_b), together, views.of(both, together))
                found.append(_comparison(benchmark, one, whole=whole))
            else:
                said.append(f"{benchmark}: {name_a} and {name_b} share no sample that counts")
        best += best_of(benchmark, group, names, views)
        if len(group) > 2 or len(groups) > 1:
            standing = ranked(group)
            said += _off_the_board(group, names, standing)
            on_it, their_names = [group[n] for n in standing], [names[n] for n in standing]
            board = leaderboard(benchmark, on_it, their_names, views)
            if board is None:
                said.append(f"{benchmark}: no leaderboard, since no sample counts on all sides")
            else:
                boards.append(board)
                flips += rank_flips(board, on_it, their_names)
    if not found:
        raise UsageError(_why_unpaired(groups))
    tests = sum(_headline_p(one) is not None for one in found)
    pairs = _over_all(found) if tests > 1 else found
    return Comparisons(
        format=FORMAT,
        sides=shown,
        comparisons=pairs,
        leaderboards=[
            replace(board, notes=[*board.notes, *_other_verdicts(board, pairs, tests)])
            for board in boards
        ],
        best_of=best,
        rank_flips=flips,
        tests=tests,
        notes=[*dict.fromkeys([*notes, *said, *_merged(notes_by_benchmark)])],
    )


def _merged(notes: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Notes by benchmark. A note that all benchmarks share appears once."""
    for benchmark, its_notes in notes.items():
        for note in its_notes:
            everywhere = all(note in other for other in notes.values())
            yield note if everywhere else f"{benchmark}: {note}"


def _groups(sides: Sequence[Loaded]) -> list[list[Loaded]]:
    """Sides of one benchmark that share samples with another of them, in the order given."""
    groups: list[list[Loaded]] = []
    for side in sides:
        mine: list[list[Loaded]] = []
        rest: list[list[Loaded]] = []
        for group in groups:
            same = any(
                one.benchmark.name == side.benchmark.name and share(one, side) for one in group
            )
            (mine if same else rest).append(group)
        joined = sorted((one for group in mine for one in group), key=sides.index)
        groups = [*rest, [*joined, side]]
    return sorted(groups, key=lambda group: sides.index(group[0]))


class _Pair(NamedTuple):
    """Two sides, what they are called, what of them is paired, and their views of it."""

    sides: tuple[Loaded, Loaded]
    names: tuple[str, str]
    together: Paired
    views: Sequence[View]


def _comparison(benchmark: str, pair: _Pair, *, whole: bool) -> Comparison:
    """Two sides compared; with every metric, category and capability if the `whole` is wanted."""
    (a, b), (one, other) = pair.sides, pair.views
    if whole:
        metrics = _differences(one.whole, other.whole)
    else:
        metrics = {one.first: differ(one.headline, other.headline)}
    return Comparison(
        benchmark=benchmark,
        scoring=" and ".join(dict.fromkeys((a.scoring, b.scoring))),
        a=pair.names[0],
        b=pair.names[1],
        samples=pair.together.n,
        clusters=pair.together.clusters,
        unpaired=[*pair.together.unpaired],
        settings=settings(a, b),
        metrics=metrics,
        breakdown={
            tag: adjusted(_differences(found, other.breakdown[tag]))
            for tag, found in (one.breakdown.items() if whole else ())
        },
        capabilities=adjusted(_differences(one.capabilities, other.capabilities)) if whole else {},
        flips=_flips(pair),
        notes=[
            *(said_of_probes(pair.sides, pair.names) if one.direction == "higher" else ()),
            *(
                note
                for number, name in enumerate(pair.names)
                for note in _said_of(
                    pair.sides[number],
                    name,
                    pair.together,
                    number,
                    zero_is_wrong=one.direction == "higher",
                )
            ),
        ],
        direction=one.direction,
    )


def _differences(
    one: Mapping[str, Measured], other: Mapping[str, Measured]
) -> dict[str, MetricDifference]:
    return {name: differ(found, other[name]) for name, found in one.items() if name in other}


def _flips(pair: _Pair) -> Flips | None:
    """Who is right where, of scores of 0 and 1 with one reply each."""
    import numpy as np

    (a, b), together = pair.sides, pair.together
    found = [view.single() for view in pair.views]
    if found[0] is None or found[1] is None:
        return None
    (right_a, samples_a), (right_b, samples_b) = found[0], found[1]
    of_b = np.zeros(len(b.ids))
    of_b[samples_b] = right_b
    right_a = right_a == 1
    right_b = of_b[[b.place[a.ids[n]] for n in samples_a]] == 1

    def such_as(which: NDArray[np.bool_]) -> list[str]:
        return [a.ids[n] for n in samples_a[which][:EXAMPLES]]

    only_a, only_b = right_a & ~right_b, right_b & ~right_a
    alone = together.clusters == together.n
    return Flips(
        both=int((right_a & right_b).sum()),
        only_a=int(only_a.sum()),
        only_b=int(only_b.sum()),
        neither=int((~right_a & ~right_b).sum()),
        examples_a=such_as(only_a),
        examples_b=such_as(only_b),
        p=stats.mcnemar(int(only_a.sum()), int(only_b.sum())) if alone else None,
    )


def _said_of(
    side: Loaded, name: str, together: Paired, number: int, *, zero_is_wrong: bool
) -> Iterator[str]:
    """Notes on one side's paired rows. A score of 0 is called wrong only if `zero_is_wrong`."""
    rows = together.rows[number]
    count = "count as wrong" if zero_is_wrong else "score 0"
    if absent := int((side.rows[0].absent & rows).sum()):
        yield f"{name}: {absent:,} samples without a reply {count}, as the authors have it"
    if refused := int((side.rows[0].unknown & rows).sum()):
        yield f"{name}: {count}, since the service withheld the reply: {refused:,}"
    first = side.rows[0]
    unread = has_state(first, "unparsed") & ~first.unknown & ~first.absent & rows
    if silent := int(unread.sum()):
        ending = ", which count as wrong" if zero_is_wrong else ""
        yield f"{name}: no answer was found in {silent:,} of {int(rows.sum()):,} replies{ending}"
    if int(rows.sum()) > together.n:
        yield f"{name}: {int(rows.sum()):,} replies to {together.n:,} samples, all of which count"
    if len(side.rows) > 1:
        yield (
            f"{name}: the mean over {len(side.rows)} judges or times that one was asked; how far "
            "these differ is not in the interval"
        )


def _headline_p(one: Comparison) -> float | None:
    return next(iter(one.metrics.values())).p


def _over_all(found: Sequence[Comparison]) -> list[Comparison]:
    """With the first metric's p values adjusted over all pairs and benchmarks."""
    heads = adjusted(
        {str(n): next(iter(one.metrics.values())) for n, one in enumerate(found)},
    )
    return [
        replace(one, metrics={**one.metrics, next(iter(one.metrics)): heads[str(n)]})
        for n, one in enumerate(found)
    ]


def _other_verdicts(board: Leaderboard, pairs: Sequence[Comparison], tests: int) -> Iterator[str]:
    """A note if the letters of a leaderboard and the tests of its pairs disagree: they are on other
    samples, or adjusted over other pairs."""
    letters = {one.name: {*one.group} for one in board.standings if one.group}
    opposed = []
    for one in pairs:
        if one.benchmark != board.benchmark or not {one.a, one.b} <= letters.keys():
            continue
        shares_letter = bool(letters[one.a] & letters[one.b])
        if significant(next(iter(one.metrics.values()))) == shares_letter:
            opposed.append(one)
    if opposed:
        which = f"{opposed[0].a} and {opposed[0].b}"
        if len(opposed) > 1:
            which = f"{len(opposed):,} pairs, such as {which}"
        yield (
            f"groups and tests of pairs disagree on {which}: groups are by the "
            f"{board.samples:,} samples that all have, adjusted over this table; a pair "
            f"is tested on the samples of both, adjusted over {tests:,} comparisons"
        )


def _side(side: Loaded, name: str, benchmark: str) -> Side:
    return Side(
        name=name,
        benchmark=benchmark,
        model=side.model,
        where=side.where,
        n=side.n,
        replies=dict(side.replies),
        identity=dict(side.identity),
        notes=[*[f"partial: {side.n:,} of {side.of:,}"] * (side.of > side.n), *side.notes],
    )


def _off_the_board(
    sides: Sequence[Loaded], names: Sequence[str], standing: Sequence[int]
) -> Iterator[str]:
    """Who of the sides has no standing, and why."""
    for number, (side, name) in enumerate(zip(sides, names, strict=True)):
        if number not in standing:
            yield (
                f"{name} is in pairs alone, and not ranked: asked without options, it is scored by "
                f"{side.scoring}, the others by {sides[standing[0]].scoring}"
            )


def _as_probe(side: Loaded) -> str:
    said = ", ".join(f"{name}={value}" for name, value in probe_of(side).items())
    return f", as they were asked ({said})" if said else ""


# -- why there is nothing to compare


def _why_none(sides: Sequence[Loaded]) -> str:
    """Why no two sides share a sample."""
    if len(sides) < 2:
        only = f", and there is only {sides[0].where}" if sides else ""
        return f"Comparing takes two sets of replies{only}: name another run, folder or file."
    benchmarks = {side.benchmark.name: side.where for side in sides}
    if len(benchmarks) == len(sides):
        asked = ", ".join(f"{where} is of {name}" for name, where in benchmarks.items())
        return f"Replies to different questions cannot be compared: {asked}."
    a, b = next(
        pair for pair in combinations(sides, 2) if pair[0].benchmark.name == pair[1].benchmark.name
    )
    what = f"{a.where} and {b.where} share no question of {a.benchmark.name}"
    known = [name for name in a.ids if name in b.place]
    if known:
        return (
            f"{what}: {len(known):,} ids are on both sides, such as {known[0]!r}, each with other "
            f"data. Is one of another split or version?{_differ_in(a, b)}"
        )
    ids = [", ".join(map(repr, side.ids[:2])) for side in (a, b)]
    return (
        f"{what}: the ids are {ids[0]}, ... and {ids[1]}, .... Is one of another split, or were "
        f"other parts of it asked (--limit, --sample)?{_differ_in(a, b)}"
    )


def _differ_in(a: Loaded, b: Loaded) -> str:
    found = settings(a, b)
    return f" They differ in {'; '.join(found)}." if found else ""


def _why_unpaired(groups: Sequence[Sequence[Loaded]]) -> str:
    """Why no shared sample counts on both sides."""
    group = groups[0][:2]
    names = [side.where for side in group]
    reasons = [f"{one.n:,} {one.why}" for one in paired(group, names).unpaired]
    waiting = any((side.state == NOT_JUDGED).any() for side in group)
    judge = " Have a judge read them first: snellen judge RUN --judge MODEL." if waiting else ""
    return (
        f"{names[0]} and {names[1]} have no sample that counts on both sides: {'; '.join(reasons)}."
        f"{judge}"
    )
