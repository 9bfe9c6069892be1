"""Means of scores."""

from snellen import stats
from snellen.metrics._columns import Columns
from snellen.stats import Estimate


def mean(columns: Columns) -> Estimate:
    """The mean score; accuracy where the scores are 0 and 1."""
    if columns.score is None:
        raise ValueError("mean needs a score for each sample, and this scoring gives none")
    return stats.mean(columns.score, columns.cluster, columns.weight)
