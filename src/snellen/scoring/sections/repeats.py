"""What several replies to each question tell beside their mean."""

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
"""What was read in a reply, and its score."""
REPEATED = 0.1
"""Where fewer questions have several replies these are doubled rows of a file, and no repeats."""
WORD_BITS = 32


class RepeatsSection:
    """The repeats of each scoring, and how many questions got the same words each time."""

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
                f"repeats of a greedy model are alike: {alike:,} of {several:,} samples got the "
                "same words each time"
            )
        fields = {"repeats": _reports(draft, questions), "alike": alike if several else None}
        return fields, notes

    def _alike(self, table: ScoreTable, questions: NDArray[np.intp]) -> tuple[int, int]:
        """How many questions got the same words each time, and how many have several replies."""
        import numpy as np

        has_reply = ~np.isin(table.reply_states.values, LACKING)
        words = self._words.values[has_reply].astype(np.int64)
        pairs = np.unique(np.stack([questions[has_reply], words]), axis=1)
        several = np.bincount(questions[has_reply]) > 1
        different = np.bincount(pairs[0], minlength=len(several))
        return int((several & (different == 1)).sum()), int(several.sum())


def _questions(table: ScoreTable) -> NDArray[np.intp] | None:
    """The number of each row's question; None where too few were asked several times."""
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
            continue  # only the whole set has a score, or nothing has
        rows = Rows(
            question=questions,
            cluster=scored.columns.cluster,
            score=scored.columns.score,
            answer=scored.columns.answer,
            in_mean=scored.in_mean,
            unknown=scored.unknown,
            best=scoring.best,
        )
        # What a judge's verdict says is a grade, and no answer that replies could share.
        reports[name] = repeats_report(rows, most=most, votes=scoring.judge is None)
    return reports


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows of one scoring, (n,) each."""

    question: NDArray[np.intp]
    """The number of the question."""
    cluster: NDArray[np.int32]
    """The cluster."""
    score: NDArray[np.float64]
    """The score."""
    answer: NDArray[Any]
    """The parsed answer."""
    in_mean: NDArray[np.bool_]
    """Whether the row is in the mean."""
    unknown: NDArray[np.bool_]
    """Whether it failed, was refused, or has no verdict yet."""
    best: float
    """The score of a right answer."""


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
