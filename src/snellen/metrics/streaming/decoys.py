"""Metrics of decoys: queries without slots, to which a model should say nothing."""

from __future__ import annotations

from collections.abc import Mapping

from snellen.metrics._columns import Columns
from snellen.metrics._metric import Metric, metric
from snellen.metrics.streaming._estimates import mean_of, ratio_of
from snellen.metrics.streaming.queries import is_answered, queries_of
from snellen.stats import Estimate

NO_DECOYS = "no decoys"


def score_of_decoy(target: str, answer: str) -> float | None:
    """The score of a decoy: 1 if the model said nothing while the query was open, and 0 if it said
    something. None if the session failed before the model said anything."""
    answered = is_answered(target, answer)
    return None if answered is None else float(not answered)


@metric(better="lower", unit="fraction")
def decoys_answered(columns: Columns) -> Estimate:
    """The share of decoys to which the model says something while the query is open.

        Σ decoys with a message / decoys

    In [0, 1]; lower is better. The content of a message does not matter. A reply that cannot be
    parsed counts as answered. `n` counts decoys. An example with a message to one of two decoys:

    >>> from snellen.metrics.streaming import SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=0, end=60, slots=())
    >>> columns = columns_of((watch, SpeechLog((Utterance(5, 5),))), (watch, SpeechLog()))
    >>> decoys_answered(columns).value
    0.5
    """
    scores = [None] * columns.n if columns.score is None else columns.score
    rows = zip(columns.target, columns.answer, scores, columns.cluster, strict=True)
    answered = [
        (float(score != 1 if answer is None else bool(is_answered(target, answer))), int(cluster))
        for target, answer, score, cluster in rows
    ]
    if not answered:
        return Estimate(value=None, unit="fraction", n=0, reason=NO_DECOYS)
    return mean_of(answered)


@metric(better="lower", unit="1/min")
def decoy_messages_per_min(columns: Columns) -> Estimate:
    """The number of messages to decoys per minute during which a decoy is open.

        Σ messages while the query is open / Σ minutes while the query is open

    At least 0; lower is better. Replies that cannot be parsed are left out. `n` counts decoys. An
    example with two messages to a decoy that is open for half a minute:

    >>> from snellen.metrics.streaming import SpeechLog, Utterance, Watch, columns_of
    >>> watch = Watch(task="CRR", asked=10, end=40, slots=())
    >>> heard = SpeechLog((Utterance(15, 15), Utterance(20, 20)))
    >>> decoy_messages_per_min(columns_of((watch, heard))).value
    4.0
    """
    rows = [
        (float(query.messages), query.minutes, cluster)
        for (query, cluster), answer in zip(queries_of(columns), columns.answer, strict=True)
        if answer is not None
    ]
    return ratio_of(rows, n=len(rows), unit="1/min", nothing=NO_DECOYS)


DECOY_METRICS: Mapping[str, Metric] = {
    "decoys_answered": decoys_answered,
    "decoy_messages_per_min": decoy_messages_per_min,
}
"""The metrics of decoys, keyed by the name under which they are reported."""
