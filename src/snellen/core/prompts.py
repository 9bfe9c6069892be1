"""Pieces that prompts of several benchmarks share."""

import re
from collections.abc import Callable, Sequence
from string import ascii_uppercase

from snellen.media.content import Part

IMAGE_MARK = re.compile(r"<image[\s_\d]*>", re.IGNORECASE)
"""What stands in a text for a picture: `<image>`, `<image 1>`."""


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


def interleaved(
    text: str, mark: re.Pattern[str], medium: Callable[[str | None], Part]
) -> tuple[Part, ...]:
    """The text with a medium in the place of each mark, without empty parts of text.

    `mark` has one group, what a mark calls its medium by: `medium` gets that, None where a mark has
    none.

    >>> interleaved("Is <2> like <1>?", re.compile("<(.)>"), lambda number: f"picture {number}")
    ('Is ', 'picture 2', ' like ', 'picture 1', '?')
    """
    first, *rest = mark.split(text)
    parts: list[Part] = [first]
    for name, after in zip(rest[::2], rest[1::2], strict=True):
        parts += [medium(name), after]
    return tuple(part for part in parts if part)
