"""snellen score: scores runs and predictions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from snellen import api, registry, report
from snellen.cli import _limits
from snellen.cli._complete import benchmarks
from snellen.cli._own_benchmark import runs_toolkit_code
from snellen.cli._places import DATA, RUNS
from snellen.cli._runs import RunArguments, runs_of
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put, put_results
from snellen.errors import UsageError
from snellen.store import MANIFEST, runs_below

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
@_limits.limit_options(click.option)
@click.option("--explain", "sample", metavar="ID", help="Explain the scores of one sample in full.")
@json_option
@runs_toolkit_code
def command(
    paths: tuple[Path, ...],
    benchmark: str | None,
    data: Path | None,
    scorings: tuple[str, ...],
    missing: Missing | None,
    floors: tuple[_limits.Limit, ...],
    ceilings: tuple[_limits.Limit, ...],
    sample: str | None,
    as_json: bool,
    answers_in_file: bool,
    **settings: str | None,
) -> int:
    """Score RUN folders again, or all runs in a folder, or score FILEs or folders of predictions
    (XLSX, TSV, CSV, JSON, JSONL, or an Inspect log).

    -b can be left out if VLMEvalKit or lmms-eval wrote the file and the file's name contains the
    benchmark.
    """
    has_runs = data is None and (benchmark is None or registry.is_own_code(benchmark))
    arguments = RunArguments(paths, expand=_runs_or_file if has_runs else _only)
    limits = (*floors, *ceilings)
    if sample is not None:
        if scorings or missing:
            raise UsageError("--explain shows every scoring. Leave out --scoring and --missing.")
        if limits:
            option = limits[0].option
            raise UsageError(f"{option} checks whole results. Leave out --explain or {option}.")
        stories = [
            story
            for several in arguments.results(
                lambda path: api.explain(
                    path, sample, benchmark, data=data, answers_in_file=answers_in_file, **settings
                )
            )
            for story in several
        ]
        if as_json:
            put(stories)
        else:
            click.echo("\n\n".join(map(report.story, stories)))
        return arguments.code
    names = None if not scorings or "all" in scorings else list(dict.fromkeys(scorings))
    results = [
        *arguments.results(
            lambda path: api.score(
                path,
                benchmark,
                data=data,
                scorings=names,
                missing=missing,
                answers_in_file=answers_in_file,
                **settings,
            )
        )
    ]
    _limits.check_scored(limits, results)
    if as_json:
        put_results(results)
    else:
        for result in results:
            report.print_result(result)
    return max(arguments.code, _limits.say_shortfalls(limits, results))


def _runs_or_file(path: Path) -> Sequence[Path]:
    """The runs in a folder of runs; otherwise, the path itself."""
    is_folder = path.is_dir() and not (path / MANIFEST).exists()
    return runs_of(path) if is_folder and runs_below(path) else [path]


def _only(path: Path) -> Sequence[Path]:
    """The path itself, which is a run or predictions."""
    return [path]
