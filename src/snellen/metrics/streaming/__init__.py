"""Metrics of watching: what was said about a running video, and when.

A query is a question that stands open from `asked` to `end`; to it belong slots, the stretches of
time in which something is to be said, and the messages that a model said. Times are seconds of the
video, not of a clock on the wall. A metric reads, of each row, `columns.target` (a `Watch` as JSON)
and `columns.answer` (a `SpeechLog` as JSON).

A message lies in a window iff onset >= w0 and done <= w1: one begun before the evidence cannot rest
on it, one unfinished at the deadline is of no use. A slot with a number is spoken for by messages
with that number alone, any other by every message. The first of them decides the slot's outcome:

    hit      it lies in the window
    early    it begins before w0
    late     it begins later, and is not done by w1
    silent   there is none

Only messages that begin while the query is open count here; others are `unsolicited`.

A row without an answer is what its score says: with 1 everything was said at its time, with 0
nothing was, and of its points all are wrong. So replies that cannot be read or were withheld count
as wrong, and what is unknown has bounds.
"""

from __future__ import annotations

from collections.abc import Mapping

from snellen.metrics._metric import Metric
from snellen.metrics.streaming.messages import (
    acknowledgements,
    ambiguous,
    f1,
    false_alarms_per_min,
    precision,
    recall,
    repeats,
    unsolicited_per_hour,
)
from snellen.metrics.streaming.queries import (
    WIDER,
    By,
    Point,
    Slot,
    SpeechLog,
    Utterance,
    Watch,
    columns_of,
    projection,
    share_of_hits,
    to_json,
)
from snellen.metrics.streaming.slots import (
    answered_in_span,
    answered_in_span_any,
    answered_in_span_within,
    delay_censored,
    delay_mean,
    delay_median,
    early,
    late,
    silent,
    slots_dropped,
    slots_failed,
    span_auc,
)
from snellen.metrics.streaming.totals import (
    count_mae,
    count_right_time,
    count_skill,
    final_count,
    overcount,
    projected,
)

__all__ = [
    "METRICS",
    "WIDER",
    "By",
    "Point",
    "Slot",
    "SpeechLog",
    "Utterance",
    "Watch",
    "answered_in_span",
    "columns_of",
    "projection",
    "share_of_hits",
    "to_json",
]

METRICS: Mapping[str, Metric] = {
    "answered_in_span": answered_in_span,
    "answered_in_span_any": answered_in_span_any,
    "early": early,
    "late": late,
    "silent": silent,
    "delay_median": delay_median,
    "delay_mean": delay_mean,
    "delay_censored": delay_censored,
    "span_auc": span_auc,
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "false_alarms_per_min": false_alarms_per_min,
    "repeats": repeats,
    "unsolicited_per_hour": unsolicited_per_hour,
    "ambiguous": ambiguous,
    "acknowledgements": acknowledgements,
    **{f"answered_in_span_{by:.0f}s": answered_in_span_within(by) for by in WIDER},
    "count_mae": count_mae,
    "count_skill": count_skill,
    "count_right_time": count_right_time,
    "final_count": final_count,
    "overcount": overcount,
    "projected": projected,
    "slots_dropped": slots_dropped,
    "slots_failed": slots_failed,
}
"""All of them by the names they are reported under, the headline first."""
