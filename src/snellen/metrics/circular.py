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

    G is the number of questions, and r_gp the mean score of question g in pass p. Without repeats
    r_gp is 0 or 1, and a question is right if all its passes are (Liu et al. 2023,
    https://arxiv.org/abs/2307.06281, section 4.2). With repeats, the product is the share of right
    combinations among those of one reply per pass. In [0, 1]; higher is better.

    A question's rows share a cluster, and `tag` names a row's pass: "2 of 4". A question without a
    score in one of its passes (it failed, or was not asked) is left out. `n` counts the other
    questions. The interval is that of `stats.mean` over questions.

    Of two questions, one is right in both passes and the other in one:

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
        ValueError: when called, if the scoring gives no score to single samples, there is no such
            tag, or it does not name passes.
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

    The `mean` of the rows whose `tag` begins with "1 of ": the questions with their choices in the
    original order. In [0, 1]; higher is better. The tag is that of `circular`.

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> none = np.empty(4, dtype=object)
    >>> passes = Category(codes=np.array([0, 0, 1, 1]), names=("1 of 2", "2 of 2"))
    >>> columns = Columns(score=np.array([1.0, 1.0, 1.0, 0.0]), cluster=np.array([7, 8, 7, 8]),
    ...     tags={"pass": passes}, answer=none, target=none, references=none, state=passes)
    >>> vanilla("pass")(columns).value
    1.0

    Raises:
        ValueError: as `circular`.
    """

    def metric(columns: Columns) -> Estimate:
        _scores(columns)
        number, _ = _passes(columns, tag)
        return mean(columns.where(number == 1))

    return Metric(metric, better="higher", unit="fraction", name="vanilla")


def _scores(columns: Columns) -> NDArray[np.float64]:
    if columns.score is None:
        raise ValueError("passes need a score for each sample, and this scoring gives none")
    return columns.score


def _passes(columns: Columns, tag: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The pass of each row (n,), from 1, and the number of passes."""
    import numpy as np

    if tag not in columns.tags:
        raise ValueError(f"no tag {tag!r}; there are: {', '.join(columns.tags) or 'none'}")
    passes = columns.tags[tag]
    pairs = [name.split(" of ") for name in passes.names]
    number = np.array([int(number) for number, _ in pairs], dtype=np.intp)
    of = np.array([int(of) for _, of in pairs], dtype=np.intp)
    return number[passes.codes], of[passes.codes]
