"""Reports the number of output tokens, including reasoning, per reply and per correct answer.

For the number of tokens per correct answer, the output tokens of all replies that count in the
headline are added up and divided by the number of correct answers. If answers can be partly
correct, the number of correct answers is the sum of the scores divided by the best score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from snellen import stats
from snellen.scoring.columns import Column, Numbers
from snellen.scoring.document import MetricReport, Report, TokenReport, metric_report
from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.sections._amounts import mean_amount
from snellen.scoring.verdicts import Finding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNIT = "tokens"
RESAMPLES = 1_000
NOT_KNOWN = -1


class TokensSection:
    """Reports the output tokens of the replies that count in the headline."""

    def __init__(self, scorer: Scorer) -> None:
        self._output = Numbers("q")
        self.columns: Sequence[Column] = (self._output,)

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        usage = None if scored.reply is None else scored.reply.usage
        output = None if usage is None else usage.output
        if scored.steps is not None:
            output = scored.steps.output_tokens
        self._output.append(NOT_KNOWN if output is None else output)

    def summarize(self, draft: Draft) -> Part:
        import numpy as np

        headline = draft.scorer.headline
        if headline is None:
            return NOTHING
        rows = draft.rows(headline)
        output = self._output.values
        counted = (output != NOT_KNOWN) & rows.in_mean
        if not counted.any():
            return NOTHING
        tokens = output[counted].astype(np.float64)
        clusters = rows.columns.cluster[counted]
        per_reply = mean_amount(tokens, clusters, UNIT)
        per_correct = None
        if rows.columns.score is not None:
            correct = rows.columns.score[counted] / draft.best
            per_correct = _per_correct(tokens, correct, clusters)
        report = TokenReport(per_reply=metric_report(per_reply), per_correct=per_correct)
        return {"output_tokens": report}, ()


def _per_correct(
    tokens: NDArray[np.float64], correct: NDArray[np.float64], clusters: NDArray[np.int32]
) -> MetricReport:
    """Compute Σ tokens / Σ correct over rows (n,), with an interval from resampled clusters."""
    import numpy as np

    if not correct.sum() > 0:
        estimate = stats.Estimate(value=None, unit=UNIT, n=len(tokens), reason="no correct answer")
        return metric_report(estimate)
    _, codes = np.unique(clusters, return_inverse=True)
    sums = np.zeros((int(codes.max()) + 1, 2))
    np.add.at(sums, codes, np.stack([tokens, correct], axis=1))

    def aggregate(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        values: NDArray[np.float64] = totals[:, 0] / np.where(
            totals[:, 1] > 0, totals[:, 1], np.nan
        )
        return values

    return metric_report(
        stats.bootstrap_sums(sums, aggregate, n=len(tokens), unit=UNIT, resamples=RESAMPLES)
    )


def tokens_facts(report: Report) -> Iterator[tuple[str, str]]:
    """Yield labels and texts on the output tokens per reply, and per correct answer."""
    if report.output_tokens is None:
        return
    yield "output tokens per reply", _amount(report.output_tokens.per_reply)
    if report.output_tokens.per_correct is not None:
        yield "output tokens per correct answer", _amount(report.output_tokens.per_correct)


def _amount(metric: MetricReport) -> str:
    if metric.value is None:
        return f"- ({metric.reason})"
    interval = "" if metric.ci95 is None else " [{:,.1f}, {:,.1f}]".format(*metric.ci95)
    return f"{metric.value:,.1f}{interval} (n {metric.n:,})"
