"""Computes the cost of a run's replies in tokens, money, and time, from journals and manifests."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Any

import msgspec
from msgspec import UNSET

from snellen import stats
from snellen.core.model import Usage
from snellen.core.profile import Prices
from snellen.scoring.document import CostReport, Report, Seconds
from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.sections._base import Base
from snellen.store import REPORT, ReplyRecord, Run
from snellen.text.amounts import duration, money


class CostSection(Base):
    """Reports the tokens, money, and time that a run's replies and each judge's replies took."""

    def summarize(self, draft: Draft) -> Part:
        source = draft.source
        if source.run is None:
            return NOTHING
        return {"spent": cost_of([source.run]), "judging": dict(source.judging)}, ()


def cost_of(runs: Sequence[Run]) -> CostReport | None:
    """Compute the cost of the replies of these runs; None if there are no replies, except replies
    that were taken from other runs.

    The cost of failed attempts is unknown, and replies taken from other runs cost nothing. For each
    run, the latest prices in its manifest apply.
    """
    costs = _Costs()
    for run in runs:
        manifest = run.manifest()
        prices = prices_of(manifest)
        spans = _Spans(_instant(session["started"]) for session in manifest.get("sessions", []))
        for record in run.replies():
            if not isinstance(record, ReplyRecord):
                continue
            spans.add(_instant(record.at), _duration(record))
            costs.failed += record.state == "failed"
            if record.state != "failed" and record.reused is None:
                costs.add(record, prices)
            elif record.state != "failed":
                costs.began_elsewhere(record)
        is_online = next(run.events(), None) is not None
        for window in run.windows() if is_online else ():
            seconds = 0.0 if window.streamed is UNSET else window.streamed.seconds
            spans.add(_instant(window.at), seconds)
        costs.seconds += spans.seconds
    return costs.report()


class _Spans:
    """Measures how long each invocation of a run asked questions: from its first request to its
    last record."""

    def __init__(self, starts: Iterable[float]) -> None:
        self._starts = [*starts]
        self._begins = [math.inf for _ in self._starts]
        self._ends = [-math.inf for _ in self._starts]

    def add(self, at: float, seconds: float) -> None:
        """Add a record that was stored at this time, after the model worked for this long."""
        if number := bisect_right(self._starts, at):
            self._ends[number - 1] = max(self._ends[number - 1], at)
            sent = max(at - seconds, self._starts[number - 1])
            self._begins[number - 1] = min(self._begins[number - 1], sent)

    @property
    def seconds(self) -> float:
        """The sum over all invocations, in seconds."""
        spans = zip(self._begins, self._ends, strict=True)
        return sum(end - begin for begin, end in spans if begin < end)


def prices_of(manifest: Mapping[str, Any]) -> Prices | None:
    """The latest prices of a run; None if none of its profiles has prices."""
    price_tables = (
        session.get("profile", {}).get("prices") for session in manifest.get("sessions", [])
    )
    known = [prices for prices in price_tables if prices]
    return msgspec.convert(known[-1], Prices) if known else None


def _duration(record: ReplyRecord) -> float:
    """The duration of a request, in seconds; 0 if it is unknown, or if another run sent the
    request."""
    if record.times is None or record.times.total is None or record.reused is not None:
        return 0.0
    return record.times.total


def _instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


class _Costs:
    def __init__(self) -> None:
        self.seconds = 0.0
        self.failed = 0
        self._replies = self._questions = self._unsaid = 0
        self._elsewhere: set[tuple[str, int]] = set()
        self._tokens: Counter[str] = Counter()
        self._costs: dict[str, float] = {}
        self._priced = 0
        self._first: list[float] = []
        self._total: list[float] = []

    def began_elsewhere(self, record: ReplyRecord) -> None:
        """Record a question that is answered, at least in part, by replies from another run."""
        self._elsewhere.add(record.key[:2])

    def add(self, record: ReplyRecord, prices: Prices | None) -> None:
        self._replies += 1
        # A conversation counts once: at its first turn, or at the first turn asked in this run. A
        # question that is asked again with more tokens counts at its first reply.
        if record.cut_at is None:
            self._questions += record.key.is_first or record.key[:2] in self._elsewhere
        self._elsewhere.discard(record.key[:2])
        if (times := record.times) is not None:
            self._first += [] if times.first is None else [times.first]
            self._total += [] if times.total is None else [times.total]
        counts = record.usage
        if counts is None or counts.input is None or counts.output is None:
            self._unsaid += 1
            return
        usage = Usage(
            input=counts.input,
            output=counts.output,
            reasoning=counts.reasoning,
            cached=counts.cached,
        )
        for name, n in vars(usage).items():
            if n is not None:
                self._tokens[name] += n
        cost = None if prices is None else prices.cost(usage)
        if prices is not None and cost is not None:
            self._priced += 1
            self._costs[prices.currency] = self._costs.get(prices.currency, 0.0) + cost

    def report(self) -> CostReport | None:
        if not self._replies:
            return None
        # There is no total cost if there are several currencies, or if a price is unknown.
        has_sum = len(self._costs) == 1 and self._priced == self._replies - self._unsaid
        currency, cost = next(iter(self._costs.items())) if has_sum else (None, None)
        return CostReport(
            replies=self._replies,
            questions=self._questions,
            tokens=dict(self._tokens),
            unsaid=self._unsaid,
            cost=cost,
            currency=currency,
            seconds=round(self.seconds, 3),
            first=_seconds(self._first),
            total=_seconds(self._total),
            failed_attempts=self.failed,
        )


def _seconds(values: Sequence[float]) -> Seconds | None:
    if not values:
        return None
    rising = sorted(values)
    return Seconds(
        mean=fmean(rising), p50=stats.nearest_rank(rising, 0.5), p90=stats.nearest_rank(rising, 0.9)
    )


def cost_facts(report: Report) -> Iterator[tuple[str, str]]:
    """Yield labels and texts on the tokens, money, and time of the model's replies and of each
    judge's replies."""
    if report.spent is not None:
        yield from _facts(report.spent)
    for judge, cost in report.judging.items():
        for label, text in _facts(cost):
            yield f"{judge} as judge, {label}", text


def cost_per_question(cost: CostReport) -> float | None:
    """The mean cost per question, in `cost.currency`, over the questions with a known number of
    tokens; None if the cost is unknown."""
    questions = _counted_questions(cost)
    return None if cost.cost is None or not questions else cost.cost / questions


def cost_texts(cost: CostReport | None) -> tuple[str, str]:
    """Format the cost per question and the median request time as texts. A text is empty if its
    value is unknown."""
    if cost is None:
        return "", ""
    per_question = cost_per_question(cost)
    return (
        "" if per_question is None else money(per_question, cost.currency),
        "" if cost.total is None else f"{cost.total.p50:.2f} s",
    )


def stored_cost(run: Run) -> CostReport | None:
    """The cost in a run's stored report; None if the run has no readable report."""
    raw = run.folder.get(REPORT)
    try:
        return None if raw is None else msgspec.json.decode(raw, type=_WithCost).spent
    except msgspec.DecodeError:
        return None


class _WithCost(msgspec.Struct):
    spent: CostReport | None = None


def _counted_questions(cost: CostReport) -> float:
    """The number of questions with a known number of tokens."""
    return cost.questions * (cost.replies - cost.unsaid) / cost.replies


def _facts(cost: CostReport) -> Iterator[tuple[str, str]]:
    """Yield labels and texts on tokens and money, in total and per question, and on the time."""
    counted = cost.replies - cost.unsaid
    questions = _counted_questions(cost)
    of = f", of {counted:,} of {cost.replies:,} replies" if cost.unsaid else ""
    if counted:
        sums = (f"{n:,} {kind} ({n / questions:,.1f})" for kind, n in cost.tokens.items())
        yield "tokens (per question)", f"{', '.join(sums)}{of}"
    if cost.cost is not None and (per_question := cost_per_question(cost)) is not None:
        total = money(cost.cost, cost.currency)
        yield "cost (per question)", f"{total} ({money(per_question, cost.currency)}){of}"
    if cost.total is not None:
        text = f"median {cost.total.p50:.2f} s, p90 {cost.total.p90:.2f} s"
        if cost.first is not None:
            text += f"; first byte {cost.first.p50:.2f} s, p90 {cost.first.p90:.2f} s"
        if cost.in_flight is not None:
            text += f"; {cost.in_flight:.1f} requests in flight on average"
        yield "request time", text
    if cost.failed_attempts:
        requests = cost.replies + cost.failed_attempts
        yield "failed requests", f"{cost.failed_attempts:,} of {requests:,}, sent again or given up"
    yield "time", duration(cost.seconds)
