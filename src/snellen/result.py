"""What `evaluate` and `load_run` give back."""

from __future__ import annotations

from pathlib import Path

import msgspec

from snellen.scoring import MetricReport, Report, ScoringReport
from snellen.store import REPORT, Run


class Result:
    """A report with the run it came from; prints itself.

    `stopped` says in words why the run ended before its last question, None when it did not.
    """

    def __init__(self, report: Report, run: Path | None = None, stopped: str | None = None) -> None:
        self.report = report
        self.run = run
        self.stopped = stopped

    @property
    def headline(self) -> MetricReport:
        """The first metric of the first scoring."""
        metrics = self.scoring().metrics
        return next(iter(metrics.values()))

    @property
    def failed(self) -> int:
        """How many questions have no reply."""
        return self.report.replies.get("failed", 0)

    def scoring(self, name: str | None = None) -> ScoringReport:
        """One scoring's metrics and readings; the headline's without a name."""
        return self.report.scorings[name or self.report.headline]

    def by(self, tag: str, scoring: str | None = None) -> dict[str, MetricReport]:
        """The first metric for each category of a tag, by category.

        Raises:
            KeyError: the benchmark is not broken down by that tag; names those that there are.
        """
        if tag not in self.report.breakdown:
            raise KeyError(f"no tag {tag!r}; there are {', '.join(self.report.breakdown)}")
        metrics = self.scoring(scoring).metrics
        first = next(iter(metrics))
        return {
            label: metrics[f"{first}/{label}"]
            for label in self.report.breakdown[tag]
            if f"{first}/{label}" in metrics
        }

    def json(self) -> bytes:
        """The report as one JSON document."""
        return msgspec.json.encode(self.report)

    def __str__(self) -> str:
        return summary(self)


def summary(result: Result) -> str:
    """A result in a few plain lines: headline, interval, n, what failed and what could not be
    read."""
    report = result.report
    lines = [f"{report.benchmark} · {report.model or 'replies from a file'}"]
    for name, scoring in report.scorings.items():
        first = True
        for metric, found in scoring.metrics.items():
            if "/" in metric:
                continue
            label = name if first else ""
            lines.append(f"  {label:<10} {metric:<12} {shown(found)}")
            first = False
        readings = ", ".join(f"{n:,} {state}" for state, n in scoring.readings.items())
        lines.append(f"  {'':<10} {'readings':<12} {readings}")
    replies = ", ".join(f"{n:,} {state}" for state, n in report.replies.items())
    lines.append(f"  {'replies':<10} {report.n:,}: {replies}")
    lines += [f"  note: {note}" for note in report.notes]
    if result.stopped:
        lines.append(f"  stopped: {result.stopped}")
    if result.run is not None:
        lines.append(f"  run: {result.run}")
    return "\n".join(lines)


def shown(metric: MetricReport) -> str:
    """A metric's value with its interval and n; fractions as percentages."""
    if metric.value is None:
        return f"- ({metric.reason})"
    scale, unit = (100.0, " %") if metric.unit == "fraction" else (1.0, f" {metric.unit}")
    text = f"{metric.value * scale:.2f}{unit}"
    if metric.ci95 is not None:
        text += f"  [{metric.ci95[0] * scale:.2f}, {metric.ci95[1] * scale:.2f}]"
    text += f"  n {metric.n:,}"
    if metric.bounds is not None:
        low, high = (f"{bound * scale:.2f}" for bound in metric.bounds)
        text += f"  between {low} and {high} if all were known"
    if metric.ci95 is None and metric.reason:
        text += f"  ({metric.reason})"
    return text


def load_report(path: Path) -> Result:
    """The stored report of a run folder, or of a `report.json`.

    Raises:
        StoreError: it is no run folder. UsageError: the run has not been scored.
    """
    from snellen.errors import StoreError, UsageError

    folder = path.parent if path.name == REPORT else path
    run = Run(folder)
    run.manifest()
    raw = run.folder.get(REPORT)
    if raw is None:
        raise UsageError(f"{folder} has not been scored: `snellen score {folder}` does it.")
    try:
        return Result(msgspec.json.decode(raw, type=Report), folder)
    except msgspec.DecodeError as error:
        raise StoreError(
            f"{folder / REPORT} is not a report: {error}. `snellen score` makes it anew."
        ) from error
