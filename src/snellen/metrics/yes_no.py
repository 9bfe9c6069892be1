"""Metrics of yes/no questions, such as the precision and recall of "yes"."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

from snellen import stats
from snellen.metrics._columns import Columns
from snellen.metrics._metric import Metric, metric
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.float64]
    """Counts or metric values for R sets of rows: one per set, (R,), or one per set and category,
    (R, C)."""
    Of = Callable[[Counts, Counts, Counts, Counts], Counts]

YES = "yes"


@metric(better="higher", unit="fraction")
def precision(columns: Columns, *, otherwise: float = math.nan) -> Estimate:
    """The precision of yes: among the rows with the answer yes, the share in which yes is right.

    In [0, 1]; higher is better. `otherwise` is the value if the answer is never yes. If `otherwise`
    is nan and the answer is never yes, the estimate has a reason instead of a value. The interval
    is a bootstrap over clusters. An example in which the answer is yes twice and right once:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> said, right = np.array(["yes", "yes", "no", None]), np.array(["yes", "no", "yes", "yes"])
    >>> state = Category(codes=np.zeros(4, dtype=np.int32), names=("answered",))
    >>> columns = Columns(score=(said == right).astype(float), answer=said, target=right, tags={},
    ...     references=np.empty(4, dtype=object), state=state, cluster=np.arange(4))
    >>> precision(columns).value
    0.5
    """
    return _of(columns, lambda both, yes, right, n: _ratio(both, yes, otherwise))


@metric(better="higher", unit="fraction")
def recall(
    columns: Columns, *, otherwise: float = math.nan, answered_only: bool = False
) -> Estimate:
    """The recall of yes: among the rows in which yes is right, the share with the answer yes.

    In [0, 1]; higher is better. Rows without an answer count as if the answer were not yes; with
    `answered_only`, they are left out. `otherwise` is the value if yes is never right. The interval
    is a bootstrap over clusters. In the rows of the example of `precision`, yes is right three
    times:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> said, right = np.array(["yes", "yes", "no", None]), np.array(["yes", "no", "yes", "yes"])
    >>> state = Category(codes=np.zeros(4, dtype=np.int32), names=("answered",))
    >>> columns = Columns(score=(said == right).astype(float), answer=said, target=right, tags={},
    ...     references=np.empty(4, dtype=object), state=state, cluster=np.arange(4))
    >>> round(recall(columns).value, 3), recall(columns, answered_only=True).value
    (0.333, 0.5)
    """
    of = partial(_recall, otherwise=otherwise)
    return _of(columns, of, answered_only=answered_only)


@metric(better="higher", unit="fraction")
def f1(columns: Columns, *, otherwise: float = math.nan, answered_only: bool = False) -> Estimate:
    """The harmonic mean of the precision and the recall of yes.

        F1 = 2 · both / (said + right)

    `said` counts the rows with the answer yes, `right` counts the rows in which yes is right, and
    `both` counts the rows in which the answer is yes and yes is right. In [0, 1]; higher is better.
    The value is 0 if both precision and recall are 0. `otherwise` is the value if the answer is
    never yes and yes is never right. `answered_only` has the same meaning as for `recall`. The
    interval is a bootstrap over clusters.
    """
    return _of(columns, partial(_f1, otherwise=otherwise), answered_only=answered_only)


@metric(better=None, unit="fraction")
def yes_ratio(columns: Columns) -> Estimate:
    """The share of rows with the answer yes. In [0, 1]; the best value is the share of rows in
    which yes is right, often 1/2."""
    import numpy as np

    return stats.mean(_yes_replies(columns).astype(np.float64), columns.cluster, columns.weight)


def mean_over(
    tag: str,
    of: Literal["f1", "accuracy"],
    *,
    otherwise: float = math.nan,
    answered_only: bool = False,
) -> Metric:
    """The mean of the `f1` or `accuracy` of each category of a tag. All categories have the same
    weight.

        M = 1/C · Σ_c m_c

    In [0, 1]; higher is better. The metric is meant for categories that share images: the interval
    resamples images in all categories together. If the tag has several categories but all rows are
    in the same category, the metric has no value (n = 0), since the value would be that of a single
    category.
    """
    single: Of = partial(_f1, otherwise=otherwise) if of == "f1" else _accuracy

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        codes = columns.tags[tag].codes
        if columns.n and len(columns.tags[tag].names) > 1 and (codes == codes[0]).all():
            return Estimate(value=None, n=0, reason=f"all rows have the same {tag}")
        labels, code = np.unique(codes, return_inverse=True)
        parts = _sums(columns, code, len(labels), answered_only, scores=of == "accuracy")

        def average(totals: Counts) -> Counts:
            both, yes_replies, right, n = totals.reshape(len(totals), 4, len(labels)).transpose(
                1, 0, 2
            )
            means: Counts = single(both, yes_replies, right, n).mean(axis=1)
            return means

        return stats.bootstrap_sums(
            parts, average, n=columns.n, clusters=np.unique(columns.cluster)
        )

    return Metric(metric, better="higher", unit="fraction", name="mean_over")


def _of(columns: Columns, single: Of, *, answered_only: bool = False) -> Estimate:
    import numpy as np

    parts = _sums(columns, np.zeros(columns.n, dtype=np.intp), 1, answered_only)
    return stats.bootstrap_sums(
        parts,
        lambda totals: single(*totals.T),
        n=columns.n,
        clusters=np.unique(columns.cluster),
    )


def _sums(
    columns: Columns,
    code: NDArray[np.intp],
    n_codes: int,
    answered_only: bool,
    scores: bool = False,
) -> Counts:
    """For each cluster and category, the counts `both`, `said`, and `right` (see `f1`) and the
    number of rows, (G, 4 C). With `scores`, sums of scores replace `both`."""
    import numpy as np

    yes_replies, right = _yes_replies(columns), columns.target == YES
    both = yes_replies & right
    if answered_only:
        right = right & (yes_replies | (columns.answer == "no") | _assumed_wrong(columns))
    _, cluster = np.unique(columns.cluster, return_inverse=True)
    n_clusters = int(cluster.max()) + 1 if columns.n else 0
    weight = np.ones(columns.n) if columns.weight is None else columns.weight
    first = columns.score if scores else both.astype(np.float64)
    if first is None:
        raise ValueError("a mean of accuracies needs a score for each sample")
    parts = [
        np.bincount(
            cluster * n_codes + code, weights=weight * what, minlength=n_clusters * n_codes
        ).reshape(n_clusters, n_codes)
        for what in (
            first,
            yes_replies.astype(np.float64),
            right.astype(np.float64),
            np.ones(columns.n),
        )
    ]
    return np.concatenate(parts, axis=1)


def _yes_replies(columns: Columns) -> NDArray[np.bool_]:
    """A mask (n,) of the rows with the answer yes.

    In the bounds of an incomplete result, a row without a reply has an assumed score. The row
    counts as having the right answer if this score is 1, and as having the wrong answer if the row
    is in `assumed_wrong`.
    """
    import numpy as np

    says_yes: NDArray[np.bool_] = columns.answer == YES
    says_yes = np.where(_assumed_wrong(columns), columns.target != YES, says_yes)
    if columns.score is None:
        return says_yes
    return np.where(columns.score == 1, columns.target == YES, says_yes)


def _assumed_wrong(columns: Columns) -> NDArray[np.bool_]:
    import numpy as np

    if columns.assumed_wrong is None:
        return np.zeros(columns.n, dtype=np.bool_)
    return columns.assumed_wrong


def _ratio(part: Counts, total: Counts, otherwise: float) -> Counts:
    import numpy as np

    ratio: Counts = np.divide(part, total, out=np.full(part.shape, otherwise), where=total > 0)
    return ratio


def _recall(
    both: Counts, yes_replies: Counts, right: Counts, n: Counts, otherwise: float
) -> Counts:
    return _ratio(both, right, otherwise)


def _f1(both: Counts, yes_replies: Counts, right: Counts, n: Counts, otherwise: float) -> Counts:
    return _ratio(2 * both, yes_replies + right, otherwise)


def _accuracy(scores: Counts, yes_replies: Counts, right: Counts, n: Counts) -> Counts:
    return scores / n
