"""Results and comparisons as one HTML page that loads nothing from elsewhere.

Whatever a template writes is made plain and escaped: names, rules and notes come from files and
models. The page's policy lets nothing run but its own script, without which it reads as well.
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
from snellen.analysis.result import Result, baselines, plain, shown
from snellen.report import _differences, run_facts, side_by_side, table_rows
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
    "empty": "The model answered with nothing. Scored as it is.",
    "truncated": "The reply was cut off at the most tokens allowed. Scored as far as it goes.",
    "refused": "The service withheld the reply. Counts as wrong; the bounds say what it is worth.",
    "failed": "No reply came: an error of the request, not of the model. In no mean.",
}
READINGS = {
    "answered": "An answer was found in the reply.",
    "guessed": "None was found, and the authors' code draws one at random.",
    "unparsed": "The reply says nothing that this scoring takes for an answer. Scores 0.",
    "not-judged": "It waits for a judge's verdict. In no mean.",
    "no-target": "The right answer is not public. In no mean.",
    "no-reply": "There is no reply to read.",
}
BESIDE = 6
"""Models beside one another in a table by category."""
TOLD = ("failed", "refused", "truncated", "unparsed")
"""States that are named where there are none, too."""


@dataclass(frozen=True)
class LadderFigure:
    """A curve and what it says; `across` names its levels."""

    id: str
    title: str
    said: str
    across: str
    curve: Curve


def html(results: Sequence[Result], compared: Comparisons | None = None) -> str:
    """A page with a section for each result; before several tables of them all, and where they
    stand by a comparison of the same runs."""
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
    """A page about a comparison: where the sides stand, and each pair."""
    names = [one.name for one in of.sides]
    grid = _differences.by_benchmark(of)
    return _page(
        "compared.html",
        title=" and ".join(names) if len(names) == 2 else f"{len(names)} sets of replies compared",
        notes=of.notes,
        sides=table("What is compared", _differences.SIDES, _differences.sides(of)),
        boards=list(map(_board, of.leaderboards)),
        grid=table("Value and groups", *grid) if len(of.leaderboards) > 1 else None,
        pairs=[_pair(one, of, f"pair-{n}") for n, one in enumerate(of.comparisons, start=1)],
        best_of=list(map(_best_of, of.best_of)),
        rank_flips=list(map(rank_flip_text, of.rank_flips)),
        adjusted=adjustments(of),
    )


def look() -> str:
    """The style sheet that all of our pages share."""
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
    }


def _better_at(results: Sequence[Result]) -> Iterator[PageTable]:
    """Models beside one another by category, for each benchmark that a few of them were asked."""
    for benchmark, of in side_by_side.by_benchmark(results).items():
        scored = {model: one for model, one in of.items() if one.report.scorings}
        if not 2 <= len(scored) <= BESIDE:
            continue
        first = next(iter(scored.values()))
        for tag in first.report.breakdown:
            if tag in first.report.ladders:
                continue
            headings, rows = side_by_side.models_by_category(scored, tag, intervals=True)
            if rows:
                metric = next(iter(first.scoring().metrics))
                values = (value for one in scored.values() for value in one.by(tag).values())
                intervals = any(value.ci95 is not None for value in values)
                caption = f"{benchmark}: {metric} by {tag}{', with 95 % intervals' * intervals}"
                yield table(caption, headings, rows)


def _grid(results: Sequence[Result]) -> PageTable | None:
    """Models by benchmarks; None where there is one of either."""
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
        "beside": list(_beside(result)) if scored else [],
        "short": short,
        "notes": [note for note in report.notes if note not in short],
        "scores": _scores(result) if scored else None,
        "asked": _asked(result),
        "replies": _states(REPLIES, report.replies),
        "readings": [
            (name, _states(READINGS, scoring.readings)) for name, scoring in report.scorings.items()
        ],
        "disagreements": [
            (
                table_rows.differ(one),
                table("Rules that fired", table_rows.rule_headings(one), table_rows.rules(one)),
            )
            for one in report.disagreements
        ],
        "tags": [_categories(result, tag) for tag in tags if tag not in ladders],
        "ladders": [(ladder, _categories(result, tag)) for tag, ladder in ladders.items()],
        "parts": list(_parts(result)),
        "commands": run_facts.commands(manifest),
        "settings": [
            *run_facts.sources(result),
            *run_facts.settings(result),
            *run_facts.made_with(manifest),
        ],
        "folder": "" if result.run is None else f"{result.run}",
        "citations": [entry.splitlines() for entry in citations(report.benchmark)],
    }


@cache
def _tagline(benchmark: str) -> str:
    """What the benchmark is, in its own file's words."""
    found = (entry.title for entry in registry.entries() if entry.name == benchmark)
    return next(found, "").partition(":")[2].strip()


def _beside(result: Result) -> Iterator[tuple[str, str]]:
    metric, found = next(iter(result.scoring().metrics.items()))
    cells = shown(found)
    yield "metric", f"{metric} ({result.report.headline})"
    yield "95 % interval", cells.interval or found.reason or "none"
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
    """What keeps the result from being one of the whole data set."""
    said = [
        note
        for note in side_by_side.short_of(result)
        if note not in ("incomplete", "out of date", side_by_side.OTHER_SOURCE)
    ]
    said += [note for note in result.report.notes if note.startswith("incomplete")]
    said += result.report.out_of_date
    return [*said, *([f"stopped: {result.stopped}"] if result.stopped else [])]


def _scores(result: Result) -> PageTable:
    rows = list(table_rows.headline_rows(result))
    unit = result.headline.unit
    found = [
        metric if metric.unit == unit else None
        for scoring in result.report.scorings.values()
        for name, metric in scoring.metrics.items()
        if "/" not in name
    ]
    chance = result.report.baselines.chance if result.report.baselines else None
    blind = {0: chance} if chance is not None else {}
    return table("Metrics of the whole set", table_rows.HEADINGS, rows, found, blind=blind)


def _asked(result: Result) -> str:
    report = result.report
    turns = f" to turns of {report.conversations:,} conversations" if report.conversations else ""
    return f"Of {report.n:,} replies{turns}:"


def _states(known: Mapping[str, str], counted: Mapping[str, int]) -> list[tuple[str, int]]:
    """(state, n): those that there are, and those that a reader looks for."""
    every = dict.fromkeys([*known, *counted])
    return [(name, counted.get(name, 0)) for name in every if counted.get(name) or name in TOLD]


def _categories(result: Result, tag: str) -> PageTable:
    """The first metric by category; of more than two scorings the headline's interval alone."""
    headings = table_rows.breakdown_headings(result, tag)
    rows = table_rows.breakdown_rows(result, tag)
    found = result.by(tag)
    scorings = len(result.report.scorings)
    if scorings > 2:
        left = {2 + 2 * k for k in range(1, scorings)}
        headings, *rows = (
            [cell for place, cell in enumerate(row) if place not in left]
            for row in (headings, *rows)
        )
    metric = next(iter(result.scoring().metrics))
    return table(f"{metric} by {tag}", headings, rows, [found.get(row[0]) for row in rows])


def _ladder(result: Result, tag: str, number: str) -> LadderFigure | None:
    levels = table_rows.levels(result, tag)
    if not levels:
        return None
    name, end = table_rows.threshold(result, tag)
    said = "Share right at each level"
    said += ", with 95 % intervals." if any(one.ci95 for one in levels.values()) else "."
    if end is not None:
        cells = shown(end)
        if end.value is None:
            said += f" {name}: {cells.remark}."
        else:
            remark = f" ({cells.remark})" if cells.remark else ""
            amount = f"{cells.value} {cells.interval}".rstrip()
            said += f" Reading ends at {amount} (dashed): {name}{remark}."
    first = next(iter(levels))
    return LadderFigure(
        id=f"ladder-{number}",
        title=tag,
        said=said,
        across=table_rows.level_unit(first),
        curve=curve(levels, end),
    )


def _parts(result: Result) -> Iterator[dict[str, Any]]:
    """Sections that only some results have: a title, tables, sentences, facts."""
    report = result.report
    if len(report.capabilities) > 1:
        leaves = report.capabilities
        shares = [(leaf, *shown(one.mean)) for leaf, one in leaves.items()]
        means = [one.mean for one in leaves.values()]
        headings = ("capability", *side_by_side.CAPABILITIES[2:5], "remark")
        yield _part("What it asks of a model", [table("Mean score", headings, shares, means)])
    if report.probe is not None:
        told, noted = table_rows.probe(result)
        tables = [
            table("What it tells", table_rows.HEADINGS[1:], told, [*report.probe.metrics.values()])
        ]
        if by_place := table_rows.places(result):
            picked = [one.picked for one in report.probe.places]
            tables.append(table("By the place of an option", table_rows.PLACES, by_place, picked))
        yield _part(table_rows.probe_title(result).capitalize(), tables, noted)
    if report.repeats:
        again = table("Metrics of repeats", table_rows.HEADINGS, table_rows.repeats_rows(result))
        yield _part(table_rows.repeats_title(result), [again], table_rows.repeats_lines(result))
    for title, rows, said in table_rows.judges(result):
        yield _part("The judge against people", [table(title, table_rows.HEADINGS[1:], rows)], said)
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
    said: Iterator[str] | Sequence[str] = (),
    facts: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    return {"title": title, "tables": tables, "said": list(said), "facts": facts}


# -- comparisons


def _board(board: Leaderboard) -> dict[str, Any]:
    values = [one.value for one in board.standings]
    caption = f"{board.metric} ({board.scoring}) on the {board.samples:,} samples that all have"
    headings, *rows = _differences.standings(board, _differences.LEADERBOARD)
    return {
        "title": board.benchmark,
        "table": table(caption, headings, rows, values),
        "notes": board.notes,
        "is_ranked": board.is_ranked,
        "is_tested": board.is_tested,
    }


def _verdicts(of: Comparisons) -> Iterator[tuple[str, list[tuple[str, list[str]]]]]:
    """For each benchmark what comparing each pair found, in a sentence, with the notes on that
    pair: their counts are of the samples that these two share."""
    for benchmark in dict.fromkeys(one.benchmark for one in of.comparisons):
        pairs = [one for one in of.comparisons if one.benchmark == benchmark]
        yield benchmark, [(verdict(one), one.notes) for one in pairs]


def _pair(one: Comparison, of: Comparisons, number: str) -> dict[str, Any]:
    tables = [_differences_table("metric", one, one.metrics)]
    tables += [_differences_table(tag, one, found) for tag, found in one.breakdown.items() if found]
    if one.capabilities:
        tables.append(_differences_table("capability", one, one.capabilities))
    if one.flips is not None:
        tables.insert(1, table("Samples", *_differences.flips(one, one.flips)))
    clusters = f" in {one.clusters:,} clusters" if one.clusters != one.samples else ""
    return {
        "id": number,
        "title": f"{one.b} against {one.a}",
        "where": f"{one.benchmark}, {one.scoring}: {one.samples:,} samples of both{clusters}",
        "verdict": verdict(one),
        "notes": one.notes,
        "tables": tables,
        "said": [line for line in lines(one, of.sides) if not line.startswith("note: ")],
    }


def _differences_table(
    heading: str, one: Comparison, found: Mapping[str, MetricDifference]
) -> PageTable:
    """Differences by metric or category, drawn about nought where they share a unit."""
    less = [_differences.in_points(metric.difference) for metric in found.values()]
    drawn = [metric if metric.unit == less[0].unit else None for metric in less]
    headings, rows = _differences.differences(heading, one, found)
    nought = {n: 0.0 for n, metric in enumerate(drawn) if metric is not None}
    return table(f"{one.b} less {one.a}, by {heading}", headings, rows, drawn, blind=nought)


def _best_of(one: BestOf) -> dict[str, Any]:
    values = [*one.values.values(), one.held_out]
    caption = f"{one.metric} ({one.scoring}) of {one.model} by setting"
    return {
        "title": f"{one.benchmark}, {one.model}",
        "said": best(one),
        "table": table(caption, _differences.SETTINGS, _differences.settings(one), values),
        "notes": one.notes,
    }


# -- the page


def _page(template: str, **context: Any) -> str:
    found = _templates().get_template(template)
    text: str = found.render(**context)
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
