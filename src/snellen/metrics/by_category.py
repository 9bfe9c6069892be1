"""A metric that is computed from the score and the number of rows of each category."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from snellen import stats
from snellen.metrics._columns import Columns
from snellen.metrics._metric import Metric
from snellen.stats import Direction, Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Aggregate = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
    """Computes K values from the sums of the scores and the numbers of rows, both (K, C) for C
    categories."""


def by_category(tag: str, aggregate: Aggregate, name: str, better: Direction = "higher") -> Metric:
    """Create a metric for authors who combine the categories of a tag in their own way. The metric
    has the range of the scores. Its interval resamples clusters.

    The accuracy of the best of two categories:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> none, kind = np.empty(3, dtype=object), np.array([0, 0, 1], dtype=np.int32)
    >>> kinds = Category(codes=kind, names=("a", "b"))
    >>> columns = Columns(score=np.array([1.0, 1.0, 0.0]), cluster=np.arange(3),
    ...     tags={"kind": kinds}, answer=none, target=none, references=none, state=kinds)
    >>> best = by_category("kind", lambda score, rows: (score / rows).max(axis=1), "best")
    >>> best(columns).value
    1.0
    """

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        if columns.score is None:
            raise ValueError(f"{name} needs a score for each sample, but this scoring has none")
        if not columns.n:
            return Estimate(value=None, n=0, reason="no scores")
        weights = np.ones(columns.n) if columns.weight is None else columns.weight
        categories, codes = np.unique(columns.tags[tag].codes, return_inverse=True)
        clusters, cluster = np.unique(columns.cluster, return_inverse=True)
        cell, shape = cluster * len(categories) + codes, (len(clusters), len(categories))
        sums = [
            np.bincount(cell, weights=values, minlength=shape[0] * shape[1]).reshape(shape)
            for values in (weights * columns.score, weights)
        ]

        def value(totals: NDArray[np.float64]) -> NDArray[np.float64]:
            score, rows = np.split(totals, 2, axis=1)
            return aggregate(score, rows)

        return stats.bootstrap_sums(
            np.concatenate(sums, axis=1), value, n=columns.n, clusters=clusters
        )

    return Metric(metric, better=better, unit="fraction", name=name)
