"""snellen demo: does a complete run offline."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from snellen import api, registry, report
from snellen.cli._exit import DONE, INTERRUPTED
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put_results
from snellen.cli.progress_lines import ProgressLines

SAYS = """
The {drawn} were drawn on this machine. A small program read the letters. Like a model, the
program was given {shown} and a question. The replies and their scores are in {run}.
To ask your own model the same questions:
  snellen run -b {benchmark} -m openai/NAME --base-url http://localhost:8000/v1"""


@click.command("demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="The folder in which the run folder is created.",
)
@click.option("--video", is_flag=True, help="Use video clips instead of pictures.")
@json_option
def command(out: Path, video: bool, as_json: bool) -> int:
    """Run `baseline/reader` on `eyechart`, without network, download, or GPU."""
    name = "eyechart-video" if video else "eyechart"
    plan = api.Plan(
        benchmarks=[registry.benchmark(name)],
        models=["baseline/reader"],
        out=out,
        command=sys.argv[1:],
    )
    drawn, shown = ("clips", "frames") if video else ("pictures", "a picture")
    print(
        f"Drawing {drawn} of letters and asking baseline/reader, a small built-in program, what "
        "they show. No network, no download, no GPU.",
        file=sys.stderr,
    )
    finished = api.run_plan(plan, ProgressLines())[0]
    assert finished.result is not None
    if as_json:
        put_results([finished.result])
    else:
        report.print_result(finished.result)
        click.echo(SAYS.format(drawn=drawn, shown=shown, run=finished.run, benchmark=name))
    return INTERRUPTED if finished.interrupted else DONE
