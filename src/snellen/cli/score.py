"""snellen score: replies to numbers."""

from __future__ import annotations

from pathlib import Path

import click

from snellen import api, report
from snellen.cli._complete import benchmarks
from snellen.cli._exit import DONE
from snellen.cli._places import DATA, RUNS
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put, put_results
from snellen.core.scoring import Missing
from snellen.errors import UsageError


@click.command("score")
@click.argument("paths", nargs=-1, required=True, type=RUNS, metavar="RUN|FILE...")
@click.option(
    "-b",
    "--benchmark",
    metavar="BENCH",
    shell_complete=benchmarks,
    help="Whose questions the files answer. A run knows it, unless it is of your own FILE.py.",
)
@click.option("--data", type=DATA, help="Where the benchmark's rows are, for files.")
@click.option(
    "--scoring", "scorings", multiple=True, metavar="NAME|all", help="Only this one; repeatable."
)
@click.option("--ids", metavar="COLUMN", help="The column of ids in FILE; `a.b` is b in a.")
@click.option("--replies", "replies_in", metavar="COLUMN", help="The column of replies in FILE.")
@click.option("--only", metavar="PATTERN", help="Of a folder only these files: '*/output.json'.")
@click.option(
    "--missing",
    type=click.Choice(["wrong", "excluded"]),
    help="What questions without a reply count as.",
)
@click.option("--explain", "sample", metavar="ID", help="Tell one sample's whole story.")
@json_option
def command(
    paths: tuple[Path, ...],
    benchmark: str | None,
    data: Path | None,
    scorings: tuple[str, ...],
    missing: Missing | None,
    sample: str | None,
    as_json: bool,
    **columns: str | None,
) -> int:
    """Score RUN folders again, or FILEs or folders of predictions (XLSX, TSV, CSV, JSON, JSONL).

    Files that VLMEvalKit or lmms-eval named after a benchmark need no -b.
    """
    if sample is not None:
        if scorings or missing:
            raise UsageError(
                "--explain tells what every scoring finds: leave out --scoring and --missing."
            )
        stories = [
            story
            for path in paths
            for story in api.explain(path, sample, benchmark, data=data, **columns)
        ]
        if as_json:
            put(stories)
        else:
            click.echo("\n\n".join(map(report.story, stories)))
        return DONE
    names = None if not scorings or "all" in scorings else list(dict.fromkeys(scorings))
    results = [
        api.score(path, benchmark, data=data, scorings=names, missing=missing, **columns)
        for path in paths
    ]
    if as_json:
        put_results(results)
    else:
        for result in results:
            report.print_result(result)
    return DONE
