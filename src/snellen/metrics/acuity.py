"""Visual acuity and similar thresholds.

Samples form a ladder of levels, such as letter heights, from the easiest to the hardest. The
threshold is the level at which a model begins to fail.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from snellen.metrics._columns import Columns
from snellen.metrics._metric import Metric
from snellen.stats import Estimate, Influence, t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    Profile = Callable[[NDArray[np.float64]], NDArray[np.float64]]
    """Maps thresholds (k,) to log-likelihoods (k,). The log-likelihood of a threshold is that of
    the best curve with this threshold."""

# Positions are shares of the length of the ladder, from its hardest level (0) to its easiest (1).
BEYOND, STEP = 0.4, 0.04
SLOPES = tuple(0.25 * 1.25**k for k in range(30))
LAPSES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
FEWEST_CLUSTERS = 10


def threshold(
    tag: str,
    *,
    unit: str,
    trials: int,
    guess: float,
    harder: Literal["lower", "higher"],
    scale: Literal["log", "linear"] = "log",
) -> Metric:
    """The level at which the score is halfway between the score of guessing and a perfect score.

    For letters of decreasing height, the threshold is visual acuity in pixels, and smaller is
    better. In general, the argument `harder` states the direction in which levels get harder, which
    is also the better direction. Each row has `trials` trials (letters), and its score is the share
    of trials that are right. A curve p of the level h is fitted to the rows by maximum likelihood:

        p(x) = g + (1 - g - l) F(s (x - a) + c),    p(a) = (1 + g) / 2,    x = ± log2 h

    This is the psychometric function of Wichmann and Hill 2001, Perception & Psychophysics 63,
    1293, equation 1. g is the argument `guess`, the fixed probability that a guess is right. l is
    the share of lapses, which are wrong at every level; it is between 0 and 0.3. Here, a is the x
    at which p equals (1 + g) / 2; the paper instead defines a by a value of F, which leaves out
    guesses and lapses. The slope s is positive, and c follows from the second equation. F is the
    logistic function 1 / (1 + exp(-z)), the Weibull function 1 - exp(-exp(z)), or its mirror image
    exp(-exp(-z)), whichever fits best. The interval is therefore valid for different shapes of the
    curve. If `scale` is "linear", x is h or -h instead. The sign is chosen so that x is larger for
    easier levels. The argument `tag` names the tag that contains the level as a number (`013
    pixels`); rows without a level are left out.

    The interval is computed from the profile likelihood, and is widened to account for
    overdispersion within clusters (McCullagh and Nelder 1989, Generalized Linear Models, 4.5) and
    for small samples (Student's t). `docs/decisions/acuity.md` reports its coverage.

    The estimate has a reason instead of a value if the model fails even at the easiest level, if it
    does not fail at the hardest level, or if nothing shows that the levels differ. `n` counts the
    rows with a level; it is 0 if all rows have the same level. An example with none, half, and all
    of ten letters right:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> none, level = np.empty(30, dtype=object), np.repeat(np.arange(3, dtype=np.int32), 10)
    >>> sizes = Category(codes=level, names=("004 pixels", "008 pixels", "016 pixels"))
    >>> columns = Columns(score=np.array([0.0, 0.5, 1.0])[level], cluster=np.arange(30),
    ...     tags={"letters": sizes}, answer=none, target=none, references=none, state=sizes)
    >>> acuity = threshold("letters", unit="pixels", trials=10, guess=0.0, harder="lower")
    >>> round(acuity(columns).value, 2)
    8.0

    Raises:
        ValueError: Raised by the metric if the scoring does not give each sample its own score.
    """

    ladder = _LadderTrials(tag, unit, trials, guess, harder, scale)
    return Metric(ladder.threshold, better=harder, unit=unit, name="threshold")


@dataclass(frozen=True)
class _LadderTrials:
    """The settings of a ladder. The fields are the arguments of the function `threshold`."""

    tag: str
    unit: str
    trials: int
    guess: float
    harder: Literal["lower", "higher"]
    scale: Literal["log", "linear"]

    def threshold(self, columns: Columns) -> Estimate:
        """Compute the threshold on the ladder and its interval."""
        import numpy as np

        if columns.score is None:
            raise ValueError("a threshold needs a score for each sample, and this scoring has none")
        category = columns.tags[self.tag]
        numbers = [re.search("[0-9.]+", name) for name in category.names]
        level = np.array([float(number[0]) if number else np.nan for number in numbers])
        of_row = level[category.codes] if len(level) else np.empty(0)
        rows = ~np.isnan(of_row)
        levels, at = np.unique(of_row[rows], return_inverse=True)
        if len(levels) < 2:
            reason = f"fewer than two levels of {self.tag}"
            return Estimate(value=None, unit=self.unit, n=0, reason=reason)
        names = [category.names[int(np.flatnonzero(level == number)[0])] for number in levels]
        if self.harder == "higher":
            levels, names, at = levels[::-1], names[::-1], len(levels) - 1 - at
        x = np.log2(levels) if self.scale == "log" else levels
        right = columns.score[rows] * self.trials
        hits = np.bincount(at, weights=right).astype(np.float64)
        shown = np.bincount(at).astype(np.float64) * self.trials
        ladder = _LevelCounts((x - x[0]) / (x[-1] - x[0]), hits, shown, self.guess)
        fit = _Fit(ladder.profile)
        undefined = partial(Estimate, value=None, unit=self.unit, n=len(right))
        if fit.best < 0:
            share = f"{100 * hits[0] / shown[0]:.0f} %"
            return undefined(reason=f"accuracy is {share} at the hardest level, {_plain(names[0])}")
        if fit.best > 1:
            share = f"{100 * hits[-1] / shown[-1]:.0f} %"
            easiest = _plain(names[-1])
            return undefined(reason=f"accuracy is {share} at the easiest level, {easiest}")
        ends = float(x[0]), float(x[-1] - x[0])
        known = partial(
            Estimate, value=self._level_at(fit.best, *ends), unit=self.unit, n=len(right)
        )
        cluster = columns.cluster[rows]
        clusters = len(np.unique(cluster))
        if clusters < FEWEST_CLUSTERS:
            reason = f"{clusters} clusters: an interval needs at least {FEWEST_CLUSTERS}"
            return known(reason=reason)
        wide = _overdispersion(at, right, self.trials, cluster, self.guess)
        low, high = fit.interval(t_quantile(0.975, clusters - 1) ** 2 / 2 * wide)
        if low is None and high is None:
            return undefined(reason=f"nothing shows that the levels of {self.tag} differ")
        if low is None or high is None:
            return known(reason=f"the interval reaches far beyond the levels of {self.tag}")
        reach = min(fit.best - low, high - fit.best) / 2
        chances = ladder.likeliest(fit.best + reach * np.array([-1, 1]))
        moves = np.sign(ends[1]) * _moves(chances, at, right, self.trials)
        low, high = sorted(self._level_at(share, *ends) for share in (low, high))
        return known(ci95=(low, high), influence=_by_cluster(moves, cluster))

    def _level_at(self, share: float, start: float, length: float) -> float:
        """Convert a position on the ladder (0: hardest level, 1: easiest) to a level."""
        x = start + share * length
        return 2.0**x if self.scale == "log" else x


class _Fit:
    """The profile likelihood of the thresholds on a ladder, and the most likely threshold."""

    def __init__(self, profile: Profile) -> None:
        import numpy as np

        self._profile = profile
        self._grid = np.arange(-BEYOND, 1 + BEYOND + STEP / 2, STEP)
        self.best = _best(profile, self._grid, profile(self._grid))

    def interval(self, drop: float) -> tuple[float | None, float | None]:
        """The thresholds below and above the best one at which the log-likelihood is lower by
        `drop`; None if the log-likelihood does not fall that far within the grid."""
        import numpy as np

        grid = np.sort(np.append(self._grid, self.best))
        heights = self._profile(grid)
        cut = heights.max() - drop
        inside = np.flatnonzero(heights >= cut)
        first, last = int(inside[0]), int(inside[-1])

        def crossing(inner: int, outer: int) -> float:
            return _crossing(self._profile, cut, float(grid[inner]), float(grid[outer]))

        low = crossing(first, first - 1) if first > 0 else None
        high = crossing(last, last + 1) if last < len(grid) - 1 else None
        return low, high


def _plain(level: str) -> str:
    """The name of a level without leading zeros, and with a singular noun for 1: `13 pixels`, `1
    level`."""
    text = re.sub(r"(?<![0-9.])0+(?=[0-9])", "", level)
    return re.sub(r"^1 (\w+)s$", r"1 \1", text)


class _LevelCounts(NamedTuple):
    """The trials of each level of a ladder, and the curves that are fitted to them. Arrays of
    thresholds have the shape (k,)."""

    positions: NDArray[np.float64]
    """The position of each level (levels,), from 0 (hardest) to 1 (easiest)."""
    hits: NDArray[np.float64]
    """The number of right trials of each level (levels,)."""
    shown: NDArray[np.float64]
    """The number of trials of each level (levels,)."""
    guess: float
    """The probability that a guess is right."""

    def profile(self, thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
        """The highest log-likelihood (k,) of each threshold over all curves, slopes, and shares of
        lapses."""
        import numpy as np

        best = np.full(len(thresholds), -np.inf)
        for p in self._curves(thresholds):
            best = np.maximum(best, self._likelihood(p).max(axis=0))
        return best

    def likeliest(self, thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
        """The chance of a right trial at each level, (k, levels), under the most likely curve with
        each threshold."""
        import numpy as np

        columns = np.arange(len(thresholds))
        best = np.full(len(thresholds), -np.inf)
        chances = np.zeros((len(thresholds), len(self.positions)))
        for p in self._curves(thresholds):
            likelihood = self._likelihood(p)
            slope = likelihood.argmax(axis=0)
            is_better = likelihood[slope, columns] > best
            best[is_better] = likelihood[slope, columns][is_better]
            chances[is_better] = p[slope, columns][is_better]
        return chances

    def _likelihood(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """The log-likelihood of curves with these chances (slopes, k, levels): (slopes, k)."""
        import numpy as np

        likelihood: NDArray[np.float64] = np.log(p) @ self.hits
        return likelihood + np.log1p(-p) @ (self.shown - self.hits)

    def _curves(self, thresholds: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Yield the chances (slopes, k, levels) for each share of lapses and each shape."""
        import numpy as np

        guess = self.guess
        half = (1 + guess) / 2 - guess
        steep = np.array(SLOPES)[:, None, None] * (self.positions - thresholds[:, None])
        for lapse in LAPSES:
            ceiling = 1 - guess - lapse
            if ceiling <= half:
                continue
            share = half / ceiling
            early = math.log(-math.log(share))
            late = math.log(-math.log(1 - share))
            for curve in (
                1 / (1 + np.exp(-steep) * (1 - share) / share),
                -np.expm1(-np.exp(np.minimum(steep + late, 50))),
                np.exp(-np.exp(np.minimum(early - steep, 50))),
            ):
                yield np.clip(guess + ceiling * curve, 1e-9, 1 - 1e-9)


def _moves(
    chances: NDArray[np.float64], at: NDArray[np.intp], right: NDArray[np.float64], trials: int
) -> NDArray[np.float64]:
    """How far each row (n,) moves the threshold, up to a factor: the difference between its
    log-likelihoods under the most likely curves above and below the threshold, whose `chances` are
    (2, levels). By the envelope theorem, this is the derivative of the row's part of the profile
    likelihood."""
    import numpy as np

    lower, upper = np.log(chances)
    lower_wrong, upper_wrong = np.log1p(-chances)
    of_right, of_wrong = (upper - lower)[at], (upper_wrong - lower_wrong)[at]
    moves: NDArray[np.float64] = right * of_right + (trials - right) * of_wrong
    return moves


def _by_cluster(moves: NDArray[np.float64], cluster: NDArray[np.int32]) -> Influence:
    import numpy as np

    labels, codes = np.unique(cluster, return_inverse=True)
    return Influence(cluster=labels, values=np.bincount(codes, weights=moves).astype(float))


def _best(profile: Profile, grid: NDArray[np.float64], heights: NDArray[np.float64]) -> float:
    """The most likely threshold. If several thresholds are equally likely, as for a curve that is a
    step, return the middle one."""
    import numpy as np

    alike = np.flatnonzero(heights >= heights.max() - 1e-3)
    middle, step = float(grid[(alike[0] + alike[-1]) // 2]), STEP
    while step > STEP / 100:
        near = middle + step * np.linspace(-1, 1, 11)
        middle = float(near[int(profile(near).argmax())])
        step /= 5
    return middle


def _crossing(profile: Profile, cut: float, inside: float, outside: float) -> float:
    """The point between `inside` and `outside` at which the log-likelihood falls below `cut`."""
    import numpy as np

    for _ in range(3):
        between = np.linspace(inside, outside, 9)
        below = profile(between[1:-1]) < cut
        first = int(np.append(below, True).argmax())
        inside, outside = float(between[first]), float(between[first + 1])
    return outside


def _overdispersion(
    at: NDArray[np.intp],
    right: NDArray[np.float64],
    trials: int,
    cluster: NDArray[np.int32],
    guess: float,
) -> float:
    """The overdispersion: the variance between clusters of the same level, divided by the variance
    that clusters of independent trials would have. At least 1.

    Levels are weighted by their information about the threshold under a logistic curve without
    lapses, (p - g)²(1 - p)²/p(1 - p). The weight is 0 for levels at which all answers are guesses,
    and for levels at which all answers are right.
    """
    import numpy as np

    spread = expected = 0.0
    for level in range(int(at.max()) + 1):
        here = at == level
        _, codes = np.unique(cluster[here], return_inverse=True)
        hits = np.bincount(codes, weights=right[here])
        shown = np.bincount(codes) * float(trials)
        groups = len(hits)
        p = float(hits.sum() / shown.sum())
        if groups < 2 or p <= guess:
            continue
        information = (1 - guess / p) ** 2
        spread += information * float(((hits - shown * p) ** 2).sum()) * groups / (groups - 1)
        expected += information * float(shown.sum()) * p * (1 - p)
    return max(1.0, spread / expected) if expected else 1.0
