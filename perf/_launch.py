"""Runs a command and writes what it took to a file.

usage: python -I -S perf/_launch.py FILE COMMAND...

Linux starts a process with the peak memory (`ru_maxrss`) of the process that started it. This
process is small, so that the command's own peak is seen. It is run without `site`, and takes 10 MB.
"""

import json
import os
import sys
import time

started = time.time()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
took = {
    "started": started,
    "wall": time.time() - started,
    "cpu": usage.ru_utime + usage.ru_stime,
    "memory": usage.ru_maxrss * 1024 / 1e6,
    "exit": os.waitstatus_to_exitcode(status),
}
with open(sys.argv[1], "w") as file:
    json.dump(took, file)
sys.exit(took["exit"] if took["exit"] >= 0 else 128 - took["exit"])
