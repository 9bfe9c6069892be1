"""The accuracy of questions that are asked once for each rotation of their choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import stats
from snellen.metrics._columns import Columns
from snellen.metrics._mean import mean
from snellen.metrics._metric import Metric
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def circular(tag: str) -> Metric:
    """The share of questions that are answered right in every pass (CircularEval).

        m = 1/G · Σ_g Π_p r_gp

    G is the number of questions, and r_gp is the mean score of question g in pass p. Without
    repeats, r_gp is 0 or 1, and a question is right if it is right in all its passes (Liu et al.
    2023, https://arxiv.org/abs/2307.06281, section 4.2). With repeats, r_gp is a share of right
    replies. The product of these shares is the share of right combinations, where a combination has
    one reply from each pass. In [0, 1]; higher is better.

    All rows of a question are in one cluster, and the tag `tag` names the pass of a row: "2 of 4".
    If a pass of a question has no score, because the pass failed or was not run, the question is
    left out. `n` counts the remaining questions. `stats.mean` computes the interval, with questions
    as clusters.

    One of two questions is right in both passes, and the other in only one pass:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> none = np.empty(4, dtype=object)
    >>> passes = Category(codes=np.array([0, 0, 1, 1]), names=("1 of 2", "2 of 2"))
    >>> columns = Columns(score=np.array([1.0, 1.0, 1.0, 0.0]), cluster=np.array([7, 8, 7, 8]),
    ...     tags={"pass": passes}, answer=none, target=none, references=none, state=passes)
    >>> found = circular("pass")(columns)
    >>> found.value, found.n
    (0.5, 2)

    Raises:
        ValueError: Raised by the metric if the scoring does not give each sample a score, or if the
            tag does not exist or does not name passes.
    """

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        scores = _scores(columns)
        if not columns.n:
            return Estimate(value=None, n=0, reason="no scores")
        number, of = _passes(columns, tag)
        questions, question = np.unique(columns.cluster, return_inverse=True)
        shape = len(questions), int(of.max())
        cell = question * shape[1] + number - 1
        replies = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
        right = np.bincount(cell, weights=scores, minlength=shape[0] * shape[1]).reshape(shape)
        has_reply = replies > 0
        wanted = np.zeros(len(questions), dtype=np.intp)
        wanted[question] = of
        complete = has_reply.sum(axis=1) == wanted
        if not complete.any():
            reason = "no question has a score in each of its passes"
            return Estimate(value=None, n=0, reason=reason)
        shares = np.divide(right, replies, out=np.ones(shape), where=has_reply)
        return stats.mean(shares.prod(axis=1)[complete], questions[complete])

    return Metric(metric, better="higher", unit="fraction", name="circular")


def vanilla(tag: str) -> Metric:
    """The share of questions that are answered right in their first pass (VanillaEval).

    The value is the `mean` over the rows of first passes ("1 of 4"), in which the choices are in
    their original order. In [0, 1]; higher is better. `tag` is the same tag as for `circular`.

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> none = np.empty(4, dtype=object)
    >>> passes = Category(codes=np.array([0, 0, 1, 1]), names=("1 of 2", "2 of 2"))
    >>> columns = Columns(score=np.array([1.0, 1.0, 1.0, 0.0]), cluster=np.array([7, 8, 7, 8]),
    ...     tags={"pass": passes}, answer=none, target=none, references=none, state=passes)
    >>> vanilla("pass")(columns).value
    1.0

    Raises:
        ValueError: Raised by the metric in the same cases as for `circular`.
    """

    def metric(columns: Columns) -> Estimate:
        _scores(columns)
        number, _ = _passes(columns, tag)
        return mean(columns.where(number == 1))

    return Metric(metric, better="higher", unit="fraction", name="vanilla")


def _scores(columns: Columns) -> NDArray[np.float64]:
    if columns.score is None:
        raise ValueError("passes need a score for each sample, but this scoring has none")
    return columns.score


def _passes(columns: Columns, tag: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Two arrays (n,): which pass each row belongs to, counted from 1, and how many passes its
    question has."""
    import numpy as np

    if tag not in columns.tags:
        raise ValueError(f"no tag {tag!r}; there are: {', '.join(columns.tags) or 'none'}")
    passes = columns.tags[tag]
    pairs = [name.split(" of ") for name in passes.names]
    number = np.array([int(number) for number, _ in pairs], dtype=np.intp)
    of = np.array([int(of) for _, of in pairs], dtype=np.intp)
    return number[passes.codes], of[passes.codes]
