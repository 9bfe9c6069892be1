"""Two sides compared: every metric, who is right where, and what must be said of the pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from snellen import stats
from snellen.analysis.comparing._document import Comparison, Flips, MetricDifference
from snellen.analysis.comparing._measured import Measured, View, adjusted, differ
from snellen.analysis.comparing._names import settings
from snellen.analysis.comparing._pairing import EXAMPLES, Paired
from snellen.analysis.comparing._probes import said_of_probes
from snellen.analysis.comparing.sides import Loaded, has_state

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Pair(NamedTuple):
    """Two sides, what they are called, what of them is paired, and their views of it."""

    sides: tuple[Loaded, Loaded]
    names: tuple[str, str]
    together: Paired
    views: Sequence[View]


def comparison(benchmark: str, pair: Pair, *, details: bool) -> Comparison:
    """Two sides compared; with every metric, category and capability if `details` are wanted."""
    (a, b), (one, other) = pair.sides, pair.views
    if details:
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
            for tag, found in (one.breakdown.items() if details else ())
        },
        capabilities=adjusted(_differences(one.capabilities, other.capabilities))
        if details
        else {},
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


def _flips(pair: Pair) -> Flips | None:
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
