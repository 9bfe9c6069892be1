"""The option that names the user's own benchmark, for commands that read runs of such a
benchmark."""

from __future__ import annotations

import click

from snellen.cli._complete import benchmarks

own_benchmark = click.option(
    "-b",
    "--benchmark",
    metavar="FILE.py:NAME",
    shell_complete=benchmarks,
    help="The file or module of your own benchmark, if the run used one.",
)
own_benchmarks = click.option(
    "-b",
    "--benchmark",
    "benchmarks",
    multiple=True,
    metavar="FILE.py:NAME",
    shell_complete=benchmarks,
    help="The file or module of your own benchmark, if the runs used one; repeatable.",
)
