"""How a run sends requests: generation settings, retries, and when it gives up."""

from __future__ import annotations

from dataclasses import dataclass, field

from snellen.core.model import Generation


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a run sends requests. `generation`, `seed`, and `on_truncation` change the content of
    requests."""

    generation: Generation = field(default_factory=Generation)
    """How the model generates, for example the token limit and the temperature."""
    seed: int | None = None
    """The seed of the first repeat, to which each further repeat adds one. None: no seed is sent
    with the first repeat, and further repeats have the seeds 1, 2, and so on."""
    repeats: int = 1
    """The number of repeats of each sample."""
    attempts: int = 6
    """The maximum number of attempts per question. HTTP 429 responses have a separate limit."""
    backoff: float = 0.5
    """The wait before the second attempt, in seconds. The wait doubles with each further
    attempt."""
    longest_wait: float = 60.0
    """The maximum wait between two attempts, in seconds. A wait that the server requests takes
    precedence."""
    timeout: float | None = 1800.0
    """The time limit of a call to the model, in seconds; None: the model enforces its own limit."""
    give_up: int = 20
    """The number of failed questions in a row after which the run ends, or twice the concurrency if
    this is higher. A question counts only if no other question got a reply after its first
    attempt failed."""
    on_truncation: str = "continue"
    """What happens if many of the first replies are truncated: `stop`, `continue`, or `raise:N`."""
    retry_truncated: int | None = None
    """The token limit with which questions with truncated replies are asked again; None: such
    questions are not asked again."""
    allow_urls: bool = False
    """Whether pictures are fetched from URLs in the data."""
