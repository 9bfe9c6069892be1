"""How often 95 % intervals hold the true value, by simulation of whole data sets.

usage: python perf/coverage.py [--replications 10000] [--resamples 1000] [--only TEXT]

Each line is a kind of data set: coverage for seeds 1, 2, 3, then the mean width. The rows of a
cluster are right with a chance that the cluster draws from a beta distribution; `icc` is the
intra-cluster correlation that this makes.
"""

import argparse
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from snellen import stats

Data = tuple[NDArray[np.float64], NDArray[np.intp]]
SEEDS = (1, 2, 3)


def sizes(rng: np.random.Generator, kind: str, g: int) -> NDArray[np.intp]:
    """Rows a cluster."""
    if kind == "1 to 9":
        return rng.integers(1, 10, g)
    if kind == "log-normal":  # mean 5.5, and now and then a hundred
        return np.maximum(1, np.round(np.exp(rng.normal(1.2, 1.0, g)))).astype(np.intp)
    return np.full(g, int(kind))


def chances(rng: np.random.Generator, p: float, icc: float, g: int) -> NDArray[np.float64]:
    """Each cluster's chance of a right answer."""
    if icc == 0:
        return np.full(g, p)
    return rng.beta(p * (1 / icc - 1), (1 - p) * (1 / icc - 1), g)


def right(
    rng: np.random.Generator, *, p: float, icc: float, kind: str, g: int
) -> tuple[stats.Estimate, float]:
    """The mean of scores of 0 and 1, with the true mean."""
    cluster = np.repeat(np.arange(g), sizes(rng, kind, g))
    chance = chances(rng, p, icc, g)[cluster]
    return stats.mean((rng.random(len(cluster)) < chance).astype(float), cluster), p


def any_right(rng: np.random.Generator, *, g: int) -> tuple[stats.Estimate, float]:
    """One row a cluster; each data set has another chance, so that the steps of n even out."""
    p = rng.uniform(0.2, 0.8)
    return stats.mean((rng.random(g) < p).astype(float), np.arange(g)), p


def agreement(
    rng: np.random.Generator, *, p: float, icc: float, kind: str, g: int
) -> tuple[stats.Estimate, float]:
    """The mean of scores 0, 0.3, 0.6, 0.9 and 1, as VQA's are: min(1, 0.3 k), k of 4 agreeing."""
    cluster = np.repeat(np.arange(g), sizes(rng, kind, g))
    agree = rng.binomial(4, chances(rng, p, icc, g)[cluster])
    return stats.mean(np.minimum(1, 0.3 * agree), cluster), agreement_truth(p, icc)


def agreement_truth(p: float, icc: float) -> float:
    """The mean of 0.3 k - 0.2 [k = 4]: needs the chance's fourth moment, that of a beta."""
    a, b = p * (1 / icc - 1), (1 - p) * (1 / icc - 1)
    return 1.2 * p - 0.2 * math.prod((a + i) / (a + b + i) for i in range(4))


def f1_of(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    true, false, missed = totals.T
    found: NDArray[np.float64] = 2 * true / (2 * true + false + missed)
    return found


def f1(
    rng: np.random.Generator, *, p: float, icc: float, g: int, resamples: int
) -> tuple[stats.Estimate, float]:
    """F1 of `yes` over images with two yes and two no questions each."""
    chance = chances(rng, p, icc, g)
    true, false = rng.binomial(2, chance), rng.binomial(2, 1 - chance)
    sums = np.stack([true, false, 2 - true], axis=1).astype(float)
    found = stats.bootstrap_sums(
        sums, f1_of, n=4 * g, seed=int(rng.integers(1 << 32)), resamples=resamples
    )
    return found, p  # 2·2p / (4p + 2(1-p) + 2(1-p)) = p


def average(
    rng: np.random.Generator, *, categories: int, icc: float, g: int, resamples: int
) -> tuple[stats.Estimate, float]:
    """The mean of categories' means, 0.3 to 0.9; clusters of 1 to 5 rows, each in one category."""
    p = np.linspace(0.3, 0.9, categories)
    category = np.arange(g) % categories
    rows = rng.integers(1, 6, g)
    chance = rng.beta(p[category] * (1 / icc - 1), (1 - p[category]) * (1 / icc - 1))
    sums = np.zeros((g, 2 * categories))
    sums[np.arange(g), category] = rng.binomial(rows, chance)
    sums[np.arange(g), categories + category] = rows
    found = stats.bootstrap_sums(
        sums,
        lambda totals: (totals[:, :categories] / totals[:, categories:]).mean(axis=1),
        n=int(rows.sum()),
        seed=int(rng.integers(1 << 32)),
        resamples=resamples,
    )
    return found, float(p.mean())


def cases(
    resamples: int,
) -> dict[str, Callable[[np.random.Generator], tuple[stats.Estimate, float]]]:
    found: dict[str, Callable[[np.random.Generator], tuple[stats.Estimate, float]]] = {}
    for g in (10, 20, 50, 200):
        for p in (0.05, 0.5, 0.9):
            found[f"plain 0/1, p {p}, {g} rows"] = partial(right, p=p, icc=0, kind="1", g=g)
        found[f"plain 0/1, p 0.2 to 0.8, {g} rows"] = partial(any_right, g=g)
    for kind in ("2", "1 to 9", "log-normal"):
        for icc in (0.0, 0.3):
            for p in (0.05, 0.5, 0.9):
                for g in (10, 20, 50, 200):
                    name = f"clustered 0/1, {kind} rows each, icc {icc}, p {p}, {g} clusters"
                    found[name] = partial(right, p=p, icc=icc, kind=kind, g=g)
    for kind in ("1", "1 to 9"):
        for p in (0.5, 0.8):
            for g in (10, 20, 50, 200):
                name = f"0 to 1, {kind} rows each, icc 0.3, p {p}, {g} clusters"
                found[name] = partial(agreement, p=p, icc=0.3, kind=kind, g=g)
    for g in (50, 200):
        for p, icc in ((0.6, 0.3), (0.9, 0.0), (0.9, 0.3)):
            name = f"composite, F1 {p}, icc {icc}, {g} clusters"
            found[name] = partial(f1, p=p, icc=icc, g=g, resamples=resamples)
        for n in (3, 6):
            name = f"composite, average of {n} averages, icc 0.3, {g} clusters"
            found[name] = partial(average, categories=n, icc=0.3, g=g, resamples=resamples)
    return found


def coverage(name: str, seed: int, replications: int, resamples: int) -> tuple[float, float, int]:
    """Share of intervals that hold the truth, their mean width, and how often there was none."""
    rng = np.random.default_rng([seed, *name.encode()])
    simulate = cases(resamples)[name]
    held, width, none = 0, 0.0, 0
    for _ in range(replications):
        found, truth = simulate(rng)
        if found.ci95 is None:
            none += 1
        else:
            held += found.ci95[0] <= truth <= found.ci95[1]
            width += found.ci95[1] - found.ci95[0]
    given = replications - none
    return held / given, width / given, none


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replications", type=int, default=10_000)
    parser.add_argument("--resamples", type=int, default=1_000)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    names = [name for name in cases(args.resamples) if args.only in name]
    print(f"{'':66}{'seed 1':>8}{'seed 2':>8}{'seed 3':>8}{'width':>8}")
    with ProcessPoolExecutor() as pool:
        jobs = {
            name: [
                pool.submit(coverage, name, seed, args.replications, args.resamples)
                for seed in SEEDS
            ]
            for name in names
        }
        for name, futures in jobs.items():
            found = [future.result() for future in futures]
            none = sum(n for _, _, n in found)
            print(
                f"{name:66}",
                *(f"{share:7.3f}" for share, _, _ in found),
                f"{found[0][1]:7.3f}",
                f"  {none} without interval" if none else "",
                flush=True,
            )


if __name__ == "__main__":
    main()
