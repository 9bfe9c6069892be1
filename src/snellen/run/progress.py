"""The progress of a run as numbers, which other code displays."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from snellen.core.model import Usage
from snellen.core.profile import Prices


@dataclass
class Progress:
    """The progress of one run. Unless stated otherwise, counts are of (sample, repeat) pairs."""

    name: str
    """The benchmark and the model, and the setting if the plan has several settings."""
    total: int | None = None
    """The number of pairs to ask; None while the number is unknown."""
    notes: tuple[str, ...] = ()
    """Notes for the user, in the order in which they were added."""
    kept: int = 0
    """Pairs with a reply from an earlier invocation."""
    reused: int = 0
    """Pairs with a reply from another run."""
    done: int = 0
    """Pairs with a reply from this invocation."""
    failed: int = 0
    """Pairs that have no reply after the last attempt."""
    requests: int = 0
    """Requests sent so far."""
    retries: int = 0
    """The number of requests that failed and were or will be sent again."""
    in_flight: int = 0
    """Requests in flight now."""
    videos: int = 0
    """The number of finished videos, if questions share videos."""
    videos_total: int | None = None
    """The total number of videos; None if questions do not share videos."""
    input_tokens: int = 0
    """The number of tokens in requests, as reported by the server."""
    output_tokens: int = 0
    """The number of tokens in replies."""
    reasoning_tokens: int = 0
    """The part of `output_tokens` that is reasoning."""
    prices: Prices | None = None
    """The prices of the model; None without prices."""
    cost: float = 0.0
    """The total cost of the replies that `priced` counts."""
    priced: int = 0
    """The number of replies whose cost is known."""
    unpriced: int = 0
    """The number of replies without token counts, if the model has prices."""
    score_sum: float = 0.0
    """The sum of the headline scores of single replies."""
    score_n: int = 0
    """The number of scores in `score_sum`."""
    drawn: int = 0
    """The number of replies in `score_n` for which the scoring draws an answer at random after the
    run. Each of them counts with the mean score of the possible answers."""
    refused: int = 0
    """The number of refused replies, which count as wrong in the running score."""
    started: float = field(default_factory=monotonic)
    """When the run sent its first request, or was prepared if it has sent none, in seconds on the
    monotonic clock."""
    finished: float | None = None
    """When the run ended, on the same clock; None while it is in progress."""

    def note(self, text: str) -> None:
        self.notes = (*self.notes, text)

    def count(self, usage: Usage | None) -> None:
        """Count the tokens of a reply and their cost."""
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
        """The mean cost of a reply so far; None if no reply has a known cost."""
        return self.cost / self.priced if self.priced else None

    @property
    def cost_at_the_end(self) -> float | None:
        """The estimated total cost of this invocation, assuming that the remaining questions cost
        as much as the finished ones."""
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
        """The number of questions finished per second in this invocation."""
        seconds = (self.finished or monotonic()) - self.started
        return (self.done + self.failed) / seconds if seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        return None if self.left is None or not self.rate else self.left / self.rate
