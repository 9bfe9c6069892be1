"""Metrics of yes and no, worked out by hand."""

import numpy as np
import pytest

from snellen.metrics import Category, Columns, Metric
from snellen.metrics.yes_no import f1, mean_over, precision, recall, yes_ratio

ANSWERS = ["yes", "yes", "no", None, "yes", "no", "no", "yes"]
RIGHT = ["yes", "no", "yes", "yes", "yes", "no", "yes", "no"]


def columns(
    answers: list[str | None] = ANSWERS, right: list[str] = RIGHT, repeat: int = 1
) -> Columns:
    n = len(answers) * repeat
    answer, target = (
        np.array(answers * repeat, dtype=object),
        np.array(right * repeat, dtype=object),
    )
    codes = (np.arange(n) % 2).astype(np.int32)
    return Columns(
        score=(answer == target).astype(float),
        answer=answer,
        target=target,
        references=np.empty(n, dtype=object),
        state=Category(codes=np.zeros(n, dtype=np.int32), names=("answered",)),
        tags={"set": Category(codes=codes, names=("a", "b"))},
        cluster=np.arange(n, dtype=np.int32),
    )


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        (precision, 2 / 4),
        (recall, 2 / 5),
        (lambda c: recall(c, answered_only=True), 2 / 4),
        (f1, 4 / 9),
        (lambda c: f1(c, answered_only=True), 4 / 8),
        (yes_ratio, 4 / 8),
        # set a (rows 0, 2, 4, 6): 2 of 2 said right, 2 of 4 found; set b: nothing found
        (mean_over("set", "f1"), (4 / 6 + 0) / 2),
        (mean_over("set", "accuracy"), (2 / 4 + 1 / 4) / 2),
    ],
)
def test_a_metric_counts_what_was_said_and_what_is_right(metric: Metric, value: float) -> None:
    assert metric(columns()).value == pytest.approx(value)
    many = metric(columns(repeat=20))
    assert many.value == pytest.approx(value)
    assert many.ci95 is not None
    assert many.ci95[0] < value < many.ci95[1]
    assert many.n == 160


def test_an_interval_is_wider_where_rows_share_a_cluster() -> None:
    def width(cluster: list[int]) -> float:
        base = columns(repeat=20)
        estimate = f1(
            Columns(
                score=base.score,
                answer=base.answer,
                target=base.target,
                references=base.references,
                state=base.state,
                tags=base.tags,
                cluster=np.array(cluster, dtype=np.int32),
            )
        )
        assert estimate.ci95 is not None
        return estimate.ci95[1] - estimate.ci95[0]

    # Rows of the same place in their eight are alike: four clusters' worth in each forty.
    alike = [8 * (index // 32) + index % 8 for index in range(160)]
    assert width(alike) > 1.5 * width(list(range(160)))


@pytest.mark.parametrize("metric", [precision, recall, f1])
def test_nothing_said_and_nothing_right_is_undefined_or_what_is_wished(metric: Metric) -> None:
    never = columns(["no"] * 8, ["no"] * 8)
    assert metric(never).value is None
    assert metric(never).reason == "undefined"
    assert metric(never, otherwise=0.0).value == 0.0


def test_where_nothing_is_rightly_found_f1_is_zero() -> None:
    assert f1(columns(["no", "yes"], ["yes", "no"])).value == 0.0


def test_the_mean_over_sets_says_nothing_of_one_of_them() -> None:
    every = columns()
    first_set = every.where(every.tags["set"].codes == 0)
    assert mean_over("set", "f1")(first_set).n == 0
    assert f1(first_set).n == 4


def test_a_failed_row_counts_as_right_where_its_bound_is_asked_for() -> None:
    base = columns(["yes", None], ["yes", "yes"])
    best = Columns(
        score=np.ones(2),
        answer=base.answer,
        target=base.target,
        references=base.references,
        state=base.state,
        tags=base.tags,
        cluster=base.cluster,
    )
    assert (recall(base).value, recall(best).value) == (0.5, 1.0)
