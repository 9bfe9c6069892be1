"""How a video is streamed to a model's session."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from snellen.core.sample import Sample

SessionMessage = Mapping[str, Any]
"""A message of a session: `onset` and `done` (in seconds of media time), `text`, and `query` (None
if the message does not name its question)."""


@dataclass(frozen=True, kw_only=True)
class Streaming:
    """When a sample's question is asked, and how the video is streamed to the model's session. The
    benchmark's policy (`fps:R`) determines the frames."""

    when: Callable[[Sample], float]
    """Returns the media time, in seconds, at which the question is asked. The frames before that
    time are shown first."""
    session: Callable[[Sample], str]
    """Returns a key that is the same for all samples of a session."""
    until: Callable[[Sample], float] | None = None
    """Returns the media time, in seconds, until which the question may be answered. None: questions
    must be answered immediately."""
    windows: Callable[[Sample], Sequence[float]] | None = None
    """Returns the media times, in seconds, at which the windows of a question end, for questions
    that have `until`. After each window, the session's state is stored, so that an interrupted
    session goes on from there. None: an interrupted session starts again."""
    memory: Literal["fork", "keep"] = "fork"
    """Where a question that must be answered immediately is sent: to a copy of the session
    (`fork`), or to the session itself (`keep`)."""
    clock: Literal["logical", "simulated", "real"] = "logical"
    """The kind of clock, which determines when frames arrive: they wait for the model (`logical`),
    arrive at times that are computed from the durations of calls (`simulated`), or arrive in real
    time (`real`)."""
    drop: Literal["none", "latest", "oldest"] = "none"
    """Which frames are dropped while the model is busy: none, all except the newest (`latest`), or
    the oldest if more than 256 are waiting (`oldest`)."""
    speed: float = 1.0
    """The factor by which calls are faster on the simulated clock than in reality."""
    costs: Mapping[str, float] = field(default_factory=dict)
    """The duration, in seconds, of each kind of call on the simulated clock; empty: the actual
    durations."""
    attribute: (
        Callable[
            [Sequence[SessionMessage], Sequence[Sample]], Mapping[str, Sequence[SessionMessage]]
        ]
        | None
    ) = None
    """Assigns messages to open questions; None if the messages name their questions."""
