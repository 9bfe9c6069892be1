"""Metrics: a whole set's scores and answers in, an estimate out."""

from snellen.metrics._columns import Category, Columns, Metric
from snellen.metrics._mean import macro_average, mean

__all__ = ["Category", "Columns", "Metric", "macro_average", "mean"]
