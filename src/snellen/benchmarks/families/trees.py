"""The edit distance of ordered trees: Zhang and Shasha 1989, https://doi.org/10.1137/0218082."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Label = TypeVar("Label")


@dataclass
class Tree(Generic[Label]):
    """A node with its children, in order."""

    label: Label
    """What costs depend on."""
    children: list[Tree[Label]] = field(default_factory=list)
    """The subtrees."""


def tree_distance(
    first: Tree[Label],
    second: Tree[Label],
    extra: Callable[[Label], float],
    change: Callable[[Label, Label], float],
) -> float:
    """The least cost of changing a tree into another one. `extra` is the cost of a node that is
    inserted or removed, and `change` that of a node that gets another label.

    >>> leaves = Tree("a", [Tree("b"), Tree("c")])
    >>> tree_distance(leaves, Tree("a", [Tree("x")]), lambda _: 1, lambda a, b: float(a != b))
    2.0
    """
    (labels, left), (others, right) = _flat(first), _flat(second)
    distances = [[0.0] * len(others) for _ in labels]
    costs = [extra(label) for label in labels], [extra(label) for label in others]
    roots = _keyroots(right)
    for i in _keyroots(left):
        for j in roots:
            if left[i] == i and right[j] == j:
                cost = change(labels[i], others[j])
                distances[i][j] = min(cost, costs[0][i] + costs[1][j])
                continue
            _fill(distances, (i, j), (labels, others), (left, right), costs, change)
    return distances[-1][-1]


def _flat(tree: Tree[Label]) -> tuple[list[Label], list[int]]:
    """The labels in postorder, and for each node the position of its leftmost leaf."""
    labels: list[Label] = []
    leftmost: list[int] = []
    stack = [(tree, 0, 0)]
    while stack:
        node, number, first = stack.pop()
        if number == 0:
            first = len(labels)
        if number < len(node.children):
            stack.append((node, number + 1, first))
            stack.append((node.children[number], 0, 0))
        else:
            labels.append(node.label)
            leftmost.append(first)
    return labels, leftmost


def _keyroots(leftmost: Sequence[int]) -> list[int]:
    """The last node for each leftmost leaf, in ascending order."""
    return sorted({first: position for position, first in enumerate(leftmost)}.values())


def _fill(
    distances: list[list[float]],
    roots: tuple[int, int],
    labels: tuple[Sequence[Label], Sequence[Label]],
    leftmost: tuple[Sequence[int], Sequence[int]],
    costs: tuple[Sequence[float], Sequence[float]],
    change: Callable[[Label, Label], float],
) -> None:
    """Fill in the distances of the subtrees on the paths from two keyroots to their leftmost
    leaves."""
    (i, j), (left, right), (removal, insertion) = roots, leftmost, costs
    above, before = left[i], right[j]
    row = [0.0]
    for y in range(before, j + 1):
        row.append(row[-1] + insertion[y])
    forest = [row]
    for x in range(above, i + 1):
        last = forest[-1]
        row = [last[0] + removal[x]]
        for y in range(before, j + 1):
            n = y - before
            cheapest = min(last[n + 1] + removal[x], row[n] + insertion[y])
            if left[x] == above and right[y] == before:
                cheapest = min(cheapest, last[n] + change(labels[0][x], labels[1][y]))
                distances[x][y] = cheapest
            else:
                corner = forest[left[x] - above][right[y] - before]
                cheapest = min(cheapest, corner + distances[x][y])
            row.append(cheapest)
        forest.append(row)
