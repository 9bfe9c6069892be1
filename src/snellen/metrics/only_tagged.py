"""A metric restricted to some of the rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from snellen.metrics._columns import Columns
from snellen.metrics._metric import Compute, Metric
from snellen.metrics._rows_tagged import rows_tagged
from snellen.stats import Estimate


def only_tagged(metric: Compute, tag: str, names: Collection[str]) -> Metric:
    """Restrict a metric to the rows whose `tag` is one of `names`.

    Use this function where the authors' code leaves rows out. The result has the range, unit,
    direction, and interval of `metric`. `n` counts the rows that are kept.

    Two rows are kept, and one of them is right:

    >>> import numpy as np
    >>> from snellen.metrics import Category, mean
    >>> none, codes = np.empty(3, dtype=object), np.array([0, 1, 0])
    >>> kinds = Category(codes=codes, names=("kept", "left out"))
    >>> columns = Columns(score=np.array([1.0, 1.0, 0.0]), cluster=np.arange(3),
    ...     tags={"kind": kinds}, answer=none, target=none, references=none, state=kinds)
    >>> found = only_tagged(mean, "kind", ["kept"])(columns)
    >>> found.value, found.n
    (0.5, 2)

    Raises:
        ValueError: Raised by the metric if the tag does not exist. The message lists the existing
            tags.
    """

    def part(columns: Columns) -> Estimate:
        return metric(columns.where(rows_tagged(columns, tag, names)))

    return replace(Metric(metric), compute=part)
