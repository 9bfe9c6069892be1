"""Help for commands with many options: the options in groups, and examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from snellen.run.options import GROUPS, OptionGroup

Command = TypeVar("Command", bound=Callable[..., Any])


class GroupedOption(click.Option):
    """An option that `--help` lists under the heading of its group."""

    def __init__(self, *args: Any, group: OptionGroup, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


class GroupedCommand(click.Command):
    """A command whose help lists its options by group. Other options come last."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._examples = examples

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        by_group: dict[str, list[tuple[str, str]]] = {group.title: [] for group in GROUPS}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                title = param.group.title if isinstance(param, GroupedOption) else "Other"
                by_group.setdefault(title, []).append(record)
        if self._examples:
            with formatter.section("Examples"):
                for example in self._examples:
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")
        for title, records in by_group.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records, col_max=28)


def grouped(group: OptionGroup, *names: str, **attributes: Any) -> Callable[[Command], Command]:
    """Like `click.option`, for an option that belongs to a group."""
    return click.option(*names, cls=GroupedOption, group=group, **attributes)
