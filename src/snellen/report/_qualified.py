"""Formats a judge's qualification as tables and lines of plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from snellen.analysis.result import shown
from snellen.scoring import Criterion, Qualification

FIGURES = ("figure", "value", "95 % interval", "n", "condition", "remark")
MODELS = ("model", "published", "judge", "n")


def tables(
    of: Qualification,
) -> Iterator[tuple[str, Sequence[str], list[tuple[str, ...]]]]:
    """Yield two tables, each as a title, headings, and rows: the metrics of the judge's agreement
    with the published verdicts, and the models' mean scores."""
    agreement = of.agreement
    conditions = {criterion.name: criterion for criterion in agreement.criteria}
    figures = {
        "readable": ("verdicts that can be read", agreement.readable),
        "exact": ("same score", agreement.exact),
        "within": (f"within {agreement.tolerance:g}", agreement.within),
        "kappa": ("kappa, quadratic weights", agreement.kappa),
        "bias": (f"bias (judge minus published, of {agreement.best:g})", agreement.bias),
        "tau": ("Kendall's tau of the models' ranks", agreement.tau),
    }
    rows: list[tuple[str, ...]] = []
    for name, (label, metric) in figures.items():
        cells = shown(metric)
        condition = _condition(conditions.get(name))
        rows.append((label, cells.value, cells.interval, cells.n, condition, cells.remark))
    count = conditions["replies"]
    rows.append(("replies", f"{agreement.replies:,}", "", "", _condition(count), ""))
    title = f"{of.benchmark} {of.scoring}: {of.judge} against the published verdicts"
    yield f"{title} of {of.authors}" if of.authors else title, FIGURES, rows
    models: list[tuple[str, ...]] = [
        (name, f"{scores.published:.4f}", f"{scores.judge:.4f}", f"{scores.n:,}")
        for name, scores in agreement.models.items()
    ]
    yield "mean scores", MODELS, models


def lines(of: Qualification) -> Iterator[str]:
    """Yield lines with the decision whether the judge qualifies, the notes, and the folder of the
    judge's run."""
    yield f"{'qualified' if of.qualified else 'not qualified'}: {of.agreement.summary}"
    yield from (f"note: {note}" for note in of.agreement.notes)
    yield f"run {of.run}"
    yield "`snellen score RUN` adds this to the report of a run in the folder above `.qualified`"


def _condition(criterion: Criterion | None) -> str:
    """`at least 0.6: met`"""
    if criterion is None or criterion.threshold is None:
        return "none"
    state = "met" if criterion.met else "not met"
    relation = "at most" if criterion.name == "bias" else "at least"
    return f"{relation} {criterion.threshold:g}: {state}"
