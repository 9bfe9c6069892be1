"""The options that say where a benchmark's rows are, and what a file of rows means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from snellen.cli import _parse
from snellen.cli._places import DATA

Command = TypeVar("Command", bound=Callable[..., Any])
OPTIONS = (
    click.option(
        "--data",
        type=DATA,
        help="Where the rows are; `synthetic`: the bundled ones.",
    ),
    click.option(
        "--task", metavar="KIND", help="What a file of rows asks: mcq, vqa, yesno, count, caption."
    ),
    click.option(
        "--map",
        "columns",
        multiple=True,
        metavar="COL=FIELD",
        callback=_parse.pairs,
        help="What a column of a file of rows means; repeatable.",
    ),
)


def row_options(command: Command) -> Command:
    """Gives a command `data`, `task` and `columns`, as `registry.benchmark` takes them."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command
