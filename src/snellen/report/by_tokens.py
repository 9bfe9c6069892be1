"""Relates the scores of runs of the same models in several settings to the number of tokens in
their replies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from snellen.analysis.result import Result, shown
from snellen.report import side_by_side
from snellen.scoring import MetricReport

HEADINGS = (
    *("setting", "model", "value", "95 % interval", "output tokens", "95 % interval"),
    *("per correct answer", "95 % interval", "n"),
)
PLAIN = "nothing set"


class TokenPoint(NamedTuple):
    """A run with its score and the tokens of its replies."""

    model: str
    """The model."""
    setting: str
    """The settings that distinguish this run from the model's other runs, such as `effort=low`."""
    score: MetricReport
    """The score: the first metric of the headline scoring."""
    per_reply: MetricReport
    """The mean number of output tokens per reply, including reasoning."""
    per_correct: MetricReport | None
    """The number of output tokens per correct answer."""


def sweeps(results: Sequence[Result]) -> Iterator[tuple[str, list[TokenPoint]]]:
    """Yield, for each benchmark, a title and the runs of every model that has several runs with
    known token counts. A benchmark without such a model is skipped."""
    for benchmark, of in side_by_side.by_benchmark(results).items():
        points = [
            TokenPoint(
                model=side_by_side.names(result)[1],
                setting=_setting(name, side_by_side.names(result)[1]),
                score=result.headline,
                per_reply=tokens.per_reply,
                per_correct=tokens.per_correct,
            )
            for name, result in of.items()
            if result.report.scorings and (tokens := result.report.output_tokens) is not None
        ]
        models = [point.model for point in points]
        several = [point for point in points if models.count(point.model) > 1]
        if several:
            first = next(result for result in of.values() if result.report.scorings)
            yield f"{benchmark}: {first.headline_label} by output tokens per reply", several


def rows(points: Sequence[TokenPoint]) -> list[Sequence[str]]:
    """A row for each run, with the columns that HEADINGS lists."""
    lines: list[Sequence[str]] = []
    for point in points:
        score, per_reply = shown(point.score), shown(point.per_reply)
        per_correct = ("", "") if point.per_correct is None else shown(point.per_correct)[:2]
        lines.append(
            (point.setting, point.model, *score[:2], *per_reply[:2], *per_correct, score.n)
        )
    return lines


def _setting(name: str, model: str) -> str:
    rest = name.removeprefix(model).strip()
    return rest.removeprefix("(").removesuffix(")") or PLAIN
