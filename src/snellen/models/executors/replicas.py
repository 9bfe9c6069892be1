"""What is asked for where a model is to have replicas. Ray is not imported to say it."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping
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
        is_int = isinstance(self.n, int) and not isinstance(self.n, bool)
        if self.n is not None and not (is_int and self.n >= 1):
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


def shares(
    there: Mapping[str, float], replicas: Replicas, *, devices: bool, is_own: bool
) -> tuple[int, float]:
    """How many replicas, and how many GPUs each. A part of one is of one device: two of 0.6 need
    two.

    Raises:
        UsageError: the cluster is too small.
    """
    has = there.get("GPU", 0.0)
    cores = there.get("CPU", 0.0)
    if not devices:
        has = 0.0
    n, gpus = replicas.n, replicas.gpus
    if n is None:
        n = max(1, _hold(has, gpus or 1))
    if gpus is None:
        gpus = math.floor(has / n) if has >= n or not has else 1 / math.ceil(n / has)
    if gpus and n > (most := _hold(has, gpus)):
        raise UsageError(
            f"{n} replicas with {gpus:g} GPUs each do not fit: the cluster has {has:g} GPUs for "
            f"them, which hold {most}. Ask for fewer (--replicas) or less each "
            "(--gpus-per-replica)."
        )
    if not is_own and n > cores:
        raise UsageError(
            f"{n} replicas take a CPU each, and the cluster has {cores:g}. Ask for fewer "
            "(--replicas)."
        )
    return n, gpus


def _hold(has: float, gpus: float) -> int:
    """How many replicas with so many GPUs each have a place in so many GPUs."""
    return int(has // gpus) if gpus >= 1 else int(has) * int(1 / gpus + 1e-9)
