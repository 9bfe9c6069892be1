"""Visual acuity: how small letters may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.metrics._columns import Columns, Metric
from snellen.stats import Estimate, t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STEP = 1.01
"""Heights are tried in steps of 1 %."""
SLOPES = tuple(1.3**k for k in range(16))
LAPSES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
FEWEST_CLUSTERS = 10


def acuity(*, height: str, letters: int, guess: float) -> Metric:
    """A metric: the height in pixels at which letters are read half-way between chance and always.

    Smaller is better. The share p of letters read at height h is fitted by maximum likelihood to
    rows of `letters` letters, whose score is the share read. `height` is the tag with a row's
    height (`13px`; rows without one are left out), `guess` = g the chance to read a letter blindly:

        p(h) = g + (1 - g - l) / (1 + exp(-s ln(h / a) - c)),    p(a) = (1 + g) / 2,

    a being the acuity, s the slope and l the lapses, letters missed at any height, at most 0.3; c
    follows from the second equation. It is the logistic psychometric function of Wichmann and Hill
    2001, Perception & Psychophysics 63, 1293, with the threshold at a fixed share.

    The interval is the profile likelihood's, widened by the overdispersion of what shares a cluster
    (McCullagh and Nelder 1989, Generalized Linear Models, 4.5) and by Student's t.

    No value, but the reason, where not even the largest letters are read, or the smallest are.
    """

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        if columns.score is None:
            raise ValueError("acuity needs a score for each sample, and this scoring gives none")
        sizes = columns.tags[height]
        pixels = np.array([float(name.removesuffix("px") or "nan") for name in sizes.names])
        of_row = pixels[sizes.codes] if len(pixels) else np.empty(0)
        rows = ~np.isnan(of_row)
        heights, at = np.unique(of_row[rows], return_inverse=True)
        n = int(rows.sum())
        if len(heights) < 2:
            return Estimate(
                value=None, unit="pixels", n=n, reason="letters of fewer than two heights"
            )
        read = columns.score[rows] * letters
        return _fit(heights, at, read, letters, columns.cluster[rows], guess)

    return metric


def _fit(
    heights: NDArray[np.float64],
    at: NDArray[np.intp],
    read: NDArray[np.float64],
    letters: int,
    cluster: NDArray[np.int32],
    guess: float,
) -> Estimate:
    """`read` of `letters` letters a row, whose height is `heights[at]`."""
    import numpy as np

    n = len(read)
    hits = np.bincount(at, weights=read).astype(np.float64)
    shown = np.bincount(at).astype(np.float64) * letters
    grid = np.exp(np.arange(np.log(heights[0] / 2), np.log(heights[-1] * 2), np.log(STEP)))
    profile = _profile(grid, heights, hits, shown, guess)
    best = int(profile.argmax())
    value = float(grid[best])
    if value < heights[0]:
        reason = (
            f"the smallest letters, {heights[0]:g} px, are read: {hits[0] / shown[0]:.0%} of them"
        )
        return Estimate(value=None, unit="pixels", n=n, reason=reason)
    if value > heights[-1]:
        share = f"{hits[-1] / shown[-1]:.0%} of them"
        reason = f"the largest letters, {heights[-1]:g} px, are not read: {share}"
        return Estimate(value=None, unit="pixels", n=n, reason=reason)
    clusters = len(np.unique(cluster))
    if clusters < FEWEST_CLUSTERS:
        reason = f"{clusters} clusters: an interval needs at least {FEWEST_CLUSTERS}"
        return Estimate(value=value, unit="pixels", n=n, reason=reason)
    cut = t_quantile(0.975, clusters - 1) ** 2 / 2 * _overdispersion(at, read, letters, cluster)
    inside = np.flatnonzero(profile >= profile[best] - cut)
    low, high = int(inside[0]), int(inside[-1])
    if low == 0 or high == len(grid) - 1:
        reason = f"the interval reaches beyond {grid[0]:.0f} to {grid[-1]:.0f} px: too few letters"
        return Estimate(value=value, unit="pixels", n=n, reason=reason)
    # The steps outside, so that the interval is never too narrow for the grid.
    return Estimate(
        value=value, unit="pixels", n=n, ci95=(float(grid[low - 1]), float(grid[high + 1]))
    )


def _profile(
    grid: NDArray[np.float64],
    heights: NDArray[np.float64],
    hits: NDArray[np.float64],
    shown: NDArray[np.float64],
    guess: float,
) -> NDArray[np.float64]:
    """The log-likelihood of each acuity of the grid under its best slope and lapses."""
    import numpy as np

    best = np.full(len(grid), -np.inf)
    distance = np.log(heights[None, :] / grid[:, None])
    half = (1 + guess) / 2 - guess
    for lapse in LAPSES:
        ceiling = 1 - guess - lapse
        shift = np.log(half / (ceiling - half))
        for slope in SLOPES:
            p = guess + ceiling / (1 + np.exp(-slope * distance - shift))
            p = np.clip(p, 1e-9, 1 - 1e-9)
            best = np.maximum(best, np.log(p) @ hits + np.log1p(-p) @ (shown - hits))
    return best


def _overdispersion(
    at: NDArray[np.intp], read: NDArray[np.float64], letters: int, cluster: NDArray[np.int32]
) -> float:
    """How much more clusters of one height differ than if each letter were read by itself; >= 1."""
    import numpy as np

    spread = expected = 0.0
    for height in range(int(at.max()) + 1):
        here = at == height
        _, codes = np.unique(cluster[here], return_inverse=True)
        hits = np.bincount(codes, weights=read[here])
        shown = np.bincount(codes) * float(letters)
        groups = len(hits)
        if groups < 2:
            continue
        p = hits.sum() / shown.sum()
        spread += float(((hits - shown * p) ** 2).sum()) * groups / (groups - 1)
        expected += float(shown.sum()) * p * (1 - p)
    return max(1.0, spread / expected) if expected else 1.0
