"""snellen judge: verdicts for what rules leave open."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from snellen import api, report
from snellen.analysis.result import plain
from snellen.cli._complete import models
from snellen.cli._exit import DONE, FELL_SHORT, INTERRUPTED
from snellen.cli._own_benchmark import own_benchmark
from snellen.cli._places import RUNS
from snellen.cli._run_options import options_set, run_option, run_options, sources_of
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put, put_results
from snellen.cli.progress_lines import ProgressLines
from snellen.errors import UsageError
from snellen.store import ReplyRecord, Run

NUMBER = click.IntRange(1)
LONGEST_REASON = 300
PROBED = 40
"""Replies that a probe asks about."""
PATH = click.Path(path_type=Path)


@click.command("judge")
@click.argument("runs", nargs=-1, required=True, type=RUNS, metavar="RUN...")
@own_benchmark
@click.option(
    "--judge",
    "models",
    multiple=True,
    metavar="MODEL",
    shell_complete=models,
    help="The model that judges; repeatable.",
)
@click.option(
    "--against", type=PATH, metavar="FILE", help="People's labels, to measure the judge by."
)
@click.option(
    "--probe", type=click.Choice(["steering"]), help="How verdicts move under replies that steer."
)
@click.option(
    "--sample",
    type=NUMBER,
    metavar="N",
    help=f"Replies that --probe asks about.  [default: {PROBED}]",
)
@run_option("sample_seed", help="Draws other replies.")
@click.option("--scoring", "scorings", multiple=True, metavar="NAME", help="Only of this one.")
@run_option("repeats", help="How often each reply is judged.")
@run_options("base_url", "api_key_env", "profile")
@run_option("concurrency", help="Requests at once.")
@run_option("max_tokens", help="For a verdict, instead of the judge's limit.")
@run_option("temperature", help="")
@run_option("seed")
@run_option("timeout", help="For a request.")
@run_option("max_requests", help="Stop after so many, to go on another time.")
@run_option("max_cost", help="Stop when so much is spent.")
@json_option
def command(
    runs: tuple[Path, ...],
    models: tuple[str, ...],
    benchmark: str | None,
    scorings: tuple[str, ...],
    against: Path | None,
    probe: str | None,
    sample: int | None,
    as_json: bool,
    **options: Any,  # those of RunOptions
) -> int:
    """Ask the judge about the replies of each RUN that its scorings leave open, and score the RUN.

    The same command again asks only what has no verdict yet. With --against alone the verdicts that
    there are count.
    """
    if not models and (probe or not against):
        raise UsageError("name the model that judges (--judge MODEL).")
    if against is not None and (probe or len(runs) > 1):
        raise UsageError("--against is for the labels of one RUN, and without --probe.")
    if sample is not None and not probe:
        raise UsageError("--sample says how many replies --probe asks about; there is no --probe.")
    ctx = click.get_current_context()
    plan = api.Plan(
        benchmarks=[],
        models=list(dict.fromkeys(models)),
        sources=sources_of(ctx, options),
        command=sys.argv[1:],
        **options_set(ctx, options),
    )
    results, probed = [], []
    code = DONE
    budget = api.budget_of(plan)
    for path in runs:
        if probe:
            found, finished = api.probe_run(
                path,
                plan,
                benchmark=benchmark,
                scorings=scorings,
                n=sample or PROBED,
                seed=plan.options["sample_seed"],
                show=ProgressLines(),
                budget=budget,
            )
            probed += found
        else:
            result, finished = api.judge_run(
                path,
                plan,
                benchmark=benchmark,
                scorings=scorings,
                against=against,
                show=ProgressLines(),
                budget=budget,
            )
            results.append(result)
        for one in finished:
            code = max(code, _told(one))
        if any(one.interrupted for one in finished):
            code = INTERRUPTED
            break
    if probe and as_json:
        put(probed[0] if len(probed) == 1 else probed)
    elif probe:
        for one_probe in probed:
            report.print_steering(one_probe)
    elif as_json:
        put_results(results)
    else:
        for result in results:
            report.print_result(result)
    return code


def _told(one: api.Finished) -> int:
    """Say what is left to do of one judge's run, and why; gives the exit code."""
    if not (one.progress.failed or one.stopped):
        return DONE
    said = f"{one.progress.failed:,} without a verdict" if one.progress.failed else "not at its end"
    reasons = Counter(
        record.error.message
        for record in Run(one.run).replies()
        if isinstance(record, ReplyRecord) and record.error is not None
    )
    why = f", mostly: {reasons.most_common(1)[0][0][:LONGEST_REASON]}" if reasons else ""
    stopped = f"; stopped: {one.stopped}" if one.stopped else ""
    again = "the same command asks for what is missing"
    print(plain(f"{one.progress.name}: {said}{why}{stopped}; {again}"), file=sys.stderr)
    return FELL_SHORT
