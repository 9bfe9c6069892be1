import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from snellen.metrics import Category, Columns, macro_average, mean
from snellen.testing import check_metric


def columns(score: Sequence[float], tag: Sequence[str], cluster: Sequence[int] = ()) -> Columns:
    n = len(score)
    none, zeros = np.empty(n, dtype=object), np.zeros(n, dtype=np.int32)
    names = tuple(dict.fromkeys(tag))
    codes = np.array([names.index(name) for name in tag], dtype=np.int32)
    return Columns(
        score=np.array(score, dtype=float),
        answer=none,
        target=none,
        references=none,
        state=Category(codes=zeros, names=("answered",)),
        tags={"kind": Category(codes=codes, names=names)},
        cluster=np.array(cluster or range(n), dtype=np.int32),
    )


def test_the_mean_keeps_to_the_contract_of_metrics() -> None:
    check_metric(mean)


def test_the_macro_average_keeps_to_the_contract_of_metrics() -> None:
    check_metric(macro_average("tag"))
    check_metric(macro_average("tag", {"a": 2}))


def test_the_mean_weighs_rows_by_their_weight() -> None:
    weighted = replace(columns([1, 0], ["a", "a"]), weight=np.array([3.0, 1.0]))
    assert mean(weighted).value == 0.75


def test_each_category_counts_the_same() -> None:
    # by hand: a 3/4, b 1/2, c 0: their mean is 5/12
    estimate = macro_average("kind")(columns([1, 1, 1, 0, 1, 0, 0], [*"aaaa", *"bb", "c"]))
    assert estimate.value == pytest.approx(5 / 12, abs=1e-12)
    assert estimate.n == 7


def test_weights_count_within_a_category() -> None:
    weighted = replace(columns([1, 0, 0], [*"aa", "b"]), weight=np.array([3.0, 1.0, 9.0]))
    assert macro_average("kind")(weighted).value == pytest.approx((0.75 + 0) / 2, abs=1e-12)


def test_categories_count_by_their_weights_and_without_one_once() -> None:
    # (1·0.75 + 2·0.5 + 1·0) / 4
    rows = columns([1, 1, 1, 0, 1, 0, 0], [*"aaaa", *"bb", "c"])
    assert macro_average("kind", {"b": 2})(rows).value == pytest.approx(1.75 / 4, abs=1e-12)
    alone = columns([1, 0], ["b", "b"])
    assert macro_average("kind", {"a": 3, "b": 2})(alone).value == pytest.approx(0.5, abs=1e-12)


def test_rows_without_a_category_are_left_out() -> None:
    estimate = macro_average("kind")(columns([1, 0, 0], ["a", "", "a"]))
    assert (estimate.value, estimate.n) == (0.5, 2)


def test_a_category_without_scores_is_not_averaged() -> None:
    part = columns([1, 1, 0], ["a", "a", "b"]).where(np.array([True, True, False]))
    assert macro_average("kind")(part).value == 1.0


def test_the_macro_average_s_error_is_that_of_its_categories_together() -> None:
    # By hand: two categories of 50 and 150 rows of their own clusters, shares 0.5 and 0.8:
    # stderr² = (0.5 · 0.5 / 49 + 0.8 · 0.2 / 149) / 4 = 0.0392803²
    estimate = macro_average("kind")(
        columns([1, 0] * 25 + [1, 1, 1, 1, 0] * 30, ["a"] * 50 + ["b"] * 150)
    )
    assert estimate.value == pytest.approx(0.65, abs=1e-12)
    assert estimate.stderr == pytest.approx(0.03928, rel=0.02)


def test_clusters_across_categories_widen_the_interval_of_the_macro_average() -> None:
    right, kinds = [1, 0] * 50, ["a"] * 50 + ["b"] * 50
    alone = macro_average("kind")(columns(right, kinds))
    shared = macro_average("kind")(columns(right, kinds, cluster=[*range(50), *range(50)]))
    assert alone.stderr is not None and shared.stderr is not None
    # by hand: the two of a cluster are always equal, so the variance doubles
    assert shared.stderr / alone.stderr == pytest.approx(2**0.5, rel=0.03)


def test_a_tag_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(ValueError, match="no tag 'sort'; there are: kind"):
        macro_average("sort")(columns([1], ["a"]))


@pytest.mark.parametrize("metric", [mean, macro_average("kind")])
def test_what_has_no_score_for_each_sample_has_no_mean(metric) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="needs a score for each sample"):
        metric(replace(columns([1], ["a"]), score=None))


def test_importing_metrics_does_not_import_numpy() -> None:
    code = "import sys, snellen.metrics, snellen.stats; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
