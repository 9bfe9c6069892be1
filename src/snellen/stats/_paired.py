"""Whether two models differ, from the same samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from snellen.stats._bootstrap import drawn_sums
from snellen.stats._estimate import Estimate
from snellen.stats._mean import FEWEST_CLUSTERS, degrees, too_few
from snellen.stats._quantiles import t_beyond, t_quantile
from snellen.stats._sums import Sums, ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NONE = "none"
SAME = "both have the same in every cluster"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How much more the second of two has, with an interval that knows that both were asked the
    same. `p` is two-sided, `method` says how it and the interval were found."""

    estimate: Estimate
    p: float | None
    clusters: int
    method: str


def difference(
    a: Sums,
    b: Sums,
    *,
    n: int,
    unit: str = "fraction",
    seed: int = 0,
    resamples: int | None = None,
) -> Difference:
    """A metric of b less that of a, on the same samples; `n` counts them.

    For means (the `ratio` of sums S and W over clusters g, with the same W on both sides):

        d = Σ_g (S_bg - S_ag) / W        u_g = S_bg - S_ag - d·W_g
        stderr² = G/(G-1) · Σ_g u_g² / W²

    with Student's t as in `mean`, which is the mean of the paired differences (Miller 2024,
    https://arxiv.org/abs/2411.00640, section 4.2, with clusters as in 2.2). For any other aggregate
    clusters are drawn again, the same for both, with the interval of `bootstrap` and the p that
    turns it around. Either way p < 0.05 where the 95 % interval lacks 0.

    Samples are paired by the caller. A cluster that one side lacks adds nothing to its sums: a
    metric may be of right answers alone.

    Raises:
        ValueError: the two share no cluster.
    """
    import numpy as np

    labels = np.union1d(a.cluster, b.cluster)
    if len(labels) == len(a.cluster) + len(b.cluster):
        raise ValueError("the two share no cluster: pair their samples first")
    one, other = joined(labels, a), joined(labels, b)
    if a.aggregate is ratio and b.aggregate is ratio and np.array_equal(one[:, 1], other[:, 1]):
        return _of_means(other[:, 0] - one[:, 0], one, n=n, unit=unit)
    k = one.shape[1]
    times = resamples or max(a.resamples, b.resamples)
    estimate, p = drawn_sums(
        np.concatenate([one, other], axis=1),
        lambda totals: b.aggregate(totals[:, k:]) - a.aggregate(totals[:, :k]),
        n=n,
        unit=unit,
        seed=seed,
        resamples=times,
    )
    method = NONE if estimate.ci95 is None else f"paired bootstrap by cluster, {times:,} resamples"
    if estimate.value == 0 and len(labels) >= FEWEST_CLUSTERS and np.array_equal(one, other):
        estimate, p = replace(estimate, reason=SAME), 1.0
    return Difference(estimate=estimate, p=p, clusters=len(labels), method=method)


def joined(labels: NDArray[np.generic], of: Sums) -> NDArray[np.float64]:
    """The sums of each label (G, k), 0 where a cluster is not there."""
    import numpy as np

    found = np.zeros((len(labels), of.sums.shape[1]))
    found[np.searchsorted(labels, of.cluster)] = of.sums
    return found


def _of_means(
    more: NDArray[np.float64], sums: NDArray[np.float64], *, n: int, unit: str
) -> Difference:
    """From how much more the second side has in each cluster (G,), and the first one's sums."""
    import numpy as np

    groups, weights = len(more), sums[:, 1]
    total = float(weights.sum())
    found = partial(Difference, clusters=groups)
    if not total:
        nothing = Estimate(value=None, unit=unit, n=n, reason="undefined" if n else "no scores")
        return found(estimate=nothing, p=None, method=NONE)
    value = float(more.sum()) / total
    known = partial(Estimate, value=value, unit=unit, n=n)
    if groups < FEWEST_CLUSTERS:
        return found(estimate=known(reason=too_few(groups)), p=None, method=NONE)
    if not more.any():
        return found(estimate=known(reason=SAME), p=1.0, method=NONE)
    moves = more - value * weights
    # What is left of equal sums by rounding is not a spread.
    if float(np.abs(moves).max()) <= 1e-12 * float(np.abs(more).max() + np.abs(sums).max()):
        reason = "all clusters have the same difference"
        # Chance gives all G differences one sign in 2 of 2^G cases.
        return found(estimate=known(reason=reason), p=2.0 ** (1 - groups), method="sign test")
    stderr = math.sqrt(groups / (groups - 1) * float(moves @ moves)) / total
    df = degrees(moves, groups)
    half = t_quantile(0.975, df) * stderr
    return found(
        estimate=known(stderr=stderr, ci95=(value - half, value + half)),
        p=2 * t_beyond(abs(value) / stderr, df),
        method=f"paired t by cluster, {df:.0f} degrees of freedom",
    )


def mcnemar(only_a: int, only_b: int) -> float:
    """McNemar's exact two-sided p: of samples that one side alone has right, as many or fewer on
    the rarer side if each side were as likely.

        p = min(1, 2 Σ_{k <= min} C(n, k) / 2^n)        n = only_a + only_b

    McNemar 1947, Psychometrika 12; exact as in Conover 1999, Practical Nonparametric Statistics,
    section 3.4. It takes samples for independent.

    >>> round(mcnemar(1, 4), 12)
    0.375

    Raises:
        ValueError: a count is negative.
    """
    if only_a < 0 or only_b < 0:
        raise ValueError(f"no {min(only_a, only_b)} samples can be right on one side alone")
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
    """The p values adjusted for their number, by Holm's step-down method, in the same order: below
    0.05 are those that may be called differences with a chance of at most 5 % that any is none.

        p̃_(i) = max_{j <= i} min(1, (m - j + 1) p_(j))

    Holm 1979, Scandinavian Journal of Statistics 6. Whatever depends on what.

    >>> holm([0.25, 0.0625, 0.5])
    [0.5, 0.1875, 0.5]
    """
    adjusted, largest = [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = largest
    return adjusted
