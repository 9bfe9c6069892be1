"""How a run asks: what is generated, how often a question is sent, and when the run gives up."""

from __future__ import annotations

from dataclasses import dataclass, field

from snellen.core.model import Generation


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a run asks. Only `generation` and `seed` change what is asked."""

    generation: Generation = field(default_factory=Generation)
    """How the model generates: its limit of tokens, its temperature."""
    seed: int | None = None
    """The seed of the first repeat; each further repeat adds one. None: no seed is sent."""
    repeats: int = 1
    """How often each sample is asked."""
    attempts: int = 6
    """How often one question is sent at most; 429s have a limit of their own."""
    backoff: float = 0.5
    """Seconds before the second attempt; the wait doubles with each attempt."""
    longest_wait: float = 60.0
    """The longest of these waits, in seconds, unless the server asks for another."""
    timeout: float | None = 1800.0
    """Seconds for one call of the model. None: the model has a time limit of its own."""
    give_up: int = 20
    """The run ends after this many failed questions in a row, or twice the concurrency if that
    is more."""
    allow_urls: bool = False
    """Whether pictures are fetched from addresses that the data name."""
