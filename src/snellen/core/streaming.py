"""How a video is streamed to a model's session."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from snellen.core.sample import Sample

Said = Mapping[str, Any]
"""A message of a session: `onset` and `done` (media seconds), `text`, `query` (None: not named)."""


@dataclass(frozen=True, kw_only=True)
class Streaming:
    """How a video is streamed to a model's session, at the frames of the benchmark's policy
    (`fps:R`), and when a sample's question is put to it."""

    when: Callable[[Sample], float]
    """The media time in seconds at which the question is put; what is shown before it was seen."""
    session: Callable[[Sample], str]
    """What samples share that are asked in one session."""
    until: Callable[[Sample], float] | None = None
    """The media time in seconds until which it may be answered; None: it must be at once."""
    memory: Literal["fork", "keep"] = "fork"
    """Whether a question that must be answered goes to a copy of the session, or stays in it."""
    clock: Literal["logical", "simulated", "real"] = "logical"
    """Whether frames wait for the model, come by the time that calls took, or by the wall clock."""
    drop: Literal["none", "latest", "oldest"] = "none"
    """Frames that come while the model is busy: all wait, or the latest, or 256 of them."""
    speed: float = 1.0
    """How many times faster calls are on the simulated clock than they were."""
    costs: Mapping[str, float] = field(default_factory=dict)
    """Seconds that a kind of call takes on the simulated clock; empty: as long as it took."""
    attribute: Callable[[Sequence[Said], Sequence[Sample]], Mapping[str, Sequence[Said]]] | None = (
        None
    )
    """Which of the open questions each message is for; None: those that the messages name."""
