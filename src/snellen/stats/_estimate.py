"""A number that knows how sure it is."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A metric's value with what is needed to trust it.

    `value` is None where the metric is undefined and `ci95` is None where no interval can be given;
    `reason` then says why. `unit` is `fraction` for anything in [0, 1], else named. `n` counts
    samples × repeats.
    """

    value: float | None
    unit: str = "fraction"
    n: int
    stderr: float | None = None
    ci95: tuple[float, float] | None = None
    reason: str | None = None
