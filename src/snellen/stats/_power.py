"""What differences so many samples can show."""

from __future__ import annotations

from snellen.stats._quantiles import normal_quantile


def detectable(stderr: float, power: float = 0.8, level: float = 0.05) -> float:
    """The smallest difference that a two-sided test at `level` finds with this power, if the
    difference has this standard error.

        d = (z_{1 - level/2} + z_power) · stderr

    Miller 2024, https://arxiv.org/abs/2411.00640, section 5, equation 9, solved for d.

    >>> round(detectable(0.01), 4)
    0.028
    """
    return (normal_quantile(1 - level / 2) + normal_quantile(power)) * stderr
