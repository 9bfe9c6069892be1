"""The task `table` of the eye chart: read a table on a drawn page."""

from __future__ import annotations

import re
from html import escape

from snellen.benchmarks.families.chart_scenes import (
    LETTERS,
    MARGIN,
    ChartTask,
    Draw,
    Scene,
    Shape,
    shape,
)
from snellen.benchmarks.families.html_tables import Element, first_table, page_of, teds
from snellen.core import Coordinates, Reading, Reply, Sample, TableAnswer
from snellen.media.drawing import UNIT

ROWS, COLUMNS, LENGTHS = (3, 6), (2, 4), (2, 4)
"""The least and the greatest number of rows, of columns, and of letters in a cell."""
TALLEST = 14
"""The greatest height of a letter, in pixels. In small pictures, letters are smaller."""
PITCH = 1.25
"""The distance between the centers of letters, in heights of a letter."""
QUESTION = (
    "The picture shows a page with a heading and a table. Each letter in it is one of "
    f"{', '.join(LETTERS)}.\n"
    "Reply with the table as HTML, with <table>, <tr>, and <td>, and nothing else."
)
SECTIONS = ("thead", "tbody", "tfoot")


def _scene(draw: Draw, side: int, _: int) -> Scene:
    """Draw a page with a heading and, below it, a ruled table."""
    n_rows, n_columns = (low + draw(high - low + 1) for low, high in (ROWS, COLUMNS))
    width = (side - 2 * MARGIN) // n_columns
    height = min(TALLEST, int((side - 2 * MARGIN) / COLUMNS[1] / (PITCH * LENGTHS[1] + 0.5)))
    row_height = 2 * height
    words = [[_word(draw) for _ in range(n_columns)] for _ in range(n_rows)]
    top = MARGIN + 3 * height + draw(side - 2 * MARGIN - 3 * height - n_rows * row_height)
    shapes = _letters("".join(_word(draw)), MARGIN, MARGIN, height)
    for row, cells in enumerate(words):
        for column, word in enumerate(cells):
            x = MARGIN + column * width + height // 2 + 1
            shapes += _letters(word, x, top + row * row_height + height // 2, height)
    total, depth = n_columns * width + 1, n_rows * row_height + 1
    return Scene(
        answer=_html(TableAnswer(rows=tuple(map(tuple, words)))),
        shapes=shapes,
        rules=(
            *((MARGIN, top + row * row_height, total, 1) for row in range(n_rows + 1)),
            *((MARGIN + column * width, top, 1, depth) for column in range(n_columns + 1)),
        ),
        question=QUESTION,
    )


def _word(draw: Draw) -> str:
    low, high = LENGTHS
    return "".join(LETTERS[draw(len(LETTERS))] for _ in range(low + draw(high - low + 1)))


def _letters(word: str, x: int, y: int, height: int) -> list[Shape]:
    """The shapes of a word whose top left corner is (x, y). All lengths are in pixels."""
    step = int(PITCH * height * UNIT)
    return [
        shape(letter, x * UNIT + k * step, y * UNIT, height * UNIT) for k, letter in enumerate(word)
    ]


def _html(table: TableAnswer) -> str:
    rows = (
        f"<tr>{''.join(f'<td>{escape(cell, quote=False)}</td>' for cell in row)}</tr>"
        for row in table.rows
    )
    return f"<table>{''.join(rows)}</table>"


def _parse(reply: Reply, _: Sample, __: Coordinates) -> Reading:
    """Parse the first HTML table of a reply. Header cells are cells, and spans do not count."""
    start = re.search("<table", reply.text, re.IGNORECASE)
    table = start and first_table(page_of(reply.text[start.start() :]))
    if table is None:
        return Reading(answer=None, rule="no table")
    return Reading(answer=_answer(table), rule="the first table")


def _answer(table: Element) -> TableAnswer:
    rows = [
        element
        for part in table.elements
        for element in (part.elements if part.tag in SECTIONS else [part])
        if element.tag == "tr"
    ]
    return TableAnswer(
        rows=tuple(
            tuple(_text(cell).strip() for cell in row.elements if cell.tag in ("td", "th"))
            for row in rows
        )
    )


def _text(element: Element) -> str:
    return "".join(part if isinstance(part, str) else _text(part) for part in element.content)


def _target(sample: Sample) -> TableAnswer:
    table = first_table(page_of(sample.target or ""))
    return TableAnswer(rows=()) if table is None else _answer(table)


def _score(reading: Reading, sample: Sample) -> float:
    """The similarity of the tables (TEDS)."""
    if not isinstance(reading.answer, TableAnswer):
        return 0.0
    return teds(page_of(_html(reading.answer)), page_of(sample.target or ""))


TASKS = {
    "table": ChartTask(
        scene=_scene,
        parse=_parse,
        score=_score,
        target=_target,
        wrong="<table></table>",
        capability="OCR/table",
        metrics={},
        max_answer_tokens=1024,
    )
}
