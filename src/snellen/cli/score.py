"""snellen score: replies to numbers."""

from __future__ import annotations

from pathlib import Path

import click

from snellen import api, report
from snellen.benchmark import Missing
from snellen.cli._exit import DONE
from snellen.cli._json import as_json as json_option
from snellen.cli._json import put_results
from snellen.errors import UsageError

PATH = click.Path(path_type=Path)


@click.command("score")
@click.argument("paths", nargs=-1, required=True, type=PATH, metavar="RUN|FILE...")
@click.option(
    "-b", "--benchmark", metavar="BENCH", help="Whose questions the files answer; a run knows it."
)
@click.option("--data", type=PATH, help="Where the benchmark's rows are, for files.")
@click.option(
    "--scoring", "scorings", multiple=True, metavar="NAME|all", help="Only this one; repeatable."
)
@click.option(
    "--missing",
    type=click.Choice(["wrong", "excluded"]),
    help="What questions without a reply count as.",
)
@json_option
def command(
    paths: tuple[Path, ...],
    benchmark: str | None,
    data: Path | None,
    scorings: tuple[str, ...],
    missing: Missing | None,
    as_json: bool,
) -> int:
    """Score RUN folders again, or FILEs of predictions (JSONL, JSON, CSV, TSV, also .gz)."""
    if benchmark is None:
        if data is not None:
            raise UsageError("--data is for files of predictions: name their benchmark with -b.")
        for path in paths:
            if path.is_file():
                raise UsageError(f"{path}: whose questions are these replies to? Say it with -b.")
    names = None if not scorings or "all" in scorings else list(dict.fromkeys(scorings))
    results = [
        api.score(path, benchmark, data=data, scorings=names, missing=missing) for path in paths
    ]
    if as_json:
        put_results(results)
    else:
        for result in results:
            report.print_result(result)
    return DONE
