"""Compares all pairs of sides on each benchmark, and adjusts the p values for multiple tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from msgspec.structs import replace

from snellen.analysis.comparing._document import (
    BestOf,
    Comparison,
    Comparisons,
    Leaderboard,
    Side,
)
from snellen.analysis.comparing._measured import Views, with_adjusted_p
from snellen.analysis.comparing._names import benchmark_names, side_names
from snellen.analysis.comparing._pair import Pair, comparison
from snellen.analysis.comparing._pairing import pair_samples, same_questions, share
from snellen.analysis.comparing._probes import probe_of, rankable, with_same_scoring
from snellen.analysis.comparing._reasons import why_none, why_unpaired
from snellen.analysis.comparing._standings import best_of, leaderboard, rank_flips, with_groups
from snellen.analysis.comparing._words import notes_of
from snellen.analysis.comparing.sides import COUNTS, LoadedSide
from snellen.errors import UsageError
from snellen.store import FORMAT


def compare(
    sides: Sequence[LoadedSide],
    notes: Sequence[str] = (),
    *,
    details: bool = True,
    unreadable: Sequence[str] = (),
) -> Comparisons:
    """Compare each pair of sides that share samples of a benchmark. Three or more sides also get a
    leaderboard. Without `details`, each pair is compared only by its first metric, unless there is
    a single pair. `unreadable` contains the paths of runs that could not be loaded.

    Raises:
        UsageError: no two sides share a sample.
    """
    counting = [side for side in sides if (side.state == COUNTS).any()]
    # A run in which every request failed must not prevent a ranking of the other runs.
    every = _groups(counting if len(counting) > 1 else sides)
    groups = [group for group in every if len(group) > 1]
    if not groups:
        raise UsageError(why_none(sides))
    draft = _Draft(details=details or (len(groups) == 1 and len(groups[0]) == 2))
    draft.notes += _left_out(sides, counting, every)
    benchmarks = benchmark_names(groups, [group[0].benchmark.name for group in groups])
    for group, benchmark, names in zip(groups, benchmarks, side_names(groups), strict=True):
        draft.add_sides(benchmark, group, names)
        draft.add_pairs(benchmark, group, names)
        draft.best += best_of(benchmark, group, names, draft.views)
        if len(group) > 2 or len(groups) > 1:
            draft.add_leaderboard(benchmark, group, names)
    if not draft.comparisons:
        raise UsageError(why_unpaired(groups))
    without_score = [side.where for side in sides if side not in counting]
    return replace(draft.document(notes), unusable=[*unreadable, *without_score])


@dataclass(kw_only=True)
class _Draft:
    """The parts of the result, collected while the benchmarks are compared."""

    details: bool
    """Whether pairs are compared by every metric, category, and capability."""
    views: Views = field(default_factory=Views)
    """Views of the sides' rows, cached because several pairs may use the same rows."""
    sides: list[Side] = field(default_factory=list)
    """The sides, in the order of their benchmarks."""
    comparisons: list[Comparison] = field(default_factory=list)
    """The comparisons of pairs, with p values that are not adjusted yet."""
    boards: list[tuple[Leaderboard, Sequence[LoadedSide], Sequence[str]]] = field(
        default_factory=list
    )
    """The leaderboards, which have no letters yet, with the ranked sides and their names."""
    best: list[BestOf] = field(default_factory=list)
    """For each model with several settings, the metric of the best setting."""
    notes: list[str] = field(default_factory=list)
    """Notes on sides and pairs that are left out."""
    notes_by_benchmark: dict[str, list[str]] = field(default_factory=dict)
    """The notes of each benchmark's sides."""

    def add_sides(self, benchmark: str, group: Sequence[LoadedSide], names: Sequence[str]) -> None:
        """Add the sides of a benchmark, with their notes."""
        sides = [_side(side, name, benchmark) for side, name in zip(group, names, strict=True)]
        self.sides += sides
        self.notes_by_benchmark[benchmark] = [*notes_of(sides)]
        if len({tuple(sorted(side.judges)) for side in group}) > 1:
            self.notes.append(f"{benchmark}: {_judges_differ(group, names)}")
        first = group[0]
        other = [
            name
            for side, name in zip(group, names, strict=True)
            # A probe changes questions on purpose, and the notes of its pairs explain it.
            if probe_of(side) == probe_of(first) and not same_questions(first, side)
        ]
        if other:
            self.notes.append(
                f"{benchmark}: the questions of {', '.join(other)} are not those of {names[0]}. A "
                "difference may be due to the questions and not to the models"
            )

    def add_pairs(self, benchmark: str, group: Sequence[LoadedSide], names: Sequence[str]) -> None:
        """Compare each pair of sides of a benchmark."""
        for (a, name_a), (b, name_b) in combinations(zip(group, names, strict=True), 2):
            pairing = pair_samples((a, b), (name_a, name_b))
            if not pairing.n:
                self.notes.append(
                    f"{benchmark}: {name_a} and {name_b} share no sample that counts on both sides"
                )
                continue
            both = with_same_scoring((a, b), (name_a, name_b))
            pair = Pair(both, (name_a, name_b), pairing, self.views.of(both, pairing))
            self.comparisons.append(comparison(benchmark, pair, details=self.details))

    def add_leaderboard(
        self, benchmark: str, group: Sequence[LoadedSide], names: Sequence[str]
    ) -> None:
        """Rank the sides of a benchmark that can be ranked together."""
        standing = rankable(group)
        self.notes += _off_the_board(group, names, standing)
        ranked_sides, ranked_names = [group[n] for n in standing], [names[n] for n in standing]
        board = leaderboard(benchmark, ranked_sides, ranked_names, self.views)
        if board is None:
            self.notes.append(f"{benchmark}: no leaderboard, since no sample counts on all sides")
        else:
            self.boards.append((board, ranked_sides, ranked_names))

    def document(self, notes: Sequence[str]) -> Comparisons:
        """Return the finished result, with adjusted p values. The result's notes are `notes`,
        followed by the notes that were collected during the comparison."""
        tests = sum(_headline_p(pair) is not None for pair in self.comparisons)
        pairs = _over_all(self.comparisons) if tests > 1 else self.comparisons
        boards = [with_groups(board, pairs) for board, _, _ in self.boards]
        flips = [
            flip
            for board, (_, sides, names) in zip(boards, self.boards, strict=True)
            for flip in rank_flips(board, sides, names)
        ]
        merged = _merged(self.notes_by_benchmark)
        return Comparisons(
            format=FORMAT,
            sides=self.sides,
            comparisons=pairs,
            leaderboards=boards,
            best_of=self.best,
            rank_flips=flips,
            tests=tests,
            notes=[*dict.fromkeys([*notes, *self.notes, *merged])],
        )


def _judges_differ(group: Sequence[LoadedSide], names: Sequence[str]) -> str:
    """Write a note which states that sides were scored with different judges."""
    by_judges: dict[str, list[str]] = {}
    for side, name in zip(group, names, strict=True):
        by_judges.setdefault(", ".join(sorted(side.judges)) or "rules alone", []).append(name)
    sides = "; ".join(f"{', '.join(of)} by {judges}" for judges, of in by_judges.items())
    return (
        f"not the same judge: {sides}. A difference can come from the judges and not from the "
        "models. Judge all of them with one judge"
    )


def _left_out(
    sides: Sequence[LoadedSide],
    counting: Sequence[LoadedSide],
    groups: Sequence[Sequence[LoadedSide]],
) -> Iterator[str]:
    """Yield a note for each side that is not compared, with the reason: either the side shares no
    samples with another side, or none of its samples counts."""
    sharing = [group for group in _groups(sides) if len(group) > 1]
    for side in (group[0] for group in groups if len(group) == 1):
        why = f"no other side has the same questions{_as_probe(side)}"
        if any(side in group for group in sharing):
            why = "the other sides with the same questions have no sample that counts"
        yield f"{side.where} is not compared: {why}"
    if len(counting) > 1:
        for side in sides:
            if side not in counting:
                n = len(side.ids)
                yield f"{side.where} is not compared: none of its {n:,} samples counts"


def _merged(notes: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The notes of all benchmarks. A note that all benchmarks share appears once; other notes start
    with the name of the benchmark."""
    for benchmark, its_notes in notes.items():
        for note in its_notes:
            everywhere = all(note in other for other in notes.values())
            yield note if everywhere else f"{benchmark}: {note}"


def _groups(sides: Sequence[LoadedSide]) -> list[list[LoadedSide]]:
    """Split the sides of a benchmark into groups that have no samples in common. Groups, and sides
    within a group, keep the order of `sides`."""
    groups: list[list[LoadedSide]] = []
    for side in sides:
        mine: list[list[LoadedSide]] = []
        rest: list[list[LoadedSide]] = []
        for group in groups:
            same = any(
                member.benchmark.name == side.benchmark.name and share(member, side)
                for member in group
            )
            (mine if same else rest).append(group)
        joined = sorted((member for group in mine for member in group), key=sides.index)
        groups = [*rest, [*joined, side]]
    return sorted(groups, key=lambda group: sides.index(group[0]))


def _headline_p(pair: Comparison) -> float | None:
    return next(iter(pair.metrics.values())).p


def _over_all(pairs: Sequence[Comparison]) -> list[Comparison]:
    """Adjust the p values of the first metrics for all pairs on all benchmarks together."""
    heads = with_adjusted_p(
        {str(n): next(iter(pair.metrics.values())) for n, pair in enumerate(pairs)},
    )
    return [
        replace(pair, metrics={**pair.metrics, next(iter(pair.metrics)): heads[str(n)]})
        for n, pair in enumerate(pairs)
    ]


def _side(side: LoadedSide, name: str, benchmark: str) -> Side:
    return Side(
        name=name,
        benchmark=benchmark,
        model=side.model,
        where=side.where,
        n=side.n,
        replies=dict(side.replies),
        identity=dict(side.identity),
        notes=[
            *[f"partial: {side.n:,} of {side.of:,}"] * (side.of > side.n),
            *side.noticed,
            *side.notes,
        ],
        noticed=[*side.noticed],
        cost=side.cost,
        tools=side.tools,
    )


def _off_the_board(
    sides: Sequence[LoadedSide], names: Sequence[str], standing: Sequence[int]
) -> Iterator[str]:
    """Yield a note for each side that is not ranked, with the reason."""
    for number, (side, name) in enumerate(zip(sides, names, strict=True)):
        if number not in standing:
            yield (
                f"{name} is compared in pairs but not ranked: it was asked without choices and is "
                f"scored by {side.scoring}, while the ranked sides are scored by "
                f"{sides[standing[0]].scoring}"
            )


def _as_probe(side: LoadedSide) -> str:
    settings = ", ".join(f"{name}={value}" for name, value in probe_of(side).items())
    return f" with the same probe ({settings})" if settings else ""
