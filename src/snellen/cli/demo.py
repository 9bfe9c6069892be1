"""snellen demo: the main job, offline, in seconds."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from snellen import api, catalog, report
from snellen.cli._json import as_json as json_option
from snellen.cli._json import put
from snellen.cli._progress import Shown

SAYS = """
The eye chart was drawn here, and read by a small program that gets pictures and questions as a model does.
Measure a model of yours with the same questions:
  snellen run -b eyechart -m openai/NAME --base-url http://localhost:8000/v1
"""


@click.command("demo", short_help="Measure the built-in reader on the built-in eye chart, offline.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs"), show_default=True)
@json_option
def command(out: Path, as_json: bool) -> int:
    """Run `eyechart` with `baseline/reader`: no network, no download, no GPU."""
    plan = api.Plan(
        benchmarks=[catalog.benchmark("eyechart")],
        models=["baseline/reader"],
        out=out,
        command=sys.argv[1:],
    )
    result = api.run_plan(plan, Shown())[0].result
    assert result is not None
    if as_json:
        put(result.report)
    else:
        report.print_result(result)
        click.echo(SAYS)
    return int(bool(result.failed))
