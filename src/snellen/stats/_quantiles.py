"""Quantiles of the normal and of Student's t distribution."""

import math
from statistics import NormalDist


def normal_quantile(p: float) -> float:
    """The z below which a standard normal variable falls with probability p, 0 < p < 1."""
    return NormalDist().inv_cdf(p)


def t_quantile(p: float, df: int) -> float:
    """The t below which Student's t with `df` >= 1 degrees of freedom falls with probability p, 0 < p < 1; to 1e-9.

    Newton's method on the closed form of the distribution, from its expansion around the normal; beyond 200 degrees the expansion is that
    exact by itself. Abramowitz and Stegun 1964, 26.7.3 and 26.7.4 (closed form), 26.7.5 (expansion).
    """
    if df < 1:
        raise ValueError(f"Student's t needs at least 1 degree of freedom, got {df}")
    if p < 0.5:
        return -t_quantile(1 - p, df)
    if df == 1:
        return math.tan(math.pi * (p - 0.5))
    z = normal_quantile(p)
    t = z + sum(
        z * polynomial / df**power
        for power, polynomial in enumerate(
            (
                (z**2 + 1) / 4,
                (5 * z**4 + 16 * z**2 + 3) / 96,
                (3 * z**6 + 19 * z**4 + 17 * z**2 - 15) / 384,
                (79 * z**8 + 776 * z**6 + 1482 * z**4 - 1920 * z**2 - 945) / 92160,
            ),
            start=1,
        )
    )
    if df > 200:
        return t
    log_scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(math.pi * df) / 2
    for _ in range(20):
        density = math.exp(log_scale - (df + 1) / 2 * math.log1p(t * t / df))
        step = (_t_below(t, df) - p) / density
        t -= step
        if abs(step) < 1e-12 * abs(t):
            break
    return t


def _t_below(t: float, df: int) -> float:
    """The probability that Student's t is below `t`."""
    angle = math.atan(t / math.sqrt(df))
    cos2 = math.cos(angle) ** 2
    odd = df % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(1 + odd, df, 2):  # cos^(k-1) with its coefficient: the series has (df - odd) / 2 terms
        total += term
        term *= cos2 * k / (k + 1)
    if odd:
        within = 2 / math.pi * (angle + math.sin(angle) * total)
    else:
        within = math.sin(angle) * total
    return 0.5 + within / 2
