"""The mean of the lowest scores of each question's repeats."""

from __future__ import annotations

from snellen import stats
from snellen.metrics._columns import Columns
from snellen.metrics._metric import Metric
from snellen.stats import Estimate


def lowest_of_repeats(question_tag: str) -> Metric:
    """The mean over questions of the lowest score of a question's repeats.

        M = 1/N · Σ_q min_r s_qr

    If every reply is right or wrong, this is the share of questions that are answered right in all
    repeats: k of k. In [0, 1] if all scores are; higher is better. The tag `question_tag` names the
    question of a row. A question with a repeat that has no score is left out. `n` counts questions.
    `stats.mean` computes the interval.

    One of two questions is right in both of its repeats, and the other in one of them:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> none, codes = np.empty(4, dtype=object), np.array([0, 0, 1, 1])
    >>> question = Category(codes=codes, names=("a", "b"))
    >>> columns = Columns(score=np.array([1.0, 1.0, 1.0, 0.0]), cluster=codes,
    ...     tags={"question": question}, answer=none, target=none, references=none, state=question)
    >>> lowest_of_repeats("question")(columns).value
    0.5

    Raises:
        ValueError: Raised by the metric if the scoring does not give each sample a score.
    """

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        if columns.score is None:
            raise ValueError("lowest_of_repeats needs a score for each sample, but there is none")
        codes = columns.tags[question_tag].codes
        kept = np.ones(columns.n, dtype=bool)
        if columns.unscored is not None:
            kept = ~np.isin(codes, columns.unscored.tags[question_tag].codes)
        if not kept.any():
            return Estimate(value=None, n=0, reason="no question has a score in all its repeats")
        _, first, question = np.unique(codes[kept], return_index=True, return_inverse=True)
        lowest = np.full(len(first), np.inf)
        np.minimum.at(lowest, question, columns.score[kept])
        return stats.mean(lowest, columns.cluster[kept][first])

    return Metric(metric, better="higher", unit="fraction", name="lowest_of_repeats")
