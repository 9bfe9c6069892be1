"""How a run asks: generation, retries, and when the run gives up."""

from __future__ import annotations

from dataclasses import dataclass, field

from snellen.core.model import Generation


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a run asks. `generation`, `seed`, and `on_truncation` change what is asked."""

    generation: Generation = field(default_factory=Generation)
    """How the model generates: the token limit, the temperature."""
    seed: int | None = None
    """The seed of the first repeat; each further repeat adds one. None: no seed is sent."""
    repeats: int = 1
    """The number of repeats of each sample."""
    attempts: int = 6
    """The most attempts per question; 429s have a separate limit."""
    backoff: float = 0.5
    """Seconds before the second attempt; the wait doubles with each attempt."""
    longest_wait: float = 60.0
    """The longest of these waits, in seconds, unless the server asks for another."""
    timeout: float | None = 1800.0
    """The time limit of a call of the model, in seconds. None: the model has its own."""
    give_up: int = 20
    """The run ends after this many failed questions in a row, or twice the concurrency if that
    is more."""
    on_truncation: str = "continue"
    """What happens if many of the first replies are truncated: `stop`, `continue`, or `raise:N`."""
    retry_truncated: int | None = None
    """The token limit with which truncated replies are asked again; None: they are not."""
    allow_urls: bool = False
    """Whether pictures are fetched from addresses that the data name."""
