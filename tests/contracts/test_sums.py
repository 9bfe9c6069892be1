"""What every metric says of how it follows from clusters, on which comparisons rest."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from snellen import api, registry
from snellen.metrics import Columns, Compute
from snellen.models.recorded import Recorded
from snellen.run import dummies
from snellen.stats import Estimate

DRAWN = {"eyechart", "eyechart-video"}
"""Hundreds of pictures; `metrics.mean` is others' too, and their own metrics have other tests."""
BENCHMARKS = [entry.name for entry in registry.entries() if entry.name not in DRAWN]
WITHOUT: Mapping[str, set[str]] = {"gqa": {"distribution"}}
"""Metrics that have a value on these replies, and are not functions of sums over clusters."""
HELD_FIXED = {"cider", "final_score"}
"""Of other rows these are more than a function of their sums: the document frequencies, or the
number of questions that points are out of, would be others."""
FEW = 5


@dataclass
class Seen:
    """What metrics were called with, and what they gave."""

    without: set[str] = field(default_factory=set)

    def watch(self, name: str, metric: Compute) -> Compute:
        def watched(columns: Columns) -> Estimate:
            moved = replace(columns, cluster=3 * columns.cluster + 7)
            if moved.unscored is not None:
                other = moved.unscored
                moved = replace(moved, unscored=replace(other, cluster=3 * other.cluster + 7))
            estimate = metric(moved)
            if estimate.value is None:
                return estimate
            if estimate.sums is None:
                self.without.add(name)
                return estimate
            self.check(metric, moved, estimate, alone=name not in HELD_FIXED)
            return estimate

        return watched

    def check(self, metric: Compute, columns: Columns, estimate: Estimate, *, alone: bool) -> None:
        """The sums of all clusters give the value, and those of all but one what the metric is of
        the other clusters' rows, if it is a function of its sums `alone`."""
        assert estimate.sums is not None and estimate.value is not None
        sums, labels = estimate.sums.sums, estimate.sums.cluster
        assert len({*labels.tolist()}) == len(labels) == len(sums)
        assert {*labels.tolist()} <= {*columns.cluster.tolist()}
        aggregate = estimate.sums.aggregate
        total = sums.sum(axis=0, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            assert math.isclose(float(aggregate(total)[0]), estimate.value, abs_tol=1e-9)
            left = aggregate(total - sums)
        for label, value in zip(labels[:FEW].tolist(), left[:FEW].tolist(), strict=True):
            rest = metric(columns.where(columns.cluster != label)).value
            if alone and rest is not None and not math.isnan(value):
                assert math.isclose(value, rest, abs_tol=1e-9)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_metric_is_the_aggregate_of_its_clusters_sums(name: str, tmp_path: Path) -> None:
    benchmark = registry.benchmark(name, data=Path(registry.SYNTHETIC))
    assert benchmark.check is not None
    right, wrong = dummies.oracle(benchmark.check), dummies.wrong(benchmark.check)
    count = itertools.count()
    some = dummies.table(benchmark, lambda sample: (right if next(count) % 3 else wrong)(sample))
    seen = Seen()
    scorings = {
        scoring_name: replace(
            scoring,
            metrics={key: seen.watch(key, metric) for key, metric in scoring.metrics.items()},
            check_installation=None,
        )
        for scoring_name, scoring in benchmark.scorings.items()
    }
    opened = registry.Opened(
        model=Recorded("some", some), name="some", server="some", concurrency=None
    )
    watched = replace(benchmark, scorings=scorings)
    api.run_plan(api.Plan(benchmarks=[watched], models=[opened], out=tmp_path))
    assert seen.without == WITHOUT.get(name, set())
