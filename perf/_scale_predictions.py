"""What the model of a run predicts: for the runs that `scale.py` measured, and for larger
machines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from _scale_model import Outcome, Setting, simulate

ALLOWED = 0.1
"""The largest acceptable error of a simulated rate, as a share of the measured rate."""
GPUS = (8, 64, 1024)
SAMPLES = 10_000_000
SMALL, PICTURE = "54000", "100000"
"""The bytes of a picture in the measured runs, and in the predictions."""
WIRE = 25e9 / 8
"""Bytes per second of the driver's network: 25 Gbit/s."""
HTTP_BODY = 4 / 3
"""The size of a picture in base64, relative to its bytes."""
SURPLUS = 1.25
"""The ratio of concurrent requests to those that fit into the GPUs, so that no GPU waits for the
driver."""
SPREAD = 0.5
"""The duration of a call differs from the mean by at most this share of it."""
FULL = 0.95
"""A part counts as full if it is busy for at least this share of the time."""


@dataclass(frozen=True, kw_only=True)
class Vlm:
    """An assumed model: a GPU gives `rate` replies per second with `at_once` concurrent
    requests."""

    name: str
    rate: float
    at_once: int = 16

    @property
    def call(self) -> float:
        return self.at_once / self.rate


VLMS = (Vlm(name="7B", rate=10.0), Vlm(name="72B", rate=1.5))


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a call costs a stand-in server, and how many questions are in flight per server."""

    name: str
    slots: int
    work: float = 0.0
    wait: float = 0.0
    at_once: int = 1

    def fields(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Point:
    """The measured and simulated replies per second of a run, and the cores available to it."""

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
    """Yield each measured point with the rate simulated from the measured parts."""
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
    """Simulate a driver with this many GPUs, with one replica each, on machines other than the
    driver's, with pictures of 100 kB."""
    driver = figures["sizes"][PICTURE]["driver"]
    return simulate(
        Setting(
            # With fewer questions, half of the counted replies would arrive after the last request
            # was sent, when a reply costs the driver half as much, or before the first replies.
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
    """The CPU seconds of one turn of the driver's event loop. A question that is alone in flight
    has two turns to itself. When many questions are in flight, nearly all of them share the
    turns."""
    alone, with_others = figures["alone"]["driver"], figures["sizes"][SMALL]["driver"]
    return float(max(0.0, alone - with_others) / 2)


def bears(figures: Mapping[str, Any], which: str = PICTURE) -> float:
    """The samples per second, sent over HTTP, at which the driver's single core is full."""
    return 1 / float(figures["sizes"][which]["driver"])


def under_way(vlm: Vlm, gpus: int) -> int:
    return math.ceil(SURPLUS * gpus * vlm.at_once)


def first_full(figures: Mapping[str, Any], vlm: Vlm, gpus: int, outcome: Outcome) -> str:
    if outcome.rate >= FULL * gpus * vlm.rate:
        return "the GPUs"
    if outcome.rate >= FULL * bears(figures):
        return "the driver"
    if outcome.wire >= FULL:
        return "the network"
    return "too few in flight"


def drivers(figures: Mapping[str, Any], vlm: Vlm, gpus: int) -> int:
    """The number of drivers with which the GPUs are full before the drivers are."""
    return math.ceil(gpus * vlm.rate / bears(figures) / FULL)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What one run on many GPUs needs if several drivers ask it. The GPUs and the requests are
    divided evenly among the drivers, each of which has a core of its own."""

    drivers: int
    """The number of drivers."""
    slots: int
    """The concurrent requests of each driver."""
    rate: float
    """The replies per second of all drivers."""
    busy: float
    """The share of time that each driver is busy."""
    sent: float
    """The bytes per second that all drivers send."""


def in_parts(figures: Mapping[str, Any], vlm: Vlm, gpus: int) -> Parts:
    """Predict a run on this many GPUs with as many drivers as it needs."""
    n = drivers(figures, vlm, gpus)
    slots = math.ceil(under_way(vlm, gpus) / n)
    share = predicted(figures, vlm, math.ceil(gpus / n), slots)
    rate = min(n * share.rate, gpus * vlm.rate)
    return Parts(
        drivers=n,
        slots=slots,
        rate=rate,
        busy=min(1.0, rate / n / bears(figures)),
        sent=rate * int(PICTURE) * HTTP_BODY,
    )
