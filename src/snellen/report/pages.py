"""Writes results and comparisons as one HTML page that loads no other file.

Templates escape every value and remove its control characters, because names, rules, and notes come
from files and models. The page's security policy allows only the page's own script, which sorts
tables. The page is complete without the script.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen import __version__, registry
from snellen.analysis.comparing import (
    BestOf,
    Comparison,
    Comparisons,
    Leaderboard,
    MetricDifference,
    adjustments,
    best,
    lines,
    rank_flip_text,
    verdict,
)
from snellen.analysis.result import Result, baselines, metric_label, shown
from snellen.errors import plain
from snellen.report import _differences, by_tokens, run_facts, side_by_side, table_rows
from snellen.report._compared import Part
from snellen.report._page_tables import PageTable, table
from snellen.report.charts import Curve, curve
from snellen.report.cite import citations
from snellen.scoring.sections import FACTS
from snellen.store import Run

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")
LOOK = Path(__file__).with_name("look.css")
REPLIES = {
    "ok": "The model answered.",
    "empty": "The reply is empty. An empty reply is scored like any other reply.",
    "truncated": "The reply was cut off at the token limit. The part that arrived is scored.",
    "refused": "The service withheld the reply. A withheld reply counts as wrong, and the "
    "bounds of the result show how much such replies could change it.",
    "failed": "The request failed, so there is no reply. The question is excluded from every mean.",
}
READINGS = {
    "answered": "The scoring found an answer in the reply.",
    "guessed": "The reply has no answer, so the authors' code draws one at random.",
    "unparsed": "No rule of the scoring accepts an answer in the reply. The score is 0.",
    "not-judged": "The judge has not given a verdict yet. The reply is excluded from every mean.",
    "no-target": "The right answer is not public. The reply is excluded from every mean.",
    "no-reply": "There is no reply to parse.",
}
MAX_MODELS = 6
"""The maximum number of models in a table by category."""
ALWAYS_LISTED = ("failed", "refused", "truncated", "unparsed")
"""The states that are listed even if their count is 0."""


@dataclass(frozen=True)
class LadderFigure:
    """A curve and its caption."""

    id: str
    """The id of the figure's element on the page."""
    title: str
    """The heading."""
    caption: str
    """The line below the curve."""
    across: str
    """The label of the horizontal axis, which shows the levels."""
    curve: Curve
    """The curve."""


def html(results: Sequence[Result], compared: Comparisons | None = None) -> str:
    """A page with a section for each result. If there are several results, the page begins with
    tables of all results. `compared` is a comparison of the same runs, whose leaderboards are also
    shown at the beginning."""
    several = len(results) != 1
    titles = side_by_side.titles(results)
    return _page(
        "results.html",
        title=f"{len(results)} runs" if several else titles[0],
        boards=[] if compared is None else list(map(_board, compared.leaderboards)),
        verdicts=[] if compared is None else list(_verdicts(compared)),
        compared_notes=[] if compared is None else compared.notes,
        runs=[
            {"id": f"run-{n}", "title": title, **_run(result, f"run-{n}")}
            for n, (title, result) in enumerate(zip(titles, results, strict=True), start=1)
        ],
        **(_several(results, titles) if several else {}),
    )


def compared_html(of: Comparisons) -> str:
    """A page about a comparison, with the leaderboards and a section for each pair."""
    names = [side.name for side in of.sides]
    grid = _differences.by_benchmark(of)
    return _page(
        "compared.html",
        title=" and ".join(names) if len(names) == 2 else f"{len(names)} sets of replies compared",
        notes=of.notes,
        sides=table("What is compared", _differences.SIDES, _differences.sides(of)),
        boards=list(map(_board, of.leaderboards)),
        grid=table("Value and groups", *grid) if len(of.leaderboards) > 1 else None,
        pairs=[_pair(side, of, f"pair-{n}") for n, side in enumerate(of.comparisons, start=1)],
        best_of=list(map(_best_of, of.best_of)),
        rank_flips=list(map(rank_flip_text, of.rank_flips)),
        adjusted=adjustments(of),
    )


def parts_html(title: str, parts: Sequence[Part]) -> str:
    """A page with a section for each part of a report."""
    sections = []
    for n, part in enumerate(parts, start=1):
        shown_table = table(part.title, part.table[0], part.table[1:]) if part.table else None
        sections.append({"id": f"part-{n}", "part": part, "table": shown_table})
    return _page("parts.html", title=title, sections=sections)


def look() -> str:
    """The style sheet that all pages share."""
    return LOOK.read_text(encoding="utf-8")


# -- several results


def _several(results: Sequence[Result], titles: Sequence[str]) -> dict[str, Any]:
    headings, *rows = side_by_side.overview(results)
    links = [(f"run-{n}", title) for n, title in enumerate(titles, start=1)]
    metrics = [result.headline if result.report.scorings else None for result in results]
    capabilities, notes = side_by_side.by_capability(results)
    return {
        "overview": table(
            "Headline metric of each run, over all samples that count in it",
            headings,
            rows,
            metrics,
            links=links,
        ),
        "grid": _grid(results),
        "better_at": list(_better_at(results)),
        "capabilities": table("Mean score", side_by_side.CAPABILITIES, capabilities),
        "capability_notes": notes,
        "by_tokens": [
            table(
                title,
                by_tokens.HEADINGS,
                by_tokens.rows(points),
                [point.score for point in points],
            )
            for title, points in by_tokens.sweeps(results)
        ],
    }


def _better_at(results: Sequence[Result]) -> Iterator[PageTable]:
    """Tables of models by category, for each benchmark with 2 to `MAX_MODELS` models."""
    for benchmark, of in side_by_side.by_benchmark(results).items():
        scored = {model: result for model, result in of.items() if result.report.scorings}
        if not 2 <= len(scored) <= MAX_MODELS:
            continue
        first = next(iter(scored.values()))
        for tag in first.report.breakdown:
            if tag in first.report.ladders:
                continue
            headings, rows = side_by_side.models_by_category(scored, tag, intervals=True)
            if rows:
                values = (value for result in scored.values() for value in result.by(tag).values())
                intervals = any(value.ci95 is not None for value in values)
                caption = f"{benchmark}: {first.headline_label} by {tag}"
                caption += ", with 95 % intervals" * intervals
                yield table(caption, headings, rows)


def _grid(results: Sequence[Result]) -> PageTable | None:
    """A table of models by benchmarks; None if there is only one model or one benchmark."""
    grid = side_by_side.grid(results, intervals=True)
    caption = "Headline metric, 95 % interval, and n of each run, over all samples that count in it"
    return None if grid is None else table(caption, *grid)


# -- one result


def _run(result: Result, number: str) -> dict[str, Any]:
    report = result.report
    manifest = {} if result.run is None else Run(result.run).manifest()
    scored, short = bool(report.scorings), _short_of(result)
    tags = [tag for tag in report.breakdown if table_rows.breakdown_rows(result, tag)]
    drawn = {tag: _ladder(result, tag, f"{number}-{n}") for n, tag in enumerate(tags, start=1)}
    ladders = {tag: ladder for tag, ladder in drawn.items() if ladder is not None}
    return {
        "tagline": _tagline(report.benchmark),
        "value": shown(result.headline).value if scored else "-",
        "beside": list(_headline_facts(result)) if scored else [],
        "short": short,
        "notes": [note for note in report.notes if note not in short],
        "scores": _scores(result) if scored else None,
        "asked": _replies_title(result),
        "replies": _states(REPLIES, report.replies),
        "readings": [
            (name, _states(READINGS, scoring.readings)) for name, scoring in report.scorings.items()
        ],
        "disagreements": [
            (
                table_rows.differ(result, disagreement),
                table(
                    "Rules that fired",
                    table_rows.rule_headings(disagreement),
                    table_rows.rules(disagreement),
                ),
            )
            for disagreement in report.disagreements
        ],
        "tags": [_categories(result, tag) for tag in tags if tag not in ladders],
        "ladders": [(ladder, _categories(result, tag)) for tag, ladder in ladders.items()],
        "parts": list(_parts(result)),
        "commands": run_facts.commands(manifest),
        "settings": [
            *run_facts.sources(result),
            *run_facts.settings(result),
            *run_facts.provenance(manifest),
        ],
        "folder": "" if result.run is None else f"{result.run}",
        "citations": [entry.splitlines() for entry in citations(report.benchmark)],
    }


@cache
def _tagline(benchmark: str) -> str:
    """The short description of a benchmark: the part of its title after the name."""
    titles = (entry.title for entry in registry.entries() if entry.name == benchmark)
    return next(titles, "").partition(":")[2].strip()


def _headline_facts(result: Result) -> Iterator[tuple[str, str]]:
    headline = result.headline
    cells = shown(headline)
    yield "metric", f"{result.headline_label} ({result.report.headline})"
    yield "95 % interval", cells.interval or headline.reason or "none"
    yield "n", cells.n
    counts = result.counts
    for name, n in (
        ("failed", counts.failed),
        ("not judged", counts.not_judged),
        ("hidden targets", counts.hidden),
    ):
        if n:
            yield name, f"{n:,}"
    yield from baselines(result.report)


def _short_of(result: Result) -> list[str]:
    """The reasons why the result is not up to date or does not cover the full data set."""
    remarks = [
        note
        for note in side_by_side.short_of(result)
        if note not in ("incomplete", "out of date", side_by_side.OTHER_SOURCE)
    ]
    remarks += [note for note in result.report.notes if note.startswith("incomplete")]
    remarks += result.report.out_of_date
    return [*remarks, *([f"stopped: {result.stopped}"] if result.stopped else [])]


def _scores(result: Result) -> PageTable:
    rows = list(table_rows.headline_rows(result))
    unit = result.headline.unit
    metrics = [
        metric if metric.unit == unit else None
        for scoring in result.report.scorings.values()
        for name, metric in scoring.metrics.items()
        if "/" not in name
    ]
    chance = result.report.baselines.chance if result.report.baselines else None
    blind = {0: chance} if chance is not None else {}
    return table("Metrics of the whole set", table_rows.HEADINGS, rows, metrics, blind=blind)


def _replies_title(result: Result) -> str:
    report = result.report
    turns = f" to turns of {report.conversations:,} conversations" if report.conversations else ""
    return f"Of {report.n:,} replies{turns}:"


def _states(known: Mapping[str, str], counted: Mapping[str, int]) -> list[tuple[str, int]]:
    """The pairs (state, n) for the states that occur and the states that are always listed."""
    every = dict.fromkeys([*known, *counted])
    return [
        (name, counted.get(name, 0)) for name in every if counted.get(name) or name in ALWAYS_LISTED
    ]


def _categories(result: Result, tag: str) -> PageTable:
    """A table of each scoring's first metric by category. If there are more than two scorings, only
    the headline scoring has intervals."""
    headings = table_rows.breakdown_headings(result, tag)
    rows = table_rows.breakdown_rows(result, tag)
    metrics = result.by(tag)
    scorings = len(result.report.scorings)
    if scorings > 2:
        left = {2 + 2 * k for k in range(1, scorings)}
        headings, *rows = (
            [cell for column, cell in enumerate(row) if column not in left]
            for row in (headings, *rows)
        )
    return table(
        f"{result.headline_label} by {tag}", headings, rows, [metrics.get(row[0]) for row in rows]
    )


def _ladder(result: Result, tag: str, number: str) -> LadderFigure | None:
    levels = table_rows.levels(result, tag)
    if not levels:
        return None
    name, end = table_rows.threshold(result, tag)
    caption = "Share right at each level"
    caption += ", with 95 % intervals." if any(metric.ci95 for metric in levels.values()) else "."
    if end is not None:
        cells, name = shown(end), metric_label(name, end.better)
        if end.value is None:
            caption += f" {name}: {cells.remark}."
        else:
            remark = f" ({cells.remark})" if cells.remark else ""
            amount = f"{cells.value} {cells.interval}".rstrip()
            caption += f" Dashed line ({name}): {amount}{remark}."
    first = next(iter(levels))
    return LadderFigure(
        id=f"ladder-{number}",
        title=tag,
        caption=caption,
        across=table_rows.level_unit(first),
        curve=curve(levels, end),
    )


def _parts(result: Result) -> Iterator[dict[str, Any]]:
    """The sections that only some results have, each with a title, tables, sentences, and facts."""
    report = result.report
    if len(report.capabilities) > 1:
        leaves = report.capabilities
        shares = [(leaf, *shown(part.mean)) for leaf, part in leaves.items()]
        means = [part.mean for part in leaves.values()]
        headings = ("capability", *side_by_side.CAPABILITIES[2:5], "remark")
        yield _part(
            "Capabilities that the questions require",
            [table("Mean score", headings, shares, means)],
        )
    if report.probe is not None:
        measures, noted = table_rows.probe(result)
        tables = [
            table("Measures", table_rows.HEADINGS[1:], measures, [*report.probe.metrics.values()])
        ]
        if position_rows := table_rows.places(result):
            picked = [part.picked for part in report.probe.places]
            tables.append(
                table("By position of the choice", table_rows.PLACES, position_rows, picked)
            )
        yield _part(table_rows.probe_title(result).capitalize(), tables, noted)
    if report.repeats:
        again = table("Metrics of repeats", table_rows.HEADINGS, table_rows.repeats_rows(result))
        yield _part(table_rows.repeats_title(result), [again], table_rows.repeats_lines(result))
    for title, rows, lines_below in table_rows.judges(result):
        yield _part(
            "The judge against people", [table(title, table_rows.HEADINGS[1:], rows)], lines_below
        )
    bins = [
        table(title, table_rows.SLICE, means)
        for differing in (True, False)
        for title, means in table_rows.slices(result, differing=differing)
    ]
    if bins:
        yield _part("What the score may depend on", bins)
    for title, section_facts in FACTS.items():
        if facts := list(section_facts(report)):
            yield _part(title, facts=facts)


def _part(
    title: str,
    tables: Sequence[PageTable] = (),
    sentences: Iterator[str] | Sequence[str] = (),
    facts: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    return {"title": title, "tables": tables, "said": list(sentences), "facts": facts}


# -- comparisons


def _board(board: Leaderboard) -> dict[str, Any]:
    values = [standing.value for standing in board.standings]
    metric = metric_label(board.metric, board.direction)
    caption = f"{metric} ({board.scoring}) on the {board.samples:,} samples that all share"
    headings, *rows = _differences.standings(board, _differences.LEADERBOARD)
    return {
        "title": board.benchmark,
        "table": table(caption, headings, rows, values),
        "notes": board.notes,
        "has_rank_intervals": board.has_rank_intervals,
        "is_tested": board.is_tested,
    }


def _verdicts(of: Comparisons) -> Iterator[tuple[str, list[tuple[str, list[str]]]]]:
    """For each benchmark, the verdict on each pair, and the notes on each pair. The counts in a
    verdict refer to the samples that both sides share."""
    for benchmark in dict.fromkeys(comparison.benchmark for comparison in of.comparisons):
        pairs = [comparison for comparison in of.comparisons if comparison.benchmark == benchmark]
        yield benchmark, [(verdict(comparison), comparison.notes) for comparison in pairs]


def _pair(comparison: Comparison, of: Comparisons, number: str) -> dict[str, Any]:
    metrics = _differences.by_label(comparison.metrics)
    tables = [_differences_table("metric", comparison, metrics)]
    tables += [
        _differences_table(tag, comparison, differences, metric=next(iter(metrics)))
        for tag, differences in comparison.breakdown.items()
        if differences
    ]
    if comparison.capabilities:
        tables.append(_differences_table("capability", comparison, comparison.capabilities))
    if comparison.flips is not None:
        tables.insert(1, table("Samples", *_differences.flips(comparison, comparison.flips)))
    samples = f"{comparison.samples:,} samples that both share"
    if comparison.clusters != comparison.samples:
        samples += f" in {comparison.clusters:,} clusters"
    return {
        "id": number,
        "title": f"{comparison.b} against {comparison.a}",
        "where": f"{comparison.benchmark}, {comparison.scoring}: {samples}",
        "verdict": verdict(comparison),
        "notes": comparison.notes,
        "tables": tables,
        "said": [line for line in lines(comparison, of.sides) if not line.startswith("note: ")],
    }


def _differences_table(
    heading: str,
    comparison: Comparison,
    differences: Mapping[str, MetricDifference],
    metric: str = "",
) -> PageTable:
    """A table of differences by metric or category. Differences that have the same unit as the
    first difference are also drawn, with a line at 0. `metric` is the metric of categories."""
    in_points = [_differences.in_points(metric.difference) for metric in differences.values()]
    drawn = [metric if metric.unit == in_points[0].unit else None for metric in in_points]
    headings, rows = _differences.differences(heading, comparison, differences)
    zeros = {n: 0.0 for n, metric in enumerate(drawn) if metric is not None}
    caption = f"{comparison.b} minus {comparison.a}, {f'{metric} ' * bool(metric)}by {heading}"
    return table(caption, headings, rows, drawn, blind=zeros)


def _best_of(best_setting: BestOf) -> dict[str, Any]:
    values = [*best_setting.values.values(), best_setting.held_out]
    label = metric_label(best_setting.metric, values[0].better)
    caption = f"{label} ({best_setting.scoring}) of {best_setting.model} by setting"
    return {
        "title": f"{best_setting.benchmark}, {best_setting.model}",
        "said": best(best_setting),
        "table": table(caption, _differences.SETTINGS, _differences.settings(best_setting), values),
        "notes": best_setting.notes,
    }


# -- the page


def _page(template: str, **context: Any) -> str:
    page_template = _templates().get_template(template)
    text: str = page_template.render(**context)
    return text


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    style, script = look(), (TEMPLATES / "sort.js").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else plain(str(value)),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals |= {
        "look": Markup(style),
        "script": Markup(script),
        "policy": policy,
        "version": __version__,
        "reply_states": list(REPLIES.items()),
        "reading_states": list(READINGS.items()),
        "known": {*REPLIES, *READINGS},
    }
    return templates


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
