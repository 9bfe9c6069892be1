"""What is found in a reply to a question with choices."""

from typing import NamedTuple


class Letter(NamedTuple):
    """A choice's letter, or None; the rule that found it or gave up; the letters it could be."""

    answer: str | None
    rule: str
    candidates: tuple[str, ...] = ()
