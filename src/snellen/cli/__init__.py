"""The command line. Each command is a module of its own, which is imported only when the command is
called.

This package may import every layer below it. The package translates arguments and makes no
decisions. Start with `run.py`. Importing the module `list.py` makes the name `list` in this package
refer to that module, so this file does not call `list(...)`.
"""

from __future__ import annotations

import gc
import importlib
import io
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

import click

from snellen import __version__
from snellen.cli._exit import DONE, INTERRUPTED, WRONG_USE, leave_at_once
from snellen.errors import SnellenError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

VERBS: Mapping[str, str] = {
    "demo": "Measure the built-in reader on the built-in eye chart, offline.",
    "run": "Run models on benchmarks; store, score, and report the replies.",
    "card": "Run a model card's benchmarks as the model's maker did, and compare the results.",
    "score": "Score a run again, or score predictions from a file.",
    "judge": "Ask a judge model about replies that the rules leave undecided.",
    "compare": "Compare runs or predictions, and test whether the differences are significant.",
    "power": "Show the smallest difference that a benchmark can detect.",
    "report": "Show the results of runs.",
    "contamination": "Find near-duplicates in benchmarks, and benchmark samples in training data.",
    "view": "Show runs in the browser: samples, replies, pictures, and comparisons.",
    "export": "Export a run's replies in other tools' formats.",
    "list": "List benchmarks, suites, models, metrics, and recipes.",
    "show": "Show a benchmark's sheet (data, prompt, scorings, an example) or a recipe.",
    "data": "Download, verify, and locate published files; pack rows and pictures.",
    "check": "Run dummy models on benchmarks' bundled rows.",
    "doctor": "Show what is installed and what is missing.",
    "completion": "Print a script for shell completion.",
}


MOST_UNCHECKED = 100_000
"""The number of new objects after which Python looks for reference cycles among them. Python's
default is 700. Imports create 84,000 objects before the first request of a run, nearly all of them
for good."""


class Mendable(click.ClickException):
    """An error that the user can fix, shown without a traceback."""

    exit_code = WRONG_USE


class Verbs(click.Group):
    """The group of all commands. Its help is shown without importing the commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*VERBS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command = importlib.import_module(f"snellen.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for arg in args:
            try:
                arg.encode()
            except UnicodeEncodeError:
                ctx.fail(f"{arg!r} is not UTF-8, so a run cannot store it.")
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS:
            import difflib

            close = difflib.get_close_matches(args[0], VERBS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"No such command {args[0]!r}. Commands: {', '.join(VERBS)}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*VERBS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        from click.shell_completion import CompletionItem

        verbs = {verb: help for verb, help in VERBS.items() if verb.startswith(incomplete)}
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(verb, help=help) for verb, help in verbs.items()), *options]

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except SnellenError as error:
            from snellen.errors import plain

            if ctx.params["traceback"]:
                import traceback

                traceback.print_exc()
            # Messages quote files and servers, so control characters are removed from each line.
            raise Mendable("\n".join(map(plain, str(error).splitlines()))) from error


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--traceback", is_flag=True, help="Show the traceback of an error.")
@click.version_option(__version__, prog_name="snellen")
def cli(traceback: bool) -> None:
    """Measure vision-language models on public benchmarks."""


def main() -> NoReturn:
    """Run the command line and exit."""
    # Imports create many objects and few cycles. Looking for cycles takes up to 25 ms of a start.
    gc.set_threshold(MOST_UNCHECKED)
    code = exit_code(sys.argv[1:])
    if code == INTERRUPTED:
        leave_at_once()
    sys.exit(code)


def exit_code(args: Sequence[str]) -> int:
    """Run the command line and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # If the locale cannot encode a character, only the character is lost, not the result.
            stream.reconfigure(errors="replace")
    try:
        code = cli.main([*args], prog_name="snellen", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        print(
            "snellen: interrupted. Stored replies are kept, and the same command resumes the run.",
            file=sys.stderr,
        )
        return INTERRUPTED
    return int(code or DONE)
