"""What every benchmark has whose code belongs to another toolkit: its marks, and the means to run
that code without changing anything else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any

UNIT = "as the toolkit gives it"
"""The unit of a figure that the toolkit's own code computes."""


def scored_by(toolkit: str) -> str:
    """The note that marks every result of a toolkit's benchmark."""
    return f"scored by {toolkit}'s own code, unproven"


@contextmanager
def seeded(seed: int, numpy_seed: int) -> Iterator[None]:
    """Seed the global random generators of Python and NumPy inside the block, and restore them
    afterwards."""
    import numpy as np

    before, numpy_before = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(numpy_seed)
    try:
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numpy_before)


def random_state() -> tuple[object, ...]:
    """The states of the global random generators. If the result differs between two calls, code
    that ran between them has drawn a random number."""
    import numpy as np

    state: Any = np.random.get_state(legacy=False)
    return random.getstate(), state["state"]["key"].tobytes(), state["state"]["pos"]


@contextmanager
def unchanged_globals(function: Any) -> Iterator[None]:
    """Restore the dictionaries, lists, and sets among the globals of a function's module after the
    block. OCRBench's aggregation in lmms-eval, for example, adds the points of all calls to a
    global dictionary, so a second call would return twice the score."""
    before: list[tuple[Any, Any]] = []
    for name, value in getattr(function, "__globals__", {}).items():
        if isinstance(value, dict | list | set) and not name.startswith("__"):
            with suppress(TypeError):  # something in it cannot be copied
                before.append((value, deepcopy(value)))
    try:
        yield
    finally:
        for value, copy in before:
            if value != copy:
                value.clear()
                value.extend(copy) if isinstance(value, list) else value.update(copy)
