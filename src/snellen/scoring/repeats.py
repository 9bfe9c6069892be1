"""What several replies to each question tell beside their mean, under one scoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import TYPE_CHECKING, Any

from snellen import stats
from snellen.scoring.document import MetricReport, RepeatsReport, metric_report
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Reply = tuple[object, float]
"""What was read in a reply, and its score."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """One scoring's rows, arrays of length n: the question (0, 1, ...) and the cluster of each, its
    score and what was read in it, whether it is `in_mean`, and whether it is `unknown`, since it
    failed, was refused or waits for a judge. `best` is the score of a right answer."""

    question: NDArray[np.intp]
    cluster: NDArray[np.int32]
    score: NDArray[np.float64]
    answer: NDArray[Any]
    in_mean: NDArray[np.bool_]
    unknown: NDArray[np.bool_]
    best: float


def repeats_report(rows: Rows, *, most: int, votes: bool) -> RepeatsReport:
    """pass@k where every score is right or wrong, the majority's score where answers have `votes`,
    and the parts of the mean's variance. `most` is how often a question was asked."""
    import numpy as np

    known = rows.score[rows.in_mean]
    metrics: dict[str, MetricReport] = {}
    if bool(((known == 0) | (known == rows.best)).all()):
        for k in sorted({*(2**power for power in range(most.bit_length())), most}):
            metrics[f"pass@{k}"] = _pass_at(rows, k)
    if votes:
        metrics[f"majority@{most}"] = _majority(rows)
    parts = stats.components(known, rows.question[rows.in_mean])
    return RepeatsReport(
        most=most,
        questions=len(np.unique(rows.question[rows.in_mean])),
        metrics=metrics,
        between=None if parts is None else parts.between,
        within=None if parts is None else parts.within,
        stderr_questions=None if parts is None else parts.stderr_questions,
        stderr_again=None if parts is None else parts.stderr_again,
    )


def _pass_at(rows: Rows, k: int) -> MetricReport:
    """Over the questions with k replies or more; the bounds take what is unknown for wrong, and for
    right."""
    value = _mean_of(rows, _right_of_k(rows, rows.in_mean, rows.score, k))
    if value.value is None:
        return metric_report(
            Estimate(value=None, n=0, reason=f"no question has {k} replies that are scored")
        )
    if not rows.unknown.any():
        return metric_report(value)
    every = rows.in_mean | rows.unknown
    ends = [
        _mean_of(rows, _right_of_k(rows, every, _filled(rows, score), k)).value or 0.0
        for score in (0.0, rows.best)
    ]
    return metric_report(value, (ends[0], ends[1]))


def _filled(rows: Rows, score: float) -> NDArray[np.float64]:
    import numpy as np

    return np.where(rows.unknown, score, rows.score)


def _right_of_k(
    rows: Rows, counted: NDArray[np.bool_], score: NDArray[np.float64], k: int
) -> dict[int, float]:
    """pass@k of each question that has k rows or more among those counted."""
    import numpy as np

    question, right = rows.question[counted], score[counted] == rows.best
    of = np.bincount(question)
    hits = np.bincount(question[right], minlength=len(of))
    value = lru_cache(stats.pass_at)
    return {
        number: value(n, hit, k)
        for number, (n, hit) in enumerate(zip(of.tolist(), hits.tolist(), strict=True))
        if n >= k
    }


def _mean_of(rows: Rows, values: dict[int, float]) -> Estimate:
    """The mean of one value a question, with the clusters of the questions."""
    import numpy as np

    numbers, first = np.unique(rows.question, return_index=True)
    cluster = rows.cluster[first][np.isin(numbers, list(values))]
    return stats.mean(np.array([*values.values()], dtype=np.float64), cluster)


def _majority(rows: Rows) -> MetricReport:
    """The bounds take what is unknown for one wrong answer, and for one right answer."""
    value = _mean_of(rows, _votes(rows, rows.in_mean))
    if value.value is None or not rows.unknown.any():
        return metric_report(value)
    every = rows.in_mean | rows.unknown
    low, high = (
        _mean_of(rows, _votes(rows, every, unknown_as=score)).value or 0.0
        for score in (0.0, rows.best)
    )
    return metric_report(value, (low, high))


def _votes(
    rows: Rows, counted: NDArray[np.bool_], unknown_as: float | None = None
) -> dict[int, float]:
    """The vote of each question with rows among those counted; those that are unknown all say one
    answer of the score `unknown_as`, or (None) what stands in their rows."""
    replies: dict[int, list[Reply]] = {}
    missing: dict[int, int] = {}
    columns = (column[counted].tolist() for column in (rows.question, rows.unknown, rows.score))
    for number, unknown, score, answer in zip(*columns, rows.answer[counted], strict=True):
        said = replies.setdefault(number, [])
        if unknown and unknown_as is not None:
            missing[number] = missing.get(number, 0) + 1
        else:
            said.append((answer, score))
    if unknown_as is not None:
        for number, n in missing.items():
            replies[number] += [(_same_answer(replies[number], unknown_as), unknown_as)] * n
    return {number: majority(replies[number]) for number in sorted(replies)}


def majority(replies: Sequence[Reply]) -> float:
    """The score of the answer that was read most often, of (answer, score)s; where several were
    read as often the mean of theirs, as if one of them were drawn. What could not be read (None) is
    no candidate; where nothing could, the replies count as they are.

    >>> majority([("A", 1.0), ("A", 1.0), ("B", 0.0), (None, 0.0)])
    1.0
    >>> majority([("A", 1.0), ("B", 0.0)])
    0.5
    """
    scores: dict[object, list[float]] = {}
    for answer, score in replies:
        if answer is not None:
            scores.setdefault(answer, []).append(score)
    if not scores:
        return fmean(score for _, score in replies)
    most = max(map(len, scores.values()))
    return fmean(fmean(of) for of in scores.values() if len(of) == most)


def _same_answer(replies: Sequence[Reply], score: float) -> object:
    """Of the answers of this score the one that was read most often, else a new one."""
    read = Counter(answer for answer, worth in replies if answer is not None and worth == score)
    return read.most_common(1)[0][0] if read else object()
