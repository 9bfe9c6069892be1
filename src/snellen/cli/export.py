"""snellen export: writes a run's replies in other tools' formats."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from snellen.cli._exit import DONE
from snellen.cli._own_benchmark import own_benchmark, runs_toolkit_code
from snellen.cli._places import DATA, RUNS
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put
from snellen.interop.hub import HubTarget
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
    help="The file or folder. Default: a file in the current folder, with the format's default "
    "name.",
)
@own_benchmark
@click.option(
    "--data",
    type=DATA,
    help="For `authors`: the path of the rows, if the rows have moved since the run.",
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
    help="For `labels`: the seed for drawing the replies.",
)
@click.option(
    "--scoring", metavar="NAME", help="For `labels`: the scoring whose judge is to be measured."
)
@click.option(
    "--hub-dataset",
    metavar="ORG/NAME",
    help="For `hf-results`: the benchmark's data set on the Hugging Face Hub.",
)
@click.option(
    "--hub-task",
    metavar="ID",
    help="For `hf-results` and `hf-benchmark`: the task in the data set's eval.yaml.",
)
@click.option(
    "--hub-revision", metavar="COMMIT", help="For `hf-results`: the commit of the data set."
)
@click.option(
    "--source-url", metavar="URL", help="For `hf-results`: the URL of the replies or of a report."
)
@json_option
@runs_toolkit_code
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
    **target: str | None,
) -> int:
    """Write a RUN in another tool's format.

    Replies: predictions for VLMEvalKit (xlsx, tsv), a submission to a test server, results in the
    authors' format, a plain table, or a blank sheet for people's labels. Replies and scores: an
    Inspect log, the records of Every Eval Ever, or the samples and results of lm-eval or lmms-eval.
    For the Hugging Face Hub: an entry of .eval_results (hf-results), or an eval.yaml
    (hf-benchmark).
    """
    path, notes = export.export(
        run,
        to,
        output,
        data=data,
        sheet=export.LabelSheet(scoring=scoring, sample=sample, seed=sample_seed),
        benchmark=benchmark,
        hub=HubTarget(
            dataset=target["hub_dataset"],
            task=target["hub_task"],
            revision=target["hub_revision"],
            source=target["source_url"],
        ),
    )
    if as_json:
        put({"file": str(path), "notes": notes})
    else:
        click.echo(path)
    for note in notes:
        print(note, file=sys.stderr)
    return DONE
