"""Defines the columns of a table that grows row by row and can be reordered."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Column(Protocol):
    """A column of a table. `append` is not part of this protocol, since its arguments depend on the
    kind of column."""

    def reorder(self, rows: NDArray[np.intp]) -> None:
        """Reorder the column so that it contains exactly these rows, in this order."""

    def extend(self, other: Self, start: int) -> None:
        """Append the rows of another table's column. `start` is the current number of rows of this
        column."""


class Numbers:
    """A column of numbers, whose type is the type code `code` of `array.array`."""

    def __init__(self, code: str) -> None:
        self.data: array[Any] = array(code)
        self.append = self.data.append

    @property
    def values(self) -> NDArray[Any]:
        """A view of the column. The column cannot grow while the view is in use."""
        import numpy as np

        return np.frombuffer(self.data, dtype=self.data.typecode)

    def reorder(self, rows: NDArray[np.intp]) -> None:
        data = self.values[rows].tobytes()
        del self.data[:]
        self.data.frombytes(data)

    def extend(self, other: Numbers, start: int) -> None:
        self.data.extend(other.data)


class Objects:
    """A column of arbitrary values."""

    def __init__(self) -> None:
        self.data: list[Any] = []
        self.append = self.data.append

    @property
    def values(self) -> NDArray[Any]:
        return objects(self.data)

    def reorder(self, rows: NDArray[np.intp]) -> None:
        self.data[:] = [self.data[row] for row in rows.tolist()]

    def extend(self, other: Objects, start: int) -> None:
        self.data.extend(other.data)


class Codes:
    """A column of names that often repeat. Each name is stored as a number, assigned in the order
    of first occurrence."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self.data = array("i")

    def append(self, name: str) -> None:
        self.data.append(self.codes.setdefault(name, len(self.codes)))

    @property
    def values(self) -> NDArray[np.int32]:
        import numpy as np

        return np.array(self.data, dtype=np.int32)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.codes)

    def reorder(self, rows: NDArray[np.intp]) -> None:
        names = self.names
        old, self.codes = self.values[rows].tolist(), {}
        del self.data[:]
        for code in old:
            self.append(names[code])

    def extend(self, other: Codes, start: int) -> None:
        names = other.names
        for code in other.data:
            self.append(names[code])


class Sparse:
    """A column of arbitrary values, in which most rows have no value."""

    def __init__(self) -> None:
        self.rows = array("q")
        self.data: list[Any] = []

    def append(self, row: int, value: object) -> None:
        self.rows.append(row)
        self.data.append(value)

    def reorder(self, rows: NDArray[np.intp]) -> None:
        new_row = {row: new for new, row in enumerate(rows.tolist())}
        pairs = zip(self.rows, self.data, strict=True)
        kept = {new_row[row]: value for row, value in pairs if row in new_row}
        self.rows = array("q", sorted(kept))
        self.data[:] = [kept[row] for row in self.rows]

    def extend(self, other: Sparse, start: int) -> None:
        self.rows.extend(start + row for row in other.rows)
        self.data.extend(other.data)


def objects(values: list[Any]) -> NDArray[Any]:
    """Convert values to an array (n,) of objects. NumPy would otherwise convert tuples to rows of
    an array."""
    import numpy as np

    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
