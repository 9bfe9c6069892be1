"""Compares the runs of a benchmark by their headline metric."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.analysis.result import Result, metric_label
from snellen.metrics import Direction
from snellen.scoring import MetricReport
from snellen.view.runs import Listed


class Board:
    """The runs of one benchmark, and the positions of their dots and intervals in the benchmark's
    chart. The best run comes first, and runs with missing or fewer replies come after complete
    runs, since their values are about fewer questions. If it is unknown whether higher is better,
    the runs are sorted by name."""

    def __init__(self, benchmark: str, runs: Sequence[Listed]) -> None:
        self.benchmark = benchmark
        self.metric = ""
        self.direction: Direction | None = None
        self._values: dict[str, MetricReport] = {}
        for run in runs:
            if run.result is not None and (metric := headline(run.result)) is not None:
                self.metric = self.metric or metric_label(metric[0], metric[1].better)
                self.direction = self.direction or metric[1].better
                self._values[run.name] = metric[1]
        self.runs = sorted(runs, key=self._order)
        ends = [
            end
            for report in self._values.values()
            for end in (report.value, *(report.ci95 or ()))
            if end is not None
        ]
        fraction = all(report.unit == "fraction" for report in self._values.values())
        self.low: float = 0.0 if fraction else min(ends, default=0.0)
        self.high: float = 1.0 if fraction else max(ends, default=1.0)

    def _order(self, run: Listed) -> tuple[bool, bool, float, str]:
        value = self._values[run.name].value if run.name in self._values else None
        sign = {"higher": -1, "lower": 1, None: 0}[self.direction]
        report = None if run.result is None else run.result.report
        is_short = report is not None and (report.incomplete or report.asked_of is not None)
        return value is None, bool(sign) and is_short, sign * (value or 0.0), run.name

    def value(self, run: Listed) -> MetricReport | None:
        return self._values.get(run.name)

    def x(self, value: float) -> float:
        """The horizontal position of a value in a chart that is 200 units wide."""
        span = (self.high - self.low) or 1.0
        return round(4 + 192 * min(1.0, max(0.0, (value - self.low) / span)), 1)


def headline(result: Result | None) -> tuple[str, MetricReport] | None:
    """The first metric of the headline scoring. None if no scoring parses the replies."""
    if result is None or result.report.headline not in result.report.scorings:
        return None
    metrics = result.scoring().metrics
    return next(iter(metrics.items()), None)
