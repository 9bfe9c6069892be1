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
    """The maximum number of turns of a sample. None: the conversation goes on until `prompt`
    returns no messages."""
    by_turn: Callable[[Sample], tuple[Sample, ...]] | None = None
    """Returns a sample for each turn. The reply to a turn is scored with the turn's sample. None:
    only the last reply is scored."""


@dataclass(frozen=True, kw_only=True)
class Procedure:
    """How the questions are asked. By default, each question is asked once, and the model replies
    with text."""

    kind: Kind = "generate"
    """What the model returns: text, log-probabilities of the choices, or messages in a session."""
    temperature: float | None = 0.0
    """The sampling temperature, which an option or a profile can override. None: the model's
    default."""
    frames: str | None = None
    """The policy that chooses the frames of videos, such as `uniform:16`. An option can override
    it. None: the benchmark has no videos."""
    group_by: Callable[[Sample], str] | None = None
    """Returns a key that is the same for samples whose questions are asked together, such as
    questions about one video. The function may use only the sample's id, tags, and data. None: each
    question is asked separately."""
    together: Callable[[Sample], str] | None = None
    """Returns a key that is the same for samples that are meaningful only together, such as the
    passes of a question. A selection of samples contains all samples with the same key or none of
    them. None: each sample is selected independently."""
    conversation: Conversation = Conversation()
    """The turns of a sample; by default there is one turn."""
    only_in_prompt: str = ""
    """The option whose content only the benchmark's own prompt has, such as `subtitles=frames`. A
    recipe, which replaces the prompt, is then an error. Empty: there is none."""
    streaming: Streaming | None = None
    """How videos are streamed to sessions. None: there are no sessions."""
