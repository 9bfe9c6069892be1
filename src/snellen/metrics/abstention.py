"""F1 of questions some of which have no answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from snellen import stats
from snellen.metrics._columns import Columns
from snellen.metrics._metric import Metric
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def abstention_f1(
    tag: str, is_answer: Callable[[str], bool], *, only_answerable: bool = False
) -> Metric:
    """The harmonic mean of recall and precision, where some questions have no answer.

        recall = S / A    precision = T / P    f1 = 2·recall·precision / (recall + precision)

    A is the number of questions whose `tag` is "True", those that have an answer. P is the number
    of replies for which `is_answer` is true. S is the sum of the scores of the former, and T of the
    latter, or S again if `only_answerable` is true. The value is 0 if S or T is 0. In [0, 1];
    higher is better. `stats.bootstrap_sums` computes the interval by resampling clusters.

    Two of three questions have an answer, and there are two answers, one of them right:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> none = np.empty(3, dtype=object)
    >>> has = Category(codes=np.array([0, 0, 1]), names=("True", "False"))
    >>> columns = Columns(score=np.array([1.0, 0.0, 1.0]), cluster=np.arange(3), tags={"has": has},
    ...     answer=np.array(["4", "5", "none"]), target=none, references=none, state=has)
    >>> abstention_f1("has", lambda text: text != "none")(columns).value
    0.5

    Raises:
        ValueError: Raised by the metric if the scoring does not give each sample a score.
    """

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        if columns.score is None:
            raise ValueError("abstention_f1 needs a score for each sample; this scoring has none")
        names = columns.tags[tag]
        right = np.array([name == "True" for name in names.names], dtype=float)[names.codes]
        answers = np.array([is_answer(str(text or "")) for text in columns.answer], dtype=float)
        counted = right if only_answerable else answers
        weight = np.ones(columns.n) if columns.weight is None else columns.weight
        clusters, cluster = np.unique(columns.cluster, return_inverse=True)
        summands = (columns.score * right, right, columns.score * counted, answers)
        sums = np.stack(
            [np.bincount(cluster, weight * part, len(clusters)) for part in summands], axis=1
        ).astype(np.float64)
        return stats.bootstrap_sums(sums, _harmonic, n=columns.n, clusters=clusters)

    return Metric(metric, better="higher", unit="fraction", name="abstention_f1")


def _harmonic(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    of_right, right, of_answers, answers = totals.T
    recall = np.divide(of_right, right, out=np.zeros(len(totals)), where=right > 0)
    precision = np.divide(of_answers, answers, out=np.zeros(len(totals)), where=answers > 0)
    both = recall + precision
    value: NDArray[np.float64] = np.zeros(len(totals))
    np.divide(2 * recall * precision, both, out=value, where=both > 0)
    return value
