"""Asks a model a benchmark's questions and stores what comes.

The only place with retries, back-off, time-outs, budgets and a journal. Its unit is a group of
samples that share media; turn n+1 of a sample waits for turn n.
"""

from __future__ import annotations

import asyncio
import math
import os
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Literal

from snellen.core.benchmark import Benchmark, History
from snellen.core.deadline import Deadline
from snellen.core.model import (
    Expects,
    Generates,
    Generation,
    Model,
    Prompts,
    Ranks,
    Reply,
    Request,
    Streams,
    has_addresses,
    loaded,
    request_digest,
)
from snellen.core.outputs import check_ranking, check_reply
from snellen.core.sample import Sample
from snellen.core.scoring import whole_score
from snellen.data import Row
from snellen.errors import (
    DataError,
    MediaError,
    ModelError,
    Overloaded,
    Rejected,
    UsageError,
    message_of,
)
from snellen.media.content import Image, Video
from snellen.metrics import direction
from snellen.run.addresses import fetched
from snellen.run.budget import Budget
from snellen.run.clips import THREADS, Clips, videos_of
from snellen.run.limiter import Limiter, Slot
from snellen.run.progress import Progress
from snellen.run.selection import Selection, chosen
from snellen.run.sessions import Online, Terms, Told
from snellen.store import (
    FORMAT,
    Failure,
    Key,
    Question,
    Run,
    SeenMedia,
    ShownMedia,
    reply_record,
)

Group = list[tuple[Row, Sample]]
OnReply = Callable[[Sample, Reply], object]
"""Is told of each sample that has its last reply."""
Reuse = Callable[[str], tuple[str, Reply] | None]
"""The reply to a request, by its digest, that another run has, and that run's folder."""

GRACE = 10.0
"""Seconds for which a stopped run waits for the replies under way."""
TURNED_AWAY = 10
"""How often one question may be turned away by 429 before it counts as failed."""
HOPELESS = 3
"""So many 401s or 404s in a row end the run: no other question would fare better."""
LONGEST_RETRY_AFTER = 600.0
LONG = 50_000
"""Characters of a reply beyond which the running score goes without it; the report does not."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a run asks. None of it but `generation` and `seed` changes what is asked.

    `attempts` bounds how often one question is sent; the wait doubles from `backoff` seconds to
    `longest_wait`, unless the server names one.
    `timeout` is for models that have none of their own (None: it has).
    After `give_up` questions in a row without a reply (or twice the concurrency) the rest is left
    unasked. With `allow_urls` pictures are fetched from the addresses that data name.
    """

    generation: Generation = field(default_factory=Generation)
    seed: int | None = None
    repeats: int = 1
    attempts: int = 6
    backoff: float = 0.5
    longest_wait: float = 60.0
    timeout: float | None = 1800.0
    give_up: int = 20
    allow_urls: bool = False


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a run ended: `stopped` says why it did before its last question, None when it did not."""

    progress: Progress
    stopped: str | None = None
    interrupted: bool = False


class Stop:
    """Asks a run to end: no new questions, and GRACE seconds later none in flight either.

    A `patient` stop (a spent budget: what is in flight is paid) has no such limit, until another
    follows that is not (a person who interrupts).
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.interrupted = False
        self._stopping = asyncio.Event()
        self._hurrying = asyncio.Event()

    def set(self, reason: str, *, interrupted: bool = False, patient: bool = False) -> None:
        if self.reason is None:
            self.reason = reason
            self.interrupted = interrupted
            self._stopping.set()
        if not patient:
            self._hurrying.set()

    @property
    def hurried(self) -> bool:
        return self._hurrying.is_set()

    async def wait(self) -> None:
        await self._stopping.wait()

    async def wait_hurried(self) -> None:
        await self._hurrying.wait()


OwnMedia = list[ShownMedia] | None
"""A sample's own media as they are stored; None where its first turn shows just these."""


class _Opening:
    """The slot that a group starts with, its videos, and which of its samples have yet to send
    their first request."""

    def __init__(self, slot: Slot, group: Group, repeats: int, clips: Clips | None) -> None:
        self.slot: Slot | None = slot
        self.clips = clips
        self.all_sent = asyncio.Event()
        self._left = {(sample.id, repeat) for _, sample in group for repeat in range(repeats)}

    def take(self) -> Slot | None:
        slot, self.slot = self.slot, None
        return slot

    def sent(self, sample: str, repeat: int) -> None:
        self._left.discard((sample, repeat))
        if not self._left:
            self.all_sent.set()


class Asking:
    """One benchmark put to one model, into one run folder (loaded, locked)."""

    def __init__(
        self,
        benchmark: Benchmark,
        model: Model,
        run: Run,
        selection: Selection,
        settings: Settings,
        *,
        limiter: Limiter,
        budget: Budget,
        stop: Stop,
        progress: Progress,
        reuse: Reuse | None = None,
        on_reply: OnReply | None = None,
    ) -> None:
        self._benchmark = benchmark
        self._run = run
        self._selection = selection
        self._settings = settings
        self._limiter = limiter
        self._budget = budget
        self._stop = stop
        self._threads = ThreadPoolExecutor(THREADS, "decode")
        self._reuse = reuse
        self._on_reply = on_reply
        self.progress = progress
        budget.runs.append(progress)
        self._ask = _asker(benchmark, model)
        self._model = model
        self._wants_frames = getattr(model, "wants_frames", True)
        self._prompted = (
            model.prompted if isinstance(model, Prompts) and own_prompt(benchmark, model) else None
        )
        self._online = self._sessions(model) if benchmark.ask == "session" else None
        self._random = random.Random(os.getpid())
        self._failing = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._crash: BaseException | None = None

    async def ask_all(self) -> Outcome:
        """Ask every chosen question that has no reply yet.

        Raises:
            StoreError, DataError: the run cannot go on; what was stored stays.
        """
        flushing = asyncio.create_task(self._flush_every_second())
        flushing.add_done_callback(self._note_crash)
        stopping = asyncio.create_task(self._stop.wait())
        hurrying = asyncio.create_task(self._stop.wait_hurried())
        timer = self._start_timer()
        try:
            async with self._limiter.pump:
                starting = asyncio.create_task(self._start_groups())
                await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
                starting.cancel()
                await asyncio.wait({starting})
                self._note_crash(starting)
            while self._tasks and not self._stop.hurried:
                await asyncio.wait({*self._tasks, hurrying}, return_when=asyncio.FIRST_COMPLETED)
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=GRACE)
        finally:
            if timer is not None:
                timer.cancel()
            left = [*self._tasks, flushing, stopping, hurrying]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
            self._threads.shutdown(wait=False, cancel_futures=True)
            self.progress.finished = time.monotonic()
        if self._crash is not None:
            raise self._crash
        self._run.folder.flush()
        return Outcome(
            progress=self.progress,
            stopped=self._stop.reason,
            interrupted=self._stop.interrupted,
        )

    # -- starting

    async def _start_groups(self) -> None:
        """Start group after group; meanwhile the videos of the next ones are decoded."""
        groups = self._groups()
        ahead: deque[tuple[Group, Clips | None]] = deque()
        try:
            while True:
                while len(ahead) <= THREADS and (group := next(groups, None)) is not None:
                    ahead.append((group, self._clips_of(group)))
                    if ahead[-1][1] is None:
                        break
                if not ahead or not await self._start_group(*ahead.popleft()):
                    return
        finally:
            for _, clips in ahead:
                if clips is not None:
                    clips.close()

    def _clips_of(self, group: Group) -> Clips | None:
        """The videos of a group's first turns, which are being decoded from now on."""
        if self._online is not None or not self._wants_frames:
            return None
        of = self._videos_of(group)
        return Clips(of, self._settings.repeats, self._threads) if of else None

    def _videos_of(self, group: Group) -> dict[str, list[Video]]:
        """By sample, the videos of a group's first turns."""
        return {
            sample.id: videos_of(request)
            for _, sample in group
            if any(isinstance(medium, Video) for medium in sample.media)
            and (request := self._request(sample, (), 0)) is not None
        }

    def _sessions(self, model: Model) -> Online:
        assert isinstance(model, Streams)
        terms = Terms(
            limiter=self._limiter,
            attempts=self._settings.attempts,
            timeout=self._settings.timeout,
            wait=self._wait,
            begin=self._begin_question,
            stopped=lambda: self._stop.reason is not None,
        )
        generation, log = self._settings.generation, self._run.append_event
        return Online(self._benchmark, model, generation, log, terms, self._threads)

    def _begin_question(self) -> bool:
        """Count a question that a session is asked; False where the run asks no more."""
        if spent := self._budget.spent():
            self._stop.set(spent, interrupted=True, patient=True)
        if self._stop.reason:
            return False
        self.progress.requests += 1
        return True

    async def _start_group(self, group: Group, clips: Clips | None) -> bool:
        """Whether it was started: not if the budget is spent."""
        with ExitStack() as stack:
            stack.callback(_close, clips)
            # Questions that wait for their next attempt hold no slot: without this they would pile
            # up.
            most = 2 * self._limiter.limit + 16
            if self._online is not None:
                most = max(1, int(self._limiter.limit)) - 1  # each session holds a video open
            if self._budget.max_cost is not None and self.progress.mean_cost is None:
                most = 0  # until it is known what one costs
            while len(self._tasks) > most:
                await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
            if clips is not None:
                await clips.begun.wait()
            slot = await self._limiter.acquire(new=True)
            if spent := self._budget.spent():
                self._limiter.release()
                self._stop.set(spent, interrupted=True, patient=True)
                return False
            stack.pop_all()
        if isinstance(self._model, Expects) and self._online is None:
            self._model.expect([one for some in self._videos_of(group).values() for one in some])
        opening = _Opening(slot, group, self._settings.repeats, clips)
        task = asyncio.create_task(self._group(group, opening))
        self._tasks.add(task)
        task.add_done_callback(self._done)
        if len(group) > 1:
            await opening.all_sent.wait()
        return True

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._note_crash(task)

    def _note_crash(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if error is not None and self._crash is None:
            self._crash = error
            self._stop.set(str(error))

    def _groups(self) -> Iterator[Group]:
        """Samples to ask, those that share media together."""
        todo = self._todo()
        key = self._benchmark.group_by
        if key is None:
            for pair in todo:
                yield [pair]
            return
        groups: dict[str, Group] = {}
        for row, sample in todo:
            groups.setdefault(key(sample), []).append((row, sample))
        if self._benchmark.frames is not None:
            self.progress.videos_total = len(groups)
        yield from groups.values()

    def _todo(self) -> Iterator[tuple[Row, Sample]]:
        """Rows with something left to ask; those that are finished are counted, and not even made
        samples of."""
        repeats = self._settings.repeats
        # A session that keeps its questions is asked those again that are answered.
        keeps = self._online is not None and not self._online.forks
        single = self._benchmark.turns == 1 and not keeps
        for row in chosen(self._benchmark, self._selection):
            kept = min(self._run.finished_at(row.place), repeats) if single else 0
            if kept == repeats:
                self.progress.kept += kept
            else:
                yield row, self._benchmark.read(row)

    # -- one group, one sample, one request

    async def _group(self, group: Group, opening: _Opening) -> None:
        try:
            if self._online is not None:
                await self._watch(self._online, group, opening)
                return
            parts = [
                self._sample(row, sample, repeat, opening)
                for row, sample in group
                for repeat in range(self._settings.repeats)
            ]
            if len(parts) == 1:
                await parts[0]
            else:
                async with asyncio.TaskGroup() as tasks:
                    for part in parts:
                        tasks.create_task(part)
        finally:
            if opening.slot is not None:
                self._limiter.release()
            opening.all_sent.set()
            _close(opening.clips)
            if self.progress.videos_total is not None:
                self.progress.videos += 1

    async def _watch(self, online: Online, group: Group, opening: _Opening) -> None:
        """The sessions of a group, one after the other, that have something left to ask."""
        opening.all_sent.set()
        if online.apart and opening.take() is not None:
            self._limiter.release()
        rows = {sample.id: row for row, sample in group}
        for repeat in range(self._settings.repeats):
            for samples in online.sessions([sample for _, sample in group]):
                left = [one for one in samples if not self._run.has_reply((one.id, repeat, 0))]
                self.progress.kept += len(samples) - len(left)
                if left and not self._stop.reason:
                    # What was asked before stays in a session that is not forked: all of it again.
                    asked = left if online.forks else samples
                    await self._session(online, rows, asked, left, repeat)
                if spent := self._budget.spent():
                    self._stop.set(spent, interrupted=True, patient=True)

    async def _session(
        self,
        online: Online,
        rows: Mapping[str, Row],
        samples: Sequence[Sample],
        left: Sequence[Sample],
        repeat: int,
    ) -> None:
        loop = asyncio.get_running_loop()
        requests: dict[str, Request] = {}
        for sample in left:
            request = self._request(sample, (), repeat)
            assert request is not None
            key = (sample.id, repeat, 0)
            plain = request
            try:
                request = await self._with_fetched(request)
                request = await loop.run_in_executor(self._threads, loaded, request)
            except MediaError as error:
                own = self._own_media(key, sample, plain, plain)
                self._render(rows[sample.id], sample, key, request, own)
                self._failed(key, "", error, attempt=1, media=[])
                self.progress.failed += 1
                continue
            own = self._own_media(key, sample, plain, request)
            self._render(rows[sample.id], sample, key, request, own)
            requests[sample.id] = request
        asked = [sample for sample in samples if sample.id in requests or sample not in left]
        if not requests:
            return

        def tell(told: Told) -> None:
            request = requests.get(told.sample.id)
            if request is None:
                return
            key = (told.sample.id, repeat, 0)
            digest, seen = request_digest(request), _seen(request)
            self.progress.retries += told.attempts - 1
            if told.reply is not None:
                self._succeeded(key, digest, told.reply, told.attempts, seen)
                self._finished(told.sample, told.reply)
                return
            assert told.error is not None
            self._failed(key, digest, told.error, told.attempts, seen)
            if isinstance(told.error, ModelError) and not told.again:
                self._count_failure(told.error)
            else:
                self.progress.failed += 1

        seed = self._request(asked[0], (), repeat)
        assert seed is not None
        await online.run(asked, seed.seed, tell)

    async def _sample(self, row: Row, sample: Sample, repeat: int, opening: _Opening) -> None:
        try:
            await self._turns(row, sample, repeat, opening)
        finally:
            opening.sent(sample.id, repeat)
            if opening.clips is not None:
                opening.clips.release(sample.id)

    async def _turns(self, row: Row, sample: Sample, repeat: int, opening: _Opening) -> None:
        """Ask all turns of one sample."""
        history: History = ()
        asked = False
        reply: Reply | None = None
        turn = 0
        while True:
            key = (sample.id, repeat, turn)
            finished = self._run.has_reply(key)
            if finished and not self._run.lacks_question(key):
                self._check_place(row, key)
            if finished and self._benchmark.turns == 1 and not self._run.lacks_question(key):
                self.progress.kept += 1
                return
            request = self._request(sample, history, repeat)
            if request is None:
                if self._benchmark.by_turn is None:
                    self._run.append_end(sample.id, repeat, turn, _now())
                break
            if finished:
                known = self._run.final(key)
                assert known is not None
                reply = known.as_reply()
                if self._run.lacks_question(key):
                    read = _as_far_as_there(request)
                    self._render(
                        row, sample, key, read, self._own_media(key, sample, request, read)
                    )
            else:
                plain = request
                try:
                    if self._wants_frames and videos_of(request):
                        if opening.clips is None:
                            opening.clips = Clips({}, 1, self._threads)
                        request = await opening.clips.shown(request, sample.id)
                    request = loaded(await self._with_fetched(request))
                    own = self._own_media(key, sample, plain, request)
                    if self._prompted is not None:
                        worded = await self._prompted(request)
                        request = loaded(await self._with_fetched(worded))
                except (MediaError, ModelError) as error:
                    own = self._own_media(key, sample, plain, request)
                    self._render(row, sample, key, request, own)
                    self._failed(key, "", error, attempt=1, media=[])
                    self._count_failure(error)
                    return
                if self._stop.reason:
                    return
                fresh = self._render(row, sample, key, request, own)
                asked = True
                seen = _seen(request) if videos_of(request) or not fresh else []
                reply = await self._reply(key, request, opening, seen)
                if reply is None:
                    return
            history = (*history, (request.messages, reply))
            turn += 1
            if turn == self._benchmark.turns:
                break
        if asked and reply is not None:
            self._finished(sample, reply, history)
        else:
            self.progress.kept += 1

    async def _with_fetched(self, request: Request) -> Request:
        """The request with the pictures that lie on servers.

        Raises:
            MediaError: one cannot be fetched. DataError: the user has not allowed it, which ends
                the run: no other such question would fare better.
        """
        if not has_addresses(request):
            return request
        if not self._settings.allow_urls:
            try:
                return loaded(request)
            except MediaError as error:
                raise DataError(str(error)) from None
        return await fetched(request)

    def _request(self, sample: Sample, history: History, repeat: int) -> Request | None:
        seed = self._settings.seed
        if repeat:
            seed = (seed or 0) + repeat
        return self._benchmark.request(
            sample, history, generation=self._settings.generation, seed=seed
        )

    async def _reply(
        self, key: Key, request: Request, opening: _Opening, media: list[SeenMedia]
    ) -> Reply | None:
        """The reply to one request, asked again while that may help; every attempt is journaled."""
        digest = request_digest(request)
        if self._reuse is not None and (there := self._reuse(digest)) is not None:
            opening.sent(*key[:2])
            where, reply = there
            self._store(key, digest, reply, 1, media, reused=where)
            self.progress.reused += 1
            return reply
        attempt = turned_away = 0
        while True:
            attempt += 1
            slot = opening.take() or await self._limiter.acquire()
            opening.sent(*key[:2])
            if spent := self._budget.spent():
                self._stop.set(spent, interrupted=True, patient=True)
            if self._stop.reason:
                self._limiter.release()
                return None
            error = await self._attempt(key, digest, request, attempt, media, slot)
            if isinstance(error, Reply):
                return error
            turned_away += isinstance(error, Overloaded) and error.throttled
            last = attempt - turned_away >= self._settings.attempts
            last = last or turned_away > TURNED_AWAY
            if not isinstance(error, Overloaded) or last:
                self._count_failure(error)
                return None
            self.progress.retries += 1
            await self._wait(error, attempt)

    async def _attempt(
        self,
        key: Key,
        digest: str,
        request: Request,
        attempt: int,
        media: list[SeenMedia],
        slot: Slot,
    ) -> Reply | ModelError | MediaError:
        """Send a request once, and write down what came of it."""
        self.progress.in_flight += 1
        self.progress.requests += 1
        timeout = self._settings.timeout
        deadline = None if timeout is None else Deadline(timeout)
        try:
            async with deadline or nullcontext():
                reply = await self._ask(request)
        except TimeoutError as caught:
            error: ModelError | MediaError = Overloaded(
                f"no reply within {timeout:g} s"
                if deadline is not None and deadline.is_over
                else f"the model raised TimeoutError: {message_of(caught)}"
            )
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            error = Overloaded("the model gave the request up (its own task was cancelled)")
        except (ModelError, MediaError) as caught:
            error = caught
        else:
            self._limiter.replied(slot)
            self._succeeded(key, digest, reply, attempt, _as_shown(media, request, reply))
            return reply
        finally:
            self.progress.in_flight -= 1
            self._limiter.release()
        if isinstance(error, Overloaded) and error.throttled:
            self._limiter.throttled(slot)
        else:
            self._limiter.replied(slot)
        self._failed(key, digest, error, attempt, media)
        return error

    async def _wait(self, error: Overloaded, attempt: int) -> None:
        settings = self._settings
        wait = min(settings.longest_wait, settings.backoff * 2 ** (attempt - 1))
        wait *= 0.75 + 0.5 * self._random.random()
        if (seconds := _seconds(error.retry_after)) is not None:
            wait = min(seconds, LONGEST_RETRY_AFTER) + 0.1 * self._random.random()
        stopping = asyncio.create_task(self._stop.wait())
        await asyncio.wait({stopping}, timeout=wait)
        stopping.cancel()

    # -- the books

    def _succeeded(
        self, key: Key, digest: str, reply: Reply, attempt: int, media: list[SeenMedia]
    ) -> None:
        self._store(key, digest, reply, attempt, media)
        self._failing = 0
        self.progress.count(reply.usage)

    def _store(
        self,
        key: Key,
        digest: str,
        reply: Reply,
        attempt: int,
        media: list[SeenMedia],
        reused: str | None = None,
    ) -> None:
        kind: Literal["reply", "rank"] = "rank" if self._benchmark.ask == "rank" else "reply"
        self._run.append_reply(
            reply_record(
                key,
                digest,
                _now(),
                reply=reply,
                kind=kind,
                attempt=attempt,
                media=media,
                reused=reused,
            )
        )

    def _failed(
        self,
        key: Key,
        digest: str,
        error: ModelError | MediaError,
        attempt: int,
        media: list[SeenMedia],
    ) -> None:
        failure = Failure(type=type(error).__name__, message=message_of(error))
        self._run.append_reply(
            reply_record(key, digest, _now(), error=failure, attempt=attempt, media=media)
        )

    def _count_failure(self, error: ModelError | MediaError) -> None:
        """Count a question that got no reply; leave the rest unasked when no reply is to be
        expected."""
        self.progress.failed += 1
        hopeless = isinstance(error, Rejected) and error.hopeless
        if not hopeless and not isinstance(error, Overloaded):
            return
        self._failing += 1
        enough = HOPELESS if hopeless else max(self._settings.give_up, 2 * int(self._limiter.limit))
        if self._failing >= enough:
            self._stop.set(
                f"{self._failing} questions in a row got no reply; the last error: "
                f"{message_of(error)}"
            )

    def _own_media(self, key: Key, sample: Sample, plain: Request, read: Request) -> OwnMedia:
        """The sample's own media, as they are stored with its first turn, where the messages do not
        show just these; `read` is the request with its media read, as far as they could be."""
        if key[2]:
            return None
        shown = [*_media_of(plain)]
        same = len(shown) == len(sample.media) and all(map(_is_same, shown, sample.media))
        if same and self._prompted is None:
            return None
        known = dict(zip(map(id, shown), _media_of(read), strict=True))
        return [_shown(known.get(id(medium), medium)) for medium in sample.media]

    def _render(self, row: Row, sample: Sample, key: Key, request: Request, own: OwnMedia) -> bool:
        """Write the question's row, unless it has one; whether it was written."""
        if self._run.was_rendered(key):
            self._check_place(row, key)
            return False
        self._run.append_question(question_record(row, sample, key, request, own))
        return True

    def _check_place(self, row: Row, key: Key) -> None:
        """A first turn that the run has already, and not from this row, is another row's.

        Raises:
            DataError: two rows have one id.
        """
        if key[2] == 0 and not self._run.has_place(row.place):
            raise DataError(
                f"{self._benchmark.name}: row {row.place + 1} of {self._benchmark.data.where} has "
                f"the id {key[0]!r} of an earlier row. Ids must be unique: give each row its own. "
                "Replies so far are kept."
            )

    def _finished(self, sample: Sample, reply: Reply, history: History = ()) -> None:
        """Count a sample that has its last reply, and tell who wants to know: of each turn that is
        scored, where turns are.

        They are told in a task of its own: what they raise ends the run, and none of the questions
        that are asked beside this one.
        """
        self.progress.done += 1
        every: list[tuple[Sample | None, Reply]] = [(sample, reply)]
        if self._benchmark.by_turn is not None:
            turns = self._benchmark.scored_turns(sample)
            every = [(one, said) for one, (_, said) in zip(turns, history, strict=True)]
        for one, said in every:
            if one is None:
                continue
            self._running_score(said, one)
            if self._on_reply is not None:
                task = asyncio.create_task(self._told(self._on_reply, one, said))
                self._tasks.add(task)
                task.add_done_callback(self._done)

    async def _told(self, on_reply: OnReply, sample: Sample, reply: Reply) -> None:
        if self._crash is None:
            on_reply(sample, reply)

    def _running_score(self, reply: Reply, sample: Sample) -> None:
        scoring = self._benchmark.scorings[self._benchmark.headline]
        if len(reply.text) > LONG:
            return  # reading it would hold up the other requests
        if scoring.reads != self._benchmark.ask or sample.hidden:
            return
        if reply.state == "refused":
            # As the report counts it: wrong, where a score of 0 is known to be.
            known = direction(self._benchmark.name, next(iter(scoring.metrics))) is not None
            self.progress.refused += known
            return
        reading = scoring.parse(reply, sample)
        if reading.undecided:
            return  # only the whole run tells
        score = whole_score(scoring.score(reading, sample))
        if score is not None:
            self.progress.score_sum += score
            self.progress.score_n += 1

    def _start_timer(self) -> asyncio.TimerHandle | None:
        """Ends the run when its time is spent, also in the middle of a wait."""
        left = self._budget.seconds_left()
        if left is None:
            return None
        said = f"the time budget of {self._budget.max_seconds:g} s is spent"
        stop = partial(self._stop.set, said, interrupted=True)
        return asyncio.get_running_loop().call_later(max(0.0, left), stop)

    async def _flush_every_second(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(1.0)
            await loop.run_in_executor(None, self._run.folder.flush)


def own_prompt(benchmark: Benchmark, model: Model) -> bool:
    """Whether the model words the benchmark's questions itself: those of one turn, on pictures,
    without examples, and not under a probe.

    Raises:
        UsageError: it cannot say.
    """
    worded = benchmark.ask == "generate" and benchmark.turns == 1 and benchmark.frames is None
    worded = worded and not benchmark.shots and not benchmark.probe
    called = benchmark.called or benchmark.name
    return worded and isinstance(model, Prompts) and model.own_prompt(called)


def check_model(benchmark: Benchmark, model: Model) -> None:
    """Whether a model can be asked what a benchmark asks for.

    Raises:
        UsageError: it cannot.
    """
    _asker(benchmark, model)
    streaming = benchmark.streaming
    if streaming is not None and streaming.until and not getattr(model, "speaks", True):
        raise UsageError(
            f"{model.name} answers when it is asked, and cannot watch by itself for something to "
            f"say, as {benchmark.name} wants here. Ask it with mode=polled."
        )


def _asker(benchmark: Benchmark, model: Model) -> Callable[[Request], Awaitable[Reply]]:
    """The model's method for this benchmark's kind of question.

    Raises:
        UsageError: the model has none.
    """
    if benchmark.ask == "generate" and isinstance(model, Generates):
        generates = model

        async def generate(request: Request) -> Reply:
            return check_reply(await generates.generate(request), generates.name)

        return generate
    if benchmark.ask == "rank" and isinstance(model, Ranks):
        ranks = model

        async def rank(request: Request) -> Reply:
            ranking = check_ranking(await ranks.rank(request), request, ranks.name)
            return Reply(choices=tuple(ranking), stop="stop", shown=ranking.shown)

        return rank
    if benchmark.ask == "session" and isinstance(model, Streams):

        async def only_in_sessions(_: Request) -> Reply:
            raise Rejected(f"{model.name} is asked in sessions alone")

        return only_in_sessions
    raise UsageError(
        f"{benchmark.name} asks for `{benchmark.ask}`, which {model.name} does not offer. "
        "`snellen list models` says what each back end can do."
    )


def _seconds(value: object) -> float | None:
    """A wait that a model asks for; None where it is no number, or none that can be waited."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None


def _as_far_as_there(request: Request) -> Request:
    """The request with its media read, or as it is where one cannot be read any more."""
    try:
        return loaded(request)
    except MediaError:
        return request


def _seen(request: Request) -> list[SeenMedia]:
    return [
        SeenMedia(digest=part.digest, frames=_times(part))
        for message in request.messages
        for part in message.content
        if not isinstance(part, str) and part.digest is not None
    ]


def _as_shown(media: list[SeenMedia], request: Request, reply: Reply) -> list[SeenMedia]:
    """The media with the times of the frames that a model decoded itself."""
    if not media or reply.shown is None:
        return media
    shown = iter(reply.shown)
    parts = (part for message in request.messages for part in message.content)
    kinds = [type(part) for part in parts if not isinstance(part, str)]
    return [
        SeenMedia(digest=one.digest, frames=[*next(shown, ())]) if kind is Video else one
        for one, kind in zip(media, kinds, strict=True)
    ]


def _times(medium: Image | Video) -> list[float]:
    return [frame.time for frame in medium.frames] if isinstance(medium, Video) else []


def _close(clips: Clips | None) -> None:
    if clips is not None:
        clips.close()


def _media_of(request: Request) -> Iterator[Image | Video]:
    for message in request.messages:
        for part in message.content:
            if not isinstance(part, str):
                yield part


def _is_same(shown: Image | Video, own: Image | Video) -> bool:
    """Whether a prompt shows a sample's own medium; it sets the policy of a video."""
    if isinstance(shown, Video) and isinstance(own, Video):
        return (shown.source, shown.start, shown.end) == (own.source, own.start, own.end)
    return shown is own


def question_record(
    row: Row, sample: Sample, key: Key, request: Request, own: OwnMedia
) -> Question:
    media: list[ShownMedia] = []
    messages: list[tuple[str, list[str | int]]] = []
    for message in request.messages:
        parts: list[str | int] = []
        for part in message.content:
            if isinstance(part, str):
                parts.append(part)
            else:
                parts.append(len(media))
                media.append(_shown(part))
        messages.append((message.role, parts))
    return Question(
        format=FORMAT,
        key=key,
        place=row.place,
        row=row.digest,
        question=sample.question,
        messages=messages,
        media=media,
        sample_media=own,
        choices=list(sample.choices),
        target=sample.target,
        references=list(sample.references),
        tags=dict(sample.tags),
        data=dict(sample.data),
    )


def _shown(medium: Image | Video) -> ShownMedia:
    place = medium.place or (str(medium.source) if not isinstance(medium.source, bytes) else "")
    if isinstance(medium, Video):
        return ShownMedia(
            kind="video",
            place=place,
            digest=medium.digest,
            start=medium.start,
            end=medium.end,
            policy=medium.policy,
        )
    return ShownMedia(
        kind="image",
        place=place,
        digest=medium.digest,
        mime=medium.mime,
        width=medium.width,
        height=medium.height,
    )


def _now() -> str:
    now = time.time()
    return f"{_second(int(now))}.{int(now % 1 * 1000):03d}Z"


@lru_cache(maxsize=1)
def _second(now: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
