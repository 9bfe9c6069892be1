"""snellen export: a run's replies in other tools' formats."""

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
    help="A file or folder; default: the usual name, in the current folder.",
)
@own_benchmark
@click.option("--data", type=DATA, help="For `authors`: the rows, if they were moved.")
@click.option(
    "--sample", type=click.IntRange(1), help="For `labels`: the number of replies to draw."
)
@click.option(
    "--sample-seed",
    type=int,
    default=0,
    show_default=True,
    help="For `labels`: the seed of the draw.",
)
@click.option(
    "--scoring", metavar="NAME", help="For `labels`: the scoring whose judge is measured."
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
    """Write the replies of a RUN to a file: as VLMEvalKit's predictions (xlsx, tsv), lmms-eval's
    samples, the file for a test server, results in the authors' form, a plain sheet, or a blank
    sheet for people's labels."""
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
