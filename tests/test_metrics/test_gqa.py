"""GQA's further metrics, by hand; tests/test_benchmarks/test_gqa.py has them against the script."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from snellen.metrics import Category, Columns, mean
from snellen.metrics.gqa import belonging, consistency, distribution
from snellen.metrics.only_tagged import only_tagged

IDS = [str(number) for number in range(40)]
RIGHT = ["red" if number % 4 else "blue" for number in range(40)]
ANSWERS = ["red"] * 40


def columns_of(
    ids: Sequence[str],
    answer: Sequence[str],
    target: Sequence[str],
    entailed: Sequence[str] = (),
) -> Columns:
    """A few balanced questions of one group, each about a picture of its own."""

    def category(names: Sequence[str]) -> Category:
        known = list(dict.fromkeys(names))
        codes = np.array([known.index(name) for name in names], dtype=np.int32)
        return Category(codes=codes, names=tuple(known))

    none = np.empty(len(ids), dtype=object)
    tags = {
        "question": ids,
        "entailed": entailed or [""] * len(ids),
        "balanced": ["balanced"] * len(ids),
        "detailed": ["directOf"] * len(ids),
        "group": ["color"] * len(ids),
    }
    return Columns(
        score=np.array(
            [predicted == other for predicted, other in zip(answer, target, strict=True)], float
        ),
        answer=np.array(answer, dtype=object),
        target=np.array(target, dtype=object),
        references=none,
        state=category(["answered"] * len(ids)),
        tags={tag: category(names) for tag, names in tags.items()},
        cluster=np.arange(len(ids), dtype=np.int32),
    )


def test_a_metric_without_one_of_its_tags_says_which() -> None:
    columns = replace(columns_of(IDS, ANSWERS, RIGHT), tags={})
    for metric in (consistency, distribution, belonging("valid", dict, "val_choices.json")):
        estimate = metric(columns)
        assert (estimate.value, estimate.n) == (None, 0)
        assert estimate.reason is not None
        assert estimate.reason.startswith("it needs the tag")


def test_none_has_a_value_without_rows() -> None:
    columns = columns_of(IDS, ANSWERS, RIGHT).where(np.zeros(40, dtype=bool))
    for metric in (consistency, distribution, belonging("valid", dict, "val_choices.json")):
        assert metric(columns).value is None


def test_the_order_of_rows_does_not_matter() -> None:
    columns = columns_of(IDS, ANSWERS, RIGHT, [f"{(number + 1) % 40}" for number in range(40)])
    shuffled = columns.where(np.random.default_rng(1).permutation(40))
    known = {name: {"valid": ["red"]} for name in IDS}
    for metric in (consistency, distribution, belonging("valid", lambda: known, "c.json")):
        assert metric(shuffled) == metric(columns)


def test_consistency_is_over_right_answers_with_an_interval() -> None:
    """30 of 40 are right; 10 of these are followed by a wrong one."""
    columns = columns_of(IDS, ANSWERS, RIGHT, [f"{(number + 1) % 40}" for number in range(40)])
    estimate = consistency(columns)
    assert estimate.value == pytest.approx(2 / 3)
    assert estimate.n == 30
    assert estimate.ci95 is not None
    assert estimate.ci95[0] < 2 / 3 < estimate.ci95[1]


def test_consistency_without_scores_is_an_error() -> None:
    columns = replace(columns_of(IDS, ANSWERS, RIGHT), score=None)
    with pytest.raises(ValueError, match="a score for each sample"):
        consistency(columns)


def test_distribution_weighs_groups_by_their_questions() -> None:
    """10 blue and 30 red, of which red is said 40 times: 10²/10 + 10²/30 = 13.33, by 100."""
    estimate = distribution(columns_of(IDS, ANSWERS, RIGHT))
    assert estimate.value == pytest.approx((10 + 100 / 30) / 100)


def test_among_without_its_tag_is_an_error() -> None:
    columns = replace(columns_of(IDS, ANSWERS, RIGHT), tags={})
    with pytest.raises(ValueError, match="no tag 'balanced'; there are: none"):
        only_tagged(mean, "balanced", ["balanced"])(columns)


def test_among_counts_only_what_it_keeps() -> None:
    columns = columns_of(IDS, ANSWERS, RIGHT, ["1"] * 10 + [""] * 30)
    estimate = only_tagged(mean, "entailed", ["1"])(columns)
    assert (estimate.value, estimate.n) == (0.7, 10)
