"""Finds the samples that several sides share, and the reasons why other samples are left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from snellen.analysis.comparing._document import Unpaired
from snellen.analysis.comparing.sides import (
    ABSENT,
    COUNTS,
    FAILED,
    HIDDEN,
    NO_SCORE,
    NOT_JUDGED,
    REFUSED,
    LoadedSide,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXAMPLES = 5
WORDS = {
    FAILED: "failed in",
    NOT_JUDGED: "not judged in",
    ABSENT: "without a reply in",
    REFUSED: "withheld by the service in",
    NO_SCORE: "without a score in",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairing:
    """The samples that count on all sides, and the samples that are left out of differences."""

    rows: Sequence[NDArray[np.bool_]]
    """For each side, a mask (n,) of the rows whose samples count on every side."""
    common: Sequence[NDArray[np.bool_]]
    """For each side, a mask (n,) of those `rows` whose repeat of the sample counts on every side
    too."""
    unscored: Sequence[NDArray[np.bool_]]
    """For each side, a mask (n,) of the rows whose samples are on all sides but do not count on
    every side. Samples with a hidden answer are not included."""
    cluster: Sequence[NDArray[np.int32]]
    """For each side, the index of each row's cluster (n,). A cluster has the same index on all
    sides."""
    n: int
    """The number of samples that count on all sides."""
    unpaired: Sequence[Unpaired]
    """The samples that are left out of differences, with the reason."""

    @property
    def clusters(self) -> int:
        import numpy as np

        return len(np.unique(self.cluster[0][self.rows[0]]))


def share(a: LoadedSide, b: LoadedSide) -> bool:
    """Whether both sides have a sample with the same id and the same row of data."""
    return any(
        b.digests[number] == digest
        for name, digest in zip(a.ids, a.digests, strict=True)
        if (number := b.number_of.get(name)) is not None
    )


def same_questions(a: LoadedSide, b: LoadedSide) -> bool:
    """Whether both sides ask the same question about each row of data that they share. An option of
    a benchmark may change its questions, such as their language."""
    if not a.questions or not b.questions:
        return True
    return all(
        a.questions[n] == b.questions[number]
        for n, name in enumerate(a.ids)
        if (number := b.number_of.get(name)) is not None and a.digests[n] == b.digests[number]
    )


def pair_samples(sides: Sequence[LoadedSide], names: Sequence[str]) -> Pairing:
    """Find the samples that several sides share, with the same row of data. `names` contains the
    names of the sides, which appear in the reasons why samples are left out."""
    import numpy as np

    first = sides[0]
    # (S, k): the number of each of the first side's samples on each side, -1 if missing.
    at = np.array([[side.number_of.get(name, -1) for name in first.ids] for side in sides])
    alike = [
        [
            number >= 0 and side.digests[number] == digest
            for number, digest in zip(numbers.tolist(), first.digests, strict=True)
        ]
        for side, numbers in zip(sides, at, strict=True)
    ]
    same: NDArray[np.bool_] = np.logical_and.reduce(np.array(alike))
    states = np.stack([side.state[numbers] for side, numbers in zip(sides, at, strict=True)])
    counts = same & (states == COUNTS).all(axis=0)
    hidden = (states == HIDDEN).any(axis=0)

    def exclusions() -> Iterator[tuple[str, Sequence[str]]]:
        """The reasons for leaving samples out, with the ids of the samples. If a sample fails to
        count on several sides, it is listed under one reason for each of these sides."""
        more = [name for side in sides[1:] for name in side.ids if name not in first.number_of]
        yield f"not in {names[0]}", [*dict.fromkeys(more)]
        reasons = [(f"not in {name}", at[n] < 0) for n, name in enumerate(names) if n]
        reasons += [("different data under the same id", ~same), ("right answer hidden", hidden)]
        reasons += [
            (f"{words} {name}", states[n] == state)
            for state, words in WORDS.items()
            for n, name in enumerate(names)
        ]
        rest = ~counts
        general = len(reasons) - len(WORDS) * len(names)
        for why, which in reasons[:general]:
            yield why, [first.ids[number] for number in (which & rest).nonzero()[0]]
            rest = rest & ~which
        # These reasons are one side's own, so that a sample can have several.
        for why, which in reasons[general:]:
            yield why, [first.ids[number] for number in (which & rest).nonzero()[0]]

    every = [*zip(sides, at, strict=True)]
    rows = [side.in_mean & _mask_of(side, numbers[counts]) for side, numbers in every]
    return Pairing(
        rows=rows,
        common=_common(sides, rows, [numbers[counts] for numbers in at]),
        unscored=[_mask_of(side, numbers[same & ~counts & ~hidden]) for side, numbers in every],
        cluster=[
            _clusters(first, side, same.nonzero()[0], numbers[same]) for side, numbers in every
        ],
        n=int(counts.sum()),
        unpaired=[
            Unpaired(why=why, n=len(ids), examples=[*ids[:EXAMPLES]])
            for why, ids in exclusions()
            if ids
        ],
    )


def _mask_of(side: LoadedSide, samples: NDArray[np.intp]) -> NDArray[np.bool_]:
    """A mask (n,) of the rows of these samples."""
    import numpy as np

    chosen = np.zeros(len(side.ids), dtype=np.bool_)
    chosen[samples] = True
    mask: NDArray[np.bool_] = chosen[side.sample]
    return mask


def _common(
    sides: Sequence[LoadedSide],
    rows: Sequence[NDArray[np.bool_]],
    samples: Sequence[NDArray[np.intp]],
) -> list[NDArray[np.bool_]]:
    """For each side, a mask (n,) of those `rows` whose sample and repeat every side has. `samples`
    contains the indices of the paired samples on each side, in the same order."""
    import numpy as np

    repeats = 1 + max(int(side.repeat.max(initial=0)) for side in sides)
    keys = []
    for side, numbers in zip(sides, samples, strict=True):
        order = np.zeros(len(side.ids), dtype=np.int64)
        order[numbers] = np.arange(len(numbers))
        keys.append(order[side.sample] * repeats + side.repeat)
    shared = reduce(np.intersect1d, [key[mask] for key, mask in zip(keys, rows, strict=True)])
    return [mask & np.isin(key, shared) for key, mask in zip(keys, rows, strict=True)]


def _clusters(
    first: LoadedSide, side: LoadedSide, theirs: NDArray[np.intp], ours: NDArray[np.intp]
) -> NDArray[np.int32]:
    """The cluster index (n,) of each row of `side`. A cluster that `first` has too gets the index
    that it has there, and other clusters get new indices. `theirs` contains the indices of the
    shared samples in `first`, and `ours` contains the indices of the same samples in `side`."""
    import numpy as np

    own = side.rows[0].columns.cluster
    known = first.rows[0].columns.cluster
    common = np.arange(own.max() + 1, dtype=np.int32) + known.max() + 1
    common[_by_sample(side)[ours]] = _by_sample(first)[theirs]
    clusters: NDArray[np.int32] = common[own]
    return clusters


def _by_sample(side: LoadedSide) -> NDArray[np.int32]:
    """For each sample, the index of its cluster on this side."""
    import numpy as np

    clusters = np.zeros(len(side.ids), dtype=np.int32)
    clusters[side.sample] = side.rows[0].columns.cluster
    return clusters
