"""Prediction-powered inference, which estimates the mean of labels that only some rows have, with
the help of scores that all rows have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from snellen.stats._estimate import Estimate
from snellen.stats._mean import FEWEST_CLUSTERS, too_few
from snellen.stats._quantiles import t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class PoweredMean(NamedTuple):
    """The mean of labels, estimated with the help of scores that exist for all samples."""

    estimate: Estimate
    """The mean."""
    weight: float
    """The weight of the scores in `estimate`, from 0 to 1."""
    alone: Estimate
    """The mean of the labels alone."""


def powered_mean(
    score: NDArray[np.float64],
    label: NDArray[np.float64],
    cluster: NDArray[np.integer[Any]],
    certain: NDArray[np.bool_] | None = None,
) -> PoweredMean:
    """From a random sample of labeled rows, estimate what the mean label would be if every row had
    a label.

    All arrays have one element per row. `label` is nan for rows without a label. The scores of
    `certain` rows are known to be right. For the other rows, with the scores f and the labels y, n
    of them labeled and N not:

        m = mean(y - λ f over labeled) + λ mean(f over the others)
        λ = Cov(y, f) / ((1 + n/N) Var f), in [0, 1]

    The method is PPI++ (Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453, section 6). PPI, with
    λ = 1, is from Angelopoulos et al. 2023, Science 382, arXiv:2301.09633. Whatever the scores are,
    the expected value of m is the mean of the labels. The closer the scores are to the labels, the
    smaller the variance of m. If the scores would increase the variance, λ is 0, so only the labels
    are used.

    The standard error is the standard error of the linearized mean, with a factor of G/(G-1) in the
    variance. Student's t has G-1 degrees of freedom. G is the number of clusters with a labeled
    row, since a cluster may be only partly labeled. If all labels and scores are 0 or 1, half a row
    for each of the four pairs of label and score is added to the labeled rows before the interval
    is computed, as Agresti and Min 2005 (Statistics in Medicine 24) do for matched shares. Without
    the added half rows, a judge that seldom errs would seem never to err.
    """
    import numpy as np

    sure = np.zeros(len(score), dtype=np.bool_) if certain is None else certain
    labeled = ~sure & ~np.isnan(label)
    rest = ~sure & ~labeled
    if not labeled.any():
        nothing = Estimate(value=None, n=len(score), reason="no labels")
        return PoweredMean(nothing, 0.0, nothing)
    _, codes = np.unique(cluster, return_inverse=True)
    sample = _LabeledSample(score, label, codes, sure, labeled, rest)
    alone = sample.mean(0.0)
    weight = _weight(score, label, labeled, rest)
    helped = sample.mean(weight)
    if helped.stderr is None or alone.stderr is None or helped.stderr >= alone.stderr:
        # For example, if all labeled rows have the same score, they do not show how scores and
        # labels are related.
        return PoweredMean(alone, 0.0, alone)
    return PoweredMean(helped, weight, alone)


@dataclass(frozen=True)
class _LabeledSample:
    """Rows with scores and clusters, and masks of certain rows, labeled rows, and other rows."""

    score: NDArray[np.float64]
    label: NDArray[np.float64]
    codes: NDArray[np.intp]
    """The number of each row's cluster, from 0."""
    sure: NDArray[np.bool_]
    labeled: NDArray[np.bool_]
    rest: NDArray[np.bool_]

    def mean(self, weight: float) -> Estimate:
        """Estimate the mean label, with this weight for the scores."""
        import numpy as np

        score, labeled, rest = self.score, self.labeled, self.rest
        n_rows, groups = len(score), len(np.unique(self.codes[labeled]))
        open_share = float((~self.sure).mean())
        differ = self.label[labeled] - weight * score[labeled]
        halves = self._half_rows()
        added = halves[:, 0] - weight * halves[:, 1]
        n = int(labeled.sum()) + len(halves) / 2
        others = float(score[rest].mean()) if rest.any() else 0.0
        fixed = float(score[self.sure].sum()) / n_rows
        value = fixed + open_share * (float(differ.mean()) + weight * others)
        if groups < FEWEST_CLUSTERS:
            return Estimate(value=value, n=n_rows, reason=too_few(groups))
        middle = (float(differ.sum()) + float(added.sum()) / 2) / n
        judged = middle + weight * others
        center = fixed + open_share * judged
        # How far each row moves the mean.
        moves = np.where(self.sure, score - center, judged - center) / n_rows
        moves[labeled] += open_share * (differ - middle) / n
        if rest.any():
            moves[rest] += open_share * weight * (score[rest] - others) / rest.sum()
        sums = np.bincount(self.codes, weights=moves)
        apart = open_share**2 * float(((added - middle) ** 2).sum()) / 2 / n**2
        variance = float(sums @ sums) + apart
        known = np.concatenate([self.label[labeled], score])
        if variance <= 1e-24 * max(1.0, float(np.abs(known).max()) ** 2):
            return Estimate(value=value, n=n_rows, reason="all labels are the same")
        stderr = math.sqrt(groups / (groups - 1) * variance)
        half = t_quantile(0.975, groups - 1) * stderr
        low, high = center - half, center + half
        if known.min() >= 0 and known.max() <= 1:
            low, high = max(0.0, low), min(1.0, high)  # the mean cannot be outside
        return Estimate(value=value, n=n_rows, stderr=stderr, ci95=(low, high))

    def _half_rows(self) -> NDArray[np.float64]:
        """The labels and scores of the half rows to add, which are all four pairs of 0 and 1. If
        labels or scores have other values, no half rows are added."""
        import numpy as np

        both = np.concatenate([self.label[self.labeled], self.score[~self.sure]])
        pairs = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        return pairs if ((both == 0) | (both == 1)).all() else pairs[:0]


def _weight(
    score: NDArray[np.float64],
    label: NDArray[np.float64],
    labeled: NDArray[np.bool_],
    rest: NDArray[np.bool_],
) -> float:
    """λ, computed as in the authors' ppi_py 0.2.3 (`_calc_lam_glm` for a mean)."""
    import numpy as np

    if labeled.sum() < 2 or not rest.any():
        return 0.0
    spread = float(score[labeled | rest].var(ddof=1))
    if spread == 0:
        return 0.0
    y, f = label[labeled], score[labeled]
    together = float(((y - y.mean()) * (f - f.mean())).mean())
    return float(np.clip(together / ((1 + labeled.sum() / rest.sum()) * spread), 0.0, 1.0))
