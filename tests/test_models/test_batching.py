"""Requests that come one by one are answered together, each caller getting what is its own."""

import asyncio
import threading
from collections.abc import Coroutine, Hashable, Sequence
from typing import TypeVar
from weakref import ref

import pytest

from snellen.core.model import Ranked, Reply, Request
from snellen.errors import Rejected
from snellen.media.content import Image, user
from snellen.models.batch import TooMuch
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


async def generate_all(model: Batching, texts: Sequence[str]) -> list[str]:
    return await asyncio.gather(*(generate(model, text) for text in texts))


def test_every_caller_gets_its_own_reply_from_full_batches() -> None:
    echo = Echo()
    texts = [f"question {k}" for k in range(20)]
    assert run(generate_all(Batching(echo, most=8), texts)) == texts
    assert [len(batch) for batch in echo.batches] == [8, 8, 4]


def test_a_batch_holds_the_request_that_came_first_and_those_next_in_size() -> None:
    echo = Echo()
    sizes = [40, 400, 80, 800, 1200, 4]
    run(generate_all(Batching(echo, most=2), ["x" * size for size in sizes]))
    assert [[len(text) for text in batch] for batch in echo.batches] == [
        [40, 4],
        [400, 80],
        [800, 1200],
    ]


@pytest.mark.parametrize("size", [4, 4000])
def test_none_waits_for_ever_since_others_keep_coming(size: int) -> None:
    echo = Echo()

    async def ask_on(model: Batching) -> None:
        for _ in range(10):
            await generate(model, "x" * 400)

    async def body() -> None:
        model = Batching(echo, most=2)
        many = asyncio.gather(*(ask_on(model) for _ in range(6)))
        await asyncio.gather(generate(model, "x" * size), many)

    run(body())
    (when,) = [k for k, batch in enumerate(echo.batches) if "x" * size in batch]
    assert when <= 4, "it was among the first seven to come, two to a batch"


def test_a_large_picture_counts_for_more_than_a_few_words() -> None:
    echo = Echo()
    picture = Image(b"", width=600, height=600)

    async def body() -> None:
        model = Batching(echo, most=2)
        shown = Request(messages=(user(picture, "picture"),))
        requests = [ask("few words"), shown, ask("words " * 20)]
        await asyncio.gather(*map(model.generate, requests))

    run(body())
    assert echo.batches == [["few words", "words " * 20], ["picture"]]


def test_a_single_request_does_not_wait_for_others() -> None:
    assert run(generate_all(Batching(Echo(), most=8), ["alone"])) == ["alone"]


def test_what_comes_during_a_batch_is_answered_after_it() -> None:
    echo = Echo()
    echo.open.clear()

    async def body() -> list[str]:
        model = Batching(echo, most=4)
        first = asyncio.create_task(generate_all(model, ["one"]))
        while not echo.batches:
            await asyncio.sleep(0.001)
        later = asyncio.create_task(generate_all(model, ["two", "three"]))
        await asyncio.sleep(0)
        echo.open.set()
        return await first + await later

    assert run(body()) == ["one", "two", "three"]
    assert [sorted(batch) for batch in echo.batches] == [["one"], ["three", "two"]]


def test_one_failing_request_fails_no_other_of_its_batch() -> None:
    async def body() -> list[object]:
        model = Batching(Echo(), most=3)
        calls = (model.generate(ask(text)) for text in ("good", "bad", "fine"))
        return list(await asyncio.gather(*calls, return_exceptions=True))

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
        run(generate_all(Batching(Echo()), [text]))


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
    run(generate_all(Batching(echo, most=2), [str(k) for k in range(10)]))
    assert len(echo.threads) == 1
    assert threading.get_ident() not in echo.threads


def test_closing_answers_what_waits_and_takes_nothing_more() -> None:
    async def body() -> list[str]:
        model = Batching(Echo(), most=2)
        waiting = [asyncio.create_task(generate(model, text)) for text in ("one", "two", "three")]
        await asyncio.sleep(0)
        await model.close()
        await model.close()  # again: nothing is left to let go
        with pytest.raises(RuntimeError, match="closed"):
            await model.generate(ask("late"))
        return [await task for task in waiting]

    assert run(body()) == ["one", "two", "three"]


def test_closing_lets_the_model_go_at_once() -> None:
    async def body() -> tuple[Batching, "ref[Steps]"]:
        steps = Steps()
        model = Batching(steps)
        await generate_all(model, ["one", "two"])
        await model.close()
        return model, ref(steps)

    closed, there = run(body())
    for thread in threading.enumerate():  # which drop what they called once they are at their end
        if thread.name.startswith("snellen steps"):
            thread.join(10)
    assert there() is None
    assert closed.name == "steps"


def test_closing_does_not_wait_for_a_batch_that_nobody_wants() -> None:
    echo = Echo()
    echo.open.clear()

    async def body() -> None:
        model = Batching(echo, most=4)
        first = asyncio.create_task(generate_all(model, ["one"]))
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
    assert run(generate_all(model, ["first"])) == ["first"]
    assert run(generate_all(model, ["second"])) == ["second"]


def test_it_may_be_used_after_an_event_loop_that_was_left_in_mid_batch() -> None:
    echo = Echo()
    model = Batching(echo, most=1)
    echo.open.clear()

    async def begin() -> asyncio.Task[list[str]]:
        task = asyncio.create_task(generate_all(model, ["one", "two"]))
        while not echo.batches:
            await asyncio.sleep(0.001)
        return task

    left = asyncio.new_event_loop()  # as a notebook's: nobody cancels what it was at
    task = left.run_until_complete(begin())
    echo.open.set()
    assert run(generate_all(model, ["three"])) == ["three"]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        left.run_until_complete(task)
    left.close()


# -- in two steps


class Steps:
    """Says each request's text again, in two steps; has memory for `fits` tokens. Requests whose
    texts begin alike are of one group."""

    name = "steps"
    ranks = True

    def __init__(self, fits: int = 1_000_000) -> None:
        self.fits = fits
        self.prepared: list[list[str]] = []
        self.answered: list[list[str]] = []
        self.tried: list[int] = []
        self.open = threading.Event()
        self.open.set()

    def group(self, request: Request) -> Hashable:
        return request.messages[0].text[:1]

    def size(self, request: Request) -> int:
        return len(request.messages[0].text)

    def rows(self, request: Request) -> int:
        return max(1, len(request.choices))

    def prepare(self, requests: Sequence[Request]) -> Sequence[Request]:
        self.prepared.append([request.messages[0].text for request in requests])
        return requests

    def answer(self, prepared: Sequence[Request]) -> list[Reply]:
        assert self.open.wait(10)
        taken = max(map(self.size, prepared)) * sum(map(self.rows, prepared))
        self.tried.append(taken)
        if taken > self.fits:
            raise TooMuch
        self.answered.append([request.messages[0].text for request in prepared])
        return [
            Reply(
                text=request.messages[0].text,
                choices=tuple(Ranked(-1.0, len(choice)) for choice in request.choices),
            )
            for request in prepared
        ]


def test_the_next_batches_are_prepared_while_one_is_answered() -> None:
    steps = Steps()
    steps.open.clear()

    async def body() -> list[str]:
        model = Batching(steps, most=2, ahead=2)
        task = asyncio.create_task(generate_all(model, [f"{k}" * 3 for k in (1,) * 20]))
        while len(steps.prepared) < 3:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.05)
        assert len(steps.prepared) == 3, "one that is answered, and two ahead"
        steps.open.set()
        return await task

    run(body())
    assert len(steps.answered) == 10


def test_without_any_ahead_a_batch_is_made_when_the_last_one_is_answered() -> None:
    steps = Steps()
    steps.open.clear()

    async def body() -> None:
        model = Batching(steps, most=2)
        first = asyncio.create_task(generate_all(model, ["a", "aa"]))
        while not steps.prepared:
            await asyncio.sleep(0.001)
        later = asyncio.create_task(generate_all(model, ["aaa"]))
        await asyncio.sleep(0.05)
        last = asyncio.create_task(generate_all(model, ["aaaa"]))
        await asyncio.sleep(0)
        steps.open.set()
        await asyncio.gather(first, later, last)

    run(body())
    assert steps.prepared == [["a", "aa"], ["aaa", "aaaa"]], "what came later joined the next batch"


def test_a_batch_holds_what_the_budget_allows_padded_to_the_longest() -> None:
    steps = Steps()
    sizes = [50, 40, 30, 20, 10, 10, 10, 300]
    run(generate_all(Batching(steps, most=8, budget=100), ["x" * size for size in sizes]))
    assert [[len(text) for text in batch] for batch in steps.prepared] == [
        [50, 40],
        [30, 20, 10],
        [10, 10],
        [300],
    ]


def test_choices_count_as_rows_of_the_budget() -> None:
    steps = Steps()

    async def body() -> None:
        model = Batching(steps, most=8, budget=100)
        requests = [Request(messages=(user("x" * 10),), choices=("a",) * 4) for _ in range(4)]
        await asyncio.gather(*map(model.generate, requests))

    run(body())
    assert [len(batch) for batch in steps.prepared] == [2, 2]


def test_a_batch_holds_requests_of_one_group() -> None:
    steps = Steps()
    run(generate_all(Batching(steps, most=8), ["a1", "b22", "a333", "b4444", "c"]))
    assert steps.prepared == [["a1", "a333"], ["b22", "b4444"], ["c"]]


def test_a_batch_beyond_the_memory_is_halved_and_none_so_large_is_made_again() -> None:
    steps = Steps(fits=45)
    texts = [f"{k:010}" for k in range(16)]
    assert run(generate_all(Batching(steps, most=8), texts)) == texts
    assert steps.tried == [80, 40, 40, 40, 40]


def test_a_request_beyond_the_memory_fails_alone_and_says_so() -> None:
    steps = Steps(fits=45)

    async def body() -> list[object]:
        model = Batching(steps)
        calls = (generate(model, text) for text in ("x" * 50, "xx"))
        return list(await asyncio.gather(*calls, return_exceptions=True))

    failed, fine = run(body())
    assert isinstance(failed, Rejected)
    assert "this request of about 50 tokens does not fit into memory, even alone" in str(failed)
    assert fine == "xx"


def test_replicas_answer_at_once_and_each_takes_the_next_batch_when_it_is_free() -> None:
    slow, fast = Steps(), Steps()
    slow.open.clear()

    async def body() -> None:
        model = Batching(slow, fast, most=1)
        task = asyncio.create_task(generate_all(model, [str(k) for k in range(6)]))
        while len(fast.answered) < 5:
            await asyncio.sleep(0.001)
        slow.open.set()
        await task

    run(body())
    assert (len(slow.answered), len(fast.answered)) == (1, 5)


def test_choices_come_back_where_the_model_ranks() -> None:
    async def body() -> Sequence[Ranked]:
        request = Request(messages=(user("which ?"),), kind="rank", choices=("one", "four"))
        ranked: Sequence[Ranked] = await Batching(Steps()).rank(request)
        return ranked

    assert run(body()) == (Ranked(-1.0, 3), Ranked(-1.0, 4))
    assert not hasattr(Batching(Echo()), "rank")
