"""What exit codes mean, and a way out that waits for nobody."""

import os
import sys
from typing import NoReturn

DONE = 0
FELL_SHORT = 1
"""Done, but samples failed or a check fell short."""
WRONG_USE = 2
"""Something that the user can mend, in the command or in the data."""
INTERRUPTED = 130
"""Interrupted, or a budget spent: the same command goes on."""


def leave_at_once() -> NoReturn:
    """End the process now, as interrupted. What was journaled stays; a model's threads, for which
    Python would wait, do not."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
