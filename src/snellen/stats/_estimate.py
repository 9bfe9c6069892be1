"""A value with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from snellen.stats._sums import Sums

Direction = Literal["higher", "lower"]
"""Which values of a metric are better."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A metric's value, with its uncertainty.

    `value` is None if the metric is undefined, `ci95` is None if there is no interval; `reason`
    then says why. `unit` is `fraction` for values in [0, 1], otherwise the unit's name. `n` counts
    samples × repeats. `sums` says how the value follows from clusters, so that it can be compared
    with another model's. It is None if the value is not a function of sums over clusters, and it is
    not published. `better` is set only if the metric itself cannot state its direction, because the
    estimate's name depends on the data.
    """

    value: float | None
    unit: str = "fraction"
    n: int
    stderr: float | None = None
    ci95: tuple[float, float] | None = None
    reason: str | None = None
    better: Direction | None = None
    sums: Sums | None = field(default=None, compare=False, repr=False)
