"""Prepares the jobs of a plan: everything up to the first request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from snellen import registry
from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Model, Prompts
from snellen.core.profile import Profile
from snellen.data import Facts
from snellen.errors import DataError, UsageError
from snellen.media.frame_cache import FrameCache
from snellen.run import (
    Budget,
    Job,
    Limiter,
    Observer,
    Progress,
    ReplyCallback,
    Reuse,
    Settings,
    Stop,
    check,
    check_model,
    select,
)
from snellen.run.data_notes import data_notes, size_notes
from snellen.run.earlier_runs import reuse_of
from snellen.run.effort import expects_thoughts
from snellen.run.identity import manifest_of, run_identity
from snellen.run.kept_media import MediaCheck
from snellen.run.limiter import START
from snellen.run.machine_bound import machine_bound
from snellen.run.option_text import folder_and_size
from snellen.run.parts import PATIENCE, REMOTE_PATIENCE, enter_lock, in_part, share
from snellen.run.plan import OnSample, Plan
from snellen.run.readings import Readings
from snellen.run.reply_watch import RAISED, ReplyWatch
from snellen.run.run_config import RunConfig
from snellen.run.token_limit import TokenLimit, token_limit
from snellen.store import MANIFEST, Run, open_run

MOST_FREQUENT = "baseline/most-frequent"
"""The only model that is created separately for each benchmark, since it gives the benchmark's most
frequent answers."""


class Preparation:
    """Collects the jobs of a plan. Jobs that use the same server share a concurrency limit."""

    def __init__(self, plan: Plan, budget: Budget, stack: ExitStack) -> None:
        self.jobs: list[Job] = []
        """The jobs so far. The jobs' runs are locked until the stack is closed."""
        self._plan = plan
        self._budget = budget
        self._stack = stack
        self._limiters: dict[str, Limiter] = {}
        cache = plan.options["frame_cache"]
        self._frame_cache = None if cache is None else FrameCache(*folder_and_size(cache))

    def add(self, config: RunConfig, opened: registry.Opened | None, facts: Facts) -> None:
        """Add a job for a run. If the run already has a job, add nothing: the user has named the
        same benchmark in two ways.

        If `opened` is None, the model is `MOST_FREQUENT`.
        """
        benchmark, profile, settings = config.benchmark, config.profile, config.settings
        if opened is None:
            opened = _most_frequent(benchmark, profile, settings)
        if opened.timed:
            settings = replace(settings, timeout=None)
        adapter = None
        if benchmark.procedure.kind == "session":
            opened, adapter = registry.watching(opened, config.options["adapter"])
        tools = None
        if config.options["tools"]:
            from snellen.run.tool_use import with_tools  # imported on use: few runs have tools

            opened, tools = with_tools(config, opened)
        check_model(benchmark, opened.model)
        benchmark = _with_vlmevalkit_name(benchmark, opened.model)
        config = replace(config, benchmark=benchmark, settings=settings)
        identity = run_identity(benchmark, facts, opened, profile, settings, adapter, tools)
        reuse = reuse_of(self._plan, identity, self._stack)
        manifest = partial(manifest_of, config, facts, opened, identity, self._plan.command)
        limit = token_limit(settings)
        entered = self._enter(benchmark, identity, manifest, limit)
        if entered is not None:
            run, nearest = entered
            notes = (
                *_differs(nearest),
                *_serves(opened),
                *data_notes(benchmark),
                *size_notes(benchmark, facts.rows),
            )
            job = self._job(config, opened, facts, run, notes, reuse, limit)
            self.jobs.append(replace(job, tools=tools))

    def _enter(
        self,
        benchmark: Benchmark,
        identity: Mapping[str, Any],
        manifest: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        limit: TokenLimit,
    ) -> tuple[Run, Sequence[str]] | None:
        """Open, lock, and load the run with this identity. Returns the run and, if it is new, how
        it differs from the most similar run in the same folder; None if the run already has a job.

        The order matters. The rows are checked before the run is locked, so that the folder of a
        run that cannot start is still empty and can be removed. The existence of the run is checked
        again after it is locked, since another process may have created it in the meantime. The
        media are checked before the manifest is written, so that the manifest does not change if
        the check fails.
        """
        run, was, nearest = open_run(self._plan.out, benchmark.name, identity["model"], identity)
        if any(job.run.path == run.path for job in self.jobs):
            return None
        part = self._plan.options["part"]
        if part is not None:
            run = run.part(part.number, part.total)
        if was == "new":
            try:
                check(benchmark)
            except DataError:
                # It fails if another process uses the folder, or was killed while using it.
                with suppress(OSError):
                    run.path.rmdir()
                raise
        enter_lock(self._stack, run.folder.lock, _patience(self._plan))
        self._stack.callback(run.close)
        before = {} if run.folder.get(MANIFEST) is None else run.manifest()
        options = self._plan.options
        if options["until_stderr"] is not None:
            from snellen.run import until_stderr  # imported on use: it imports the whole report

            until_stderr.check_benchmark(benchmark)
            until_stderr.check_earlier(
                run, before, {**options, "order_seed": options["sample_seed"]}
            )
        if limit.is_open and RAISED in before:
            limit.raise_to(before[RAISED])
        if limit.may_reopen:
            run.load(limit.reopens)
        else:
            run.keep_index()
            run.load()
        if before:
            MediaCheck(run, benchmark, own_prompt="prompt" in identity).check()
        self._stack.callback(run.media_stamps.put)
        run.put_manifest(manifest(before))
        return run, () if before else nearest

    def _job(
        self,
        config: RunConfig,
        opened: registry.Opened,
        facts: Facts,
        run: Run,
        notes: tuple[str, ...],
        reuse: Reuse | None,
        limit: TokenLimit,
    ) -> Job:
        benchmark, options, settings = config.benchmark, config.options, config.settings
        selection = select(
            benchmark,
            facts.rows,
            limit=options["limit"],
            sample=options["sample"],
            seed=options["sample_seed"],
            in_random_order=options["until_stderr"] is not None,
        )
        all_parts, part = selection, options["part"]
        if part is not None:
            selection = in_part(benchmark, selection, part)
        progress = Progress(
            name=_name(benchmark, opened, self._plan),
            total=selection.rows * settings.repeats,
            prices=config.profile.prices,
            notes=notes,
        )
        opened.listeners.append(progress.note)
        stop = Stop()
        thinks = expects_thoughts(
            config.profile, benchmark.provenance.recipe_source.get("thinking")
        )
        watch = ReplyWatch(progress, run, stop, limit, settings, thinks)
        if opened.server not in self._limiters:
            concurrency = config.profile.concurrency or opened.concurrency
            self._limiters[opened.server] = _limiter(concurrency, self._plan)
        observers = [watch, *_observers(self._plan.on_sample, benchmark, stop)]
        if (most := options["until_stderr"]) is not None:
            from snellen.run import until_stderr

            total = selection.rows * settings.repeats
            observers.append(until_stderr.StderrWatch(benchmark, run, stop, most, total))
        return Job(
            benchmark=benchmark,
            model=opened.model,
            run=run,
            selection=selection,
            all_parts=None if part is None else all_parts,
            settings=settings,
            limiter=self._limiters[opened.server],
            budget=self._budget,
            stop=stop,
            progress=progress,
            reuse=reuse,
            limit=limit,
            readings=Readings(benchmark.scorings[benchmark.headline]) if self._plan.score else None,
            observers=observers,
            frame_cache=self._frame_cache,
        )


def _patience(plan: Plan) -> float:
    """How long to wait for the lock of a run, in seconds."""
    if not plan.is_driver:
        return 0.0
    return PATIENCE if plan.options["executor"] is None else REMOTE_PATIENCE


def _limiter(concurrency: int | None, plan: Plan) -> Limiter:
    """The limit of the concurrent requests to a server. A driver has a share of the limit of its
    supervisor."""
    part = plan.options["part"]
    if part is None or not plan.is_driver:
        return Limiter(concurrency, bound=machine_bound)
    if concurrency is None:
        start = max(1, share(START, part))
        return Limiter(start=start, bound=machine_bound, others=part.total - 1)
    if concurrency < part.total:
        raise UsageError(
            f"--drivers {part.total} divides {concurrency} concurrent requests among "
            f"{part.total} processes. Raise --concurrency, or use --drivers {concurrency}."
        )
    return Limiter(share(concurrency, part))


def _name(benchmark: Benchmark, opened: registry.Opened, plan: Plan) -> str:
    """The name of a run in messages. The name includes the setting if the plan has several
    settings, and the part if the process asks a part of the run."""
    values = [f"{name}={value}" for name, value in plan.setting.items()]
    if (part := plan.options["part"]) is not None and not plan.is_driver:
        values.append(f"part {part}")
    return ", ".join([f"{benchmark.name} × {opened.name}", *values])


def _with_vlmevalkit_name(benchmark: Benchmark, model: Model) -> Benchmark:
    """Add VLMEvalKit's name of the benchmark, for models with their own prompts."""
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
    """Create the observer that passes each reply with its scores to `on_sample`, if there is such a
    function."""
    if on_sample is None:
        return []
    from snellen.scoring import Scorer  # imported on use: only callers from Python get the scores

    scores = Scorer(benchmark).scores
    return [
        ReplyCallback(lambda sample, reply: on_sample(sample, reply, scores(sample, reply)), stop)
    ]


def _differs(nearest: Sequence[str]) -> tuple[str, ...]:
    if not nearest:
        return ()
    return (f"a new run: it differs from {nearest[0]} in {', '.join(nearest[1:])}",)


def _serves(opened: registry.Opened) -> tuple[str, ...]:
    if opened.served is None:
        return ()
    return (f"a server is started for this model. Its log is {opened.served['log']}",)


def _most_frequent(benchmark: Benchmark, profile: Profile, settings: Settings) -> registry.Opened:
    from snellen.models.recorded import Recorded
    from snellen.run import dummies

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
