"""Runs a command and writes what it took to a file.

usage: python -I -S perf/_launch.py FILE COMMAND...

Linux starts a process with the peak memory (`ru_maxrss`) of the process that started it. This
process is small (it is run without `site`), so that the command's own peak is seen. The command is
killed if this process is. The file has `started`, a time, from the start on; the rest is written at
the end.
"""

import ctypes
import json
import os
import signal
import sys
import time

PR_SET_PDEATHSIG = 1


def write(figures: dict) -> None:
    with open(sys.argv[1], "w") as file:
        json.dump(figures, file)


libc = ctypes.CDLL(None)
command = sys.argv[2:]
started = time.time()
write({"started": started})
child = os.fork()
if child == 0:
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]} does not start: {error}\n".encode())
    os._exit(127)
_, status, usage = os.wait4(child, 0)
code = os.waitstatus_to_exitcode(status)
write(
    {
        "started": started,
        "wall": time.time() - started,
        "cpu": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss * 1024 / 1e6,
        "exit": code,
    }
)
sys.exit(code if code >= 0 else 128 - code)
