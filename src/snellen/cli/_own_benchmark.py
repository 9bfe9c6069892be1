"""The option that names a user's own benchmark for a run that was made with it."""

from __future__ import annotations

import click

from snellen.cli._complete import benchmarks

own_benchmark = click.option(
    "-b",
    "--benchmark",
    metavar="FILE.py:NAME",
    shell_complete=benchmarks,
    help="The file or module of your own benchmark; a run knows any other.",
)
own_benchmarks = click.option(
    "-b",
    "--benchmark",
    "benchmarks",
    multiple=True,
    metavar="FILE.py:NAME",
    shell_complete=benchmarks,
    help="The file or module of a benchmark of your own; repeatable. Runs know any other.",
)
