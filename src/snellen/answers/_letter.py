"""The answer found in a reply to a question with choices."""

from typing import NamedTuple


class Letter(NamedTuple):
    """The choice that a reply settles on."""

    answer: str | None
    """The letter; None if there is none."""
    rule: str
    """The rule that found it, or gave up."""
    candidates: tuple[str, ...] = ()
    """The letters that the reply could have meant."""
