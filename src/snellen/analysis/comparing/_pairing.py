"""Which samples of several sides are the same, and what becomes of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    """The `n` samples that count on all sides, and those that are in no difference.

    For each side: `rows` (n,), those of samples that count everywhere; `unscored` (n,), those of
    samples that all sides have and that do not; `cluster` (n,), the number of what a row's sample
    shares with others, common to all sides.
    """

    rows: Sequence[NDArray[np.bool_]]
    unscored: Sequence[NDArray[np.bool_]]
    cluster: Sequence[NDArray[np.int32]]
    n: int
    unpaired: Sequence[Unpaired]

    @property
    def clusters(self) -> int:
        import numpy as np

        return len(np.unique(self.cluster[0][self.rows[0]]))


def share(a: LoadedSide, b: LoadedSide) -> bool:
    """Whether any sample is of the same row of data on both sides."""
    return any(
        b.digests[number] == digest
        for name, digest in zip(a.ids, a.digests, strict=True)
        if (number := b.number_of.get(name)) is not None
    )


def pair_samples(sides: Sequence[LoadedSide], names: Sequence[str]) -> Pairing:
    """The samples of several sides, each with the same row of data; `names` are the sides', for
    what is said of samples that are left out."""
    import numpy as np

    first = sides[0]
    # (S, k): the number that each of the first's samples has on each side, -1 where it is not.
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
        """Why samples do not count, each by the first reason that there is."""
        more = [name for side in sides[1:] for name in side.ids if name not in first.number_of]
        yield f"not in {names[0]}", [*dict.fromkeys(more)]
        reasons = [(f"not in {name}", at[n] < 0) for n, name in enumerate(names) if n]
        reasons += [("other data under the same id", ~same), ("the right answer is hidden", hidden)]
        reasons += [
            (f"{words} {name}", states[n] == state)
            for state, words in WORDS.items()
            for n, name in enumerate(names)
        ]
        rest = ~counts
        for why, which in reasons:
            yield why, [first.ids[number] for number in (which & rest).nonzero()[0]]
            rest = rest & ~which

    every = [*zip(sides, at, strict=True)]
    return Pairing(
        rows=[side.in_mean & _mask_of(side, numbers[counts]) for side, numbers in every],
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
    """A mask (n,) of the rows that are of these samples."""
    import numpy as np

    chosen = np.zeros(len(side.ids), dtype=np.bool_)
    chosen[samples] = True
    mask: NDArray[np.bool_] = chosen[side.sample]
    return mask


def _clusters(
    first: LoadedSide, side: LoadedSide, theirs: NDArray[np.intp], ours: NDArray[np.intp]
) -> NDArray[np.int32]:
    """The clusters (n,) of a side's rows by the first side's numbers, new ones where it has none;
    samples `ours` are the first's `theirs`."""
    import numpy as np

    own = side.rows[0].columns.cluster
    known = first.rows[0].columns.cluster
    common = np.arange(own.max() + 1, dtype=np.int32) + known.max() + 1
    common[_by_sample(side)[ours]] = _by_sample(first)[theirs]
    clusters: NDArray[np.int32] = common[own]
    return clusters


def _by_sample(side: LoadedSide) -> NDArray[np.int32]:
    """The side's own number of each sample's cluster."""
    import numpy as np

    clusters = np.zeros(len(side.ids), dtype=np.int32)
    clusters[side.sample] = side.rows[0].columns.cluster
    return clusters
