"""Prepares tables of several results, and the names that distinguish the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from snellen.analysis.capabilities import over
from snellen.analysis.comparing import benchmark_names, side_names
from snellen.analysis.fronts import front_lines
from snellen.analysis.result import Result, category_metrics, metric_label, shown
from snellen.data.mismatches import is_mismatch
from snellen.registry import BUNDLED, is_bundled
from snellen.report.run_facts import in_words
from snellen.report.table_rows import EMPTY, category_label, probe_title
from snellen.scoring import SOURCE_CHANGED, SOURCE_DIFFERS, MetricReport
from snellen.scoring.sections.cost import cost_texts

OVERVIEW = (
    *("benchmark", "model", "n", "metric", "value", "95 % interval"),
    *("failed", "not judged", "unparsed", "cost/question", "median time", "run", "remark"),
)
CAPABILITIES = ("model", "capability", "mean score", "95 % interval", "n", "benchmarks", "remark")


class ResultName(NamedTuple):
    """The names that distinguish a result from others."""

    benchmark: str
    """The benchmark's name, with the options that distinguish its data."""
    model: str
    """The model's name, with the settings that distinguish its run."""


class ResultSide(NamedTuple):
    """A result as a side of a comparison. The side's name is derived from these fields."""

    model: str
    """The model's name."""
    identity: Mapping[str, Any]
    """The run's identity: which questions the run asked, and how."""
    where: str
    """The path of the run folder or of the file of predictions."""

    @classmethod
    def of(cls, result: Result) -> ResultSide:
        where = "" if result.run is None else str(result.run)
        return cls(names(result)[1], result.report.identity, where)


def title(result: Result) -> str:
    """The heading of a result: `eyechart × baseline/reader`, `MMStar (vlmevalkit) × openai/m`."""
    return " × ".join(names(result))


def names(result: Result) -> tuple[str, str]:
    """The names of the benchmark and the model: `MMStar (vlmevalkit)`, `openai/m`."""
    report = result.report
    name = report.identity.get("options", {}).get("name")
    benchmark = f"{name} ({report.benchmark})" if name else report.benchmark
    if report.identity.get("benchmark_object"):  # its name is also one of the catalog's
        benchmark += " (Python object)"
    return benchmark, report.model or "replies from a file"


def distinct_names(results: Sequence[Result]) -> list[ResultName]:
    """The names that distinguish each result from the other results. A name consists of the
    benchmark, with the options that distinguish its data, and of the model, with the settings that
    distinguish its runs."""
    groups: dict[tuple[str, str], list[int]] = {}
    for row, result in enumerate(results):
        identity = result.report.identity
        digest = (identity.get("data") or {}).get("digest")
        groups.setdefault((names(result)[0], digest or in_words(_options(result))), []).append(row)
    sides = [[ResultSide.of(results[row]) for row in group] for group in groups.values()]
    benchmarks = benchmark_names(sides, [name for name, _ in groups])
    by_row = {
        row: ResultName(benchmark, model)
        for benchmark, group, models in zip(
            benchmarks, groups.values(), side_names(sides), strict=True
        )
        for row, model in zip(group, models, strict=True)
    }
    return [by_row[row] for row in range(len(results))]


def titles(results: Sequence[Result]) -> list[str]:
    """The headings of several results: `eyechart × baseline/reader (max_side=168)`."""
    return [" × ".join(name) for name in distinct_names(results)]


def by_benchmark(results: Sequence[Result]) -> dict[str, dict[str, Result]]:
    """The results in a nested mapping: by the name of the benchmark, then by the name of the model.
    The names come from `distinct_names`."""
    results_by_benchmark: dict[str, dict[str, Result]] = {}
    for name, result in zip(distinct_names(results), results, strict=True):
        results_by_benchmark.setdefault(name.benchmark, {})[name.model] = result
    return results_by_benchmark


def by_model(results: Sequence[Result]) -> dict[str, dict[str, Result]]:
    """The results in a nested mapping: by the name of the model, then by the name of the benchmark.
    The names come from `distinct_names`."""
    results_by_model: dict[str, dict[str, Result]] = {}
    for name, result in zip(distinct_names(results), results, strict=True):
        results_by_model.setdefault(name.model, {})[name.benchmark] = result
    return results_by_model


def overview(results: Sequence[Result]) -> list[Sequence[str]]:
    """The headings, then a row for each result with the first metric of its headline scoring.

    There is a column for the run's name only if the benchmark and the model do not distinguish the
    rows. Three other columns are present only if a result has a value for them: the number of
    replies that are not judged, the cost per question, and the median time of a request.
    """
    costs = [cost_texts(result.report.spent) for result in results]
    rows = [
        OVERVIEW,
        *(
            (*name, *_overview_row(result, cells))
            for name, result, cells in zip(distinct_names(results), results, costs, strict=True)
        ),
    ]
    left_out = set()
    if len({names(result) for result in results}) == len(results):
        left_out.add("run")
    if not any(result.counts.not_judged for result in results):
        left_out.add("not judged")
    if not any(cost for cost, _ in costs):
        left_out.add("cost/question")
    if not any(time for _, time in costs):
        left_out.add("median time")
    kept = [column for column, name in enumerate(OVERVIEW) if name not in left_out]
    return [[row[column] for column in kept] for row in rows]


def _overview_row(result: Result, cost: tuple[str, str]) -> tuple[str, ...]:
    counts = result.counts
    metric, cells = "", EMPTY
    if result.report.scorings:  # empty if no scoring handles the run's kind of reply
        metric = result.headline_label
        cells = shown(result.headline)
    return (
        f"{counts.n:,}",
        metric,
        cells.value,
        cells.interval,
        f"{counts.failed:,}",
        f"{counts.not_judged:,}",
        f"{counts.unparsed:,}",
        *cost,
        "" if result.run is None else result.run.name,
        "; ".join(remarks_of(result)),
    )


def remarks_of(result: Result) -> list[str]:
    """Remarks that a reader needs in addition to a result's numbers: the remarks from `short_of`,
    why the headline has no value, and how many targets are hidden."""
    notes = short_of(result)
    if result.report.scorings and result.headline.value is None:
        notes.append(result.headline.reason or "")
    if result.counts.hidden:
        notes.append(f"{result.counts.hidden:,} targets are hidden")
    return notes


def shared_remarks(results: Sequence[Result]) -> Iterator[str]:
    """The distinct remarks on several results. Each remark begins with the names of the benchmarks
    or models that it applies to, unless it applies to all results."""
    names_by_remark: dict[str, list[ResultName]] = {}
    every = distinct_names(results)
    for name, result in zip(every, results, strict=True):
        for remark in remarks_of(result):
            names_by_remark.setdefault(remark, []).append(name)
    for remark, names in names_by_remark.items():
        if len(names) == len(every):
            yield remark
            continue
        others = [name for name in every if name not in names]
        benchmarks = {name.benchmark for name in names} - {name.benchmark for name in others}
        models = {name.model for name in names} - {name.model for name in others}
        texts = (
            name.benchmark
            if name.benchmark in benchmarks
            else name.model
            if name.model in models
            else f"{name.model} on {name.benchmark}"
            for name in names
        )
        yield f"{', '.join(dict.fromkeys(texts))}: {remark}"


OTHER_SOURCE = "scored with a changed source"
OTHER_DATA = "the data are not the published data"


def short_of(result: Result, scoring: str | None = None) -> list[str]:
    """The reasons why a result is not a regular result for the full data set. A result may be
    partial, incomplete, a probe, out of date, from a changed source, from the bundled rows, or from
    data that are not the published data. The judges are those of `scoring`, or of the headline
    scoring if `scoring` is None."""
    report = result.report
    rows = report.conversations or report.n
    notes = [] if report.asked_of is None else [f"partial: {rows:,} of {report.asked_of:,}"]
    notes += [probe_title(result)] * (report.probe is not None)
    notes += ["out of date"] * bool(report.out_of_date)
    is_of_other_source = any(
        note.endswith((SOURCE_CHANGED, SOURCE_DIFFERS)) for note in report.notes
    )
    notes += [OTHER_SOURCE] * is_of_other_source
    judges = report.judged_by.get(scoring or report.headline)
    notes += [judges.remark] if judges is not None and judges.remark else []
    notes += ["incomplete"] * report.incomplete
    notes += [BUNDLED] * _bundled(result)
    return [*notes, *[OTHER_DATA] * any(map(is_mismatch, report.notes))]


def _bundled(result: Result) -> bool:
    return is_bundled(result.report.notes)


def remarks_on(of: Mapping[str, Result]) -> Iterator[str]:
    """The distinct remarks from `short_of` on a benchmark's results. Each remark begins with the
    names of the models that it applies to, unless it applies to all models."""
    models: dict[str, list[str]] = {}
    for model, result in of.items():
        counts = result.counts
        absent = f"incomplete ({counts.failed:,} failed, {counts.not_judged:,} not judged)"
        for remark in short_of(result):
            models.setdefault(absent if remark == "incomplete" else remark, []).append(model)
    for remark, sharing in models.items():
        yield remark if len(sharing) == len(of) else f"{', '.join(sharing)}: {remark}"


def by_capability(results: Sequence[Result]) -> tuple[list[Sequence[str]], list[str]]:
    """The rows of a table of capabilities, and lines about the whole table. CAPABILITIES lists the
    columns. Each model has a row for each capability that its benchmarks require. Models that were
    run on a single benchmark are left out.

    The same benchmark on different data counts as two benchmarks, and each revision of a model
    counts as a model. If a model has several results on the same data, only the result with the
    most replies counts.
    """
    models = _names_with_revisions(results)
    by_model: dict[str, dict[str, list[Result]]] = {}
    for result_name, result in zip(distinct_names(results), results, strict=True):
        of = by_model.setdefault(models[names(result)[1], _revision(result)], {})
        if not result.report.identity.get("probe"):  # the score of a probe is not a model's score
            of.setdefault(result_name.benchmark, []).append(result)
    rows: list[Sequence[str]] = []
    bundled: dict[str, bool] = {}
    incomplete: list[str] = []
    for model, benchmarks in by_model.items():
        if len(benchmarks) < 2:
            continue
        for same in benchmarks.values():
            same.sort(
                key=lambda result: (
                    result.failed - result.report.n,
                    in_words(_options(result)),
                    str(result.run),
                )
            )
        for name, (first, *_) in benchmarks.items():
            bundled[name] = bundled.get(name, False) or _bundled(first)
            if first.report.incomplete:
                absent = f"{first.failed:,} failed, {first.counts.not_judged:,} not judged"
                incomplete.append(f"{model} on {name} ({absent})")
        reports = {name: first.report for name, (first, *_) in benchmarks.items()}
        for capability in over(reports):
            cells = shown(capability.mean)
            remarks = [
                cells.remark,
                *(_counts_once(name, benchmarks[name]) for name in capability.benchmarks),
            ]
            benchmark_names = ", ".join(capability.benchmarks)
            remark = "; ".join(filter(None, remarks))
            rows.append((model, capability.leaf, *cells[:3], benchmark_names, remark))
    few = [name for name in bundled if bundled[name]]
    which = "" if len(few) == len(bundled) else f"{', '.join(few)}: "
    lines = [f"{which}{BUNDLED}"] if few else []
    if rows and incomplete:
        lines.append(f"some of these runs are incomplete: {', '.join(incomplete)}")
    if rows and (left := [model for model, of in by_model.items() if len(of) < 2]):
        lines.append(
            f"left out, with fewer than two benchmarks (not counting probes): {', '.join(left)}"
        )
    return rows, lines


def _names_with_revisions(results: Sequence[Result]) -> dict[tuple[str, str], str]:
    """The name of each model and revision. The name contains the revision if the model has results
    with several revisions."""
    pairs = dict.fromkeys((names(result)[1], _revision(result)) for result in results)
    counts = Counter(model for model, _ in pairs)
    return {
        (model, revision): f"{model} (model_revision={revision})"
        if revision and counts[model] > 1
        else model
        for model, revision in pairs
    }


def _revision(result: Result) -> str:
    identity = result.report.identity
    profile = identity.get("profile") or {}
    return str(identity.get("model_revision") or profile.get("revision") or "")


def _counts_once(name: str, results: Sequence[Result]) -> str:
    if len(results) == 1:
        return ""
    run = results[0].run
    counted = "one" if run is None else run.name
    return f"{name}: of {len(results)} runs on the same data, only {counted} counts"


def _options(result: Result) -> Mapping[str, Any]:
    options: Mapping[str, Any] = result.report.identity.get("options", {})
    return options


def fronts(results: Sequence[Result]) -> list[str]:
    """Lines about the models that no other model beats in both score and cost, or in both score and
    time."""
    return list(front_lines(by_benchmark(results)))


def how_to_show_a_run(results: Sequence[Result]) -> str:
    """A line with the command that shows a single result in full."""
    run = next((result.run for result in results if result.run is not None), None)
    such_as = "" if run is None else f": RUN is its folder, such as {run}"
    return f"`snellen report RUN` shows one run in full, with its notes{such_as}"


def grid(
    results: Sequence[Result], *, intervals: bool
) -> tuple[Sequence[str], list[Sequence[str]]] | None:
    """A table of models by benchmarks: the headings, then a row for each model. A cell contains the
    headline value and its n, such as `85.30 % (n 1,000)`. None if there is only one model or one
    benchmark."""
    benchmarks, models = by_benchmark(results), by_model(results)
    better = {
        name: next((r.headline.better for r in of.values() if r.report.scorings), None)
        for name, of in benchmarks.items()
    }
    if len(benchmarks) == 1 or len(models) == 1:
        return None

    def cell(result: Result) -> str:
        if not result.report.scorings:
            return "-"
        cells = shown(result.headline)
        interval = cells.interval if intervals else ""
        return " ".join(filter(None, (cells.value, interval, f"(n {result.counts.n:,})")))

    rows: list[Sequence[str]] = [
        [model, *(cell(of[name]) if name in of else "" for name in benchmarks)]
        for model, of in models.items()
    ]
    return ["model", *(metric_label(name, better[name]) for name in benchmarks)], rows


def by_category(result: Result, tag: str) -> Iterator[tuple[str, MetricReport]]:
    """Yield the label and the headline scoring's metric of each category of a tag. If the first
    metric counts no reply of a category, another metric is used, and the label names it."""
    scoring = result.scoring()
    for label, name in category_metrics(scoring, result.report.breakdown[tag]).items():
        if (metric := scoring.metrics.get(f"{name}/{label}")) is not None:
            yield category_label(scoring, label, name), metric


def models_by_category(
    of: Mapping[str, Result], tag: str, *, intervals: bool
) -> tuple[list[str], list[list[str]]]:
    """The headings, then a row for each category of a tag. A row shows the metric of `by_category`
    for each model whose result has a breakdown by the tag. If n differs between models, the cell
    shows every n, in the order of the models: `100/98/100`."""
    by = {
        model: {label: metric for label, metric in by_category(result, tag)}
        for model, result in of.items()
        if tag in result.report.breakdown
    }
    rows = []
    for label in dict.fromkeys(label for metrics in by.values() for label in metrics):
        cells = [shown(metrics[label]) if label in metrics else EMPTY for metrics in by.values()]
        n = "/".join(cell.n or "-" for cell in cells)
        if len(different := {cell.n for cell in cells if cell.n}) == 1:
            (n,) = different
        values = [" ".join(filter(None, cell[: 1 + intervals])) for cell in cells]
        rows.append([label, n, *values])
    return [tag, "n", *by], rows
