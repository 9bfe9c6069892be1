"""Computes how small a difference a given number of samples can detect."""

from __future__ import annotations

import math

from snellen.stats._quantiles import normal_quantile


def detectable(stderr: float, power: float = 0.8, level: float = 0.05) -> float:
    """The smallest true difference that a two-sided test at the level `level` detects with this
    power, if the standard error of the difference is `stderr`.

        d = (z_{1 - level/2} + z_power) · stderr

    Miller 2024, https://arxiv.org/abs/2411.00640, section 5, solved for the difference.

    >>> round(detectable(0.01), 4)
    0.028
    """
    return (normal_quantile(1 - level / 2) + normal_quantile(power)) * stderr


def detectable_share(
    n: float, disagree: float, power: float = 0.8, level: float = 0.05
) -> float | None:
    """The smallest difference between two shares that McNemar's test of n independent pairs detects
    with this power. `disagree` is the share of pairs in which only one side is right. The result is
    None if no difference can be detected, even if the same side is right in all pairs that
    disagree.

        n d² = (z_{1 - level/2} √ψ + z_power √(ψ - d²))²        ψ = disagree

    Connor 1987, Biometrics 43, Sample size for testing differences in proportions for the
    paired-sample design, solved for d. For clustered pairs, divide n by their design effect.

    >>> difference = detectable_share(1000, 0.2)
    >>> round(difference, 4), round(needed_pairs(difference, 0.2))
    (0.0396, 1000)
    """
    a, b = normal_quantile(1 - level / 2), normal_quantile(power)
    # The larger root of (n + b²) d² - 2 a √(n ψ) d + (a² - b²) ψ = 0, for b > 0.
    rest = n + b**2 - a**2
    if rest < 0:
        return None
    difference = (a * math.sqrt(n * disagree) + b * math.sqrt(disagree * rest)) / (n + b**2)
    return difference if difference <= disagree else None


def needed_pairs(
    difference: float, disagree: float, power: float = 0.8, level: float = 0.05
) -> float | None:
    """The number of independent pairs needed to detect a difference between two shares (see
    `detectable_share`). The result is None if the difference is not above 0, or is larger than the
    share of pairs that disagree.

    >>> round(needed_pairs(0.02, 0.1))
    1960
    """
    if not 0 < difference <= disagree:
        return None
    a, b = normal_quantile(1 - level / 2), normal_quantile(power)
    spread = a * math.sqrt(disagree) + b * math.sqrt(disagree - difference**2)
    return (spread / difference) ** 2
