"""Places the drivers of a run on the nodes of a Ray cluster.

Ray starts a process on a node for each driver (`driver_host.py`), which runs the driver and passes
on its reports. Ray itself restarts nothing: the supervisor decides whether a lost driver is started
again.

Ray: ray-project/ray@ray-2.60.0, python/ray/actor.py.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from snellen import registry
from snellen.errors import UsageError
from snellen.models.executors.cluster import Cluster
from snellen.models.executors.ray import PLACING, check_alike, last_line, not_started
from snellen.models.executors.replica import Hello
from snellen.run.driver_host import DriverHost
from snellen.run.driver_processes import Ending, TakeLine
from snellen.store import Mirror, sharing_lock

METHODS_AT_ONCE = 4
"""The number of methods of a host that may run at the same time. One of them waits for output."""
SETTINGS = {"RAY_kill_child_processes_on_worker_exit": "0"}
"""Environment variables of hosts. When Ray ends a host, the driver must not be killed, but read the
end of its input and store the replies in flight."""
KILLING = 5.0
"""Seconds that a host has to end its driver."""


class RayDrivers:
    """Places drivers on the nodes of a Ray cluster, which is left when the context ends.

    Raises:
        UsageError: the cluster cannot be joined, has too few CPUs, or one of its nodes cannot run
            drivers.
        StoreError: the folder of runs cannot be locked.
    """

    def __init__(self, drivers: int, address: str | None, out: Path) -> None:
        self._drivers = drivers
        self._address = registry.cluster_for_drivers(address)
        self._out = out
        self._shared: Path | None = None
        self._actors: list[Any] = []
        self._ready: list[tuple[Any, Hello]] = []
        self._processes: list[RayProcess] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            if not isinstance(self._out, Mirror):
                self._shared = stack.enter_context(sharing_lock(self._out))
            self._cluster = Cluster.hold(self._address)
            stack.callback(self._cluster.release)
            stack.callback(self._end)
            self._start_hosts()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def start(self, words: Sequence[str], report: TakeLine, say: TakeLine) -> RayProcess:
        """Start the process of a driver on some node. A driver that is started again waits for a
        free CPU."""
        actor, hello = self._ready.pop() if self._ready else (self._actor(), None)
        process = RayProcess(self, actor, hello, words, report, say)
        self._processes.append(process)
        return process

    @property
    def ray(self) -> Any:
        """The module `ray`."""
        return self._cluster.ray

    def prepare(self, actor: Any) -> Any:
        """Let a host check its node. Returns a reference to the error, or to None."""
        return actor.prepare.remote(os.getcwd(), self._shared and self._shared.absolute())

    def _actor(self) -> Any:
        options = {
            "num_cpus": 1,
            "max_restarts": 0,
            "max_task_retries": 0,
            "max_concurrency": METHODS_AT_ONCE,
            "scheduling_strategy": "SPREAD",
            "runtime_env": {"env_vars": SETTINGS},
        }
        actor = self.ray.remote(DriverHost).options(**options).remote()
        self._actors.append(actor)
        return actor

    def _start_hosts(self) -> None:
        """Start a host for each driver, and check the nodes."""
        cores = self._cluster.resources().get("CPU", 0.0)
        if self._drivers > cores:
            raise UsageError(
                f"{self._drivers} drivers need one CPU each, but the Ray cluster has {cores:g}. "
                "Use fewer --drivers."
            )
        actors = [self._actor() for _ in range(self._drivers)]
        refs = [actor.hello.remote() for actor in actors]
        ready, late = self.ray.wait(refs, num_returns=len(refs), timeout=PLACING)
        if late:
            raise UsageError(
                f"only {len(ready)} of {len(refs)} drivers started within {PLACING:g} s, since "
                "other jobs use the CPUs of the Ray cluster. Use fewer --drivers, or wait until "
                "other jobs are done."
            )
        try:
            hellos: list[Hello] = self.ray.get(refs)
            for hello in hellos:
                check_alike(hello)
            reasons: list[str | None] = self.ray.get([self.prepare(actor) for actor in actors])
        except self.ray.exceptions.RayError as error:
            raise UsageError(not_started(error)) from error
        for hello, reason in zip(hellos, reasons, strict=True):
            if reason is not None:
                raise UsageError(f"{hello.node}: {reason}")
        self._ready = [*zip(actors, hellos, strict=True)]

    def _end(self) -> None:
        for process in self._processes:
            process.kill()
        for actor in self._actors:
            self.ray.kill(actor)


class RayProcess:
    """The process of a driver on a node of the cluster. A thread passes on what it writes."""

    def __init__(
        self,
        drivers: RayDrivers,
        actor: Any,
        hello: Hello | None,
        words: Sequence[str],
        report: TakeLine,
        say: TakeLine,
    ) -> None:
        self.node: str | None = None if hello is None else hello.node
        """The name of the node; None until the driver is placed."""
        self._drivers = drivers
        self._ray = drivers.ray
        self._actor = actor
        self._words = words
        self._take = {"report": report, "say": say}
        self._ending: Ending | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def ending(self) -> Ending | None:
        return self._ending

    def send(self, message: bytes) -> None:
        if self._ending is None:
            with suppress(self._ray.exceptions.RayError):
                self._actor.send.remote(message)

    def kill(self) -> None:
        if self._ending is None:
            with suppress(self._ray.exceptions.RayError):
                self._ray.get(self._actor.kill.remote(), timeout=KILLING)
            self._ray.kill(self._actor)

    def _run(self) -> None:
        failed = self._ray.exceptions
        ending = Ending(lost="was lost")
        try:
            if self.node is None:
                self._wait_for_host()
            self._ray.get(self._actor.start.remote(self._words))
            ending = self._follow()
        except failed.GetTimeoutError:
            ending = Ending(lost=f"found no free CPU within {PLACING:g} s")
        except failed.RayError as error:
            ending = Ending(lost=f"was lost: {last_line(error)}")
        except UsageError as error:  # another node than before cannot run drivers
            ending = Ending(lost=f"could not be started again: {error}")
        finally:  # in any case, since the supervisor waits for the ending
            self._ending = ending
        with suppress(failed.RayError):
            self._ray.kill(self._actor)

    def _wait_for_host(self) -> None:
        """Wait for the host to start, and check its node."""
        hello: Hello = self._ray.get(self._actor.hello.remote(), timeout=PLACING)
        check_alike(hello)
        if (reason := self._ray.get(self._drivers.prepare(self._actor))) is not None:
            raise UsageError(f"{hello.node}: {reason}")
        self.node = hello.node

    def _follow(self) -> Ending:
        """Pass on what the driver writes until it ends."""
        while True:
            for output in self._ray.get(self._actor.read.remote()):
                if isinstance(output, Ending):
                    return output
                kind, line = output
                self._take[kind](line)
