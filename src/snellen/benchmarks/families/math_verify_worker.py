"""Compare numbers with the package math-verify, in a process of its own (`worker_process.py`).

The calls are those of agents-x-project/TIR-Bench@f79c7562b59e4f8142b0437fc725eb3ee1aec76c:tools.py
#L121-L126 and #L144-L149. An error or a time limit of math-verify means that the texts differ, as
in the authors' code.

math-verify's own time limit is in wall-clock time, so a score would depend on what else the machine
does. Here, the limit is the same number of seconds of CPU time.
"""

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from snellen.benchmarks.families.worker_process import serve

LIMIT_S = 5.0
"""The maximum CPU time, in seconds, to read a text or to compare two values. The number is
math-verify's default."""


def same(answer: str, right: str, limit_s: float = LIMIT_S) -> bool:
    """Whether math-verify reads two texts as the same value. False if a step takes more CPU time
    than the limit."""
    from math_verify import parse, verify

    with limited(limit_s):
        value = parse(answer, parsing_timeout=None)
    with limited(limit_s):
        wanted = parse(right, parsing_timeout=None)
    with limited(limit_s):
        return bool(verify(value, wanted, timeout_seconds=None))


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise the exception that math-verify itself raises, and catches, when the time is up."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def stop(*_: object) -> None:
    from math_verify.errors import TimeoutException

    raise TimeoutException


def load() -> None:
    """Load math-verify.

    Raises:
        ImportError: math-verify, or a package that it needs, is not installed.
    """
    import math_verify  # noqa: F401


if __name__ == "__main__":
    logging.disable()  # math-verify logs the texts that take too long.
    signal.signal(signal.SIGPROF, stop)
    serve(same, load)
