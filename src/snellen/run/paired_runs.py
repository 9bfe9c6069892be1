"""Pairs a probe's run with the plain run in the same folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.analysis.comparing import ComparisonResult
from snellen.errors import SnellenError
from snellen.run.compare_runs import compare
from snellen.store import MANIFEST, Run, pull

PAIRED = ("blind", "open_ended", "oracle_crop")
"""Probes that have the same samples as the plain run. Permuted choices are not in this list,
because such a run asks each question several times."""


def compare_with_plain(run: Path, own: Sequence[str] = ()) -> ComparisonResult | None:
    """Compute the loss due to a probe: the score of the plain run minus the score of the probe's
    run, on the samples that both runs share. The plain run is in the same folder and has otherwise
    equal settings. Returns None if there is no plain run. `own` has the user's files and modules
    with benchmarks, which may include the run's benchmark.

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
            return compare(run, manifest.parent, benchmark=own)
    return None


def is_paired(identity: Mapping[str, Any]) -> bool:
    """Whether a run has a probe that can be compared with the plain run."""
    return any(name in identity.get("probe", {}) for name in PAIRED)


def _but_for_probe(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Copy an identity without the probe and without the digest of the rows, since a probe may
    leave out some rows."""
    data = {name: value for name, value in identity["data"].items() if name != "digest"}
    return {**{name: value for name, value in identity.items() if name != "probe"}, "data": data}
