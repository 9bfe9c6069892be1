"""Budgets. When one is used up, the run stops cleanly and can be resumed later."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from snellen.run.progress import Progress


@dataclass(kw_only=True)
class Budget:
    """Limits that all runs of one call share. Earlier calls do not count."""

    max_requests: int | None = None
    """The most requests; None: no limit."""
    max_cost: float | None = None
    """The highest cost, in the currency of the prices; None: no limit."""
    max_seconds: float | None = None
    """The longest time in seconds; None: no limit."""
    runs: list[Progress] = field(default_factory=list)
    """The runs that share the limits."""
    started: float = field(default_factory=monotonic)
    """When the call started, by the monotonic clock in seconds."""

    def reached_limit(self) -> str | None:
        """The limit on requests or money that has been reached, in words.

        Requests in flight count at the mean cost of their run's replies so far. Otherwise all of
        them together would exceed the limit.
        """
        most = self.max_requests
        if most is not None and sum(run.requests for run in self.runs) >= most:
            return f"the budget of {most} requests is spent"
        if self.max_cost is None:
            return None
        cost = sum(run.cost for run in self.runs)
        under_way = sum(run.in_flight * (run.mean_cost or 0.0) for run in self.runs)
        if cost + under_way >= self.max_cost:
            more = f", and about {under_way:.4g} more is under way" if under_way else ""
            return f"the budget of {self.max_cost:g} is spent ({cost:.4g}{more})"
        if any(run.unpriced for run in self.runs):
            return (
                "the server does not say how many tokens a reply took, so that --max-cost cannot "
                "be kept (--max-requests can)"
            )
        return None

    def seconds_left(self) -> float | None:
        """Seconds until the time budget is used up; None if there is none."""
        if self.max_seconds is None:
            return None
        return self.max_seconds - (monotonic() - self.started)
