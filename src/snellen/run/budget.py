"""Limits the requests, the cost, and the time of runs. When a budget is used up, the run stops
cleanly and can be resumed later."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from snellen.run.progress import Progress


@dataclass(kw_only=True)
class Budget:
    """Limits that all runs of one invocation share. Earlier invocations do not count toward the
    limits."""

    max_requests: int | None = None
    """The maximum number of requests; None: no limit."""
    max_cost: float | None = None
    """The maximum cost, in the currency of the prices; None: no limit."""
    max_seconds: float | None = None
    """The maximum time in seconds; None: no limit."""
    runs: list[Progress] = field(default_factory=list)
    """The runs that share the limits."""
    started: float = field(default_factory=monotonic)
    """The start time, in seconds on the monotonic clock."""

    def reached_limit(self) -> str | None:
        """Describe the limit on requests or cost that has been reached; None if no limit has been
        reached.

        Each request in flight is assumed to cost as much as the mean of its run's replies so far,
        because the requests in flight could otherwise exceed the limit together.
        """
        most = self.max_requests
        if most is not None and sum(run.requests for run in self.runs) >= most:
            return f"the budget of {most} requests is used up"
        if self.max_cost is None:
            return None
        cost = sum(run.cost for run in self.runs)
        under_way = sum(run.in_flight * (run.mean_cost or 0.0) for run in self.runs)
        if cost + under_way >= self.max_cost:
            more = f", and about {under_way:.4g} for requests in flight" if under_way else ""
            return f"the budget of {self.max_cost:g} is used up ({cost:.4g} spent{more})"
        if any(run.unpriced for run in self.runs):
            return (
                "the server does not report the number of tokens of a reply, so --max-cost cannot "
                "be enforced; use --max-requests instead"
            )
        return None

    def seconds_left(self) -> float | None:
        """Seconds until the time budget is used up; None if there is no time budget."""
        if self.max_seconds is None:
            return None
        return self.max_seconds - (monotonic() - self.started)
