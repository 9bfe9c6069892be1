"""How often the interval of an eye chart's threshold contains the true threshold, by simulation.

usage: python perf/acuity.py [--replications 4000] [--only TEXT] [--jobs 2]

Each line is for one kind of simulated model, measured with as many rows of letters as `eyechart`
has on one ladder. It gives the share of simulations with a value and with an interval; the share of
intervals that contain the true threshold, for seeds 1, 2, and 3; and the mean ratio of an
interval's ends (for rotation, their mean difference). The true threshold of each simulation is
drawn uniformly from the ladder without its outer levels.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from snellen.benchmarks.eyechart import LADDERS, eyechart
from snellen.benchmarks.families.chart_rows import PER_ROW
from snellen.metrics import Category, Columns
from snellen.stats import Estimate

SEEDS = (1, 2, 3)
GUESS = 0.1


@dataclass(frozen=True, kw_only=True)
class Eye:
    """A simulated model.

    `width` is the width of its curve: the number of levels of the ladder from a tenth to nine
    tenths. `lapse` is the share of letters missed at any level, and `spread` the standard deviation
    of the rows' difficulty, in levels. If `skewed`, the curve is a Weibull curve, which the fit
    does not assume, instead of a logistic one.
    """

    width: float
    lapse: float = 0.0
    spread: float = 0.0
    skewed: bool = False

    def chances(self, levels_above: NDArray[np.float64]) -> NDArray[np.float64]:
        """The chance to read a letter that is this many levels above the threshold."""
        ceiling = 1 - GUESS - self.lapse
        at_threshold = ((1 + GUESS) / 2 - GUESS) / ceiling
        if self.skewed:
            slope = np.log(np.log(0.1) / np.log(0.9)) / self.width
            rate = -np.log(1 - at_threshold)
            share = 1 - np.exp(-rate * np.exp(np.minimum(slope * levels_above, 50)))
        else:
            slope = 2 * np.log(9) / self.width
            odds = np.exp(slope * levels_above) * at_threshold / (1 - at_threshold)
            share = odds / (1 + odds)
        chance: NDArray[np.float64] = GUESS + ceiling * share
        return chance


EYES = {
    "4 levels wide": Eye(width=4),
    "2 levels wide": Eye(width=2),
    "1 level wide": Eye(width=1),
    "7 levels wide": Eye(width=7),
    "4 levels wide, 2 % lapses": Eye(width=4, lapse=0.02),
    "4 levels wide, 10 % lapses": Eye(width=4, lapse=0.1),
    "2 levels wide, 10 % lapses": Eye(width=2, lapse=0.1),
    "4 levels wide, rows differ by 1": Eye(width=4, spread=1),
    "2 levels wide, rows differ by 1": Eye(width=2, spread=1),
    "4 levels wide, Weibull": Eye(width=4, skewed=True),
}


def measured(
    rng: np.random.Generator, eye: Eye, task: str = "letters", rows: int = 72
) -> tuple[Estimate, float]:
    """Apply the benchmark's metric to one simulated model; also return the true threshold."""
    x = ladder_of(task)
    step = (x[-1] - x[0]) / (len(x) - 1)
    truth = rng.uniform(*sorted((x[2], x[-3])))
    at = np.arange(rows) % len(x)
    above = (x[at] - truth) / step + eye.spread * rng.standard_normal(rows)
    score = rng.binomial(PER_ROW, eye.chances(above)) / PER_ROW
    is_log = LADDERS[task].scale == "log"
    return estimate_of(score, at, task), float(2.0**truth if is_log else truth)


def ladder_of(task: str) -> NDArray[np.float64]:
    """The levels of a ladder (levels,) from the hardest to the easiest, on the axis of the
    curve."""
    ladder = LADDERS[task]
    levels = np.array(ladder.levels, dtype=float)
    if ladder.harder == "higher":
        levels = levels[::-1]
    return np.log2(levels) if ladder.scale == "log" else levels


def estimate_of(score: NDArray[np.float64], at: NDArray[np.intp], task: str) -> Estimate:
    """Apply the benchmark's metric to the scores of rows (n,), whose levels are `at` (n,)."""
    ladder, rows = LADDERS[task], len(score)
    blank = np.empty(rows, dtype=object)
    levels = ladder.levels[::-1] if ladder.harder == "higher" else ladder.levels
    names = tuple(map(ladder.label, levels))
    columns = Columns(
        score=score,
        answer=blank,
        target=blank,
        references=blank,
        state=Category(codes=np.zeros(rows, dtype=np.int32), names=("answered",)),
        tags={task: Category(codes=at.astype(np.int32), names=names)},
        cluster=np.arange(rows, dtype=np.int32),
    )
    metric = eyechart(tasks=task).scorings["official"].metrics[ladder.metric]
    return metric(columns)


def coverage(name: str, task: str, seed: int, replications: int) -> tuple[int, int, int, float]:
    """Count the simulations with a value and with an interval, and the intervals that contain the
    true threshold; also return the sum of the intervals' widths."""
    rng = np.random.default_rng([seed, *name.encode(), *task.encode()])
    values = intervals = held = 0
    width = 0.0
    for _ in range(replications):
        actual, truth = measured(rng, EYES[name], task)
        values += actual.value is not None
        if actual.ci95 is not None:
            low, high = actual.ci95
            intervals += 1
            held += low <= truth <= high
            width += high - low if LADDERS[task].scale == "linear" else np.log(high / low)
    return values, intervals, held, width


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replications", type=int, default=4_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    cases = [(task, name) for task in ("letters", "rotation") for name in EYES]
    print(f"{'':44}{'value':>7}{'interval':>9}{'seed 1':>8}{'seed 2':>8}{'seed 3':>8}{'width':>8}")
    with ProcessPoolExecutor(args.jobs) as pool:
        jobs = {
            f"{task}, {name}": [
                pool.submit(coverage, name, task, seed, args.replications) for seed in SEEDS
            ]
            for task, name in cases
            if args.only in f"{task}, {name}"
        }
        for case, futures in jobs.items():
            actual = [future.result() for future in futures]
            values, intervals, _, widths = map(sum, zip(*actual, strict=True))
            total = len(SEEDS) * args.replications
            width = widths / intervals
            print(
                f"{case:44}{values / total:7.3f}{intervals / total:9.3f}",
                *(f"{held / item:7.3f}" for _, item, held, _ in actual),
                f"{np.exp(width):7.2f}" if case.startswith("letters") else f"{width:7.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
