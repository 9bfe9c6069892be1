"""Starts the questions of one run, one group after another, and ends the run.

`Scheduler` starts groups of samples that share media. `Conversations` or `Sessions` ask the samples
of a group. `Attempts` sends each question until it has a reply, `Recorder` stores the outcome, and
`Observer`s receive the events.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from snellen.core.benchmark import Benchmark
from snellen.core.model import Model, Streams
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.media.frame_cache import FrameCache
from snellen.run.attempts import Attempts
from snellen.run.budget import Budget
from snellen.run.clips import THREADS, VideoDecoding
from snellen.run.conversations import Conversations, Reuse
from snellen.run.group import Group
from snellen.run.limiter import Limiter
from snellen.run.model_calls import own_prompt
from snellen.run.observer import Observer, Observers, ProgressCounter, RunningScore
from snellen.run.progress import Progress
from snellen.run.readings import Readings
from snellen.run.recorder import Recorder
from snellen.run.requests import Requests
from snellen.run.selection import Selection, chosen, unfinished
from snellen.run.settings import Settings
from snellen.run.stop import Stop
from snellen.run.token_limit import TokenLimit
from snellen.store import Run

if TYPE_CHECKING:
    from snellen.run.tool_use import ToolUse

GRACE = 10.0
"""How long a stopped run waits for requests in flight, in seconds."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One benchmark that is run with one model."""

    benchmark: Benchmark
    """The benchmark."""
    model: Model
    """The model."""
    run: Run
    """The folder for questions and replies. The caller loads and locks it."""
    selection: Selection
    """The rows that are asked."""
    settings: Settings
    """How the questions are asked."""
    limiter: Limiter
    """Limits concurrent requests; shared by all jobs that use the same server."""
    budget: Budget
    """The limits on requests, cost, and time; shared by all jobs of one invocation."""
    stop: Stop
    """States whether the run must stop, and for what reason."""
    progress: Progress
    """Counts the progress of the run."""
    all_parts: Selection | None = None
    """The selected rows of all parts, if this job asks a part of the run; None otherwise."""
    reuse: Reuse | None = None
    """Looks up another run's reply to a request."""
    limit: TokenLimit = field(default_factory=lambda: TokenLimit(None))
    """The token limit of the requests."""
    tools: ToolUse | None = None
    """How the questions use tools; None if there are no tools."""
    readings: Readings | None = None
    """Keeps the readings of the running score for the report; None if there is no report."""
    frame_cache: FrameCache | None = None
    """Where frames of videos are kept for later runs; None if they are not kept."""
    observers: Sequence[Observer] = ()
    """Observers that receive the run's events, in addition to the progress and the running
    score."""


class Asker(Protocol):
    """Asks the samples of a group."""

    @property
    def replays(self) -> bool:
        """Whether questions that already have a reply are asked again if another question of their
        group has none."""

    @property
    def has_steps(self) -> bool:
        """Whether a turn may take several requests."""

    @property
    def most_groups(self) -> int:
        """The maximum number of groups in progress."""

    def start_decoding(self, group: Group) -> None:
        """Start decoding the group's videos while earlier groups are asked."""

    def announce(self, group: Group) -> None:
        """Called when the group is about to be asked."""

    async def ask(self, group: Group) -> None:
        """Ask those questions of a group that have no reply."""

    def close(self) -> None:
        """Release what is held for asking."""

    def left_over(self) -> Sequence[Group]:
        """Groups that are asked again after all other groups, because they need more tokens."""


class Scheduler:
    """Asks one model the questions of one benchmark."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._stop = job.stop
        self._limiter = job.limiter
        self._decoding = VideoDecoding(cache=job.frame_cache)
        score = RunningScore(job.benchmark, job.progress, job.readings)
        watching = (ProgressCounter(job.progress), score)
        self._observer = Observers([*watching, *job.observers])
        self._recorder = Recorder(
            job.run, job.benchmark, own_prompt=own_prompt(job.benchmark, job.model)
        )
        self._attempts = Attempts(
            job.settings,
            self._recorder,
            self._observer,
            limiter=job.limiter,
            budget=job.budget,
            stop=job.stop,
        )
        self._asker = self._make_asker()
        self._tasks: set[asyncio.Task[None]] = set()
        job.budget.runs.append(job.progress)

    def _make_asker(self) -> Asker:
        benchmark, model = self._job.benchmark, self._job.model
        requests = Requests(benchmark, model, self._job.settings, self._decoding)
        if benchmark.procedure.kind == "session":
            from snellen.run.sessions import Sessions  # few benchmarks have sessions

            assert isinstance(model, Streams)
            return Sessions(benchmark, model, requests, self._attempts, self._decoding.threads)
        job = self._job
        if job.tools is None:
            return Conversations(benchmark, model, requests, self._attempts, job.reuse, job.limit)
        from snellen.run.steps import StepConversations  # few runs have tools

        return StepConversations(
            benchmark, model, requests, self._attempts, job.reuse, job.limit, job.tools
        )

    async def ask_all(self) -> None:
        """Ask every selected question that has no reply. If the run ends early, the job's `stop`
        gives the reason.

        Raises:
            StoreError, DataError: the run cannot continue. Stored records are kept.
        """
        flushing = asyncio.create_task(self._recorder.flush_every_second())
        flushing.add_done_callback(self._stop.watch)
        stopping = asyncio.create_task(self._stop.wait())
        hurrying = asyncio.create_task(self._stop.wait_hurried())
        timer = self._start_timer()
        try:
            async with self._limiter.pump:
                starting = asyncio.create_task(self._start_all())
                await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
                starting.cancel()
                await asyncio.wait({starting})
                self._stop.watch(starting)
            while self._tasks and not self._stop.hurried:
                await asyncio.wait({*self._tasks, hurrying}, return_when=asyncio.FIRST_COMPLETED)
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=GRACE)
            self._asker.left_over()  # if the run stops, the next call asks these again
        finally:
            if timer is not None:
                timer.cancel()
            left = [*self._tasks, flushing, stopping, hurrying]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
            self._decoding.threads.shutdown(wait=False, cancel_futures=True)
            self._asker.close()
            self._job.progress.finished = time.monotonic()
            if reason := self._limiter.bounded_by:
                self._job.progress.note(f"more concurrent requests were not possible: {reason}")
            cache = self._job.frame_cache
            if cache is not None and cache.trouble:
                self._job.progress.note(f"frames could not be kept in the cache: {cache.trouble}")
            self._stop.close()
        if self._stop.crash is not None:
            raise self._stop.crash
        self._recorder.flush()

    def _start_timer(self) -> asyncio.TimerHandle | None:
        """End the run when its time budget is used up, even during a wait."""
        budget = self._job.budget
        left = budget.seconds_left()
        if left is None:
            return None
        reason = f"the time budget of {budget.max_seconds:g} s is used up"
        return asyncio.get_running_loop().call_later(
            max(0.0, left), lambda: self._stop.set(reason, interrupted=True)
        )

    # -- groups

    async def _start_all(self) -> None:
        """Start all groups, and then the groups that need more tokens."""
        await self._start_groups(self._groups())
        limit = self._job.limit
        while limit.is_open and self._tasks:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        if limit.waiting:
            await self._start_groups(iter(self._asker.left_over()))

    async def _start_groups(self, groups: Iterator[Group]) -> None:
        """Start one group after another while the videos of later groups are decoded."""
        ahead: deque[Group] = deque()
        try:
            while True:
                while len(ahead) <= THREADS and (group := next(groups, None)) is not None:
                    self._asker.start_decoding(group)
                    ahead.append(group)
                    if group.clips is None:
                        break
                if not ahead or not await self._start_group(ahead.popleft()):
                    return
        finally:
            for group in ahead:
                group.close()

    async def _start_group(self, group: Group) -> bool:
        """Start a group. Returns False if the run stops, so that the group was not started."""
        is_started = False
        try:
            await self._wait_for_room()
            if group.clips is not None:
                await group.clips.begun.wait()
            group.slot = await self._limiter.acquire(new=True)
            is_started = self._attempts.may_ask()
        finally:
            if not is_started:
                group.release_slot(self._limiter)
                group.close()
        if not is_started:
            return False
        self._asker.announce(group)
        task = asyncio.create_task(self._ask_group(group))
        self._tasks.add(task)
        task.add_done_callback(self._note_ended)
        if len(group.samples) > 1:
            await group.all_sent.wait()
        return True

    async def _wait_for_room(self) -> None:
        most = self._asker.most_groups
        if self._job.budget.max_cost is not None and self._job.progress.mean_cost is None:
            most = 1  # only one group until the cost of a reply is known
        while len(self._tasks) >= most:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)

    async def _ask_group(self, group: Group) -> None:
        try:
            await self._asker.ask(group)
        finally:
            group.release_slot(self._limiter)
            group.close()
            self._observer.group_finished()

    def _note_ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._stop.watch(task)

    def _groups(self) -> Iterator[Group]:
        """The samples to ask, grouped by shared media."""
        repeats = self._job.settings.repeats
        key = self._job.benchmark.procedure.group_by
        if key is None:
            for pair in self._unfinished():
                yield Group([pair], range(repeats))
            return
        groups: dict[str, list[tuple[Row, Sample]]] = {}
        for row, sample in self._unfinished():
            groups.setdefault(key(sample), []).append((row, sample))
        if self._job.benchmark.procedure.frames is not None:
            self._observer.groups_counted(len(groups))
        for samples in groups.values():
            yield Group(samples, range(repeats))

    def _unfinished(self) -> Iterator[tuple[Row, Sample]]:
        """The rows that have questions without a reply, with their samples. Finished rows are
        counted without creating their samples."""
        benchmark, repeats = self._job.benchmark, self._job.settings.repeats
        is_short = benchmark.procedure.conversation.turns == 1
        is_single = is_short and not (self._asker.replays or self._asker.has_steps)
        rows = chosen(benchmark, self._job.selection)
        if is_single:
            finished_rows = self._recorder.finished_rows(repeats)
            kept, rows = unfinished(benchmark, self._job.selection, finished_rows)
            self._observer.samples_kept(kept * repeats)
        for row in rows:
            finished = min(self._recorder.repeats_finished(row), repeats) if is_single else 0
            if finished == repeats:
                self._observer.samples_kept(finished)
            else:
                yield row, benchmark.read(row)
