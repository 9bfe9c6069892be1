"""How a video is streamed to a model's session."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from snellen.core.sample import Sample

SessionMessage = Mapping[str, Any]
"""A message of a session: `onset` and `done` (media seconds), `text`, `query` (None: not named)."""


@dataclass(frozen=True, kw_only=True)
class Streaming:
    """How a video is streamed to a model's session, with the frames of the benchmark's policy
    (`fps:R`), and when a sample's question is asked."""

    when: Callable[[Sample], float]
    """The media time in seconds at which the question is put; what is shown before it was seen."""
    session: Callable[[Sample], str]
    """Returns the key that samples of one session share."""
    until: Callable[[Sample], float] | None = None
    """The media time in seconds until which it may be answered; None if it must be answered
    immediately."""
    memory: Literal["fork", "keep"] = "fork"
    """Whether a question that must be answered goes to a fork of the session or to the session."""
    clock: Literal["logical", "simulated", "real"] = "logical"
    """Whether frames wait for the model, follow the durations of calls, or follow the wall
    clock."""
    drop: Literal["none", "latest", "oldest"] = "none"
    """Which frames are dropped while the model is busy: none, all but the newest (`latest`), or the
    oldest beyond 256 (`oldest`)."""
    speed: float = 1.0
    """The factor by which calls are faster on the simulated clock than in fact."""
    costs: Mapping[str, float] = field(default_factory=dict)
    """Seconds that each kind of call takes on the simulated clock; empty for the actual
    duration."""
    attribute: (
        Callable[
            [Sequence[SessionMessage], Sequence[Sample]], Mapping[str, Sequence[SessionMessage]]
        ]
        | None
    ) = None
    """Assigns messages to open questions; None if the messages name their questions."""
