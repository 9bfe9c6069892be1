"""A result in the terminal. The only file that draws with rich."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.report import _rows
from snellen.result import Result, blind, plain

if TYPE_CHECKING:
    from rich.console import Console

MOST_CATEGORIES = 40
MOST_RULES = 10
"""Longer tables are left to the other formats, which is said."""
WIDE = 10_000
"""Room for a run on one line, whatever its name: a terminal breaks what is longer than it is wide,
and a search in the output finds it whole."""


def print_result(result: Result) -> None:
    """Show a result on standard output."""
    from rich.console import Console

    show(result, Console(highlight=False))


def print_results(results: Sequence[Result]) -> None:
    """Show a result on standard output, or a table with a line for each of several."""
    from rich.console import Console

    _show_all(results, Console(highlight=False))


def as_text(results: Sequence[Result]) -> str:
    """What `print_results` shows, without colours and 100 letters wide."""
    import io

    from rich.console import Console

    out = io.StringIO()
    _show_all(results, Console(file=out, highlight=False, width=100))
    return out.getvalue()


def _show_all(results: Sequence[Result], console: Console) -> None:
    if len(results) > 1:
        console.width = WIDE
        headings, *rows = _rows.overview(results)
        _table(console, f"{len(results)} runs", headings, rows)
        if capabilities := _rows.capability_rows(results):
            _table(console, "by capability", _rows.CAPABILITIES, capabilities)
        _line(console, _rows.how_to_see_one(results))
        return
    for result in results:
        show(result, console)


def show(result: Result, console: Console) -> None:
    """Show a result: headline, notes, categories, disagreements, what became of the replies."""
    report = result.report
    _table(console, _rows.title(result), _rows.HEADINGS, list(_rows.headline_rows(result)))
    if baselines := blind(report):
        _line(console, f" {baselines}")
    for note in report.notes:
        _line(console, f"note: {note}", style="yellow")
    for tag in report.breakdown:
        rows = _rows.breakdown_rows(result, tag)
        if lines := _rows.ladder_lines(result, tag):
            console.print()
            _line(console, f"by {tag}", style="bold")
            for line in lines:
                _line(console, line)
        elif len(rows) > MOST_CATEGORIES:
            console.print()
            _line(console, f"by {tag}: {len(rows)} categories; --format md or csv shows them")
        elif rows:
            headings = _rows.breakdown_headings(result, tag)
            if len(report.scorings) > 1:
                # A terminal has room for one interval, the headline's.
                others = [2 + 2 * k for k in range(1, len(report.scorings))]
                headings, rows = _without(headings, others), [_without(r, others) for r in rows]
            _table(console, f"by {tag}", headings, rows)
    for one in report.disagreements:
        rules = _rows.rules(one)
        if len(rules) > MOST_RULES:
            rules[MOST_RULES:] = [(f"{len(rules) - MOST_RULES} other pairs", "")]
        _table(console, _rows.differ(one), _rows.rule_headings(one), rules)
    console.print()
    facts = list(_rows.facts(result))
    first = max(len(what) for what, _ in facts)
    for what, text in facts:
        _line(console, f"{what:<{first}}  {text}")


def _table(
    console: Console, title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """A table under its title; remarks that rows share, but for their numbers, stand below it."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    console.print()
    _line(console, title, style="bold")
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    remarks: list[str] = []
    if headings[-1] == "remark":
        said = dict.fromkeys(row[-1] for row in rows)
        # "6 independent clusters: …" and "8 independent clusters: …" are one remark.
        alike = dict.fromkeys(re.sub(r"^[0-9,]+ ", "too few ", remark) for remark in said if remark)
        if len(said) == 1 or len(alike) < len(said) - 1:
            remarks = list(said) if len(said) == 1 else list(alike)
            headings, rows = headings[:-1], [row[:-1] for row in rows]
    for place, heading in enumerate(headings):
        name = place == 0 or heading in ("model", "metric", "run", "remark")
        table.add_column(
            Text(plain(heading)),
            justify="left" if name else "right",
            overflow="fold",
            no_wrap=not name,
        )
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    console.print(table)
    for remark in filter(None, remarks):
        _line(console, f" {remark}")


def _without(cells: Sequence[str], places: Sequence[int]) -> list[str]:
    return [cell for place, cell in enumerate(cells) if place not in places]


def _line(console: Console, text: str, style: str = "") -> None:
    from rich.text import Text

    console.print(Text(plain(text), style=style), soft_wrap=True)
