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
    """A metric's value with its uncertainty."""

    value: float | None
    """The value; None if the metric is undefined, and `reason` says why."""
    unit: str = "fraction"
    """`fraction` for values in [0, 1], otherwise the name of the unit."""
    n: int
    """The number of samples times repeats, or of whatever the metric counts."""
    stderr: float | None = None
    """The standard error, in the unit of the value; None if it is unknown."""
    ci95: tuple[float, float] | None = None
    """The 95 % interval, in the unit of the value; None if there is no interval, and `reason` says
    why."""
    reason: str | None = None
    """Why there is no value or no interval."""
    better: Direction | None = None
    """Which direction is better. It is set only if the metric cannot declare the direction, because
    the estimate's name depends on the data."""
    sums: Sums | None = field(default=None, compare=False, repr=False)
    """The sums over clusters from which the value is computed, so that two models can be compared;
    None if it is not computed from sums. Not written to reports."""
