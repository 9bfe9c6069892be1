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
    unpriced: int = 0
    started: float = field(default_factory=monotonic)

    def pay(self, usage: Usage | None, prices: tuple[float, float] | None) -> None:
        """Count what a reply cost; `prices` are those of input and output."""
        if prices is None:
            return
        if usage is None or usage.input is None or usage.output is None:
            self.unpriced += 1
        else:
            self.cost += (usage.input * prices[0] + usage.output * prices[1]) / 1e6

    def spent(self) -> str | None:
        """Which limit on requests or money has been reached, in words."""
        if self.max_requests is not None and self.requests >= self.max_requests:
            return f"the budget of {self.max_requests} requests is spent"
        if self.max_cost is not None and self.cost >= self.max_cost:
            return f"the budget of {self.max_cost:g} is spent ({self.cost:.4g})"
        if self.max_cost is not None and self.unpriced:
            return (
                "the server does not say how many tokens a reply took, so that --max-cost cannot "
                "be kept (--max-requests can)"
            )
        return None

    def seconds_left(self) -> float | None:
        """Seconds until the time budget is spent; None without one."""
        if self.max_seconds is None:
            return None
        return self.max_seconds - (monotonic() - self.started)
