"""Metrics of models that watch a video: what a model says, and when.

A query, which is a question about a video, is open from the time `asked` to the time `end`. A query
has slots, each with a window of time in which the model should say something. The model answers
with messages, each of which begins at the time `onset` and ends at the time `done`. A query may
also have poll points, the times at which a model that speaks only when it is asked would be asked
for its current answer. All times are positions in the video in seconds, not clock times. A metric
reads `columns.target` (a `Watch` as JSON) and `columns.answer` (a `SpeechLog` as JSON) of each row.

A message is in the window from w0 to w1 if onset >= w0 and done <= w1. A message that begins before
w0 cannot be based on the evidence in the window, and a message that is unfinished at w1 is too
late. If a slot has a number, only messages with that number count for it; for a slot without a
number, every message counts. The first message that counts decides the outcome of the slot:

    hit      the message is in the window
    early    the message begins before w0
    late     the message begins at w0 or later, but ends after w1
    silent   there is no such message

Only messages that begin while the query is open count for slots. All other messages are counted by
`unsolicited_per_hour`.

If a row has no answer, the metrics use the row's score. If the score is 1, every slot counts as
answered on time, and every poll point as right. If the score is 0, the model counts as silent, and
every poll point as wrong. Unparsed and refused replies therefore count as wrong. The bounds of an
incomplete result are computed in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping

from snellen.metrics._metric import Metric
from snellen.metrics.streaming.decoys import DECOY_METRICS, score_of_decoy
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
    "DECOY_METRICS",
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
    "score_of_decoy",
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
"""All metrics, keyed by the name under which they are reported. The headline metric is first."""
