"""The edit distance of tables as trees of rows of cells, faster than that of any trees.

Inserting and removing a node costs 1, and changing one costs at most 1. Then:

- If two roots are equal, an optimal solution keeps them.
- A leaf is kept as the most similar node of a tree, and the others are inserted.
- Two equal rows of cells have the edit distance of their sequences of cells.

So only the sequence of all rows needs the algorithm of Zhang and Shasha (`trees`), and all steps
are computed for many nodes together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Costs = NDArray[np.float64]


def table_distance(first: Sequence[int], second: Sequence[int], change: Costs) -> float | None:
    """The distance of two tables, whose root is not counted. A table is the number of cells of each
    row, or -1 for a leaf that is no row; `change` has the costs of their nodes in postorder: the
    cells of a row, then the row. None if two rows are not equal, as their distance is then not that
    of their cells.

    >>> costs = np.array([[0.0, 1.0, 1.0], [1.0, 0.5, 1.0], [1.0, 1.0, 0.0]])
    >>> table_distance([2], [2], costs), table_distance([2], [1], costs[:, 1:])
    (0.5, 1.5)
    """
    left, right = _TableLayout(first), _TableLayout(second)
    if change[np.ix_(left.rows, right.rows)].any():
        return None
    distance = np.empty_like(change)
    # Of a leaf and a tree, in both directions.
    for node, start in enumerate(right.starts):
        nearest = change[:, start : node + 1].min(axis=1)
        distance[:, node] = nearest + node - start
    others = np.empty((len(left.rows), change.shape[1]))
    for number, row in enumerate(left.rows):
        start = left.starts[row]
        others[number] = change[start : row + 1].min(axis=0) + row - start
    distance[left.rows] = others
    distance[np.ix_(left.rows, right.rows)] = _row_distances(left, right, change)
    return _forest_distance(left, right, distance)


class _TableLayout:
    """Where the nodes of a table are in postorder."""

    def __init__(self, cells: Sequence[int]) -> None:
        self.starts: list[int] = []
        """For each node the position of its first leaf."""
        self.rows: list[int] = []
        """The positions of rows with cells."""
        self.counts: list[int] = []
        """The number of cells of each of these rows."""
        for count in cells:
            start = len(self.starts)
            self.starts += range(start, start + max(count, 0))
            if count > 0:
                self.rows.append(start + count)
                self.counts.append(count)
            self.starts.append(start)

    def cells(self, number: int) -> list[int]:
        """The position of a cell in each row; that of the last one in rows with fewer cells."""
        return [
            row - count + min(number, count - 1)
            for row, count in zip(self.rows, self.counts, strict=True)
        ]


def _row_distances(left: _TableLayout, right: _TableLayout, change: Costs) -> Costs:
    """The edit distances of all pairs of rows, as sequences of cells."""
    shape = len(left.rows), len(right.rows)
    result = np.zeros(shape)
    if 0 in shape:
        return result
    counts = np.array(left.counts), np.array(right.counts)
    columns = [right.cells(number) for number in range(max(right.counts))]
    last = [np.full(shape, float(number)) for number in range(len(columns) + 1)]
    for number in range(max(left.counts)):
        cells = change[left.cells(number)]
        current = [np.full(shape, number + 1.0)]
        for column, positions in enumerate(columns):
            cheapest = np.minimum(last[column + 1], current[column]) + 1
            current.append(np.minimum(cheapest, last[column] + cells[:, positions]))
        ended = counts[0] == number + 1
        if ended.any():
            stacked = np.stack(current)
            result[ended] = stacked[counts[1], :, np.arange(shape[1])].T[ended]
        last = current
    return result


def _forest_distance(left: _TableLayout, right: _TableLayout, distance: Costs) -> float:
    """The distance of the sequences of all rows, from the distances of all pairs of nodes."""
    steps = np.arange(distance.shape[1] + 1.0)
    starts = np.array(right.starts, dtype=np.intp)
    forest = np.empty((distance.shape[0] + 1, len(steps)))
    forest[0] = steps
    for node, start in enumerate(left.starts):
        row = forest[node] + 1
        row[1:] = np.minimum(row[1:], forest[start][starts] + distance[node])
        # Inserting the nodes after the cheapest position.
        forest[node + 1] = np.minimum.accumulate(row - steps) + steps
    return float(forest[-1, -1])
