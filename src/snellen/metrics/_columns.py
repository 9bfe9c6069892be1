"""What a metric sees: the whole set, as columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Category:
    """A column of names: `names[codes[i]]` is row i's. Shape of `codes`: (n,), int32."""

    codes: NDArray[np.int32]
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Columns:
    """One row a (sample, repeat) that has a reply, all arrays of length n, in the benchmark's
    order.

    `score` (float64) is None where only the whole set has a score. `answer` and `target` (object:
    str, float, tuple of str or
    None) are what was found and what is right; `references` (object: tuple of str). `state` is the
    reading state. `cluster`
    numbers the image, video or sample that rows share (repeats of a sample share at least that).
    `weight` is None where all weigh the same. `unscored` are the rows that failed, were refused or
    wait for a judge and are in no mean: a group of questions that lacks one of them is not known.
    `assumed_wrong` (n,) marks rows without a reply that the bounds of an incomplete result take for
    wrong answers; None where there are none.
    """

    score: NDArray[np.float64] | None
    answer: NDArray[Any]
    target: NDArray[Any]
    references: NDArray[Any]
    state: Category
    tags: Mapping[str, Category]
    cluster: NDArray[np.int32]
    weight: NDArray[np.float64] | None = None
    unscored: Columns | None = None
    assumed_wrong: NDArray[np.bool_] | None = None

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
        """The rows whose tag is among the names, of `unscored` too."""
        import numpy as np

        column = self.tags[tag]
        wanted = np.array([name in names for name in column.names], dtype=bool)
        unscored = None if self.unscored is None else self.unscored.tagged(tag, names)
        return replace(self.where(wanted[column.codes]), unscored=unscored)
