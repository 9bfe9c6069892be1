"""One question of a benchmark."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from snellen.media.content import Image, Video


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One question with its media and its right answer."""

    id: str
    """Unique in the benchmark. The sample's id in the data set or, if the data set has no ids, the
    row's index, from 0."""
    question: str
    """The question, without the benchmark's instructions."""
    choices: tuple[str, ...] = ()
    """The choices in order; empty if the question offers none."""
    media: tuple[Image | Video, ...] = ()
    """The pictures and videos, in the order of the data."""
    target: str | None = None
    """The one right answer. None: the answer is not public, or there are references instead."""
    references: tuple[str, ...] = ()
    """The right answers according to several people. Empty: the right answers are not public, or
    there is a target instead."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Categories by which results can be broken down."""
    data: Mapping[str, object] = field(default_factory=dict)
    """Whatever else the prompt or the scoring needs, as values that JSON can represent."""

    @property
    def hidden(self) -> bool:
        """Whether the right answer is not public."""
        return self.target is None and not self.references
