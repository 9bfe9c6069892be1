"""The option for a user's own benchmark, for runs that were made with it."""

from __future__ import annotations

import click

from snellen.cli._complete import benchmarks

own_benchmark = click.option(
    "-b",
    "--benchmark",
    metavar="FILE.py:NAME",
    shell_complete=benchmarks,
    help="The file or module of your own benchmark; runs know all others.",
)
own_benchmarks = click.option(
    "-b",
    "--benchmark",
    "benchmarks",
    multiple=True,
    metavar="FILE.py:NAME",
    shell_complete=benchmarks,
    help="The file or module of your own benchmark; repeatable. Runs know all others.",
)
