"""Prepares tables for the templates of HTML pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from snellen.report import table_rows
from snellen.report.charts import Axis, Mark, axis, mark
from snellen.scoring import MetricReport


@dataclass(frozen=True)
class PageTable:
    """A table in the form that the template expects."""

    caption: str
    """The line above the table."""
    headings: Sequence[str]
    """The headings of the columns."""
    rows: Sequence[Sequence[str]]
    """The texts of the cells."""
    numbers: Sequence[bool]
    """Whether each column contains numbers."""
    remarks: Sequence[str] = ()
    """Lines below the table."""
    on: Axis | None = None
    """The axis of the small pictures that show each row's value and interval; None if the table has
    no pictures."""
    marks: Sequence[Mark | None] = ()
    """For each row, the positions of the dot and the interval in the row's picture; None if the row
    has no value."""
    after: int = 0
    """The index of the column to the right of which the pictures are drawn."""
    links: Sequence[tuple[str, str]] = ()
    """For each row, the section that the first cell links to, and a label for screen readers."""
    sortable: bool = False
    """Whether a reader can sort the rows."""


def table(
    caption: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    metrics: Sequence[MetricReport | None] = (),
    *,
    blind: Mapping[int, float] | None = None,
    links: Sequence[tuple[str, str]] = (),
) -> PageTable:
    """Make a table from rows of `table_rows`. `metrics` contains the metric of each row. If any
    metric has an interval, each row gets a small picture of its metric, to the right of the first
    column of intervals. `blind` maps the index of a row to the value of its blind baseline, which
    is drawn as a dashed line."""
    blind = blind or {}
    headings, rows, remarks = table_rows.without_remarks(headings, rows)
    headings, rows = table_rows.without_empty(headings, rows)
    on = None
    if any(metric is not None and metric.ci95 is not None for metric in metrics):
        on = axis(metrics, *blind.values())
    marks = (
        [] if on is None else [mark(on, metric, blind.get(n)) for n, metric in enumerate(metrics)]
    )
    return PageTable(
        caption=caption,
        headings=[name.replace(" ", "\u00a0") if len(name) < 16 else name for name in headings],
        rows=rows,
        numbers=[
            not table_rows.is_name(column, heading) for column, heading in enumerate(headings)
        ],
        remarks=remarks,
        on=on,
        marks=marks,
        after=headings.index("95 % interval") if on else 0,
        links=links,
        sortable=len(rows) > 2,
    )
