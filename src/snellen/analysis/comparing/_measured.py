"""What a scoring's metrics are on paired rows alone, and how far two sides differ in them."""

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
from snellen.analysis.comparing._pairing import Paired
from snellen.analysis.comparing.sides import Loaded
from snellen.metrics import Columns, Direction
from snellen.scoring import MetricReport, averaged, metric_report
from snellen.stats import Estimate, Sums

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_SUMS = "no paired interval: this metric is no function of sums over clusters"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A metric of one side's paired rows, and how it follows from clusters, where it does."""

    report: MetricReport
    sums: Sums | None


class View:
    """One side's paired rows: what every metric of its scoring is of them, each found once."""

    def __init__(self, side: Loaded, paired: Paired, number: int) -> None:
        self._side = side
        self._scoring = side.benchmark.scorings[side.scoring]
        self._mask = paired.rows[number]
        self._slots = [
            _columns(
                replace(one.columns, cluster=paired.cluster[number]),
                self._mask,
                paired.unscored[number],
            )
            for one in side.rows
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
    def headline(self) -> Measured:
        """The first metric of all rows."""
        return _measured([self._scoring.metrics[self.first](one) for one in self._slots])

    @cached_property
    def whole(self) -> Mapping[str, Measured]:
        """Every metric of all rows."""
        found = {self.first: self.headline}
        for name, metric in self._scoring.metrics.items():
            if name != self.first:
                found[name] = _measured([metric(one) for one in self._slots])
        if self._scoring.extra_metrics is not None:
            every = [self._scoring.extra_metrics(columns) for columns in self._slots]
            for name in every[0]:
                found[name] = _measured([one[name] for one in every if name in one])
        return found

    @cached_property
    def breakdown(self) -> Mapping[str, Mapping[str, Measured]]:
        """The first metric for each category of each tag; what it is not about is left out."""
        return {
            tag: dict(self._categories(tag))
            for tag in self._side.benchmark.presentation.break_down_by
        }

    def _categories(self, tag: str) -> Iterator[tuple[str, Measured]]:
        metric = self._scoring.metrics[self.first]
        for name in sorted(filter(None, self._slots[0].tags[tag].names)):
            parts = [columns.tagged(tag, (name,)) for columns in self._slots]
            estimates = [metric(part) for part in parts if part.n]
            if estimates and estimates[0].n:
                yield name, _measured(estimates)

    @cached_property
    def capabilities(self) -> Mapping[str, Measured]:
        """The mean score for each leaf, as a share of the best."""
        leaves, best = self._side.leaves, self._scoring.best
        if leaves is None or self._slots[0].score is None:
            return {}
        codes = leaves.codes[self._mask]
        return {
            leaf: _measured([_share(one, codes == code, best) for one in self._slots])
            for code, leaf in enumerate(leaves.names)
            if (codes == code).any()
        }

    def single(self) -> tuple[NDArray[np.float64], NDArray[np.int32]] | None:
        """The scores (n,) and the samples that they are of, where each is 0 or 1 and a sample's
        only one, and 1 is right; else None. That 1 is right is known where higher is better."""
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
    """The views of sides that were made so far: two pairs often have the same rows of a side."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, bytes], View] = {}

    def of(self, sides: Sequence[Loaded], paired: Paired) -> list[View]:
        """Each side's view of the samples that are paired."""
        found = []
        for number, side in enumerate(sides):
            rows = (paired.rows[number], paired.unscored[number], paired.cluster[number])
            key = id(side), blake2b(b"".join(one.tobytes() for one in rows)).digest()
            if key not in self._made:
                self._made[key] = View(side, paired, number)
            found.append(self._made[key])
        return found


def _share(columns: Columns, of: NDArray[np.bool_], best: float) -> Estimate:
    """The mean score of some rows as a share of the best."""
    assert columns.score is not None
    return stats.mean(columns.score[of] / best, columns.cluster[of])


def _columns(every: Columns, counted: NDArray[np.bool_], unscored: NDArray[np.bool_]) -> Columns:
    found = every if counted.all() else every.where(counted)
    return replace(found, unscored=every.where(unscored)) if unscored.any() else found


def _measured(slots: Sequence[Estimate]) -> Measured:
    """A metric, of several judges' verdicts the mean of what it is by each alone."""
    report = averaged([{"": metric_report(one)} for one in slots])[""]
    sums = [one.sums for one in slots if one.sums is not None]
    if len(sums) < len(slots):
        return Measured(report=report, sums=None)
    return Measured(report=report, sums=sums[0] if len(sums) == 1 else _mean_of(sums))


def _mean_of(every: Sequence[Sums]) -> Sums:
    """The mean of several metrics of the same clusters."""
    import numpy as np

    clusters = np.unique(np.concatenate([one.cluster for one in every]))
    sums = [np.zeros((len(clusters), one.sums.shape[1])) for one in every]
    for of, one in zip(sums, every, strict=True):
        of[np.searchsorted(clusters, one.cluster)] = one.sums
    ends = [0, *np.cumsum([one.shape[1] for one in sums]).tolist()]

    def aggregate(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        values = [
            one.aggregate(totals[:, start:end])
            for one, (start, end) in zip(every, pairwise(ends), strict=True)
        ]
        found: NDArray[np.float64] = np.mean(values, axis=0)
        return found

    return Sums(cluster=clusters, sums=np.concatenate(sums, axis=1), aggregate=aggregate)


def differ(a: Measured, b: Measured) -> MetricDifference:
    """b less a, with its interval and p where they can be had."""
    import numpy as np

    unit, n = a.report.unit, min(a.report.n, b.report.n)
    without = partial(MetricReport, unit=unit, n=n, stderr=None, ci95=None)
    made = partial(MetricDifference, a=a.report, b=b.report)
    one, other = a.report.value, b.report.value
    if one is None or other is None:
        reason = a.report.reason if one is None else b.report.reason
        return made(difference=without(value=None, reason=reason), method="none")
    if a.sums is None or b.sums is None:
        return made(difference=without(value=other - one, reason=NO_SUMS), method="none")
    if not np.isin(a.sums.cluster, b.sums.cluster).any():
        reason = "no paired interval: it is of other samples on each side"
        return made(difference=without(value=other - one, reason=reason), method="none")
    found = stats.difference(a.sums, b.sums, n=n, unit=unit)
    error = found.estimate.stderr
    return made(
        difference=_within(metric_report(found.estimate)),
        method=found.method,
        p=found.p,
        detectable=None if error is None else stats.detectable(error),
    )


def _within(difference: MetricReport) -> MetricReport:
    """A difference of fractions, whose interval ends where they do."""
    if difference.ci95 is None or difference.unit != "fraction":
        return difference
    low, high = difference.ci95
    return with_fields(difference, ci95=(max(low, -1.0), min(high, 1.0)))


def adjusted(found: dict[str, MetricDifference]) -> dict[str, MetricDifference]:
    """The same with p values by Holm over all of them; as they are where there is one alone."""
    tested = {name: one.p for name, one in found.items() if one.p is not None}
    if len(tested) < 2:
        return found
    ps = dict(zip(tested, stats.holm([*tested.values()]), strict=True))
    return {
        name: with_fields(one, adjusted=ps[name]) if name in ps else one
        for name, one in found.items()
    }
