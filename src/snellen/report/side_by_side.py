"""Several results side by side: what each is called, and the tables that hold them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from snellen.analysis.capabilities import over
from snellen.analysis.comparing import benchmark_names, side_names
from snellen.analysis.result import Result, shown
from snellen.registry import BUNDLED
from snellen.report.run_facts import in_words
from snellen.report.table_rows import EMPTY, probe_title
from snellen.scoring import SOURCE_CHANGED, SOURCE_DIFFERS

OVERVIEW = (
    *("benchmark", "model", "n", "metric", "value", "95 % interval"),
    *("failed", "not judged", "unparsed", "run", "remark"),
)
CAPABILITIES = ("model", "capability", "mean score", "95 % interval", "n", "benchmarks", "remark")


class ResultName(NamedTuple):
    """What a result is called among others: what was asked, and who."""

    benchmark: str
    model: str


class ResultSide(NamedTuple):
    """What `comparing` names a result by."""

    model: str
    identity: Mapping[str, Any]
    where: str

    @classmethod
    def of(cls, result: Result) -> ResultSide:
        where = "" if result.run is None else str(result.run)
        return cls(names(result)[1], result.report.identity, where)


def title(result: Result) -> str:
    """`eyechart × baseline/reader`, `MMStar (vlmevalkit) × openai/m`"""
    return " × ".join(names(result))


def names(result: Result) -> tuple[str, str]:
    """What is asked, and who: `MMStar (vlmevalkit)`, `openai/m`"""
    report = result.report
    name = report.identity.get("options", {}).get("name")
    benchmark = f"{name} ({report.benchmark})" if name else report.benchmark
    if report.identity.get("benchmark_object"):  # its name is also one of the catalog's
        benchmark += " (Python object)"
    return benchmark, report.model or "replies from a file"


def distinct_names(results: Sequence[Result]) -> list[ResultName]:
    """What each result is called among the others: the benchmark with the options that tell its
    data from others of that name, and the model with the settings that tell its runs apart."""
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
    """What sections of several results are headed: `eyechart × baseline/reader (max_side=168)`"""
    return [" × ".join(name) for name in distinct_names(results)]


def by_benchmark(results: Sequence[Result]) -> dict[str, dict[str, Result]]:
    """For each benchmark its results by model, both named as `distinct_names` names them."""
    found: dict[str, dict[str, Result]] = {}
    for name, result in zip(distinct_names(results), results, strict=True):
        found.setdefault(name.benchmark, {})[name.model] = result
    return found


def by_model(results: Sequence[Result]) -> dict[str, dict[str, Result]]:
    """For each model its results by benchmark, both named as `distinct_names` names them."""
    found: dict[str, dict[str, Result]] = {}
    for name, result in zip(distinct_names(results), results, strict=True):
        found.setdefault(name.model, {})[name.benchmark] = result
    return found


def overview(results: Sequence[Result]) -> list[Sequence[str]]:
    """Headings, and a row for each result with the first metric of its headline scoring. The run's
    own name is there only where benchmark and model alone do not tell the rows apart, the number of
    replies that are not judged only where there are any."""
    rows = [
        OVERVIEW,
        *(
            (*name, *_overview_row(one))
            for name, one in zip(distinct_names(results), results, strict=True)
        ),
    ]
    left_out = set()
    if len({names(result) for result in results}) == len(results):
        left_out.add("run")
    if not any(result.counts.not_judged for result in results):
        left_out.add("not judged")
    kept = [column for column, name in enumerate(OVERVIEW) if name not in left_out]
    return [[row[column] for column in kept] for row in rows]


def _overview_row(result: Result) -> tuple[str, ...]:
    counts = result.counts
    notes = short_of(result)
    metric, cells = "", EMPTY
    if result.report.scorings:  # none where the run asked for what none of them reads
        metric = next(iter(result.scoring().metrics))
        cells = shown(result.headline)
        if result.headline.value is None:
            notes.append(result.headline.reason or "")
    if counts.hidden:
        notes.append(f"{counts.hidden:,} targets are hidden")
    return (
        f"{counts.n:,}",
        metric,
        cells.value,
        cells.interval,
        f"{counts.failed:,}",
        f"{counts.not_judged:,}",
        f"{counts.unparsed:,}",
        "" if result.run is None else result.run.name,
        "; ".join(notes),
    )


OTHER_SOURCE = "scored by another source than asked"


def short_of(result: Result) -> list[str]:
    """What keeps a result from being one of the whole data set, as the benchmark asks it."""
    report = result.report
    rows = report.conversations or report.n
    notes = [] if report.asked_of is None else [f"partial: {rows:,} of {report.asked_of:,}"]
    notes += [probe_title(result)] * (report.probe is not None)
    notes += ["out of date"] * bool(report.out_of_date)
    is_of_other_source = any(
        note.endswith((SOURCE_CHANGED, SOURCE_DIFFERS)) for note in report.notes
    )
    notes += [OTHER_SOURCE] * is_of_other_source
    return [*notes, *["incomplete"] * report.incomplete, *[BUNDLED] * _bundled(result)]


def _bundled(result: Result) -> bool:
    return BUNDLED in result.report.notes


def remarks_on(of: Mapping[str, Result]) -> Iterator[str]:
    """What keeps results on one benchmark, by model, from being complete; a remark that all share
    has no names."""
    models: dict[str, list[str]] = {}
    for model, result in of.items():
        counts = result.counts
        absent = f"incomplete ({counts.failed:,} failed, {counts.not_judged:,} not judged)"
        for remark in short_of(result):
            models.setdefault(absent if remark == "incomplete" else remark, []).append(model)
    for remark, sharing in models.items():
        yield remark if len(sharing) == len(of) else f"{', '.join(sharing)}: {remark}"


def by_capability(results: Sequence[Result]) -> tuple[list[Sequence[str]], list[str]]:
    """A row under CAPABILITIES for each leaf that the benchmarks of a model ask for, none for a
    model with one benchmark; and what must be said of them all.

    Other data are another benchmark; of several results on the same data the first one counts,
    which has most replies, whatever their order here.
    """
    by_model: dict[str, dict[str, list[Result]]] = {}
    for named, result in zip(distinct_names(results), results, strict=True):
        of = by_model.setdefault(names(result)[1], {})
        if not result.report.identity.get("probe"):  # a probe's score is none of the model's
            of.setdefault(named.benchmark, []).append(result)
    rows: list[Sequence[str]] = []
    bundled: dict[str, bool] = {}
    incomplete: list[str] = []
    for model, benchmarks in by_model.items():
        if len(benchmarks) < 2:
            continue
        for same in benchmarks.values():
            same.sort(
                key=lambda one: (one.failed - one.report.n, in_words(_options(one)), str(one.run))
            )
        for name, (first, *_) in benchmarks.items():
            bundled[name] = bundled.get(name, False) or _bundled(first)
            if first.report.incomplete:
                absent = f"{first.failed:,} failed, {first.counts.not_judged:,} not judged"
                incomplete.append(f"{model} on {name} ({absent})")
        for one in over({name: first.report for name, (first, *_) in benchmarks.items()}):
            cells = shown(one.mean)
            remarks = [
                cells.remark,
                *(_counts_once(name, benchmarks[name]) for name in one.benchmarks),
            ]
            asked, remark = ", ".join(one.benchmarks), "; ".join(filter(None, remarks))
            rows.append((model, one.leaf, *cells[:3], asked, remark))
    few = [name for name in bundled if bundled[name]]
    which = "" if len(few) == len(bundled) else f"{', '.join(few)}: "
    said = [f"{which}{BUNDLED}"] if few else []
    if rows and incomplete:
        said.append(f"some of these runs are incomplete: {', '.join(incomplete)}")
    if rows and (left := [model for model, of in by_model.items() if len(of) < 2]):
        said.append(f"left out, with fewer than two benchmarks (probes aside): {', '.join(left)}")
    return rows, said


def _counts_once(name: str, results: Sequence[Result]) -> str:
    if len(results) == 1:
        return ""
    run = results[0].run
    one = "one" if run is None else run.name
    return f"{name}: of {len(results)} runs on the same data only {one} counts"


def _options(result: Result) -> Mapping[str, Any]:
    options: Mapping[str, Any] = result.report.identity.get("options", {})
    return options


def how_to_see_one(results: Sequence[Result]) -> str:
    """The command that shows one of several results whole."""
    run = next((result.run for result in results if result.run is not None), None)
    such_as = "" if run is None else f": RUN is its folder, such as {run}"
    return f"`snellen report RUN` shows one whole, with its notes{such_as}"


def grid(
    results: Sequence[Result], *, intervals: bool
) -> tuple[Sequence[str], list[Sequence[str]]] | None:
    """Models by benchmarks: headings, and a row for each model with its headline values, each with
    its n: `85.30 % (n 1,000)`. None where there is one of either."""
    benchmarks, models = by_benchmark(results), by_model(results)
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
    return ["model", *benchmarks], rows


def models_by_category(
    of: Mapping[str, Result], tag: str, *, intervals: bool
) -> tuple[list[str], list[list[str]]]:
    """Headings, and a row for each category of a tag with the first metric of each model that is
    broken down by it. Where their n differ there is one for each model, in the order of the
    columns: `100/98/100`."""
    by = {model: one.by(tag) for model, one in of.items() if tag in one.report.breakdown}
    rows = []
    for label in dict.fromkeys(label for found in by.values() for label in found):
        cells = [shown(found[label]) if label in found else EMPTY for found in by.values()]
        n = "/".join(cell.n or "-" for cell in cells)
        if len(different := {cell.n for cell in cells if cell.n}) == 1:
            (n,) = different
        said = [" ".join(filter(None, cell[: 1 + intervals])) for cell in cells]
        rows.append([label, n, *said])
    return [tag, "n", *by], rows
