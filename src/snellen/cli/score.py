"""snellen score: scores runs and predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from snellen import api, report
from snellen.cli._complete import benchmarks
from snellen.cli._exit import DONE
from snellen.cli._own_benchmark import runs_toolkit_code
from snellen.cli._places import DATA, RUNS
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put, put_results
from snellen.errors import UsageError

if TYPE_CHECKING:
    from snellen.core.scoring import Missing


@click.command("score")
@click.argument("paths", nargs=-1, required=True, type=RUNS, metavar="RUN|FILE...")
@click.option(
    "-b",
    "--benchmark",
    metavar="BENCH",
    shell_complete=benchmarks,
    help="The benchmark of the files. Needed for a run only if the benchmark is your own FILE.py.",
)
@click.option("--data", type=DATA, help="The benchmark's rows. Only for files.")
@click.option(
    "--scoring",
    "scorings",
    multiple=True,
    metavar="NAME|all",
    help="Only this scoring; repeatable.",
)
@click.option(
    "--ids", metavar="COLUMN", help="The column of ids in FILE; `a.b` means field b of a."
)
@click.option("--replies", "replies_in", metavar="COLUMN", help="The column of replies in FILE.")
@click.option(
    "--only", metavar="PATTERN", help="Read only these files of a folder, such as '*/output.json'."
)
@click.option(
    "--answers-in-file",
    is_flag=True,
    help="Take the right answers from the column `answer` of FILE, not from the benchmark's rows.",
)
@click.option(
    "--coordinates",
    metavar="CONVENTION",
    help="The coordinates in which the model wrote boxes and points, such as 0-1000. Only for "
    "files.",
)
@click.option(
    "--missing",
    type=click.Choice(["wrong", "excluded"]),
    help="How to count questions without a reply.",
)
@click.option("--explain", "sample", metavar="ID", help="Explain the scores of one sample in full.")
@json_option
@runs_toolkit_code
def command(
    paths: tuple[Path, ...],
    benchmark: str | None,
    data: Path | None,
    scorings: tuple[str, ...],
    missing: Missing | None,
    sample: str | None,
    as_json: bool,
    answers_in_file: bool,
    **settings: str | None,
) -> int:
    """Score RUN folders again, or score FILEs or folders of predictions (XLSX, TSV, CSV, JSON,
    JSONL, or an Inspect log).

    -b can be left out if VLMEvalKit or lmms-eval wrote the file and the file's name contains the
    benchmark.
    """
    if sample is not None:
        if scorings or missing:
            raise UsageError("--explain shows every scoring. Leave out --scoring and --missing.")
        stories = [
            story
            for path in paths
            for story in api.explain(
                path, sample, benchmark, data=data, answers_in_file=answers_in_file, **settings
            )
        ]
        if as_json:
            put(stories)
        else:
            click.echo("\n\n".join(map(report.story, stories)))
        return DONE
    names = None if not scorings or "all" in scorings else list(dict.fromkeys(scorings))
    results = [
        api.score(
            path,
            benchmark,
            data=data,
            scorings=names,
            missing=missing,
            answers_in_file=answers_in_file,
            **settings,
        )
        for path in paths
    ]
    if as_json:
        put_results(results)
    else:
        for result in results:
            report.print_result(result)
    return DONE
