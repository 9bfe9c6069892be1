"""Defines an estimate, which is a value with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from snellen.stats._influence import Influence
    from snellen.stats._sums import Sums

Direction = Literal["higher", "lower"]
"""Whether higher or lower values of a metric are better."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A metric's value with its uncertainty."""

    value: float | None
    """The value; None if the metric is undefined, in which case `reason` says why."""
    unit: str = "fraction"
    """The name of the unit, which is `fraction` for values in [0, 1]."""
    n: int
    """The number of replies (samples times repeats), or of other items that the metric counts."""
    stderr: float | None = None
    """The standard error, in the unit of the value; None if it is unknown."""
    ci95: tuple[float, float] | None = None
    """The 95 % interval, in the unit of the value; None if there is no interval, in which case
    `reason` says why."""
    reason: str | None = None
    """The reason why the estimate has no value or no interval."""
    better: Direction | None = None
    """Whether a higher or a lower value is better. This field is set only if the metric itself
    cannot declare the direction, because the estimate's name depends on the data."""
    sums: Sums | None = field(default=None, compare=False, repr=False)
    """The sums over clusters from which the value is computed; None if the value is not computed
    from sums. Comparisons of two models need these sums. The sums are not written to reports."""
    influence: Influence | None = field(default=None, compare=False, repr=False)
    """How far each cluster moves the value, for a value that is not computed from sums; None if not
    known. Comparisons of two models need it. It is not written to reports."""
