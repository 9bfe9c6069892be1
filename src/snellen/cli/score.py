"""snellen score: replies to numbers."""

from __future__ import annotations

from pathlib import Path

import click

from snellen import api, report
from snellen.benchmark import Missing
from snellen.cli._json import as_json as json_option
from snellen.cli._json import put
from snellen.errors import UsageError


@click.command("score", short_help="Score a run again, or anybody's predictions.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-b", "--benchmark", help="The benchmark that prediction files answer; a run knows its own.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder or file with the benchmark's rows.")
@click.option("--scoring", "scorings", multiple=True, metavar="NAME|all", help="Only this scoring; repeatable.")
@click.option("--missing", type=click.Choice(["wrong", "excluded"]), help="What questions without a reply count as.")
@json_option
def command(
    paths: tuple[Path, ...],
    benchmark: str | None,
    data: Path | None,
    scorings: tuple[str, ...],
    missing: Missing | None,
    as_json: bool,
) -> int:
    """Score run folders, or files of predictions (JSONL, JSON, CSV, TSV, .gz) of a benchmark."""
    names = None if not scorings or "all" in scorings else list(scorings)
    results = []
    for path in paths:
        if benchmark is None and not path.is_dir():
            raise UsageError(f"{path} is no run folder; whose predictions are these? Name the benchmark with -b.")
        results.append(api.score(path, benchmark, data=data, scorings=names, missing=missing))
    if as_json:
        put(results[0].report if len(results) == 1 else [result.report for result in results])
    else:
        for result in results:
            report.print_result(result)
    return 0
