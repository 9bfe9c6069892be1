"""What exit codes mean."""

DONE = 0
FELL_SHORT = 1
"""Done, but samples failed or a check fell short."""
WRONG_USE = 2
"""Something that the user can mend, in the command or in the data."""
INTERRUPTED = 130
"""Interrupted, or a budget spent: the same command goes on."""
