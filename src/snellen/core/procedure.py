"""How a benchmark's questions are asked: the kind of reply, turns, frames, and grouping."""

from collections.abc import Callable
from dataclasses import dataclass

from snellen.core.model import Kind
from snellen.core.sample import Sample
from snellen.core.streaming import Streaming


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """A question in several turns."""

    turns: int | None = 1
    """The most turns of a sample; None: until `prompt` returns no messages."""
    by_turn: Callable[[Sample], tuple[Sample, ...]] | None = None
    """What each turn asks, as a sample, if each reply is scored; None: only the last reply is."""


@dataclass(frozen=True, kw_only=True)
class Procedure:
    """How the questions are asked, where that differs from one reply in words to one picture."""

    kind: Kind = "generate"
    """What the model gives: text, a rank of the choices, or messages in a session."""
    temperature: float | None = 0.0
    """The sampling temperature where neither a flag nor a profile sets it; None: the model's."""
    frames: str | None = None
    """The policy by which videos are shown (`uniform:16`), if no flag sets it; None: no videos."""
    group_by: Callable[[Sample], str] | None = None
    """What samples share that are asked together, such as a video; of id, tags, and data alone."""
    together: Callable[[Sample], str] | None = None
    """What samples share that mean something only together, such as the passes of a question."""
    conversation: Conversation = Conversation()
    """The turns of a sample; by default there is one."""
    streaming: Streaming | None = None
    """How videos are streamed to sessions; None: there are no sessions."""
