"""Runs a server for as long as standard input is open: `python _watch.py COMMAND…`.

This is a separate program because a run that is killed cannot stop its server. When a run is
killed, its end of the pipe closes, and this program then stops the server. The server and its child
processes are in this program's process group, so that all of these processes end together. The
server's output goes to standard error, and the server's exit code to standard output.
"""

import os
import signal
import subprocess
import sys
from threading import Thread

GRACE = 10.0
"""How many seconds a server has to exit on its own before it is killed."""


def main(command: list[str]) -> None:
    # SIGTERM is sent to the whole group, including this process, which must survive it. Unlike
    # SIG_IGN, a handler is not inherited by the server.
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
