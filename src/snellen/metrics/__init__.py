"""Metrics: functions that compute an estimate from the scores and answers of all samples.

`anls`, `relaxed`, and `vqa` contain functions that score a single answer. This package may import
`stats` and `text`. Start reading at `_metric.py`, which defines a metric, and `_columns.py`, which
defines the input of a metric.
"""

from snellen.metrics._columns import Category, Columns
from snellen.metrics._mean import is_mean, macro_average, mean
from snellen.metrics._metric import Compute, Metric, averages_scores, direction_of, metric
from snellen.metrics.anls import anls
from snellen.metrics.relaxed import relaxed_accuracy
from snellen.metrics.vqa import textvqa_accuracy, vqa_accuracy
from snellen.stats import Direction

__all__ = [
    "Category",
    "Columns",
    "Compute",
    "Direction",
    "Metric",
    "anls",
    "averages_scores",
    "direction_of",
    "is_mean",
    "macro_average",
    "mean",
    "metric",
    "relaxed_accuracy",
    "textvqa_accuracy",
    "vqa_accuracy",
]
