"""The input of a metric: the scores, answers, and tags of all samples as columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Category:
    """A column of names. The name of row i is `names[codes[i]]`."""

    codes: NDArray[np.int32]
    """For each row, the position of its name in `names`; (n,)."""
    names: tuple[str, ...]
    """The distinct names."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The input of a metric: a column for each property of the replies, such as their scores. Each
    row is one reply, and a repeat of a sample has its own row. Rows are in the order of the
    benchmark. All arrays have length n, the number of rows."""

    score: NDArray[np.float64] | None
    """The score of each row; None if the scoring does not give each sample a score."""
    answer: NDArray[Any]
    """The parsed answer of each row: a string, a number, a tuple of strings, or None."""
    target: NDArray[Any]
    """The right answer of each row, which has the same type as a parsed answer."""
    references: NDArray[Any]
    """For each row, the answers of several people as a tuple of strings."""
    state: Category
    """How each reply was read, such as `answered` or `unparsed`."""
    tags: Mapping[str, Category]
    """The category of each row, keyed by tag."""
    cluster: NDArray[np.int32]
    """The integer that identifies each row's cluster. Rows with the same image or video form a
    cluster, and so do the repeats of one sample."""
    weight: NDArray[np.float64] | None = None
    """The weight of each row; None if all weights are equal."""
    unscored: Columns | None = None
    """The rows that are excluded from all means: those that failed, were refused, or lack a judge's
    verdict. If one of these rows belongs to a group of questions, the score of the group is
    unknown."""
    assumed_wrong: NDArray[np.bool_] | None = None
    """A mask that is used only for the bounds of an incomplete result. It marks the rows that have
    no reply and are counted as wrong; None if there are no such rows."""

    @property
    def n(self) -> int:
        return len(self.cluster)

    def where(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> Columns:
        """Select rows by a boolean mask (n,) or by row indices, which may repeat."""
        if rows.dtype == bool:  # convert the mask once instead of once for each column
            (rows,) = rows.nonzero()
        return Columns(
            score=None if self.score is None else self.score[rows],
            answer=self.answer[rows],
            target=self.target[rows],
            references=self.references[rows],
            state=Category(codes=self.state.codes[rows], names=self.state.names),
            tags={
                name: Category(codes=tag.codes[rows], names=tag.names)
                for name, tag in self.tags.items()
            },
            cluster=self.cluster[rows],
            weight=None if self.weight is None else self.weight[rows],
            unscored=self.unscored,
            assumed_wrong=None if self.assumed_wrong is None else self.assumed_wrong[rows],
        )

    def tagged(self, tag: str, names: Collection[str]) -> Columns:
        """Select the rows whose `tag` is one of `names`, both here and in `unscored`."""
        import numpy as np

        column = self.tags[tag]
        wanted = np.array([name in names for name in column.names], dtype=bool)
        unscored = None if self.unscored is None else self.unscored.tagged(tag, names)
        return replace(self.where(wanted[column.codes]), unscored=unscored)
