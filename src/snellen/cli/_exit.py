"""Exit codes, and an exit that does not wait for threads."""

import os
import sys
from typing import NoReturn

DONE = 0
FELL_SHORT = 1
"""The command finished, but samples failed or a check did not pass."""
WRONG_USE = 2
"""There is an error in the command or in the data that the user can fix."""
INTERRUPTED = 130
"""The command was interrupted, or a budget is used up. The same command resumes the run."""


def leave_at_once() -> NoReturn:
    """End the process immediately, with the exit code for an interruption. Stored records are kept.
    A normal exit would wait for a model's threads, which may never end."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
