"""Converts the rows of one scoring to the form that metrics use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from snellen import stats
from snellen.core.scoring import READING_STATES
from snellen.metrics import Category, Columns
from snellen.scoring.document import MetricReport, metric_report
from snellen.scoring.table import READING_CODES, FindingColumns, ScoreTable
from snellen.scoring.verdicts import averaged
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class ScoredRows:
    """The rows of one scoring, with masks (n,). Rows with a hidden answer are False in all
    masks."""

    columns: Columns
    """All rows. The scores are None if the scoring does not score single replies."""
    in_mean: NDArray[np.bool_]
    """The mask of rows that count in the metrics."""
    unknown: NDArray[np.bool_]
    """The mask of rows that failed, were refused, or wait for a judge."""
    absent: NDArray[np.bool_]
    """The mask of rows without a reply in a file of predictions."""
    refused: NDArray[np.bool_]
    """The mask of rows whose reply the service withheld."""
    parts: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """Maps the name of each part of the score to an array (n,), with nan for rows without this
    part."""


def scored_rows(
    table: ScoreTable, name: str, shared: Columns, slot: FindingColumns | None = None
) -> ScoredRows:
    """Build the rows of a scoring. `shared` contains the columns that all scorings share. If `slot`
    is given, only the findings in `slot`, which result from one judge's verdicts, are used."""
    import numpy as np

    findings = slot or table.findings[name]
    scorer = table.scorer
    scoring = scorer.benchmark.scorings[name]
    metric_columns = _columns(shared, findings)
    has_score = findings.has_score
    failed = table.has_reply_state("failed")
    refused = table.has_reply_state("refused")
    absent = table.has_reply_state("absent")
    states = metric_columns.state.codes
    hidden, unjudged = (states == READING_CODES[state] for state in ("no-target", "not-judged"))
    # A question without a reply counts as 0 only if single replies have scores.
    replied = ~(failed | refused | absent | hidden)
    if unjudged.any() or (has_score[replied] if replied.any() else has_score).any():
        in_mean = has_score
    else:
        metric_columns = replace(metric_columns, score=None)
        in_mean = ~hidden
        if not scoring.zero_is_wrong:
            in_mean &= ~refused
        if scorer.missing != "wrong":
            in_mean &= ~failed
        if (scorer.missing or scoring.missing) != "wrong":
            in_mean &= ~absent
    no_reply = has_score & (states == READING_CODES["no-reply"])
    return ScoredRows(
        columns=metric_columns,
        in_mean=in_mean,
        unknown=(failed | refused | unjudged) & ~hidden,
        absent=absent & ~hidden,
        refused=refused & ~hidden,
        # A missing reply that counts as wrong is wrong in every part.
        parts={part: np.where(no_reply, 0.0, values) for part, values in findings.parts.items()},
    )


def rows_by_slot(table: ScoreTable, name: str, shared: Columns) -> list[ScoredRows]:
    """Build the rows of a scoring separately for each judge; empty if there are fewer than two
    judges."""
    slots = table.findings[name].by_slot()
    return [scored_rows(table, name, shared, slot) for slot in slots]


def share_of_best(
    by_judge: Sequence[ScoredRows], of: NDArray[np.bool_], best: float
) -> MetricReport:
    """The mean score of some rows as a fraction of the best score, averaged over judges."""
    return averaged([{"": metric_report(_mean(rows, of, best))} for rows in by_judge])[""]


def _mean(rows: ScoredRows, of: NDArray[np.bool_], best: float) -> Estimate:
    of, columns = of & rows.in_mean, rows.columns
    if columns.score is None:
        return Estimate(value=None, n=0, reason="only the whole set has a score")
    return stats.mean(columns.score[of] / best, columns.cluster[of])


def _columns(shared: Columns, findings: FindingColumns) -> Columns:
    state = Category(codes=findings.state_codes, names=READING_STATES)
    return replace(
        shared, score=findings.scores.values, answer=findings.answers.values, state=state
    )
