"""What every report says, in plain text and once; each format lays it out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from snellen.analysis.capabilities import over
from snellen.analysis.comparing import benchmark_names, side_names
from snellen.analysis.result import Result, Shown, duration, money, percent, shown
from snellen.registry import BUNDLED
from snellen.report.ladder import ladder, number
from snellen.scoring import (
    Disagreement,
    JudgeReport,
    MetricReport,
    SliceReport,
    Spent,
    SteeringReport,
)

HEADINGS = ("scoring", "metric", "value", "95 % interval", "n", "remark")
OVERVIEW = (
    *("benchmark", "model", "n", "metric", "value", "95 % interval"),
    *("failed", "not judged", "unparsed", "run", "remark"),
)
CAPABILITIES = ("model", "capability", "mean score", "95 % interval", "n", "benchmarks", "remark")
SLICES = {
    "answer_place": "place of the right answer",
    "picture_size": "size of the largest picture",
    "question_words": "length of the question",
    "pictures": "number of pictures",
}
SLICE = ("bin", "mean score", "95 % interval", "n", "remark")
STEERING = (
    *("attempt", "wrong to right", "95 % interval", "n"),
    *("right to wrong", "n", "change", "95 % interval", "remark"),
)
NAMES = (
    *("model", "against", "capability", "metric", "benchmark", "benchmarks", "run", "remark"),
    *("groups", "where", "setting", "with"),
)
"""Headings of columns of words, beside the first."""
PLACES = (
    *("place", "picked", "95 % interval", "expected", "accuracy where right", "95 % interval"),
    *("n", "remark"),
)
COUNTED = (
    ("right", "scored", "questions are answered right blind"),
    ("complete", "questions", "questions have a score in each of their passes: these count here"),
)
"""Counts of a probe, of which others they are a part, and in words."""
EMPTY = Shown("", "", "", "")


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
        groups.setdefault((names(result)[0], digest or _words(_options(result))), []).append(row)
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


def short_of(result: Result) -> list[str]:
    """What keeps a result from being one of the whole data set, as the benchmark asks it."""
    report = result.report
    rows = report.conversations or report.n
    notes = [] if report.asked_of is None else [f"partial: {rows:,} of {report.asked_of:,}"]
    notes += [probe_title(result)] * (report.probe is not None)
    notes += ["out of date"] * bool(report.out_of_date)
    return [*notes, *["incomplete"] * report.incomplete, *[BUNDLED] * _bundled(result)]


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


def _bundled(result: Result) -> bool:
    return BUNDLED in result.report.notes


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
                key=lambda one: (one.failed - one.report.n, _words(_options(one)), str(one.run))
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


def headline_rows(result: Result) -> Iterator[tuple[str, ...]]:
    """A row under HEADINGS for each metric of the whole set; the headline's come first."""
    for name, scoring in result.report.scorings.items():
        for metric, found in scoring.metrics.items():
            if "/" not in metric:
                yield name, metric, *shown(found)


def repeats_title(result: Result) -> str:
    """`5 replies a question`"""
    most = max(one.most for one in result.report.repeats.values())
    return f"{most} replies a question"


def repeats_rows(result: Result) -> list[Sequence[str]]:
    """A row under HEADINGS for each metric of what was asked several times."""
    return [
        (name, metric, *shown(metric_report))
        for name, one in result.report.repeats.items()
        for metric, metric_report in one.metrics.items()
    ]


def repeats_lines(result: Result) -> Iterator[str]:
    """How alike the replies are, and for each scoring what makes the error of its mean."""
    report = result.report
    if report.alike is not None:
        yield f"{report.alike:,} samples got the same words each time"
    for name, one in report.repeats.items():
        if one.stderr_again is None or one.stderr_questions is None:
            continue
        total = one.stderr_again**2 + one.stderr_questions**2
        share = one.stderr_again**2 / total if total else 0.0
        yield (
            f"{name}: {percent(share)} of the mean's variance is the model's own: its standard "
            f"error is {one.stderr_again:.4f} if the same questions were asked again, and "
            f"{one.stderr_questions:.4f} by which questions these are"
        )


def breakdown_headings(result: Result, tag: str) -> list[str]:
    """The tag, and two columns for each scoring; n and remark are the headline scoring's."""
    pairs = ((name, "95 % interval") for name in result.report.scorings)
    return [tag, *(heading for pair in pairs for heading in pair), "n", "remark"]


def breakdown_rows(result: Result, tag: str) -> list[list[str]]:
    """A row for each category that has a value, with each scoring's first metric, as they come. A
    value whose n is not the headline's has its own: `26.67 % (n 15)`."""
    rows = []
    for label in result.report.breakdown[tag]:
        cells = []
        for scoring in result.report.scorings.values():
            found = scoring.metrics.get(f"{next(iter(scoring.metrics))}/{label}")
            cells.append(EMPTY if found is None else shown(found))
        if any(map(any, cells)):
            headline_n = cells[0].n
            values: list[str] = []
            for cell in cells:
                n = "" if cell.n == headline_n else f" (n {cell.n})"
                values += [f"{cell.value}{n}" if cell.value else "", cell.interval]
            rows.append([label, *values, *cells[0][2:]])
    return rows


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


def levels(result: Result, tag: str) -> dict[str, MetricReport]:
    """The shares right at the levels of a ladder, in their order; none where the tag is no ladder,
    or nothing of it was asked."""
    if tag not in result.report.ladders:
        return {}
    return {
        label: found
        for label, found in result.by(tag).items()
        if found.value is not None and 0 <= found.value <= 1
    }


def level_unit(name: str) -> str:
    """What a level's name says beside its number: `pixels` of `013 pixels`."""
    return name.replace(number(name), "").strip()


def threshold(result: Result, tag: str) -> tuple[str, MetricReport | None]:
    """The metric that says where on a ladder reading ends."""
    name = result.report.ladders[tag]
    return name, result.scoring().metrics.get(name)


def ladder_lines(result: Result, tag: str) -> list[str]:
    """The levels of a ladder with a bar each, and where reading ends; none where there are none."""
    of = levels(result, tag)
    if not of:
        return []
    shares = {label: found.value for label, found in of.items() if found.value is not None}
    name, end = threshold(result, tag)
    lines = ladder(shares, *((None, None) if end is None else (end.value, end.ci95)))
    if end is not None:
        cells = shown(end)
        said = " ".join(filter(None, (cells.value, cells.interval, cells.remark)))
        lines.append(f" {name} {said}")
    return lines


def slices(result: Result, *, differing: bool) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """Of each slice between whose bins the score differs, or does not: a title, and a row under
    SLICE for each bin."""
    for name, one in result.report.slices.items():
        if one.differs == differing:
            said = "" if one.adjusted is None else f": {differs(one)}"
            yield (
                f"by {SLICES.get(name, name)}{said}",
                [(label, *shown(mean)) for label, mean in one.bins.items()],
            )


def differs(one: SliceReport) -> str:
    """`the mean score differs (p 0.0012)`"""
    p = "< 0.0001" if one.adjusted is None or one.adjusted < 0.0001 else f"{one.adjusted:.2g}"
    return f"the mean score {'differs' if one.differs else 'does not differ measurably'} (p {p})"


def alike(result: Result) -> str:
    """The slices between whose bins the score was not seen to differ, in a line; "" without any."""
    names = [
        SLICES.get(name, name)
        for name, one in result.report.slices.items()
        if one.adjusted is not None and not one.differs
    ]
    return f"no difference seen by {', '.join(names)}" if names else ""


def counts(states: Mapping[str, int]) -> str:
    """`280 ok, 8 failed`"""
    return ", ".join(f"{n:,} {state}" for state, n in states.items()) or "none"


def differ(one: Disagreement) -> str:
    """`official and robust score 12 replies differently, such as those to 7, 31`"""
    which = (
        "1 reply differently, that"
        if one.n == 1
        else f"{one.n:,} replies differently, such as those"
    )
    return f"{one.scorings[0]} and {one.scorings[1]} score {which} to {', '.join(one.examples)}"


def without_remarks(
    headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[Sequence[str], Sequence[Sequence[str]], list[str]]:
    """A table whose rows share their remarks, but for numbers, without them, and what they say
    once; any other as it is."""
    if headings[-1] != "remark":
        return headings, rows, []
    said = dict.fromkeys(row[-1] for row in rows)
    # "1 independent cluster: …" and "8 independent clusters: …" are one remark.
    alike = dict.fromkeys(
        re.sub(r"^[0-9,]+ ([^:]*?)s?:", r"too few \1s:", remark) for remark in said if remark
    )
    one = len(alike) == 1 and all(said)  # said of every row
    if len(said) > 1 and len(alike) >= len(said) - 1 and not one:
        return headings, rows, []
    remarks = [*said] if len(said) == 1 else [*alike]
    return headings[:-1], [row[:-1] for row in rows], [*filter(None, remarks)]


def without_empty(
    headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """A table without the columns in which nothing stands."""
    kept = [place for place, cells in enumerate(zip(*rows, strict=True)) if any(cells)]
    if not kept:
        return headings, rows
    return [headings[place] for place in kept], [[row[place] for place in kept] for row in rows]


def is_name(place: int, heading: str) -> bool:
    """Whether a column has names or words, not numbers."""
    return place == 0 or heading in NAMES


def rule_headings(one: Disagreement) -> tuple[str, str]:
    """`official's rule | robust's rule`, and n"""
    return " | ".join(f"{scoring}'s rule" for scoring in one.scorings), "n"


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


def rules(one: Disagreement) -> list[tuple[str, str]]:
    """Which two rules fired, and how often; the commonest pair first."""
    return [(pair, f"{n:,}") for pair, n in one.by_rule.items()]


def judges(result: Result) -> Iterator[tuple[str, list[tuple[str, ...]], list[str]]]:
    """Of each judge that was measured against people: a title, rows under HEADINGS but the first,
    and what must be said beside them."""
    for name, one in result.report.judges.items():
        title = f"{name}: the judge against people, on {one.labelled:,} labelled replies"
        rows: list[tuple[str, ...]] = [
            (what, *shown(found)) for what, found in _measures(one) if found is not None
        ]
        said = [", ".join(f"{what} {n:,}" for what, n in one.confusion.items())]
        if one.seed is not None:
            said.append(f"labels: of the sheet drawn with seed {one.seed}")
        yield title, rows, [*filter(None, said), *(f"note: {note}" for note in one.notes)]


def probe(result: Result) -> tuple[list[Sequence[str]], list[str]]:
    """What a probe tells: rows under HEADINGS but the first, and what must be said beside them;
    both are empty without one."""
    found = result.report.probe
    if found is None:
        return [], []
    rows: list[Sequence[str]] = [(name, *shown(one)) for name, one in found.metrics.items()]
    said = [
        f"{found.counts[n]:,} of {found.counts[of]:,} {words}"
        for n, of, words in COUNTED
        if n in found.counts
    ]
    if found.p is not None:
        said.append(
            f"p {found.p:.4f} for picks so uneven over the places, if the order of the options "
            "has no part in them (permutation test)"
        )
    return rows, said


def probe_title(result: Result) -> str:
    """`probe: blind=none`"""
    found = result.report.probe
    return f"probe: {_words(found.probe)}" if found is not None else ""


def places(result: Result) -> list[Sequence[str]]:
    """A row under PLACES for each place among the options, of a run that permuted them."""
    rows: list[Sequence[str]] = []
    for one in [] if result.report.probe is None else result.report.probe.places:
        picked, right = shown(one.picked), shown(one.accuracy)
        remark = "; ".join(dict.fromkeys(filter(None, (picked.remark, right.remark))))
        rows.append((one.place, *picked[:2], percent(one.expected), *right[:3], remark))
    return rows


def _measures(one: JudgeReport) -> Iterator[tuple[str, MetricReport | None]]:
    helped = f"with a weight of {one.weight:.2f} for the judge"
    yield "mean score, judged", one.judged
    yield "corrected by labels", replace(one.corrected, reason=one.corrected.reason or helped)
    yield "by labels alone", one.labels_alone
    yield "Rogan-Gladen", _alone(one, one.rogan_gladen)
    yield "agreement", one.agreement
    yield "sensitivity", one.sensitivity
    yield "specificity", one.specificity
    yield "bias (judge less people)", one.bias
    yield "Cohen's kappa", _alone(one, one.kappa, "")
    yield "Pearson's r", _alone(one, one.pearson, "")
    yield "Spearman's rho", _alone(one, one.spearman, "")
    if one.raters > 1:
        yield "people among themselves, Krippendorff's alpha", _alone(one, one.alpha, "")


def _alone(one: JudgeReport, value: float | None, unit: str = "fraction") -> MetricReport | None:
    """A number without an interval; None where there is none."""
    if value is None:
        return None
    return MetricReport(value=value, unit=unit, n=one.labelled, stderr=None, ci95=None)


def steering(one: SteeringReport) -> tuple[str, list[tuple[str, ...]]]:
    """A title, and a row under STEERING for each kind of attempt; changes are in the score's own
    unit."""
    rows: list[tuple[str, ...]] = []
    for kind, found in one.attempts.items():
        up, down = shown(found.to_right), shown(found.to_wrong)
        change = shown(replace(found.change, unit=""))
        remarks = [f"{found.lost:,} without a verdict"] if found.lost else []
        remark = "; ".join(dict.fromkeys(filter(None, (*remarks, up.remark, change.remark))))
        rows.append((kind, *up[:3], down.value, down.n, *change[:2], remark))
    title = (
        f"{one.benchmark} {one.scoring}: how {one.judge}'s verdicts move under replies that try to "
        f"steer it ({one.right:,} taken for right and {one.wrong:,} for wrong without)"
    )
    return title, rows


def facts(result: Result) -> Iterator[tuple[str, str]]:
    """(what, how many or which): replies and readings by state, tokens, and the run's identity."""
    report = result.report
    turns = f" to turns of {report.conversations:,} conversations" if report.conversations else ""
    yield "replies", f"{report.n:,}{turns}, of them {counts(report.replies)}"
    for name, scoring in report.scorings.items():
        yield f"{name}, readings", counts(scoring.readings)
    yield from streams(result)
    yield from took(result)
    yield from sources(result)
    yield from settings(result)
    if result.run is not None:
        yield "run", f"{result.run}"


def streams(result: Result) -> Iterator[tuple[str, str]]:
    """(what, how much) of online runs: what was streamed, and whether the model kept up."""
    one = result.report.streaming
    if one is None:
        return
    sessions = "1 session" if one.sessions == 1 else f"{one.sessions:,} sessions"
    yield "streamed", f"{duration(one.media_seconds)} of media in {sessions}"
    yield "frames", f"{one.frames:,}, of them {one.dropped:,} dropped while the model was busy"
    if one.real_time_factor is not None:
        keeps = "keeps up" if one.real_time_factor <= 1 else "does not keep up"
        said = f"{one.real_time_factor:.2f} (the model {keeps}"
        yield "real-time factor", f"{said}, at worst {one.most_lag:.2f} s behind)"


def took(result: Result) -> Iterator[tuple[str, str]]:
    """(what, how much): the tokens, money and time that the replies took, and each judge's."""
    if result.report.spent is not None:
        yield from _spent(result.report.spent)
    for judge, its in result.report.judging.items():
        for what, said in _spent(its):
            yield f"{judge} as judge, {what}", said


def sources(result: Result) -> Iterator[tuple[str, str]]:
    """(scoring, where its rules come from)"""
    for name, scoring in result.report.scorings.items():
        yield f"{name}, source", f"{scoring.source}, version {scoring.version}"


def settings(result: Result) -> Iterator[tuple[str, str]]:
    """(field, value) of the identity; benchmark and model are the title."""
    for name, value in result.report.identity.items():
        if name not in ("benchmark", "model") and (text := _words(value)):
            yield name.replace("_", " "), text


def commands(manifest: Mapping[str, Any]) -> list[str]:
    """The commands that made the run, each once."""
    given = (session.get("command") for session in manifest.get("sessions", []))
    return [*dict.fromkeys(shlex.join(["snellen", *words]) for words in given if words)]


def made_with(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(what, which): where the rows were, and the last session's machine and versions."""
    if "data" in manifest:
        yield "rows", str(manifest["data"])
    origins = manifest.get("origins", {}).items()
    if settled := {name: source for name, source in origins if source != "default"}:
        yield "values from", _words(settled)
    for session in manifest.get("sessions", [])[-1:]:
        for name in ("started", "server", "served", "limit", "sample", "concurrency"):
            if session.get(name) is not None:
                yield name, _words(session[name])
        for name in ("snellen", "python", "system", "runs_on"):
            if session.get(name):
                yield name.replace("_", " "), _words(session[name])
        if session.get("packages"):
            packages = session["packages"].items()
            yield "packages", ", ".join(f"{name} {version}" for name, version in packages)


def _spent(took: Spent) -> Iterator[tuple[str, str]]:
    """(what, how much): tokens and money of all replies (and of a question), and time."""
    counted = took.replies - took.unsaid
    each = took.questions * counted / took.replies  # questions, without those that nobody counted
    of = f", of {counted:,} of {took.replies:,} replies" if took.unsaid else ""
    if counted:
        parts = (f"{n:,} {name} ({n / each:,.1f})" for name, n in took.tokens.items())
        yield "tokens (a question)", f"{', '.join(parts)}{of}"
    if took.cost is not None:
        all_of_it, one = money(took.cost, took.currency), money(took.cost / each, took.currency)
        yield "cost (a question)", f"{all_of_it} ({one}){of}"
    if took.total is not None:
        said = f"{took.total.p50:.2f} s, nine of ten within {took.total.p90:.2f} s"
        if took.first is not None:
            said += f"; first byte {took.first.p50:.2f} s, {took.first.p90:.2f} s"
        yield "a request", said
    yield "time", duration(took.seconds)


def _words(value: Any) -> str:
    """`max_tokens=64, extra=(top_k=1)`, without what is absent."""
    match value:
        case None:
            return ""
        case list():
            return " ".join(map(_words, value))
        case dict():
            words = {name: _words(one) for name, one in value.items()}
            return ", ".join(
                f"{name}=({word})" if isinstance(value[name], dict) else f"{name}={word}"
                for name, word in words.items()
                if word
            )
    return str(value)
