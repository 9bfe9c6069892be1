"""Scores stored replies; asks nobody but judges.

Reads a run folder, or anybody's predictions, and gives a report: every scoring's metrics with their
intervals, and what became of every single reply. May import core, stores, metrics, and statistics.
Start with `tally.py`.
"""

from snellen.scoring.baselines import Common
from snellen.scoring.cost import spent
from snellen.scoring.document import (
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
from snellen.scoring.explain import Attempt, Explained, Explanation, explain_reply, explain_run
from snellen.scoring.freshness import (
    Rules,
    asks_notes,
    rules_of,
    stale_reasons,
    with_known_directions,
)
from snellen.scoring.probe_pairs import LETTERED, OPTIONS, ORDER, PASSES
from snellen.scoring.replies import Predicted, replies_of, score_predictions, score_run
from snellen.scoring.resolution import Resolved, resolve
from snellen.scoring.tally import Scored, ScoredRows, Tally, common_answer
from snellen.scoring.verdicts import averaged

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
    "with_known_directions",
]
