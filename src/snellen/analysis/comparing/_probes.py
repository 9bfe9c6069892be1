"""Compares runs of a benchmark with runs of a probe, which asks the questions blind or without
choices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from snellen.analysis.comparing.sides import LoadedSide
from snellen.errors import UsageError
from snellen.metrics import mean
from snellen.transforms.probes import CHANGES


def probe_of(side: LoadedSide) -> Mapping[str, Any]:
    """The settings of a side's probe; empty if the benchmark's questions were asked unchanged."""
    probe: Mapping[str, Any] = side.identity.get("probe", {})
    return probe


def probe_notes(sides: Sequence[LoadedSide], names: Sequence[str]) -> Iterator[str]:
    """Yield a note that interprets the difference between two sides of the same model, if exactly
    one of the sides is a probe."""
    probes = [probe_of(side) for side in sides]
    if sum(map(bool, probes)) != 1 or len({side.model for side in sides}) > 1:
        return
    probed = 0 if probes[0] else 1
    plain_name, probe_name = names[1 - probed], names[probed]
    if "blind" in probes[probed]:
        how = CHANGES.get(probes[probed]["blind"], "without its pictures")
        yield (
            f"{probe_name} was asked {how}, so any higher score of {plain_name} comes from seeing"
        )
    elif "oracle_crop" in probes[probed]:
        yield (
            f"{probe_name} also showed the part of the picture that each question is about, so any "
            f"higher score of {probe_name} is what {plain_name} loses by not looking there closely"
        )
    elif "open_ended" in probes[probed]:
        yield (
            f"{probe_name} was asked without choices, and is right only if it gives the text of "
            f"the right choice: any higher score of {plain_name} comes from picking among choices "
            "rather than from knowledge, or from differences in wording"
        )


def rankable(sides: Sequence[LoadedSide]) -> list[int]:
    """The indices of the sides that can be ranked together. Runs without choices use another
    scoring, so they can be ranked only with each other."""
    first = next((side for side in sides if "open_ended" not in probe_of(side)), sides[0])
    return [number for number, side in enumerate(sides) if side.scoring == first.scoring]


def with_same_scoring(
    sides: tuple[LoadedSide, LoadedSide], names: tuple[str, str]
) -> tuple[LoadedSide, LoadedSide]:
    """Return the sides with comparable metrics. If only one side was asked without choices, the two
    sides use different scorings, so both get accuracy as their only metric.

    Raises:
        UsageError: the sides have different scorings for another reason.
    """
    a, b = sides
    if a.scoring == b.scoring:
        return sides
    without_options = any("open_ended" in probe_of(side) for side in sides)
    if without_options and all(
        rows.columns.score is not None for side in sides for rows in side.rows
    ):
        return _with_mean(a), _with_mean(b)
    raise UsageError(
        f"{names[0]} is scored by {a.scoring}, and {names[1]} by {b.scoring}. Choose a scoring "
        "that exists on both sides (--scoring)."
    )


def _with_mean(side: LoadedSide) -> LoadedSide:
    scoring = side.benchmark.scorings[side.scoring]
    alone = replace(scoring, metrics={"accuracy": mean}, extra_metrics=None)
    return replace(side, benchmark=replace(side.benchmark, scorings={side.scoring: alone}))
