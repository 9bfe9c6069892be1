"""The prediction-powered mean: against its authors' code, by hand, and how often it covers."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from snellen.stats import cohen_kappa, krippendorff_alpha, powered_mean

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator], tuple[Array, Array, NDArray[np.intp]]]


def unlabeled(labels: Array, rows: int) -> Array:
    """Labels of the first rows, none of the others."""
    return np.concatenate([labels, np.full(rows - len(labels), np.nan)])


def graded(seed: int, n: int, rest: int) -> tuple[Array, Array]:
    """Labels of n rows, and the scores of all, rounded so that they are the same everywhere."""
    rng = np.random.default_rng(seed)
    label = np.round(rng.random(n), 3)
    near = np.round(np.clip(0.7 * label + 0.2 * rng.random(n) + 0.05, 0, 1), 3)
    others = 0.7 * rng.random(rest) + 0.2 * rng.random(rest) + 0.05
    return label, np.concatenate([near, np.round(np.clip(others, 0, 1), 3)])


# ppi-python 0.2.3: ppi_mean_pointestimate and, by 1.96 and the interval's width, ppi_mean_ci.
@pytest.mark.parametrize(
    ("seed", "n", "rest", "value", "stderr"),
    [
        (0, 40, 300, 0.5366633333333334, 0.01774031652030877),
        (1, 100, 500, 0.504686, 0.013768287548130293),
        (2, 25, 1000, 0.48972153949265157, 0.02123386711553009),
    ],
)
def test_value_and_error_are_those_of_the_authors_code(
    seed: int, n: int, rest: int, value: float, stderr: float
) -> None:
    label, score = graded(seed, n, rest)
    estimate = powered_mean(score, unlabeled(label, len(score)), np.arange(n + rest)).estimate
    assert estimate.value == pytest.approx(value, abs=1e-9)
    # Ours has G/(G-1) for the labeled clusters, theirs none.
    assert estimate.stderr == pytest.approx(stderr * (n / (n - 1)) ** 0.5, abs=1e-9)


def test_the_weight_is_that_of_the_authors_code() -> None:
    label, score = graded(2, 25, 1000)
    result = powered_mean(score, unlabeled(label, len(score)), np.arange(1025))
    assert result.weight == pytest.approx(0.9744342988005517, abs=1e-9)  # ppi-python 0.2.3


def test_a_judge_that_tells_nothing_leaves_the_labels_alone() -> None:
    label = np.tile([0.0, 1.0], 20)
    score = np.concatenate([np.repeat([0.0, 1.0], 20), np.tile([0.0, 1.0], 100)])
    result = powered_mean(score, unlabeled(label, 240), np.arange(240))
    assert result.weight == 0
    assert result.estimate == result.alone
    assert result.estimate.value == 0.5


def test_a_judge_that_is_always_too_kind_is_corrected() -> None:
    """It takes a fifth of what is wrong for right: 0.6 of all where 0.5 are."""
    rng = np.random.default_rng(3)
    truth = (rng.random(2040) < 0.5).astype(float)
    kind = np.where(rng.random(2040) < 0.2, 1.0, truth)
    result = powered_mean(kind, unlabeled(truth[:100], 2040), np.arange(2040))
    assert kind.mean() > 0.57
    assert result.estimate.ci95 is not None
    assert result.estimate.ci95[0] <= truth.mean() <= result.estimate.ci95[1]
    assert kind.mean() > result.estimate.ci95[1]


def test_what_is_certain_counts_as_it_stands() -> None:
    """By hand: ten rows are certain, with mean 1; of the 30 others all are labeled, a third 1."""
    score = np.concatenate([np.ones(10), np.zeros(30)])
    label = np.concatenate([np.full(10, np.nan), np.tile([1.0, 0.0, 0.0], 10)])
    result = powered_mean(score, label, np.arange(40), np.arange(40) < 10)
    assert result.estimate.value == pytest.approx((10 + 10) / 40)


def test_with_all_labelled_it_is_the_mean_of_the_labels() -> None:
    label = np.tile([0.2, 0.9, 0.4], 10)
    result = powered_mean(np.zeros(30), label, np.arange(30))
    assert result.estimate.value == pytest.approx(0.5)
    assert result.estimate.stderr == pytest.approx(label.std(ddof=1) / 30**0.5)


def test_labels_of_few_clusters_have_no_interval_but_the_reason() -> None:
    result = powered_mean(np.tile([0.0, 1.0], 50), unlabeled(np.ones(20), 100), np.arange(100) // 4)
    assert result.estimate.ci95 is None
    assert result.estimate.reason == "5 independent clusters: an interval needs at least 10"


def test_without_labels_there_is_no_value() -> None:
    result = powered_mean(np.ones(20), np.full(20, np.nan), np.arange(20))
    assert (result.estimate.value, result.estimate.reason) == (None, "no labels")


def test_the_order_of_rows_does_not_matter() -> None:
    label, score = graded(0, 40, 300)
    labels, cluster = unlabeled(label, 340), np.arange(340) // 2
    order = np.random.default_rng(1).permutation(340)
    estimate = powered_mean(score, labels, cluster).estimate
    shuffled = powered_mean(score[order], labels[order], cluster[order]).estimate
    assert shuffled.ci95 == pytest.approx(estimate.ci95, abs=1e-12)


# -- coverage: 10,000 draws in all


def binary(share: float, errs: float, n: int, rows: int) -> Draw:
    """Labels of 0 and 1, and a judge that is wrong in this share of either."""

    def draw(rng: np.random.Generator) -> tuple[Array, Array, NDArray[np.intp]]:
        truth = (rng.random(rows) < share).astype(float)
        score = np.where(rng.random(rows) < errs, 1 - truth, truth)
        return score, unlabeled(truth[:n], rows), np.arange(rows)

    return draw


def in_clusters(n: int, groups: int, rows_per_cluster: int) -> Draw:
    """Graded labels with mean 0.5: those of a cluster are alike, as are the judge's errors; the
    labeled are a random part of all rows."""

    def draw(rng: np.random.Generator) -> tuple[Array, Array, NDArray[np.intp]]:
        rows = groups * rows_per_cluster
        cluster = np.repeat(np.arange(groups), rows_per_cluster)
        truth = 0.5 + 0.3 * rng.normal(size=groups)[cluster] + 0.2 * rng.normal(size=rows)
        score = truth + 0.1 + 0.2 * rng.normal(size=groups)[cluster] + 0.1 * rng.normal(size=rows)
        label = np.full(rows, np.nan)
        chosen = rng.permutation(rows)[:n]
        label[chosen] = truth[chosen]
        return score, label, cluster

    return draw


@pytest.mark.parametrize(
    ("mean", "draw"),
    [
        pytest.param(0.5, binary(0.5, 0.1, 60, 600), id="a judge with 10 % errors"),
        pytest.param(0.5, binary(0.5, 0.01, 50, 800), id="errors that are seldom seen"),
        pytest.param(0.95, binary(0.95, 0.04, 50, 500), id="nearly all right"),
        pytest.param(0.5, binary(0.5, 0.35, 30, 300), id="a poor judge, few labels"),
        pytest.param(0.5, in_clusters(90, 60, 6), id="clusters"),
    ],
)
def test_the_interval_covers_at_least_94_percent(mean: float, draw: Draw) -> None:
    """2,000 draws: 95 % have a standard error of half a percent."""
    rng = np.random.default_rng(7)
    covered, shorter = 0, 0.0
    for _ in range(2000):
        result = powered_mean(*draw(rng))
        assert result.estimate.ci95 is not None and result.alone.stderr is not None
        assert result.estimate.stderr is not None
        low, high = result.estimate.ci95
        covered += low <= mean <= high
        shorter += result.estimate.stderr / result.alone.stderr
        assert result.estimate.stderr <= result.alone.stderr
    assert covered / 2000 >= 0.94
    assert shorter / 2000 < 1


# -- agreement


def test_alpha_is_krippendorffs_own_example() -> None:
    """Krippendorff 2011, example C, four observers, interval data: 0.849."""
    observers = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    units = [
        [float(rating) for rating in unit if rating != "."] for unit in zip(*observers, strict=True)
    ]
    assert krippendorff_alpha(units) == pytest.approx(0.849, abs=5e-4)


def test_alpha_of_people_who_always_say_the_same_is_unknown() -> None:
    assert krippendorff_alpha([[1, 1], [1, 1]]) is None
    assert krippendorff_alpha([[1], [0]]) is None


def test_kappa_is_zero_where_they_agree_as_by_chance() -> None:
    assert cohen_kappa(25, 25, 25, 25) == 0
    assert cohen_kappa(10, 0, 0, 10) == 1
    assert cohen_kappa(10, 0, 0, 0) is None
