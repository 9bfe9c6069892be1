"""Estimates with intervals."""

from snellen.stats._agreement import cohen_kappa, krippendorff_alpha
from snellen.stats._bootstrap import bootstrap, bootstrap_sums
from snellen.stats._estimate import Estimate
from snellen.stats._mean import mean
from snellen.stats._powered import Powered, powered_mean
from snellen.stats._quantiles import normal_quantile, t_quantile
from snellen.stats._repeats import Components, components, pass_at

__all__ = [
    "Components",
    "Estimate",
    "Powered",
    "bootstrap",
    "bootstrap_sums",
    "cohen_kappa",
    "components",
    "krippendorff_alpha",
    "mean",
    "normal_quantile",
    "pass_at",
    "powered_mean",
    "t_quantile",
]
