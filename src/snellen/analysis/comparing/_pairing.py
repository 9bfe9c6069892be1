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
    Loaded,
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
class Paired:
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


def share(one: Loaded, other: Loaded) -> bool:
    """Whether any sample is of the same row of data on both sides."""
    return any(
        other.digests[place] == digest
        for name, digest in zip(one.ids, one.digests, strict=True)
        if (place := other.place.get(name)) is not None
    )


def paired(sides: Sequence[Loaded], names: Sequence[str]) -> Paired:
    """The samples of several sides, each with the same row of data; `names` are the sides', for
    what is said of samples that are left out."""
    import numpy as np

    first = sides[0]
    # (S, k): the number that each of the first's samples has on each side, -1 where it is not.
    at = np.array([[side.place.get(name, -1) for name in first.ids] for side in sides])
    alike = [
        [
            place >= 0 and side.digests[place] == digest
            for place, digest in zip(places.tolist(), first.digests, strict=True)
        ]
        for side, places in zip(sides, at, strict=True)
    ]
    same: NDArray[np.bool_] = np.logical_and.reduce(np.array(alike))
    states = np.stack([side.state[places] for side, places in zip(sides, at, strict=True)])
    counts = same & (states == COUNTS).all(axis=0)
    hidden = (states == HIDDEN).any(axis=0)

    def left_out() -> Iterator[tuple[str, Sequence[str]]]:
        """Why samples do not count, each by the first reason that there is."""
        more = [name for side in sides[1:] for name in side.ids if name not in first.place]
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
            yield why, [first.ids[place] for place in (which & rest).nonzero()[0]]
            rest = rest & ~which

    every = [*zip(sides, at, strict=True)]
    return Paired(
        rows=[side.in_mean & _among(side, places[counts]) for side, places in every],
        unscored=[_among(side, places[same & ~counts & ~hidden]) for side, places in every],
        cluster=[_clusters(first, side, same.nonzero()[0], places[same]) for side, places in every],
        n=int(counts.sum()),
        unpaired=[
            Unpaired(why=why, n=len(found), examples=[*found[:EXAMPLES]])
            for why, found in left_out()
            if found
        ],
    )


def _among(side: Loaded, samples: NDArray[np.intp]) -> NDArray[np.bool_]:
    """A mask (n,) of the rows that are of these samples."""
    import numpy as np

    chosen = np.zeros(len(side.ids), dtype=np.bool_)
    chosen[samples] = True
    found: NDArray[np.bool_] = chosen[side.sample]
    return found


def _clusters(
    first: Loaded, side: Loaded, theirs: NDArray[np.intp], ours: NDArray[np.intp]
) -> NDArray[np.int32]:
    """The clusters (n,) of a side's rows by the first side's numbers, new ones where it has none;
    samples `ours` are the first's `theirs`."""
    import numpy as np

    own = side.rows[0].columns.cluster
    known = first.rows[0].columns.cluster
    common = np.arange(own.max() + 1, dtype=np.int32) + known.max() + 1
    common[_by_sample(side)[ours]] = _by_sample(first)[theirs]
    found: NDArray[np.int32] = common[own]
    return found


def _by_sample(side: Loaded) -> NDArray[np.int32]:
    """The side's own number of each sample's cluster."""
    import numpy as np

    found = np.zeros(len(side.ids), dtype=np.int32)
    found[side.sample] = side.rows[0].columns.cluster
    return found
