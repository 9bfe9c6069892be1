"""Tables as the templates of a page draw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from snellen.report import table_rows
from snellen.report.charts import Axis, Mark, axis, mark
from snellen.scoring import MetricReport


@dataclass(frozen=True)
class PageTable:
    """A table as the template draws it.

    Behind the column `after` stand pictures of values and intervals on the axis `on`, a mark for
    each row. `links` lead from the first cells to sections, with what they say to who hears them.
    `remarks` stand below.
    """

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[bool]
    remarks: Sequence[str] = ()
    on: Axis | None = None
    marks: Sequence[Mark | None] = ()
    after: int = 0
    links: Sequence[tuple[str, str]] = ()
    sortable: bool = False


def table(
    caption: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    metrics: Sequence[MetricReport | None] = (),
    *,
    blind: Mapping[int, float] | None = None,
    links: Sequence[tuple[str, str]] = (),
) -> PageTable:
    """A table of what `table_rows` gives. `metrics`, one a row, are drawn behind the first interval
    where one of them has one, with dashed lines at what is `blind`, by row."""
    blind = blind or {}
    headings, rows, remarks = table_rows.without_remarks(headings, rows)
    headings, rows = table_rows.without_empty(headings, rows)
    on = None
    if any(found is not None and found.ci95 is not None for found in metrics):
        on = axis(metrics, *blind.values())
    marks = [] if on is None else [mark(on, one, blind.get(n)) for n, one in enumerate(metrics)]
    return PageTable(
        caption=caption,
        headings=[name.replace(" ", "\u00a0") if len(name) < 16 else name for name in headings],
        rows=rows,
        numbers=[not table_rows.is_name(place, heading) for place, heading in enumerate(headings)],
        remarks=remarks,
        on=on,
        marks=marks,
        after=headings.index("95 % interval") if on else 0,
        links=links,
        sortable=len(rows) > 2,
    )
