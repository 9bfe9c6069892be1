"""snellen compare: shows which side is better, and whether the difference is significant."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from snellen import api, report
from snellen.analysis.comparing import ComparisonResult, Comparisons
from snellen.cli import _worse
from snellen.cli._exit import DONE, FELL_SHORT
from snellen.cli._form import TERMINAL, form_of, put
from snellen.cli._own_benchmark import runs_toolkit_code
from snellen.cli._places import DATA, RUNS
from snellen.cli.json_output import as_json as json_option
from snellen.errors import UsageError, plain

PATH = click.Path(path_type=Path)
WRITTEN: Mapping[str, Callable[[Comparisons], str]] = {
    "md": report.compared_markdown,
    "html": report.compared_html,
    "latex": report.compared_latex,
    "csv": report.compared_csv,
    "json": lambda document: ComparisonResult(document).json() + "\n",
}
ENDINGS = {form: form for form in WRITTEN} | {"tex": "latex", "htm": "html"}


@click.command("compare")
@click.argument("sides", nargs=-1, required=True, type=RUNS, metavar="RUN|FILE...")
@click.option(
    "-b",
    "--benchmark",
    metavar="BENCH",
    help="The benchmark of the files. Needed for a run only if the benchmark is your own FILE.py.",
)
@click.option("--data", type=DATA, help="The benchmark's rows. Only for files.")
@click.option("--scoring", metavar="NAME", help="A scoring other than the headline.")
@click.option(
    "--ids", metavar="COLUMN", help="The column of ids in FILE; `a.b` means field b of a."
)
@click.option("--replies", "replies_in", metavar="COLUMN", help="The column of replies in FILE.")
@click.option(
    "--only", metavar="PATTERN", help="Read only these files of a folder, such as '*/output.json'."
)
@click.option(
    "--format",
    "form",
    type=click.Choice([TERMINAL, *WRITTEN]),
    help="Default: the format of the output file's extension, otherwise terminal.",
)
@click.option("-o", "--output", type=PATH, metavar="FILE", help="Write to a file.")
@click.option(
    "--fail-if-worse",
    "margin",
    type=click.FloatRange(0),
    metavar="X",
    help="Exit with 1 if any side is worse than the first side by more than X in the first metric "
    "(0.02: 2 points), that is, if the whole 95 % interval of the difference is beyond X. The "
    "first side of a folder is the folder's oldest run.",
)
@click.option(
    "--junit",
    type=PATH,
    metavar="FILE",
    help="With --fail-if-worse: also write the checks as JUnit XML.",
)
@json_option
@runs_toolkit_code
def command(
    sides: tuple[Path, ...],
    benchmark: str | None,
    data: Path | None,
    scoring: str | None,
    form: str | None,
    output: Path | None,
    margin: float | None,
    junit: Path | None,
    as_json: bool,
    **columns: str | None,
) -> int:
    """Compare RUN folders, all runs in folders, or predictions, on the samples that they share.

    A difference is a later side minus an earlier side, with an interval and a p-value from paired
    samples. The sides are in the order of the arguments, and the runs of a folder are in the order
    in which they started. No request is sent, and no file is written except the output.
    """
    if junit is not None and margin is None:
        raise UsageError("--junit writes the checks of --fail-if-worse, which is missing.")
    form = "json" if as_json else form_of(output, form, ENDINGS)
    document = api.compare(
        *sides,
        benchmark=benchmark,
        data=data,
        scoring=scoring,
        details=form in WRITTEN,  # the terminal shows details only for a single pair
        **columns,
    ).comparisons
    if margin is not None:
        _worse.check_margin(document, margin)
    if output is None and form == TERMINAL:
        report.print_compared(document)
    else:
        text = WRITTEN[form](document) if form in WRITTEN else report.compared_text(document)
        put(text, output)
    return DONE if margin is None else _checked(document, margin, junit)


def _checked(document: Comparisons, margin: float, junit: Path | None) -> int:
    """Print the failed checks on standard error, and return the exit code."""
    checks = list(_worse.checks(document, margin))
    if junit is not None:
        put(report.junit(checks) + "\n", junit)
    failed = [check for check in checks if check.is_failed]
    for check in failed:
        print(plain(f"{check.suite}: {check.text}"), file=sys.stderr)
    return FELL_SHORT if failed else DONE
