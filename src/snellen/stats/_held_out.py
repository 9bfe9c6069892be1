"""Estimates the value of the best of several settings, without the bias that comes from choosing
the setting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING

from snellen.stats._bootstrap import MOST_UNDEFINED
from snellen.stats._estimate import Estimate
from snellen.stats._mean import FEWEST_CLUSTERS, mean, too_few, wilson
from snellen.stats._paired import sums_by_label
from snellen.stats._quantiles import t_quantile
from snellen.stats._sums import Sums, ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDS = 3
SPLITS = 200
FEW = "part of it depends on too few clusters"
BLOCK = 1 << 22
"""The approximate maximum number of array elements that are kept in memory at the same time."""


def held_out(
    settings: Sequence[Sums],
    *,
    n: int,
    unit: str = "fraction",
    seed: int = 0,
    resamples: int = 1_000,
    lower_is_better: bool = False,
) -> Estimate:
    """Choose the best of k settings, and estimate its value on clusters that were not used for the
    choice. The best setting has the highest value, or the lowest if `lower_is_better`. `n` is the
    number of samples of one setting.

    Clusters are split into thirds at random. For each third, the setting that is best on the other
    two thirds is chosen, and its sums on the held-out third are used. The value of a split is the
    aggregate of these sums over all thirds (Stone 1974, Journal of the Royal Statistical Society B
    36, with folds of clusters), and the estimate is the mean over 200 splits. The result estimates
    the value of a setting that is chosen on two thirds of these samples, which is slightly worse
    than a setting that is chosen on all samples.

    The interval is the estimate ± t · stderr, where t has G-1 degrees of freedom for G clusters.
    stderr² is the variance of the whole procedure over resamples of clusters, in which all copies
    of a cluster are in the same third. This variance is computed as the covariance between two
    splits of each resample, which removes the variance that comes from splitting. A split is
    undefined if, for one of its thirds, no setting has a value on the other two thirds. If more
    than 5 % of splits are undefined, there is no value. If the settings are similar, the interval
    is wider than necessary; `docs/decisions/comparing.md` gives its coverage.

    For fractions, the interval is limited to [0, 1]. An interval that reaches 0 or 1 is extended to
    contain Wilson's interval, since resamples of scores that are almost all equal show too little
    of the error. If the value is 0 or 1, or if the best setting's value is 0 or 1, Wilson's
    interval is the interval that `mean` computes with one score per cluster. Otherwise, the
    effective n of Wilson's interval is value · (1 - value) / stderr², and at most `n`.

    Raises:
        ValueError: there are no settings, or their sums have different columns.
    """
    import numpy as np

    choice = _SettingChoice.from_settings(settings, lower_is_better=lower_is_better, seed=seed)
    groups = choice.groups
    if not groups:
        return Estimate(value=None, unit=unit, n=n, reason="no scores")
    ways, undefined = _defined(choice.deal(SPLITS))
    if undefined > MOST_UNDEFINED:
        reason = f"undefined in {100 * undefined:.0f} % of random splits: {FEW}"
        return Estimate(value=None, unit=unit, n=n, reason=reason)
    value = float(ways.mean())
    known = partial(Estimate, value=value, unit=unit, n=n)
    if groups < FEWEST_CLUSTERS:
        return known(reason=too_few(groups))
    drawn, undefined = _defined(choice.resample(resamples))
    if undefined > MOST_UNDEFINED:
        return known(reason=f"undefined in {100 * undefined:.0f} % of resamples: {FEW}")
    variance = float(np.cov(drawn)[0, 1])
    at_limit = choice.interval_at_limit(value) if unit == "fraction" else None
    if variance <= 1e-24 * value**2:
        if at_limit is None:
            return known(reason="all resamples have the same value")
        return known(ci95=at_limit)
    stderr = math.sqrt(groups / (groups - 1) * variance)
    half = t_quantile(0.975, groups - 1) * stderr
    low, high = value - half, value + half
    if unit == "fraction":
        wider = at_limit
        if wider is None and 0 < value < 1 and (low <= 0 or high >= 1):
            wider = wilson(value, min(n, value * (1 - value) / stderr**2))
        if wider is not None:
            low, high = min(low, wider[0]), max(high, wider[1])
        low, high = max(0.0, low), min(1.0, high)
    return known(stderr=stderr, ci95=(low, high))


@dataclass(frozen=True, kw_only=True)
class _SettingChoice:
    """Chooses among settings on two thirds of the clusters, and computes the value of the choice on
    the other third."""

    sums: NDArray[np.float64]
    """The sums (settings, G, k) of each cluster for each setting."""
    aggregate: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    """See `Sums`."""
    lower_is_better: bool
    rng: np.random.Generator
    """The generator of random numbers that splits the clusters into thirds."""

    @classmethod
    def from_settings(
        cls, settings: Sequence[Sums], *, lower_is_better: bool, seed: int
    ) -> _SettingChoice:
        """Prepare the choice among settings, whose clusters are matched by label.

        Raises:
            ValueError: there are no settings, or their sums have different columns.
        """
        import numpy as np

        if len({setting.sums.shape[1] for setting in settings}) != 1:
            raise ValueError("the settings' sums must be of the same metric, with the same columns")
        labels = reduce(np.union1d, [setting.cluster for setting in settings])
        return cls(
            sums=np.stack([sums_by_label(labels, setting) for setting in settings]),
            aggregate=settings[0].aggregate,
            lower_is_better=lower_is_better,
            rng=np.random.default_rng(seed),
        )

    @property
    def groups(self) -> int:
        """The number of clusters, G."""
        return int(self.sums.shape[1])

    def interval_at_limit(self, value: float) -> tuple[float, float] | None:
        """Wilson's interval of a value of 0 or 1, with one score per cluster. The interval is None
        if neither `value` nor the value of the best setting on all clusters is 0 or 1."""
        import numpy as np

        with np.errstate(divide="ignore", invalid="ignore"):
            values = self.aggregate(self.sums.sum(axis=1))
        better = -values if self.lower_is_better else values
        best = int(np.where(np.isnan(better), -np.inf, better).argmax())
        limits = [limit for limit in (value, float(values[best])) if limit in (0.0, 1.0)]
        if not limits:
            return None
        sizes = np.ones(self.groups)
        if self.aggregate is ratio:
            sizes = self.sums[best, :, 1]
        present = sizes > 0  # a setting without a score in a cluster has a size of 0 there
        scores = np.full(self.groups, limits[0])
        return mean(scores[present], np.arange(self.groups)[present], sizes[present]).ci95

    def deal(self, times: int) -> NDArray[np.float64]:
        """The values (times,) of random splits of the clusters."""
        import numpy as np

        blocks = _blocks(times, self.sums.size)
        return np.concatenate([self.values(np.ones((size, self.groups))) for size in blocks])

    def resample(self, times: int) -> NDArray[np.float64]:
        """The values (2, times) of two random splits of each resample of the clusters."""
        import numpy as np

        pairs = []
        for size in _blocks(times, self.sums.size):
            equal = np.full(self.groups, 1 / self.groups)
            counts = self.rng.multinomial(self.groups, equal, size).astype(np.float64)
            pairs.append(np.stack([self.values(counts), self.values(counts)]))
        return np.concatenate(pairs, axis=1)

    def values(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values (R,) of resamples that are each split once. `counts` (R, G) says how often
        each resample contains each cluster."""
        import numpy as np

        folds = np.tile(np.arange(self.groups) % FOLDS, (len(counts), 1))
        fold = self.rng.permuted(folds, axis=1)
        total = counts @ self.sums  # (settings, R, k)
        chosen = np.zeros(total.shape[1:])
        nothing = np.zeros(len(counts), dtype=np.bool_)  # no setting has a value on some two thirds
        for number in range(FOLDS):
            held = (counts * (fold == number)) @ self.sums
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.stack([self.aggregate(sums) for sums in total - held])
            nothing |= np.isnan(values).all(axis=0)
            values = -values if self.lower_is_better else values
            best = np.where(np.isnan(values), -np.inf, values).argmax(axis=0)
            chosen += held[best, np.arange(len(counts))]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(nothing, math.nan, self.aggregate(chosen))


def _defined(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """The columns of `values` (..., n) without nan, and the share of columns with nan."""
    import numpy as np

    undefined = np.isnan(np.atleast_2d(values)).any(axis=0)
    return values[..., ~undefined], float(undefined.mean())


def _blocks(times: int, size: int) -> Iterator[int]:
    """Split `times` repetitions into blocks that fit in memory, and yield the size of each block.
    Each repetition needs memory for `size` numbers."""
    most = max(1, BLOCK // size)
    for start in range(0, times, most):
        yield min(most, times - start)
