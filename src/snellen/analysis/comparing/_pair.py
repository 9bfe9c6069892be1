"""Compares two sides: every metric, the samples that only one side answered correctly, and notes on
the pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from snellen import stats
from snellen.analysis.comparing._document import Comparison, Flips, MetricDifference
from snellen.analysis.comparing._measured import MetricValue, View, differ, with_adjusted_p
from snellen.analysis.comparing._names import settings
from snellen.analysis.comparing._pairing import EXAMPLES, Pairing
from snellen.analysis.comparing._probes import probe_notes
from snellen.analysis.comparing.sides import LoadedSide, has_state

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Pair(NamedTuple):
    """The two sides of a comparison, A and B."""

    sides: tuple[LoadedSide, LoadedSide]
    """A and B."""
    names: tuple[str, str]
    """The names of A and B in tables."""
    pairing: Pairing
    """The samples that both sides share."""
    views: Sequence[View]
    """The paired rows of A and of B."""


def comparison(benchmark: str, pair: Pair, *, details: bool) -> Comparison:
    """Compare two sides: with `details`, by every metric, category, and capability; otherwise only
    by the first metric."""
    (a, b), (view_a, view_b) = pair.sides, pair.views
    if details:
        metrics = _differences(view_a.metrics, view_b.metrics)
    else:
        metrics = {view_a.first: differ(view_a.headline, view_b.headline)}
    return Comparison(
        benchmark=benchmark,
        scoring=" and ".join(dict.fromkeys((a.scoring, b.scoring))),
        a=pair.names[0],
        b=pair.names[1],
        samples=pair.pairing.n,
        clusters=pair.pairing.clusters,
        unpaired=[*pair.pairing.unpaired],
        settings=settings(a, b),
        metrics=metrics,
        breakdown={
            tag: with_adjusted_p(_differences(values, view_b.breakdown[tag]))
            for tag, values in (view_a.breakdown.items() if details else ())
        },
        capabilities=with_adjusted_p(_differences(view_a.capabilities, view_b.capabilities))
        if details
        else {},
        flips=_flips(pair),
        notes=[
            *(probe_notes(pair.sides, pair.names) if view_a.direction == "higher" else ()),
            *(
                note
                for number, name in enumerate(pair.names)
                for note in _notes_on(
                    pair.sides[number],
                    name,
                    pair.pairing,
                    number,
                    zero_is_wrong=view_a.direction == "higher",
                )
            ),
        ],
        direction=view_a.direction,
    )


def _differences(
    values_a: Mapping[str, MetricValue], values_b: Mapping[str, MetricValue]
) -> dict[str, MetricDifference]:
    """The differences of metrics or categories that both sides have. A category is left out if the
    sides have different metrics for it."""
    return {
        name: differ(value, values_b[name])
        for name, value in values_a.items()
        if name in values_b and values_b[name].other_metric == value.other_metric
    }


def _flips(pair: Pair) -> Flips | None:
    """Count the samples that only one side answered correctly. The result is None if a score is not
    0 or 1, or if a sample has several replies."""
    import numpy as np

    (a, b), pairing = pair.sides, pair.pairing
    singles = [view.single() for view in pair.views]
    if singles[0] is None or singles[1] is None:
        return None
    (right_a, samples_a), (right_b, samples_b) = singles[0], singles[1]
    of_b = np.zeros(len(b.ids))
    of_b[samples_b] = right_b
    right_a = right_a == 1
    right_b = of_b[[b.number_of[a.ids[n]] for n in samples_a]] == 1

    def such_as(which: NDArray[np.bool_]) -> list[str]:
        return [a.ids[n] for n in samples_a[which][:EXAMPLES]]

    only_a, only_b = right_a & ~right_b, right_b & ~right_a
    alone = pairing.clusters == pairing.n
    return Flips(
        both=int((right_a & right_b).sum()),
        only_a=int(only_a.sum()),
        only_b=int(only_b.sum()),
        neither=int((~right_a & ~right_b).sum()),
        examples_a=such_as(only_a),
        examples_b=such_as(only_b),
        p=stats.mcnemar(int(only_a.sum()), int(only_b.sum())) if alone else None,
    )


def _notes_on(
    side: LoadedSide, name: str, pairing: Pairing, number: int, *, zero_is_wrong: bool
) -> Iterator[str]:
    """Yield notes on one side's paired rows. The notes call replies with a score of 0 wrong only if
    `zero_is_wrong`."""
    rows = pairing.rows[number]
    count = "count as wrong" if zero_is_wrong else "score 0"
    if absent := int((side.rows[0].absent & rows).sum()):
        yield f"{name}: {absent:,} samples without a reply {count}, as in the authors' scoring"
    if refused := int((side.rows[0].unknown & rows).sum()):
        yield f"{name}: {refused:,} replies that the service withheld {count}"
    first = side.rows[0]
    unread = has_state(first, "unparsed") & ~first.unknown & ~first.absent & rows
    if silent := int(unread.sum()):
        ending = ", which count as wrong" if zero_is_wrong else ""
        yield f"{name}: {silent:,} of {int(rows.sum()):,} replies are unparsed{ending}"
    if int(rows.sum()) > pairing.n:
        yield f"{name}: {int(rows.sum()):,} replies to {pairing.n:,} samples, all of which count"
    if len(side.rows) > 1:
        yield (
            f"{name}: the value is the mean over {len(side.rows)} judges or repeats of a judge; "
            "the interval does not include how much they differ"
        )
