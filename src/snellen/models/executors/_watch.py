"""Runs a server for as long as standard input is open: `python _watch.py COMMAND…`.

A program of its own, since a run that is killed can end nothing any more; the pipe that it holds
closes by itself. The server, and what it starts, are of this process's group and end together.
What it writes goes to standard error; its exit code to standard output.
"""

import os
import signal
import subprocess
import sys
from threading import Thread

GRACE = 10.0
"""Seconds that a server has to end by itself."""


def main(command: list[str]) -> None:
    # The group is told to end, and this process is of it. A handler, unlike SIG_IGN, is not
    # inherited by the server.
    signal.signal(signal.SIGTERM, lambda *_: None)
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    Thread(target=_end_with_the_run, args=[server], daemon=True).start()
    code = server.wait()
    try:
        print(code, flush=True)
    finally:
        os.killpg(0, signal.SIGKILL)


def _end_with_the_run(server: subprocess.Popen[bytes]) -> None:
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGTERM)
    try:
        server.wait(GRACE)
    finally:
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
