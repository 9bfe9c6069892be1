"""Requests that come one by one are answered together, each caller getting what is its own."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from typing import TypeVar

import pytest

from snellen.content import Image, user
from snellen.errors import Rejected
from snellen.model import Reply, Request
from snellen.models.batching import Batching

T = TypeVar("T")


class Echo:
    """Says each request's text again; keeps its batches, and fails for requests that say so."""

    name = "echo"

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.threads: set[int] = set()
        self.open = threading.Event()
        self.open.set()

    def generate_batch(self, requests: Sequence[Request]) -> list[Reply]:
        texts = [request.messages[0].text for request in requests]
        self.batches.append(texts)
        self.threads.add(threading.get_ident())
        assert self.open.wait(10)
        if "bad" in texts:
            raise Rejected("bad request")
        if "short" in texts:
            return []
        if "stop" in texts:
            next(iter([]))
        return [Reply(text=text) for text in texts]


def ask(text: str) -> Request:
    return Request(messages=(user(text),))


def run(work: Coroutine[None, None, T]) -> T:
    """Run to the end, or fail where it waits for ever."""

    async def in_time() -> T:
        async with asyncio.timeout(20):
            return await work

    return asyncio.run(in_time())


async def generate(model: Batching, text: str) -> str:
    return (await model.generate(ask(text))).text


async def said(model: Batching, texts: Sequence[str]) -> list[str]:
    return await asyncio.gather(*(generate(model, text) for text in texts))


def test_every_caller_gets_its_own_reply_from_full_batches() -> None:
    echo = Echo()
    texts = [f"question {k}" for k in range(20)]
    assert run(said(Batching(echo, most=8), texts)) == texts
    assert [len(batch) for batch in echo.batches] == [8, 8, 4]


def test_the_longest_come_first_so_that_a_batch_holds_like_sizes() -> None:
    echo = Echo()
    sizes = [40, 400, 80, 800, 1200, 4]
    run(said(Batching(echo, most=2), ["x" * size for size in sizes]))
    assert [[len(text) for text in batch] for batch in echo.batches] == [
        [1200, 800],
        [400, 80],
        [40, 4],
    ]


def test_a_large_picture_counts_for_more_than_a_few_words() -> None:
    echo = Echo()
    picture = Image(b"", width=600, height=600)

    async def body() -> None:
        model = Batching(echo, most=1)
        shown = Request(messages=(user(picture, "picture"),))
        await asyncio.gather(model.generate(ask("words " * 20)), model.generate(shown))

    run(body())
    assert echo.batches[0] == ["picture"]


def test_a_single_request_does_not_wait_for_others() -> None:
    assert run(said(Batching(Echo(), most=8), ["alone"])) == ["alone"]


def test_what_comes_during_a_batch_is_answered_after_it() -> None:
    echo = Echo()
    echo.open.clear()

    async def body() -> list[str]:
        model = Batching(echo, most=4)
        first = asyncio.create_task(said(model, ["one"]))
        while not echo.batches:
            await asyncio.sleep(0.001)
        later = asyncio.create_task(said(model, ["two", "three"]))
        await asyncio.sleep(0)
        echo.open.set()
        return await first + await later

    assert run(body()) == ["one", "two", "three"]
    assert [sorted(batch) for batch in echo.batches] == [["one"], ["three", "two"]]


def test_one_failing_request_fails_no_other_of_its_batch() -> None:
    async def body() -> list[object]:
        model = Batching(Echo(), most=3)
        asked = (model.generate(ask(text)) for text in ("good", "bad", "fine"))
        return list(await asyncio.gather(*asked, return_exceptions=True))

    good, bad, fine = run(body())
    assert (good, fine) == (Reply(text="good"), Reply(text="fine"))
    assert isinstance(bad, Rejected)


def test_after_a_failed_batch_who_gave_up_waiting_is_not_asked_for() -> None:
    echo = Echo()
    echo.open.clear()

    async def body() -> str:
        model = Batching(echo, most=3)
        bad, gone, stays = (
            asyncio.create_task(generate(model, text)) for text in ("bad", "gone", "stays")
        )
        while not echo.batches:
            await asyncio.sleep(0.001)
        gone.cancel()
        await asyncio.sleep(0)
        echo.open.set()
        with pytest.raises(Rejected):
            await bad
        return await stays

    assert run(body()) == "stays"
    assert sorted(map(sorted, echo.batches[1:])) == [["bad"], ["stays"]]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("short", ValueError, "echo: 0 replies to a batch of 1"),
        ("stop", RuntimeError, "echo raised StopIteration"),
    ],
)
def test_a_broken_model_is_an_error_and_no_endless_wait(
    text: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        run(said(Batching(Echo()), [text]))


def test_a_caller_that_gave_up_waiting_is_not_asked_for() -> None:
    echo = Echo()

    async def body() -> str:
        model = Batching(echo, most=8)
        gone = asyncio.create_task(generate(model, "gone"))
        stays = asyncio.create_task(generate(model, "stays"))
        await asyncio.sleep(0)
        gone.cancel()
        return await stays

    assert run(body()) == "stays"
    assert echo.batches == [["stays"]]


def test_a_caller_that_gives_up_in_mid_batch_does_not_disturb_the_others() -> None:
    echo = Echo()
    echo.open.clear()

    async def body() -> str:
        model = Batching(echo, most=2)
        gone = asyncio.create_task(generate(model, "gone"))
        stays = asyncio.create_task(generate(model, "stays"))
        while not echo.batches:
            await asyncio.sleep(0.001)
        gone.cancel()
        await asyncio.sleep(0)
        echo.open.set()
        return await stays

    assert run(body()) == "stays"
    assert len(echo.batches) == 1


def test_the_model_is_called_from_one_thread_that_is_not_the_event_loops() -> None:
    echo = Echo()
    run(said(Batching(echo, most=2), [str(k) for k in range(10)]))
    assert len(echo.threads) == 1
    assert threading.get_ident() not in echo.threads


def test_closing_answers_what_waits_and_takes_nothing_more() -> None:
    async def body() -> list[str]:
        model = Batching(Echo(), most=2)
        waiting = [asyncio.create_task(generate(model, text)) for text in ("one", "two", "three")]
        await asyncio.sleep(0)
        await model.close()
        with pytest.raises(RuntimeError, match="closed"):
            await model.generate(ask("late"))
        return [await task for task in waiting]

    assert run(body()) == ["one", "two", "three"]


def test_closing_does_not_wait_for_a_batch_that_nobody_wants() -> None:
    echo = Echo()
    echo.open.clear()

    async def body() -> None:
        model = Batching(echo, most=4)
        first = asyncio.create_task(said(model, ["one"]))
        while not echo.batches:
            await asyncio.sleep(0.001)
        first.cancel()
        await asyncio.wait({first})
        async with asyncio.timeout(5):  # the batch itself ends after ten
            await model.close()

    run(body())
    assert not echo.open.is_set()
    echo.open.set()


def test_a_model_may_be_used_from_one_event_loop_after_another() -> None:
    model = Batching(Echo(), most=8)
    assert run(said(model, ["first"])) == ["first"]
    assert run(said(model, ["second"])) == ["second"]
