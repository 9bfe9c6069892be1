"""Compare answers in a process of its own, with limits of time and memory: some libraries can take
hours for some formulas.

Both ends are in this file. A benchmark calls `WorkerProcess.same`. A worker's file, such as
`latex_worker.py`, calls `serve` when it is run. Each line of its standard input is a JSON object
with the arguments of a comparison, and each line of its standard output is `true` or `false`. The
first line of output is null, or a JSON text that says why the library cannot be used.
"""

import atexit
import json
import subprocess
import sys
from collections.abc import Callable
from threading import Lock, Timer

from snellen.errors import UsageError, install

LIMIT_S = 30.0
"""The maximum time for one comparison, in seconds, as in VLMEvalKit."""
START_LIMIT_S = 600.0
"""The maximum time to load the library, in seconds. Loading can be slow on a busy machine."""
MEMORY = 4 << 30
"""The maximum memory of the process, in bytes."""
RUN = (
    "import runpy, sys; _, module, *sys.path = sys.argv; "
    "runpy.run_module(module, run_name='__main__')"
)
"""Runs a module, which is looked for in the same folders as here."""


class Uncompared(Exception):
    """Two answers could not be compared within the limits of time and memory. Whether they are
    equal is not known, so the reply has no score."""


class WorkerProcess:
    """A process that compares answers with a library of the extra `latex`. It is started for the
    first comparison, and again after one that exceeded a limit."""

    def __init__(self, module: str, use: str) -> None:
        """`module` is the full name of the module that calls `serve`. `use` says what the library
        is for. If the library is missing, the error message begins with this text."""
        self._module = module
        self._use = use
        self._process: subprocess.Popen[str] | None = None
        self._lock = Lock()
        atexit.register(self.close)

    def same(self, **arguments: object) -> bool:
        """Whether two answers are equal. The arguments are those of the worker's comparison.

        Raises:
            Uncompared: the comparison takes too long or needs too much memory.
            UsageError: the library cannot be used.
        """
        with self._lock:
            # The attribute is None while the process is in use. Otherwise, after an interruption, a
            # late line of this process would be read as the answer to the next comparison.
            process, self._process = self._process, None
            if process is None or process.poll() is not None:
                process = self._start()
            line = next_line(process, json.dumps(arguments) + "\n", LIMIT_S)
            if not line:  # The process ran out of time or memory.
                raise Uncompared
            self._process = process
            return bool(json.loads(line))

    def check_installation(self) -> None:
        """Start the process, unless it runs.

        Raises:
            UsageError: the library cannot be used.
        """
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            # -P: files in the current folder cannot shadow modules.
            [sys.executable, "-P", "-c", RUN, self._module, *filter(None, sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        reason = json.loads(next_line(process, "", START_LIMIT_S) or '"the process ended"')
        if reason is not None:
            end(process)
            raise UsageError(
                f"{self._use}, which cannot be used: {reason.rstrip('.')}. Run "
                f"`{install('latex')}`."
            )
        return process

    def close(self) -> None:
        """End the process, if it runs."""
        if self._process is not None:
            end(self._process)
            self._process = None


def next_line(process: subprocess.Popen[str], question: str, limit_s: float) -> str:
    """Send a question to a process, and return the next line of its output. If no line comes in
    time, end the process and return an empty line."""
    assert process.stdin is not None and process.stdout is not None
    timer = Timer(limit_s, process.kill)
    line = ""
    try:
        timer.start()
        process.stdin.write(question)
        process.stdin.flush()
        line = process.stdout.readline()
    finally:
        timer.cancel()
        if not line:
            end(process)
    return line


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def serve(same: Callable[..., bool], load: Callable[[], object]) -> None:
    """Answer comparisons until the input ends. `load` loads the library, and raises an ImportError
    if it cannot be used."""
    output, sys.stdout = sys.stdout, sys.stderr  # so that prints of a library are not answers
    limit_memory()
    try:
        load()
        reason = None
    except ImportError as error:
        reason = str(error) or "ImportError"
    print(json.dumps(reason), file=output, flush=True)
    for line in sys.stdin:
        try:
            decision = same(**json.loads(line))
        except MemoryError:
            return  # The caller sees that the process ended, and raises `Uncompared`.
        print(json.dumps(decision), file=output, flush=True)


def limit_memory() -> None:
    try:
        import resource
    except ImportError:  # on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
