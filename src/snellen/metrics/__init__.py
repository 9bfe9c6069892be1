"""Metrics: a whole set's scores and answers in, an estimate out; and what one answer is worth.

May import statistics and text.
Start with `_columns.py`: what a metric sees.
"""

from snellen.metrics._columns import Category, Columns, Metric
from snellen.metrics._direction import Direction, direction
from snellen.metrics._mean import macro_average, mean
from snellen.metrics.anls import anls
from snellen.metrics.relaxed import relaxed_accuracy
from snellen.metrics.vqa import textvqa_accuracy, vqa_accuracy

__all__ = [
    "Category",
    "Columns",
    "Direction",
    "Metric",
    "anls",
    "direction",
    "macro_average",
    "mean",
    "relaxed_accuracy",
    "textvqa_accuracy",
    "vqa_accuracy",
]
