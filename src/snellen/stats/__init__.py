"""Estimates with intervals."""

from snellen.stats._bootstrap import bootstrap, bootstrap_sums
from snellen.stats._estimate import Estimate
from snellen.stats._mean import mean
from snellen.stats._quantiles import normal_quantile, t_quantile

__all__ = ["Estimate", "bootstrap", "bootstrap_sums", "mean", "normal_quantile", "t_quantile"]
