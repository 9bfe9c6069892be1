"""What every report says, in plain text and once; each format lays it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from snellen.capabilities import over
from snellen.report._ladder import ladder
from snellen.result import Result, Shown, shown
from snellen.scoring import Disagreement

HEADINGS = ("scoring", "metric", "value", "95 % interval", "n", "remark")
OVERVIEW = (
    *("benchmark", "model", "n", "metric", "value", "95 % interval", "failed", "unparsed"),
    *("run", "remark"),
)
RUN = OVERVIEW.index("run")
CAPABILITIES = ("model", "capability", "mean score", "95 % interval", "n", "benchmarks", "remark")
EMPTY = Shown("", "", "", "")


def title(result: Result) -> str:
    """`eyechart × baseline/reader`, `MMStar (vlmevalkit) × openai/m`"""
    return " × ".join(names(result))


def names(result: Result) -> tuple[str, str]:
    """What is asked, and who: `MMStar (vlmevalkit)`, `openai/m`"""
    report = result.report
    name = report.identity.get("options", {}).get("name")
    benchmark = f"{name} ({report.benchmark})" if name else report.benchmark
    return benchmark, report.model or "replies from a file"


def overview(results: Sequence[Result]) -> list[Sequence[str]]:
    """Headings, and a row for each result with the first metric of its headline scoring; the run's
    own name only where benchmark and model do not tell the rows apart."""
    rows = [OVERVIEW, *(_overview_row(result) for result in results)]
    if len({row[:2] for row in rows}) == len(rows):
        return [(*row[:RUN], *row[RUN + 1 :]) for row in rows]
    return [*rows]


def _overview_row(result: Result) -> tuple[str, ...]:
    report = result.report
    notes = [] if report.asked_of is None else [f"partial: {report.n:,} of {report.asked_of:,}"]
    notes += ["incomplete"] * report.incomplete
    metric, cells, unparsed = "", EMPTY, 0
    if report.scorings:  # none where the run asked for what none of them reads
        scoring = result.scoring()
        metric = next(iter(scoring.metrics))
        cells = shown(result.headline)
        unparsed = scoring.readings.get("unparsed", 0)
        if result.headline.value is None:
            notes.append(result.headline.reason or "")
    return (
        *names(result),
        f"{report.n:,}",
        metric,
        cells.value,
        cells.interval,
        f"{result.failed:,}",
        f"{unparsed:,}",
        "" if result.run is None else result.run.name,
        "; ".join(notes),
    )


def capability_rows(results: Sequence[Result]) -> list[Sequence[str]]:
    """A row under CAPABILITIES for each model and each leaf that its benchmarks ask for; none for
    results of one benchmark."""
    by_model: dict[str, dict[str, Result]] = {}
    for result in results:
        by_model.setdefault(names(result)[1], {})[names(result)[0]] = result
    rows: list[Sequence[str]] = []
    for model, of in by_model.items():
        for one in over(result.report for result in of.values()) if len(of) > 1 else ():
            cells = shown(one.mean)
            asked = ", ".join(one.benchmarks)
            row = (cells.value, cells.interval, f"{one.n:,}", asked, cells.remark)
            rows.append((model, one.leaf, *row))
    return rows


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


def breakdown_headings(result: Result, tag: str) -> list[str]:
    """The tag, and two columns for each scoring; n and remark are the headline scoring's."""
    pairs = ((name, "95 % interval") for name in result.report.scorings)
    return [tag, *(heading for pair in pairs for heading in pair), "n", "remark"]


def breakdown_rows(result: Result, tag: str) -> list[list[str]]:
    """A row for each category that has a value, with each scoring's first metric, as they come."""
    rows = []
    for label in result.report.breakdown[tag]:
        cells = []
        for scoring in result.report.scorings.values():
            found = scoring.metrics.get(f"{next(iter(scoring.metrics))}/{label}")
            cells.append(EMPTY if found is None else shown(found))
        if any(map(any, cells)):
            values = [text for cell in cells for text in cell[:2]]
            rows.append([label, *values, *cells[0][2:]])
    return rows


def ladder_lines(result: Result, tag: str) -> list[str]:
    """The levels of a ladder with a bar each, and where reading ends; none where the tag is no
    ladder, or nothing of it was asked."""
    report = result.report
    if tag not in report.ladders:
        return []
    end = result.scoring().metrics.get(report.ladders[tag])
    shares = {
        label: found.value
        for label, found in result.by(tag).items()
        if found.value is not None and 0 <= found.value <= 1
    }
    ends = (None, None) if end is None else (end.value, end.ci95)
    lines = ladder(shares, *ends)
    if lines and end is not None:
        cells = shown(end)
        said = " ".join(filter(None, (cells.value, cells.interval, cells.remark)))
        lines.append(f" {report.ladders[tag]} {said}")
    return lines


def counts(states: Mapping[str, int]) -> str:
    """`280 ok, 8 failed`"""
    return ", ".join(f"{n:,} {state}" for state, n in states.items()) or "none"


def differ(one: Disagreement) -> str:
    """`official and robust score 12 replies differently, such as those to 7, 31`"""
    return (
        f"{one.scorings[0]} and {one.scorings[1]} score {one.n:,} replies differently, "
        f"such as those to {', '.join(one.examples)}"
    )


def rule_headings(one: Disagreement) -> tuple[str, str]:
    """`official's rule | robust's rule`, and n"""
    return " | ".join(f"{scoring}'s rule" for scoring in one.scorings), "n"


def rules(one: Disagreement) -> list[tuple[str, str]]:
    """Which two rules fired, and how often; the commonest pair first."""
    return [(pair, f"{n:,}") for pair, n in one.by_rule.items()]


def facts(result: Result) -> Iterator[tuple[str, str]]:
    """(what, how many or which): replies and readings by state, tokens, and the run's identity."""
    report = result.report
    yield "replies", f"{report.n:,}, of them {counts(report.replies)}"
    for name, scoring in report.scorings.items():
        yield f"{name}, readings", counts(scoring.readings)
    if report.tokens:
        yield "tokens", counts(report.tokens)
    for name, scoring in report.scorings.items():
        yield f"{name}, source", f"{scoring.source}, version {scoring.version}"
    for name, value in report.identity.items():
        # Benchmark and model are the title.
        if name not in ("benchmark", "model") and (text := _words(value)):
            yield name.replace("_", " "), text
    if result.run is not None:
        yield "run", str(result.run)


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
