"""A result in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.report._rows import breakdown_rows, counts, headline_rows, plain, settings
from snellen.result import Result

if TYPE_CHECKING:
    from rich.console import Console

MOST_CATEGORIES = 40
"""A tag with more is left to the other formats."""


def print_result(result: Result) -> None:
    """Show a result on standard output."""
    from rich.console import Console

    show(result, Console(highlight=False, soft_wrap=False))


def show(result: Result, console: Console) -> None:
    """Show a result on any console: headline, categories, what became of the replies, notes."""
    from rich.table import Table
    from rich.text import Text

    report = result.report
    title = f"{report.benchmark}  ×  {report.model or 'replies from a file'}"
    table = Table(title=Text(plain(title)), title_justify="left", title_style="bold")
    for heading in ("scoring", "metric"):
        table.add_column(heading)
    for heading in ("value", "95 % interval", "n"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for scoring, metric, found in headline_rows(result):
        table.add_row(*(Text(plain(cell)) for cell in (scoring, metric, *found)))
    console.print(table)
    for tag in report.breakdown:
        rows = list(breakdown_rows(result, tag))
        if not rows or len(rows) > MOST_CATEGORIES:
            continue
        by = Table(title=Text(f"by {plain(tag)}"), title_justify="left", title_style="bold")
        by.add_column(plain(tag))
        for scoring in report.scorings:
            by.add_column(plain(scoring), justify="right")
            by.add_column("95 % interval", justify="right", no_wrap=True)
        by.add_column("n", justify="right")
        for label, cells in rows:
            values = [text for name in report.scorings for text in cells[name][:2]]
            n = next(iter(cells.values())).n
            by.add_row(*(Text(plain(cell)) for cell in (label, *values, n)))
        console.print(by)
    lines = [f"replies   {report.n:,}: {counts(report.replies)}"]
    lines += [
        f"readings  {name}: {counts(scoring.readings)}" for name, scoring in report.scorings.items()
    ]
    for one in report.disagreements:
        rules = ", ".join(f"{rule} {n:,}" for rule, n in list(one.by_rule.items())[:3])
        lines.append(
            f"{one.scorings[0]} and {one.scorings[1]} differ on {one.n:,} (rules: {rules}; such as {', '.join(one.examples)})"
        )
    lines += [f"note      {note}" for note in report.notes]
    if about := settings(result):
        lines.append(f"settings  {about}")
    if result.run is not None:
        lines.append(f"run       {result.run}")
    for line in lines:
        console.print(Text(plain(line)))
