"""Streams one video to one session of a model, with frames and questions at their times.

A session gets frames in order, each with its media time, and questions. A session never gets the
path or the duration of the video, or frames that come after the current question.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import orjson

from snellen.core.model import (
    Emission,
    Forks,
    Query,
    Reply,
    Session,
    SessionSpec,
    Streams,
)
from snellen.core.outputs import check_emissions
from snellen.core.sample import Sample
from snellen.core.streaming import SessionMessage, Streaming
from snellen.errors import MediaError, ModelError, UsageError, message_of
from snellen.media import video as videos
from snellen.media.content import Frame
from snellen.run.attempts import Attempts, within
from snellen.run.feeding import Feeding
from snellen.run.finished_windows import Replay, SessionPast, WindowJournal
from snellen.run.limiter import RequestSlot
from snellen.run.media_clock import Arrival, MediaClock
from snellen.run.recorder import Turn
from snellen.run.session_log import SessionLog, Utterances

CLOSING = 10.0
"""The time limit for closing a session, in seconds."""
MOST_FORKS = 16
"""The maximum number of forks of one session that answer concurrently, if concurrency cannot change
replies."""

T = TypeVar("T")


class _Stopped(Exception):
    """Raised if the run stops, so that no more questions are asked."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """How a benchmark's videos are streamed to a model."""

    model: Streams
    """The model that watches."""
    streaming: Streaming
    """The benchmark's rules for streams."""
    policy: videos.Policy
    """The policy that selects the frames that are streamed."""
    rate: float
    """The policy's frames per second."""

    @property
    def forks(self) -> bool:
        """Whether questions go to forks of the session, so that no question affects later
        replies."""
        return self.streaming.memory == "fork" and self.streaming.until is None

    @property
    def apart(self) -> bool:
        """Whether each fork has a slot of its own and answers while the session gets further
        frames. This requires that forks share no state (`forks_apart`) and that calls do not
        advance the clock."""
        alone = getattr(self.model, "forks_apart", False)
        return bool(self.forks and alone and self.streaming.clock == "logical")


@dataclass(frozen=True)
class _PosedQuestion:
    """A question that is about to be sent to a session."""

    sample: Sample
    turn: Turn
    arrival: Arrival
    query: Query
    latest: Frame | None
    """The newest frame before the question, if the session has not seen it yet."""


class _Forks:
    """Runs the forks of one session that answer while the session gets further frames."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None

    async def start(self, asking: Coroutine[Any, Any, None]) -> None:
        if len(self._tasks) >= MOST_FORKS:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        task = asyncio.create_task(asking)
        self._tasks.add(task)
        task.add_done_callback(self._note_ended)

    def check(self) -> None:
        """Raise the first error of a fork, if there is one."""
        if self._error is not None:
            raise self._error

    async def wait(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks)
        self.check()

    async def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _note_ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, _Stopped):
            self._error = self._error or error


class StreamedSession:
    """One session in progress."""

    def __init__(
        self,
        setup: Setup,
        attempts: Attempts,
        turns: Mapping[str, Turn],
        arrivals: Sequence[Arrival],
        feeding: Feeding,
        log: SessionLog,
        past: SessionPast,
    ) -> None:
        self.unsettled = dict(turns)
        """The turns of the questions that have no outcome yet, keyed by sample id."""
        self.error_counted = False
        """Whether the error that ended the session was counted as a question's failure."""
        self._setup = setup
        self._attempts = attempts
        self._turns = turns
        self._samples = [arrival.sample for arrival in arrivals if arrival.sample is not None]
        self._feeding = feeding
        self._log = log
        self._clock = MediaClock(setup.streaming, arrivals, self._log_lost)
        self._utterances = Utterances(log)
        repeat = min(turn.key.repeat for turn in turns.values())
        self._windows = WindowJournal(
            attempts.recorder, setup.streaming, self._samples, repeat, past, log
        )
        self._seen = -1  # the index of the last frame that the session got
        self._forks = _Forks()

    async def run(self, seed: int | None) -> None:
        """Stream the video from its first frame, or from the end of an interrupted session, to the
        last question.

        Raises:
            ModelError, MediaError: the session failed. The questions in `unsettled` have no
            outcome.
            UsageError: questions must not affect later replies, but the session has several
                questions and cannot fork.
        """
        setup = self._setup
        spec = SessionSpec(
            rate=setup.rate, seed=seed, generation=self._attempts.settings.generation
        )
        session = await self._within(setup.model.open(spec))
        if setup.forks and not isinstance(session, Forks) and len(self._turns) > 1:
            raise UsageError(
                f"{setup.model.name} cannot fork a session, so a question would affect the replies "
                "to later questions. Use memory=keep to allow this, or scope=point, which gives "
                "each question its own session."
            )
        reason = "broken off"
        try:
            await self._stream(session)
            reason = "end"
        except _Stopped:
            reason = "stopped"
            await self._forks.wait()
        except (ModelError, MediaError) as error:
            reason = f"{type(error).__name__}: {message_of(error)}"
            raise
        finally:
            await self._forks.cancel()
            await _close(session)
            self._log.end(reason, self._clock.end - self._clock.began_at)

    async def _stream(self, session: Session) -> None:
        if self._windows.past.calls:
            await self._replay(session)
        elif self._setup.streaming.clock == "real":
            # The time for decoding the first frame must not count as the session's time.
            await self._feeding.get(self._feeding.first)
        self._clock.start()
        async for arrival in self._clock.arrivals():
            self._forks.check()
            if self._attempts.stop.reason is not None:
                raise _Stopped
            self._windows.finish(arrival.time, self._clock.now)
            if arrival.sample is None:
                await self._feed(session, arrival)
            else:
                await self._ask(session, arrival, arrival.sample)
        await self._forks.wait()
        if self._setup.streaming.until is not None:
            self._settle_standing()

    # -- calls of the session

    async def _within(self, call: Awaitable[T]) -> T:
        return await within(self._attempts.settings.timeout, call, "answer of the session")

    async def _call(
        self, kind: str, call: Awaitable[Sequence[Emission]], fork: str = ""
    ) -> list[Emission]:
        """Call the session or a fork, and advance the media clock by the cost of the call."""
        start, began = self._clock.now, time.perf_counter()
        try:
            emissions = await self._within(call)
        finally:
            cost = self._clock.charge(kind, start, time.perf_counter() - began)
            self._log.call(kind, start, cost, fork)
        return check_emissions(emissions, self._setup.model.name)

    async def _replay(self, session: Session) -> None:
        """Bring a new session to the state of the interrupted session."""

        async def within(call: Awaitable[T]) -> T:
            result = await self._within(call)
            if self._attempts.stop.reason is not None:
                raise _Stopped
            return result

        def query_of(name: str) -> tuple[Sample, Query]:
            sample = next(sample for sample in self._samples if sample.id == name)
            return sample, self._query(sample, self._turns[name])

        past = self._windows.past
        replay = Replay(past, self._feeding, self._log, self._utterances, query_of)
        await replay.run(session, self._setup.model.name, within)
        self._clock.resume(past.until, past.clock)
        self._seen = max(past.frames, default=-1)

    # -- frames

    async def _feed(self, session: Session, arrival: Arrival) -> None:
        if arrival.index <= self._seen:
            return  # the frame was already shown with a question
        frame = await self._feeding.get(arrival.index)
        self._log.frame(arrival, frame, self._feeding.times[arrival.index])
        self._seen = arrival.index
        emissions = await self._call("feed", session.feed([frame]))
        self._log.lag(self._clock.now - arrival.time)
        self._hear(emissions, frame=arrival.index)

    async def _show_latest(
        self, session: Session, question: _PosedQuestion, fork: str = ""
    ) -> None:
        """Show the newest frame before a question to a fork or to the session itself."""
        if question.latest is None:
            return
        index = question.arrival.index
        self._log.latest_frame(index, question.latest, fork)
        emissions = await self._call("feed", session.feed([question.latest]), fork)
        if not fork:
            self._hear(emissions, frame=index)
            self._seen = index

    def _hear(
        self, emissions: Sequence[Emission], *, frame: int | None = None, query: str | None = None
    ) -> None:
        """Collect what the session said on its own after it got a frame or a question."""
        now = self._clock.now
        self._utterances.add(emissions, now)
        self._windows.note(emissions, self._utterances, now, frame=frame, query=query)

    def _log_lost(self, arrival: Arrival) -> None:
        self._log.lost_frame(arrival, self._feeding.times[arrival.index])

    # -- questions

    async def _ask(self, session: Session, arrival: Arrival, sample: Sample) -> None:
        must_answer = self._setup.streaming.until is None
        turn = self._turns[sample.id]
        query = self._query(sample, turn)
        self._log.question(sample, query, arrival.time, must_answer)
        if arrival.index < 0 and must_answer:
            self._fail_unseen(sample, turn)
            return
        latest = None
        if self._setup.policy.latest and arrival.index > self._seen:
            latest = await self._feeding.get(arrival.index)
        question = _PosedQuestion(sample, turn, arrival, query, latest)
        if not must_answer:
            await self._show_latest(session, question)
            emissions = await self._call("ask", session.ask(query, must_answer=False))
            self._hear(emissions, query=sample.id)
        elif not self._setup.forks or not isinstance(session, Forks):
            await self._ask_session(session, question)
        else:
            await self._start_fork(session, question)

    def _query(self, sample: Sample, turn: Turn) -> Query:
        return Query(
            id=self._utterances.query_id(sample),
            text="\n".join(message.text for message in turn.request.messages),
            choices=sample.choices,
            max_tokens=self._attempts.settings.generation.max_tokens,
            stop=turn.request.stop,
        )

    def _fail_unseen(self, sample: Sample, turn: Turn) -> None:
        """Fail a question that comes before the first frame."""
        del self.unsettled[sample.id]
        if not turn.replayed:
            label = self._setup.streaming.session(sample)
            at = self._setup.streaming.when(sample)
            error = MediaError(f"{label}: there is no frame before {at:g} s.")
            self._attempts.fail(turn, error)

    async def _ask_session(self, session: Session, question: _PosedQuestion) -> None:
        """Ask the session itself instead of a fork. Either the session is meant to remember its
        questions, or this is its only question."""
        fork = question.sample.id if self._setup.forks else ""
        await self._show_latest(session, question, fork)
        send = partial(self._answer, session, question, fork)
        outcome = await self._attempts.reply(question.turn, send, self._acquire)
        self._settle(question.sample, question.turn, outcome)
        if not isinstance(outcome, Reply):
            assert outcome is not None
            self.error_counted = not question.turn.replayed
            raise outcome

    async def _start_fork(self, session: Forks, question: _PosedQuestion) -> None:
        """Ask a fork of the session, and wait for its reply unless forks answer concurrently."""
        fork = await self._within(session.fork())
        asking = self._ask_fork(fork, question)
        if self._setup.apart:
            await self._forks.start(asking)
        else:
            await asking

    async def _ask_fork(self, fork: Session, question: _PosedQuestion) -> None:
        """Ask a question. Each attempt gets its own fork of this fork."""
        opened: list[Session] = []
        assert isinstance(fork, Forks)

        async def send() -> Reply:
            while opened:
                await _close(opened.pop())
            again = await self._within(fork.fork())
            opened.append(again)
            await self._show_latest(again, question, question.sample.id)
            return await self._answer(again, question, question.sample.id)

        try:
            outcome = await self._attempts.reply(question.turn, send, self._acquire)
            self._settle(question.sample, question.turn, outcome)
        finally:
            for session in [*opened, fork]:
                await _close(session)

    @property
    def _acquire(self) -> Callable[[], Awaitable[RequestSlot]] | None:
        """The function that acquires a slot for an attempt; None if the session uses its group's
        slot."""
        return self._attempts.limiter.acquire if self._setup.apart else None

    async def _answer(self, session: Session, question: _PosedQuestion, fork: str) -> Reply:
        emissions = await self._call("ask", session.ask(question.query, must_answer=True), fork)
        # On the logical clock, the reply has the time of its question, although further frames may
        # have arrived in the meantime.
        at = question.arrival.time if self._setup.streaming.clock == "logical" else self._clock.now
        return self._utterances.answer(question.sample, emissions, at)

    # -- outcomes

    def _settle(
        self, sample: Sample, turn: Turn, outcome: Reply | ModelError | MediaError | None
    ) -> None:
        if outcome is None:
            raise _Stopped
        del self.unsettled[sample.id]
        if isinstance(outcome, Reply) and not turn.replayed:
            self._attempts.observer.sample_finished([(sample, outcome)])

    def _settle_standing(self) -> None:
        """Store the messages that the session sent for each question as the reply to this question.
        This is for benchmarks whose questions may be answered at any time."""
        streaming = self._setup.streaming
        assert streaming.until is not None
        silence: Sequence[str] = getattr(self._setup.model, "silence", ())
        messages: Sequence[SessionMessage] = self._utterances.messages
        by_sample: Mapping[str, Sequence[SessionMessage]] = dict.fromkeys(self._turns, messages)
        if streaming.attribute is not None and len(self._samples) > 1:
            by_sample = streaming.attribute(messages, self._samples)
        for sample in self._samples:
            turn = self._turns[sample.id]
            spoken = {
                "messages": [*by_sample[sample.id]],
                "silence": [*silence],
                "until": min(streaming.until(sample), self._feeding.media_end),
            }
            reply = Reply(text=orjson.dumps(spoken).decode(), stop="stop")
            if not turn.replayed:
                self._attempts.keep(turn, reply)
            self._settle(sample, turn, reply)


async def _close(session: Session) -> None:
    """Close a session. Errors are ignored, since all replies of the session have already
    arrived."""
    with suppress(ModelError, TimeoutError):
        async with asyncio.timeout(CLOSING):
            await session.close()
