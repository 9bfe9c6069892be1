"""Writes results and comparisons as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from snellen.analysis.comparing import Comparisons
from snellen.analysis.result import Result, blind
from snellen.errors import plain
from snellen.report import _compared, by_tokens, run_facts, side_by_side, table_rows
from snellen.store import Run

FILE = "report.md"
# In CommonMark, and in its tables, a backslash escapes each of these characters.
SIGNS = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|~#$"} | {"&": "&amp;"})


def write_markdown(result: Result) -> None:
    """Write `report.md` next to the run's `report.json`. If the result does not come from a run,
    nothing is written.

    Raises:
        StoreError: the file cannot be written.
    """
    if result.run is not None:
        Run(result.run).folder.put_atomic(FILE, markdown([result]).encode())


def markdown(results: Sequence[Result]) -> str:
    """A section with tables for each result. If there are several results, a table of all of them
    comes first."""
    titles = side_by_side.titles(results)
    parts = [_section(result, title) for result, title in zip(results, titles, strict=True)]
    if len(results) > 1:
        headings, *rows = side_by_side.overview(results)
        table = "\n".join(_table(headings, rows))
        parts.insert(0, f"## {len(results)} runs\n\n{table}\n")
        capabilities, notes = side_by_side.by_capability(results)
        if capabilities:
            table = "\n".join(_table(side_by_side.CAPABILITIES, capabilities))
            sentences = "".join(f"{_text(note)}\n\n" for note in notes)
            parts.insert(1, f"## By capability\n\n{sentences}{table}\n")
        for title, points in by_tokens.sweeps(results):
            table = "\n".join(_table(by_tokens.HEADINGS, by_tokens.rows(points)))
            parts.insert(1, f"## {_text(title)}\n\n{table}\n")
    return "\n".join(parts)


def compared_markdown(document: Comparisons) -> str:
    """A comparison as Markdown, with tables and the details of every pair."""
    return parts_markdown(_compared.parts(document, detailed=True))


def parts_markdown(parts: Iterable[_compared.Part]) -> str:
    """The sections of a report as Markdown. A section without a title has no heading."""
    sections = []
    for part in parts:
        lines = [f"## {_text(part.title)}", ""] if part.title else []
        lines += [f"{_text(line)}\n" for line in part.above]
        lines += [*_table(part.table[0], part.table[1:]), ""] if part.table else []
        lines += [f"- {_text(line)}" for line in part.below]
        sections.append("\n".join(lines).rstrip("\n") + "\n")
    return "\n".join(sections)


def _section(result: Result, title: str) -> str:
    report = result.report
    lines = [f"## {_text(title)}", ""]
    lines += _table(table_rows.HEADINGS, list(table_rows.headline_rows(result)))
    if baselines := blind(report):
        lines += ["", _text(baselines)]
    if report.notes:
        lines += ["", *(f"- note: {_text(note)}" for note in report.notes)]
    if report.repeats:
        lines += ["", f"{table_rows.repeats_title(result)}:", ""]
        lines += [*_table(table_rows.HEADINGS, table_rows.repeats_rows(result)), ""]
        lines += [f"- {_text(line)}" for line in table_rows.repeats_lines(result)]
    if report.probe is not None:
        probe_rows, sentences = table_rows.probe(result)
        lines += ["", f"{_text(table_rows.probe_title(result))}:", ""]
        lines += [*_table(table_rows.HEADINGS[1:], probe_rows), ""]
        lines += [f"- {_text(line)}" for line in sentences]
        if position_rows := table_rows.places(result):
            lines += ["", *_table(table_rows.PLACES, position_rows)]
    for tag in report.breakdown:
        if rows := table_rows.breakdown_rows(result, tag):
            lines += ["", *_table(table_rows.breakdown_headings(result, tag), rows)]
    for differing in (True, False):
        for title, bins in table_rows.slices(result, differing=differing):
            lines += ["", f"{_text(title)}:", "", *_table(table_rows.SLICE, bins)]
    for disagreement in report.disagreements:
        lines += ["", f"{_text(table_rows.differ(result, disagreement))}:", ""]
        lines += _table(table_rows.rule_headings(disagreement), table_rows.rules(disagreement))
    for title, measures, sentences in table_rows.judges(result):
        lines += ["", f"{_text(title)}:", "", *_table(table_rows.HEADINGS[1:], measures)]
        lines += ["", *(f"- {_text(line)}" for line in sentences)] if sentences else []
    lines += ["", *(f"- {_text(what)}: {_text(text)}" for what, text in run_facts.facts(result))]
    return "\n".join(lines) + "\n"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [[_text(cell) for cell in line] for line in (headings, *rows)]
    lines.insert(1, ["---"] * len(headings))
    return [f"| {' | '.join(line)} |" for line in lines]


def _text(text: str) -> str:
    """Escape the special characters of Markdown and HTML in a text."""
    return plain(text).translate(SIGNS)
