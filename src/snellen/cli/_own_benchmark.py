"""The options about code that is not Snellen's: the user's own benchmark, and the code of an
installed toolkit, for commands that read runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from snellen import registry
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
R = TypeVar("R")


def runs_toolkit_code(command: Callable[..., R]) -> Callable[..., R]:
    """Add the option --run-toolkit-code to a command. With the option, the whole command may run
    the code of installed toolkits."""

    @click.option(
        "--run-toolkit-code",
        is_flag=True,
        help="Run the prompts and the scoring of an installed toolkit, for runs of "
        "-b vlmevalkit:NAME and lmms-eval:TASK.",
    )
    @wraps(command)
    def with_option(*args: Any, run_toolkit_code: bool, **kwargs: Any) -> R:
        with registry.toolkit_code(run_toolkit_code):
            return command(*args, **kwargs)

    return with_option
