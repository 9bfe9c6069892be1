"""How often 95 % intervals contain the true value, by simulation of whole data sets.

usage: python perf/coverage.py [--replications 10000] [--resamples 1000] [--jobs N] [--only TEXT]

Each line is for one kind of data set: the coverage for seeds 1, 2, and 3, then the mean width. The
rows of a cluster are right with a chance that is drawn for the cluster from a beta distribution;
`icc` is the resulting intra-cluster correlation.

Two models are `alike` on a share of the rows, where the second gives the same answers as the first;
on the other rows, the second has a chance of its own in each cluster. For `no difference`, where
both models are equally good, the figure is the rate of false positives (p < 0.05). For
`familywise`, it is the share of data sets in which any pair of equally good models has p < 0.05
after Holm's adjustment. `held out` estimates the value of the best of several settings; the true
value is the mean value of the setting that is chosen on all clusters. `familywise` simulates a
fifth of the data sets, and `held out` a tenth.
"""

import argparse
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from snellen import stats

SEEDS = (1, 2, 3)
FAMILYWISE, HELD_OUT = "familywise", "held out"
FALSE = ("no difference", FAMILYWISE)
"""Cases whose names begin like this count false positives."""
FEWER = {FAMILYWISE: 5, HELD_OUT: 10}
"""The number of data sets is divided by this for cases that take long."""


class Sides(NamedTuple):
    """The scores of two models, (n,) each, and the true difference: the mean of b minus that of
    a."""

    a: NDArray[np.float64]
    b: NDArray[np.float64]
    cluster: NDArray[np.intp]
    truth: float


Outcome = tuple[stats.Estimate | stats.Difference | bool, float]


def sizes(rng: np.random.Generator, kind: str, g: int) -> NDArray[np.intp]:
    """Draw the number of rows of each cluster."""
    if kind == "1 to 9":
        return rng.integers(1, 10, g)
    if kind == "log-normal":  # mean 5.5, occasionally a hundred
        return np.maximum(1, np.round(np.exp(rng.normal(1.2, 1.0, g)))).astype(np.intp)
    return np.full(g, int(kind))


def chances(rng: np.random.Generator, p: float, icc: float, g: int) -> NDArray[np.float64]:
    """Draw each cluster's chance of a right answer."""
    if icc == 0:
        return np.full(g, p)
    return rng.beta(p * (1 / icc - 1), (1 - p) * (1 / icc - 1), g)


def right(
    rng: np.random.Generator, *, p: float, icc: float, kind: str, g: int
) -> tuple[stats.Estimate, float]:
    """The estimated mean of scores of 0 and 1, and the true mean."""
    cluster = np.repeat(np.arange(g), sizes(rng, kind, g))
    chance = chances(rng, p, icc, g)[cluster]
    return stats.mean((rng.random(len(cluster)) < chance).astype(float), cluster), p


def any_right(rng: np.random.Generator, *, g: int) -> tuple[stats.Estimate, float]:
    """The same with one row per cluster. Each data set has a different chance, which averages out
    the steps that come from a discrete n."""
    p = rng.uniform(0.2, 0.8)
    return stats.mean((rng.random(g) < p).astype(float), np.arange(g)), p


def agreement(
    rng: np.random.Generator, *, p: float, icc: float, kind: str, g: int
) -> tuple[stats.Estimate, float]:
    """The mean of scores 0, 0.3, 0.6, 0.9, and 1, like those of VQA: min(1, 0.3 k) if k of 4
    people agree."""
    cluster = np.repeat(np.arange(g), sizes(rng, kind, g))
    agree = rng.binomial(4, chances(rng, p, icc, g)[cluster])
    return stats.mean(np.minimum(1, 0.3 * agree), cluster), agreement_truth(p, icc)


def agreement_truth(p: float, icc: float) -> float:
    """The mean of 0.3 k - 0.2 [k = 4], by the fourth moment of the chance's beta distribution."""
    a, b = p * (1 / icc - 1), (1 - p) * (1 / icc - 1)
    return 1.2 * p - 0.2 * math.prod((a + i) / (a + b + i) for i in range(4))


def f1_of(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    true, false, missed = totals.T
    actual: NDArray[np.float64] = 2 * true / (2 * true + false + missed)
    return actual


def f1(
    rng: np.random.Generator, *, p: float, icc: float, g: int, resamples: int
) -> tuple[stats.Estimate, float]:
    """F1 of `yes` over images with two yes and two no questions each."""
    chance = chances(rng, p, icc, g)
    true, false = rng.binomial(2, chance), rng.binomial(2, 1 - chance)
    sums = np.stack([true, false, 2 - true], axis=1).astype(float)
    interval = stats.bootstrap_sums(
        sums, f1_of, n=4 * g, seed=int(rng.integers(1 << 32)), resamples=resamples
    )
    return interval, p  # 2·2p / (4p + 2(1-p) + 2(1-p)) = p


def average(
    rng: np.random.Generator, *, categories: int, icc: float, g: int, resamples: int
) -> tuple[stats.Estimate, float]:
    """The mean of the categories' means, which are 0.3 to 0.9. Clusters have 1 to 5 rows, and each
    belongs to one category."""
    p = np.linspace(0.3, 0.9, categories)
    category = np.arange(g) % categories
    rows = rng.integers(1, 6, g)
    chance = rng.beta(p[category] * (1 / icc - 1), (1 - p[category]) * (1 / icc - 1))
    sums = np.zeros((g, 2 * categories))
    sums[np.arange(g), category] = rng.binomial(rows, chance)
    sums[np.arange(g), categories + category] = rows
    interval = stats.bootstrap_sums(
        sums,
        mean_of_means,
        n=int(rows.sum()),
        seed=int(rng.integers(1 << 32)),
        resamples=resamples,
    )
    return interval, float(p.mean())


def two(
    rng: np.random.Generator, *, p: tuple[float, float], alike: float, icc: float, kind: str, g: int
) -> Sides:
    """Simulate right and wrong answers of two models."""
    cluster = np.repeat(np.arange(g), sizes(rng, kind, g))
    item, other = (
        (rng.random(len(cluster)) < chances(rng, share, icc, g)[cluster]).astype(float)
        for share in p
    )
    copied = rng.random(len(cluster)) < alike
    return Sides(item, np.where(copied, item, other), cluster, (1 - alike) * (p[1] - p[0]))


def difference_of_means(rng: np.random.Generator, **of: object) -> Outcome:
    sides = two(rng, **of)  # type: ignore[arg-type]
    return difference(sides.a, sides.b, sides.cluster), sides.truth


def graded(
    rng: np.random.Generator, *, p: tuple[float, float], alike: float, icc: float, kind: str, g: int
) -> Outcome:
    """The difference of two models with scores like those of `agreement`."""
    cluster = np.repeat(np.arange(g), sizes(rng, kind, g))
    item, other = (
        np.minimum(1, 0.3 * rng.binomial(4, chances(rng, share, icc, g)[cluster])) for share in p
    )
    both = np.where(rng.random(len(cluster)) < alike, item, other)
    truth = (1 - alike) * (agreement_truth(p[1], icc) - agreement_truth(p[0], icc))
    return difference(item, both, cluster), truth


def difference(
    a: NDArray[np.float64], b: NDArray[np.float64], cluster: NDArray[np.intp]
) -> stats.Difference:
    item, other = stats.mean(a, cluster).sums, stats.mean(b, cluster).sums
    assert item is not None and other is not None
    return stats.difference(item, other, n=len(a))


def yes_no(
    rng: np.random.Generator,
    *,
    of: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    p: tuple[float, float],
    alike: float,
    icc: float,
    g: int,
) -> Outcome:
    """The difference in F1 or precision of `yes`, over images with two yes and two no questions
    each. The true F1 and the true precision are both p."""
    sides = two(rng, p=p, alike=alike, icc=icc, kind="4", g=g)
    actual = []
    for right in (sides.a, sides.b):
        rows = right.reshape(g, 4)
        true, false = rows[:, :2].sum(axis=1), (1 - rows[:, 2:]).sum(axis=1)
        columns = [true, true + false] if of is stats.ratio else [true, false, 2 - true]
        sums = np.stack(columns, axis=1)
        actual.append(stats.Sums(cluster=np.arange(g), sums=sums, aggregate=of))
    return stats.difference(*actual, n=4 * g), sides.truth


def averages(
    rng: np.random.Generator,
    *,
    categories: int,
    more: float,
    alike: float,
    icc: float,
    g: int,
) -> Outcome:
    """The difference in the mean of the categories' means, which are 0.3 to 0.8 for the first model
    and larger by `more` for the second. Clusters have 1 to 5 rows, and each belongs to one
    category."""
    p = np.linspace(0.3, 0.8, categories)
    category, rows = np.arange(g) % categories, rng.integers(1, 6, g)
    cluster = np.repeat(np.arange(g), rows)
    item, other = (
        rng.random(len(cluster))
        < rng.beta(q[category] * (1 / icc - 1), (1 - q[category]) * (1 / icc - 1))[cluster]
        for q in (p, p + more)
    )
    actual = []
    for right in (item, np.where(rng.random(len(cluster)) < alike, item, other)):
        sums = np.zeros((g, 2 * categories))
        sums[np.arange(g), category] = np.bincount(cluster, weights=right)
        sums[np.arange(g), categories + category] = rows
        actual.append(stats.Sums(cluster=np.arange(g), sums=sums, aggregate=mean_of_means))
    return stats.difference(*actual, n=len(cluster)), (1 - alike) * more


def mean_of_means(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    right, rows = np.split(totals, 2, axis=1)
    value: NDArray[np.float64] = (right / rows).mean(axis=1)
    return value


def any_wrong(
    rng: np.random.Generator, *, p: tuple[float, ...], icc: float, kind: str, g: int
) -> Outcome:
    """Whether any pair of equally good models differs significantly after Holm's adjustment over
    all pairs. Half of each model's answers are copied from the first equally good model."""
    cluster = np.repeat(np.arange(g), sizes(rng, kind, g))
    scores: list[NDArray[np.float64]] = []
    for share in p:
        own = (rng.random(len(cluster)) < chances(rng, share, icc, g)[cluster]).astype(float)
        if share in p[: len(scores)]:
            own = np.where(rng.random(len(cluster)) < 0.5, scores[p.index(share)], own)
        scores.append(own)
    pairs = list(combinations(range(len(p)), 2))
    actual = [difference(scores[i], scores[j], cluster).p for i, j in pairs]
    adjusted = stats.holm([1.0 if item is None else item for item in actual])
    wrong = [x < 0.05 for x, (i, j) in zip(adjusted, pairs, strict=True) if p[i] == p[j]]
    return any(wrong), 0.0


def best_of(rng: np.random.Generator, *, p: tuple[float, ...], rho: float, g: int) -> Outcome:
    """The value of the best of several settings, with one row per cluster. A setting is right on a
    row if a normally distributed score is above a bound. The scores of two settings on a row have
    the correlation `rho`."""
    bounds = np.array([stats.normal_quantile(1 - share) for share in p])
    row, own = rng.standard_normal((g, 1)), rng.standard_normal((g, len(p)))
    right = (math.sqrt(rho) * row + math.sqrt(1 - rho) * own > bounds).astype(float)
    actual = [stats.mean(right[:, k], np.arange(g)).sums for k in range(len(p))]
    settings = [sums for sums in actual if sums is not None]
    seed = int(rng.integers(1 << 32))
    held = stats.held_out(settings, n=g, seed=seed, resamples=300)
    return held, worth(p, rho, g)


@lru_cache
def worth(p: tuple[float, ...], rho: float, g: int) -> float:
    """The mean true value of the setting that is best on all clusters, over 20,000 data sets."""
    rng = np.random.default_rng(0)
    bounds = np.array([stats.normal_quantile(1 - share) for share in p])
    total = 0.0
    for _ in range(20_000):
        row, own = rng.standard_normal((g, 1)), rng.standard_normal((g, len(p)))
        right = math.sqrt(rho) * row + math.sqrt(1 - rho) * own > bounds
        total += p[int(right.sum(axis=0).argmax())]
    return total / 20_000


def cases(
    resamples: int,
) -> dict[str, Callable[[np.random.Generator], Outcome]]:
    actual: dict[str, Callable[[np.random.Generator], Outcome]] = {}
    for g in (10, 20, 50, 200):
        for p in (0.05, 0.5, 0.9):
            actual[f"plain 0/1, p {p}, {g} rows"] = partial(right, p=p, icc=0, kind="1", g=g)
        actual[f"plain 0/1, p 0.2 to 0.8, {g} rows"] = partial(any_right, g=g)
    for kind in ("2", "1 to 9", "log-normal"):
        for icc in (0.0, 0.3):
            for p in (0.05, 0.5, 0.9):
                for g in (10, 20, 50, 200):
                    name = f"clustered 0/1, {kind} rows each, icc {icc}, p {p}, {g} clusters"
                    actual[name] = partial(right, p=p, icc=icc, kind=kind, g=g)
    for kind in ("1", "1 to 9"):
        for p in (0.5, 0.8):
            for g in (10, 20, 50, 200):
                name = f"0 to 1, {kind} rows each, icc 0.3, p {p}, {g} clusters"
                actual[name] = partial(agreement, p=p, icc=0.3, kind=kind, g=g)
    for g in (50, 200):
        for p, icc in ((0.6, 0.3), (0.9, 0.0), (0.9, 0.3)):
            name = f"composite, F1 {p}, icc {icc}, {g} clusters"
            actual[name] = partial(f1, p=p, icc=icc, g=g, resamples=resamples)
        for n in (3, 6):
            name = f"composite, average of {n} averages, icc 0.3, {g} clusters"
            actual[name] = partial(average, categories=n, icc=0.3, g=g, resamples=resamples)
    for g in (10, 20, 50, 200):
        for a, b, alike in (
            (0.6, 0.6, 0.5),
            (0.8, 0.8, 0.5),
            (0.8, 0.8, 0.8),
            (0.6, 0.8, 0.5),
            (0.7, 0.9, 0.5),
        ):
            for kind, icc in (("1", 0.0), ("1 to 9", 0.3)):
                what = "plain" if kind == "1" else f"{kind} rows each, icc {icc}"
                name = f"{pair(a, b)}, {what}, 0/1, {alike:.0%} alike, {g} clusters"
                actual[name] = partial(
                    difference_of_means, p=(a, b), alike=alike, icc=icc, kind=kind, g=g
                )
        for a, b in ((0.5, 0.5), (0.8, 0.8), (0.5, 0.7)):
            name = f"{pair(a, b)}, 0 to 1, 1 to 9 rows each, icc 0.3, 50% alike, {g} clusters"
            actual[name] = partial(graded, p=(a, b), alike=0.5, icc=0.3, kind="1 to 9", g=g)
    for g in (20, 50, 200):
        for what, of in (("F1", f1_of), ("precision", stats.ratio)):
            for a, b in ((0.6, 0.6), (0.9, 0.9), (0.6, 0.8)):
                name = f"{pair(a, b)}, {what}, icc 0.3, 50% alike, {g} clusters"
                actual[name] = partial(yes_no, of=of, p=(a, b), alike=0.5, icc=0.3, g=g)
    for n, g in ((3, 20), (3, 50), (3, 200), (10, 30), (25, 50), (60, 120), (12, 120)):
        for more in (0.0, 0.1):
            name = f"{pair(0.55, 0.55 + more)}, average of {n} averages, 50% alike, {g} clusters"
            actual[name] = partial(averages, categories=n, more=more, alike=0.5, icc=0.3, g=g)
    for g in (50, 200):
        for p in ((0.6,) * 5, (0.6, 0.6, 0.6, 0.6, 0.9)):
            for kind, icc in (("1", 0.0), ("1 to 9", 0.3)):
                what = "plain" if kind == "1" else f"{kind} rows each, icc {icc}"
                text = ", ".join(map(str, p))
                actual[f"{FAMILYWISE}, {text}, {what}, {g} clusters"] = partial(
                    any_wrong, p=p, icc=icc, kind=kind, g=g
                )
    for g in (20, 50, 200):
        for p, rho in (
            ((0.6,) * 2, 0.3),
            ((0.6,) * 5, 0.3),
            ((0.6,) * 5, 0.8),
            ((0.5, 0.55, 0.6, 0.62, 0.65), 0.3),
            ((0.5,) * 4 + (0.7,), 0.3),
        ):
            text = ", ".join(map(str, p))
            name = f"{HELD_OUT}, {text}, correlation {rho}, {g} clusters"
            actual[name] = partial(best_of, p=p, rho=rho, g=g)
    return actual


def pair(a: float, b: float) -> str:
    return f"no difference, {a}" if a == b else f"difference, {a} and {b:g}"


def coverage(
    name: str, seed: int, replications: int, resamples: int
) -> tuple[float, float | None, int]:
    """The share of intervals that contain the true value, or of false positives; the mean width of
    the intervals; and the number of simulations without an interval."""
    rng = np.random.default_rng([seed, *name.encode()])
    simulate = cases(resamples)[name]
    counts_false = name.startswith(FALSE)
    times = replications // FEWER.get(name.partition(",")[0], 1)
    held, false, width, none = 0, 0, 0.0, 0
    for _ in range(times):
        simulated, truth = simulate(rng)
        if isinstance(simulated, bool):
            false += simulated
            continue
        if isinstance(simulated, stats.Difference):
            false += simulated.p is not None and simulated.p < 0.05
            simulated = simulated.estimate
        if simulated.ci95 is None:
            none += 1
        else:
            held += simulated.ci95[0] <= truth <= simulated.ci95[1]
            width += simulated.ci95[1] - simulated.ci95[0]
    inputs = times - none
    share = false / times if counts_false else held / inputs
    return share, width / inputs if width else None, none


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replications", type=int, default=10_000)
    parser.add_argument("--resamples", type=int, default=1_000)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    names = [name for name in cases(args.resamples) if args.only in name]
    print(f"{'':84}{'seed 1':>8}{'seed 2':>8}{'seed 3':>8}{'width':>8}")
    with ProcessPoolExecutor(args.jobs) as pool:
        jobs = {
            name: [
                pool.submit(coverage, name, seed, args.replications, args.resamples)
                for seed in SEEDS
            ]
            for name in names
        }
        for name, futures in jobs.items():
            actual = [future.result() for future in futures]
            none = sum(n for _, _, n in actual)
            print(
                f"{name:84}",
                *(f"{share:7.3f}" for share, _, _ in actual),
                f"{'' if actual[0][1] is None else f'{actual[0][1]:.3f}':>7}",
                f"  {none} without interval" if none else "",
                flush=True,
            )


if __name__ == "__main__":
    main()
