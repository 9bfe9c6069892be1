"""The progress of a run, as numbers; other code displays them."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from snellen.core.model import Usage
from snellen.core.profile import Prices


@dataclass
class Progress:
    """The progress of one run. `total`, `done`, and `failed` count (sample, repeat) pairs.

    `videos` of `videos_total` are finished, if questions share videos. `score` is the running mean
    of the headline scoring, if it scores single samples: over `score_n` replies, and the
    `refused` ones, which count as wrong. `cost` is that of the `priced` replies; `unpriced` replies
    have no token counts although the model has `prices`. `notes` are shown when they arrive, and
    the first ones before anything else.
    """

    name: str
    total: int | None = None
    notes: tuple[str, ...] = ()
    kept: int = 0
    reused: int = 0
    done: int = 0
    failed: int = 0
    requests: int = 0
    retries: int = 0
    in_flight: int = 0
    videos: int = 0
    videos_total: int | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    prices: Prices | None = None
    cost: float = 0.0
    priced: int = 0
    unpriced: int = 0
    score_sum: float = 0.0
    score_n: int = 0
    refused: int = 0
    started: float = field(default_factory=monotonic)
    finished: float | None = None

    def note(self, text: str) -> None:
        self.notes = (*self.notes, text)

    def count(self, usage: Usage | None) -> None:
        """Count a reply's tokens and their cost."""
        if usage is not None:
            self.input_tokens += usage.input or 0
            self.output_tokens += usage.output or 0
            self.reasoning_tokens += usage.reasoning or 0
        if self.prices is None:
            return
        cost = self.prices.cost(usage)
        if cost is None:
            self.unpriced += 1
        else:
            self.priced += 1
            self.cost += cost

    @property
    def mean_cost(self) -> float | None:
        """The mean cost of a reply so far; None if no reply has a cost."""
        return self.cost / self.priced if self.priced else None

    @property
    def cost_at_the_end(self) -> float | None:
        """The expected cost of this call, if the remaining questions cost as much as the finished
        ones."""
        if self.left is None or not self.priced or not self.done:
            return None
        return self.cost * (1 + self.left / self.done)

    @property
    def left(self) -> int | None:
        """The number of unfinished (sample, repeat) pairs."""
        if self.total is None:
            return None
        return max(0, self.total - self.kept - self.done - self.failed)

    @property
    def score(self) -> float | None:
        return self.score_sum / (self.score_n + self.refused) if self.score_n else None

    @property
    def rate(self) -> float:
        """Questions finished per second since the start of this session."""
        seconds = (self.finished or monotonic()) - self.started
        return (self.done + self.failed) / seconds if seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        return None if self.left is None or not self.rate else self.left / self.rate
