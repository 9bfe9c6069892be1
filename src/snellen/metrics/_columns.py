"""The input of a metric: the whole set, as columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Category:
    """A column of names: `names[codes[i]]` is the name of row i."""

    codes: NDArray[np.int32]
    """The number of each row's name, (n,)."""
    names: tuple[str, ...]
    """The different names."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The replies of a scoring as columns, a row for each (sample, repeat) with a reply, in the
    benchmark's order. All arrays have length n."""

    score: NDArray[np.float64] | None
    """The score of each row; None if only the whole set has a score."""
    answer: NDArray[Any]
    """The parsed answers: text, numbers, tuples of texts, or None."""
    target: NDArray[Any]
    """The right answers, of the same types."""
    references: NDArray[Any]
    """The answers of several people, as tuples of texts."""
    state: Category
    """The state of each reading, such as `answered`."""
    tags: Mapping[str, Category]
    """The categories of each tag."""
    cluster: NDArray[np.int32]
    """The number of the image, video, or sample that rows share. Repeats of a sample share
    theirs."""
    weight: NDArray[np.float64] | None = None
    """The weight of each row; None if all are equal."""
    unscored: Columns | None = None
    """The rows that no mean includes: failed, refused, or without a verdict. The score of a group
    of questions with such a row is unknown."""
    assumed_wrong: NDArray[np.bool_] | None = None
    """The rows without a reply that the bounds of an incomplete result count as wrong; None if
    there are none."""

    @property
    def n(self) -> int:
        return len(self.cluster)

    def where(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> Columns:
        """These rows alone; a boolean mask (n,) or row numbers (a resample may repeat them)."""
        if rows.dtype == bool:  # read once here, not once for each column
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
        """The rows whose tag is among the names, including those of `unscored`."""
        import numpy as np

        column = self.tags[tag]
        wanted = np.array([name in names for name in column.names], dtype=bool)
        unscored = None if self.unscored is None else self.unscored.tagged(tag, names)
        return replace(self.where(wanted[column.codes]), unscored=unscored)
