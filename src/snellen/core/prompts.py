"""Functions that the prompts of several benchmarks share."""

import re
from collections.abc import Callable, Sequence
from string import ascii_uppercase

from snellen.media.content import Part

IMAGE_MARK = re.compile(r"<image[\s_\d]*>", re.IGNORECASE)
"""Matches the placeholders for pictures in a text, such as `<image>` and `<image 1>`."""


LETTERED = "{letter}. {choice}"
"""The usual form of a choice in a prompt."""


def lettered(choices: Sequence[str], form: str = LETTERED) -> str:
    """The choices with their letters, one choice per line.

    >>> print(lettered(["a cat", "a dog"]))
    A. a cat
    B. a dog
    """
    pairs = zip(ascii_uppercase, choices, strict=False)
    if form == LETTERED:  # `str.format` would be slow, and this runs for every sample
        return "\n".join([f"{letter}. {choice}" for letter, choice in pairs])
    return "\n".join([form.format(letter=letter, choice=choice) for letter, choice in pairs])


def interleaved(
    text: str, mark: re.Pattern[str], medium: Callable[[str | None], Part]
) -> tuple[Part, ...]:
    """Replace each mark in a text with its medium, and drop empty parts of the text.

    The pattern `mark` must have one group, which captures the number or name of the medium. The
    function `medium` is called with the captured text, or with None if the group did not match, and
    returns the medium.

    >>> interleaved("Is <2> like <1>?", re.compile("<(.)>"), lambda number: f"picture {number}")
    ('Is ', 'picture 2', ' like ', 'picture 1', '?')
    """
    first, *rest = mark.split(text)
    parts: list[Part] = [first]
    for name, after in zip(rest[::2], rest[1::2], strict=True):
        parts += [medium(name), after]
    return tuple(part for part in parts if part)
