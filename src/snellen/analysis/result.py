"""The results that `evaluate` and `load_run` return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from snellen import registry
from snellen.analysis.samples import in_form, sample_records
from snellen.core.benchmark import Benchmark
from snellen.errors import SnellenError, StoreError, UsageError, plain, shortened
from snellen.scoring import (
    MetricReport,
    Report,
    Rules,
    ScoringReport,
    StoredWith,
    rules_of,
    stale_reasons,
    with_known_directions,
)
from snellen.stats import Direction
from snellen.store import FORMAT, REPORT, Run, is_object_run
from snellen.text.amounts import percent

MAX_ANSWER = 60
"""The maximum length, in characters, of an answer in a line of a report."""


class Counts(NamedTuple):
    """The n of a headline metric, and the numbers of replies that the metric does not include.

    Every table, plot, and page takes the n of a headline metric from this class.
    """

    n: int
    """The n of the metric, which is the number of replies (samples times repeats). If the metric
    combines several replies to each question, n is the number of questions."""
    failed: int
    """The number of questions without a reply because every request failed."""
    not_judged: int
    """The number of replies that a judge has not scored yet."""
    hidden: int
    """The number of replies to questions whose right answers are not public."""
    unparsed: int
    """The number of replies from which the scoring parsed no answer."""


class Result:
    """A report, with the run that it comes from. Printing a result shows a summary.

    `stopped` is the reason why the run ended before its last question; None if the run asked all
    questions.
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
    def headline_label(self) -> str:
        """The name of the first metric of the first scoring, as tables show it."""
        return first_label(self.scoring())

    @property
    def spec(self) -> str:
        """The benchmark's name, with the options that differ from their defaults, such as
        `eyechart:tasks=letters`. All options count as different if their defaults are unknown."""
        options = self.report.identity.get("options", {})
        if "columns" in options:  # rows of the user's own
            return self.report.benchmark
        known: Mapping[str, Any] = {}
        if not self.report.identity.get("benchmark_object"):
            with suppress(SnellenError):  # the catalog has no benchmark with this name
                known = registry.listed_options(self.report.benchmark)
        differing = [
            f"{name}={value}"
            for name, value in options.items()
            if name not in known or value != known[name]["default"]
        ]
        return f"{self.report.benchmark}{':' * bool(differing)}{','.join(differing)}"

    @property
    def counts(self) -> Counts:
        """The n of the headline metric, and the numbers of replies that the metric does not
        include. If the report has no scorings, n is 0."""
        scored = bool(self.report.scorings)
        readings = self.scoring().readings if scored else {}
        return Counts(
            n=self.headline.n if scored else 0,
            failed=self.failed,
            not_judged=readings.get("not-judged", 0),
            hidden=readings.get("no-target", 0),
            unparsed=readings.get("unparsed", 0),
        )

    @property
    def failed(self) -> int:
        """The number of questions without a reply."""
        return self.report.replies.get("failed", 0)

    def scoring(self, name: str | None = None) -> ScoringReport:
        """The report on the scoring with this name, or on the headline scoring if `name` is
        None."""
        return self.report.scorings[name or self.report.headline]

    def by(self, tag: str, scoring: str | None = None) -> dict[str, MetricReport]:
        """The first metric for each category of a tag.

        Raises:
            KeyError: the report is not broken down by that tag. The message lists the report's
                tags.
        """
        if tag not in self.report.breakdown:
            tags = ", ".join(self.report.breakdown)
            there = f"Tags: {tags}." if tags else "The report has no tags."
            raise KeyError(f"The report is not broken down by tag {tag!r}. {there}")
        metrics = self.scoring(scoring).metrics
        first = next(iter(metrics))
        return {
            label: metrics[f"{first}/{label}"]
            for label in self.report.breakdown[tag]
            if f"{first}/{label}" in metrics
        }

    def samples(self, scoring: str | None = None, *, form: str = "records") -> Any:
        """Return each reply, with its answer and its score by a scoring.

        `scoring` is a name or `all`; the default is the headline scoring. `form` is `records` (a
        list of dictionaries), `pandas`, or `polars` (a DataFrame).
        `snellen.analysis.samples.sample_records` lists the keys.

        Raises:
            UsageError: the result has no run folder, the scoring or form does not exist, or the
                package for the form is not installed.
            StoreError: the run cannot be read.
        """
        if self.run is None:
            raise UsageError(
                "This result comes from a file of predictions, so it has no run folder."
            )
        chosen = scoring or self.report.headline
        if chosen not in (*self.report.scorings, "all"):
            known = ", ".join(self.report.scorings)
            raise UsageError(f"The report has no scoring {chosen!r}. Scorings: {known}; or all.")
        return in_form(sample_records(Run(self.run), chosen), form)

    def json(self) -> str:
        """The report as one JSON document."""
        return msgspec.json.encode(self.report).decode()

    def asdict(self) -> dict[str, Any]:
        """The report as a dictionary of plain Python types, with the same content as `json`."""
        document: dict[str, Any] = msgspec.json.decode(self.json())
        return document

    def __str__(self) -> str:
        return summary(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The metrics of the headline scoring as a table, for notebooks."""
        if not self.report.scorings:
            return f"<pre>{escape(summary(self))}</pre>"
        rows = [
            (metric_label(name, metric.better), *shown(metric)[:3])
            for name, metric in self.scoring().metrics.items()
            if "/" not in name
        ]
        head = ("metric", "value", "95 % interval", "n")
        cells = [
            "".join(f"<{tag}>{escape(plain(cell))}</{tag}>" for cell in row)
            for tag, row in [("th", head), *(("td", row) for row in rows)]
        ]
        table = "".join(f"<tr>{row}</tr>" for row in cells)
        first, *_, last = summary(self).splitlines()
        return f"<p>{escape(first)}</p><table>{table}</table><p>{escape(last.strip())}</p>"


def summary(result: Result) -> str:
    """Summarize a result in a few lines of plain text: metrics with intervals and n, readings,
    replies, and notes."""
    report = result.report
    lines = [f"{report.benchmark} · {report.model or 'replies from a file'}"]
    for name, scoring in report.scorings.items():
        first = True
        for metric_name, metric in scoring.metrics.items():
            if "/" in metric_name:
                continue
            label = name if first else ""
            cells = shown(metric)
            judges = report.judged_by.get(name)
            unqualified = "" if judges is None else judges.remark
            cells_text = (
                *(cells.value, cells.interval, f"n {cells.n}"),
                *(unqualified, cells.remark),
            )
            marked = metric_label(metric_name, metric.better)
            lines.append(f"  {label:<10} {marked:<12} {'  '.join(filter(None, cells_text))}")
            first = False
        readings = ", ".join(f"{n:,} {state}" for state, n in scoring.readings.items())
        lines.append(f"  {'':<10} {'readings':<12} {readings}")
    for name, metric in () if report.probe is None else report.probe.metrics.items():
        cells = shown(metric)
        lines.append(f"  {'probe':<10} {name:<12} {cells.value}  {cells.interval}  n {cells.n}")
    if baselines := blind(report):
        lines.append(f"  {baselines}")
    replies = ", ".join(f"{n:,} {state}" for state, n in report.replies.items())
    lines.append(f"  {'replies':<10} {report.n:,}: {replies}")
    lines += [f"  note: {note}" for note in report.notes]
    if result.stopped:
        lines.append(f"  stopped: {result.stopped}")
    if result.run is not None:
        lines.append(f"  run: {result.run}")
    return "\n".join(map(plain, lines))


def metric_label(name: str, better: Direction | None) -> str:
    """A metric's name for tables and captions, with an arrow if lower values are better.

    >>> metric_label("accuracy", "higher"), metric_label("edit_distance", "lower")
    ('accuracy', 'edit_distance ↓')
    """
    return f"{name} ↓" if better == "lower" else name


class MetricText(NamedTuple):
    """A metric as text."""

    value: str
    """The value with its unit, or `-`."""
    interval: str
    """The 95 % interval; empty if there is none."""
    n: str
    """The number of replies or questions."""
    remark: str
    """The bounds of an incomplete result, and the reason why a value or interval is missing."""


def shown(metric: MetricReport) -> MetricText:
    """Format a metric as text. Fractions are shown as percentages with two decimals. Other values
    have two decimals, or four if they are below 1."""
    remark = metric.reason or ""
    if metric.value is None:
        return MetricText("-", "", f"{metric.n:,}", remark)
    fraction = metric.unit == "fraction"
    scale, unit = (100, " %") if fraction else (1, f" {metric.unit}".rstrip())
    decimals = 2 if fraction or abs(metric.value) >= 1 or metric.value == 0 else 4

    def number(value: float) -> str:
        return f"{value * scale:z,.{decimals}f}"  # z turns -0.00 into 0.00

    interval = ""
    if metric.ci95 is not None:
        interval = f"[{number(metric.ci95[0])}, {number(metric.ci95[1])}]"
    if metric.bounds is not None:
        low, high = map(number, metric.bounds)
        wrong = "if all missing and refused replies were wrong"
        bounds_text = f"{low}{unit} {wrong}, {high}{unit} if right"
        remark = f"{bounds_text}; {remark}" if remark else bounds_text
    return MetricText(f"{number(metric.value)}{unit}", interval, f"{metric.n:,}", remark)


def first_label(scoring: ScoringReport) -> str:
    """The name of a scoring's first metric, as tables show it."""
    name, metric = next(iter(scoring.metrics.items()))
    return metric_label(name, metric.better)


def category_metrics(scoring: ScoringReport, labels: Sequence[str]) -> dict[str, str]:
    """The metric by which each category is shown: the first metric that has a value there, or
    otherwise the scoring's first metric. An average over English questions, for example, has no
    value for Chinese questions. `labels` are the categories of a tag."""
    names = [name for name in scoring.metrics if "/" not in name]

    def has_value(name: str, label: str) -> bool:
        metric = scoring.metrics.get(f"{name}/{label}")
        return metric is not None and metric.value is not None

    return {
        label: next((name for name in names if has_value(name, label)), names[0])
        for label in labels
    }


def blind(report: Report) -> str:
    """Format blind baselines as text, such as `blind baselines: 25.00 % by chance, 26.67 % always
    saying 'B'`; empty if there are none. A chance level that was estimated from draws is shown as
    `about 24.31 % by chance (3 draws)`."""
    known = [f"{amount} {how}" for how, amount in baselines(report)]
    return f"blind baselines: {', '.join(known)}" if known else ""


def baselines(report: Report) -> list[tuple[str, str]]:
    """The description and the score of each blind baseline, such as (`by chance`, `25.00 %`)."""
    baseline = report.baselines
    if baseline is None:
        return []
    unit = next(iter(report.scorings[report.headline].metrics.values())).unit
    answer = "the most frequent answer"
    if baseline.answer is not None:
        answer = repr(shortened(baseline.answer, MAX_ANSWER))
    known = []
    if baseline.chance is not None:
        chance = _amount(baseline.chance, unit)
        drawn = ("by chance", chance)
        if baseline.draws:
            drawn = (f"by chance ({baseline.draws} draws)", f"about {chance}")
        known.append(drawn)
    if baseline.constant is not None:
        known.append((f"always saying {answer}", _amount(baseline.constant, unit)))
    return known


def _amount(value: float, unit: str) -> str:
    return percent(value) if unit == "fraction" else f"{value:,.2f} {unit}".rstrip()


def load_report(path: Path, benchmark: Benchmark | None = None) -> Result:
    """Load the stored report of a run. `path` is the run folder or its `report.json`. If the report
    is out of date, it gets a note that states the reason. Pass `benchmark` if the run's manifest
    does not identify the benchmark.

    Raises:
        StoreError: `path` is not a run folder, or the report cannot be read.
        UsageError: the run has not been scored.
    """
    folder = path.parent if path.name == REPORT else path
    run = Run(folder)
    manifest = run.manifest()
    raw = run.folder.get(REPORT)
    if raw is None:
        raise UsageError(f"{folder} has not been scored. Score it: `{run.command('score')}`.")
    try:
        report = msgspec.json.decode(raw, type=Report)
        stored = msgspec.json.decode(raw, type=StoredWith)
    except msgspec.DecodeError as error:
        raise StoreError(
            f"{folder / REPORT} is not a report: {error}. Write a new one with `snellen score`."
        ) from error
    if report.format > FORMAT:
        raise StoreError(
            f"{folder / REPORT} has format {report.format}, but this version of Snellen reads only "
            f"formats up to {FORMAT}. Install a newer version, or score the run with this one."
        )
    rules = _rules(manifest) if benchmark is None else rules_of(benchmark)
    reasons = stale_reasons(run, report, stored, rules)
    new = [reason for reason in reasons if reason not in report.notes]
    report = replace(report, out_of_date=reasons, notes=[*new, *report.notes])
    return Result(with_known_directions(report, rules), folder)


def _rules(manifest: Mapping[str, Any]) -> Rules | None:
    """The current rules of a run's benchmark; None if the benchmark cannot be rebuilt, or if
    rebuilding it would run a program."""
    if registry.runs_a_program(manifest):
        return None
    identity = manifest.get("identity", {})
    source = manifest.get("benchmark_source", {})
    parts = [identity.get("options", {}), identity.get("probe", {}), source]
    is_object = is_object_run(manifest)
    key = msgspec.json.encode([manifest.get("benchmark", ""), is_object, *parts])
    return _rules_by_key(key)


@lru_cache(maxsize=512)
def _rules_by_key(key: bytes) -> Rules | None:
    """The rules of the benchmark that the JSON text `key` identifies. The rules are cached, since
    many runs share a benchmark, and building a benchmark takes milliseconds."""
    name, is_object, options, probe, source = msgspec.json.decode(key)
    manifest = {
        "benchmark": name,
        "benchmark_object": is_object,
        "benchmark_source": source,
        "identity": {"options": options, "probe": probe},
    }
    try:
        return rules_of(registry.of_run(manifest))
    except (SnellenError, AttributeError, KeyError, TypeError, ValueError):
        return None
