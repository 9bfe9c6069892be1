"""Runs a plan: prepares benchmarks × models, asks them all at once, scores what came."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from snellen import registry
from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Generation, Model, Prompts
from snellen.core.profile import Profile
from snellen.data import Facts
from snellen.errors import DataError, UsageError
from snellen.run import (
    Asking,
    Budget,
    Limiter,
    OnReply,
    Progress,
    Settings,
    Stop,
    check,
    check_model,
    dummies,
    select,
)
from snellen.run.earlier_runs import check_pictures, reuse_of
from snellen.run.identity import manifest_of, run_identity
from snellen.run.lifecycle import Show, asked, close_model, interrupts, run_async, shown
from snellen.run.plan import Finished, OnSample, Plan
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
        if plan.max_cost is not None and plan.profile_of(name).prices is None:
            raise UsageError(
                f"--max-cost needs to know what {name}'s tokens cost: give `prices` in its profile "
                "(--profile)."
            )
    return run_async(_run_plan(plan, show, at_once, budget or budget_of(plan)))


def budget_of(plan: Plan) -> Budget:
    return Budget(
        max_requests=plan.max_requests, max_cost=plan.max_cost, max_seconds=plan.max_seconds
    )


async def _run_plan(
    plan: Plan,
    show: Show | None,
    at_once: Callable[[], NoReturn] | None,
    budget: Budget,
) -> list[Finished]:
    limiters: dict[str, Limiter] = {}
    jobs: list[_Job] = []
    ours: list[Model] = []
    finished = []
    with ExitStack() as stack:
        try:
            # All rows are read before any model is opened, which may take minutes.
            read = [(benchmark, benchmark.data.facts()) for benchmark in plan.asked()]
            for spec in plan.models:
                profile = plan.profile_of(spec if isinstance(spec, str) else spec.name)
                opened = _open(spec, profile, plan)
                if opened is not None and isinstance(spec, str):
                    ours.append(opened.model)
                for benchmark, facts in read:
                    done = {job.run.path for job in jobs}
                    job = _prepare(
                        plan, profile, opened, benchmark, facts, limiters, budget, stack, done
                    )
                    jobs += [job] if job is not None else []
            stops, progress = [job.stop for job in jobs], [job.progress for job in jobs]
            with interrupts(stops, at_once), shown(progress, show):
                asking = asyncio.gather(
                    *(job.asking.ask_all() for job in jobs), return_exceptions=True
                )
                results = await asked(asking, stops)
            crashes = [result for result in results if isinstance(result, BaseException)]
            for job, outcome in zip(jobs, results, strict=True):
                if isinstance(outcome, BaseException):
                    continue
                finished.append(
                    Finished(
                        run=job.run.path,
                        progress=job.progress,
                        result=scored(
                            job.run, job.benchmark, missing=plan.missing, stopped=outcome.stopped
                        )
                        if plan.score
                        else None,
                        stopped=outcome.stopped,
                        interrupted=outcome.interrupted,
                    )
                )
            if crashes:
                raise crashes[0]
        finally:
            # A model that the caller opened stays the caller's.
            for model in ours:
                await close_model(model)
    return finished


@dataclass(frozen=True)
class _Job:
    benchmark: Benchmark
    run: Run
    asking: Asking
    stop: Stop
    progress: Progress


def _prepare(
    plan: Plan,
    profile: Profile,
    opened: registry.Opened | None,
    benchmark: Benchmark,
    facts: Facts,
    limiters: dict[str, Limiter],
    budget: Budget,
    stack: ExitStack,
    done: Collection[Path],
) -> _Job | None:
    """Everything up to the first request: which run it is, its folder, which rows are asked. None
    where it is one of the runs `done`: one benchmark under two names."""
    settings = settings_of(plan, profile, benchmark)
    if opened is None:
        opened = _most_frequent(benchmark, profile, settings)
    if opened.timed:
        settings = replace(settings, timeout=None)
    adapter = None
    if benchmark.ask == "session":
        opened, adapter = registry.watching(opened, plan.adapter)
    check_model(benchmark, opened.model)
    if isinstance(opened.model, Prompts):
        named = registry.vlmevalkit_name(
            {
                "benchmark": benchmark.name,
                "benchmark_object": not benchmark.from_catalog,
                "identity": {"options": benchmark.options},
            }
        )
        benchmark = vary(benchmark, called=named)
    identity = run_identity(benchmark, facts, opened, profile, settings, adapter)
    reuse = reuse_of(plan, identity, stack)
    manifest = partial(manifest_of, plan, profile, benchmark, facts, opened, identity)
    entered = _entered(plan.out, benchmark, identity, manifest, stack, done)
    if entered is None:
        return None
    run, nearest = entered
    selection = select(
        benchmark, facts.rows, limit=plan.limit, sample=plan.sample, seed=plan.sample_seed
    )
    progress = Progress(
        name=f"{benchmark.name} × {opened.name}",
        total=selection.rows * plan.repeats,
        prices=profile.prices,
        notes=(*_differs(nearest), *_serves(opened)),
    )
    opened.listeners.append(progress.note)
    stop = Stop()
    if opened.server not in limiters:
        limiters[opened.server] = Limiter(plan.concurrency or opened.concurrency)
    asking = Asking(
        benchmark,
        opened.model,
        run,
        selection,
        settings,
        limiter=limiters[opened.server],
        budget=budget,
        stop=stop,
        progress=progress,
        reuse=reuse,
        on_reply=_telling(plan.on_sample, benchmark),
    )
    return _Job(benchmark, run, asking, stop, progress)


def _telling(on_sample: OnSample | None, benchmark: Benchmark) -> OnReply | None:
    """Tells `on_sample` of a reply with its scores."""
    if on_sample is None:
        return None
    scores = Tally(benchmark).scores
    return lambda sample, reply: on_sample(sample, reply, scores(sample, reply))


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


def settings_of(plan: Plan, profile: Profile, benchmark: Benchmark) -> Settings:
    most = profile.max_tokens or benchmark.max_answer_tokens
    if profile.token_floor is not None:
        most = max(most, profile.token_floor)
    chosen = benchmark.temperature if profile.temperature is None else profile.temperature
    temperature = None if chosen == "default" else chosen
    return Settings(
        generation=Generation(
            max_tokens=most, temperature=temperature, top_p=profile.top_p, extra=profile.extra
        ),
        seed=plan.seed,
        repeats=plan.repeats,
        timeout=profile.timeout.total,
        allow_urls=plan.allow_urls,
        **plan.retry,
    )


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
