"""Scores stored replies. This package sends no requests to models.

The input is a run folder or a file of predictions. The output is a report with every scoring's
metrics and their intervals, and with the outcome of every reply. This package may import core,
stores, metrics, and statistics.

Start with `tally.py`. `scorer.py` scores each reply, `table.py` holds the table of all replies, and
each file in `sections/` writes one part of the report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import lazy

if TYPE_CHECKING:
    from snellen.scoring.document import (
        AttemptReport as AttemptReport,
        Baselines as Baselines,
        CapabilityReport as CapabilityReport,
        CostReport as CostReport,
        Disagreement as Disagreement,
        JudgeReport as JudgeReport,
        MetricReport as MetricReport,
        PlaceReport as PlaceReport,
        ProbeReport as ProbeReport,
        RepeatsReport as RepeatsReport,
        Report as Report,
        ScoringReport as ScoringReport,
        Seconds as Seconds,
        SliceReport as SliceReport,
        SteeringReport as SteeringReport,
        ToolsReport as ToolsReport,
        metric_report as metric_report,
    )
    from snellen.scoring.explain import (
        Attempt as Attempt,
        Explained as Explained,
        Explanation as Explanation,
        explain_reply as explain_reply,
        explain_run as explain_run,
    )
    from snellen.scoring.explained_calls import ExplainedCall as ExplainedCall
    from snellen.scoring.file_questions import FileQuestions as FileQuestions
    from snellen.scoring.freshness import (
        SOURCE_CHANGED as SOURCE_CHANGED,
        SOURCE_DIFFERS as SOURCE_DIFFERS,
        Rules as Rules,
        StoredWith as StoredWith,
        asks_notes as asks_notes,
        rules_of as rules_of,
        stale_reasons as stale_reasons,
        with_known_directions as with_known_directions,
    )
    from snellen.scoring.judged_by import (
        JudgedBy as JudgedBy,
        is_authors_judge as is_authors_judge,
    )
    from snellen.scoring.predictions import Predicted as Predicted
    from snellen.scoring.qualification import (
        THRESHOLDS as THRESHOLDS,
        Criterion as Criterion,
        Qualification as Qualification,
        VerdictAgreement as VerdictAgreement,
        VerdictPair as VerdictPair,
        measure as measure,
    )
    from snellen.scoring.replies import Scored as Scored, replies_of as replies_of
    from snellen.scoring.resolution import Resolved as Resolved, resolve as resolve
    from snellen.scoring.rows import ScoredRows as ScoredRows
    from snellen.scoring.score import score_predictions as score_predictions, score_run as score_run
    from snellen.scoring.scorer import Scorer as Scorer
    from snellen.scoring.sections.baselines import Common as Common, common_answer as common_answer
    from snellen.scoring.sections.cost import cost_of as cost_of
    from snellen.scoring.sections.disagreements import ROBUST as ROBUST
    from snellen.scoring.sections.probe import (
        LETTERED as LETTERED,
        OPTIONS as OPTIONS,
        ORDER as ORDER,
        PASSES as PASSES,
    )
    from snellen.scoring.table import ScoreTable as ScoreTable
    from snellen.scoring.tally import Tally as Tally
    from snellen.scoring.verdicts import averaged as averaged

_FILES = {
    "LETTERED": "sections.probe",
    "OPTIONS": "sections.probe",
    "ORDER": "sections.probe",
    "PASSES": "sections.probe",
    "SOURCE_CHANGED": "freshness",
    "SOURCE_DIFFERS": "freshness",
    "Attempt": "explain",
    "AttemptReport": "document",
    "Baselines": "document",
    "CapabilityReport": "document",
    "Common": "sections.baselines",
    "CostReport": "document",
    "Criterion": "qualification",
    "Disagreement": "document",
    "Explained": "explain",
    "ExplainedCall": "explained_calls",
    "Explanation": "explain",
    "FileQuestions": "file_questions",
    "JudgeReport": "document",
    "JudgedBy": "judged_by",
    "MetricReport": "document",
    "PlaceReport": "document",
    "Predicted": "predictions",
    "ProbeReport": "document",
    "Qualification": "qualification",
    "RepeatsReport": "document",
    "ROBUST": "sections.disagreements",
    "Report": "document",
    "Resolved": "resolution",
    "Rules": "freshness",
    "ScoreTable": "table",
    "Scored": "replies",
    "ScoredRows": "rows",
    "Scorer": "scorer",
    "ScoringReport": "document",
    "Seconds": "document",
    "SliceReport": "document",
    "SteeringReport": "document",
    "StoredWith": "freshness",
    "THRESHOLDS": "qualification",
    "Tally": "tally",
    "ToolsReport": "document",
    "VerdictAgreement": "qualification",
    "VerdictPair": "qualification",
    "asks_notes": "freshness",
    "averaged": "verdicts",
    "common_answer": "sections.baselines",
    "cost_of": "sections.cost",
    "explain_reply": "explain",
    "explain_run": "explain",
    "is_authors_judge": "judged_by",
    "measure": "qualification",
    "metric_report": "document",
    "replies_of": "replies",
    "resolve": "resolution",
    "rules_of": "freshness",
    "score_predictions": "score",
    "score_run": "score",
    "stale_reasons": "freshness",
    "with_known_directions": "freshness",
}
__all__ = [*_FILES]
__getattr__ = lazy.attributes(__name__, _FILES)
