"""The settings of a model's replicas. This module does not import Ray."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping
from dataclasses import dataclass

from snellen.errors import UsageError, install


@dataclass(frozen=True, kw_only=True)
class Replicas:
    """How many replicas of a model to run, and where.

    Raises:
        UsageError: a value is not allowed.
    """

    n: int | None = None
    """The number of replicas; None for one replica per GPU, but at least one replica."""
    address: str | None = None
    """The address of the Ray cluster; None to start a cluster for this run."""
    gpus: float | None = None
    """The number of GPUs per replica; None for an equal share of all GPUs."""

    def __post_init__(self) -> None:
        is_int = isinstance(self.n, int) and not isinstance(self.n, bool)
        if self.n is not None and not (is_int and self.n >= 1):
            raise UsageError(f"replicas must be a whole number, at least 1, not {self.n!r}.")
        if self.gpus is not None and not (
            math.isfinite(self.gpus)
            and (0 <= self.gpus <= 1 or (self.gpus > 1 and self.gpus == int(self.gpus)))
        ):
            raise UsageError(
                "gpus_per_replica must be a fraction of a GPU, or a whole number of GPUs, not "
                f"{self.gpus:g}."
            )
        if self.address is not None and "://" in self.address:
            raise UsageError(
                f"{self.address}: Ray Client is not supported. Run Snellen on a machine of the "
                "cluster, and pass the cluster's own address, HOST:PORT or auto."
            )


def check_installed(needed_by: str = "replicas") -> None:
    """Check that Ray is installed, without importing it. `needed_by` is a plural, for the message.

    Raises:
        UsageError: Ray is not installed.
    """
    if importlib.util.find_spec("ray") is None:
        raise UsageError(f"{needed_by} need the extra `ray`: {install('ray')}.")


def shares(
    there: Mapping[str, float], replicas: Replicas, *, devices: bool, is_own: bool
) -> tuple[int, float]:
    """Return the number of replicas, and the number of GPUs per replica. A fraction of a GPU is
    always on a single device, so two replicas with 0.6 GPUs each need two devices.

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
            f"{n} replicas with {gpus:g} GPUs each do not fit: the cluster has {has:g} GPUs, which "
            f"are enough for {most}. Request fewer replicas (--replicas) or fewer GPUs per replica "
            "(--gpus-per-replica)."
        )
    if not is_own and n > cores:
        raise UsageError(
            f"{n} replicas need one CPU each, but the cluster has {cores:g}. Request fewer "
            "replicas (--replicas)."
        )
    return n, gpus


def _hold(has: float, gpus: float) -> int:
    """Return the number of replicas that fit on `has` GPUs if each replica needs `gpus` GPUs."""
    return int(has // gpus) if gpus >= 1 else int(has) * int(1 / gpus + 1e-9)
