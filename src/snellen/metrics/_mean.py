"""Means of scores: over all rows, and over categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from snellen import stats
from snellen.metrics._columns import Columns
from snellen.metrics._metric import Compute, Metric, metric
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@metric(better=None, unit="fraction", averages_scores=True)
def mean(columns: Columns) -> Estimate:
    """The mean score, which is the accuracy if all scores are 0 or 1.

        m = Σ w·score / Σ w

    The value is in [0, 1] if all scores are in [0, 1]. Higher is better if the metric is reported
    under the name `accuracy`. Under any other name, the scoring must state the better direction
    (see `Metric`). `stats.mean` computes the interval. For scores in [0, 1], `stats.mean` uses
    Wilson's interval with an effective n that accounts for clusters. An example with three of four
    answers right:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> none, codes = np.empty(4, dtype=object), np.zeros(4, dtype=np.int32)
    >>> columns = Columns(score=np.array([1.0, 1.0, 1.0, 0.0]), cluster=np.arange(4), tags={},
    ...     answer=none, target=none, references=none, state=Category(codes=codes, names=("a",)))
    >>> found = mean(columns)
    >>> found.value, found.reason
    (0.75, '4 independent clusters: an interval needs at least 10')

    Raises:
        ValueError: The scoring does not give each sample a score.
    """
    return stats.mean(_scores(columns, "mean"), columns.cluster, columns.weight)


def macro_average(tag: str, weights: Mapping[str, float] | None = None) -> Metric:
    """The mean score of each category of a tag, averaged so that every category counts the same.

        M = 1/C · Σ_c m_c        m_c = Σ_{i in c} w·score / Σ_{i in c} w

    C is the number of categories with a score. With `weights`, which maps categories to numbers,
    M = Σ_c v_c·m_c / Σ_c v_c; a category without a weight has v_c = 1. The value is in [0, 1] if
    all scores are in [0, 1].
    The better direction is stated in the same way as for `mean`. Rows without a category are left
    out and are not counted in `n`. Manning, Raghavan and Schütze 2008, section 13.6, call this
    macroaveraging. `stats.bootstrap_sums` computes the interval by resampling clusters in all
    categories together, since an image or video may have questions in several categories.

    Three rows of `a` with score 1 and one row of `b` with score 0 give 1/2; the plain mean is 3/4:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> none, kind = np.empty(4, dtype=object), np.array([0, 0, 0, 1], dtype=np.int32)
    >>> kinds = Category(codes=kind, names=("a", "b"))
    >>> columns = Columns(score=np.array([1.0, 1.0, 1.0, 0.0]), cluster=np.arange(4),
    ...     tags={"kind": kinds}, answer=none, target=none, references=none, state=kinds)
    >>> macro_average("kind")(columns).value
    0.5

    Raises:
        ValueError: Raised by the metric if the scoring does not give each sample a score, or if the
            tag does not exist. The message lists the existing tags.
    """

    def macro(columns: Columns) -> Estimate:
        import numpy as np

        scores = _scores(columns, "macro_average")
        if tag not in columns.tags:
            raise ValueError(f"no tag {tag!r}; there are: {', '.join(columns.tags) or 'none'}")
        category = columns.tags[tag]
        has_category = np.array([bool(name) for name in category.names], dtype=bool)[category.codes]
        of_row = np.ones(len(scores)) if columns.weight is None else columns.weight
        labels, codes = np.unique(category.codes[has_category], return_inverse=True)
        numbers, clusters = np.unique(columns.cluster[has_category], return_inverse=True)
        cell, shape = clusters * len(labels) + codes, (len(numbers), len(labels))

        def by_category(what: NDArray[np.float64]) -> NDArray[np.float64]:
            flat = np.bincount(
                cell, weights=what[has_category], minlength=len(numbers) * len(labels)
            )
            return flat.reshape(shape).astype(np.float64, copy=False)

        def average(totals: NDArray[np.float64]) -> NDArray[np.float64]:
            of_scores, of_weights = np.split(totals, 2, axis=1)
            means: NDArray[np.float64] = (of_scores / of_weights) @ shares
            return means

        of_category = np.array([(weights or {}).get(category.names[label], 1) for label in labels])
        shares = of_category / of_category.sum()
        sums = np.concatenate([by_category(of_row * scores), by_category(of_row)], axis=1)
        return stats.bootstrap_sums(sums, average, n=int(has_category.sum()), clusters=numbers)

    return Metric(macro, unit="fraction", name="macro_average", averages_scores=True)


def is_mean(metric: Compute) -> bool:
    """Whether a metric computes `mean`, whatever its direction and unit."""
    return isinstance(metric, Metric) and metric.compute is mean.compute


def _scores(columns: Columns, metric: str) -> NDArray[np.float64]:
    if columns.score is None:
        raise ValueError(f"{metric} needs a score for each sample, but this scoring has none")
    return columns.score
