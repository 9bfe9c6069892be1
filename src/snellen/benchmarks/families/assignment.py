"""The cheapest assignment of rows to columns: Crouse 2016, On implementing 2D rectangular
assignment algorithms, https://doi.org/10.1109/TAES.2016.140952.

Where several assignments are cheapest, this is the one of `scipy.optimize.linear_sum_assignment`
(scipy/scipy@v1.15.0:scipy/optimize/rectangular_lsap/rectangular_lsap.cpp), since scores of
benchmarks depend on it. Among the nearest columns, a free one comes first, and the last one among
free ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def assignment(cost: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The pairs of rows and columns with the least sum of costs, in the order of rows.

    >>> assignment(np.array([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0]]))
    [(0, 1), (1, 0)]
    """
    if 0 in cost.shape:
        return []
    if cost.shape[0] > cost.shape[1]:
        return sorted((row, column) for column, row in assignment(cost.T))
    rows, columns = cost.shape
    cost = np.ascontiguousarray(cost, dtype=np.float64)
    row_price, column_price = np.zeros(rows), np.zeros(columns)
    row_of = np.full(columns, -1)
    column_of = np.full(rows, -1)
    for first in range(rows):
        shortest = np.full(columns, np.inf)
        path = np.full(columns, -1)
        remaining = np.arange(columns)[::-1].copy()
        count, row, distance = columns, first, 0.0
        seen_rows, seen_columns = [first], []
        while True:
            left = remaining[:count]
            reach = distance + cost[row, left] - row_price[row] - column_price[left]
            nearer = reach < shortest[left]
            path[left[nearer]] = row
            shortest[left[nearer]] = reach[nearer]
            distances = shortest[left]
            distance = distances.min()
            nearest = np.flatnonzero(distances == distance)
            free = nearest[row_of[left[nearest]] == -1]
            position = free[-1] if len(free) else nearest[0]
            column = int(remaining[position])
            seen_columns.append(column)
            count -= 1
            remaining[position] = remaining[count]
            if row_of[column] == -1:
                break
            row = int(row_of[column])
            seen_rows.append(row)
        row_price[first] += distance
        for row in seen_rows[1:]:
            row_price[row] += distance - shortest[column_of[row]]
        for other in seen_columns:
            column_price[other] -= distance - shortest[other]
        while True:
            row = int(path[column])
            row_of[column] = row
            column_of[row], column = column, int(column_of[row])
            if row == first:
                break
    return list(enumerate(map(int, column_of)))
