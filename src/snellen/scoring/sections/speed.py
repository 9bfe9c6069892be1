"""Reports how fast streamed replies arrived: the time to the first token, and the time per output
token after the first.

The time of the first token is known only for streamed replies (`stream = true` in a profile). The
time per output token is (total - first) / (output tokens - 1), as in vLLM's benchmark
(vllm-project/vllm@6e448d0: vllm/benchmarks/serve.py#L608-L611).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from snellen import stats
from snellen.scoring.columns import Column, Sparse
from snellen.scoring.document import Report, SpeedReport, TokenTimes
from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.verdicts import Finding


class SpeedSection:
    """Collects the times of streamed replies, except replies that were taken from another run."""

    def __init__(self, scorer: Scorer) -> None:
        self._times = Sparse()
        self.columns: Sequence[Column] = (self._times,)

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        reply = scored.reply
        if reply is None or scored.reused or reply.times is None or reply.times.token is None:
            return
        first, total = reply.times.token, reply.times.total
        output = None if reply.usage is None else reply.usage.output
        per_token = None
        if total is not None and output is not None and output > 1:
            per_token = max(0.0, total - first) / (output - 1)
        self._times.append(row, (first, per_token))

    def summarize(self, draft: Draft) -> Part:
        firsts = [first for first, _ in self._times.data]
        first_token = _times(firsts)
        if first_token is None:
            return NOTHING
        rates = [per_token for _, per_token in self._times.data if per_token is not None]
        return {"speed": SpeedReport(first_token=first_token, per_token=_times(rates))}, ()


def _times(values: Sequence[float]) -> TokenTimes | None:
    if not values:
        return None
    rising = sorted(values)
    return TokenTimes(
        n=len(rising), median=stats.nearest_rank(rising, 0.5), p95=stats.nearest_rank(rising, 0.95)
    )


def speed_facts(report: Report) -> Iterator[tuple[str, str]]:
    """Yield labels and texts on the time to the first token, and the time per output token."""
    speed = report.speed
    if speed is None:
        return
    first, per_token = speed.first_token, speed.per_token
    text = f"median {first.median:.3f} s, p95 {first.p95:.3f} s (n {first.n:,})"
    yield "time to first token", text
    if per_token is not None:
        median, p95 = 1000 * per_token.median, 1000 * per_token.p95
        yield (
            "time per output token",
            f"median {median:.2f} ms, p95 {p95:.2f} ms (n {per_token.n:,})",
        )
