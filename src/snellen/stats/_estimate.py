"""A number that knows how sure it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from snellen.stats._sums import Sums

Direction = Literal["higher", "lower"]
"""Which values of a metric are better."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A metric's value with what is needed to trust it.

    `value` is None where the metric is undefined and `ci95` is None where no interval can be given;
    `reason` then says why. `unit` is `fraction` for anything in [0, 1], else named. `n` counts
    samples × repeats. `sums` is how the value follows from clusters, for what compares it with
    another model's; None where it is no function of sums over clusters. It is not published.
    `better` is set where the metric cannot state it: its name is known only with the data.
    """

    value: float | None
    unit: str = "fraction"
    n: int
    stderr: float | None = None
    ci95: tuple[float, float] | None = None
    reason: str | None = None
    better: Direction | None = None
    sums: Sums | None = field(default=None, compare=False, repr=False)
