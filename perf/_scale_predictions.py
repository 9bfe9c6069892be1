"""What the model of a run foretells: of the runs that `scale.py` measured, and of machines that are
not here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from _scale_model import Outcome, Setting, simulate

ALLOWED = 0.1
GPUS = (8, 64, 1024)
SAMPLES = 10_000_000
SMALL, PICTURE = "54000", "100000"
"""Bytes of a picture in the runs that are measured, and in predictions."""
WIRE = 25e9 / 8
"""Bytes a second of the driver's network: 25 Gbit/s."""
HTTP_BODY = 4 / 3
"""A picture's bytes as base64."""
SURPLUS = 1.25
"""So many times the requests that fit are under way, so that none waits for the driver."""
SPREAD = 0.5
"""Calls take from so much less to so much more than the mean."""
FULL = 0.95
"""From this part of the time on a part counts as full."""


@dataclass(frozen=True, kw_only=True)
class Vlm:
    """An assumed model: replies a second that a GPU gives with `at_once` requests in it."""

    name: str
    rate: float
    at_once: int = 16

    @property
    def call(self) -> float:
        return self.at_once / self.rate


VLMS = (Vlm(name="7B", rate=10.0), Vlm(name="72B", rate=1.5))


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a call of a stand-in server costs, and how many questions are under way for each."""

    name: str
    slots: int
    work: float = 0.0
    wait: float = 0.0
    at_once: int = 1

    def fields(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Point:
    """Replies a second of a run, and the cores that it could have had meanwhile."""

    kind: str
    replicas: int
    measured: float
    cores: float
    simulated: float
    driver: float

    @property
    def ratio(self) -> float:
        return self.simulated / self.measured

    @property
    def held(self) -> bool:
        return abs(self.ratio - 1) <= ALLOWED


def points(figures: Mapping[str, Any]) -> Iterator[Point]:
    """Each measured point beside what the parts foretell."""
    over_http = figures["sizes"][SMALL]
    driver = over_http["driver"]
    for item in figures["points"]:
        kind = Kind(**item["kind"])
        rates = [measured["rate"] for measured in item["rounds"]]
        cores = median(measured["cores"] for measured in item["rounds"])
        outcome = simulate(
            Setting(
                questions=item["questions"],
                slots=kind.slots * item["replicas"],
                before=driver / 2,
                after=driver / 2,
                wake=wake(figures),
                replicas=item["replicas"],
                handling=over_http["handling"],
                work=kind.work,
                wait=kind.wait,
                at_once=kind.at_once,
                cores=cores,
            )
        )
        yield Point(
            kind=kind.name,
            replicas=item["replicas"],
            measured=median(rates),
            cores=cores,
            simulated=item["questions"] / outcome.span,
            driver=outcome.driver,
        )


def predicted(figures: Mapping[str, Any], vlm: Vlm, gpus: int, slots: int) -> Outcome:
    """A run on so many GPUs, a replica each, on machines of their own; pictures of 100 kB."""
    driver = figures["sizes"][PICTURE]["driver"]
    return simulate(
        Setting(
            # With fewer, half of the replies counted would come when nothing is sent any more, at
            # half of the driver's price, or before the first ones are back.
            questions=max(12 * slots, 10_000),
            slots=slots,
            before=driver / 2,
            after=driver / 2,
            wake=wake(figures),
            replicas=gpus,
            wait=vlm.call,
            spread=SPREAD,
            at_once=vlm.at_once,
            wire=int(PICTURE) * HTTP_BODY / WIRE,
        )
    )


def wake(figures: Mapping[str, Any]) -> float:
    """CPU seconds of a turn of the driver's loop: a question that is alone has two of its own, one
    of many shares them with nearly all others."""
    alone, with_others = figures["alone"]["driver"], figures["sizes"][SMALL]["driver"]
    return float(max(0.0, alone - with_others) / 2)


def bears(figures: Mapping[str, Any], which: str = PICTURE) -> float:
    """Samples a second at which the driver's one core is full, over HTTP."""
    return 1 / float(figures["sizes"][which]["driver"])


def under_way(vlm: Vlm, gpus: int) -> int:
    return math.ceil(SURPLUS * gpus * vlm.at_once)


def first_full(figures: Mapping[str, Any], vlm: Vlm, gpus: int, outcome: Outcome) -> str:
    if outcome.rate >= FULL * gpus * vlm.rate:
        return "the GPUs"
    if outcome.rate >= FULL * bears(figures):
        return "the driver"
    if outcome.wire >= FULL:
        return "the wire"
    return "too few under way"


def drivers(figures: Mapping[str, Any], vlm: Vlm, gpus: int) -> str:
    return str(math.ceil(gpus * vlm.rate / bears(figures)))
