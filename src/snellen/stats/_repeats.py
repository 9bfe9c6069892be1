"""What several replies to one question tell: the chance that one of a few is right, and how much of
a mean's variance is the model's own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def pass_at(n: int, right: int, k: int) -> float:
    """The chance that one at least of k replies is right, drawn from n of which some are right.

        pass@k = 1 - C(n - right, k) / C(n, k)

    which is unbiased (Chen et al. 2021, https://arxiv.org/abs/2107.03374, equation 1). Of four
    replies, one of them right, each two of six have it in three cases:

    >>> pass_at(4, 1, 2)
    0.5

    Raises:
        ValueError: k is not from 1 to n, or more are right than there are.
    """
    if not 1 <= k <= n or not 0 <= right <= n:
        raise ValueError(f"no {k} of {n} replies, {right} right, can be drawn")
    return 1 - math.comb(n - right, k) / math.comb(n, k)


class Components(NamedTuple):
    """The variance of single scores, in two parts, and the standard errors that they give the mean
    of all: `between` questions, which differ in how hard they are (`stderr_questions`), and
    `within` a question, where the model says one thing and then another (`stderr_again`: if the
    same questions were asked again)."""

    between: float
    within: float
    stderr_questions: float
    stderr_again: float


def components(score: NDArray[np.float64], question: NDArray[np.integer[Any]]) -> Components | None:
    """How much of the variance of a mean is the questions', and how much the model's own.

    `score` and `question` are (n,); None where no question has two scores, or there is one question
    alone. With n_i scores of mean m_i to each of N questions, by the law of total variance (Miller
    2024, https://arxiv.org/abs/2411.00640, section 3, where all n_i are K):

        within = Σ_i Σ_j (x_ij - m_i)² / (n - N)
        between = (Σ_i n_i (m_i - m)² / (N - 1) - within) / n0, at least 0
        n0 = (n - Σ n_i² / n) / (N - 1)
        Var(m) = between · Σ n_i² / n² + within / n

    which are the estimators of the one-way analysis of variance for unequal n_i (Searle, Casella
    and McCulloch 1992, Variance Components, chapter 3). Questions are taken for independent.

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
