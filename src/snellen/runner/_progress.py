"""How far a run is: numbers only; whoever shows them decides how."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic


@dataclass
class Progress:
    """What one run has done so far. `total` counts (sample, repeat)s, as do `done` and `failed`.

    `videos` of `videos_total` are done with, where there are some that questions share.
    `score_sum / score_n` is the running mean of the headline scoring, where it scores single
    samples. `notes` are to be said before anything else.
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
    score_sum: float = 0.0
    score_n: int = 0
    started: float = field(default_factory=monotonic)
    finished: float | None = None

    @property
    def score(self) -> float | None:
        return self.score_sum / self.score_n if self.score_n else None

    @property
    def rate(self) -> float:
        """Questions finished a second since the start of this session."""
        seconds = (self.finished or monotonic()) - self.started
        return (self.done + self.failed) / seconds if seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        if self.total is None or not self.rate:
            return None
        return max(0, self.total - self.kept - self.done - self.failed) / self.rate
