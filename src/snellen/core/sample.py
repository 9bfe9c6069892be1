"""One question of a benchmark."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from snellen.media.content import Image, Video


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One question, what it shows, and what is right.

    `id` is unique in its benchmark and taken from the data set where it has ids. `target` is the
    one
    right answer, `references` are several people's; None and () where the answer is hidden. `tags`
    are what results are broken
    down by. `data` is whatever else the prompt or the scoring needs, in JSON's types.
    """

    id: str
    question: str
    choices: tuple[str, ...] = ()
    media: tuple[Image | Video, ...] = ()
    target: str | None = None
    references: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, object] = field(default_factory=dict)

    @property
    def hidden(self) -> bool:
        """Whether what is right is not known to us."""
        return self.target is None and not self.references
