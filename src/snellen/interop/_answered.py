"""One question of a run and the model's reply, as other tools' files contain them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

EXPORTED = ("id", "question", "choices", "target", "reply", "state")
"""The columns of this package's own tables of replies."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A question with its reply. `position` is that of its row in the data set, from 0; a `reply`
    of None is a failed one."""

    id: str
    position: int
    question: str
    choices: tuple[str, ...] = ()
    target: str | None = None
    reply: str | None = None
    reasoning: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
