"""Estimates with intervals, and tests of differences.

May import nothing of ours.
Start with `_mean.py`.
"""

from snellen.stats._agreement import cohen_kappa, krippendorff_alpha
from snellen.stats._bootstrap import bootstrap, bootstrap_sums
from snellen.stats._estimate import Direction, Estimate
from snellen.stats._held_out import held_out
from snellen.stats._mean import FEWEST_CLUSTERS, mean
from snellen.stats._paired import Difference, difference, holm, mcnemar
from snellen.stats._power import detectable, detectable_share, needed_pairs
from snellen.stats._powered import PoweredMean, powered_mean
from snellen.stats._quantiles import normal_quantile, t_beyond, t_quantile
from snellen.stats._ranks import letters, ranks
from snellen.stats._repeats import Components, components, pass_at
from snellen.stats._sums import Sums, ratio

__all__ = [
    "FEWEST_CLUSTERS",
    "Components",
    "Difference",
    "Direction",
    "Estimate",
    "PoweredMean",
    "Sums",
    "bootstrap",
    "bootstrap_sums",
    "cohen_kappa",
    "components",
    "detectable",
    "detectable_share",
    "difference",
    "held_out",
    "holm",
    "krippendorff_alpha",
    "letters",
    "mcnemar",
    "mean",
    "needed_pairs",
    "normal_quantile",
    "pass_at",
    "powered_mean",
    "ranks",
    "ratio",
    "t_beyond",
    "t_quantile",
]
