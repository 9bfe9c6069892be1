"""The result of parsing a reply to a question with choices."""

from typing import NamedTuple


class Letter(NamedTuple):
    """The choice that was found in a reply."""

    answer: str | None
    """The letter of the choice; None if no answer was found."""
    rule: str
    """The rule that found the answer, or the reason why none was found."""
    candidates: tuple[str, ...] = ()
    """The letters that the reply could mean."""
