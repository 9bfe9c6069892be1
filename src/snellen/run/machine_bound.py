"""Decides how many concurrent requests this machine can send."""

from __future__ import annotations

from pathlib import Path

OTHER_FILES = 128
"""The number of open files that are not connections of requests: run folders, data, and media."""
LEAST_FREE = 0.1
"""The fraction of the memory that stays free."""
MEMINFO = Path("/proc/meminfo")


def machine_bound(requests: int) -> str | None:
    """Return the reason why this machine cannot send so many concurrent requests; None if it can.

    A connection is an open file. The memory bound needs Linux.
    """
    files = _most_open_files()
    if files is not None and requests + OTHER_FILES > files:
        return f"a process may open only {files:,} files here; `ulimit -n NUMBER` raises this limit"
    free = _free_memory()
    if free is not None and free < LEAST_FREE:
        return f"only {free:.0%} of this machine's memory is free".replace("%", " %")
    return None


def _most_open_files() -> int | None:
    try:
        import resource
    except ImportError:  # on Windows
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def _free_memory() -> float | None:
    """Return the fraction of the memory that is free; None if it is unknown."""
    try:
        lines = MEMINFO.read_text(encoding="ascii").splitlines()
        sizes = {name: int(size.split()[0]) for name, size in (line.split(":") for line in lines)}
        return sizes["MemAvailable"] / sizes["MemTotal"]
    except (OSError, ValueError, KeyError, IndexError):
        return None
