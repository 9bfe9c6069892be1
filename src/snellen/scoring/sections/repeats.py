"""Computes statistics of several replies to each question, in addition to their mean score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import TYPE_CHECKING, Any

from snellen import stats
from snellen.scoring.columns import Column, Numbers
from snellen.scoring.document import MetricReport, RepeatsReport, metric_report
from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.table import LACKING, ScoreTable
from snellen.scoring.verdicts import Finding
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Reply = tuple[object, float]
"""The parsed answer of a reply, and its score."""
REPEATED = 0.1
"""The minimum share of questions with several replies. If the share is smaller, additional replies
count as duplicate rows of a file, not as repeats."""
WORD_BITS = 32


class RepeatsSection:
    """Reports the statistics of repeats for each scoring, and the number of questions whose replies
    are all identical."""

    def __init__(self, scorer: Scorer) -> None:
        self._words = Numbers("I")
        self.columns: Sequence[Column] = (self._words,)

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        reply = scored.reply
        words = 0 if reply is None else hash((reply.text, reply.choices))
        self._words.append(words & ((1 << WORD_BITS) - 1))

    def summarize(self, draft: Draft) -> Part:
        questions = _questions(draft.table)
        if questions is None:
            return NOTHING
        alike, several = self._alike(draft.table, questions)
        notes = []
        if several and draft.source.identity.get("generation", {}).get("temperature") == 0:
            notes.append(
                f"{alike:,} of {several:,} questions got the same reply in every repeat, as is "
                "expected at temperature 0"
            )
        fields = {"repeats": _reports(draft, questions), "alike": alike if several else None}
        return fields, notes

    def _alike(self, table: ScoreTable, questions: NDArray[np.intp]) -> tuple[int, int]:
        """The number of questions whose replies are all identical, and the number of questions with
        several replies."""
        import numpy as np

        has_reply = ~np.isin(table.reply_states.values, LACKING)
        words = self._words.values[has_reply].astype(np.int64)
        pairs = np.unique(np.stack([questions[has_reply], words]), axis=1)
        several = np.bincount(questions[has_reply]) > 1
        different = np.bincount(pairs[0], minlength=len(several))
        return int((several & (different == 1)).sum()), int(several.sum())


def _questions(table: ScoreTable) -> NDArray[np.intp] | None:
    """The index of each row's question; None if too few questions were asked several times."""
    import numpy as np

    if not table.repeats.any():
        return None
    _, codes, n = np.unique(table.questions, return_inverse=True, return_counts=True)
    return codes if np.count_nonzero(n > 1) >= REPEATED * len(n) else None


def _reports(draft: Draft, questions: NDArray[np.intp]) -> dict[str, RepeatsReport]:
    import numpy as np

    most = int(np.bincount(questions).max())
    reports = {}
    for name in draft.reported:
        scoring = draft.benchmark.scorings[name]
        scored = draft.rows(name)
        if scored.columns.score is None or not scored.in_mean.any():
            continue  # only the whole set has a score, or no reply has one
        rows = Rows(
            question=questions,
            cluster=scored.columns.cluster,
            score=scored.columns.score,
            answer=scored.columns.answer,
            in_mean=scored.in_mean,
            unknown=scored.unknown,
            best=scoring.best,
        )
        # The answer in a judge's verdict is a grade, not an answer that several replies can share.
        reports[name] = repeats_report(rows, most=most, votes=scoring.judge is None)
    return reports


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows of one scoring, as arrays (n,)."""

    question: NDArray[np.intp]
    """The index of the row's question."""
    cluster: NDArray[np.int32]
    """The cluster."""
    score: NDArray[np.float64]
    """The score."""
    answer: NDArray[Any]
    """The parsed answer."""
    in_mean: NDArray[np.bool_]
    """Whether the row is in the mean."""
    unknown: NDArray[np.bool_]
    """Whether the row failed, was refused, or has no verdict yet."""
    best: float
    """The score of a right answer."""


def repeats_report(rows: Rows, *, most: int, votes: bool) -> RepeatsReport:
    """Compute the statistics of repeats: pass@k, the score of the majority answer, and the
    components of the mean's variance. The metric pass@k is computed only if every reply is either
    right or wrong. The majority score is computed only if `votes` is true. `most` is the largest
    number of replies to a question."""
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
    """The mean pass@k over the questions with at least k replies. For the lower bound, all replies
    with an unknown score count as wrong. For the upper bound, all such replies count as right."""
    value = _mean_of(rows, _right_of_k(rows, rows.in_mean, rows.score, k))
    if value.value is None:
        return metric_report(
            Estimate(value=None, n=0, reason=f"no question has {k} scored replies")
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
    """Maps each question with at least k counted rows to its pass@k."""
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
    """The mean of `values`, which maps questions to values. The interval takes the questions'
    clusters into account."""
    import numpy as np

    numbers, first = np.unique(rows.question, return_index=True)
    cluster = rows.cluster[first][np.isin(numbers, list(values))]
    return stats.mean(np.array([*values.values()], dtype=np.float64), cluster)


def _majority(rows: Rows) -> MetricReport:
    """The mean score of the majority answer. For the bounds, all replies to a question with an
    unknown score count as the same answer, which is wrong for the lower bound and right for the
    upper bound."""
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
    """The majority score of each question with at least one row that `counted` selects. If
    `unknown_as` is given, all replies to a question with an unknown score count as the same answer,
    with the score `unknown_as`. Otherwise, these replies count with the answers and scores in their
    rows."""
    replies: dict[int, list[Reply]] = {}
    missing: dict[int, int] = {}
    columns = (column[counted].tolist() for column in (rows.question, rows.unknown, rows.score))
    for number, unknown, score, answer in zip(*columns, rows.answer[counted], strict=True):
        answers = replies.setdefault(number, [])
        if unknown and unknown_as is not None:
            missing[number] = missing.get(number, 0) + 1
        else:
            answers.append((answer, score))
    if unknown_as is not None:
        for number, n in missing.items():
            replies[number] += [(_same_answer(replies[number], unknown_as), unknown_as)] * n
    return {number: majority(replies[number]) for number in sorted(replies)}


def majority(replies: Sequence[Reply]) -> float:
    """The score of the most frequent answer among (answer, score) pairs. If several answers are
    tied, the result is the mean of their scores, which is the expected score of a random choice
    among them. Unparsed answers (None) are ignored. If all answers are unparsed, the result is the
    mean of all scores.

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
    """The most frequent answer with this score, or a new answer if there is none."""
    read = Counter(answer for answer, worth in replies if answer is not None and worth == score)
    return read.most_common(1)[0][0] if read else object()
