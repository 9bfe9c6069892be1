"""Reports how questions were answered with tools: steps, calls, tokens, and time per question, and
how the questions ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from snellen.scoring.columns import Column, Sparse
from snellen.scoring.document import MetricReport, Report, ToolsReport, metric_report
from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.sections._amounts import mean_amount
from snellen.scoring.verdicts import Finding
from snellen.store import REPORT, Run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REASONS = {
    "steps": "used up the steps (--max-steps)",
    "budget": "used up the tokens (--question-tokens)",
    "malformed": "made only malformed calls in the last three replies",
}
"""Why questions ended without an answer, in words."""


class ToolsSection:
    """Reports on questions with tools that have a reply."""

    def __init__(self, scorer: Scorer) -> None:
        self._facts = Sparse()
        self.columns: Sequence[Column] = (self._facts,)

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        if scored.steps is not None:
            self._facts.append(row, scored.steps)

    def summarize(self, draft: Draft) -> Part:
        import numpy as np

        facts, headline = self._facts.data, draft.scorer.headline
        if not facts or headline is None:
            return NOTHING
        clusters = draft.rows(headline).columns.cluster[np.asarray(self._facts.rows)]

        def mean(name: str, unit: str) -> MetricReport | None:
            return _mean([getattr(fact, name) for fact in facts], clusters, unit)

        ended = Counter(fact.ended for fact in facts if fact.ended is not None)
        report = ToolsReport(
            ended={name: ended[name] for name in ("answered", *REASONS) if ended[name]},
            steps=mean("steps", "steps"),
            calls=mean("calls", "calls"),
            malformed=sum(fact.malformed for fact in facts),
            refused_calls=sum(fact.refused for fact in facts),
            unmade_calls=sum(fact.unmade for fact in facts),
            text_calls=sum(fact.has_text_call for fact in facts),
            tokens=mean("output_tokens", "tokens"),
            seconds=mean("seconds", "s"),
        )
        notes = [
            f"{ended[name]:,} of {len(facts):,} questions {words}; their last replies are scored"
            for name, words in REASONS.items()
            if ended[name]
        ]
        return {"tools": report}, [*notes, *text_call_notes(report)]


def text_call_notes(tools: ToolsReport) -> Iterator[str]:
    """Yield a note if models wrote calls as text in a run with native calls."""
    if tools.text_calls:
        yield (
            f"{tools.text_calls:,} of {sum(tools.ended.values()):,} questions ended with a tool "
            "call that the model wrote as text, so the call was not made. Start the server with a "
            "parser for the model's calls, or use --tool-form text"
        )


def _mean(
    values: Sequence[float | None], clusters: NDArray[np.int32], unit: str
) -> MetricReport | None:
    """The mean of the known values; None if no value is known."""
    import numpy as np

    is_known = np.array([value is not None for value in values])
    if not is_known.any():
        return None
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    return metric_report(mean_amount(known, clusters[is_known], unit))


def tools_facts(report: Report) -> Iterator[tuple[str, str]]:
    """Yield labels and texts on the steps, calls, tokens, and time per question with tools."""
    tools = report.tools
    if tools is None:
        return
    for label, metric, text in per_question(tools):
        yield label, f"{text} (n {metric.n:,})"
    yield from not_carried_out(tools)
    if tools.malformed:
        yield "malformed calls", f"{tools.malformed:,}"
    if tools.ended:
        yield "ended", ", ".join(f"{name} {count:,}" for name, count in tools.ended.items())


def per_question(tools: ToolsReport) -> Iterator[tuple[str, MetricReport, str]]:
    """Yield a label, the mean, and the mean with its interval as text, for each mean per question
    that is known."""
    for label, metric, digits in (
        ("steps per question", tools.steps, 2),
        ("calls per question", tools.calls, 2),
        ("output tokens per question", tools.tokens, 1),
        ("seconds per question", tools.seconds, 2),
    ):
        if metric is not None and metric.value is not None:
            interval = ""
            if metric.ci95 is not None:
                low, high = metric.ci95
                interval = f" [{low:,.{digits}f}, {high:,.{digits}f}]"
            yield label, metric, f"{metric.value:,.{digits}f}{interval}"


def not_carried_out(tools: ToolsReport) -> Iterator[tuple[str, str]]:
    """Yield labels and texts on the calls that were refused, and on those that were not carried out
    since the question had ended. Yield nothing if there are no calls, or if the report does not
    count these calls."""
    calls = tools.calls
    if calls is None or not calls.value or tools.refused_calls is None:
        return
    n = f"{round(calls.value * calls.n):,}"
    yield "refused calls", f"{tools.refused_calls:,} of {n}"
    if tools.unmade_calls:
        yield "calls after the last step", f"{tools.unmade_calls:,} of {n}"


def reported_tools(run: Run) -> ToolsReport | None:
    """The section in a run's stored report; None if the run has no readable report, or no steps."""
    raw = run.folder.get(REPORT)
    try:
        return None if raw is None else msgspec.json.decode(raw, type=_WithTools).tools
    except msgspec.DecodeError:
        return None


class _WithTools(msgspec.Struct):
    tools: ToolsReport | None = None
