"""Shows results in the terminal. This is the only module that draws with rich."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING

from snellen.analysis import overall
from snellen.analysis.comparing import Comparisons
from snellen.analysis.contamination import Contamination
from snellen.analysis.result import Result, blind
from snellen.errors import plain
from snellen.report import (
    _compared,
    _contaminated,
    _qualified,
    _swept,
    by_tokens,
    companions,
    run_facts,
    side_by_side,
    table_rows,
)
from snellen.scoring import Qualification, SteeringReport

if TYPE_CHECKING:
    from rich.console import Console

MOST_CATEGORIES = 40
MOST_RULES = 10
"""The maximum numbers of categories and of pairs of rules in a table. If there are more, a line
says which format shows all of them, or how many are left out."""
WIDE = 10_000
"""The width of output that is not a terminal. Every row fits on one line, so that text searches
find rows."""
LEAST, SHORTEST = 24, 12
"""The minimum widths, in characters, of a column of names or remarks. The second width is for
tables that would be wider than the terminal. Numbers are never wrapped."""
SPARE = ("significant", "run", "median time", "cost/question", "p")
"""The columns that a table leaves out, in this order, until the table is narrow enough. These
columns repeat what other columns say, or are not needed to read the table."""


def print_result(result: Result) -> None:
    """Show a result on standard output."""
    show(result, _console())


def print_steering(steering: SteeringReport) -> None:
    """Show on standard output how attempts to steer a judge change the judge's verdicts."""
    console = _console()
    title, rows = table_rows.steering(steering)
    _table(
        console, title, table_rows.STEERING, rows, console.width if console.is_terminal else WIDE
    )
    _line(console, f" run {steering.run}")


def print_qualification(qualification: Qualification) -> None:
    """Show on standard output how a judge agrees with published verdicts."""
    console = _console()
    room = console.width if console.is_terminal else WIDE
    for title, headings, rows in _qualified.tables(qualification):
        _table(console, title, headings, rows, room)
    for line in _qualified.lines(qualification):
        _line(console, f" {line}")


def print_contamination(contamination: Contamination) -> None:
    """Show on standard output the samples that benchmarks share, and the samples that were found in
    a corpus."""
    console = _console()
    room = console.width if console.is_terminal else WIDE
    for title, headings, rows, below in _contaminated.tables(contamination):
        _table(console, title, headings, rows, room)
        for line in below:
            _line(console, f" {line}")
    for note in contamination.notes:
        _line(console, f"note: {note}", style="yellow")


def print_results(results: Sequence[Result]) -> None:
    """Show results on standard output. Several results become a table with one row each."""
    _show_all(results, _console())


def print_overview(results: Sequence[Result]) -> None:
    """Show several results together on standard output: a table with a row for each, then a table
    of models by benchmarks."""
    console = _console()
    _show_overview(results, console, console.width if console.is_terminal else WIDE)


def check_suite(suite: str) -> None:
    """Check that a suite has an overall score.

    Raises:
        UsageError: there is no such suite, or the suite has no overall score.
    """
    overall.suite_with_overall(suite)


def print_overalls(suite: str, results: Sequence[Result]) -> None:
    """Show on standard output the overall score of each model in a suite.

    Raises:
        UsageError: the suite has no overall score.
    """
    console = _console()
    for line in overall.lines(suite, results):
        _line(console, f" {line}")


def print_companions(results: Sequence[Result], names: Sequence[str]) -> None:
    """Show further metrics of the headline scorings on standard output.

    Raises:
        UsageError: one of the names is not a metric or a tag of any result.
    """
    console = _console()
    rows = companions.companions(results, names)
    room = console.width if console.is_terminal else WIDE
    _table(console, companions.TITLE, companions.HEADINGS, rows, room)


def print_compared(document: Comparisons) -> None:
    """Show a comparison on standard output."""
    _show_compared(document, _console())


def print_swept(document: Comparisons) -> None:
    """Show on standard output the effect of the settings on each model."""
    console = _console()
    room = console.width if console.is_terminal else WIDE
    for title, rows, notes in _swept.swept(document):
        _table(console, title, _swept.SWEEP, rows, room)
        for line in notes:
            _line(console, f" {line}")


def compared_text(document: Comparisons) -> str:
    """The text that `print_compared` shows, without colors and with unlimited width."""
    out = io.StringIO()
    _show_compared(document, _console(out))
    return out.getvalue()


def print_parts(parts: Iterable[_compared.Part]) -> None:
    """Show the parts of a report on standard output."""
    _show_parts(parts, _console())


def parts_text(parts: Iterable[_compared.Part]) -> str:
    """The text that `print_parts` shows, without colors and with unlimited width."""
    out = io.StringIO()
    _show_parts(parts, _console(out))
    return out.getvalue()


def _show_compared(document: Comparisons, console: Console) -> None:
    _show_parts(_compared.parts(document, detailed=False), console)


def _show_parts(parts: Iterable[_compared.Part], console: Console) -> None:
    for part in parts:
        room = console.width if console.is_terminal else part.most or WIDE
        if part.untested or len(part.table) - 1 > MOST_CATEGORIES:
            why = "not tested, because each has few samples; " if part.untested else ""
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
    """The text that `print_results` shows, without colors and with unlimited width."""
    out = io.StringIO()
    _show_all(results, _console(out))
    return out.getvalue()


def _show_all(results: Sequence[Result], console: Console) -> None:
    if len(results) > 1:
        room = console.width if console.is_terminal else WIDE
        _show_overview(results, console, room)
        capabilities, notes = side_by_side.by_capability(results)
        if capabilities:
            console.print()
            for note in notes:
                _line(console, f"note: {note}", style="yellow")
            _table(console, "by capability", side_by_side.CAPABILITIES, capabilities, room)
        for title, points in by_tokens.sweeps(results):
            _table(console, title, by_tokens.HEADINGS, by_tokens.rows(points), room)
        _line(console, side_by_side.how_to_show_a_run(results))
        return
    for result in results:
        show(result, console)


def _show_overview(results: Sequence[Result], console: Console, room: int) -> None:
    """Show a table with each result's value, failures, cost, and time, then a table of models by
    benchmarks."""
    headings, *rows = side_by_side.overview(results)
    _table(console, f"{len(results)} runs", headings, rows, room)
    for line in side_by_side.fronts(results):
        _line(console, f" {line}")
    for intervals in (True, False):
        grid = side_by_side.grid(results, intervals=intervals)
        if grid is not None and _least([grid[0], *grid[1]], SHORTEST, gap=1) <= room:
            _table(console, "models by benchmarks", *grid, room)
            return


def show(result: Result, console: Console) -> None:
    """Show a result: headline, notes, categories, disagreements, and the states of replies.

    If a table of categories is wider than the terminal, only the columns of the headline scoring
    are shown.
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
    """Show the metrics over all samples, the metrics of repeats, the metrics of a probe, and the
    report's notes."""
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
        if position_rows := table_rows.places(result):
            _table(console, "by position of the choice", table_rows.PLACES, position_rows, room)


def _show_breakdown(result: Result, tag: str, console: Console, room: int) -> None:
    """Show the categories of a tag as a table or, if they are levels of difficulty, as a line of
    bars. Only the headline scoring has intervals."""
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
        # A terminal has room only for the intervals of one scoring, the headline scoring.
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
    """Show the disagreements between scorings, and the disagreements between judges and people."""
    for disagreement in result.report.disagreements:
        rules = table_rows.rules(disagreement)
        if len(rules) > MOST_RULES:
            rest = len(rules) - MOST_RULES
            rules[MOST_RULES:] = [(f"{rest} other {'pair' if rest == 1 else 'pairs'}", "")]
        title = table_rows.differ(result, disagreement)
        headings = table_rows.rule_headings(disagreement)
        _table(console, title, headings, rules, room)
    for title, measures, lines in table_rows.judges(result):
        _table(console, title, table_rows.HEADINGS[1:], measures, room)
        for line in lines:
            _line(console, f" {line}")


def _console(file: IO[str] | None = None) -> Console:
    """A console that writes to `file`. Default: standard output."""
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
    """Show a table with its title and the lines `above` it. Remarks that all rows share, apart from
    numbers, are shown below the table. If the rows leave no room for remarks, all remarks are shown
    below the table."""
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
            column for column, name in enumerate(headings[:-1]) if table_rows.is_name(column, name)
        ]
        remarks = [f"{' '.join(row[n] for n in names)}: {row[-1]}" for row in rows if row[-1]]
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    every, left_out = _narrowed([headings, *rows], room)
    headings, *rows = every
    if _least(every) > room:
        width, padding = max(_least(every, SHORTEST, gap=1), room), 0
        width = min(width, _least(every, WIDE, gap=1))
    else:
        width, padding = min(_least(every, WIDE), room), 1
    table = Table(box=SIMPLE_HEAD, show_edge=False, width=width, padding=(0, padding))
    for column, heading in enumerate(headings):
        name = table_rows.is_name(column, heading)
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
    if left_out:
        what = f"{', '.join(left_out)} {'is' if len(left_out) == 1 else 'are'} left out"
        _line(console, f" {what}, because the terminal is too narrow")


def _narrowed(
    rows: Sequence[Sequence[str]], room: int
) -> tuple[list[Sequence[str]], Sequence[str]]:
    """Leave out columns of `SPARE` until the table fits. The table's first row contains the
    headings. Returns the table and the headings of the columns that were left out. `p` is left out
    only if there is a column for the adjusted p."""
    narrowed, left_out = [*rows], []
    for name in SPARE:
        headings = narrowed[0]
        if name not in headings or (name == "p" and "adjusted p" not in headings):
            continue
        if _least(narrowed, SHORTEST, gap=1) <= room:
            break
        column = headings.index(name)
        narrowed = [_without(row, [column]) for row in narrowed]
        left_out.append(name)
    return narrowed, left_out


def _least(rows: Sequence[Sequence[str]], most: int = LEAST, gap: int = 3) -> int:
    """The width of a table, in characters. Columns of names and remarks are at most `most`
    characters wide, and `gap` characters separate two columns. The first of `rows` contains the
    headings."""
    from rich.cells import cell_len

    widths = [max(cell_len(plain(cell)) for cell in column) for column in zip(*rows, strict=True)]
    names = [table_rows.is_name(column, heading) for column, heading in enumerate(rows[0])]
    content = sum(min(w, most) if name else w for w, name in zip(widths, names, strict=True))
    return content + gap * len(widths) - 1


def _left_out(n: int) -> str:
    scorings = "1 other scoring is" if n == 1 else f"{n} other scorings are"
    return (
        f"{scorings} left out, because the terminal is too narrow. --json and `snellen report RUN "
        "--format md` show all of them."
    )


def _without(cells: Sequence[str], columns: Sequence[int]) -> list[str]:
    return [cell for column, cell in enumerate(cells) if column not in columns]


def _line(console: Console, text: str, style: str = "") -> None:
    from rich.text import Text

    console.print(Text(plain(text), style=style), soft_wrap=True)
