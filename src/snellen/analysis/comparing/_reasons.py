"""Explains why there is nothing to compare."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from snellen.analysis.comparing._names import settings
from snellen.analysis.comparing._pairing import pair_samples
from snellen.analysis.comparing.sides import NOT_JUDGED, LoadedSide


def why_none(sides: Sequence[LoadedSide]) -> str:
    """Write an error message that explains why no two sides share a sample."""
    if len(sides) < 2:
        only = f", but there is only {sides[0].where}" if sides else ""
        return f"A comparison needs two sets of replies{only}. Pass another run, folder, or file."
    benchmarks = {side.benchmark.name: side.where for side in sides}
    if len(benchmarks) == len(sides):
        sources = ", ".join(f"{where} is of {name}" for name, where in benchmarks.items())
        return f"Replies to different questions cannot be compared: {sources}."
    a, b = next(
        pair for pair in combinations(sides, 2) if pair[0].benchmark.name == pair[1].benchmark.name
    )
    what = f"{a.where} and {b.where} share no question of {a.benchmark.name}"
    known = [name for name in a.ids if name in b.number_of]
    if known:
        return (
            f"{what}: {len(known):,} ids are on both sides, but have different data, such as "
            f"{known[0]!r}. Check that both sides use the same split and version."
            f"{_differ_in(a, b)}"
        )
    ids = [", ".join(map(repr, side.ids[:2])) for side in (a, b)]
    return (
        f"{what}: the ids are {ids[0]}, ... and {ids[1]}, .... Check that both sides use the same "
        f"split, --limit, and --sample.{_differ_in(a, b)}"
    )


def _differ_in(a: LoadedSide, b: LoadedSide) -> str:
    differences = settings(a, b)
    return f" They differ in {'; '.join(differences)}." if differences else ""


def why_unpaired(groups: Sequence[Sequence[LoadedSide]]) -> str:
    """Write an error message that explains why no shared sample counts on both sides."""
    group = groups[0][:2]
    names = [side.where for side in group]
    reasons = [
        f"{exclusion.n:,} {exclusion.why}" for exclusion in pair_samples(group, names).unpaired
    ]
    waiting = any((side.state == NOT_JUDGED).any() for side in group)
    judge = " Run a judge first: snellen judge RUN --judge MODEL." if waiting else ""
    return (
        f"{names[0]} and {names[1]} have no sample that counts on both sides: {'; '.join(reasons)}."
        f"{judge}"
    )
