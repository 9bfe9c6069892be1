"""How a video is streamed to a model's session."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from snellen.core.sample import Sample

Said = Mapping[str, Any]
"""A message of a session: `onset` and `done` (media seconds), `text`, `query` (None: not named)."""


@dataclass(frozen=True, kw_only=True)
class Streaming:
    """How a video is streamed to a model's session, and when a sample's question is put to it.

    `when` is the media time in seconds at which it is put, with all that is shown before it seen;
    `until` that up to which the session may say something about it (None: it must answer then).
    Samples of one `session` share it. The frames are those of the benchmark's policy, `fps:R`; with
    its `latest` a question also sees the newest frame before it. `memory`: a question that must be
    answered is put to a fork of the session, so that it leaves no trace, or kept in it.

    `clock`: `logical` (each frame waits for the model), `simulated` (a call takes as long as it
    took, or as `costs` say in seconds, by `speed`) or `real`. `drop` is what becomes of frames that
    come while the model is busy: `none` is lost, or all but the `latest`, or the `oldest` of more
    than `queue`. `attribute` says which of several open questions each message is for.
    """

    when: Callable[[Sample], float]
    session: Callable[[Sample], str]
    until: Callable[[Sample], float] | None = None
    memory: Literal["fork", "keep"] = "fork"
    clock: Literal["logical", "simulated", "real"] = "logical"
    drop: Literal["none", "latest", "oldest"] = "none"
    queue: int = 256
    speed: float = 1.0
    costs: Mapping[str, float] = field(default_factory=dict)
    attribute: Callable[[Sequence[Said], Sequence[Sample]], Mapping[str, Sequence[Said]]] | None = (
        None
    )
