"""snellen report: the results of runs, in several formats."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from snellen import api, report
from snellen.cli._json import as_json as json_option
from snellen.cli._json import put


@click.command("report", short_help="Show the results of runs.")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(["terminal", "md", "csv", "json"]), default="terminal", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to a file.")
@json_option
def command(runs: tuple[Path, ...], form: str, output: Path | None, as_json: bool) -> int:
    """Show the stored results of RUN folders."""
    results = [api.load_run(run) for run in runs]
    if as_json or form == "json":
        if output is None:
            put(results[0].report if len(results) == 1 else [result.report for result in results])
            return 0
        text = b"[" + b",".join(result.json() for result in results) + b"]"
        output.write_bytes(text if len(results) > 1 else results[0].json())
        return 0
    if form == "terminal" and output is None:
        for result in results:
            report.print_result(result)
        return 0
    written = report.csv(results) if form == "csv" else report.markdown(results)
    if output is None:
        sys.stdout.write(written)
    else:
        output.write_text(written)
    return 0
