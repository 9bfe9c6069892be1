"""The command line. Each verb is a file of its own, imported when it is called."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping

import click

from snellen import __version__
from snellen.errors import SnellenError

DONE, FELL_SHORT, WRONG_USE, INTERRUPTED = 0, 1, 2, 130
VERBS: Mapping[str, str] = {
    "demo": "Measure the built-in reader on the built-in eye chart, offline.",
    "run": "Ask models benchmarks' questions, store, score and report.",
    "score": "Score a run again, or anybody's predictions.",
    "report": "Show the results of runs.",
    "list": "List benchmarks, models and metrics.",
    "show": "Show a benchmark's sheet: data, prompt, scorings, an example.",
    "check": "Put dummy models through benchmarks on their bundled rows.",
    "doctor": "Say what is installed and what is missing.",
}


class Verbs(click.Group):
    """A group whose help needs no verb's file."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command = importlib.import_module(f"snellen.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS:
            import difflib

            close = difflib.get_close_matches(args[0], VERBS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"no verb {args[0]!r}; there are {', '.join(VERBS)}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="snellen")
def cli() -> None:
    """Measure vision-language models on public benchmarks."""


def main() -> None:
    """Run the command line and exit: 0 done, 1 fell short, 2 wrong use or data, 130 interrupted and resumable."""
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = WRONG_USE
    except SnellenError as error:
        print(f"snellen: {error}", file=sys.stderr)
        code = WRONG_USE
    except (KeyboardInterrupt, click.Abort):
        print("snellen: interrupted", file=sys.stderr)
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (`| head`): nothing more to say, to nobody.
        sys.stdout = None
        code = DONE
    sys.exit(code)
