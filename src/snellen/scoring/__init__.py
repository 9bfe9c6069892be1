"""Scores stored replies; judges are the only models that it asks.

It reads a run folder or a file of predictions and returns a report: the metrics of every scoring
with their intervals, and the outcome of every reply. May import core, stores, metrics, and
statistics. Start with `tally.py`: a reply goes through `scorer.py` into the table of `table.py`,
and a file in `sections/` makes each part of the report.
"""

from snellen.scoring.document import (
    AttemptReport,
    Baselines,
    CapabilityReport,
    CostReport,
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
    SteeringReport,
    metric_report,
)
from snellen.scoring.explain import Attempt, Explained, Explanation, explain_reply, explain_run
from snellen.scoring.freshness import (
    SOURCE_CHANGED,
    SOURCE_DIFFERS,
    Rules,
    StoredWith,
    asks_notes,
    rules_of,
    stale_reasons,
    with_known_directions,
)
from snellen.scoring.predictions import Predicted
from snellen.scoring.replies import Scored, replies_of
from snellen.scoring.resolution import Resolved, resolve
from snellen.scoring.rows import ScoredRows
from snellen.scoring.score import score_predictions, score_run
from snellen.scoring.scorer import Scorer
from snellen.scoring.sections.baselines import Common, common_answer
from snellen.scoring.sections.cost import cost_of
from snellen.scoring.sections.probe import LETTERED, OPTIONS, ORDER, PASSES
from snellen.scoring.table import ScoreTable
from snellen.scoring.tally import Tally
from snellen.scoring.verdicts import averaged

__all__ = [
    "LETTERED",
    "OPTIONS",
    "ORDER",
    "PASSES",
    "SOURCE_CHANGED",
    "SOURCE_DIFFERS",
    "Attempt",
    "AttemptReport",
    "Baselines",
    "CapabilityReport",
    "Common",
    "CostReport",
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
    "ScoreTable",
    "Scored",
    "ScoredRows",
    "Scorer",
    "ScoringReport",
    "Seconds",
    "SliceReport",
    "SteeringReport",
    "StoredWith",
    "Tally",
    "asks_notes",
    "averaged",
    "common_answer",
    "cost_of",
    "explain_reply",
    "explain_run",
    "metric_report",
    "replies_of",
    "resolve",
    "rules_of",
    "score_predictions",
    "score_run",
    "stale_reasons",
    "with_known_directions",
]
