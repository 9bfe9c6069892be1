"""The figures of benchmarks whose judge calls a reply correct, incorrect, or not attempted.

The labels and the figures are those of SimpleQA (Wei et al. 2024, https://arxiv.org/abs/2411.04368,
section 3), which other benchmarks follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from snellen import stats
from snellen.metrics import Columns, Metric
from snellen.stats import Direction, Estimate

LABELS = ("correct", "incorrect", "not attempted")
Share = Callable[[float, float, float], float]
"""A function of the shares of the three labels."""


def attempted_accuracy(right: float, wrong: float, _: float) -> float:
    """The share of correct replies among those that attempt an answer; 0 if there are none."""
    return right / (right + wrong) if right + wrong > 0 else 0.0


def f_score(right: float, wrong: float, neither: float) -> float:
    """The harmonic mean of the share of correct replies and `attempted_accuracy`."""
    accuracy = attempted_accuracy(right, wrong, neither)
    return 2 * accuracy * right / (accuracy + right) if accuracy + right > 0 else 0.0


FIGURES: Mapping[str, tuple[Share, Direction | None]] = {
    "is_correct": (lambda right, wrong, neither: right, "higher"),
    "is_incorrect": (lambda right, wrong, neither: wrong, "lower"),
    "is_not_attempted": (lambda right, wrong, neither: neither, None),
    "is_given_attempted": (lambda right, wrong, neither: right + wrong, None),
    "accuracy_given_attempted": (attempted_accuracy, "higher"),
    "f1": (f_score, "higher"),
}


def figures(digits: int = 15) -> Mapping[str, Metric]:
    """The metrics in `FIGURES`. The share of each label is first rounded to this number of
    digits."""
    return {name: _metric(share, better, digits) for name, (share, better) in FIGURES.items()}


def _metric(share: Share, better: Direction | None, digits: int) -> Metric:
    def of_counts(*counts: float) -> float:
        return share(*(round(count / sum(counts), digits) for count in counts))

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        if not columns.n:
            return Estimate(value=None, n=0, reason="no scores")
        clusters, cluster = np.unique(columns.cluster, return_inverse=True)
        counts = [np.bincount(cluster, weights=columns.answer == label) for label in LABELS]
        values = np.frompyfunc(of_counts, len(LABELS), 1)
        return stats.bootstrap_sums(
            np.stack(counts, axis=1),
            lambda totals: np.asarray(values(*totals.T), dtype=np.float64),
            n=columns.n,
            clusters=clusters,
        )

    return Metric(metric, better=better, unit="fraction")
