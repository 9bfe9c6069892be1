"""snellen card: compares a model card's published figures with results by the recipe and by
official settings."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from snellen import api, report
from snellen.analysis.cards import Card, CardResult
from snellen.cli._complete import models
from snellen.cli._exit import DONE, FELL_SHORT, INTERRUPTED, leave_at_once
from snellen.cli._form import TERMINAL, form_of, put
from snellen.cli._groups import GroupedCommand, grouped
from snellen.cli._judging import unjudged
from snellen.cli._run_options import options_set, run_option
from snellen.cli.json_output import as_json as json_option
from snellen.cli.progress_lines import ProgressLines
from snellen.errors import UsageError, plain
from snellen.run.declarations import declarations
from snellen.run.options import BENCHMARK, BUDGET, MODEL, OUTPUT

PATH = click.Path(path_type=Path)
WRITTEN: Mapping[str, Callable[[Card], str]] = {
    "md": report.card_markdown,
    "html": report.card_html,
    "latex": report.card_latex,
    "json": lambda card: CardResult(card).json() + "\n",
}
ENDINGS = {form: form for form in WRITTEN} | {"tex": "latex", "htm": "html"}
LEFT_OUT = ("recipe", "missing", "part", "drivers")
"""Options of `snellen run` that `snellen card` does not have."""
EXAMPLES = (
    "snellen card qwen2-vl -m openai/NAME --base-url http://localhost:8000/v1",
    "snellen card qwen3-vl::think -m openai/NAME --limit 200 -o card.html",
    "snellen card qwen2-vl -m openai/NAME -b pope --explain-gap --budget 2000",
)


def _card_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for name in reversed([name for name in declarations() if name not in LEFT_OUT]):
        command = run_option(name)(command)
    return command


@click.command("card", cls=GroupedCommand, examples=EXAMPLES)
@click.argument("recipe", metavar="RECIPE")
@grouped(
    MODEL,
    "-m",
    "--model",
    required=True,
    metavar="MODEL",
    shell_complete=models,
    help="The model's name (`snellen list models`).",
)
@grouped(
    BENCHMARK,
    "-b",
    "--benchmark",
    "benchmarks",
    multiple=True,
    metavar="BENCH",
    help="Only this benchmark or data set of the card; repeatable.",
)
@grouped(
    MODEL,
    "--checkpoint",
    metavar="NAME",
    help="The checkpoint whose published figures are compared; by default the checkpoint that has "
    "the model's name.",
)
@_card_options
@grouped(
    BUDGET,
    "--explain-gap",
    is_flag=True,
    help="Find the setting that explains the difference between official settings and the recipe, "
    "on a sample of the questions.",
)
@grouped(
    BUDGET,
    "--budget",
    type=click.IntRange(1),
    default=api.GAP_BUDGET,
    show_default=True,
    metavar="N",
    help="With --explain-gap: the maximum number of requests for each benchmark.",
)
@grouped(
    OUTPUT,
    "--format",
    "form",
    type=click.Choice([TERMINAL, *WRITTEN]),
    help="Default: the format of the output file's extension, otherwise terminal.",
)
@grouped(OUTPUT, "-o", "--output", type=PATH, metavar="FILE", help="Write to a file.")
@grouped(OUTPUT, "-q", "--quiet", is_flag=True, help="Show no progress and no notes.")
@json_option
def command(
    recipe: str,
    model: str,
    benchmarks: tuple[str, ...],
    checkpoint: str | None,
    explain_gap: bool,
    budget: int,
    form: str | None,
    output: Path | None,
    quiet: bool,
    as_json: bool,
    **options: Any,  # those of RunOptions
) -> int:
    """Run a model card's benchmarks twice: with the settings of RECIPE, and with each benchmark's
    official settings.

    RECIPE is a name from `snellen list recipes` or a file, followed by :DATA_SET and :VARIANT if
    needed. The table shows each published figure, the two results, and the differences. Options
    that affect how questions are asked replace official settings, but not the recipe's settings. If
    the command is repeated, it sends only questions without a reply.
    """
    form = "json" if as_json else form_of(output, form, ENDINGS)
    request = api.CardRequest(
        recipe=recipe,
        model=model,
        benchmarks=benchmarks,
        checkpoint=checkpoint,
        explain_gap=explain_gap,
        budget=budget,
    )
    outcome = api.card_run(
        request,
        _options(options),
        show=None if quiet else ProgressLines(),
        at_once=leave_at_once,
        say=_ignore if quiet else _say,
        command=sys.argv[1:],
    )
    card = outcome.result.card
    if output is None and form == TERMINAL:
        report.print_card(card)
    else:
        put(WRITTEN[form](card) if form in WRITTEN else report.card_text(card), output)
    return _ending(outcome)


def _options(options: Mapping[str, Any]) -> Any:
    """The options that the command line sets. Each setting may have only one value.

    Raises:
        UsageError: a setting has several values.
    """
    values = options_set(click.get_current_context(), options)
    for name, declared in declarations().items():
        if declared.option.is_setting and name in values:
            if len(values[name]) > 1:
                raise UsageError(f"A card takes a single --{name.replace('_', '-')}.")
            (values[name],) = values[name]
    return values


def _ending(outcome: api.CardOutcome) -> int:
    """Print what remains to be done, if anything. Returns the exit code."""
    code = DONE
    for run in outcome.finished:
        failed = (run.result.failed if run.result else 0) or run.progress.failed
        if failed:
            _say(f"{run.progress.name}: {failed:,} question{'s' * (failed != 1)} without a reply")
        if run.stopped:
            _say(f"{run.progress.name}: stopped: {run.stopped}")
        if (judge := unjudged(run)) is not None:
            _say(judge)
        if failed or (run.stopped and not run.has_goal):
            code = FELL_SHORT
    if outcome.unreadable:
        names = ", ".join(outcome.unreadable)
        _say(
            f"not run, because the data are missing or cannot be read: {names}. The notes have the "
            "reasons"
        )
    if code:
        _say("run the same command again to resume and to send the questions without a reply")
    if outcome.unreadable:
        code = FELL_SHORT
    return INTERRUPTED if any(run.interrupted for run in outcome.finished) else code


def _say(text: str) -> None:
    print(plain(text), file=sys.stderr)


def _ignore(text: str) -> None:
    """Say nothing."""
