"""snellen judge: asks judges for verdicts on replies that the rules leave undecided, and measures
judges."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from snellen import api, report
from snellen.cli import _qualify
from snellen.cli._complete import models
from snellen.cli._exit import DONE, FELL_SHORT, INTERRUPTED
from snellen.cli._own_benchmark import own_benchmark
from snellen.cli._places import RUNS
from snellen.cli._run_options import options_set, run_option, run_options, sources_of
from snellen.cli._runs import RunArguments
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put, put_results
from snellen.cli.progress_lines import ProgressLines
from snellen.errors import UsageError, plain
from snellen.store import ReplyRecord, Run

if TYPE_CHECKING:
    from snellen.analysis.result import Result
    from snellen.scoring import SteeringReport

T = TypeVar("T")
NUMBER = click.IntRange(1)
LONGEST_REASON = 300
PROBED = 40
"""The default number of replies that a probe uses."""
PATH = click.Path(path_type=Path)
SINGLE_RUN = "--against takes the labels of a single RUN, and cannot be combined with --probe."


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
    "--against",
    type=PATH,
    metavar="FILE",
    help="A file of people's labels, with which the judge's verdicts are compared.",
)
@click.option(
    "--probe",
    type=click.Choice(["steering"]),
    help="Measure how much the verdicts change if replies try to steer the judge.",
)
@click.option(
    "--qualify",
    is_flag=True,
    help="Compare the judge with published verdicts: each RUN is a file of one model's replies "
    "with the verdicts of the authors' judge (-b names the benchmark).",
)
@click.option(
    "--threshold",
    "limits",
    multiple=True,
    metavar="NAME=X|none",
    callback=_qualify.thresholds,
    help="A condition of --qualify: kappa=0.6, bias=0.05 (of the best score), tau=0.6, "
    "readable=0.95, replies=100, within=none; repeatable.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1),
    metavar="X",
    help="For --qualify: the difference up to which two scores count as the same, as a fraction of "
    "the best score.  "
    "[default: 0.1]",
)
@click.option(
    "--sample",
    type=NUMBER,
    metavar="N",
    help=f"The number of replies for --probe, or of questions for --qualify.  [default: {PROBED}, "
    "all]",
)
@run_option("sample_seed", help="The seed for drawing replies (--probe) or questions (--qualify).")
@run_option("data", help="The benchmark's rows, for --qualify.")
@run_option("out", help="The folder of runs. --qualify writes to its subfolder `.qualified`.")
@click.option(
    "--scoring",
    "scorings",
    multiple=True,
    metavar="NAME",
    help="Judge only for this scoring; repeatable.",
)
@run_option("repeats", help="The number of verdicts per reply.")
@run_options("base_url", "api_key_env", "profile")
@run_option("concurrency", help="The number of concurrent requests.")
@run_option("max_tokens", help="The token limit of a verdict. Default: the scoring's limit.")
@run_option("temperature", help="")
@run_option("seed")
@run_option("timeout", help="The timeout of a request.")
@run_option("max_requests", help="Stop after this many requests. To resume, run the same command.")
@run_option("max_cost", help="Stop at this cost. The profile must contain prices.")
@json_option
def command(
    runs: tuple[Path, ...],
    models: tuple[str, ...],
    benchmark: str | None,
    scorings: tuple[str, ...],
    against: Path | None,
    probe: str | None,
    qualify: bool,
    limits: dict[str, float | None],
    tolerance: float | None,
    sample: int | None,
    as_json: bool,
    **options: Any,  # those of RunOptions
) -> int:
    """Ask the judge about replies that the scorings of each RUN leave undecided, and score each
    RUN. A folder stands for all runs in it; those that need no judge are left out.

    If the command is repeated, only missing verdicts are requested. With --against and without
    --judge, the existing verdicts are used.
    """
    if qualify and (against or probe):
        raise UsageError("--qualify cannot be combined with --against or --probe.")
    if not qualify:
        if limits or tolerance is not None:
            raise UsageError("--threshold and --tolerance are for --qualify; add --qualify.")
        _check_use(models, against, probe, sample, options)
    ctx = click.get_current_context()
    plan = api.Plan(
        benchmarks=[],
        models=list(dict.fromkeys(models)),
        sources=sources_of(ctx, options),
        command=sys.argv[1:],
        **options_set(ctx, options),
    )
    if qualify:
        code, qualifications, finished = _qualify.qualify(
            runs,
            plan,
            benchmark=benchmark,
            data=options["data"],
            scorings=scorings,
            limits=limits,
            tolerance=tolerance,
            sample=sample,
        )
        _qualify.show(qualifications, as_json=as_json)
        return max(code, *map(_report_missing, finished))
    arguments = RunArguments(runs)
    if probe:
        code, reports = _probe(arguments, plan, benchmark, scorings, sample or PROBED)
        if as_json:
            put(reports[0] if len(reports) == 1 else reports)
        else:
            for steering in reports:
                report.print_steering(steering)
        return code
    code, results = _judge(arguments, plan, benchmark, scorings, against)
    if as_json:
        put_results(results)
    else:
        for result in results:
            report.print_result(result)
    return code


def _check_use(
    models: Sequence[str],
    against: Path | None,
    probe: str | None,
    sample: int | None,
    options: Mapping[str, Any],
) -> None:
    """Check that the options can be combined.

    Raises:
        UsageError: two options conflict.
    """
    if not models and (probe or not against):
        raise UsageError("The judge is missing. Name a judge with --judge MODEL.")
    if against is not None and probe:
        raise UsageError(SINGLE_RUN)
    if sample is not None and not probe:
        raise UsageError(
            "--sample sets the number of replies for --probe, or of questions for --qualify. Add "
            "--probe or --qualify."
        )
    if options["sample_seed"] and not probe:
        raise UsageError("--sample-seed draws replies or questions. Add --probe or --qualify.")


def _judge(
    arguments: RunArguments,
    plan: api.Plan,
    benchmark: str | None,
    scorings: Sequence[str],
    against: Path | None,
) -> tuple[int, list[Result]]:
    """Judge runs. Returns the exit code and the results.

    Raises:
        UsageError: the labels are those of one run, but there are several runs, or no run needs a
            judge.
    """
    if against is not None and len(arguments.runs) > 1:
        raise UsageError(SINGLE_RUN)
    budget = api.budget_of(plan)

    def judge(path: Path) -> tuple[list[Result], list[api.Finished]]:
        result, finished = api.judge_run(
            path,
            plan,
            benchmark=benchmark,
            scorings=scorings,
            against=against,
            show=ProgressLines(),
            budget=budget,
        )
        return [result], finished

    return _until_interrupted(arguments, judge)


def _probe(
    arguments: RunArguments,
    plan: api.Plan,
    benchmark: str | None,
    scorings: Sequence[str],
    n: int,
) -> tuple[int, list[SteeringReport]]:
    """Probe the judges of runs. Returns the exit code and the reports."""
    budget = api.budget_of(plan)

    def probe(path: Path) -> tuple[list[SteeringReport], list[api.Finished]]:
        return api.probe_run(
            path,
            plan,
            benchmark=benchmark,
            scorings=scorings,
            n=n,
            show=ProgressLines(),
            budget=budget,
        )

    return _until_interrupted(arguments, probe)


def _until_interrupted(
    arguments: RunArguments, ask: Callable[[Path], tuple[list[T], list[api.Finished]]]
) -> tuple[int, list[T]]:
    """Judge or probe runs, one after another, until a run is interrupted. Runs of a folder that
    need no judge are left out. Returns the exit code and the results so far.

    Raises:
        UsageError: none of the runs needs a judge.
    """
    left_out: list[Path] = []

    def ask_if_judged(run: Path) -> tuple[list[T], list[api.Finished]]:
        try:
            return ask(run)
        except api.NothingToJudge as error:
            if run in arguments.paths:
                raise
            print(plain(f"left out: {error}"), file=sys.stderr)
            left_out.append(run)
            return [], []

    documents: list[T] = []
    code = DONE
    for more, finished in arguments.results(ask_if_judged):
        documents += more
        code = max(code, *map(_report_missing, finished), DONE)
        if any(run.interrupted for run in finished):
            return INTERRUPTED, documents
    if len(left_out) == len(arguments.runs):
        raise UsageError("None of these runs has a scoring with a judge.")
    return max(code, arguments.code), documents


def _report_missing(run: api.Finished) -> int:
    """Print how many verdicts of a judge's run are missing, and why. Returns the exit code."""
    progress = run.progress
    if not (progress.failed or run.stopped):
        return DONE
    missing = f"{progress.failed:,} without a verdict" if progress.failed else "not at its end"
    reasons = Counter(
        record.error.message
        for record in Run(run.run).replies()
        if isinstance(record, ReplyRecord) and record.error is not None
    )
    why = f", mostly: {reasons.most_common(1)[0][0][:LONGEST_REASON]}" if reasons else ""
    stopped = f"; stopped: {run.stopped}" if run.stopped else ""
    again = "the same command requests the missing verdicts"
    print(plain(f"{progress.name}: {missing}{why}{stopped}; {again}"), file=sys.stderr)
    return FELL_SHORT
