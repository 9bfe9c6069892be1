"""Computes statistics of several replies per question: pass@k, and the parts of a mean's variance
that come from the questions and from the model's own randomness."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def pass_at(n: int, right: int, k: int) -> float:
    """The probability that at least one of k replies is right. The k replies are drawn without
    replacement from n replies, of which `right` are right.

        pass@k = 1 - C(n - right, k) / C(n, k)

    This estimate is unbiased (Chen et al. 2021, https://arxiv.org/abs/2107.03374, equation 1). If
    one of four replies is right, three of the six pairs contain it:

    >>> pass_at(4, 1, 2)
    0.5

    Raises:
        ValueError: k is not from 1 to n, or `right` is not from 0 to n.
    """
    if not 1 <= k <= n or not 0 <= right <= n:
        raise ValueError(f"cannot draw {k} of {n} replies of which {right} are right")
    return 1 - math.comb(n - right, k) / math.comb(n, k)


class Components(NamedTuple):
    """The two components of the variance of single scores, and the standard error of the mean that
    each component causes."""

    between: float
    """The variance between questions, since some are harder than others."""
    within: float
    """The variance within a question, since the model's replies to it differ."""
    stderr_questions: float
    """The standard error of the mean that is caused by the random choice of questions."""
    stderr_again: float
    """The standard error of the mean that is caused by the randomness of the model's replies."""


def components(score: NDArray[np.float64], question: NDArray[np.integer[Any]]) -> Components | None:
    """Split the variance of a mean into the part that comes from the questions and the part that
    comes from the model's own randomness.

    `score` and `question` are (n,). The result is None if no question has two scores, or if there
    is only one question. Each of N questions has n_i scores with mean m_i. By the law of total
    variance (Miller 2024, https://arxiv.org/abs/2411.00640, section 3, where all n_i are K):

        within = Σ_i Σ_j (x_ij - m_i)² / (n - N)
        between = (Σ_i n_i (m_i - m)² / (N - 1) - within) / n0, at least 0
        n0 = (n - Σ n_i² / n) / (N - 1)
        Var(m) = between · Σ n_i² / n² + within / n

    The formulas are the estimators of the one-way analysis of variance for unequal n_i (Searle,
    Casella and McCulloch 1992, Variance Components, chapter 3). Questions are assumed to be
    independent.

    >>> import numpy as np
    >>> components(np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1, 2, 2])).within
    0.16666666666666666
    """
    import numpy as np

    _, codes = np.unique(question, return_inverse=True)
    sizes = np.bincount(codes).astype(np.float64)
    n, n_questions = len(score), len(sizes)
    if n_questions < 2 or n == n_questions:
        return None
    means = np.bincount(codes, weights=score) / sizes
    within = float(((score - means[codes]) ** 2).sum()) / (n - n_questions)
    spread = float((sizes * (means - score.mean()) ** 2).sum()) / (n_questions - 1)
    squares = float(sizes @ sizes)
    usual = (n - squares / n) / (n_questions - 1)
    between = max(0.0, (spread - within) / usual)
    return Components(between, within, math.sqrt(between * squares) / n, math.sqrt(within / n))
