"""Cells of rows with quotes, against Python's csv module in its strict form."""

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from snellen.data.cells import NotSplit, spans, unquoted

text = st.text(alphabet='",\t\n\r aé', max_size=8)


def ours(raw: bytes, delimiter: bytes) -> list[str] | None:
    """The cells of the first row in some bytes; None where it cannot be split."""
    first, *others = raw.split(b"\n")
    row = bytearray(first)

    def go_on() -> bool:
        if not others:
            return False
        row.extend(b"\n" + others.pop(0))
        return True

    try:
        actual = spans(row, delimiter, go_on)
    except NotSplit:
        return None
    cells = ((row[start:end].decode(), doubled) for start, end, doubled in actual)
    return [cell.replace('""', '"') if doubled else cell for cell, doubled in cells]


def theirs(raw: bytes, delimiter: str) -> list[str] | None:
    lines = raw.decode().split("\n")
    ended = [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    try:
        return next(csv.reader(ended, delimiter=delimiter, strict=True))
    except csv.Error:
        return None


@given(st.lists(text, min_size=2, max_size=5), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_what_the_csv_module_writes_is_read_as_it_was(
    cells: list[str], quote_all: bool, end: str
) -> None:
    out = io.StringIO()
    # The writer leaves a lone carriage return unquoted, and no reader takes it.
    quoted = quote_all or any("\r" in cell for cell in cells)
    csv.writer(
        out,
        delimiter="\t",
        quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL,
        lineterminator=end,
    ).writerow(cells)

    assert ours(out.getvalue().encode(), b"\t") == cells


@given(st.text(alphabet='",\na', min_size=1, max_size=12).filter(lambda raw: raw[0] != "\n"))
def test_any_row_is_split_or_refused_as_the_csv_module_does(raw: str) -> None:
    assert ours(raw.encode(), b",") == theirs(raw.encode(), ",")


@given(st.lists(st.text(alphabet=" aé", max_size=3), min_size=1, max_size=5))
def test_cells_without_quotes_are_what_the_delimiters_part(cells: list[str]) -> None:
    raw = "\t".join(cells).encode()

    assert [raw[start:end].decode() for start, end, _ in unquoted(raw, b"\t")] == cells
