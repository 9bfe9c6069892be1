"""Runs a plan: prepares benchmarks × models, asks them all at once, scores what came."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from snellen import registry
from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Model, Prompts
from snellen.core.profile import Profile
from snellen.data import Facts
from snellen.errors import DataError, UsageError
from snellen.run import (
    Budget,
    Job,
    Limiter,
    Observer,
    Progress,
    ReplyCallback,
    Settings,
    Stop,
    check,
    check_model,
    dummies,
    select,
)
from snellen.run.earlier_runs import check_pictures, reuse_of
from snellen.run.identity import manifest_of, run_identity
from snellen.run.lifecycle import Show, close_model, run_async, run_jobs
from snellen.run.plan import Finished, OnSample, Plan
from snellen.run.run_config import RunConfig
from snellen.run.score_run import scored
from snellen.scoring import Tally
from snellen.store import MANIFEST, Run, open_run

MOST_FREQUENT = "baseline/most-frequent"
"""The one model that is made for a benchmark: it knows what most answers are."""


def run_plan(
    plan: Plan,
    show: Show | None = None,
    at_once: Callable[[], NoReturn] | None = None,
    budget: Budget | None = None,
) -> list[Finished]:
    """Run all benchmarks × models; those on one server share its limit, different servers are asked
    at once. Several plans may share a `budget`, which goes before the plan's own limits.

    Ctrl-C stops the runs cleanly; a second one calls `at_once` (None: raises KeyboardInterrupt).

    Raises:
        SnellenError: something that the caller can mend; runs under way have kept what they had.
    """
    for spec in plan.models:
        name = spec if isinstance(spec, str) else spec.name
        if plan.replicas is not None:
            if not isinstance(spec, str):
                raise UsageError(
                    f"{name}: a model has replicas where it is given by its name, as "
                    "'python:FILE:NAME', so that each worker can open it."
                )
            registry.check_replicated(spec, plan.profile_of(name))
        elif isinstance(spec, str):
            registry.check_extra(spec)
        if plan.options["max_cost"] is not None and plan.profile_of(name).prices is None:
            raise UsageError(
                f"--max-cost needs to know what {name}'s tokens cost: give `prices` in its profile "
                "(--profile)."
            )
    budget = budget or budget_of(plan)
    finished: dict[Path, Finished] = {}
    for setting in plan.by_setting():
        results = run_async(_run_plan(setting, show, at_once, budget))
        # Settings may come to the same, such as two sizes above the most that a profile allows.
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


async def _run_plan(
    plan: Plan,
    show: Show | None,
    at_once: Callable[[], NoReturn] | None,
    budget: Budget,
) -> list[Finished]:
    limiters: dict[str, Limiter] = {}
    jobs: list[Job] = []
    ours: list[Model] = []
    with ExitStack() as stack:
        try:
            # All rows are read before any model is opened, which may take minutes.
            read = [(benchmark, benchmark.data.facts()) for benchmark in plan.benchmarks]
            for spec in plan.models:
                profile = plan.profile_of(spec if isinstance(spec, str) else spec.name)
                opened = _open(spec, profile, plan)
                if opened is not None and isinstance(spec, str):
                    ours.append(opened.model)
                for benchmark, facts in read:
                    done = {job.run.path for job in jobs}
                    config = plan.config(spec, benchmark)
                    job = _prepare(plan, config, opened, facts, limiters, budget, stack, done)
                    jobs += [job] if job is not None else []
            errors = await run_jobs(jobs, show, at_once)
            finished = [
                _finish(plan, job) for job, error in zip(jobs, errors, strict=True) if error is None
            ]
            crashes = [error for error in errors if error is not None]
            if crashes:
                raise crashes[0]
        finally:
            # A model that the caller opened stays the caller's.
            for model in ours:
                await close_model(model)
    return finished


def _finish(plan: Plan, job: Job) -> Finished:
    stop, result = job.stop, None
    if plan.score:
        result = scored(
            job.run, job.benchmark, missing=plan.options["missing"], stopped=stop.reason
        )
    return Finished(
        run=job.run.path,
        progress=job.progress,
        result=result,
        stopped=stop.reason,
        interrupted=stop.interrupted,
    )


def _prepare(
    plan: Plan,
    config: RunConfig,
    opened: registry.Opened | None,
    facts: Facts,
    limiters: dict[str, Limiter],
    budget: Budget,
    stack: ExitStack,
    done: Collection[Path],
) -> Job | None:
    """Everything up to the first request: which run it is, its folder, which rows are asked. None
    where it is one of the runs `done`: one benchmark under two names."""
    benchmark, profile, settings = config.benchmark, config.profile, config.settings
    options = config.options
    if opened is None:
        opened = _most_frequent(benchmark, profile, settings)
    if opened.timed:
        settings = replace(settings, timeout=None)
    adapter = None
    if benchmark.procedure.kind == "session":
        opened, adapter = registry.watching(opened, options["adapter"])
    check_model(benchmark, opened.model)
    benchmark = _with_vlmevalkit_name(benchmark, opened.model)
    config = replace(config, benchmark=benchmark)
    identity = run_identity(benchmark, facts, opened, profile, settings, adapter)
    reuse = reuse_of(plan, identity, stack)
    manifest = partial(manifest_of, config, facts, opened, identity, plan.command)
    entered = _entered(plan.out, benchmark, identity, manifest, stack, done)
    if entered is None:
        return None
    run, nearest = entered
    selection = select(
        benchmark,
        facts.rows,
        limit=options["limit"],
        sample=options["sample"],
        seed=options["sample_seed"],
    )
    progress = Progress(
        name=f"{benchmark.name} × {opened.name}",
        total=selection.rows * settings.repeats,
        prices=profile.prices,
        notes=(*_differs(nearest), *_serves(opened)),
    )
    opened.listeners.append(progress.note)
    stop = Stop()
    if opened.server not in limiters:
        limiters[opened.server] = Limiter(options["concurrency"] or opened.concurrency)
    return Job(
        benchmark=benchmark,
        model=opened.model,
        run=run,
        selection=selection,
        settings=settings,
        limiter=limiters[opened.server],
        budget=budget,
        stop=stop,
        progress=progress,
        reuse=reuse,
        observers=_observers(plan.on_sample, benchmark, stop),
    )


def _with_vlmevalkit_name(benchmark: Benchmark, model: Model) -> Benchmark:
    """The benchmark with the name that a model which words its own prompts knows it by."""
    if not isinstance(model, Prompts):
        return benchmark
    name = registry.vlmevalkit_name(
        {
            "benchmark": benchmark.name,
            "benchmark_object": not benchmark.provenance.from_catalog,
            "identity": {"options": benchmark.provenance.options},
        }
    )
    return vary(benchmark, called=name)


def _observers(on_sample: OnSample | None, benchmark: Benchmark, stop: Stop) -> list[Observer]:
    """Who is told of a run's events beside its progress: `on_sample`, of each reply and its
    scores."""
    if on_sample is None:
        return []
    scores = Tally(benchmark).scores
    return [
        ReplyCallback(lambda sample, reply: on_sample(sample, reply, scores(sample, reply)), stop)
    ]


def _entered(
    out: Path,
    benchmark: Benchmark,
    identity: Mapping[str, Any],
    manifest: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    stack: ExitStack,
    done: Collection[Path],
) -> tuple[Run, Sequence[str]] | None:
    """The run of this identity, locked, with its replies known, and how it differs from its nearest
    sibling if it is new; None where it is one of those `done`.

    The order matters. The rows are checked before the lock, which is a file: so a folder for
    nothing can be taken away again. Whether the run was there is asked again under the lock, since
    another process may have had it meanwhile. The pictures are looked at before the manifest is
    written, so that what is refused leaves no trace.
    """
    run, was, nearest = open_run(out, benchmark.name, identity["model"], identity)
    if run.path in done:
        return None
    if was == "new":
        try:
            check(benchmark)
        except DataError:
            with suppress(OSError):  # another process is there, or died there
                run.path.rmdir()
            raise
    stack.enter_context(run.folder.lock())
    stack.callback(run.close)
    before = {} if run.folder.get(MANIFEST) is None else run.manifest()
    if before and "prompt" not in identity:
        check_pictures(run, benchmark)
    run.put_manifest(manifest(before))
    run.load()
    return run, () if before else nearest


def _differs(nearest: Sequence[str]) -> tuple[str, ...]:
    if not nearest:
        return ()
    return (f"a new run: it differs from {nearest[0]} in {', '.join(nearest[1:])}",)


def _serves(opened: registry.Opened) -> tuple[str, ...]:
    if opened.served is None:
        return ()
    return (f"a server is started for it, and writes to {opened.served['log']}",)


def _open(spec: str | registry.Opened, profile: Profile, plan: Plan) -> registry.Opened | None:
    """The model; None for the one that is made for each benchmark."""
    if not isinstance(spec, str):
        return registry.with_profile(spec, profile)
    if spec == MOST_FREQUENT:
        return None
    return registry.model(spec, profile, logs=plan.out, replicas=plan.replicas)


def _most_frequent(benchmark: Benchmark, profile: Profile, settings: Settings) -> registry.Opened:
    from snellen.models.recorded import Recorded

    replies = dummies.table(
        benchmark,
        dummies.most_frequent(benchmark),
        generation=settings.generation,
        seed=settings.seed,
        repeats=settings.repeats,
    )
    return registry.Opened(
        model=Recorded(MOST_FREQUENT, replies),
        name=MOST_FREQUENT,
        server=f"{MOST_FREQUENT} {benchmark.name}",
        revision=profile.revision,
        concurrency=32,
    )
