"""Which rows of a benchmark a run asks, checked before the first question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from time import monotonic

from snellen.benchmark import Benchmark
from snellen.datasets import Row
from snellen.errors import DataError
from snellen.sample import Sample

CHECKED = 20_000
CHECK_SECONDS = 0.5
"""At most so many rows are read before the first question, and for so long; those behind them are
checked when they are asked."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """`places` are the chosen rows' numbers (None: all), `rows` how many those are, `total` how
    many there are."""

    places: frozenset[int] | None
    rows: int
    total: int


def sample_of(benchmark: Benchmark, row: Row) -> Sample:
    """The sample of a row.

    Raises:
        DataError: the row lacks what the benchmark needs; names the row and its fields.
    """
    try:
        return benchmark.sample(row.place, row)
    except DataError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        what = (
            f"no field {error}"
            if isinstance(error, KeyError)
            else f"{type(error).__name__}: {error}"
        )
        raise DataError(
            f"{benchmark.name}: row {row.place} of {benchmark.data.where} cannot be read: "
            f"{what}. It has the fields "
            f"{', '.join(row)}. Is this the data that `snellen show {benchmark.name}` describes?"
        ) from error


def check(benchmark: Benchmark) -> None:
    """Read the rows once, before anything is asked: all, or as many as take no time to speak of.

    Raises:
        DataError: there are no rows, one cannot be read, or two have the same id.
    """
    seen: dict[str, int] = {}
    until = monotonic() + CHECK_SECONDS
    for row in islice(benchmark.data, CHECKED):
        if monotonic() > until:
            break
        sample = sample_of(benchmark, row)
        before = seen.setdefault(sample.id, row.place)
        if before != row.place:
            raise DataError(
                f"{benchmark.name}: rows {before} and {row.place} of {benchmark.data.where} "
                "have the same id "
                f"{sample.id!r}. Ids must be unique: give each row its own."
            )
    if not seen:
        raise DataError(f"{benchmark.name}: {benchmark.data.where} has no rows.")


def select(
    benchmark: Benchmark, total: int, *, limit: int | None, sample: int | None, seed: int
) -> Selection:
    """The first `limit` rows, or `sample` rows drawn by `seed` in proportion to the first
    break-down's categories."""
    if sample is not None and sample < total:
        places = _drawn(benchmark, sample, seed)
        if limit is not None:
            places = sorted(places)[:limit]
        return Selection(places=frozenset(places), rows=len(places), total=total)
    if limit is not None and limit < total:
        places = [row.place for row, _ in zip(benchmark.data, range(limit), strict=False)]
        return Selection(places=frozenset(places), rows=len(places), total=total)
    return Selection(places=None, rows=total, total=total)


def _drawn(benchmark: Benchmark, n: int, seed: int) -> list[int]:
    """`n` places, shared out over the categories by largest remainders, drawn within each."""
    tag = benchmark.break_down_by[0] if benchmark.break_down_by else None
    strata: dict[str, list[int]] = {}
    for row in benchmark.data:
        name = sample_of(benchmark, row).tags.get(tag, "") if tag else ""
        strata.setdefault(name, []).append(row.place)
    total = sum(map(len, strata.values()))
    quota = {name: n * len(places) / total for name, places in strata.items()}
    share = {name: int(quota[name]) for name in strata}
    by_remainder = sorted(strata, key=lambda name: (share[name] - quota[name], name))
    for name in by_remainder[: n - sum(share.values())]:
        share[name] += 1
    random = Random(f"{seed} {benchmark.name}")
    return [place for name in sorted(strata) for place in random.sample(strata[name], share[name])]


def chosen(benchmark: Benchmark, selection: Selection) -> Iterator[Row]:
    """The chosen rows, in the data's order; stops reading after the last."""
    left = selection.rows
    if not left:
        return
    for row in benchmark.data:
        if selection.places is None or row.place in selection.places:
            yield row
            left -= 1
            if not left and selection.places is not None:
                return
