"""The command-line options of a run, derived from the declarations in `RunOptions`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from snellen.cli._groups import grouped
from snellen.cli._places import StorePath
from snellen.run import option_text
from snellen.run.declarations import Declaration, bounds_of, declarations

if TYPE_CHECKING:
    from snellen.run.run_config import Source

Command = TypeVar("Command", bound=Callable[..., Any])
SOURCES: Mapping[ParameterSource, Source] = {
    ParameterSource.COMMANDLINE: "flag",
    ParameterSource.DEFAULT_MAP: "plan",
}


class ReadType(click.ParamType[Any]):
    """Parses a value from text. If the text is invalid, click's message names the option."""

    name = "text"

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def run_option(name: str, *, help: str | None = None) -> Callable[[Command], Command]:
    """Add an option of `RunOptions` to a command. `help` replaces the declared help text."""
    declared = declarations()[name]
    option = declared.option
    attributes: dict[str, Any] = {
        "help": option.help if help is None else help,
        "metavar": option.metavar,
    }
    if bool in declared.types:
        attributes["is_flag"] = True
    else:
        attributes["type"] = _type(declared)
    if declared.is_list or declared.is_mapping_of_flags or option.is_setting:
        attributes["multiple"] = True
    if declared.is_mapping_of_flags:
        attributes["callback"] = pairs
    default = option.default_text or option.default
    if default not in (None, ()) and bool not in declared.types:
        attributes |= {"default": default, "show_default": True}
    flag = f"--{declared.flag.replace('_', '-')}"
    return grouped(option.group, flag, name, **attributes)


def run_options(*names: str) -> Callable[[Command], Command]:
    """Add the options with these names to a command, in this order. Without names, add all
    options."""

    def add(command: Command) -> Command:
        for name in reversed(names or [*declarations()]):
            command = run_option(name)(command)
        return command

    return add


def pairs(_: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """Parse `NAME=VALUE` arguments into a mapping."""
    try:
        return option_text.pairs(values, str(param.metavar))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def options_set(ctx: click.Context, values: Mapping[str, Any]) -> dict[str, Any]:
    """The options that the command line or a plan file sets."""
    return {name: value for name, value in values.items() if _source(ctx, name) is not None}


def sources_of(ctx: click.Context, names: Iterable[str]) -> dict[str, Source]:
    """Where each option was set: on the command line or in a plan file. Options that were not set
    are absent."""
    sources = {name: _source(ctx, name) for name in names}
    return {name: source for name, source in sources.items() if source is not None}


def _source(ctx: click.Context, name: str) -> Source | None:
    source = ctx.get_parameter_source(name)
    return None if source is None else SOURCES.get(source)


def _type(declared: Declaration) -> click.ParamType[Any] | None:
    read = declared.option.read
    if declared.is_path:
        return StorePath(read) if read else click.Path(path_type=Path)
    if read:
        return ReadType(read)
    if declared.choices:
        return click.Choice(declared.choices)
    bare, bounds = bounds_of(declared.types[0])
    least: Any = bounds.ge
    most: Any = bounds.le
    if bare is float:
        return click.FloatRange(least, most)
    if bare is int:
        return click.INT if least is None else click.IntRange(least, most)
    return None
