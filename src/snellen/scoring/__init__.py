"""Scores stored replies; asks nobody.

Reads a run folder, or anybody's predictions, and gives a report: every scoring's metrics with their
intervals, and what became of every single reply.
"""

from snellen.scoring._baselines import Common
from snellen.scoring._explain import Attempt, Explained, Explanation, explain_reply, explain_run
from snellen.scoring._judged import averaged
from snellen.scoring._report import (
    AttemptReport,
    Baselines,
    CapabilityReport,
    Disagreement,
    JudgeReport,
    MetricReport,
    RepeatsReport,
    Report,
    ScoringReport,
    Seconds,
    Spent,
    SteeringReport,
    metric_report,
)
from snellen.scoring._run import Predicted, replies_of, score_predictions, score_run
from snellen.scoring._spent import spent
from snellen.scoring._tally import Scored, ScoredRows, Tally, common_answer

__all__ = [
    "Attempt",
    "AttemptReport",
    "Baselines",
    "CapabilityReport",
    "Common",
    "Disagreement",
    "Explained",
    "Explanation",
    "JudgeReport",
    "MetricReport",
    "Predicted",
    "RepeatsReport",
    "Report",
    "Scored",
    "ScoredRows",
    "ScoringReport",
    "Seconds",
    "Spent",
    "SteeringReport",
    "Tally",
    "averaged",
    "common_answer",
    "explain_reply",
    "explain_run",
    "metric_report",
    "replies_of",
    "score_predictions",
    "score_run",
    "spent",
]
