"""How often the interval of the difference of two thresholds contains the true difference, by
simulation.

usage: python perf/acuity_pairs.py [--replications 1000] [--only TEXT] [--jobs 2]

Each line is for a pair of simulated models (see `acuity.py`) that read the same rows of letters.
Each row has a difficulty that both models share. The threshold of the second model is a number of
levels below that of the first, which is drawn uniformly from the ladder without its outer levels.
Each line gives the share of simulations with an interval; the share of intervals that contain the
true difference, for seeds 1, 2, and 3; the share of differences with p < 0.05; and the mean width,
divided by the width that the interval would have without pairing.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from acuity import PER_ROW, SEEDS, Eye, estimate_of, ladder_of
from numpy.typing import NDArray

from snellen import stats


@dataclass(frozen=True, kw_only=True)
class Eyes:
    """Two simulated models that read the same rows."""

    first: Eye
    """The first model."""
    second: Eye
    """The second model."""
    gain: float
    """By how many levels the threshold of the second model is below that of the first."""
    shared: float
    """The standard deviation of the difficulty that both models share, in levels."""
    rows: int = 72
    """The number of rows."""


WIDE, NARROW, STEEP = Eye(width=4), Eye(width=2), Eye(width=1)
PAIRS = {
    "no difference, 4 levels wide": Eyes(first=WIDE, second=WIDE, gain=0, shared=0),
    "no difference, 4 levels wide, rows differ by 1": Eyes(
        first=WIDE, second=WIDE, gain=0, shared=1
    ),
    "no difference, 2 levels wide, rows differ by 2": Eyes(
        first=NARROW, second=NARROW, gain=0, shared=2
    ),
    "no difference, 2 and 4 levels wide": Eyes(first=NARROW, second=WIDE, gain=0, shared=0.5),
    "2 levels, 4 levels wide": Eyes(first=WIDE, second=WIDE, gain=2, shared=0),
    "2 levels, 4 levels wide, rows differ by 1": Eyes(first=WIDE, second=WIDE, gain=2, shared=1),
    "2 levels, 2 levels wide, rows differ by 2": Eyes(
        first=NARROW, second=NARROW, gain=2, shared=2
    ),
    "4 levels, 2 levels wide": Eyes(first=NARROW, second=NARROW, gain=4, shared=0.5),
    "3 levels, 1 level wide": Eyes(first=STEEP, second=STEEP, gain=3, shared=0),
    "3 levels, Weibull and 10 % lapses": Eyes(
        first=replace(WIDE, skewed=True), second=replace(NARROW, lapse=0.1), gain=3, shared=0
    ),
    "2 levels, 4 levels wide, rows differ by 1, 240 rows": Eyes(
        first=WIDE, second=WIDE, gain=2, shared=1, rows=240
    ),
}


def score(rng: np.random.Generator, eye: Eye, above: NDArray[np.float64]) -> NDArray[np.float64]:
    """Draw the share of right letters in each row, (n,), from how many levels the row is above the
    threshold."""
    own = eye.spread * rng.standard_normal(len(above))
    share: NDArray[np.float64] = rng.binomial(PER_ROW, eye.chances(above + own)) / PER_ROW
    return share


def simulated(rng: np.random.Generator, eyes: Eyes) -> tuple[stats.Estimate, stats.Estimate, float]:
    """The thresholds of two models that read the same rows, and the true difference, in pixels."""
    x = ladder_of("letters")
    step = (x[-1] - x[0]) / (len(x) - 1)
    at = np.arange(eyes.rows) % len(x)
    truth = rng.uniform(x[2] + eyes.gain * step, x[-3])
    lower = truth - eyes.gain * step
    shared = eyes.shared * rng.standard_normal(eyes.rows)
    a, b = (
        estimate_of(score(rng, eye, (x[at] - threshold) / step + shared), at, "letters")
        for eye, threshold in ((eyes.first, truth), (eyes.second, lower))
    )
    return a, b, float(2.0**lower - 2.0**truth)


def coverage(name: str, seed: int, replications: int) -> NDArray[np.float64]:
    """The number of simulations with an interval, of intervals that contain the true difference,
    and of differences with p < 0.05, and the sum of the ratios of widths."""
    rng = np.random.default_rng([seed, *name.encode()])
    sums = np.zeros(4)
    for _ in range(replications):
        a, b, truth = simulated(rng, PAIRS[name])
        if a.ci95 is None or b.ci95 is None:
            continue
        paired = stats.difference_by_intervals(a, b, n=a.n)
        apart = stats.difference_by_intervals(
            a, replace(b, influence=_elsewhere(b.influence)), n=a.n
        )
        if paired.estimate.ci95 is None or apart.estimate.ci95 is None:
            continue
        (low, high), (wide_low, wide_high) = paired.estimate.ci95, apart.estimate.ci95
        is_significant = paired.p is not None and paired.p < 0.05
        width = (high - low) / (wide_high - wide_low)
        sums += (1, low <= truth <= high, is_significant, width)
    return sums


def _elsewhere(influence: stats.Influence | None) -> stats.Influence:
    """The same influence, in clusters that no other model has."""
    assert influence is not None
    return replace(influence, cluster=-1 - influence.cluster)


def line(name: str, counts: Sequence[NDArray[np.float64]], replications: int) -> str:
    """The line of a pair, from the counts of each seed."""
    intervals, _, significant, widths = sum(counts)
    held = "".join(f"{of[1] / of[0]:8.3f}" for of in counts)
    share = intervals / (len(SEEDS) * replications)
    return f"{name:54}{share:9.3f}{held}{significant / intervals:10.3f}{widths / intervals:8.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replications", type=int, default=1_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    print(
        f"{'':54}{'interval':>9}{'seed 1':>8}{'seed 2':>8}{'seed 3':>8}{'p < 0.05':>10}{'width':>8}"
    )
    with ProcessPoolExecutor(args.jobs) as pool:
        jobs = {
            name: [pool.submit(coverage, name, seed, args.replications) for seed in SEEDS]
            for name in PAIRS
            if args.only in name
        }
        for name, futures in jobs.items():
            counts = [future.result() for future in futures]
            print(line(name, counts, args.replications), flush=True)


if __name__ == "__main__":
    main()
