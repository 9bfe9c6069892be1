"""Runs several replicas of a model as Ray actors, in separate processes on one or more machines.

The pool of replicas is used like any other model, and sends each request to the least busy replica.
When a worker dies, its requests raise `Overloaded`, so that the runner retries them. Ray itself
retries nothing. Pictures and videos are sent as references, and are read on the machine on which
the model runs.

Ray: ray-project/ray@ray-2.60.0, python/ray/actor.py.
"""

from __future__ import annotations

import asyncio
import math
import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from snellen import __version__
from snellen.core.model import Ranking, Reply, Request
from snellen.errors import Overloaded, Rejected, SnellenError, UsageError
from snellen.media.content import Video
from snellen.models.executors.cluster import Cluster
from snellen.models.executors.replica import (
    Hello,
    MediaMissing,
    Replica,
    ReplicaAnswer,
    ReplicaFailure,
    ReplicaInfo,
    ReplicaRequest,
)
from snellen.models.executors.replicas import Replicas, shares
from snellen.models.executors.sending import referred, videos_of, with_frames

Method = Literal["generate", "rank"]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PLACING = 600.0
"""The maximum number of seconds until a worker's process starts. The process may have to wait for a
free device."""
OPENING = 3600.0
"""The maximum number of seconds until a worker has opened the model. The weights may have to be
downloaded first."""
CLOSING = 15.0
AHEAD = 1
"""The number of questions that a worker gets in addition to those that its model can answer at
once. The media of these questions are already loaded when the model becomes free."""
DEATHS = 3
"""A worker is not restarted after it has died this many times in a row without answering a
question."""
PAUSES = (1.0, 5.0, 30.0, 0.0)
"""The seconds to wait after each failed attempt to restart a worker."""
TOGETHER = 64
"""The maximum number of videos that the pool remembers. For each of these videos, the pool stores
which parts of the video (windows) the questions are about, and which worker decoded the video."""


class _Worker:
    """A replica in the pool. `actor` is None while the replica is dead."""

    def __init__(self, number: int, actor: Any) -> None:
        self.number = number
        self.actor: Any | None = actor
        self.hello = Hello(snellen="", python="", node="", pid=0)
        self.busy = 0
        self.deaths = 0
        self.lost: str | None = None
        """Why the worker is not restarted; None if the worker is alive or will be restarted."""

    @property
    def description(self) -> str:
        return f"worker {self.number} (process {self.hello.pid} on {self.hello.node})"


class Pool:
    """Replicas of a model that work as a single model.

    `opening` takes the number of replicas, and returns the function that opens the model in a
    worker. `devices` is true if the model can use GPUs.

    Raises:
        UsageError: the replicas cannot be started, or their models differ.
    """

    wants_frames = False
    """The pool does not need decoded frames, since the workers decode videos."""

    def __init__(
        self,
        spec: str,
        opening: Callable[[int], Callable[[], Any]],
        replicas: Replicas,
        *,
        devices: bool,
        threads: str | None = None,
    ) -> None:
        self.name = spec
        self.listeners: list[Callable[[str], object]] = []
        """Functions that are called with messages for the user during a run."""
        self._cluster = Cluster.hold(replicas.address)
        self._ray: Any = self._cluster.ray
        self._workers: list[_Worker] = []
        self._again: set[asyncio.Task[None]] = set()
        self._without: set[str] = set()
        self._companions: dict[Path, tuple[Video, ...]] = {}
        self._seen_by: dict[Path, _Worker] = {}
        self._changed = asyncio.Event()
        with ExitStack() as stack:
            stack.callback(self._end)
            self._begin(opening, replicas, devices, threads)
            stack.pop_all()

    def _begin(
        self,
        opening: Callable[[int], Callable[[], Any]],
        replicas: Replicas,
        devices: bool,
        threads: str | None,
    ) -> None:
        there = self._cluster.resources()
        n, gpus = shares(there, replicas, devices=devices, is_own=self._cluster.is_own)
        cores = (os.cpu_count() or 1) if self._cluster.is_own else int(there.get("CPU", 1))
        thread_count = threads or str(max(1, cores // n))
        self._options = {
            "num_cpus": 0 if self._cluster.is_own else 1,
            "num_gpus": gpus,
            "max_restarts": 0,
            "max_task_retries": 0,
            "scheduling_strategy": "SPREAD",
            "runtime_env": {"env_vars": dict.fromkeys(THREADS, thread_count)},
        }
        self._opening = opening(n)
        self._workers = [_Worker(number, self._actor()) for number in range(1, n + 1)]
        for worker, hello in zip(self._workers, self._hellos(), strict=True):
            worker.hello = hello
        self.model = self._model_info()
        if self.model.generates:
            self.generate = self._generate
        if self.model.ranks:
            self.rank = self._rank
        self.takes_tools = self.model.takes_tools
        self.takes_pictures_in_results = self.model.takes_pictures_in_results
        self.takes_results = self.model.takes_results
        self.notes = self.model.notes
        per_replica = self.model.concurrency
        self.concurrency = None if per_replica is None else n * (per_replica + AHEAD)
        self.facts = {
            "executor": "ray",
            "ray": self._ray.__version__,
            "replicas": n,
            "gpus_per_replica": gpus,
            "cluster": "of its own" if self._cluster.is_own else self._cluster.address,
            "nodes": dict(Counter(worker.hello.node for worker in self._workers)),
        }

    def expect(self, videos: Sequence[Video]) -> None:
        """Store which videos the next group of questions is about."""
        for source in dict.fromkeys(video.source for video in videos):
            companions = tuple(video for video in videos if video.source == source)
            _keep(self._companions, source, companions)

    async def close(self) -> None:
        """End the workers, and the cluster if we started it."""
        for task in self._again:
            task.cancel()
        await asyncio.gather(*self._again, return_exceptions=True)
        closing = [
            worker.actor.close.remote() for worker in self._workers if worker.actor is not None
        ]
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING):
                for call in closing:
                    with suppress(self._ray.exceptions.RayError):  # it died; close the others
                        await call
        self._end()

    def _end(self) -> None:
        for worker in self._workers:
            if worker.actor is not None:
                self._ray.kill(worker.actor)
                worker.actor = None
        self._cluster.release()

    # -- starting workers

    def _actor(self) -> Any:
        return self._ray.remote(Replica).options(**self._options).remote()

    def _hellos(self) -> list[Hello]:
        refs = [worker.actor.hello.remote() for worker in self._workers if worker.actor is not None]
        ready, late = self._ray.wait(refs, num_returns=len(refs), timeout=PLACING)
        if late:
            raise UsageError(
                f"only {len(ready)} of {len(refs)} workers started within {PLACING:g} s. The "
                f"cluster has {_shown_resources(self._cluster.resources())}, of which "
                f"{_shown_resources(self._ray.available_resources())} are free. Request fewer "
                "replicas (--replicas) or fewer GPUs per replica (--gpus-per-replica), or wait "
                "until other jobs are done."
            )
        try:
            hellos: list[Hello] = self._ray.get(refs)
        except self._ray.exceptions.RayError as error:
            raise UsageError(not_started(error)) from error
        for hello in hellos:
            check_alike(hello)
        return hellos

    def _model_info(self) -> ReplicaInfo:
        """Open the model in all workers, and return its description, which must be the same for all
        workers."""
        opening = [(worker, self._open(worker)) for worker in self._workers]
        until = time.monotonic() + OPENING
        infos: list[ReplicaInfo] = []
        for worker, ref in opening:
            try:
                info = self._ray.get(ref, timeout=max(0.0, until - time.monotonic()))
            except self._ray.exceptions.GetTimeoutError as error:
                raise UsageError(
                    f"{worker.description} did not open {self.name} within {OPENING:g} s."
                ) from error
            except self._ray.exceptions.RayError as error:
                words = self._cluster.last_words(worker.hello.pid)
                raise UsageError(
                    f"{worker.description} died while it opened {self.name}: "
                    f"{last_line(error)}{words}"
                ) from error
            if isinstance(info, ReplicaFailure):
                raise info.error()
            infos.append(info)
        for worker, info in zip(self._workers, infos, strict=True):
            if other := _differ(infos[0], info):
                first = self._workers[0].hello.node
                raise UsageError(
                    f"{self.name} is not the same model on every node: the {other} on "
                    f"{worker.hello.node} differs from the {other} on {first}. Give all nodes the "
                    "same files."
                )
        return infos[0]

    def _open(self, worker: _Worker) -> Any:
        assert worker.actor is not None
        return worker.actor.open.remote(self.name, self._opening, os.getcwd())

    async def _start_again(self, worker: _Worker) -> None:
        """Restart a dead worker, or report why it cannot be restarted."""
        for pause in PAUSES:
            actor = self._actor()
            try:
                hello = await self._opened_again(actor)
            except asyncio.CancelledError:
                self._ray.kill(actor)
                raise
            except TimeoutError:
                self._ray.kill(actor)
                reason = "there were no free resources in time, or its model took too long to open"
                break
            except self._ray.exceptions.RayError as error:  # Ray may not know yet that a node died
                reason = last_line(error)
            except SnellenError as error:  # the dead worker may still hold its device
                reason = str(error)
            else:
                worker.actor, worker.hello = actor, hello
                self._changed.set()
                return
            self._ray.kill(actor)
            await asyncio.sleep(pause)
        worker.lost = f"worker {worker.number} was not restarted: {reason}"
        self._say(worker.lost)
        self._changed.set()

    def _ended(self, worker: _Worker, task: asyncio.Task[None]) -> None:
        """Report a restart that failed unexpectedly. Without this report, questions would wait for
        the worker forever."""
        self._again.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            reason = f"{type(fault).__name__}: {fault}"
            worker.lost = f"worker {worker.number} was not restarted: {reason}"
            self._say(worker.lost)
            self._changed.set()

    async def _opened_again(self, actor: Any) -> Hello:
        async with asyncio.timeout(PLACING):
            hello: Hello = await actor.hello.remote()
        check_alike(hello)
        async with asyncio.timeout(OPENING):
            info: ReplicaInfo | ReplicaFailure = await actor.open.remote(
                self.name, self._opening, os.getcwd()
            )
        if isinstance(info, ReplicaFailure):
            raise info.error()
        if other := _differ(self.model, info):
            raise UsageError(f"the {other} of the model on {hello.node} has changed")
        return hello

    def _died(self, worker: _Worker, actor: Any, error: Exception) -> Overloaded:
        """Return the error for a question whose worker died. The first such question restarts the
        worker."""
        message = f"{worker.description} of {self.name} died while it had the question"
        if worker.actor is actor:  # the first question to notice the death
            worker.actor = None
            worker.deaths += 1
            with suppress(self._ray.exceptions.RayError):
                self._ray.kill(actor)
            words = self._cluster.last_words(worker.hello.pid)
            if worker.deaths >= DEATHS:
                worker.lost = (
                    f"{worker.description} of {self.name} died {DEATHS} times in a row without "
                    f"answering a question.{words}"
                )
                self._say(worker.lost)
            else:
                self._say(f"{worker.description} died and is being restarted: {last_line(error)}")
                task = asyncio.get_running_loop().create_task(self._start_again(worker))
                self._again.add(task)
                task.add_done_callback(partial(self._ended, worker))
            self._changed.set()
        return Overloaded(message)

    # -- asking

    async def _generate(self, request: Request) -> Reply:
        answer = await self._request("generate", request)
        return replace(answer.reply, shown=answer.shown, frame_sizes=answer.frame_sizes)

    async def _rank(self, request: Request) -> Ranking:
        answer = await self._request("rank", request)
        ranking = Ranking(answer.reply.choices)
        ranking.shown, ranking.frame_sizes = answer.shown, answer.frame_sizes
        ranking.sizes = answer.reply.sizes
        return ranking

    async def _request(self, method: Method, request: Request) -> ReplicaAnswer:
        """Send a request to the least busy worker, and return the answer.

        Raises:
            Overloaded: the worker died.
            Rejected: no worker is left.
            SnellenError: the error that the model raises.
        """
        watched = next((video.source for video in videos_of(request)), None)
        worker = await self._free(watched)
        worker.busy += 1
        try:
            answer = await self._answer(worker, method, request, watched)
        finally:
            worker.busy -= 1
            self._changed.set()
        if isinstance(answer, ReplicaFailure):
            raise answer.error()
        return answer

    async def _answer(
        self, worker: _Worker, method: Method, request: Request, watched: Path | None
    ) -> ReplicaAnswer | ReplicaFailure:
        if worker.hello.node not in self._without:
            companions = () if watched is None else self._companions.get(watched, ())
            sent = ReplicaRequest(request=referred(request), companions=companions)
            answer = await self._call(worker, method, sent)
            if not isinstance(answer, MediaMissing):
                return answer
            self._cannot_read(worker, answer)
        answer = await self._call(
            worker, method, ReplicaRequest(request=await with_frames(request))
        )
        if isinstance(answer, MediaMissing):
            raise Rejected(
                f"{worker.description} cannot read the media that were sent to it: {answer.reason}"
            )
        return answer

    async def _call(
        self, worker: _Worker, method: Method, sent: ReplicaRequest
    ) -> ReplicaAnswer | MediaMissing | ReplicaFailure:
        failed = self._ray.exceptions
        actor = worker.actor
        if actor is None:
            raise Overloaded(f"{worker.description} of {self.name} died before it got the question")
        ref = getattr(actor, method).remote(sent)
        try:
            answer: ReplicaAnswer | MediaMissing | ReplicaFailure = await ref
        except asyncio.CancelledError:  # no caller waits for the answer any more
            self._ray.cancel(ref)
            raise
        except failed.TaskCancelledError as error:
            raise Overloaded(
                f"{worker.description} of {self.name} cancelled the question"
            ) from error
        except failed.RayTaskError as error:
            raise SnellenError(
                f"{worker.description} of {self.name}: {last_line(error)}"
            ) from error
        except failed.RayError as error:
            raise self._died(worker, actor, error) from error
        if worker.actor is actor:
            worker.deaths = 0
        return answer

    async def _free(self, watched: Path | None) -> _Worker:
        """Wait until a worker can take another question, and return the least busy worker. A worker
        that has already decoded the video is preferred if it is not much busier than the others.

        Raises:
            Rejected: no worker is left.
        """
        while True:
            if all(worker.lost for worker in self._workers):
                lost = self._workers[-1].lost
                raise Rejected(f"{self.name} has no workers left: {lost}", hopeless=True)
            most = math.inf if self.model.concurrency is None else self.model.concurrency + AHEAD
            free = [
                worker
                for worker in self._workers
                if worker.actor is not None and worker.busy < most
            ]
            if not free:
                self._changed.clear()
                await self._changed.wait()
                continue
            chosen = min(free, key=lambda worker: worker.busy)
            if watched is not None:
                seen_by = self._seen_by.get(watched)
                more = 1 if math.isinf(most) else max(1, most // 2)
                if seen_by in free and seen_by.busy <= chosen.busy + more:
                    chosen = seen_by
                _keep(self._seen_by, watched, chosen)
            return chosen

    def _cannot_read(self, worker: _Worker, answer: MediaMissing) -> None:
        node = worker.hello.node
        if not self.model.decodes:
            raise Rejected(
                f"{node}: {answer.reason} {self.name} reads files itself, so copy them to this "
                "node too.",
                hopeless=True,
            )
        if node not in self._without:
            self._without.add(node)
            self._say(
                f"{node} cannot read the data's files, so their bytes are sent to it instead, "
                f"which is slower: {answer.reason}"
            )

    def _say(self, note: str) -> None:
        for listener in self.listeners:
            listener(note)


def _keep(kept: dict[Path, Any], key: Path, value: Any) -> None:
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > TOGETHER:
        del kept[next(iter(kept))]


def check_alike(hello: Hello) -> None:
    """Check that a worker has the same versions of Snellen and Python as this machine.

    Raises:
        UsageError: a version differs. The message names the software.
    """
    here = {"snellen": __version__, "Python": _minor(platform.python_version())}
    theirs = {"snellen": hello.snellen, "Python": _minor(hello.python)}
    for what, mine in here.items():
        if theirs[what] != mine:
            raise UsageError(
                f"{hello.node} has {what} {theirs[what]}, but this machine has {mine}. Install the "
                "same version on every node."
            )


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _differ(first: ReplicaInfo, other: ReplicaInfo) -> str | None:
    """Return the name of the property in which two models differ, or None if they are alike."""
    if first.revision != other.revision:
        return "revision"
    can = [(info.generates, info.ranks, info.decodes) for info in (first, other)]
    return "methods" if can[0] != can[1] else None


def not_started(error: Exception) -> str:
    return (
        f"a worker cannot be started: {last_line(error)} Every node needs snellen {__version__} "
        f"with Python {_minor(platform.python_version())}, like this machine."
    )


def last_line(error: Exception) -> str:
    """Return the last line of a Ray error, which states the cause. The other lines state where the
    error occurred."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return lines[-1].partition(" Some common causes")[0][:300]


def _shown_resources(resources: Mapping[str, float]) -> str:
    return f"{resources.get('CPU', 0):g} CPUs and {resources.get('GPU', 0):g} GPUs"
