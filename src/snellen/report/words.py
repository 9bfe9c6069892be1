"""Results as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.report._rows import breakdown_rows, counts, headline_rows, plain, settings
from snellen.result import Result


def markdown(results: Sequence[Result]) -> str:
    """One section a result, with tables."""
    return "\n".join(_section(result) for result in results)


def _section(result: Result) -> str:
    report = result.report
    lines = [f"## {_cell(report.benchmark)} × {_cell(report.model or 'replies from a file')}", ""]
    lines += _table(
        ("scoring", "metric", "value", "95 % interval", "n", ""),
        [(scoring, metric, *found) for scoring, metric, found in headline_rows(result)],
    )
    for tag in report.breakdown:
        names = list(report.scorings)
        heading = [tag, *(text for name in names for text in (name, "95 % interval")), "n"]
        rows = [
            (label, *(text for name in names for text in cells[name][:2]), next(iter(cells.values())).n)
            for label, cells in breakdown_rows(result, tag)
        ]
        if rows:
            lines += ["", *_table(heading, rows)]
    lines += ["", f"- replies, {report.n:,}: {counts(report.replies)}"]
    for name, scoring in report.scorings.items():
        lines.append(f"- readings, {_cell(name)}: {counts(scoring.readings)}; source {_cell(scoring.source)}, version {scoring.version}")
    for one in report.disagreements:
        rules = "; ".join(f"{_cell(rule)}: {n:,}" for rule, n in one.by_rule.items())
        lines.append(f"- {one.scorings[0]} and {one.scorings[1]} differ on {one.n:,} ({rules})")
    lines += [f"- note: {_cell(note)}" for note in report.notes]
    if about := settings(result):
        lines.append(f"- settings: {_cell(about)}")
    return "\n".join(lines) + "\n"


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [heading, ["---"] * len(heading), *rows]
    return ["| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines]


def _cell(text: str) -> str:
    """A text that Markdown and HTML leave alone."""
    text = plain(text).replace("\n", " ").replace("\\", "\\\\")
    for sign, written in (("&", "&amp;"), ("<", "&lt;"), ("|", "\\|"), ("[", "\\["), ("]", "\\]"), ("`", "\\`"), ("*", "\\*")):
        text = text.replace(sign, written)
    return text
