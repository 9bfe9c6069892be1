"""Defines the pair of a question and the model's reply, from which other tools' files are
written."""

from collections.abc import Mapping
from dataclasses import dataclass, field

EXPORTED = ("id", "question", "choices", "target", "reply", "state")
"""The columns of Snellen's own tables of replies."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A question with its reply."""

    id: str
    """The sample's id."""
    position: int
    """The position of the question's row in the data set, from 0."""
    question: str
    """The text of the question."""
    choices: tuple[str, ...] = ()
    """The texts of the choices, in order."""
    target: str | None = None
    """The right answer; None if the answer is hidden."""
    reply: str | None = None
    """The reply; None if the question failed."""
    reasoning: str | None = None
    """The model's reasoning before the reply; None if there is none."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """The sample's tags."""
