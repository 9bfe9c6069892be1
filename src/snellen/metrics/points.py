"""Points: the number of right answers, which some benchmarks report instead of the accuracy."""

from __future__ import annotations

from dataclasses import replace

from snellen.metrics._columns import Columns
from snellen.metrics._mean import mean
from snellen.metrics._metric import metric
from snellen.stats import Estimate


@metric(better="higher", unit="points")
def points(columns: Columns) -> Estimate:
    """The number of questions that are answered right: `mean` times the number of questions. Higher
    is better.

    A question that was asked several times counts once, with its mean score. Questions are
    identified by their cluster, target, and references, so two questions about the same picture
    must have different right answers. The interval is the interval of `mean` times the number of
    questions.

    An example with three of four questions right:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> none, codes = np.empty(4, dtype=object), np.zeros(4, dtype=np.int32)
    >>> columns = Columns(score=np.array([1.0, 1.0, 1.0, 0.0]), cluster=np.arange(4), tags={},
    ...     answer=none, target=none, references=none, state=Category(codes=codes, names=("a",)))
    >>> points(columns).value
    3.0

    Raises:
        ValueError: The scoring does not give each sample a score.
    """
    share = mean(columns)
    rows = zip(columns.cluster.tolist(), columns.target, columns.references, strict=True)
    questions = len(set(rows))
    if share.value is None:
        return replace(share, unit="points")
    ci95 = None if share.ci95 is None else (share.ci95[0] * questions, share.ci95[1] * questions)
    stderr = None if share.stderr is None else share.stderr * questions
    sums = share.sums and replace(share.sums, sums=share.sums.sums * (questions, 1))
    return Estimate(
        value=share.value * questions,
        unit="points",
        n=share.n,
        stderr=stderr,
        ci95=ci95,
        reason=share.reason,
        sums=sums,
    )
