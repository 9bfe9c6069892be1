"""Exit codes, and an exit that does not wait for threads."""

import os
import sys
from typing import NoReturn

DONE = 0
FELL_SHORT = 1
"""Done, but samples failed or a check did not pass."""
WRONG_USE = 2
"""An error that the user can fix, in the command or in the data."""
INTERRUPTED = 130
"""Interrupted, or a budget is used up; the same command resumes."""


def leave_at_once() -> NoReturn:
    """End the process immediately, as interrupted. Stored records stay. Python would wait for a
    model's threads; this does not."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
