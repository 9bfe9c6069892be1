"""Computes estimates with intervals, and tests differences.

This package imports no other package of Snellen. Start with `_mean.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import lazy

if TYPE_CHECKING:
    from snellen.stats._agreement import (
        cohen_kappa as cohen_kappa,
        krippendorff_alpha as krippendorff_alpha,
    )
    from snellen.stats._bootstrap import bootstrap as bootstrap, bootstrap_sums as bootstrap_sums
    from snellen.stats._by_intervals import difference_by_intervals as difference_by_intervals
    from snellen.stats._estimate import Direction as Direction, Estimate as Estimate
    from snellen.stats._held_out import held_out as held_out
    from snellen.stats._influence import Influence as Influence
    from snellen.stats._mean import FEWEST_CLUSTERS as FEWEST_CLUSTERS, mean as mean
    from snellen.stats._paired import (
        Difference as Difference,
        difference as difference,
        holm as holm,
        mcnemar as mcnemar,
    )
    from snellen.stats._power import (
        detectable as detectable,
        detectable_share as detectable_share,
        needed_pairs as needed_pairs,
    )
    from snellen.stats._powered import PoweredMean as PoweredMean, powered_mean as powered_mean
    from snellen.stats._quantiles import (
        nearest_rank as nearest_rank,
        normal_quantile as normal_quantile,
        t_beyond as t_beyond,
        t_quantile as t_quantile,
    )
    from snellen.stats._raters import (
        rank_agreement as rank_agreement,
        weighted_kappa as weighted_kappa,
    )
    from snellen.stats._ranks import letters as letters, ranks as ranks
    from snellen.stats._repeats import (
        Components as Components,
        components as components,
        pass_at as pass_at,
    )
    from snellen.stats._sign_flips import sign_flips as sign_flips
    from snellen.stats._sums import Sums as Sums, ratio as ratio

_FILES = {
    "FEWEST_CLUSTERS": "_mean",
    "Components": "_repeats",
    "Difference": "_paired",
    "Direction": "_estimate",
    "Estimate": "_estimate",
    "Influence": "_influence",
    "PoweredMean": "_powered",
    "Sums": "_sums",
    "bootstrap": "_bootstrap",
    "bootstrap_sums": "_bootstrap",
    "cohen_kappa": "_agreement",
    "components": "_repeats",
    "detectable": "_power",
    "detectable_share": "_power",
    "difference": "_paired",
    "difference_by_intervals": "_by_intervals",
    "held_out": "_held_out",
    "holm": "_paired",
    "krippendorff_alpha": "_agreement",
    "letters": "_ranks",
    "mcnemar": "_paired",
    "mean": "_mean",
    "needed_pairs": "_power",
    "nearest_rank": "_quantiles",
    "normal_quantile": "_quantiles",
    "pass_at": "_repeats",
    "powered_mean": "_powered",
    "rank_agreement": "_raters",
    "ranks": "_ranks",
    "ratio": "_sums",
    "sign_flips": "_sign_flips",
    "t_beyond": "_quantiles",
    "t_quantile": "_quantiles",
    "weighted_kappa": "_raters",
}
__all__ = [*_FILES]
__getattr__ = lazy.attributes(__name__, _FILES)
