"""What every benchmark has whose code belongs to another toolkit: its marks, and the means to run
that code without changing anything else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from snellen.core import Benchmark

UNIT = "as the toolkit gives it"
"""The unit of a figure that the toolkit's own code computes."""


@dataclass(frozen=True, kw_only=True)
class ToolkitBenchmark:
    """A benchmark that a toolkit's code asks and scores."""

    benchmark: Benchmark
    """The benchmark."""
    version: str
    """The version of the toolkit."""
    digest: str
    """The digest of the toolkit's version and of the files that define the benchmark."""


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
    """The states of the global random generators. If two states differ, code between them has drawn
    a random number."""
    import numpy as np

    state: Any = np.random.get_state(legacy=False)
    return random.getstate(), state["state"]["key"].tobytes(), state["state"]["pos"]
