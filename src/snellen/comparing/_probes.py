"""Runs of one benchmark that were asked otherwise: blind, or without options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from snellen.comparing._sides import Loaded
from snellen.metrics import mean

BLIND = {
    "none": "without pictures",
    "blank": "with grey pictures",
    "other": "with other questions' pictures",
}


def probe_of(side: Loaded) -> Mapping[str, Any]:
    """How a side was asked, where that is not as the benchmark asks."""
    probe: Mapping[str, Any] = side.identity.get("probe", {})
    return probe


def said_of_probes(sides: Sequence[Loaded], names: Sequence[str]) -> Iterator[str]:
    """What the difference of two sides means where one is a probe of the other."""
    asked = [probe_of(side) for side in sides]
    if sum(map(bool, asked)) != 1:
        return
    probed = 0 if asked[0] else 1
    plain, one = names[1 - probed], names[probed]
    if "blind" in asked[probed]:
        how = BLIND.get(asked[probed]["blind"], "without its pictures")
        yield f"{one} was asked {how}: what {plain} has above it is what seeing gives"
    elif "open_ended" in asked[probed]:
        yield (
            f"{one} was asked without options, and is right where it says the right one's text: "
            f"what {plain} has above it comes of choosing, not of knowing, or of words"
        )


def by_accuracy(sides: tuple[Loaded, Loaded]) -> tuple[Loaded, Loaded] | None:
    """Two sides of which one was asked without options, each under its own scoring, by the one
    metric that both can have; None where that is not why their scorings differ."""
    if not any("open_ended" in probe_of(side) for side in sides):
        return None
    if any(one.columns.score is None for side in sides for one in side.rows):
        return None
    a, b = (_with_mean(side) for side in sides)
    return a, b


def _with_mean(side: Loaded) -> Loaded:
    scoring = side.benchmark.scorings[side.scoring]
    alone = replace(scoring, metrics={"accuracy": mean}, named=None)
    return replace(side, benchmark=replace(side.benchmark, scorings={side.scoring: alone}))
