"""What the replies of runs took: tokens, money, time; from their journals and manifests alone."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Any

import msgspec

from snellen.core.model import Usage
from snellen.core.profile import Prices
from snellen.scoring.document import Report, Seconds, Spent
from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.sections._base import Base
from snellen.store import ReplyRecord, Run
from snellen.text.amounts import duration, money


class CostSection(Base):
    """The tokens, money, and time of a run's replies, and of each judge's."""

    def summarize(self, draft: Draft) -> Part:
        source = draft.source
        if source.run is None:
            return NOTHING
        return {"spent": spent([source.run]), "judging": dict(source.judging)}, ()


def spent(runs: Sequence[Run]) -> Spent | None:
    """What the replies of the runs took; None where none has a reply of its own.

    What failed attempts took nobody says, and replies taken from other runs took nothing. Prices
    are those that a run was last given.
    """
    costs = _Costs()
    for run in runs:
        manifest = run.manifest()
        prices = prices_of(manifest)
        starts = [_instant(session["started"]) for session in manifest.get("sessions", [])]
        ends = [*starts]
        for record in run.replies():
            if not isinstance(record, ReplyRecord):
                continue
            at = _instant(record.at)
            if session := bisect_right(starts, at):
                ends[session - 1] = max(ends[session - 1], at)
            if record.state != "failed" and record.reused is None:
                costs.add(record, prices)
            elif record.state != "failed":
                costs.began_elsewhere(record)
        costs.seconds += sum(ends) - sum(starts)
    return costs.report()


def prices_of(manifest: Mapping[str, Any]) -> Prices | None:
    """The prices that a run was last given."""
    price_tables = (
        session.get("profile", {}).get("prices") for session in manifest.get("sessions", [])
    )
    known = [prices for prices in price_tables if prices]
    return msgspec.convert(known[-1], Prices) if known else None


def _instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


class _Costs:
    def __init__(self) -> None:
        self.seconds = 0.0
        self._replies = self._questions = self._unsaid = 0
        self._elsewhere: set[tuple[str, int]] = set()
        self._tokens: Counter[str] = Counter()
        self._costs: dict[str, float] = {}
        self._priced = 0
        self._first: list[float] = []
        self._total: list[float] = []

    def began_elsewhere(self, record: ReplyRecord) -> None:
        """A question whose reply, or that to its first turns, was taken from another run."""
        self._elsewhere.add(record.key[:2])

    def add(self, record: ReplyRecord, prices: Prices | None) -> None:
        self._replies += 1
        # A conversation counts by its first turn, or by the first that was asked here.
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

    def report(self) -> Spent | None:
        if not self._replies:
            return None
        # Amounts in several currencies have no sum, nor those of a part of the replies.
        has_sum = len(self._costs) == 1 and self._priced == self._replies - self._unsaid
        currency, cost = next(iter(self._costs.items())) if has_sum else (None, None)
        return Spent(
            replies=self._replies,
            questions=self._questions,
            tokens=dict(self._tokens),
            unsaid=self._unsaid,
            cost=cost,
            currency=currency,
            seconds=round(self.seconds, 3),
            first=_seconds(self._first),
            total=_seconds(self._total),
        )


def _seconds(values: Sequence[float]) -> Seconds | None:
    if not values:
        return None
    rising = sorted(values)
    return Seconds(mean=fmean(rising), p50=_quantile(rising, 0.5), p90=_quantile(rising, 0.9))


def _quantile(rising: Sequence[float], share: float) -> float:
    """The least value that so large a share of all does not pass (nearest rank)."""
    return rising[math.ceil(share * len(rising)) - 1]


def cost_facts(report: Report) -> Iterator[tuple[str, str]]:
    """(what, how much): the tokens, money and time that the replies took, and each judge's."""
    if report.spent is not None:
        yield from _spent(report.spent)
    for judge, its in report.judging.items():
        for what, said in _spent(its):
            yield f"{judge} as judge, {what}", said


def _spent(took: Spent) -> Iterator[tuple[str, str]]:
    """(what, how much): tokens and money of all replies (and of a question), and time."""
    counted = took.replies - took.unsaid
    each = took.questions * counted / took.replies  # questions, without those that nobody counted
    of = f", of {counted:,} of {took.replies:,} replies" if took.unsaid else ""
    if counted:
        parts = (f"{n:,} {name} ({n / each:,.1f})" for name, n in took.tokens.items())
        yield "tokens (a question)", f"{', '.join(parts)}{of}"
    if took.cost is not None:
        all_of_it, one = money(took.cost, took.currency), money(took.cost / each, took.currency)
        yield "cost (a question)", f"{all_of_it} ({one}){of}"
    if took.total is not None:
        said = f"{took.total.p50:.2f} s, nine of ten within {took.total.p90:.2f} s"
        if took.first is not None:
            said += f"; first byte {took.first.p50:.2f} s, {took.first.p90:.2f} s"
        yield "a request", said
    yield "time", duration(took.seconds)
