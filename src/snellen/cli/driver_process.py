"""A driver: a process that asks the questions of one part of a run, under a supervisor
(`run/drivers.py`).

Usage: `python -m snellen.cli.driver_process run ... --part 3/8`. Standard output and standard input
belong to the supervisor.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import NoReturn

import click

from snellen import cli
from snellen.cli._exit import DONE, INTERRUPTED, leave_at_once
from snellen.run.driver_reports import HURRY, Reporter


def main() -> NoReturn:
    """Run the command line as a driver, and exit."""
    reporter = Reporter(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # other output goes to standard error, so it does not mix with the reports
    # Ray's threads block the signal, and a process inherits what the thread that starts it blocks.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_obey, daemon=True).start()
    try:
        code = _exit_code(reporter)
    except KeyboardInterrupt:  # the supervisor stops the drivers, and this one was about to end
        code = INTERRUPTED
    if code == INTERRUPTED:
        leave_at_once()
    sys.exit(code)


def _exit_code(reporter: Reporter) -> int:
    try:
        code = cli.cli.main(sys.argv[1:], prog_name="snellen", standalone_mode=False, obj=reporter)
    except click.ClickException as error:
        reporter.failed(error.format_message())
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    return int(code or DONE)


def _obey() -> None:
    """Treat each line from the supervisor as Ctrl-C, and leave at once after `HURRY`. Stop, too, if
    the supervisor has ended."""
    with os.fdopen(0, "rb", buffering=0, closefd=False) as lines:
        for line in lines:
            os.kill(os.getpid(), signal.SIGINT)
            if line == HURRY:
                leave_at_once()
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # nobody reads what is printed from now on
        os.dup2(silence, stream)
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    main()
