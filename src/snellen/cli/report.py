"""snellen report: the results of runs, in several formats."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from snellen import api, report
from snellen.cli._exit import DONE, FELL_SHORT
from snellen.cli._json import as_json as json_option
from snellen.cli._json import results_as_json
from snellen.errors import SnellenError, UsageError
from snellen.result import Result, plain
from snellen.store import MANIFEST

WRITTEN: Mapping[str, Callable[[Sequence[Result]], str]] = {
    "md": report.markdown,
    "html": report.html,
    "csv": report.csv,
    "json": results_as_json,
}
PATH = click.Path(path_type=Path)


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=PATH, metavar="RUN...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", *WRITTEN]),
    help="Default: what the name of the output ends in, else terminal.",
)
@click.option("-o", "--output", type=PATH, metavar="FILE", help="Write to a file.")
@json_option
def command(runs: tuple[Path, ...], form: str | None, output: Path | None, as_json: bool) -> int:
    """Show the stored results of RUN folders, or of all runs in a folder; asks nobody and scores
    nothing.

    Several are a table with a line for each; md and html have each whole below it.
    """
    results = []
    code = DONE
    for run, named in ((run, run == given) for given in runs for run in _runs(given)):
        try:
            results.append(api.load_run(run))
        except SnellenError as error:
            if named:
                raise
            print(plain(f"left out: {error}"), file=sys.stderr)
            code = FELL_SHORT
    ending = "" if output is None else output.suffix.removeprefix(".")
    form = "json" if as_json else form or (ending if ending in WRITTEN else "terminal")
    if output is None and form == "terminal":
        report.print_results(results)
    elif output is None:
        click.echo(WRITTEN[form](results), nl=False)
    else:
        text = WRITTEN[form](results) if form in WRITTEN else report.as_text(results)
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{output} cannot be written: {error.strerror}.") from error
    return code


def _runs(given: Path) -> Sequence[Path]:
    """The run itself, or those in the folder: benchmark, model and identity lead to each."""
    if not given.exists():
        raise UsageError(f"{given}: there is no such file or folder.")
    if not given.is_dir() or (given / MANIFEST).exists():
        return [given]
    levels = ("*", "*/*", "*/*/*")
    found = sorted(path.parent for level in levels for path in given.glob(f"{level}/{MANIFEST}"))
    return found or [given]
