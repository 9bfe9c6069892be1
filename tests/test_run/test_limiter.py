"""The concurrency that `auto` finds, on a clock of its own."""

import asyncio
import selectors
from collections.abc import Callable
from typing import Any

import pytest

from snellen.run import Limiter


class Simulated(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer: an hour takes a moment."""

    def __init__(self) -> None:
        super().__init__(selectors.SelectSelector())
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self._now = max(self._now, self._scheduled[0].when())  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


def simulate(work: Callable[[], Any]) -> Any:
    loop = Simulated()
    try:
        return loop.run_until_complete(work())
    finally:
        loop.close()


async def drive(
    limiter: Limiter, questions: int, serve: Callable[[int], float | None]
) -> list[tuple[float, int]]:
    """Ask `questions` as the runner does; `serve(now in flight)` gives seconds, or None for a 429.
    Gives the level over time."""
    loop = asyncio.get_running_loop()
    levels: list[tuple[float, int]] = []
    flying = 0

    async def ask() -> None:
        nonlocal flying
        attempt = 0
        while True:
            slot = await limiter.acquire(new=attempt == 0)
            flying += 1
            levels.append((loop.time(), flying))
            seconds = serve(flying)
            await asyncio.sleep(0.001 if seconds is None else seconds)
            flying -= 1
            levels.append((loop.time(), flying))
            limiter.release()
            if seconds is not None:
                limiter.replied(slot)
                return
            limiter.throttled(slot)
            attempt += 1
            await asyncio.sleep(0.5 * 2**attempt)

    tasks: set[asyncio.Task[None]] = set()
    ended = asyncio.Event()

    def note_ended(task: asyncio.Task[None]) -> None:
        tasks.discard(task)
        ended.set()

    for _ in range(questions):
        while len(tasks) > 2 * limiter.limit + 16:
            ended.clear()
            await ended.wait()
        task = asyncio.create_task(ask())
        tasks.add(task)
        task.add_done_callback(note_ended)
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    return levels


def mean_level(levels: list[tuple[float, int]], start: float, end: float) -> float:
    area = before = 0.0
    level = 0
    for at, now in [*levels, (end, 0)]:
        if at > start:
            area += level * (min(at, end) - max(before, start))
        before, level = at, now
        if at >= end:
            break
    return area / (end - start)


@pytest.mark.parametrize("seconds", [0.2, 1.0, 4.0])
def test_auto_settles_just_below_the_level_that_is_turned_away(seconds: float) -> None:
    def serve(now: int) -> float | None:
        return seconds if now <= 40 else None

    async def work() -> list[tuple[float, int]]:
        return await drive(Limiter(), int(40 * 120 / seconds), serve)

    levels = simulate(work)

    for start in range(30, 100, 10):
        assert 32 <= mean_level(levels, start, start + 10) <= 40


def test_auto_stops_growing_when_more_requests_bring_no_more_replies() -> None:
    def serial(now: int) -> float | None:
        return 0.1 * now  # a server that works on one request at a time

    async def work() -> float:
        limiter = Limiter()
        await drive(limiter, 600, serial)
        return limiter.limit

    assert simulate(work) <= 16


def test_auto_grows_while_more_requests_bring_more_replies() -> None:
    async def work() -> float:
        limiter = Limiter()
        await drive(limiter, 5000, lambda now: 0.5)
        return limiter.limit

    assert simulate(work) > 1000


def test_auto_stays_at_what_the_machine_can_send_and_gives_the_reason() -> None:
    def bound(requests: int) -> str | None:
        return "only 300 files" if requests > 300 else None

    async def work() -> tuple[float, str | None]:
        limiter = Limiter(bound=bound)
        levels = await drive(limiter, 20_000, lambda now: 0.5)
        return mean_level(levels, 10, 30), limiter.bounded_by

    level, reason = simulate(work)
    assert 290 <= level <= 300
    assert reason == "only 300 files"


def once(load: float) -> float:
    return 1.0 if load <= 1 else 2.0


def constant_throughput(load: float) -> float:
    return max(1.0, load)


def half_throughput(load: float) -> float:
    return 1.0 if load <= 1 else 2.0 * load


@pytest.mark.parametrize(
    ("knee", "seconds", "slowdown"),
    [
        (90, 1, once),
        (90, 1, constant_throughput),
        (90, 1, half_throughput),
        (125, 1, half_throughput),
        (300, 2, half_throughput),
    ],
)
def test_auto_is_within_a_tenth_of_the_best_number_after_a_minute(
    knee: int, seconds: float, slowdown: Callable[[float], float]
) -> None:
    """With at most `knee` requests in flight, a reply takes `seconds`."""

    async def work() -> list[tuple[float, int]]:
        questions = int(140 * knee / seconds)
        return await drive(Limiter(), questions, lambda now: seconds * slowdown(now / knee))

    levels = simulate(work)

    ends = [at for (at, now), (_, before) in zip(levels[1:], levels, strict=False) if now < before]
    minute = [at for at in ends if 60 <= at < 120]
    nearly_over = ends[-3 * knee]
    rate = len(minute) / 60 if nearly_over > 120 else len(ends) / ends[-1]
    assert rate >= 0.9 * knee / seconds


@pytest.mark.parametrize("slowdown", [constant_throughput, half_throughput])
def test_drivers_that_search_at_the_same_time_do_not_outbid_each_other(
    slowdown: Callable[[float], float],
) -> None:
    """With more requests, each driver alone gets more replies at the expense of the others."""
    knee, drivers = 120, 4

    async def work() -> list[list[tuple[float, int]]]:
        limiters = [Limiter(start=2, others=drivers - 1) for _ in range(drivers)]

        def serve(now: int) -> float:
            return slowdown(sum(limiter.in_flight for limiter in limiters) / knee)

        async def ask(number: int) -> list[tuple[float, int]]:
            await asyncio.sleep(number / 3)
            return await drive(limiters[number], 180 * knee // drivers, serve)

        return await asyncio.gather(*map(ask, range(drivers)))

    by_driver = simulate(work)

    together = sum(mean_level(levels, 90, 150) for levels in by_driver)
    assert 0.6 * knee < together < 1.5 * knee


def test_auto_recovers_from_a_single_rejection_within_two_minutes() -> None:
    rejected = False

    def serve(now: int) -> float | None:
        nonlocal rejected
        if now == 8 and not rejected:
            rejected = True
            return None
        return 1.0

    async def work() -> float:
        limiter = Limiter()
        start = asyncio.get_running_loop().time()
        await drive(limiter, 5000, serve)
        return asyncio.get_running_loop().time() - start

    assert simulate(work) < 120


def test_a_fixed_number_stays_whatever_the_server_says() -> None:
    async def work() -> float:
        limiter = Limiter(12)
        await drive(limiter, 300, lambda now: 0.1 if now <= 10 else None)
        return limiter.limit

    assert simulate(work) == 12


def test_a_cancelled_wait_gives_its_place_back() -> None:
    async def work() -> int:
        limiter = Limiter(1)
        await limiter.acquire()
        waiting = asyncio.create_task(limiter.acquire())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.sleep(0)
        limiter.release()
        await asyncio.wait_for(limiter.acquire(), 1)
        return limiter.in_flight

    assert simulate(work) == 1


def test_a_wait_that_is_cancelled_just_as_it_is_granted_gives_its_place_back() -> None:
    async def work() -> int:
        limiter = Limiter(1)
        await limiter.acquire()
        waiting = asyncio.create_task(limiter.acquire())
        await asyncio.sleep(0)
        limiter.release()
        waiting.cancel()
        await asyncio.wait({waiting})
        return limiter.in_flight

    assert simulate(work) == 0


def test_a_new_question_waits_for_those_under_way() -> None:
    async def work() -> list[str]:
        limiter = Limiter(1)
        await limiter.acquire()
        order: list[str] = []

        async def wait(name: str, *, new: bool) -> None:
            await limiter.acquire(new=new)
            order.append(name)
            limiter.release()

        tasks = [asyncio.create_task(wait("new", new=True))]
        await asyncio.sleep(0)
        tasks.append(asyncio.create_task(wait("retry", new=False)))
        await asyncio.sleep(0)
        limiter.release()
        await asyncio.gather(*tasks)
        return order

    assert simulate(work) == ["retry", "new"]
