"""snellen run: asks models questions, and stores, scores, and reports their replies."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from snellen import api, report, scoring, store
from snellen.cli import _limits, _plan_file
from snellen.cli._complete import benchmarks, models
from snellen.cli._exit import DONE, FELL_SHORT, INTERRUPTED, leave_at_once
from snellen.cli._groups import GroupedCommand, grouped
from snellen.cli._judging import unjudged
from snellen.cli._run_options import options_set, run_options, sources_of
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put, put_results
from snellen.errors import UsageError, plain
from snellen.run.options import BENCHMARK, BUDGET, MODEL, OUTPUT

if TYPE_CHECKING:
    from snellen.analysis.result import Result
    from snellen.run import Progress
    from snellen.run.driver_reports import Reporter
    from snellen.store import RunPart

SETTINGS = ("frames", "image_size", "effort")
"""Options other than the prompt that may be repeated for a sweep."""


EXAMPLES = (
    "snellen run -b eyechart -m baseline/reader",
    "snellen run -b mmbench -m openai/NAME --base-url http://localhost:8000/v1",
    "snellen run -b mine.jsonl --task mcq -m python:model.py:answer --limit 20",
    "snellen run -b suite:quick -m openai/NAME --estimate",
)


@click.command("run", cls=GroupedCommand, examples=EXAMPLES)
@click.argument(
    "plan_file",
    required=False,
    is_eager=True,
    type=click.Path(path_type=Path),
    callback=_plan_file.use,
    metavar="[PLAN.toml]",
)
@grouped(
    MODEL,
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    shell_complete=models,
    help="A model's name (`snellen list models`); repeatable.",
)
@grouped(
    BENCHMARK,
    "-b",
    "--benchmark",
    "benchmarks",
    multiple=True,
    metavar="BENCH",
    shell_complete=benchmarks,
    help="A benchmark with options (`mathvision:split=testmini`), a file of rows, or a suite "
    "(`suite:quick`, `suite:mine.toml`); repeatable.",
)
@run_options()
@grouped(
    BUDGET,
    "--estimate",
    "only_estimate",
    is_flag=True,
    help="Estimate requests, pictures, tokens, cost, and time; send nothing.",
)
@grouped(OUTPUT, "--no-score", is_flag=True, help="Store the replies without scoring them.")
@_limits.limit_options(partial(grouped, OUTPUT))
@grouped(
    OUTPUT,
    "--also",
    "companions",
    multiple=True,
    metavar="NAME",
    help="After the results, also show this metric of the headline scoring (`precision`), or the "
    "headline metric by this tag (`L1`); repeatable.",
)
@grouped(
    OUTPUT,
    "-q",
    "--quiet",
    is_flag=True,
    help="Show neither progress nor notes during the runs, only errors and results.",
)
@json_option
def command(
    plan_file: Path | None,
    models: tuple[str, ...],
    benchmarks: tuple[str, ...],
    only_estimate: bool,
    no_score: bool,
    floors: tuple[_limits.Limit, ...],
    ceilings: tuple[_limits.Limit, ...],
    companions: tuple[str, ...],
    quiet: bool,
    as_json: bool,
    **options: Any,  # those of RunOptions
) -> int:
    """Ask each MODEL the questions of each BENCH; store, score, and report the replies.

    PLAN.toml contains the same options under their long names, with underscores. Options on the
    command line take precedence, and paths are relative to the current folder. If the command is
    repeated, it sends only questions without a reply.
    """
    if not models or not benchmarks:
        lacking = "a model (-m)" if not models else "a benchmark (-b)"
        raise UsageError(f"{lacking} is missing. Add {lacking} to the command or to the plan file.")
    driver: Reporter | None = click.get_current_context().obj
    plan = _plan(models, benchmarks, options, score=not no_score, is_driver=driver is not None)
    if driver is not None:
        driver.ended(api.run_plan(plan, driver.show, leave_at_once), plan.out)
        return DONE
    limits = (*floors, *ceilings)
    _limits.check_limits(limits, plan.benchmarks, no_score=no_score)
    is_sweep = len(options["prompt"]) > 1 or any(part.setting for part in plan.by_setting())
    if not quiet:
        _say_sizes(benchmarks, is_estimate=only_estimate)
        _say_needs(plan)
        for benchmark in plan.benchmarks:
            for note in benchmark.notes:
                _say(f"{benchmark.name}: {note}")
    if only_estimate:
        from snellen.cli import _cost

        estimates = api.estimate(plan)
        if as_json:
            put(estimates)
        else:
            print("\n".join(_cost.lines(estimates)))
        return DONE
    from snellen.run.drivers import run_with_drivers  # not imported for `run --help`

    show = None if quiet else _progress_lines()
    finished = run_with_drivers(plan, plan.command, show, leave_at_once)
    results = [run.result for run in finished if run.result is not None]
    if as_json and no_score:
        put([{"name": run.progress.name, "run": f"{run.run}"} for run in finished])
    elif as_json:
        put_results(results)
    elif is_sweep:
        report.print_results(results)
        _show_sweep(results, _own_code(benchmarks))
    else:
        for result in results:
            report.print_result(result)
            _show_without_probe(result, _own_code(benchmarks))
        if len(results) > 1:
            report.print_overview(results)
        _show_overalls(benchmarks, results)
    if companions and results and not as_json:
        try:
            report.print_companions(results, companions)
        except UsageError as error:  # the results were shown, so the exit code stays theirs
            _say(f"--also: {error}")
    return _ending(finished, limits, options["until_stderr"], options["part"])


def _say_sizes(specs: Sequence[str], *, is_estimate: bool) -> None:
    """Print the size of each suite in the command, and how to see the cost."""
    from snellen.cli._suite_sheet import size_of  # not imported for `run --help`
    from snellen.registry import suites

    for name in dict.fromkeys(specs):
        if name.startswith(suites.PREFIX):
            how = "" if is_estimate else ". To see the cost first, add --estimate"
            _say(f"{name}: {size_of(suites.members([name]))}, for each model{how}")


def _say_needs(plan: api.Plan) -> None:
    """Print what the benchmarks need: a judge, or a package."""
    from snellen.run.readiness import needs  # not imported for `run --help`

    for note in needs(plan.benchmarks):
        _say(note)


def _show_overalls(specs: Sequence[str], results: Sequence[Result]) -> None:
    """Show the overall scores of the suites that the command names."""
    from snellen.registry import suites

    for name in suites.with_overall(specs):
        report.print_overalls(name, results)


def _progress_lines() -> Callable[[Sequence[Progress]], None]:
    from snellen.cli.progress_lines import ProgressLines  # not imported for `run --help`

    return ProgressLines()


def _plan(
    models: Sequence[str],
    specs: Sequence[str],
    options: Mapping[str, Any],
    *,
    score: bool,
    is_driver: bool,
) -> api.Plan:
    """The plan from the command line and the plan file.

    Raises:
        SnellenError: a name or an option is invalid, or data cannot be read.
    """
    from snellen.registry import suites  # not imported for `run --help`

    ctx = click.get_current_context()
    profiles = ctx.meta.get(_plan_file.PROFILES, {})
    if options["profile"] and profiles:
        raise UsageError(
            "--profile applies to all models, but the plan file has profiles for "
            f"{', '.join(profiles)}. Remove --profile, or the profiles in the plan file."
        )
    values = options_set(ctx, options)
    prompts = values.pop("prompt", ())
    several = {name: values.pop(name, ()) for name in SETTINGS}
    settings = {name: chosen for name, chosen in several.items() if chosen}
    return api.Plan(
        benchmarks=api.load_benchmarks(suites.expanded(specs), prompts, **values),
        models=list(dict.fromkeys(models)),
        profiles=profiles,
        profiles_source="plan" if profiles else "profile",
        settings=settings,
        sources=sources_of(ctx, options),
        score=score and not is_driver,
        is_driver=is_driver,
        command=sys.argv[1:],
        **values,
    )


def _own_code(specs: Sequence[str]) -> list[str]:
    """The files and modules with benchmarks that the command names. Scoring a run again may execute
    only these."""
    from snellen.registry import is_own_code, suites  # not imported for `run --help`

    return [spec for spec in suites.expanded(specs) if is_own_code(spec)]


def _show_sweep(results: Sequence[Result], own: Sequence[str]) -> None:
    """Show the effect of the settings on the scores of each model, for each benchmark. `own` has
    the user's files and modules with benchmarks."""
    by_benchmark: dict[str, list[Result]] = {}
    for result in results:
        by_benchmark.setdefault(result.report.benchmark, []).append(result)
    for benchmark, of in by_benchmark.items():
        runs = [result.run for result in of if result.run is not None]
        try:
            document = api.compare(*runs, benchmark=own, scoring=_common(of)).comparisons
        except UsageError as error:
            _say(f"{benchmark}: settings not compared: {error}")
        else:
            report.print_swept(document)


def _common(results: Sequence[Result]) -> str | None:
    """The scoring for the comparison if the runs have different headline scorings, which happens
    with different prompts. The scoring is `robust`, which parses any form of answer, if all runs
    have it. Otherwise, the first run's headline scoring is used. None if all runs have the same
    headline scoring."""
    if len({result.report.headline for result in results}) == 1:
        return None
    all_have = all(scoring.ROBUST in result.report.scorings for result in results)
    return scoring.ROBUST if all_have else results[0].report.headline


def _show_without_probe(result: Result, own: Sequence[str]) -> None:
    """If the run used a probe, compare the run with the run without the probe, or print how to get
    such a run. `own` has the user's files and modules with benchmarks."""
    if result.run is None or not api.is_paired(result.report.identity):
        return
    try:
        compared = api.compare_with_plain(result.run, own)
    except UsageError as error:
        _say(f"not compared with the plain run: {error}")
        return
    if compared is None:
        _say(
            f"{result.report.benchmark} × {result.report.model}: to compare with a run without the "
            "probe, run the same command without the probe option"
        )
    else:
        report.print_compared(compared.comparisons)


def _ending(
    finished: Sequence[api.Finished],
    limits: Sequence[_limits.Limit],
    most_stderr: float | None,
    part: RunPart | None,
) -> int:
    """Print what remains to be done, if anything. Returns the exit code."""
    code = DONE
    unfinished = False
    known = {metric for run in finished if run.result for metric in _limits.metrics_of(run.result)}
    for run in finished:
        name = run.progress.name
        # Results do not count the turns that are asked but not scored. The progress does.
        failed = (run.result.failed if run.result else 0) or run.progress.failed
        if failed:
            _say(f"{name}: {failed:,} question{'s' * (failed != 1)} without a reply")
        if run.stopped:
            _say(f"{name}: stopped: {run.stopped}")
        if run.result is None and part is not None:
            command = store.Run(run.run).command("score")
            _say(
                f"{name}: stored. The run is scored when all parts are complete; to score the "
                f"replies so far, run `{command}`"
            )
        elif run.result is None:
            _say(f"{name}: not scored; run `{store.Run(run.run).command('score')}`")
        else:
            if run.scope_note is not None and part is None:
                _say(run.scope_note)
            if (judge := unjudged(run)) is not None:
                _say(judge)
            lines, shortfall = _limits.shortfalls(limits, run.result, known)
            for line in lines:
                _say(f"{name}: {line}")
            code = max(code, shortfall)
            if most_stderr is not None and not run.stopped:
                from snellen.run import until_stderr

                lack = until_stderr.shortfall(run.result, most_stderr)
                if lack is not None:
                    _say(f"{name}: all {run.result.report.n:,} questions are asked, and {lack}")
                    code = max(code, FELL_SHORT)
        unfinished |= bool(failed or (run.stopped and not run.has_goal))
    if unfinished:
        _say("the same command resumes the run: it sends the questions without a reply again")
        code = max(code, FELL_SHORT)
    return INTERRUPTED if any(run.interrupted for run in finished) else code


def _say(text: str) -> None:
    print(plain(text), file=sys.stderr)
