"""Metrics of questions that are scored as a group, such as all questions about one figure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from snellen import stats
from snellen.metrics._columns import Columns
from snellen.metrics._metric import Metric
from snellen.stats import Direction, Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NONE_COMPLETE = "no group has a score for each of its questions"
Share = Literal["all right", "any right", "none right", "some right", "right"]


class Groups(NamedTuple):
    """G groups of questions. Each array has the shape (G,)."""

    cluster: NDArray[np.integer[Any]]
    """The label of the group's cluster."""
    code: NDArray[np.intp]
    """The code of the category that the group's rows have in the tag by which questions are
    grouped."""
    size: NDArray[np.intp]
    """The number of questions in the group."""
    all_right: NDArray[np.float64]
    """Of all ways to pick one reply to each question, the share in which all replies are right.
    Without repeats, the share is 0 or 1."""
    none_right: NDArray[np.float64]
    """Of all ways to pick one reply to each question, the share in which no reply is right."""
    right: NDArray[np.float64]
    """The share of the group's questions that are answered right, averaged over repeats."""


def groups(columns: Columns, by: str, question_tag: str) -> Groups:
    """Group questions by their cluster and their category of the tag `by`. The tag `question_tag`
    identifies a question within its group; all repeats of a question have the same value of this
    tag. If a question has no score in any repeat, its group is left out, since it is unknown
    whether all its questions are right.

    Raises:
        ValueError: The scoring does not give each sample a score.
    """
    import numpy as np

    if columns.score is None:
        raise ValueError("groups need a score for each sample, but this scoring has none")
    clusters, cluster = np.unique(columns.cluster, return_inverse=True)
    n_by, n_questions = len(columns.tags[by].names), len(columns.tags[question_tag].names)

    def questions(of: Columns, cluster: NDArray[np.intp]) -> NDArray[np.intp]:
        return (cluster * n_by + of.tags[by].codes) * n_questions + of.tags[question_tag].codes

    row = questions(columns, cluster)
    if columns.unscored is not None:
        known = columns.unscored.where(np.isin(columns.unscored.cluster, clusters))
        lacking = np.setdiff1d(questions(known, np.searchsorted(clusters, known.cluster)), row)
        is_complete = ~np.isin(row // n_questions, lacking // n_questions)
        columns, row = columns.where(is_complete), row[is_complete]
    if not len(row):
        none, no_share = np.empty(0, dtype=np.intp), np.empty(0)
        return Groups(none, none, none, no_share, no_share, no_share)
    question, number = np.unique(row, return_inverse=True)
    share = np.bincount(number, weights=columns.score) / np.bincount(number)
    group, start, size = np.unique(question // n_questions, return_index=True, return_counts=True)
    return Groups(
        cluster=clusters[group // n_by],
        code=group % n_by,
        size=size,
        all_right=np.multiply.reduceat(share, start),
        none_right=np.multiply.reduceat(1 - share, start),
        right=np.add.reduceat(share, start) / size,
    )


def share_of_groups(
    by: str,
    question_tag: str,
    share: Share = "all right",
    where: Mapping[str, Collection[str]] | None = None,
) -> Metric:
    """The share of groups in which all, any, none, or only some questions are answered right, or
    the mean share of a group's questions that are answered right.

    See `groups` for how questions are grouped. `share` selects the metric. In [0, 1]; lower is
    better for "none right" and "some right", and higher is better for the others.
    `where` maps each tag to the categories whose rows are kept. `n` counts groups. With repeats,
    the value is the mean over all ways to pick one reply to each question. The interval resamples
    clusters.

    There are two figures with two questions each, and in one figure both questions are right:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> figure = Category(codes=np.array([0, 0, 1, 1]), names=("figure 0", "figure 1"))
    >>> question = Category(codes=np.array([0, 1, 0, 1]), names=("question 0", "question 1"))
    >>> none = np.empty(4, dtype=object)
    >>> columns = Columns(score=np.array([1.0, 1.0, 1.0, 0.0]), cluster=np.zeros(4, dtype=int),
    ...     tags={"figure": figure, "question": question}, answer=none, target=none,
    ...     references=none, state=figure)
    >>> found = share_of_groups("figure", "question")(columns)
    >>> found.value, found.n
    (0.5, 2)
    """

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        for tag, names in (where or {}).items():
            columns = columns.tagged(tag, names)
        if not columns.n:
            return Estimate(value=None, n=0, reason="no scores")
        grouped = groups(columns, by, question_tag)
        if not len(grouped.size):
            return Estimate(value=None, n=0, reason=NONE_COMPLETE)
        value = {
            "all right": grouped.all_right,
            "any right": 1 - grouped.none_right,
            "none right": grouped.none_right,
            "some right": 1 - grouped.all_right - grouped.none_right,
            "right": grouped.right,
        }[share]
        labels, cluster = np.unique(grouped.cluster, return_inverse=True)
        sums = [np.bincount(cluster, weights=what) for what in (value, np.ones(len(value)))]
        return stats.bootstrap_sums(
            np.stack(sums, axis=1), stats.ratio, n=len(value), clusters=labels
        )

    better: Direction = "lower" if share in ("none right", "some right") else "higher"
    return Metric(metric, better=better, unit="fraction", name="share_of_groups")


def is_single_category(columns: Columns, tag: str) -> bool:
    """Whether all rows have the same category of a tag, although the tag has several categories."""
    codes = columns.tags[tag].codes
    return bool(columns.n and len(columns.tags[tag].names) > 1 and (codes == codes[0]).all())
