"""Estimates with intervals."""

from snellen.stats._bootstrap import bootstrap, bootstrap_sums
from snellen.stats._estimate import Estimate
from snellen.stats._mean import mean
from snellen.stats._quantiles import normal_quantile, t_quantile
from snellen.stats._repeats import Components, components, pass_at

__all__ = [
    "Components",
    "Estimate",
    "bootstrap",
    "bootstrap_sums",
    "components",
    "mean",
    "normal_quantile",
    "pass_at",
    "t_quantile",
]
