"""A result in the terminal. The only file that draws with rich."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING

from snellen.analysis.comparing import Comparisons
from snellen.analysis.contamination import Contamination
from snellen.analysis.result import Result, blind, plain
from snellen.report import _compared, _contaminated, _swept, run_facts, side_by_side, table_rows
from snellen.scoring import SteeringReport

if TYPE_CHECKING:
    from rich.console import Console

MOST_CATEGORIES = 40
MOST_RULES = 10
"""Longer tables are left to the other formats, which is said."""
WIDE = 10_000
"""Room for a row on one line, whatever its names: a terminal breaks what is longer than it is wide,
and a search in the output finds it whole."""
LEAST = 24
"""Letters of a name or remark that stand on one line at least; numbers are never broken."""


def print_result(result: Result) -> None:
    """Show a result on standard output."""
    show(result, _console())


def print_steering(one: SteeringReport) -> None:
    """Show on standard output how a judge's verdicts move."""
    console = _console()
    title, rows = table_rows.steering(one)
    _table(
        console, title, table_rows.STEERING, rows, console.width if console.is_terminal else WIDE
    )
    _line(console, f" run {one.run}")


def print_contamination(one: Contamination) -> None:
    """Show on standard output what benchmarks share, and what of them is in a corpus."""
    console = _console()
    room = console.width if console.is_terminal else WIDE
    for title, headings, rows, below in _contaminated.tables(one):
        _table(console, title, headings, rows, room)
        for line in below:
            _line(console, f" {line}")
    for note in one.notes:
        _line(console, f"note: {note}", style="yellow")


def print_results(results: Sequence[Result]) -> None:
    """Show a result on standard output, or a table with a line for each of several."""
    _show_all(results, _console())


def print_compared(document: Comparisons) -> None:
    """Show a comparison on standard output."""
    _show_compared(document, _console())


def print_swept(document: Comparisons) -> None:
    """Show on standard output what settings do to the same models."""
    console = _console()
    room = console.width if console.is_terminal else WIDE
    for title, rows, said in _swept.swept(document):
        _table(console, title, _swept.SWEEP, rows, room)
        for line in said:
            _line(console, f" {line}")


def compared_text(document: Comparisons) -> str:
    """What `print_compared` shows, without colours and as wide as it needs to be."""
    out = io.StringIO()
    _show_compared(document, _console(out))
    return out.getvalue()


def _show_compared(document: Comparisons, console: Console) -> None:
    room = console.width if console.is_terminal else WIDE
    for part in _compared.parts(document, whole=False):
        if part.untested or len(part.table) - 1 > MOST_CATEGORIES:
            why = "too few samples in each for a test; " if part.untested else ""
            rows = f"{len(part.table) - 1} rows"
            console.print()
            _line(console, f"{part.title}: {rows}; {why}--format md shows them")
        elif part.table:
            _table(console, part.title, part.table[0], part.table[1:], room, part.above)
        else:
            console.print()
            if part.title:
                _line(console, part.title, style="bold")
            for line in part.above:
                _line(console, f" {line}")
        for line in part.below:
            _line(console, f" {line}")


def as_text(results: Sequence[Result]) -> str:
    """What `print_results` shows, without colours and as wide as it needs to be."""
    out = io.StringIO()
    _show_all(results, _console(out))
    return out.getvalue()


def _show_all(results: Sequence[Result], console: Console) -> None:
    if len(results) > 1:
        headings, *rows = side_by_side.overview(results)
        _table(console, f"{len(results)} runs", headings, rows, WIDE)
        capabilities, notes = side_by_side.by_capability(results)
        if capabilities:
            console.print()
            for note in notes:
                _line(console, f"note: {note}", style="yellow")
            _table(console, "by capability", side_by_side.CAPABILITIES, capabilities, WIDE)
        _line(console, side_by_side.how_to_show_a_run(results))
        return
    for result in results:
        show(result, console)


def show(result: Result, console: Console) -> None:
    """Show a result: headline, notes, categories, disagreements, what became of the replies.

    A file is as wide as the tables; on a terminal that is narrower than a table of categories only
    the headline scoring's are shown.
    """
    room = console.width if console.is_terminal else WIDE
    _show_scores(result, console, room)
    for tag in result.report.breakdown:
        _show_breakdown(result, tag, console, room)
    for title, bins in table_rows.slices(result, differing=True):
        _table(console, title, table_rows.SLICE, bins, room)
    if alike := table_rows.alike(result):
        console.print()
        _line(console, alike)
    _show_readings(result, console, room)
    console.print()
    facts = list(run_facts.facts(result))
    first = max(len(what) for what, _ in facts)
    for what, text in facts:
        _line(console, f"{what:<{first}}  {text}")


def _show_scores(result: Result, console: Console, room: int) -> None:
    """The metrics of the whole set, of repeats, and of a probe, with the report's notes."""
    report = result.report
    rows = list(table_rows.headline_rows(result))
    _table(console, side_by_side.title(result), table_rows.HEADINGS, rows, room)
    if baselines := blind(report):
        _line(console, f" {baselines}")
    for note in report.notes:
        _line(console, f"note: {note}", style="yellow")
    if report.repeats:
        again = table_rows.repeats_rows(result)
        _table(console, table_rows.repeats_title(result), table_rows.HEADINGS, again, room)
        for line in table_rows.repeats_lines(result):
            _line(console, f" {line}")
    if report.probe is not None:
        measures, lines = table_rows.probe(result)
        _table(console, table_rows.probe_title(result), table_rows.HEADINGS[1:], measures, room)
        for line in lines:
            _line(console, f" {line}")
        if by_place := table_rows.places(result):
            _table(console, "by place", table_rows.PLACES, by_place, room)


def _show_breakdown(result: Result, tag: str, console: Console, room: int) -> None:
    """The categories of a tag: as a ladder, or as a table without the other scorings' intervals."""
    rows = table_rows.breakdown_rows(result, tag)
    if lines := table_rows.ladder_lines(result, tag):
        console.print()
        _line(console, f"by {tag}", style="bold")
        for line in lines:
            _line(console, line)
    elif len(rows) > MOST_CATEGORIES:
        console.print()
        _line(console, f"by {tag}: {len(rows)} categories; --format md or csv shows them")
    elif rows:
        headings = table_rows.breakdown_headings(result, tag)
        # A terminal has room for one interval, the headline's.
        others = [2 + 2 * k for k in range(1, len(result.report.scorings))]
        headings, rows = _without(headings, others), [_without(r, others) for r in rows]
        too_wide = bool(others) and _least([row[:-1] for row in (headings, *rows)]) > room
        if too_wide:
            columns = range(3, 3 + len(others))
            headings, rows = _without(headings, columns), [_without(r, columns) for r in rows]
        _table(console, f"by {tag}", headings, rows, room)
        if too_wide:
            _line(console, f" {_left_out(len(others))}")


def _show_readings(result: Result, console: Console, room: int) -> None:
    """Where scorings disagree about replies, and judges with people."""
    for disagreement in result.report.disagreements:
        rules = table_rows.rules(disagreement)
        if len(rules) > MOST_RULES:
            rest = len(rules) - MOST_RULES
            rules[MOST_RULES:] = [(f"{rest} other {'pair' if rest == 1 else 'pairs'}", "")]
        title, headings = table_rows.differ(disagreement), table_rows.rule_headings(disagreement)
        _table(console, title, headings, rules, room)
    for title, measures, lines in table_rows.judges(result):
        _table(console, title, table_rows.HEADINGS[1:], measures, room)
        for line in lines:
            _line(console, f" {line}")


def _console(file: IO[str] | None = None) -> Console:
    """Where results are shown: on standard output, or in `file`."""
    from rich.console import Console

    return Console(file=file, highlight=False)


def _table(
    console: Console,
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    room: int,
    above: Sequence[str] = (),
) -> None:
    """A table under its title and the lines `above` it; remarks that rows share, but for their
    numbers, stand below it, and all of them where there is no room beside the rows."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    console.print()
    _line(console, title, style="bold")
    for line in above:
        _line(console, f" {line}")
    headings, rows, remarks = table_rows.without_remarks(headings, rows)
    if headings[-1] == "remark" and _least([headings, *rows]) > room:
        names = [
            place for place, name in enumerate(headings[:-1]) if table_rows.is_name(place, name)
        ]
        remarks = [f"{' '.join(row[n] for n in names)}: {row[-1]}" for row in rows if row[-1]]
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    every = [headings, *rows]
    width = min(_least(every, WIDE), max(_least(every), room))
    table = Table(box=SIMPLE_HEAD, show_edge=False, width=width)
    for place, heading in enumerate(headings):
        name = table_rows.is_name(place, heading)
        table.add_column(
            Text(plain(heading)),
            justify="left" if name else "right",
            overflow="fold",
            no_wrap=not name,
        )
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    console.print(table, crop=False)
    for remark in remarks:
        _line(console, f" {remark}")


def _least(rows: Sequence[Sequence[str]], most: int = LEAST) -> int:
    """How wide a table must be, the headings first among its rows, for names and remarks to have
    `most` letters a line and numbers all of theirs."""
    from rich.cells import cell_len

    widths = [max(cell_len(plain(cell)) for cell in column) for column in zip(*rows, strict=True)]
    names = [table_rows.is_name(place, heading) for place, heading in enumerate(rows[0])]
    content = sum(min(w, most) if name else w for w, name in zip(widths, names, strict=True))
    return content + 3 * len(widths) - 1  # a blank on both sides, and a line between two


def _left_out(n: int) -> str:
    scorings = "1 other scoring is" if n == 1 else f"{n} other scorings are"
    return (
        f"{scorings} left out, since the terminal is too narrow: --json shows all, and so does "
        "`snellen report RUN --format md`"
    )


def _without(cells: Sequence[str], places: Sequence[int]) -> list[str]:
    return [cell for place, cell in enumerate(cells) if place not in places]


def _line(console: Console, text: str, style: str = "") -> None:
    from rich.text import Text

    console.print(Text(plain(text), style=style), soft_wrap=True)
