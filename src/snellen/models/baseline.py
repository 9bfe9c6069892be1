"""baseline/random, first, longest: models that do not look.

They see text and choices alone, and say nothing to open questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from string import ascii_uppercase

from snellen.model import Reply, Request
from snellen.models._profile import Profile

Pick = Callable[[Sequence[str], int], int]
"""Chooses among choices, given a number drawn from the request's words and seed."""

PICKS: dict[str, Pick] = {
    "random": lambda choices, drawn: drawn % len(choices),
    "first": lambda choices, drawn: 0,
    "longest": lambda choices, drawn: max(range(len(choices)), key=lambda i: len(choices[i])),
}


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Blind:
    return Blind(f"baseline/{name}", PICKS[name])


class Blind:
    """Picks a choice and names it as the question lists it: by its letter, or in words."""

    def __init__(self, name: str, pick: Pick) -> None:
        self.name = name
        self._pick = pick

    async def generate(self, request: Request) -> Reply:
        if not request.choices:
            return Reply(text="", stop="stop")
        words = "\n".join(message.text for message in request.messages)
        question = request.messages[-1].text
        raw = f"{self.name}\n{request.seed}\n{words}\n{request.choices}".encode()
        drawn = int.from_bytes(blake2b(raw, digest_size=8).digest())
        number = self._pick(request.choices, drawn)
        return Reply(text=_named(question, request.choices, number), stop="stop")


def _named(question: str, choices: Sequence[str], number: int) -> str:
    """`B` where the question lists the choice as "B. …" or "(B) …", else its text."""
    letter = ascii_uppercase[number : number + 1]
    listed = rf"(?<!\w){letter}[).:]\s*{re.escape(choices[number].strip())}"
    return letter if letter and re.search(listed, question) else choices[number]
