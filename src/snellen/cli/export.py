"""snellen export: writes a run's replies in other tools' formats."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from snellen.cli._exit import DONE
from snellen.cli._own_benchmark import own_benchmark
from snellen.cli._places import DATA, RUNS
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put
from snellen.report import export

PATH = click.Path(path_type=Path)


@click.command("export")
@click.argument("run", type=RUNS, metavar="RUN")
@click.option("--to", required=True, type=click.Choice(export.FORMATS))
@click.option(
    "-o",
    "--output",
    type=PATH,
    metavar="FILE",
    help="The file or folder. Default: a file with the usual name in the current folder.",
)
@own_benchmark
@click.option(
    "--data", type=DATA, help="For `authors`: where the rows are, if they have moved since the run."
)
@click.option(
    "--sample",
    type=click.IntRange(1),
    help="For `labels`: the number of replies to draw at random. Default: all.",
)
@click.option(
    "--sample-seed",
    type=int,
    default=0,
    show_default=True,
    help="For `labels`: the seed that draws the replies.",
)
@click.option(
    "--scoring", metavar="NAME", help="For `labels`: the scoring whose judge is to be measured."
)
@json_option
def command(
    run: Path,
    to: str,
    output: Path | None,
    benchmark: str | None,
    data: Path | None,
    sample: int | None,
    sample_seed: int,
    scoring: str | None,
    as_json: bool,
) -> int:
    """Write the replies of a RUN to a file: as predictions for VLMEvalKit (xlsx, tsv), samples for
    lmms-eval, a submission to a test server, results in the authors' format, a plain table, or a
    blank sheet for people's labels."""
    path, notes = export.export(
        run,
        to,
        output,
        data=data,
        sheet=export.LabelSheet(scoring=scoring, sample=sample, seed=sample_seed),
        benchmark=benchmark,
    )
    if as_json:
        put({"file": str(path), "notes": notes})
    else:
        click.echo(path)
    for note in notes:
        print(note, file=sys.stderr)
    return DONE
