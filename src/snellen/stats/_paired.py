"""Compares two models on the same samples, as pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from snellen.stats._estimate import Estimate
from snellen.stats._mean import FEWEST_CLUSTERS, degrees, too_few
from snellen.stats._quantiles import t_beyond, t_quantile
from snellen.stats._sums import Sums, ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NONE = "none"
SAME = "both sides are the same in every cluster"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The difference between two sides, such as two models, on paired samples: the second side's
    value minus the first side's value."""

    estimate: Estimate
    """The difference with its interval."""
    p: float | None
    """The two-sided p value; None if there is no test."""
    clusters: int
    """The number of clusters."""
    method: str
    """The method by which the interval and the p value were computed."""


def difference(a: Sums, b: Sums, *, n: int, unit: str = "fraction") -> Difference:
    """Estimate the metric of b minus the metric of a, on the same `n` samples.

        d = θ_b(B) - θ_a(A)        u_g = how far cluster g moves d        d ± t · stderr

    A and B are the totals of the sums A_g and B_g over G clusters. A mean m is the `ratio` of the
    sums S (of scores) and W (of weights). For means, u_g is (S_g - m W_g)/W for b minus (S_g - m
    W_g)/W for a, and stderr² = G/(G-1) · Σ_g u_g². If both sides give the samples the same weights,
    d is the mean of the paired differences, with its clustered standard error (Miller 2024,
    https://arxiv.org/abs/2411.00640, sections 2.2 and 4.2). For other aggregates

        stderr² = Σ_g (u_g - ū) (v_g - v̄)
        u_g = d(A + A_g/2, B + B_g/2) - d(A - A_g/2, B - B_g/2)
        v_g = d(A, B) - d(A - A_g, B - B_g)

    where u_g is the derivative with respect to the cluster's weight, as in the infinitesimal
    jackknife, and v_g is the effect of leaving the cluster out, as in the delete-one jackknife
    (Efron 1982, The Jackknife, the Bootstrap and Other Resampling Plans, chapters 3 and 6). In an
    average of averages, the squares of u are too small by a factor of (n-1)/n in a category of n
    clusters, and the squares of v are too large by the same factor. Student's t has the degrees of
    freedom of `mean`, multiplied by G/(G-1) · Σ_g (u_g - ū)² / stderr² (at most 1). This factor
    removes about one degree of freedom per category. p is the significance level at which one end
    of the interval is 0. `docs/decisions/comparing.md` describes the alternatives that were tried,
    and gives the coverage of the interval.

    The caller must pair the samples. A cluster can be missing on one side, for example if a metric
    uses only right answers. A missing cluster adds nothing to that side's sums.

    Raises:
        ValueError: the two sides share no cluster.
    """
    import numpy as np

    labels = np.union1d(a.cluster, b.cluster)
    if len(labels) == len(a.cluster) + len(b.cluster) > 0:
        raise ValueError("the two sides share no cluster: pair their samples first")
    sums_a, sums_b = sums_by_label(labels, a), sums_by_label(labels, b)
    value_a, value_b = (float(_values(of, of.sums.sum(axis=0)[np.newaxis])[0]) for of in (a, b))
    value, groups = value_b - value_a, len(labels)
    result = partial(Difference, clusters=groups)
    if not math.isfinite(value):
        reason = "undefined" if n else "no scores"
        nothing = Estimate(value=None, unit=unit, n=n, reason=reason)
        return result(estimate=nothing, p=None, method=NONE)
    rounding = 1e-12 * max(abs(value_a), abs(value_b))
    if abs(value) <= rounding:
        value = 0.0  # a rounding error is not a difference
    known = partial(Estimate, value=value, unit=unit, n=n)
    if groups < FEWEST_CLUSTERS:
        return result(estimate=known(reason=too_few(groups)), p=None, method=NONE)
    if np.array_equal(sums_a, sums_b):
        return result(estimate=known(reason=SAME), p=1.0, method=NONE)
    by_b, by_a = _moves(b, sums_b), _moves(a, sums_a)
    moves = [to - by for to, by in zip(by_b, by_a, strict=True)]
    means = a.aggregate is ratio and b.aggregate is ratio
    return _by_moves(moves, known(), groups=groups, means=means, rounding=rounding)


def _by_moves(
    moves: Sequence[NDArray[np.float64]],
    value: Estimate,
    *,
    groups: int,
    means: bool,
    rounding: float,
) -> Difference:
    """Compute the interval and the p value of a difference from the effect of each cluster on the
    difference (see `_moves`).

    `means` says whether `value` is the difference of two means. Effects that deviate from their
    mean by at most `rounding` count as equal.
    """
    import numpy as np

    d = value.value
    assert d is not None
    result, known = partial(Difference, clusters=groups), partial(replace, value)
    if not np.isfinite(moves).all():
        reason = "undefined without one of its clusters: a part of it comes from that cluster alone"
        return result(estimate=known(reason=reason), p=None, method=NONE)
    step, left_out = (of - of.mean() for of in moves)
    # Ignore rounding errors: moves that differ only by them are equal.
    if float(np.abs(step).max()) <= rounding:
        if means and not d:
            return result(estimate=known(reason=SAME), p=1.0, method=NONE)
        alike = known(reason="all clusters have the same difference")
        # By chance, all G differences have the same sign in 2 of 2^G cases.
        p = 2.0 ** (1 - groups) if means else None
        return result(estimate=alike, p=p, method=NONE if p is None else "sign test of clusters")
    variance = float(step @ left_out)
    if variance <= 0:
        reason = "the clusters do not show how much the difference varies"
        return result(estimate=known(reason=reason), p=None, method=NONE)
    stderr = math.sqrt(variance)
    fewer = groups / (groups - 1) * float(step @ step) / variance
    df = max(1.0, degrees(step, groups) * min(1.0, fewer))
    half = t_quantile(0.975, df) * stderr
    return result(
        estimate=known(stderr=stderr, ci95=(d - half, d + half)),
        p=2 * t_beyond(abs(d) / stderr, df),
        method=f"paired {'t' if means else 'jackknife'} by cluster, {df:.0f} degrees of freedom",
    )


def sums_by_label(labels: NDArray[np.generic], of: Sums) -> NDArray[np.float64]:
    """The sums (G, k) of the clusters with these labels; 0 for a label without a cluster."""
    import numpy as np

    rows = np.zeros((len(labels), of.sums.shape[1]))
    rows[np.searchsorted(labels, of.cluster)] = of.sums
    return rows


def _moves(of: Sums, sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The effect of each cluster on the aggregate, in two forms: the derivative (G,) with respect
    to the cluster's weight, and the effect (G,) of leaving the cluster out. `sums` is (G, k)."""
    total = sums.sum(axis=0)
    if of.aggregate is ratio:
        score, weight = total.tolist()
        step: NDArray[np.float64] = (sums[:, 0] - score / weight * sums[:, 1]) / weight
        return step, step * len(sums) / (len(sums) - 1)
    step = _values(of, total + sums / 2) - _values(of, total - sums / 2)
    return step, _values(of, total[None]) - _values(of, total - sums)


def _values(of: Sums, totals: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        return of.aggregate(totals)


def mcnemar(only_a: int, only_b: int) -> float:
    """McNemar's exact two-sided p value. The test uses the samples that only one side answered
    correctly. The p value is the probability that these samples are split between the two sides at
    least as unevenly as observed, if each side is equally likely.

        p = min(1, 2 Σ_{k <= min} C(n, k) / 2^n)        n = only_a + only_b

    McNemar 1947, Psychometrika 12. The exact version is the sign test (Conover 1999, Practical
    Nonparametric Statistics, chapter 3), which assumes independent samples.

    >>> round(mcnemar(1, 4), 12)
    0.375

    Raises:
        ValueError: a count is negative.
    """
    if only_a < 0 or only_b < 0:
        raise ValueError(f"a count of samples cannot be negative: {min(only_a, only_b)}")
    few, n = min(only_a, only_b), only_a + only_b
    if 2 * few == n:
        return 1.0
    term = math.exp(
        math.lgamma(n + 1) - math.lgamma(few + 1) - math.lgamma(n - few + 1) - n * math.log(2)
    )
    total = 0.0
    for k in range(few, -1, -1):
        total += term
        term *= k / (n - k + 1)
        if term < 1e-17 * total:
            break
    return min(1.0, 2 * total)


def holm(ps: Sequence[float]) -> list[float]:
    """Adjust p values for multiple tests by Holm's step-down method. The order is kept. If every
    test with an adjusted p value below 0.05 is called significant, the probability of at least one
    false positive is at most 5 %.

        p̃_(i) = max_{j <= i} min(1, (m - j + 1) p_(j))

    Holm 1979, Scandinavian Journal of Statistics 6. The method is valid even if the tests depend on
    each other.

    >>> holm([0.25, 0.0625, 0.5])
    [0.5, 0.1875, 0.5]
    """
    adjusted, largest = [0.0] * len(ps), 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = largest
    return adjusted
