"""Compares runs in a thread, because a comparison scores the runs again, which takes seconds."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from typing import Any

from snellen import api, registry
from snellen.analysis.comparing import Comparisons
from snellen.core.benchmark import Benchmark
from snellen.errors import UsageError
from snellen.store import Run
from snellen.view.runs import Listed

PATIENCE = 0.3
"""The time in seconds that a page waits for a comparison. After this time, the page shows that the
comparison is still being computed."""
KEPT = 16


class Compares:
    """Computes comparisons, and caches each comparison until one of its runs changes."""

    def __init__(self, benchmarks: Sequence[str | Benchmark] = ()) -> None:
        self._benchmarks = benchmarks
        self._pool = ThreadPoolExecutor(1)
        self._known: OrderedDict[Any, Future[Comparisons]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, runs: Sequence[Listed]) -> Comparisons | None:
        """The comparison of these runs, or None while the comparison is being computed.

        Raises:
            SnellenError: the runs cannot be compared.
        """
        for run in runs:
            if registry.runs_a_program(run.manifest):
                raise UsageError(
                    f"{run.name} is scored by a custom class, and the viewer does not run such "
                    "code. If you trust the class, use `snellen compare`."
                )
        key = tuple(_stamps(run) for run in runs)
        with self._lock:
            future = self._known.get(key)
            if future is None:
                future = self._known[key] = self._pool.submit(
                    lambda: self._compared([run.path for run in runs])
                )
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
        try:
            return future.result(PATIENCE)
        except NotYet:
            return None

    def _compared(self, paths: Sequence[Path]) -> Comparisons:
        return api.compare(*paths, benchmark=self._benchmarks).comparisons

    def stop(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _stamps(run: Listed) -> Any:
    folder = Run(run.path).folder
    names = [*folder.segments("replies"), *folder.segments("questions"), "labels.jsonl"]
    return run.path, tuple(folder.stamp(name) for name in names)
