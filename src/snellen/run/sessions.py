"""A video streamed to a model's session: the clock, the frames as they come, the questions at their
times, and a log of all of it.

The runner owns the clock and the decoder. A session gets frames in order, each with its media time,
and questions; never a path, a duration or a later frame. What is logged of a frame or a question is
written before the session gets it, and nothing of it says what is right.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from secrets import token_hex
from typing import Any, TypeVar

import orjson

from snellen.core.benchmark import Benchmark
from snellen.core.deadline import Deadline
from snellen.core.model import (
    Emission,
    Forks,
    Generation,
    Query,
    Reply,
    Session,
    SessionSpec,
    Streams,
    Usage,
)
from snellen.core.outputs import check_emissions
from snellen.core.sample import Sample
from snellen.core.streaming import Streaming
from snellen.errors import MediaError, ModelError, Overloaded, UsageError, message_of
from snellen.media import video as videos
from snellen.media.content import Frame, Video
from snellen.run.limiter import Limiter
from snellen.store import FORMAT, EventRecord

STREAM = "fps:1,latest"
WAITING = 256
"""The most frames that wait for the model with `drop="oldest"`."""
AHEAD = 8
"""Frames that are decoded at once, ahead of the session."""
CLOSING = 10.0
"""Seconds that a session is given to close."""
ASKED_AT_ONCE = 16
"""Forks of one session that answer at once, where that changes nothing."""

T = TypeVar("T")
Log = Callable[[EventRecord], None]


@dataclass(frozen=True, kw_only=True)
class Told:
    """What became of one question: what was said, or the error instead, which several share where
    it ended the session (`again`: it was told of one before)."""

    sample: Sample
    reply: Reply | None = None
    error: ModelError | MediaError | None = None
    attempts: int = 1
    again: bool = False


@dataclass(frozen=True, kw_only=True)
class Terms:
    """On what terms sessions are asked: forks with a slot of the limiter each; again up to so
    often, with a wait between; no call longer than `timeout` seconds (None: the model sees to
    that). `begin` is asked before each question: False ends the session, as the run does."""

    limiter: Limiter
    attempts: int
    timeout: float | None
    wait: Callable[[Overloaded, int], Awaitable[None]]
    begin: Callable[[], bool]
    stopped: Callable[[], bool]


class _Stopped(Exception):
    """The run asks no more."""


@dataclass(frozen=True)
class _Arrival:
    """A frame or a question, and the media time at which it comes."""

    time: float
    place: int = -1
    sample: Sample | None = None


@dataclass
class _Watch:
    """The state of one session."""

    name: str
    seq: int = 0
    now: float = 0.0
    seen: int = -1
    """The number of the last frame that the session was fed."""
    given: int = 0
    dropped: list[int] = field(default_factory=list)
    cost: float = 0.0
    lags: list[float] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)


class Online:
    """Sessions of one benchmark with one model.

    Raises:
        UsageError: the frame policy is none for streams; or (when it is run) questions are to leave
            no trace, and the model's sessions cannot fork.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        model: Streams,
        generation: Generation,
        log: Log,
        terms: Terms,
        threads: ThreadPoolExecutor,
    ) -> None:
        assert benchmark.streaming is not None
        self._benchmark = benchmark
        self._streaming: Streaming = benchmark.streaming
        self._model = model
        self._generation = generation
        self._log = log
        self._terms = terms
        self._threads = threads
        self._policy = policy = videos.policy(benchmark.frames or STREAM)
        if policy.kind != "fps" or policy.max is not None or policy.rate is None:
            raise UsageError(
                f"frames are streamed by fps:R, with or without `latest`, and not by {policy}."
            )
        self.rate = policy.rate

    @property
    def forks(self) -> bool:
        """Whether forks answer."""
        return self._streaming.memory == "fork" and self._streaming.until is None

    @property
    def apart(self) -> bool:
        """Whether forks answer while the session is fed on, each with a slot of its own: where they
        share nothing (`forks_apart`), and the clock stands still."""
        alone = getattr(self._model, "forks_apart", False)
        return bool(self.forks and alone and self._streaming.clock == "logical")

    def sessions(self, samples: Sequence[Sample]) -> list[list[Sample]]:
        """The samples of a group by the session that they share, in the order of their times."""
        found: dict[str, list[Sample]] = {}
        for sample in samples:
            found.setdefault(self._streaming.session(sample), []).append(sample)
        return [sorted(of, key=self._streaming.when) for of in found.values()]

    async def run(
        self, samples: Sequence[Sample], seed: int | None, tell: Callable[[Told], None]
    ) -> None:
        """One session for these samples, from the first frame on; each is told of once."""
        left = {sample.id: sample for sample in samples}

        def told(found: Told) -> None:
            if left.pop(found.sample.id, None) is not None:
                tell(found)

        try:
            await self._run(samples, seed, told)
        except (ModelError, MediaError) as error:
            for number, sample in enumerate([*left.values()]):
                told(Told(sample=sample, error=error, again=number > 0))

    async def _run(
        self, samples: Sequence[Sample], seed: int | None, tell: Callable[[Told], None]
    ) -> None:
        video = next(part for part in samples[0].media if isinstance(part, Video))
        loop = asyncio.get_running_loop()
        streamed = await loop.run_in_executor(self._threads, videos.Streamed, video)
        feeding: _Feeding | None = None
        try:
            times = streamed.facts.times
            arrivals = self._arrivals(samples, times, streamed.facts.end)
            newest = {
                sample.id: bisect_left(times, self._streaming.when(sample)) - 1
                for sample in samples
            }
            places = {arrival.place for arrival in arrivals if arrival.sample is None}
            if self._policy.latest:
                places |= {place for place in newest.values() if place >= 0}
            feeding = _Feeding(streamed, sorted(places), self._policy, self._threads)
            session = self._streaming.session(samples[0])
            watch = _Watch(f"{session}@{time.time():.3f}")
            self._event(watch, "open", self._header(samples, seed))
            await _Running(self, watch, arrivals, newest, feeding, seed, tell).all()
        finally:
            if feeding is None:
                streamed.close()
            else:
                feeding.close()

    def _arrivals(
        self, samples: Sequence[Sample], times: Sequence[float], end: float
    ) -> list[_Arrival]:
        """Frames on the grid and questions, in order: at one time questions come first, since what
        they may see comes before it."""
        streaming = self._streaming
        end = max(end, times[-1] + 0.5 / self.rate)  # of a single frame too
        questions = [
            _Arrival(min(streaming.when(sample), end), sample=sample) for sample in samples
        ]
        last = max(question.time for question in questions)
        if streaming.until is not None:
            last = max(last, *(min(streaming.until(sample), end) for sample in samples))
        grid = videos.on_grid(times, self.rate, 0, 0.0, max(last, 0.5 / self.rate))
        frames = [_Arrival(due, place=place) for due, place in grid]
        return sorted([*questions, *frames], key=lambda arrival: arrival.time)

    def _header(self, samples: Sequence[Sample], seed: int | None) -> dict[str, Any]:
        streaming = self._streaming
        return {
            "samples": [sample.id for sample in samples],
            "model": self._model.name,
            "rate": self.rate,
            "memory": streaming.memory,
            "clock": streaming.clock,
            "drop": streaming.drop,
            "speed": streaming.speed,
            "frames": str(self._policy),
            "seed": seed,
        }

    def _event(self, watch: _Watch, kind: str, data: Mapping[str, Any]) -> None:
        self._log(
            EventRecord(format=FORMAT, session=watch.name, seq=watch.seq, ev=kind, data={**data})
        )
        watch.seq += 1


class _Running:
    """One session under way."""

    def __init__(
        self,
        online: Online,
        watch: _Watch,
        arrivals: Sequence[_Arrival],
        newest: Mapping[str, int],
        feeding: _Feeding,
        seed: int | None,
        tell: Callable[[Told], None],
    ) -> None:
        self._online = online
        self._streaming = online._streaming
        self._watch = watch
        self._arrivals = arrivals
        self._newest = newest
        self._feeding = feeding
        self._seed = seed
        self._tell = tell
        self._media_end = feeding.media_end
        self._names: dict[str, str] = {}
        self._asking: set[asyncio.Task[None]] = set()
        self._crash: BaseException | None = None
        self._began = 0.0

    async def all(self) -> None:
        online = self._online
        spec = SessionSpec(rate=online.rate, seed=self._seed, generation=online._generation)
        session = await self._within(online._model.open(spec))
        if self._forks and not isinstance(session, Forks) and self._n_questions > 1:
            raise UsageError(
                f"{online._model.name} cannot fork a session, so that a question would leave a "
                "trace in it: ask with memory=keep, or with scope=point, where each question has a "
                "session of its own."
            )
        reason = "broken off"
        try:
            if self._streaming.clock == "real":
                await self._feeding.get(self._feeding.first)  # decoding is not its time
            self._began = time.perf_counter()
            async for arrival in self._in_time():
                self._check()
                if arrival.sample is None:
                    await self._feed(session, arrival)
                else:
                    await self._ask(session, arrival, arrival.sample)
            await self._answers()
            if self._streaming.until is not None:
                self._tell_all()
            reason = "end"
        except _Stopped:
            reason = "stopped"
            await self._answers()
        except (ModelError, MediaError) as error:
            reason = f"{type(error).__name__}: {message_of(error)}"
            raise
        finally:
            for task in self._asking:
                task.cancel()
            await asyncio.gather(*self._asking, return_exceptions=True)
            await self._end(session)
            self._close(reason)

    def _check(self) -> None:
        """Raises what went wrong in a fork that answers beside the stream; that the run stops."""
        if self._crash is not None:
            raise self._crash
        if self._online._terms.stopped():
            raise _Stopped

    def _begin(self) -> None:
        if not self._online._terms.begin():
            raise _Stopped

    async def _answers(self) -> None:
        """Wait for the forks that answer."""
        while self._asking:
            await asyncio.wait(self._asking)
        if self._crash is not None:
            raise self._crash

    def _answered_beside(self, task: asyncio.Task[None]) -> None:
        self._asking.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, _Stopped):
            self._crash = self._crash or error

    async def _within(self, made: Awaitable[T]) -> T:
        """Raises Overloaded where it takes too long."""
        timeout = self._online._terms.timeout
        try:
            async with Deadline(timeout):
                return await made
        except TimeoutError as error:
            raise Overloaded(f"no answer of the session within {timeout:g} s") from error

    async def _end(self, session: Session) -> None:
        """Close it; what it was asked for is there, whatever comes of that."""
        with suppress(ModelError, TimeoutError):
            async with asyncio.timeout(CLOSING):
                await session.close()

    @property
    def _forks(self) -> bool:
        return self._online.forks

    @property
    def _n_questions(self) -> int:
        return sum(arrival.sample is not None for arrival in self._arrivals)

    # -- the clock

    async def _in_time(self) -> AsyncIterator[_Arrival]:
        """The arrivals as the session gets to them; frames that are dropped are logged alone."""
        watch, streaming = self._watch, self._streaming
        coming = deque(self._arrivals)
        waiting: deque[_Arrival] = deque()
        while coming or waiting:
            if streaming.clock == "real":
                watch.now = time.perf_counter() - self._began
            while coming and (coming[0].time <= watch.now or streaming.clock == "logical"):
                waiting.append(coming.popleft())
                if streaming.clock == "logical":
                    break
            self._drop(waiting)
            if not waiting:
                if streaming.clock == "real":
                    await asyncio.sleep(max(0.0, coming[0].time - watch.now))
                else:
                    watch.now = coming[0].time
                continue
            arrival = waiting.popleft()
            watch.now = max(watch.now, arrival.time)
            yield arrival

    def _drop(self, waiting: deque[_Arrival]) -> None:
        """Take out the frames that are lost: before each question, which never is."""
        drop, kept = self._streaming.drop, 1
        if drop == "none":
            return
        if drop == "oldest":
            kept = WAITING
        left: deque[_Arrival] = deque()
        run: list[_Arrival] = []
        for arrival in [*waiting, None]:
            if arrival is not None and arrival.sample is None:
                run.append(arrival)
                continue
            for lost in run[:-kept]:
                self._watch.dropped.append(lost.place)
                self._online._event(
                    self._watch, "frame", self._of_frame(lost) | {"delivered": False}
                )
            left.extend(run[-kept:])
            run.clear()
            if arrival is not None:
                left.append(arrival)
        waiting.clear()
        waiting.extend(left)

    async def _call(self, kind: str, made: Awaitable[T], target: str = "") -> T:
        """A call of the session, with what it cost on the media clock."""
        watch, streaming = self._watch, self._streaming
        start, began = watch.now, time.perf_counter()
        try:
            found = await self._within(made)
        finally:
            cost = streaming.costs.get(kind, time.perf_counter() - began)
            watch.cost += cost
            if streaming.clock == "simulated":
                watch.now = start + cost / streaming.speed
            self._online._event(
                watch,
                "call",
                {"kind": kind, "start": start, "cost": round(cost, 6)}
                | ({"fork": target} if target else {}),
            )
        if streaming.clock == "real":
            watch.now = time.perf_counter() - self._began
        return found

    # -- frames and questions

    async def _feed(self, session: Session, arrival: _Arrival) -> None:
        watch = self._watch
        if arrival.place <= watch.seen:
            return  # a question showed it already
        frame = await self._feeding.get(arrival.place)
        self._online._event(
            watch, "frame", self._of_frame(arrival) | _pixels(frame) | {"delivered": True}
        )
        watch.seen = arrival.place
        watch.given += 1
        said = self._emissions(await self._call("feed", session.feed([frame])))
        watch.lags.append(watch.now - arrival.time)
        self._emitted(said)

    def _of_frame(self, arrival: _Arrival) -> dict[str, Any]:
        times = self._feeding.times
        return {"k": arrival.place, "pts": times[arrival.place], "tau": arrival.time}

    async def _ask(self, session: Session, arrival: _Arrival, sample: Sample) -> None:
        online, watch = self._online, self._watch
        query = self._query(sample)
        must = self._streaming.until is None
        online._event(
            watch,
            "ask",
            {
                "query": sample.id,
                "text": blake2b(query.text.encode(), digest_size=16).hexdigest(),
                "at": arrival.time,
                "must_answer": must,
            },
        )
        place = self._newest[sample.id]
        if place < 0 and must:
            at = self._streaming.when(sample)
            error = MediaError(
                f"{self._streaming.session(sample)}: there is no frame before {at:g} s."
            )
            self._tell(Told(sample=sample, error=error))
            return
        latest = None
        if online._policy.latest and place > watch.seen:
            latest = await self._feeding.get(place)
        if not must:
            if latest is not None:
                await self._show(session, latest, place, "")
                watch.seen = place
            said = await self._call("ask", session.ask(query, must_answer=False))
            self._emitted(self._emissions(said))
            return
        if not self._forks:
            if latest is not None:
                await self._show(session, latest, place, "")
                watch.seen = place
            said = await self._kept(session, query)
            self._answered(sample, said, 1, arrival.time)
            return
        if not isinstance(session, Forks):  # nobody comes after its only question
            said = await self._asked(session, sample, query, latest, place)
            self._answered(sample, said, 1, arrival.time)
            return
        fork = await self._within(session.fork())
        answering = self._on_fork(fork, sample, query, latest, place, arrival.time)
        if not self._online.apart:
            await answering
            return
        if len(self._asking) >= ASKED_AT_ONCE:
            await asyncio.wait(self._asking, return_when=asyncio.FIRST_COMPLETED)
        task = asyncio.create_task(answering)
        self._asking.add(task)
        task.add_done_callback(self._answered_beside)

    async def _kept(self, session: Session, query: Query) -> Sequence[Emission]:
        """Ask the session itself; one that could not answer now again later."""
        terms = self._online._terms
        attempt = 0
        while True:
            attempt += 1
            self._begin()
            try:
                output = await self._call("ask", session.ask(query, must_answer=True))
                return self._emissions(output)
            except Overloaded as error:
                if attempt >= terms.attempts:
                    raise
                await terms.wait(error, attempt)

    async def _on_fork(
        self,
        fork: Session,
        sample: Sample,
        query: Query,
        latest: Frame | None,
        place: int,
        time: float,
    ) -> None:
        """Ask a fork of the fork; where that cannot answer now, another one later."""
        terms = self._online._terms
        assert isinstance(fork, Forks)
        attempt = 0
        try:
            while True:
                attempt += 1
                again = await self._within(fork.fork())
                try:
                    said = await self._asked(again, sample, query, latest, place)
                except Overloaded as error:
                    if attempt < terms.attempts and not terms.stopped():
                        await terms.wait(error, attempt)
                        continue
                    self._tell(Told(sample=sample, error=error, attempts=attempt))
                except ModelError as error:
                    self._tell(Told(sample=sample, error=error, attempts=attempt))
                else:
                    self._answered(sample, said, attempt, time)
                finally:
                    await self._end(again)
                return
        finally:
            await self._end(fork)

    async def _asked(
        self, fork: Session, sample: Sample, query: Query, latest: Frame | None, place: int
    ) -> Sequence[Emission]:
        limiter = self._online._terms.limiter
        slot = await limiter.acquire() if self._online.apart else None
        try:
            self._begin()
            if latest is not None:
                await self._show(fork, latest, place, sample.id)
            said = await self._call("ask", fork.ask(query, must_answer=True), sample.id)
            said = self._emissions(said)
        except Overloaded as error:
            if slot is not None:
                (limiter.throttled if error.throttled else limiter.replied)(slot)
            raise
        finally:
            if slot is not None:
                limiter.release()
        if slot is not None:
            limiter.replied(slot)
        return said

    async def _show(self, session: Session, frame: Frame, place: int, fork: str) -> None:
        """The newest frame before a question."""
        known = {"k": place, "pts": frame.time, "delivered": True}
        self._online._event(
            self._watch, "frame", known | _pixels(frame) | ({"fork": fork} if fork else {})
        )
        emissions = self._emissions(await self._call("feed", session.feed([frame]), fork))
        if not fork:
            self._emitted(emissions)

    def _query(self, sample: Sample) -> Query:
        request = self._online._benchmark.request(
            sample, generation=self._online._generation, seed=self._seed
        )
        assert request is not None
        # An id like 1234_3 says which of how many points it is.
        name = token_hex(8)
        self._names[name] = sample.id
        return Query(
            id=name,
            text="\n".join(message.text for message in request.messages),
            choices=sample.choices,
            max_tokens=self._online._generation.max_tokens,
            stop=request.stop,
        )

    # -- what is said

    def _emissions(self, value: object) -> list[Emission]:
        return check_emissions(value, self._online._model.name)

    def _answered(
        self, sample: Sample, said: Sequence[Emission], attempt: int, asked: float
    ) -> None:
        # On the logical clock it is said when it was asked, though frames may have come since.
        at = asked if self._streaming.clock == "logical" else self._watch.now
        for emission in said:
            self._emit(emission, sample.id, at)
        usage = [one.usage for one in said if one.usage is not None]
        reply = Reply(
            text="".join(one.text for one in said),
            stop=said[-1].stop if said else None,
            usage=_sum(usage) if usage else None,
        )
        self._tell(Told(sample=sample, reply=reply, attempts=attempt))

    def _emitted(self, said: Sequence[Emission]) -> None:
        """What a session says by itself: part after part of a message, up to a final one."""
        watch = self._watch
        for emission in said:
            query = None if emission.query is None else self._names.get(emission.query)
            self._emit(emission, query, watch.now)
            last = watch.messages[-1] if watch.messages else None
            if last is not None and not last["final"] and last["query"] == query:
                last["text"] += emission.text
                last["done"] = watch.now
                last["final"] = emission.final
            else:
                watch.messages.append(
                    {
                        "onset": watch.now,
                        "done": watch.now,
                        "text": emission.text,
                        "query": query,
                        "final": emission.final,
                    }
                )

    def _emit(self, emission: Emission, query: str | None, at: float) -> None:
        known: dict[str, Any] = {"text": emission.text, "at": at}
        if query is not None:
            known["query"] = query
        if not emission.final:
            known["final"] = False
        if emission.silence is not None:
            known["silence"] = emission.silence
        self._online._event(self._watch, "emit", known)

    def _tell_all(self) -> None:
        """Each standing question with what was said for it."""
        samples = [one.sample for one in self._arrivals if one.sample is not None]
        until = self._streaming.until
        assert until is not None
        silence: Sequence[str] = getattr(self._online._model, "silence", ())
        messages = [
            {key: value for key, value in message.items() if key != "final"}
            for message in self._watch.messages
        ]
        for sample in samples:
            mine: Sequence[Mapping[str, Any]] = messages
            if self._streaming.attribute is not None and len(samples) > 1:
                mine = self._streaming.attribute(messages, samples)[sample.id]
            text = orjson.dumps(
                {
                    "messages": [*mine],
                    "silence": [*silence],
                    "until": min(until(sample), self._media_end),
                }
            ).decode()
            self._tell(Told(sample=sample, reply=Reply(text=text, stop="stop")))

    def _close(self, reason: str) -> None:
        watch = self._watch
        media = max((arrival.time for arrival in self._arrivals), default=0.0)
        self._online._event(
            watch,
            "end",
            {
                "reason": reason,
                "media": media,
                "cost": round(watch.cost, 6),
                "frames": watch.given,
                "dropped": watch.dropped,
                "lag": round(max(watch.lags, default=0.0), 6),
            },
        )


def _pixels(frame: Frame) -> dict[str, Any]:
    image = frame.image
    return {"digest": image.digest, "width": image.width, "height": image.height}


def _sum(usage: Sequence[Usage]) -> Usage:
    def total(counts: Iterator[int | None]) -> int | None:
        known = [count for count in counts if count is not None]
        return sum(known) if known else None

    return Usage(
        input=total(one.input for one in usage),
        output=total(one.output for one in usage),
        reasoning=total(one.reasoning for one in usage),
        cached=total(one.cached for one in usage),
    )


class _Feeding:
    """Frames decoded in threads, a few ahead of the session; none holds one while it waits."""

    def __init__(
        self,
        streamed: videos.Streamed,
        places: Sequence[int],
        policy: videos.Policy,
        threads: ThreadPoolExecutor,
    ) -> None:
        self.times = streamed.facts.times
        self.media_end = streamed.facts.end
        self.first = places[0]
        self._streamed = streamed
        self._frames = streamed.frames(places, policy)
        self._threads = threads
        self._ahead: deque[tuple[int, Frame]] = deque()
        self._decoding: asyncio.Future[list[tuple[int, Frame]]] | None = None
        self._last: tuple[int, Frame] | None = None

    async def get(self, place: int) -> Frame:
        """The frame of a number; numbers must not fall.

        Raises:
            MediaError: it cannot be decoded.
        """
        while self._last is None or self._last[0] < place:
            if not self._ahead:
                self._ahead.extend(await self._more())
            self._last = self._ahead.popleft()
            if len(self._ahead) <= AHEAD // 2:
                self._begin()
        assert self._last[0] == place
        return self._last[1]

    def close(self) -> None:
        """Let the video go, once nobody decodes it."""
        if self._decoding is None or self._decoding.done():
            self._streamed.close()
        else:
            self._decoding.add_done_callback(lambda _: self._streamed.close())

    def _begin(self) -> None:
        if self._decoding is None:
            loop = asyncio.get_running_loop()
            self._decoding = loop.run_in_executor(self._threads, self._some)
            self._decoding.add_done_callback(_noticed)

    async def _more(self) -> list[tuple[int, Frame]]:
        self._begin()
        assert self._decoding is not None
        decoding, self._decoding = self._decoding, None
        try:
            return await asyncio.shield(decoding)
        finally:
            if not decoding.done():
                self._decoding = decoding  # to be closed behind it

    def _some(self) -> list[tuple[int, Frame]]:
        return [*islice(self._frames, AHEAD)]


def _noticed(decoding: asyncio.Future[list[tuple[int, Frame]]]) -> None:
    """It is no crash that a session which ended does not look at it."""
    if not decoding.cancelled():
        decoding.exception()
