"""GQA's metrics besides accuracy: validity, plausibility, consistency, and distribution.

All metrics are computed over the balanced questions, as in eval.py 1.1 of the data set's evaluation
package. Line numbers refer to the copy of that file in
PKU-YuanGroup/Video-LLaVA@1d28d6ea2e3ad8242a209c490124b5b98a768618:llava/eval/eval_gqa.py.

The metrics read these tags: `question` (the question's id), `balanced` ("balanced" or ""),
`detailed` (the question's type), `group` (the global group), and `entailed` (ids separated by
spaces). A metric has no value if one of its tags is missing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from snellen import stats
from snellen.metrics._columns import Columns
from snellen.metrics._metric import Metric, metric
from snellen.metrics._rows_tagged import rows_tagged
from snellen.stats import Estimate

TAGS = ("question", "balanced", "detailed", "group", "entailed")
COMMON = ("color", "material", "shape")
"""The answers that count as valid and plausible if the type of the question contains "Common":
L248-L249."""

Choices = Mapping[str, Mapping[str, Sequence[str]]]


def belonging(
    kind: Literal["valid", "plausible"], choices: Callable[[], Choices | None], file: str
) -> Metric:
    """The share of answers that are among the valid (or plausible) answers to their question.

        m = 1/n · Σ_q [answer_q in C_q]

    In [0, 1]; higher is better. `choices` returns the valid and the plausible answers to each
    question, or None if `file` is missing. In that case, there is no value, whereas the authors'
    script reports 0 %. Source: L246-L251, L405-L416. `stats.mean` computes the interval.
    """

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        if lacking := _lacking(columns, "question", "balanced", "detailed"):
            return lacking
        columns = columns.where(rows_tagged(columns, "balanced", ["balanced"]))
        known = choices() if columns.n else {}
        if known is None:
            return Estimate(value=None, n=0, reason=f"it needs the authors' {file}")
        ids = _names(columns, "question")
        if unknown := [name for name in ids if name not in known]:
            reason = f"{file} lacks {len(unknown):,} questions, such as {unknown[0]}"
            return Estimate(value=None, n=0, reason=reason)
        rows = zip(ids, _names(columns, "detailed"), columns.answer, strict=True)
        belongs = [
            answer in (COMMON if "Common" in detailed else known[name][kind])
            for name, detailed, answer in rows
        ]
        return stats.mean(np.array(belongs, dtype=np.float64), columns.cluster)

    return Metric(metric, better="higher", unit="fraction", name=kind)


@metric(better="higher", unit="fraction")
def consistency(columns: Columns) -> Estimate:
    """For each right answer, the accuracy on the questions that it entails, averaged over all right
    answers.

        m = 1/|Q| · Σ_{q in Q} 1/|E_q| · Σ_{e in E_q} [e is right]

    Q is the set of balanced questions that are answered right and entail other questions. E_q is
    the set of questions that q entails, without q itself. In [0, 1]; higher is better. Hudson and
    Manning 2019, https://arxiv.org/abs/1902.09506, section 4.4; source L257-L270. The metric needs
    the answers to all questions, balanced or not. `stats.mean` computes the interval with images as
    clusters, since only questions about the same image entail each other.

    The first question is right, and so is one of the two questions that it entails:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> def named(*names): return Category(codes=np.arange(len(names)), names=names)
    >>> tags = {"question": named("1", "2", "3"), "balanced": named("balanced", "", ""),
    ...     "entailed": named("2 3", "", "")}
    >>> none = np.empty(3, dtype=object)
    >>> columns = Columns(score=np.array([1.0, 1.0, 0.0]), answer=none, target=none,
    ...     references=none, tags=tags, state=tags["question"], cluster=np.zeros(3, dtype=int))
    >>> consistency(columns).value
    0.5

    Raises:
        ValueError: The scoring does not give each sample a score.
    """
    import numpy as np

    if columns.score is None:
        raise ValueError("consistency needs a score for each sample, but this scoring has none")
    if lacking := _lacking(columns, "question", "balanced", "entailed"):
        return lacking
    ids = _names(columns, "question")
    right = dict(zip(ids, columns.score.tolist(), strict=True))
    is_balanced = rows_tagged(columns, "balanced", ["balanced"])
    scores, clusters = [], []
    entailed = _names(columns, "entailed")
    for row in np.flatnonzero(is_balanced).tolist():
        following = [name for name in entailed[row].split() if name != ids[row]]
        if columns.score[row] != 1 or not following:
            continue
        if unknown := [name for name in following if name not in right]:
            reason = (
                f"it needs the answers to all questions: {unknown[0]}, which follows from "
                f"{ids[row]}, is not among them"
            )
            return Estimate(value=None, n=0, reason=reason)
        scores.append(sum(right[name] for name in following) / len(following))
        clusters.append(columns.cluster[row])
    if not scores:
        return Estimate(value=None, n=0, reason="no right answer entails another")
    return stats.mean(np.array(scores), np.array(clusters))


@metric(better="lower", unit="chi-square")
def distribution(columns: Columns) -> Estimate:
    """The distance between the distribution of the model's answers and that of the right answers,
    averaged over groups.

        D = 1/100 · Σ_g n_g · χ²_g / Σ_g n_g        χ²_g = Σ_a (o_ga - e_ga)² / e_ga

    Group g has n_g questions. The answer a is right for e_ga of these questions, and the model gave
    this answer to o_ga of these questions. Answers that are never right in a group are ignored. At
    least 0; lower is better. Source: L359-L378, L423-L434.

    There is no interval, because a bootstrap would be biased. Resampling adds variance, which makes
    the χ² of a resample larger than the χ² of the sample. χ² also grows with the number of
    questions.

    "red" is right twice and is answered once, which gives (1 - 2)² / 2, divided by 100:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> def named(*names): return Category(codes=np.arange(len(names)), names=names)
    >>> tags = {"group": named("color", "color"), "balanced": named("balanced", "balanced")}
    >>> right, said = np.array([["red", "red"], ["red", "cup"]], dtype=object)
    >>> columns = Columns(score=np.ones(2), answer=said, target=right, references=right, tags=tags,
    ...     state=tags["group"], cluster=np.arange(2))
    >>> distribution(columns).value
    0.005
    """
    if lacking := _lacking(columns, "balanced", "group"):
        return lacking
    columns = columns.where(rows_tagged(columns, "balanced", ["balanced"]))
    gold: defaultdict[str, Counter[str]] = defaultdict(Counter)
    answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for group, target, answer in zip(
        _names(columns, "group"), columns.target, columns.answer, strict=True
    ):
        if group:
            gold[group][target] += 1
            answers[group][answer] += 1
    n = sum(counts.total() for counts in gold.values())
    if not n:
        return Estimate(value=None, unit="chi-square", n=0, reason="no question has a group")
    total = 0.0
    for group, expected in gold.items():
        squares = sum((answers[group][answer] - e) ** 2 / e for answer, e in expected.items())
        total += squares * expected.total()
    return Estimate(
        value=total / n / 100,
        unit="chi-square",
        n=n,
        reason="no interval: the value grows when questions are resampled",
    )


def _lacking(columns: Columns, *tags: str) -> Estimate | None:
    """If one of the tags is missing, return an estimate without a value; otherwise, None."""
    missing = [tag for tag in tags if tag not in columns.tags]
    reason = f"it needs the tag {missing[0]} of each question" if missing else ""
    return Estimate(value=None, n=0, reason=reason) if missing else None


def _names(columns: Columns, tag: str) -> list[str]:
    """The name of each row's category, according to the tag."""
    category = columns.tags[tag]
    return [category.names[code] for code in category.codes.tolist()]
