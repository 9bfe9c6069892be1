"""One question of a benchmark."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from snellen.media.content import Image, Video


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One question, what it shows, and what is right."""

    id: str
    """Unique in its benchmark; from the data set if it has ids, else the row's index from 0."""
    question: str
    """The question, without the benchmark's instructions."""
    choices: tuple[str, ...] = ()
    """The choices in their order; empty: there are none to choose from."""
    media: tuple[Image | Video, ...] = ()
    """The pictures and videos, in the order of the data."""
    target: str | None = None
    """The one right answer; None: it is hidden, or there are references instead."""
    references: tuple[str, ...] = ()
    """The answers of several people; empty: they are hidden, or there is a target instead."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Categories that results can be broken down by."""
    data: Mapping[str, object] = field(default_factory=dict)
    """Whatever else the prompt or the scoring needs, in JSON's types."""

    @property
    def hidden(self) -> bool:
        """Whether the right answer is not public."""
        return self.target is None and not self.references
