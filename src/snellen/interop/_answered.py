"""One question of a run and what a model said, as other tools' files are made of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

EXPORTED = ("id", "question", "choices", "target", "reply", "state")
"""The columns of this package's own tables of replies."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """`place` is the row's place in the data set, from 0; a `reply` of None is a failed one."""

    id: str
    position: int
    question: str
    choices: tuple[str, ...] = ()
    target: str | None = None
    reply: str | None = None
    reasoning: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
