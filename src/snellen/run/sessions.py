"""Asks the samples of a group in sessions to which their video is streamed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from snellen.core.benchmark import Benchmark
from snellen.core.model import Streams
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.errors import MediaError, ModelError, UsageError
from snellen.media import video as videos
from snellen.media.content import Video
from snellen.run.attempts import Attempts
from snellen.run.feeding import Feeding
from snellen.run.finished_windows import SessionPast, past_of
from snellen.run.group import Group
from snellen.run.media_clock import arrivals_of
from snellen.run.recorder import Turn
from snellen.run.requests import Requests
from snellen.run.session_log import SessionLog
from snellen.run.streamed_session import Setup, StreamedSession
from snellen.store import WindowRecord

STREAM = "fps:1,latest"
"""The frame policy for benchmarks that have none."""


class Sessions:
    """Runs the sessions of one benchmark with one model.

    Raises:
        UsageError: the frame policy does not work for streams.
    """

    has_steps = False
    """Whether a turn may take several requests."""

    def __init__(
        self,
        benchmark: Benchmark,
        model: Streams,
        requests: Requests,
        attempts: Attempts,
        threads: ThreadPoolExecutor,
    ) -> None:
        assert benchmark.procedure.streaming is not None
        policy = videos.policy(benchmark.procedure.frames or STREAM)
        if policy.kind != "fps" or policy.max is not None or policy.rate is None:
            raise UsageError(
                f"the frame policy {policy} does not work for streams. Use fps:R or fps:R,latest."
            )
        self._setup = Setup(
            model=model,
            streaming=benchmark.procedure.streaming,
            policy=policy,
            rate=policy.rate,
        )
        self._requests = requests
        self._attempts = attempts
        self._recorder = attempts.recorder
        self._threads = threads
        self._windows: dict[tuple[int, tuple[str, ...]], list[WindowRecord]] | None = None

    @property
    def replays(self) -> bool:
        """Whether questions with a stored reply are asked again, which is necessary if a session
        remembers its questions."""
        return not self._setup.forks

    @property
    def most_groups(self) -> int:
        """The maximum number of groups in progress. The number is small because each session keeps
        a video open."""
        return max(1, int(self._attempts.limiter.limit))

    def start_decoding(self, group: Group) -> None:
        """Do nothing, since the frames of a session are decoded while it runs."""

    def announce(self, group: Group) -> None:
        """Do nothing, since a session must not know about later videos."""

    def close(self) -> None:
        """Release nothing, since each session is closed when it ends."""

    def left_over(self) -> Sequence[Group]:
        """Return no groups, since the questions of sessions are not asked again with more
        tokens."""
        return ()

    async def ask(self, group: Group) -> None:
        """Run those sessions of a group that have questions without a reply, one after another."""
        group.all_sent.set()
        if self._setup.apart:
            group.release_slot(self._attempts.limiter)
        rows = {sample.id: row for row, sample in group.samples}
        for repeat in group.repeats:
            for samples in self._by_session([sample for _, sample in group.samples]):
                left = [sample for sample in samples if not self._has_reply(sample, repeat)]
                self._attempts.observer.samples_kept(len(samples) - len(left))
                if left and self._attempts.stop.reason is None:
                    await self._ask_session(samples if self.replays else left, rows, repeat)
                self._attempts.may_ask()  # if the session used up a budget, the run stops

    def _by_session(self, samples: Sequence[Sample]) -> list[list[Sample]]:
        """Split the samples of a group into sessions, each in the order of the questions' times."""
        streaming = self._setup.streaming
        sessions: dict[str, list[Sample]] = {}
        for sample in samples:
            sessions.setdefault(streaming.session(sample), []).append(sample)
        return [sorted(shared, key=streaming.when) for shared in sessions.values()]

    def _has_reply(self, sample: Sample, repeat: int) -> bool:
        return self._recorder.has_reply(self._recorder.key(sample, repeat))

    async def _ask_session(
        self, samples: Sequence[Sample], rows: Mapping[str, Row], repeat: int
    ) -> None:
        """Run one session for these samples, starting at the first frame."""
        turns: dict[str, Turn] = {}
        for sample in samples:
            turn = await self._prepare(rows[sample.id], sample, repeat)
            if turn is not None:
                turns[sample.id] = turn
        if all(turn.replayed for turn in turns.values()):
            return
        ready = [sample for sample in samples if sample.id in turns]
        await self._stream(ready, turns, self._requests.seed(repeat))

    async def _prepare(self, row: Row, sample: Sample, repeat: int) -> Turn | None:
        """Prepare a question so that it can be asked; None if its media cannot be read."""
        key = self._recorder.key(sample, repeat)
        worded = self._requests.request(sample, (), repeat)
        assert worded is not None
        if self._recorder.has_reply(key):
            return Turn(key, worded, replayed=True)
        prepared = await self._requests.prepare_session(worded)
        self._recorder.write_question(row, sample, key, prepared)
        if prepared.error is not None:
            self._attempts.fail(Turn(key, prepared.request), prepared.error)
            return None
        return self._recorder.turn(key, prepared.request)

    async def _stream(
        self, samples: Sequence[Sample], turns: Mapping[str, Turn], seed: int | None
    ) -> None:
        """Stream the video. If the session fails, the remaining questions fail with the same
        error."""
        unsettled, counted = [*turns.values()], False
        session: StreamedSession | None = None
        loop = asyncio.get_running_loop()
        try:
            video = next(medium for medium in samples[0].media if isinstance(medium, Video))
            streamed = await loop.run_in_executor(self._threads, videos.Streamed, video)
            try:
                session, feeding = self._open(streamed, samples, turns, seed)
            except BaseException:
                streamed.close()
                raise
            try:
                await session.run(seed)
            finally:
                feeding.close()
        except (ModelError, MediaError) as error:
            if session is not None:
                unsettled = [*session.unsettled.values()]
                counted = session.error_counted
            for turn in unsettled:
                if not turn.replayed:
                    self._attempts.fail(turn, error, shared=counted)
                    counted = True

    def _open(
        self,
        streamed: videos.Streamed,
        samples: Sequence[Sample],
        turns: Mapping[str, Turn],
        seed: int | None,
    ) -> tuple[StreamedSession, Feeding]:
        """Create the session for an open video, and the supply of its frames."""
        setup, times = self._setup, streamed.facts.times
        arrivals = arrivals_of(setup.streaming, samples, setup.rate, times, streamed.facts.end)
        indices = {arrival.index for arrival in arrivals if arrival.sample is None}
        if setup.policy.latest:
            indices |= {arrival.index for arrival in arrivals if arrival.index >= 0}
        feeding = Feeding(streamed, sorted(indices), setup.policy, self._threads)
        name = f"{setup.streaming.session(samples[0])}@{time.time():.3f}"
        log = SessionLog(name, self._recorder.write_event)
        log.open(self._header(samples, seed))
        past = self._past(samples, min(turn.key.repeat for turn in turns.values()))
        if not past.fits(indices, turns.keys()):
            past = SessionPast()
        session = StreamedSession(setup, self._attempts, turns, arrivals, feeding, log, past)
        return session, feeding

    def _past(self, samples: Sequence[Sample], repeat: int) -> SessionPast:
        """What an interrupted session with the same questions got and sent."""
        if self._setup.streaming.windows is None:
            return SessionPast()
        if self._windows is None:
            self._windows = {}
            for record in self._recorder.windows():
                shared = record.key.repeat, tuple(record.samples)
                self._windows.setdefault(shared, []).append(record)
        key = repeat, tuple(sample.id for sample in samples)
        return past_of(self._windows.get(key, ()))

    def _header(self, samples: Sequence[Sample], seed: int | None) -> dict[str, Any]:
        streaming = self._setup.streaming
        return {
            "samples": [sample.id for sample in samples],
            "model": self._setup.model.name,
            "rate": self._setup.rate,
            "memory": streaming.memory,
            "clock": streaming.clock,
            "drop": streaming.drop,
            "speed": streaming.speed,
            "frames": str(self._setup.policy),
            "seed": seed,
        }
