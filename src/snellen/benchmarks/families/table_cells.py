"""The cells of the tables of a page in Markdown or HTML, and which cells are next to each other.

The rules are those of allenai/olmocr@f7cfe4c22098b154c76b6ec950d1c0a464eecf8d:olmocr/bench/
table_parsing.py. HTML is read as by Beautiful Soup with the parser `html.parser`.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.entities import html5
from html.parser import HTMLParser
from typing import NamedTuple

from snellen.benchmarks.families.html_source import VOID

WIDEST = 1000
"""The most columns or rows that a cell spans, as in HTML. The authors' code has no limit, and takes
all memory for a cell that spans a billion columns."""
DEEPEST = 100
"""The greatest depth of an element that contains others. Deeper elements are empty."""
MOST_ROWS = 5_000
"""The most rows of a page. The rows of nested tables count for each table."""
LARGEST = 250_000
"""The most positions of all tables in Markdown, and of all those in HTML: for each table, its rows
times the positions of its longest row. A table that exceeds them is not read, nor are later ones.
"""
HIDDEN = ("script", "style", "template", "rt", "rp")
"""Elements whose texts are no texts of a cell."""
Directions = Mapping[tuple[int, int], frozenset[tuple[int, int]]]


class Cell(NamedTuple):
    """A cell of a row."""

    text: str
    """Its text."""
    rows: int = 1
    """The number of rows that it spans."""
    columns: int = 1
    """The number of columns that it spans."""
    is_heading: bool = False
    """Whether it is a heading of its row or column."""


@dataclass(frozen=True)
class CellTable:
    """A table. A cell is known by its first row and column."""

    texts: Mapping[tuple[int, int], str]
    """The text of each cell."""
    headings: frozenset[tuple[int, int]]
    """The cells that are headings."""
    neighbors: Mapping[str, Directions]
    """For `up`, `down`, `left`, and `right`, the next cells in this direction of each cell."""
    positions: int
    """The number of rows times the positions of the longest row."""

    def heading(self, cell: tuple[int, int], direction: str) -> frozenset[tuple[int, int]]:
        """The headings in a direction, or, if there are none, the last cells."""
        near = self.neighbors[direction]
        headings, last, seen, waiting = set(), set(), set(), [cell]
        while waiting:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            if current in self.headings:
                headings.add(current)
            if near[current]:
                waiting += near[current]
            else:
                last.add(current)
        return frozenset((headings - {cell}) or (last - {cell}))


class TooManyPositions(Exception):
    """The tables of a page have too many positions."""


def tables_of_cells(tables: Iterable[Sequence[Sequence[Cell]]]) -> list[CellTable]:
    """The tables of a page from their rows, without those that have no cell."""
    read: list[CellTable] = []
    left = LARGEST
    for rows in tables:
        try:
            table = table_of_cells(rows, left)
        except TooManyPositions:
            break
        if table is not None:
            read.append(table)
            left -= table.positions
    return read


def table_of_cells(rows: Sequence[Sequence[Cell]], most: int) -> CellTable | None:
    """The table of some rows. None if it has no cell.

    Raises:
        TooManyPositions: the table has more than `most` positions.
    """
    texts: dict[tuple[int, int], str] = {}
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    headings = set()
    grid: list[list[tuple[int, int] | None]] = []
    spanning: list[tuple[tuple[int, int], int] | None] = []
    width = 0
    for number in range(len(rows) + WIDEST):
        if number >= len(rows) and not any(spanning):
            break
        cells = iter(rows[number]) if number < len(rows) else iter(())
        line: list[tuple[int, int] | None] = []
        while True:
            column = len(line)
            above = spanning[column] if column < len(spanning) else None
            if above is not None:
                line.append(above[0])
                spanning[column] = (above[0], above[1] - 1) if above[1] > 1 else None
                continue
            cell = next(cells, None)
            if cell is None:
                if column >= len(spanning):
                    break
                line.append(None)
                continue
            width = max(width, column + cell.columns)
            if width * (len(grid) + 1) > most:
                raise TooManyPositions
            key = (number, column)
            texts[key], spans[key] = cell.text, (cell.rows, cell.columns)
            if cell.is_heading:
                headings.add(key)
            spanning += [None] * (column + cell.columns - len(spanning))
            for offset in range(column, column + cell.columns):
                line.append(key)
                spanning[offset] = (key, cell.rows - 1) if cell.rows > 1 else None
        grid.append(line)
        if width * len(grid) > most:
            raise TooManyPositions
    if not texts:
        return None
    near_cells = _neighbors(grid, spans)
    return CellTable(texts, frozenset(headings), near_cells, width * len(grid))


def _neighbors(
    grid: list[list[tuple[int, int] | None]],
    spans: Mapping[tuple[int, int], tuple[int, int]],
) -> dict[str, Directions]:
    """The next cells in each direction, along each row or column that a cell spans. Empty positions
    are passed over.

    Raises:
        ValueError: a cell spans rows that are not there, as another one takes its positions.
    """
    width = 1 + max(column for line in grid for column, cell in enumerate(line) if cell is not None)
    lines = [(line + [None] * width)[:width] for line in grid]
    columns = [list(column) for column in zip(*lines, strict=True)]
    near_cells: dict[str, dict[tuple[int, int], frozenset[tuple[int, int]]]] = {
        name: {} for name in ("up", "down", "left", "right")
    }
    across = [_next_cells(line) for line in lines], [_next_cells(line) for line in columns]
    for cell, (rows, count) in spans.items():
        if cell[0] + rows > len(lines) or cell[1] + count > width:
            raise ValueError("a cell spans rows that are not there")
        ranges = range(cell[0], cell[0] + rows), range(cell[1], cell[1] + count)
        for names, near, own, other in (
            (("left", "right"), across[0], ranges[0], ranges[1]),
            (("up", "down"), across[1], ranges[1], ranges[0]),
        ):
            for name, (before, position) in zip(
                names, ((True, other.start - 1), (False, other.stop)), strict=True
            ):
                cells = (_next_other(near[line], position, before, cell) for line in own)
                near_cells[name][cell] = frozenset(near_cell for near_cell in cells if near_cell)
    return dict(near_cells)


GridLine = list[tuple[int, int] | None]


def _next_cells(line: GridLine) -> tuple[GridLine, list[int], list[int]]:
    """A line, and for each position the nearest position with a cell before it or at it, and after
    it or at it; -1 if there is none."""
    before, after, last = [], [-1] * len(line), -1
    for position, cell in enumerate(line):
        last = position if cell is not None else last
        before.append(last)
    last = -1
    for position in range(len(line) - 1, -1, -1):
        last = position if line[position] is not None else last
        after[position] = last
    return line, before, after


def _next_other(
    near: tuple[GridLine, list[int], list[int]],
    position: int,
    is_before: bool,
    own: tuple[int, int],
) -> tuple[int, int] | None:
    """The next cell that is not the cell itself."""
    line, before, after = near
    while 0 <= position < len(line):
        position = before[position] if is_before else after[position]
        if position < 0 or line[position] != own:
            break
        position += -1 if is_before else 1
    return line[position] if 0 <= position < len(line) else None


# -- Markdown


def markdown_tables(page: str) -> list[CellTable]:
    """The tables of a page in Markdown: at least two lines with bars that follow each other. The
    first row and the first column are headings."""
    tables: list[list[list[Cell]]] = []
    lines: list[str] = []
    for line in [*page.strip().split("\n"), ""]:
        if "|" in line:
            lines.append(line)
            continue
        if len(lines) >= 2:
            tables.append([*_markdown_rows(lines)])
        lines = []
    return tables_of_cells(tables)


def _markdown_rows(lines: Sequence[str]) -> Iterator[list[Cell]]:
    """The rows of a table, without lines of hyphens."""
    is_first, has_rule = True, False
    for line in lines:
        rule = line.replace("|", "").strip()
        if not has_rule and rule and not rule.strip("- :"):
            has_rule = True
            continue
        if line.strip() and not line.strip("- :|"):
            continue
        cells = [cell.strip() for cell in line.split("|")]
        cells = cells[1:] if cells and not cells[0] else cells
        cells = cells[:-1] if cells and not cells[-1] else cells
        if cells:
            yield [
                Cell(text, is_heading=is_first or column == 0) for column, text in enumerate(cells)
            ]
            is_first = False


# -- HTML


@dataclass
class HtmlNode:
    """An element of a page."""

    tag: str
    """Its name."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Its attributes."""
    content: list[HtmlNode | str] = field(default_factory=list)
    """Its elements and texts."""
    in_head: bool = False
    """Whether it is inside a `thead` element."""

    def all(self, tag: str) -> Iterator[HtmlNode]:
        """The elements with this name inside of it, in order."""
        waiting = [part for part in reversed(self.content) if isinstance(part, HtmlNode)]
        while waiting:
            node = waiting.pop()
            if node.tag == tag:
                yield node
            waiting += [part for part in reversed(node.content) if isinstance(part, HtmlNode)]

    def text(self) -> str:
        """Its text, with a line break for each `br`."""
        parts: list[str] = []
        waiting: list[HtmlNode | str] = [*reversed(self.content)]
        while waiting:
            part = waiting.pop()
            if isinstance(part, str):
                parts.append(part)
            elif part.tag == "br":
                parts.append("\n")
            elif part.tag not in HIDDEN:
                waiting += reversed(part.content)
        return "".join(parts)


class _CellReader(HTMLParser):
    """Reads a page. An end tag closes the last open element of its name and those inside it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.open = [HtmlNode("")]
        self.count: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.data: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.start(tag, attrs)
        if tag in VOID:
            self.end(tag)
            self.skipped[tag] += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.start(tag, attrs)
        self.end(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.skipped[tag]:
            self.skipped[tag] -= 1
        else:
            self.end(tag)

    def start(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.end_text()
        values = {name: value or "" for name, value in attrs}
        node = HtmlNode(tag, values, in_head=self.count["thead"] > 0)
        self.open[-1].content.append(node)
        if len(self.open) < DEEPEST:
            self.open.append(node)
            self.count[tag] += 1

    def end(self, tag: str) -> None:
        self.end_text()
        while self.count[tag]:
            node = self.open.pop()
            self.count[node.tag] -= 1
            if node.tag == tag:
                return

    def end_text(self) -> None:
        if self.data:
            text = "".join(self.data)
            self.data = []
            preserved = self.count["pre"] or self.count["textarea"]
            if not preserved and not text.strip(" \n\t\f\r"):
                text = "\n" if "\n" in text else " "
            self.open[-1].content.append(text)

    def handle_data(self, data: str) -> None:
        self.data.append(data)

    def handle_charref(self, name: str) -> None:
        self.data.append(html.unescape(f"&#{name};"))

    def handle_entityref(self, name: str) -> None:
        self.data.append(html5.get(f"{name};", f"&{name}"))

    def handle_comment(self, data: str) -> None:
        self.end_text()

    def handle_decl(self, decl: str) -> None:
        self.end_text()

    def handle_pi(self, data: str) -> None:
        self.end_text()

    def unknown_decl(self, data: str) -> None:
        self.end_text()
        if data.upper().startswith("CDATA["):
            self.open[-1].content.append(data[len("CDATA[") :])


def html_tables(page: str) -> list[CellTable]:
    """The tables of a page in HTML. `th` cells and cells in `thead` are headings. A table inside of
    another one is a table too, and its rows are also rows of the other one."""
    if "<table" not in page.lower():
        return []
    reader = _CellReader()
    try:
        reader.feed(page)
        reader.close()
    except AssertionError:
        return []  # Beautiful Soup stops the authors' code
    reader.end_text()
    tables = []
    total = 0
    for table in reader.open[0].all("table"):
        rows = [*table.all("tr")]
        total += len(rows)
        if total > MOST_ROWS:
            break
        if not rows:
            continue
        tables.append(
            [
                [
                    _html_cell(part, row, len(rows) - number)
                    for part in row.content
                    if isinstance(part, HtmlNode) and part.tag in ("th", "td")
                ]
                for number, row in enumerate(rows)
            ]
        )
    return tables_of_cells(tables)


def _html_cell(cell: HtmlNode, row: HtmlNode, left: int) -> Cell:
    """A cell. A span of 0 rows goes to the end of the table, which has `left` more rows."""
    rows, columns = (_span(cell.attributes.get(name)) for name in ("rowspan", "colspan"))
    if cell.attributes.get("rowspan", "").strip() == "0":
        rows = left
    return Cell(cell.text().strip(), rows, columns, cell.tag == "th" or row.in_head)


def _span(value: str | None) -> int:
    try:
        span = int(value or "1")
    except ValueError:
        return 1
    return min(span, WIDEST) if span > 0 else 1
