"""What is asked for where a model is to have replicas. Ray is not imported to say it."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass

from snellen.errors import UsageError, install


@dataclass(frozen=True, kw_only=True)
class Replicas:
    """How many replicas (None: as many as there are GPUs, or one), in which cluster (None: one of
    our own), with how many GPUs each (None: an equal share).

    Raises:
        UsageError: one is not a number that it may be.
    """

    n: int | None = None
    address: str | None = None
    gpus: float | None = None

    def __post_init__(self) -> None:
        whole = isinstance(self.n, int) and not isinstance(self.n, bool)
        if self.n is not None and not (whole and self.n >= 1):
            raise UsageError(f"replicas is a whole number from 1 on, not {self.n!r}.")
        if self.gpus is not None and not (
            math.isfinite(self.gpus)
            and (0 <= self.gpus <= 1 or (self.gpus > 1 and self.gpus == int(self.gpus)))
        ):
            raise UsageError(
                f"gpus_per_replica is a part of one GPU, or a whole number of them, not "
                f"{self.gpus:g}."
            )
        if self.address is not None and "://" in self.address:
            raise UsageError(
                f"{self.address}: give the cluster's own address, HOST:PORT or auto, on a machine "
                "of its own; Ray's client is not used."
            )


def check_installed() -> None:
    """That there is Ray, without importing it.

    Raises:
        UsageError: there is none.
    """
    if importlib.util.find_spec("ray") is None:
        raise UsageError(f"replicas need ray: {install('ray')}.")
