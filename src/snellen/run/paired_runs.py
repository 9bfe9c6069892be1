"""Pairs a probe's run with the plain run in the same folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.analysis.comparing import ComparisonResult
from snellen.errors import SnellenError
from snellen.run.compare_runs import compare
from snellen.store import MANIFEST, Run, pull

PAIRED = ("blind", "open_ended")
"""Probes that have the same samples as the plain run. A run with permuted choices does not: it asks
each question several times."""


def compare_with_plain(run: Path) -> ComparisonResult | None:
    """Compute the loss due to a probe: the score of the plain run with otherwise equal settings in
    the same folder minus the score of this run, on their shared samples. None if there is no such
    run.

    Raises:
        UsageError: the two runs share no sample that counts.
    """
    identity = Run(run).manifest()["identity"]
    pull(run.parent)
    for manifest in sorted(run.parent.glob(f"*/{MANIFEST}")):
        try:
            other = Run(manifest.parent).manifest()["identity"]
        except (SnellenError, KeyError):
            continue  # this is an error of that run, not of this one
        if "probe" not in other and _but_for_probe(other) == _but_for_probe(identity):
            return compare(run, manifest.parent)
    return None


def is_paired(identity: Mapping[str, Any]) -> bool:
    """Whether a run has a probe that can be compared with the plain run."""
    return any(name in identity.get("probe", {}) for name in PAIRED)


def _but_for_probe(identity: Mapping[str, Any]) -> dict[str, Any]:
    """An identity without the probe and without the digest of the rows, since a probe may leave out
    some rows."""
    data = {name: value for name, value in identity["data"].items() if name != "digest"}
    return {**{name: value for name, value in identity.items() if name != "probe"}, "data": data}
