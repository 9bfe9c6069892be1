"""Pieces that prompts of several benchmarks share."""

from collections.abc import Sequence
from string import ascii_uppercase


def lettered(choices: Sequence[str], form: str = "{letter}. {choice}") -> str:
    """The choices, a line each, behind their letters.

    >>> print(lettered(["a cat", "a dog"]))
    A. a cat
    B. a dog
    """
    return "\n".join(
        form.format(letter=letter, choice=choice)
        for letter, choice in zip(ascii_uppercase, choices, strict=False)
    )
