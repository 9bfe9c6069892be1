"""A scripted model says what its script says, also to many at once."""

import asyncio

from snellen.core.model import Ranked, Request
from snellen.media.content import user
from snellen.models.scripted import Scripted


def request_for(word: str, *choices: str) -> Request:
    return Request(messages=(user(word),), choices=choices)


async def texts_of(model: Scripted, n: int) -> list[str]:
    replies = await asyncio.gather(*(model.generate(request_for(f"{k}")) for k in range(n)))
    return [reply.text for reply in replies]


async def test_outcomes_follow_the_order_of_arrival_also_at_once() -> None:
    model = Scripted(["A", "B", "C"], delay=0.001)
    assert await texts_of(model, 4) == ["A", "B", "C", "C"]
    assert model.most == 4


async def test_a_text_alone_is_always_said() -> None:
    assert await texts_of(Scripted("AB"), 3) == ["AB"] * 3


async def test_without_a_script_nothing_is_said() -> None:
    assert await texts_of(Scripted(), 1) == [""]


async def test_requests_are_kept_as_they_came() -> None:
    model = Scripted("A")
    await texts_of(model, 3)
    assert [request.messages[0].text for request in model.requests] == ["0", "1", "2"]


async def test_without_a_ranking_the_first_choice_is_likeliest() -> None:
    ranked = await Scripted().rank(request_for("?", "a", "b", "c"))
    assert ranked == [Ranked(-1, 1), Ranked(-2, 1), Ranked(-3, 1)]
