"""Scores stored replies; asks nobody.

Reads a run folder, or anybody's predictions, and gives a report: every scoring's metrics with their
intervals, and what became of every single reply.
"""

from snellen.scoring._baselines import Common
from snellen.scoring._explain import Attempt, Explained, Explanation, explain_reply, explain_run
from snellen.scoring._freshness import Rules, asks_notes, rules_of, stale_reasons
from snellen.scoring._judged import averaged
from snellen.scoring._probed import LETTERED, OPTIONS, ORDER, PASSES
from snellen.scoring._report import (
    AttemptReport,
    Baselines,
    CapabilityReport,
    Disagreement,
    JudgeReport,
    MetricReport,
    PlaceReport,
    ProbeReport,
    RepeatsReport,
    Report,
    ScoringReport,
    Seconds,
    SliceReport,
    Spent,
    SteeringReport,
    metric_report,
)
from snellen.scoring._resolve import Resolved, resolve
from snellen.scoring._run import Predicted, replies_of, score_predictions, score_run
from snellen.scoring._spent import spent
from snellen.scoring._tally import Scored, ScoredRows, Tally, common_answer

__all__ = [
    "LETTERED",
    "OPTIONS",
    "ORDER",
    "PASSES",
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
    "PlaceReport",
    "Predicted",
    "ProbeReport",
    "RepeatsReport",
    "Report",
    "Resolved",
    "Rules",
    "Scored",
    "ScoredRows",
    "ScoringReport",
    "Seconds",
    "SliceReport",
    "Spent",
    "SteeringReport",
    "Tally",
    "asks_notes",
    "averaged",
    "common_answer",
    "explain_reply",
    "explain_run",
    "metric_report",
    "replies_of",
    "resolve",
    "rules_of",
    "score_predictions",
    "score_run",
    "spent",
    "stale_reasons",
]
