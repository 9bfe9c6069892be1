"""Computes the metrics of a scoring on paired rows only, and the differences between two sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace as with_fields

from snellen import stats
from snellen.analysis.comparing._document import MetricDifference
from snellen.analysis.comparing._pairing import Pairing
from snellen.analysis.comparing.sides import LoadedSide
from snellen.metrics import Columns, Direction
from snellen.scoring import MetricReport, averaged, metric_report
from snellen.stats import Estimate, Influence, Sums

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_SUMS = "no paired interval: this metric is not a function of sums over clusters"


@dataclass(frozen=True, kw_only=True)
class MetricValue:
    """The value of a metric on one side's paired rows."""

    report: MetricReport
    """The metric with its interval."""
    sums: Sums | None
    """The metric's sums over clusters; None if the metric is not a function of such sums."""
    influence: Influence | None
    """How far each cluster moves a metric that has an interval of its own; None if not known."""
    common: int
    """The number of items behind the metric that all sides have. Replies are counted by sample and
    repeat. A metric of other items has the number of the metric's items on this side."""
    other_metric: str = ""
    """In a category that the scoring's first metric does not include, the name of the metric that
    is used instead; otherwise empty."""


class View:
    """One side's paired rows. Each metric of the side's scoring is computed at most once."""

    def __init__(self, side: LoadedSide, pairing: Pairing, number: int) -> None:
        self._side = side
        self._scoring = side.benchmark.scorings[side.scoring]
        self._mask = pairing.rows[number]
        self._common = pairing.common[number][self._mask]
        self._slots = [
            _columns(
                replace(rows.columns, cluster=pairing.cluster[number]),
                self._mask,
                pairing.unscored[number],
            )
            for rows in side.rows
        ]

    @property
    def first(self) -> str:
        """The name of the first metric."""
        return next(iter(self._scoring.metrics))

    @property
    def direction(self) -> Direction | None:
        """Whether a higher or a lower value of the first metric is better; None if unknown."""
        return self._scoring.better

    @cached_property
    def headline(self) -> MetricValue:
        """The first metric, computed on all rows."""
        return self._value(
            self.first,
            [self._scoring.metrics[self.first](columns) for columns in self._slots],
            self._common,
        )

    @cached_property
    def metrics(self) -> Mapping[str, MetricValue]:
        """Every metric, computed on all rows."""
        values = {self.first: self.headline}
        for name, metric in self._scoring.metrics.items():
            if name != self.first:
                values[name] = self._value(
                    name, [metric(columns) for columns in self._slots], self._common
                )
        if self._scoring.extra_metrics is not None:
            every = [self._scoring.extra_metrics(columns) for columns in self._slots]
            for name in every[0]:
                values[name] = _metric_value(
                    [estimates[name] for estimates in every if name in estimates], self._common
                )
        return values

    def _value(
        self, name: str, estimates: Sequence[Estimate], common: NDArray[np.bool_]
    ) -> MetricValue:
        """The value of one of the scoring's metrics, with the metric's direction."""
        value = _metric_value(estimates, common)
        better = value.report.better or self._scoring.direction(name)
        return replace(value, report=with_fields(value.report, better=better))

    @cached_property
    def breakdown(self) -> Mapping[str, Mapping[str, MetricValue]]:
        """For each tag, the first metric of each category. If this metric includes no sample of a
        category, the first other metric that does is used. Categories that no metric includes are
        left out."""
        return {
            tag: dict(self._categories(tag))
            for tag in self._side.benchmark.presentation.break_down_by
        }

    def _categories(self, tag: str) -> Iterator[tuple[str, MetricValue]]:
        column = self._slots[0].tags[tag]
        for name in sorted(filter(None, column.names)):
            parts = [columns.tagged(tag, (name,)) for columns in self._slots]
            parts = [part for part in parts if part.n]
            rows = column.codes == column.names.index(name)
            for metric_name, metric in self._scoring.metrics.items():
                estimates = [metric(part) for part in parts]
                if estimates and estimates[0].n:
                    value = self._value(metric_name, estimates, self._common[rows])
                    other = "" if metric_name == self.first else metric_name
                    yield name, replace(value, other_metric=other)
                    break

    @cached_property
    def capabilities(self) -> Mapping[str, MetricValue]:
        """The mean score for each capability, as a fraction of the best score."""
        leaves, best = self._side.leaves, self._scoring.best
        if leaves is None or self._slots[0].score is None:
            return {}
        codes = leaves.codes[self._mask]
        return {
            leaf: _metric_value(
                [_share(columns, codes == code, best) for columns in self._slots],
                self._common[codes == code],
            )
            for code, leaf in enumerate(leaves.names)
            if (codes == code).any()
        }

    def single(self) -> tuple[NDArray[np.float64], NDArray[np.int32]] | None:
        """Return the scores (n,) and the index of each score's sample if every score is 0 (wrong)
        or 1 (right) and every sample has one score; otherwise None. A score of 1 counts as right
        only if higher scores are better."""
        import numpy as np

        score, sample = self._slots[0].score, self._side.sample[self._mask]
        if score is None or len(self._slots) > 1 or self._scoring.best != 1:
            return None
        if self.direction != "higher":
            return None
        if len(np.unique(sample)) < len(sample):
            return None
        return (score, sample) if ((score == 0) | (score == 1)).all() else None


class Views:
    """A cache of views, since several pairs often use the same rows of a side."""

    def __init__(self) -> None:
        self._views: dict[tuple[int, bytes], View] = {}

    def of(self, sides: Sequence[LoadedSide], pairing: Pairing) -> list[View]:
        """Return, for each side, a view of the rows that belong to the paired samples."""
        views = []
        for number, side in enumerate(sides):
            rows = (
                pairing.rows[number],
                pairing.common[number],
                pairing.unscored[number],
                pairing.cluster[number],
            )
            key = id(side), blake2b(b"".join(array.tobytes() for array in rows)).digest()
            if key not in self._views:
                self._views[key] = View(side, pairing, number)
            views.append(self._views[key])
        return views


def _share(columns: Columns, of: NDArray[np.bool_], best: float) -> Estimate:
    """The mean score of some rows, as a fraction of the best score."""
    assert columns.score is not None
    return stats.mean(columns.score[of] / best, columns.cluster[of])


def _columns(every: Columns, counted: NDArray[np.bool_], unscored: NDArray[np.bool_]) -> Columns:
    columns = every if counted.all() else every.where(counted)
    return replace(columns, unscored=every.where(unscored)) if unscored.any() else columns


def _metric_value(estimates: Sequence[Estimate], common: NDArray[np.bool_]) -> MetricValue:
    """Build a metric's value. If there are several judges, the value is the mean over the judges.
    `common` (n,) says which of the metric's rows all sides have."""
    report = averaged([{"": metric_report(estimate)} for estimate in estimates])[""]
    n = int(common.sum()) if report.n == len(common) else report.n
    sums = [estimate.sums for estimate in estimates if estimate.sums is not None]
    if len(sums) < len(estimates):
        (first, *others) = estimates
        influence = None if others or first.ci95 is None else first.influence
        return MetricValue(report=report, sums=None, influence=influence, common=n)
    combined = sums[0] if len(sums) == 1 else _mean_of(sums)
    return MetricValue(report=report, sums=combined, influence=None, common=n)


def _mean_of(parts: Sequence[Sums]) -> Sums:
    """Combine the cluster sums of several metrics into cluster sums from which the mean of these
    metrics can be computed. Clusters are matched by label."""
    import numpy as np

    clusters = np.unique(np.concatenate([part.cluster for part in parts]))
    sums = [np.zeros((len(clusters), part.sums.shape[1])) for part in parts]
    for array, part in zip(sums, parts, strict=True):
        array[np.searchsorted(clusters, part.cluster)] = part.sums
    ends = [0, *np.cumsum([array.shape[1] for array in sums]).tolist()]

    def aggregate(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        values = [
            part.aggregate(totals[:, start:end])
            for part, (start, end) in zip(parts, pairwise(ends), strict=True)
        ]
        mean: NDArray[np.float64] = np.mean(values, axis=0)
        return mean

    return Sums(cluster=clusters, sums=np.concatenate(sums, axis=1), aggregate=aggregate)


def differ(a: MetricValue, b: MetricValue) -> MetricDifference:
    """Compute the difference b minus a, with an interval and a p value if possible."""
    import numpy as np

    unit, n = a.report.unit, min(a.common, b.common)
    without = partial(MetricReport, unit=unit, n=n, stderr=None, ci95=None)
    result = partial(MetricDifference, a=a.report, b=b.report, other_metric=a.other_metric)
    value_a, value_b = a.report.value, b.report.value
    if value_a is None or value_b is None:
        reason = a.report.reason if value_a is None else b.report.reason
        return result(difference=without(value=None, reason=reason), method="none")
    has_sums = a.sums is not None and b.sums is not None
    parts_a, parts_b = (a.sums, b.sums) if has_sums else (a.influence, b.influence)
    if parts_a is None or parts_b is None:
        reason = _why_no_interval(a, b)
        return result(difference=without(value=value_b - value_a, reason=reason), method="none")
    if not np.isin(parts_a.cluster, parts_b.cluster).any():
        reason = "no paired interval: the metric uses different samples on each side"
        return result(difference=without(value=value_b - value_a, reason=reason), method="none")
    if isinstance(parts_a, Sums) and isinstance(parts_b, Sums):
        difference = stats.difference(parts_a, parts_b, n=n, unit=unit)
    else:
        difference = stats.difference_by_intervals(_estimate(a), _estimate(b), n=n)
    error = difference.estimate.stderr
    return result(
        difference=_within(metric_report(difference.estimate)),
        method=difference.method,
        p=difference.p,
        detectable=None if error is None else stats.detectable(error),
    )


def _why_no_interval(a: MetricValue, b: MetricValue) -> str:
    """Why there is no paired interval: the reason for which a side has no interval, if there is
    one."""
    reasons = [side.report.reason for side in (a, b) if side.report.ci95 is None]
    known = next(filter(None, reasons), None)
    return NO_SUMS if known is None else f"no paired interval: {known}"


def _estimate(metric: MetricValue) -> Estimate:
    """A metric with its own interval and its influences, as an estimate."""
    report = metric.report
    return Estimate(
        value=report.value,
        unit=report.unit,
        n=report.n,
        ci95=report.ci95,
        influence=metric.influence,
    )


def _within(difference: MetricReport) -> MetricReport:
    """Limit the interval of a difference between fractions to [-1, 1]."""
    if difference.ci95 is None or difference.unit != "fraction":
        return difference
    low, high = difference.ci95
    return with_fields(difference, ci95=(max(low, -1.0), min(high, 1.0)))


def with_adjusted_p(differences: dict[str, MetricDifference]) -> dict[str, MetricDifference]:
    """Adjust the p values of these differences by Holm's method, as one family of tests. If there
    is only one p value, it is not adjusted."""
    tested = {
        name: difference.p for name, difference in differences.items() if difference.p is not None
    }
    if len(tested) < 2:
        return differences
    ps = dict(zip(tested, stats.holm([*tested.values()]), strict=True))
    return {
        name: with_fields(difference, adjusted=ps[name]) if name in ps else difference
        for name, difference in differences.items()
    }
