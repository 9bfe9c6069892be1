"""snellen judge --qualify: measures judges against published verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from snellen import api, report
from snellen.cli._exit import DONE, FELL_SHORT, INTERRUPTED
from snellen.cli._run_options import pairs
from snellen.cli.json_output import put
from snellen.cli.progress_lines import ProgressLines
from snellen.errors import UsageError
from snellen.run import option_text

if TYPE_CHECKING:
    from snellen.scoring import Qualification


def thresholds(
    ctx: click.Context, param: click.Parameter, values: Sequence[str]
) -> dict[str, float | None]:
    """Read `NAME=X` arguments. For `NAME=none`, the value is None, and the judge need not meet the
    condition NAME."""
    from snellen.scoring import THRESHOLDS

    read: dict[str, float | None] = {}
    for name, value in pairs(ctx, param, values).items():
        if name not in THRESHOLDS:
            raise click.BadParameter(f"no condition {name!r}. Conditions: {', '.join(THRESHOLDS)}.")
        try:
            read[name] = None if value == "none" else option_text.number(value)
        except ValueError as error:
            raise click.BadParameter(f"{name}: {error}") from error
    return read


def qualify(
    files: Sequence[Path],
    plan: api.Plan,
    *,
    benchmark: str | None,
    data: Path | None,
    scorings: Sequence[str],
    limits: dict[str, float | None],
    tolerance: float | None,
    sample: int | None,
) -> tuple[int, list[Qualification], list[api.Finished]]:
    """Measure judges against published verdicts. Returns the exit code, the qualification of each
    judge, and the finished runs.

    Raises:
        UsageError: required options are missing, or an option does not work with --qualify.
    """
    if not plan.models:
        raise UsageError("--qualify requires a judge. Name a judge with --judge MODEL.")
    if benchmark is None:
        raise UsageError(
            "--qualify requires the benchmark of the verdicts. Name the benchmark with -b."
        )
    if len(scorings) > 1:
        raise UsageError("--qualify measures one scoring at a time: name one --scoring.")
    qualifications, finished = api.qualify_run(
        files,
        plan,
        benchmark=benchmark,
        data=data,
        scoring=next(iter(scorings), None),
        thresholds=limits,
        tolerance=tolerance,
        n=sample,
        show=ProgressLines(),
    )
    if any(run.interrupted for run in finished):
        return INTERRUPTED, qualifications, finished
    passed = all(qualification.qualified for qualification in qualifications)
    return DONE if passed else FELL_SHORT, qualifications, finished


def show(qualifications: Sequence[Qualification], *, as_json: bool) -> None:
    """Print the qualifications to standard output."""
    if as_json:
        put(qualifications[0] if len(qualifications) == 1 else qualifications)
        return
    for qualification in qualifications:
        report.print_qualification(qualification)
