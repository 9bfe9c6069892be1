"""Models of the plug-in."""

import re
from collections.abc import Sequence

from snellen.core.model import Reply, Request
from snellen.core.profile import Profile
from snellen.media.content import Message


class Counter:
    """Counts the letters of a question."""

    def generate(self, messages: Sequence[Message]) -> str:
        return answer(messages[-1].text)


class Service:
    """Gives the same number to every question."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.revision = "r1"

    async def generate(self, request: Request) -> Reply:
        return Reply(text=self.name, stop="stop")


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Service:
    """Opens counter-service/NUMBER."""
    return Service(name)


def three(messages: Sequence[Message]) -> str:
    """Answers 3 to every question."""
    return "3"


def answer(question: str) -> str:
    [(letter, word)] = re.findall(r"letters (\w) are in (\w+)", question)
    return str(word.count(letter))
