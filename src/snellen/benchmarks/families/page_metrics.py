"""Metrics of pages in Markdown.

OmniDocBench has means over pages of the scores of their parts. A reading's answer has the scores of
the parts of its page. A page without some part, such as a table, does not count for this part. If a
reply is empty, its answer is None, and all parts of the page are wrong. The tag `parts` lists them.

olmOCR-Bench has shares of tests that pass. A reading's answer has the numbers of its page's tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from snellen import stats
from snellen.core import NamedAnswers
from snellen.metrics import Columns, Metric
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EDITS = ("text", "formula", "table", "order")
"""The parts that are scored by edit distance."""
ELEMENTS = {
    "text": "a text",
    "formula": "a formula",
    "table": "a table",
    "order": "a reading order",
    "teds": "a table",
    "teds_s": "a table",
}
"""The elements of a page that each part compares."""
NOTHING_READ = {**dict.fromkeys(EDITS, 1.0), "teds": 0.0, "teds_s": 0.0}
"""The scores of an empty reply."""


def page_mean(
    *parts: str, language: str = "", weight: str = "", better: stats.Direction = "lower"
) -> Metric:
    """The mean over pages of each part, and the mean of these means. `language` selects pages by
    their tag, and `weight` names the part that has the weight of each page."""

    def compute(columns: Columns) -> Estimate:
        import numpy as np

        if language:
            if language not in columns.tags["language"].names:
                reason = f"no scored page has the language {language}"
                return Estimate(value=None, n=0, reason=reason)
            columns = columns.tagged("language", (language,))
        values = {part: scores_of(columns, part) for part in parts}
        known = {part: ~np.isnan(scores) for part, scores in values.items()}
        if missing := [part for part in parts if not known[part].any()]:
            reason = f"no scored page has {ELEMENTS[missing[0]]} to compare"
            return Estimate(value=None, n=0, reason=reason)
        weights = np.ones(columns.n) if columns.weight is None else columns.weight
        if weight:
            weights = weights * np.nan_to_num(scores_of(columns, weight))
        clusters, cluster = np.unique(columns.cluster, return_inverse=True)
        sums = [
            np.bincount(cluster, np.where(known[part], weights * factor, 0.0), len(clusters))
            for part in parts
            for factor in (np.nan_to_num(values[part]), 1.0)
        ]

        def average(totals: NDArray[np.float64]) -> NDArray[np.float64]:
            with np.errstate(invalid="ignore"):
                means = totals[:, 0::2] / totals[:, 1::2]
            result: NDArray[np.float64] = means.mean(axis=1)
            return result

        n = int(np.logical_or.reduce(list(known.values())).sum())
        return _estimate(np.stack(sums, axis=1), average, n, clusters)

    return Metric(compute, better=better, unit="fraction")


def _estimate(
    sums: NDArray[np.float64],
    average: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    n: int,
    clusters: NDArray[np.integer[Any]],
) -> Estimate:
    """An average with its interval. `sums` (G, 2k) has pairs of columns: a sum of scores, and the
    weight of these scores. Clusters without any weight are left out, since they have nothing that
    the average counts."""
    has_weight = sums[:, 1::2].any(axis=1)
    return stats.bootstrap_sums(sums[has_weight], average, n=n, clusters=clusters[has_weight])


def scores_of(columns: Columns, part: str) -> NDArray[np.float64]:
    """The score of a part of each page; NaN for a page without it."""
    import numpy as np

    tag = columns.tags["parts"]
    parts = [tag.names[code].split() for code in tag.codes]
    return np.array(
        [
            wrong_score(part, listed) if answer is None else answer.answers.get(part, np.nan)
            for answer, listed in zip(columns.answer, parts, strict=True)
        ],
        dtype=np.float64,
    )


def wrong_score(part: str, listed: Sequence[str]) -> float:
    """The score of a part if the reply is empty; NaN if the page has no such part. In the list of
    parts, each table is listed."""
    if part == "tables":
        return float(listed.count("table")) if "table" in listed else float("nan")
    wanted = "table" if part.startswith("teds") else part
    return NOTHING_READ[part] if wanted in listed else float("nan")


def page_answer(parts: Mapping[str, tuple[float, float]]) -> NamedAnswers:
    """The scores of a page from the sums of its parts (`Page.parts`)."""
    scores = {name: total / count for name, (total, count) in parts.items() if count}
    if tables := parts["teds"][1]:
        scores["tables"] = tables
    return NamedAnswers(answers=dict(scores))


# -- tests of pages (olmOCR-Bench)


def pass_rate(*kinds: str, by_source: bool = False) -> Metric:
    """The share of tests of these kinds that pass. `by_source`: the mean of this share in each
    source and of the share of baseline tests."""

    def compute(columns: Columns) -> Estimate:
        import numpy as np

        every: Any = [{} if answer is None else answer.answers for answer in columns.answer]
        source = columns.tags["source"]
        groups = [(code, kinds) for code in range(len(source.names) if by_source else 1)]
        groups += [(-1, ("baseline",))] if by_source else []
        weight = np.ones(columns.n) if columns.weight is None else columns.weight
        clusters, cluster = np.unique(columns.cluster, return_inverse=True)
        sums, tests = [], 0.0
        for code, names in groups:
            of_group = (source.codes == code) | (code < 0) | (not by_source)
            numbers = (
                np.array(
                    [
                        [
                            sum(counts.get(name, 0.0) for name in names),
                            sum(counts.get(f"{name} tests", 0.0) for name in names),
                        ]
                        for counts in every
                    ]
                ).reshape(columns.n, 2)
                * of_group[:, np.newaxis]
            )
            if numbers[:, 1].any():
                tests += numbers[:, 1].sum()
                sums += [np.bincount(cluster, weight * part, len(clusters)) for part in numbers.T]
        if not sums:
            return Estimate(value=None, n=0, reason=f"no test of the kind {' or '.join(kinds)}")

        def average(totals: Any) -> Any:
            with np.errstate(invalid="ignore"):
                return (totals[:, 0::2] / totals[:, 1::2]).mean(axis=1)

        return _estimate(np.stack(sums, axis=1), average, int(tests), clusters)

    return Metric(compute, better="higher", unit="fraction")


def _formulas(columns: Columns) -> Estimate:
    every: Any = columns.answer
    count = sum(int(answer.answers.get("math tests", 0)) for answer in every if answer is not None)
    reason = f"{count:,} tests of formulas need KaTeX in a browser, and are not run"
    return Estimate(value=None, n=0, reason=reason)


unrun_formulas = Metric(_formulas, better="higher", unit="fraction")
"""Has no value, and says how many tests of formulas there are."""
