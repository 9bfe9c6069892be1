"""Divides the questions of a run into parts, which several processes ask at the same time.

The part of a question depends on nothing but the data and the number of parts. Questions about the
same video or picture, which are asked together, are in the same part.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from hashlib import blake2b

from snellen.core.benchmark import Benchmark
from snellen.errors import UsageError
from snellen.run.options import RunOptions
from snellen.run.selection import Selection, chosen
from snellen.run.token_limit import raised_to
from snellen.store import HeldError, Run, RunPart

PATIENCE = 20.0
"""How long a driver waits for the lock of its part, in seconds. If a supervisor was killed, its
drivers may need this time to store the replies in flight."""
REMOTE_PATIENCE = 180.0
"""The same for a driver on another machine. If a machine was lost, a file server may keep its locks
for a minute or two (NFS 4: 90 seconds by default)."""
LOOK_EVERY = 0.2
"""Seconds between two attempts to acquire a lock."""


def in_part(benchmark: Benchmark, selection: Selection, part: RunPart) -> Selection:
    """Select those of the selected rows that belong to a part of the run.

    Rows that are asked alone are dealt out in turn, so that parts differ by at most one row and no
    row must be read. Groups are distributed by the digest of their key.
    """
    rows: list[int]
    key = benchmark.procedure.group_by
    if key is None:
        selected = range(selection.total) if selection.places is None else selection.places
        rows = [row_index for row_index in selected if row_index % part.total == part.number - 1]
    else:
        rows = [
            row.position
            for row in chosen(benchmark, selection)
            if _part_of(key(benchmark.read(row)), part.total) == part.number
        ]
    return replace(selection, places=frozenset(rows), rows=len(rows))


def _part_of(group: str, total: int) -> int:
    digest = blake2b(group.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) % total + 1


def share(amount: int, part: RunPart) -> int:
    """The share of a part in an amount that is divided among all parts. The first parts get the
    remainder.

    >>> [share(10, RunPart(number, 4)) for number in (1, 2, 3, 4)]
    [3, 3, 2, 2]
    """
    return amount // part.total + (part.number <= amount % part.total)


def check_divisible(options: RunOptions) -> None:
    """Check that the options allow a run to be divided into parts.

    Raises:
        UsageError: an option needs to see all replies of the run.
    """
    option = "--part" if options["part"] is not None else "--drivers"
    if options["until_stderr"] is not None:
        raise UsageError(
            f"--until-stderr stops by the replies of the whole run, but with {option} each process "
            "sees only its part. Draw a fixed number of rows with --sample N instead."
        )
    if raised_to(options["on_truncation"]) is not None:
        raise UsageError(
            f"--on-truncation raise:N decides by the first replies of the whole run, but with "
            f"{option} each process sees only its part. Use --retry-truncated N instead, which "
            "decides for each reply."
        )


def enter_lock(
    stack: ExitStack, lock: Callable[[], AbstractContextManager[object]], patience: float
) -> None:
    """Acquire a lock until the stack is closed. While another process holds the lock, try again
    until `patience` seconds have passed.

    Raises:
        StoreError: the lock is still held, or cannot be acquired.
    """
    until = time.monotonic() + patience
    while True:
        try:
            stack.enter_context(lock())
            return
        except HeldError:
            if time.monotonic() >= until:
                raise
        time.sleep(LOOK_EVERY)


def is_complete(run: Run, selection: Selection, repeats: int) -> bool:
    """Whether all selected questions of a run, which is loaded, have a reply in some part."""
    rows = range(selection.total) if selection.places is None else selection.places
    return all(run.finished_at(row_index) >= repeats for row_index in rows)
