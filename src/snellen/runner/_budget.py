"""What may be spent; when it is, the run stops cleanly and can go on later."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from snellen.model import Usage


@dataclass(kw_only=True)
class Budget:
    """Limits on requests, money and seconds, shared by all runs of one call. Prices are for a
    million tokens."""

    max_requests: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None
    requests: int = 0
    cost: float = 0.0
    started: float = field(default_factory=monotonic)

    def pay(self, usage: Usage | None, prices: tuple[float, float] | None) -> None:
        """Count what a reply cost; `prices` are those of input and output."""
        if usage is not None and prices is not None:
            self.cost += (usage.input or 0) * prices[0] / 1e6 + (usage.output or 0) * prices[
                1
            ] / 1e6

    def spent(self) -> str | None:
        """Which limit has been reached, in words."""
        if self.max_requests is not None and self.requests >= self.max_requests:
            return f"the budget of {self.max_requests} requests is spent"
        if self.max_cost is not None and self.cost >= self.max_cost:
            return f"the budget of {self.max_cost:g} is spent ({self.cost:.4g})"
        if self.max_seconds is not None and monotonic() - self.started >= self.max_seconds:
            return f"the time budget of {self.max_seconds:g} s is spent"
        return None
