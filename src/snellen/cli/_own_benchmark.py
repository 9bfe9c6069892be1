"""The options that name the user's own benchmark or another toolkit's benchmark, for commands that
read runs of such a benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from snellen import registry
from snellen.cli._complete import benchmarks
from snellen.cli._run_options import run_option

if TYPE_CHECKING:
    from snellen.core.benchmark import Benchmark

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
run_toolkit_code = run_option("run_toolkit_code")


def with_toolkit(spec: str, *, run_toolkit_code: bool) -> str | Benchmark:
    """Load another toolkit's benchmark. Return any other spec unchanged.

    Raises:
        UsageError: the user has not allowed the toolkit's code to run.
    """
    if not registry.is_toolkit(spec):
        return spec
    return registry.benchmark(spec, run_toolkit_code=run_toolkit_code)
