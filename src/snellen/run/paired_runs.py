"""A run, and the run beside it that was asked as the benchmark asks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.analysis.comparing import ComparisonResult
from snellen.errors import SnellenError
from snellen.run.compare_runs import compare
from snellen.store import MANIFEST, Run, pull

PAIRED = ("blind", "open_ended")
"""Probes whose samples are those of the plain run; permuted ones are asked several times."""


def compare_with_plain(run: Path) -> ComparisonResult | None:
    """What a probe's run takes away: the run that is otherwise the same, if it lies beside it, less
    this one, on the samples of both. None where none lies there.

    Raises:
        UsageError: the two share no sample that counts.
    """
    identity = Run(run).manifest()["identity"]
    pull(run.parent)
    for manifest in sorted(run.parent.glob(f"*/{MANIFEST}")):
        try:
            other = Run(manifest.parent).manifest()["identity"]
        except (SnellenError, KeyError):
            continue  # it is somebody else's to mend
        if "probe" not in other and _but_for_probe(other) == _but_for_probe(identity):
            return compare(run, manifest.parent)
    return None


def is_paired(identity: Mapping[str, Any]) -> bool:
    """Whether a run is of a probe that is worth comparing with the run as the benchmark asks."""
    return any(name in identity.get("probe", {}) for name in PAIRED)


def _but_for_probe(identity: Mapping[str, Any]) -> dict[str, Any]:
    """An identity without the probe, and without the digest of rows, of which it may leave some
    out."""
    data = {name: value for name, value in identity["data"].items() if name != "digest"}
    return {**{name: value for name, value in identity.items() if name != "probe"}, "data": data}
