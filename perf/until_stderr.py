"""Simulates runs that stop at a standard error (`--until-stderr X`), to measure coverage and bias.

usage: python perf/until_stderr.py [--draws 2000] [--rows 20000] [--seed 1]

Each draw simulates a run. Scores from a known distribution arrive in random order. When the run
stops, 32 more questions are in flight, unless fewer remain. The interval is computed as in reports.

In the table, `questions` is the mean number of questions that a run asks, and `coverage` is the
share of intervals that contain the true value. `fixed` is the coverage if all samples have the
mean size of the runs. `bias in X` is the mean of the value minus the true value, as a multiple
of X.
"""

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from snellen import stats
from snellen.run.until_stderr import is_precise, next_look

IN_FLIGHT = 32
Scores = NDArray[np.float64]


class Case(NamedTuple):
    """A distribution of scores, its true mean, and the standard error at which a run stops."""

    name: str
    limit: float
    truth: float
    draw: Callable[[np.random.Generator, int], tuple[Scores, NDArray[np.intp]]]


class Figures(NamedTuple):
    """The results of a case, over all draws."""

    coverage: float
    fixed: float
    bias: float
    n: float


def right_or_wrong(share: float, limit: float) -> Case:
    def draw(random: np.random.Generator, n: int) -> tuple[Scores, NDArray[np.intp]]:
        return (random.random(n) < share).astype(float), np.arange(n)

    return Case(f"right or wrong, {share:.0%} right", limit, share, draw)


def grades(limit: float) -> Case:
    """Grades from 0 to 10, of which most are 0 or 10."""
    values = np.arange(11) / 10
    weights = np.array([30, 2, 2, 3, 3, 4, 4, 5, 6, 8, 33], dtype=float)
    weights /= weights.sum()

    def draw(random: np.random.Generator, n: int) -> tuple[Scores, NDArray[np.intp]]:
        return random.choice(values, size=n, p=weights), np.arange(n)

    return Case("grades from 0 to 10", limit, float(values @ weights), draw)


def clustered(limit: float) -> Case:
    """Four questions for each picture, with correlated scores."""

    def draw(random: np.random.Generator, n: int) -> tuple[Scores, NDArray[np.intp]]:
        share = random.beta(1.4, 0.6, size=n // 4 + 1)  # mean 0.7
        return (random.random((len(share), 4)) < share[:, None]).astype(float).ravel()[:n], (
            np.arange(n) // 4
        )

    return Case("4 questions a picture, 70 % right", limit, 0.7, draw)


CASES = (
    *(right_or_wrong(share, 0.02) for share in (0.5, 0.7, 0.9, 0.98)),
    *(right_or_wrong(share, 0.01) for share in (0.5, 0.9, 0.98)),
    right_or_wrong(0.7, 0.04),
    grades(0.02),
    clustered(0.02),
)


def stopped_at(scores: Scores, cluster: NDArray[np.intp], limit: float) -> int:
    """The number of questions that a run asks before it stops."""
    look = next_look(0)
    while look < len(scores):
        estimate = stats.mean(scores[:look], cluster[:look])
        clusters = int(cluster[look - 1]) + 1
        if estimate.stderr is not None and is_precise(estimate.stderr, clusters, limit):
            return min(len(scores), look + IN_FLIGHT)
        look = next_look(look)
    return len(scores)


def covers(scores: Scores, cluster: NDArray[np.intp], truth: float) -> bool:
    ends = stats.mean(scores, cluster).ci95
    return ends is not None and ends[0] <= truth <= ends[1]


def simulate(case: Case, draws: int, rows: int, seed: int) -> Figures:
    random = np.random.default_rng(seed)
    sizes, values, hits = [], [], []
    for _ in range(draws):
        scores, cluster = case.draw(random, rows)
        n = stopped_at(scores, cluster, case.limit)
        sizes.append(n)
        values.append(float(scores[:n].mean()))
        hits.append(covers(scores[:n], cluster[:n], case.truth))
    size = round(float(np.mean(sizes)))
    fixed = [covers(*case.draw(random, size), case.truth) for _ in range(draws)]
    return Figures(
        coverage=float(np.mean(hits)),
        fixed=float(np.mean(fixed)),
        bias=(float(np.mean(values)) - case.truth) / case.limit,
        n=float(np.mean(sizes)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| scores | X | questions | coverage | fixed | bias in X |")
    print("|---|---|---|---|---|---|")
    for case in CASES:
        figures = simulate(case, options.draws, options.rows, options.seed)
        print(
            f"| {case.name} | {case.limit:g} | {figures.n:,.0f} | {100 * figures.coverage:.1f} % | "
            f"{100 * figures.fixed:.1f} % | {figures.bias:+.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
