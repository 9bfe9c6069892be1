"""Runs a plan: prepares the runs of all benchmarks and models, executes them concurrently, and
scores the replies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.core.model import Model
from snellen.core.profile import Profile
from snellen.core.rule_errors import RuleError
from snellen.core.scoring import Missing
from snellen.errors import UsageError
from snellen.run import Budget, Job
from snellen.run.effort import with_sent_fields
from snellen.run.lifecycle import Show, close_model, run_async, run_jobs
from snellen.run.outcome import Outcome
from snellen.run.parts import PATIENCE, enter_lock, is_complete
from snellen.run.plan import Finished, Plan
from snellen.run.preparation import MOST_FREQUENT, Preparation
from snellen.run.readiness import check_settings, facts_of_all
from snellen.run.token_limit import check_asks_again
from snellen.store import HeldError, Run, pull

if TYPE_CHECKING:
    from snellen.analysis.result import Result


def run_plan(
    plan: Plan,
    show: Show | None = None,
    at_once: Callable[[], NoReturn] | None = None,
    budget: Budget | None = None,
) -> list[Finished]:
    """Run each benchmark with each model. In each setting, all runs are concurrent, and those that
    use the same server share its limit. Several plans may share a `budget`, which takes precedence
    over the plan's limits.

    If the plan asks a part of its runs, the process that stores the last reply of a run scores it.

    Ctrl-C stops the runs cleanly; a second Ctrl-C calls `at_once` (None: raises KeyboardInterrupt).

    Raises:
        SnellenError: an error that the caller can fix. The replies of runs in progress are kept.
    """
    for spec in plan.models:
        name = spec if isinstance(spec, str) else spec.name
        if plan.replicas is not None:
            if not isinstance(spec, str):
                raise UsageError(
                    f"{name}: replicas are possible only for a model that is passed by name, such "
                    "as 'python:FILE:NAME', since each worker opens it."
                )
            registry.check_replicated(spec, plan.profile_of(name))
        if plan.options["max_cost"] is not None and plan.profile_of(name).prices is None:
            raise UsageError(
                f"--max-cost needs the token prices of {name}. Set `prices` in its profile "
                "(--profile)."
            )
    if (plan.options["drivers"] or 1) > 1 and not plan.is_driver:
        raise UsageError("--drivers works with `snellen run` and `evaluate` only. Leave it out.")
    budget = budget or budget_of(plan)
    settings = plan.by_setting()
    check_settings(plan, settings)
    finished: dict[Path, Finished] = {}
    for setting in settings:
        results = run_async(_run_plan(setting, show, at_once, budget))
        # Two settings can lead to the same run, such as two image sizes above a profile's limit.
        finished |= {result.run: result for result in results}
        if any(result.interrupted for result in results):
            break
    return [*finished.values()]


def budget_of(plan: Plan) -> Budget:
    options = plan.options
    return Budget(
        max_requests=options["max_requests"],
        max_cost=options["max_cost"],
        max_seconds=options["max_time"],
    )


@asynccontextmanager
async def prepared(plan: Plan, budget: Budget) -> AsyncIterator[list[Job]]:
    """Prepare the jobs of a plan. Their runs are locked, and their models are open, until the
    context is left."""
    ours: list[Model] = []
    with ExitStack() as stack:
        preparation = Preparation(plan, budget, stack)
        try:
            # All rows are read before any model is opened, since opening a model may take minutes.
            read = facts_of_all(plan.benchmarks)
            for spec, (benchmark, _) in product(plan.models, read):
                check_asks_again(benchmark, plan.config(spec, benchmark).settings)
            for spec in plan.models:
                profile = plan.profile_of(spec if isinstance(spec, str) else spec.name)
                opened = _open(spec, profile, plan)
                if opened is not None and isinstance(spec, str):
                    ours.append(opened.model)
                for benchmark, facts in read:
                    preparation.add(plan.config(spec, benchmark), opened, facts)
            yield preparation.jobs
        finally:
            # Models that the caller opened are not closed.
            for model in ours:
                await close_model(model)


async def _run_plan(
    plan: Plan,
    show: Show | None,
    at_once: Callable[[], NoReturn] | None,
    budget: Budget,
) -> list[Finished]:
    async with prepared(plan, budget) as jobs:
        errors = await run_jobs(jobs, show, at_once)
        finished = []
        crashes = [error for error in errors if error is not None]
        for job, error in zip(jobs, errors, strict=True):
            if error is None:
                try:
                    finished.append(_finish(plan, job))
                except RuleError as crash:  # the other runs are scored first
                    crashes.append(RuleError(f"{crash} RUN is {job.run.path}"))
        if crashes:
            raise crashes[0]
    if plan.options["part"] is not None and plan.score:
        # The locks have been released, and everything is in the store.
        return [_score_if_complete(plan, *pair) for pair in zip(jobs, finished, strict=True)]
    return finished


def end_plan(plan: Plan, outcomes: Sequence[Outcome]) -> list[Finished]:
    """Score the runs of a plan, which other processes have asked in parts."""
    by_path = {plan.out / outcome.run: outcome for outcome in outcomes}
    finished: dict[Path, Finished] = {}
    for setting in plan.by_setting():
        results = run_async(_end_plan(setting, by_path))
        finished |= {result.run: result for result in results}
        if any(result.interrupted for result in results):
            break
    return [*finished.values()]


async def _end_plan(plan: Plan, outcomes: Mapping[Path, Outcome]) -> list[Finished]:
    async with prepared(plan, budget_of(plan)) as jobs:
        return [
            _finish(plan, outcomes[job.run.path].applied_to(job))
            for job in jobs
            if job.run.path in outcomes
        ]


def _finish(plan: Plan, job: Job) -> Finished:
    # These modules are imported after the last reply, so that the first request is sent sooner.
    from snellen.run.kept_report import kept_result
    from snellen.run.score_run import scored

    stop, result = job.stop, None
    if plan.score and plan.options["part"] is None:
        missing, benchmark = plan.options["missing"], job.benchmark
        if stop.reason is None:
            result = kept_result(job.run, benchmark, missing)
        if result is None:
            if job.readings is not None:
                benchmark = job.readings.used_in(benchmark)
            result = scored(job.run, benchmark, missing=missing, stopped=stop.reason)
    job.run.keep_index()
    return Finished(
        run=job.run.path,
        progress=job.progress,
        result=result,
        stopped=stop.reason,
        interrupted=stop.interrupted,
        has_goal=stop.is_goal,
        row_indices=job.selection.places,
    )


def _score_if_complete(plan: Plan, job: Job, finished: Finished) -> Finished:
    """Score a run after this process has asked its part, if all parts are complete. If several
    processes end at the same time, the last one sees all replies."""
    if finished.stopped or finished.progress.failed or job.all_parts is None:
        return finished
    path = job.run.path
    pull(path)
    with closing(Run(path)) as run:
        run.load()
        if not is_complete(run, job.all_parts, job.settings.repeats):
            return finished
    try:
        result = score_parts(path, job.benchmark, plan.options["missing"])
    except HeldError:
        return finished  # another process is scoring the run
    return replace(finished, result=result)


def score_parts(path: Path, benchmark: Benchmark, missing: Missing | None) -> Result:
    """Score a run whose parts may still be growing. If another process is scoring the run, wait for
    that process to finish.

    Raises:
        StoreError: the other process takes too long, or the run cannot be read.
    """
    from snellen.run.score_run import scored

    run = Run(path)
    with closing(run), ExitStack() as stack:
        enter_lock(stack, run.folder.scores_lock, PATIENCE)
        run.load()
        return scored(run, benchmark, missing=missing)


def _open(spec: str | registry.Opened, profile: Profile, plan: Plan) -> registry.Opened | None:
    """Open a model. Returns None for the model that is created separately for each benchmark."""
    if not isinstance(spec, str):
        return registry.with_profile(spec, profile)
    if spec == MOST_FREQUENT:
        return None
    profile = with_sent_fields(spec, profile)
    return registry.model(spec, profile, logs=plan.out, replicas=plan.replicas)
