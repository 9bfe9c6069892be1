"""Snellen from Python: `evaluate`, `score`, `load_run`, `ask`. The command line calls the same
functions."""

from __future__ import annotations

import asyncio
import platform
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import msgspec

from snellen import __version__, catalog, dummies
from snellen.benchmark import Benchmark, Missing
from snellen.content import Message, Part, user
from snellen.datasets import Facts, missing_note, rows_at
from snellen.errors import CatalogError, DataError, MediaError, UsageError
from snellen.model import Generates, Generation, Model, Reply, Request, loaded
from snellen.models._profile import Profile
from snellen.report.words import write_markdown
from snellen.result import Result, load_report
from snellen.runner import (
    Asking,
    Budget,
    Limiter,
    Progress,
    Reuse,
    Settings,
    Stop,
    check,
    select,
)
from snellen.scoring import score_predictions, score_run
from snellen.store import MANIFEST, ReplyRecord, Run, open_run

if TYPE_CHECKING:
    from snellen.formats.predictions import Predictions

T = TypeVar("T")
Show = Callable[[Sequence[Progress]], None]
SHOWN_EVERY = 0.25
"""Seconds between two showings of the progress."""
LOOKED_AT = 3
"""Questions whose pictures are looked at before a run goes on."""
SAME_MODEL = ("model", "model_revision", "profile")
"""What two runs must have alike for a reply of one to be one of the other."""
RECORDED_PACKAGES = ("numpy", "pillow", "aiohttp", "msgspec", "orjson", "rapidfuzz")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Benchmarks × models, and how they are asked; the fields are those of `evaluate`.

    `models` are names, or models that the caller has opened. `profiles` are those of single
    models, by name, in the place of `profile`. `reuse` are run folders: a reply that one of them
    has to the very same request, of the same model, is taken from there.
    """

    benchmarks: Sequence[Benchmark]
    models: Sequence[str | catalog.Opened]
    profile: Profile = field(default_factory=Profile)
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    out: Path = Path("runs")
    limit: int | None = None
    sample: int | None = None
    sample_seed: int = 0
    repeats: int = 1
    concurrency: int | None = None
    seed: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    missing: Missing | None = None
    score: bool = True
    max_requests: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None
    reuse: Sequence[Path] = ()
    command: Sequence[str] = ()
    retry: Mapping[str, Any] = field(default_factory=dict)

    def profile_of(self, model: str) -> Profile:
        """The profile of a model, by its name."""
        return self.profiles.get(model, self.profile)


@dataclass(frozen=True)
class Finished:
    """One run of a plan: its folder, what was done, and its result where it was scored."""

    run: Path
    progress: Progress
    result: Result | None
    stopped: str | None = None
    interrupted: bool = False


def evaluate(
    benchmark: str | Benchmark,
    model: str | Model,
    *,
    base_url: str | None = None,
    api_key_env: str | None = None,
    profile: Profile | None = None,
    data: str | Path | None = None,
    out: str | Path = "runs",
    limit: int | None = None,
    sample: int | None = None,
    repeats: int = 1,
    concurrency: int | None = None,
    max_tokens: int | None = None,
    temperature: float | None = None,
    seed: int | None = None,
    missing: Missing | None = None,
    task: str | None = None,
    columns: Mapping[str, str] | None = None,
    show: Show | None = None,
) -> Result:
    """Ask a model a benchmark's questions, score the replies, and give the result.

    `benchmark` is a name with options (`mathvision:split=testmini`), a file of rows, or a
    `Benchmark`; `model` a name
    (`openai/NAME`) or an object with `async generate(request) -> Reply`. `api_key_env` names the
    environment variable that holds the key.
    Asked again with the same arguments, it asks only what has no reply yet.

    Raises:
        SnellenError: something that the caller can mend; its message says what to do.
    """
    place = None if data is None else Path(data)
    if isinstance(benchmark, str):
        benchmark = catalog.benchmark(benchmark, data=place, task=task, columns=columns)
    profile = profile or Profile()
    if base_url is not None:
        profile = msgspec.structs.replace(profile, base_url=base_url)
    if api_key_env is not None:
        profile = msgspec.structs.replace(profile, api_key_env=api_key_env)
    opened = (
        model
        if isinstance(model, str)
        else catalog.Opened(
            model=model,
            name=model.name,
            server=model.name,
            concurrency=getattr(model, "concurrency", None),
        )
    )
    plan = Plan(
        benchmarks=[benchmark],
        models=[opened],
        profile=profile,
        out=Path(out),
        limit=limit,
        sample=sample,
        repeats=repeats,
        concurrency=concurrency,
        seed=seed,
        max_tokens=max_tokens,
        temperature=temperature,
        missing=missing,
    )
    finished = run_plan(plan, show)[0]
    if finished.interrupted and finished.stopped == INTERRUPTED:
        raise KeyboardInterrupt
    assert finished.result is not None
    return finished.result


def score(
    replies: str | Path,
    benchmark: str | Benchmark | None = None,
    *,
    data: str | Path | None = None,
    scorings: Sequence[str] | None = None,
    missing: Missing | None = None,
    ids: str | None = None,
    replies_in: str | None = None,
    only: str | None = None,
) -> Result:
    """Score a run folder again, or anybody's predictions of a benchmark: a file or a folder.

    `ids` and `replies_in` name the columns of a file, where they are not the usual ones; `only`
    takes the files of a folder that match it. Without a `benchmark` it is what the name of a file
    of VLMEvalKit's or lmms-eval's says.

    Raises:
        SnellenError: something that the caller can mend.
    """
    path = Path(replies)
    if not path.exists():
        raise UsageError(f"{path}: there is no such file or folder.")
    is_run = (path / MANIFEST).exists()
    if is_run and benchmark is not None:
        raise UsageError(f"{path} is a run, which knows its benchmark: leave it (-b) out.")
    if benchmark is None and not path.is_file():
        if data is not None:
            raise UsageError("data is for predictions: name their benchmark too (-b).")
        if not is_run:
            raise UsageError(
                f"{path} is no run folder: it has no {MANIFEST}. If predictions are in it, name "
                "their benchmark (-b)."
            )
        return _score_folder(path, scorings, missing)
    from snellen.formats import predictions

    said = predictions.read(path, ids=ids, replies=replies_in, only=only)
    model, notes = path.name, [*said.notes]
    if benchmark is None:
        model, benchmark = _named_by(path, said.named)
        notes.append(f"taken for replies of {model} to {benchmark}, by the file's name")
    if isinstance(benchmark, str):
        benchmark = catalog.benchmark(benchmark, data=None if data is None else Path(data))
    answers = _by_place(benchmark, said) if said.row_numbers else said.replies
    notes += [*benchmark.notes, *_data_notes(benchmark)]
    report, _ = score_predictions(
        benchmark,
        answers,
        where=said.where,
        model=model,
        notes=notes,
        scorings=scorings,
        missing=missing,
    )
    return Result(report)


def _named_by(path: Path, named: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """The model and the benchmark in a file's name.

    Raises:
        UsageError: no benchmark is called so.
    """
    for model, name in named:
        try:
            catalog.benchmark(name)
        except CatalogError:
            continue
        return model, name
    raise UsageError(f"{path}: whose questions are these replies to? Say it with -b.")


def _by_place(benchmark: Benchmark, said: Predictions) -> dict[str, str]:
    """Replies by id, of a file that has the rows' places instead; those to rows that are not there
    keep the names of their places, to be counted.

    Raises:
        DataError: what the file takes for right is not what the data set has in those places.
    """
    found = {}
    left = dict(said.replies)
    for row in benchmark.data:
        sample = benchmark.read(row)
        place = str(row.place)
        target = said.targets.get(place)
        known = {right.strip().casefold() for right in (sample.target, *sample.references) if right}
        if target is not None and known and target.strip().casefold() not in known:
            raise DataError(
                f"{said.where}: row {place} has the target {target!r}, but the data set's row "
                f"{place} has {sample.target!r}: its rows are others, or in another order. Name a "
                "column of ids (--ids), if it has one."
            )
        if place in left:
            found[sample.id] = left.pop(place)
    return found | {f"row {place}": reply for place, reply in left.items()}


def load_run(path: str | Path) -> Result:
    """The stored result of a run folder."""
    return load_report(Path(path))


def ask(
    model: str | Model,
    *parts: Part,
    base_url: str | None = None,
    api_key_env: str | None = None,
    max_tokens: int | None = 512,
    temperature: float | None = None,
) -> Reply:
    """Ask a model one thing: text and images in order; gives its reply.

    Raises:
        ModelError: it gave none.
    """
    profile = Profile(base_url=base_url, api_key_env=api_key_env)
    opened = catalog.model(model, profile).model if isinstance(model, str) else model
    if not isinstance(opened, Generates):
        raise UsageError(f"{opened.name} does not answer in text.")
    messages: tuple[Message, ...] = (user(*parts),)
    request = Request(
        messages=messages, generation=Generation(max_tokens=max_tokens, temperature=temperature)
    )

    async def once() -> Reply:
        try:
            return await opened.generate(request)
        finally:
            if isinstance(model, str):
                await _close(opened)

    return run_async(once())


# -- plans

INTERRUPTED = "interrupted"


def run_plan(
    plan: Plan, show: Show | None = None, at_once: Callable[[], NoReturn] | None = None
) -> list[Finished]:
    """Run all benchmarks × models; those on one server share its limit, different servers are asked
    at once.

    Ctrl-C stops the runs cleanly; a second one calls `at_once` (None: raises KeyboardInterrupt).

    Raises:
        SnellenError: something that the caller can mend; runs under way have kept what they had.
    """
    for spec in plan.models:
        name = spec if isinstance(spec, str) else spec.name
        if plan.max_cost is not None and plan.profile_of(name).prices is None:
            raise UsageError(
                f"--max-cost needs to know what {name}'s tokens cost: give `prices` in its profile "
                "(--profile)."
            )
    return run_async(_run_plan(plan, show, at_once))


async def _run_plan(
    plan: Plan, show: Show | None, at_once: Callable[[], NoReturn] | None
) -> list[Finished]:
    limiters: dict[str, Limiter] = {}
    budget = Budget(
        max_requests=plan.max_requests, max_cost=plan.max_cost, max_seconds=plan.max_seconds
    )
    jobs: list[_Job] = []
    finished = []
    with ExitStack() as stack:
        try:
            for spec in plan.models:
                for benchmark in plan.benchmarks:
                    done = {job.run.path for job in jobs}
                    job = _prepare(plan, spec, benchmark, limiters, budget, stack, done)
                    jobs += [job] if job is not None else []
            stops, progress = [job.stop for job in jobs], [job.progress for job in jobs]
            with _interrupts(stops, at_once), _shown(progress, show):
                results = await asyncio.gather(
                    *(job.asking.ask_all() for job in jobs), return_exceptions=True
                )
            crashes = [result for result in results if isinstance(result, BaseException)]
            for job, outcome in zip(jobs, results, strict=True):
                if isinstance(outcome, BaseException):
                    continue
                finished.append(
                    Finished(
                        run=job.run.path,
                        progress=job.progress,
                        result=_scored(job, plan, outcome.stopped) if plan.score else None,
                        stopped=outcome.stopped,
                        interrupted=outcome.interrupted,
                    )
                )
            if crashes:
                raise crashes[0]
        finally:
            # A model that the caller opened stays the caller's.
            for model in {id(job.model): job.model for job in jobs if job.ours}.values():
                await _close(model)
    return finished


@dataclass(frozen=True)
class _Job:
    benchmark: Benchmark
    model: Model
    run: Run
    asking: Asking
    stop: Stop
    progress: Progress
    ours: bool


def _prepare(
    plan: Plan,
    spec: str | catalog.Opened,
    benchmark: Benchmark,
    limiters: dict[str, Limiter],
    budget: Budget,
    stack: ExitStack,
    done: Collection[Path] = (),
) -> _Job | None:
    """Everything up to the first request: the data is read and checked, the folder locked, its
    replies known. None where it is one of the runs `done`: one benchmark under two names."""
    profile = plan.profile_of(spec if isinstance(spec, str) else spec.name)
    settings = _settings(plan, profile, benchmark)
    facts = benchmark.data.facts()
    opened = _open(profile, spec, benchmark, settings)
    if opened.timed:
        settings = replace(settings, timeout=None)
    identity = run_identity(benchmark, facts, opened, profile, settings)
    reuse = _reuse(plan, identity, stack)
    run, was, nearest = open_run(plan.out, benchmark.name, opened.name, identity)
    if run.path in done:
        return None
    if was == "new":
        try:
            check(benchmark)
        except DataError:
            run.path.rmdir()
            raise
    stack.enter_context(run.folder.lock())
    stack.callback(run.close)
    if was == "continued":
        _check_pictures(run, benchmark)
    run.put_manifest(_manifest(plan, profile, benchmark, facts, opened, identity, run, was))
    run.load()
    selection = select(
        benchmark, facts.rows, limit=plan.limit, sample=plan.sample, seed=plan.sample_seed
    )
    progress = Progress(
        name=f"{benchmark.name} × {opened.name}",
        total=selection.rows * plan.repeats,
        notes=_differs(nearest),
    )
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
    )
    ours = isinstance(spec, str)
    return _Job(benchmark, opened.model, run, asking, stop, progress, ours)


def _check_pictures(run: Run, benchmark: Benchmark) -> None:
    """The pictures of the first few questions must be those that were asked about: rows name files,
    and these may be others by now, or lie in another folder.

    Raises:
        DataError: they are not.
    """
    asked = {question.place: question for question in run.first_questions(LOOKED_AT)}
    for row in rows_at(benchmark.data, asked):
        request = benchmark.request(benchmark.read(row))
        shown = asked[row.place].media
        if request is None or asked[row.place].row != row.digest:
            continue
        try:
            media = [part for message in loaded(request).messages for part in message.images]
        except MediaError:
            continue  # it will be said where it is asked
        before = [one.digest for one in shown if one.kind == "image"]
        if len(before) == len(media) and before != [image.digest for image in media]:
            raise DataError(
                f"{benchmark.name}: the pictures of row {row.place} of {benchmark.data.where} are "
                f"others than those that {run.path} asked about. Choose another folder for its "
                "runs with --out."
            )


def _differs(nearest: Sequence[str]) -> tuple[str, ...]:
    if not nearest:
        return ()
    return (f"a new run: it differs from {nearest[0]} in {', '.join(nearest[1:])}",)


def _reuse(plan: Plan, identity: Mapping[str, Any], stack: ExitStack) -> Reuse | None:
    """The replies of the runs to reuse that are this model's.

    Raises:
        UsageError: none of them is.
    """
    if not plan.reuse:
        return None
    tables = []
    others = []
    for path in plan.reuse:
        run = Run(path)
        other = run.manifest()["identity"]
        if any(identity[field] != other.get(field) for field in SAME_MODEL):
            others.append(f"{path} ({other.get('model')})")
            continue
        run.load()
        stack.callback(run.close)
        records = (record for record in run.replies() if isinstance(record, ReplyRecord))
        keys = {record.request: record.key for record in records if record.state != "failed"}
        tables.append((run, keys))
    if not tables and len(plan.models) > 1:
        return None  # it is for another model of the plan
    if not tables:
        raise UsageError(
            f"--reuse: of another model, revision or profile than {identity['model']}: "
            f"{', '.join(others)}."
        )

    def reply(digest: str) -> tuple[str, Reply] | None:
        for run, keys in tables:
            record = run.final(keys[digest]) if digest in keys else None
            if record is not None and record.request == digest and record.state != "failed":
                return str(run.path), record.as_reply()
        return None

    return reply


def _settings(plan: Plan, profile: Profile, benchmark: Benchmark) -> Settings:
    most = plan.max_tokens or profile.max_tokens or benchmark.max_answer_tokens
    if profile.token_floor is not None:
        most = max(most, profile.token_floor)
    temperature = profile.temperature if plan.temperature is None else plan.temperature
    prices = profile.prices
    return Settings(
        generation=Generation(
            max_tokens=most, temperature=temperature, top_p=profile.top_p, extra=profile.extra
        ),
        seed=plan.seed,
        repeats=plan.repeats,
        timeout=profile.timeout.total,
        prices=None if prices is None else (prices.input, prices.output),
        **plan.retry,
    )


def _open(
    profile: Profile, spec: str | catalog.Opened, benchmark: Benchmark, settings: Settings
) -> catalog.Opened:
    if not isinstance(spec, str):
        return spec
    if spec != "baseline/most-frequent":
        return catalog.model(spec, profile)
    from snellen.models.recorded import Recorded

    replies = dummies.table(
        benchmark,
        dummies.most_frequent(benchmark),
        generation=settings.generation,
        seed=settings.seed,
        repeats=settings.repeats,
    )
    return catalog.Opened(
        model=Recorded(spec, replies), name=spec, server=f"{spec} {benchmark.name}", concurrency=32
    )


def run_identity(
    benchmark: Benchmark,
    facts: Facts,
    opened: catalog.Opened,
    profile: Profile,
    settings: Settings,
) -> dict[str, Any]:
    """What decides which run this is: everything that can change a reply."""
    generation = settings.generation
    return {
        "benchmark": benchmark.name,
        "asks": benchmark.asks,
        "options": {name: _plain(value) for name, value in benchmark.options.items()},
        "media": {"images": "original"},
        "data": {"digest": facts.digest, "revision": benchmark.data.revision},
        "model": opened.name,
        "model_revision": opened.revision,
        "profile": profile.changes_answers(),
        "generation": {
            "max_tokens": generation.max_tokens,
            "temperature": None
            if generation.temperature is None
            else float(generation.temperature),
            "top_p": generation.top_p,
            "seed": settings.seed,
        },
    }


def _manifest(
    plan: Plan,
    profile: Profile,
    benchmark: Benchmark,
    facts: Facts,
    opened: catalog.Opened,
    identity: Mapping[str, Any],
    run: Run,
    was: str,
) -> dict[str, Any]:
    """The identity, and whatever else is needed to repeat the run. No keys: they are never in a
    profile."""
    before = run.manifest() if was == "continued" else {}
    session = {
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "command": [_without_secrets(word) for word in plan.command],
        "server": _without_secrets(opened.server),
        "profile": _told(profile),
        "limit": plan.limit,
        "sample": plan.sample,
        "concurrency": plan.concurrency or opened.concurrency or "auto",
        "snellen": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: metadata.version(name) for name in RECORDED_PACKAGES},
    }
    notes = [*benchmark.notes, *_data_notes(benchmark)]
    return {
        **before,
        "benchmark": benchmark.name,
        "model": opened.name,
        "identity": identity,
        "data": benchmark.data.where,
        "rows": facts.rows,
        "repeats": max(plan.repeats, before.get("repeats", 1)),
        "missing": plan.missing,
        "notes": notes,
        "sessions": [*before.get("sessions", []), session],
    }


def _data_notes(benchmark: Benchmark) -> list[str]:
    """What must be said about the rows."""
    from snellen.datasets import published

    notes = [
        missing_note(benchmark.data),
        None if benchmark.files is None else published.mismatch(benchmark.files),
    ]
    return [note for note in notes if note is not None]


def _scored(job: _Job, plan: Plan, stopped: str | None) -> Result:
    result = Result(score_run(job.run, job.benchmark, missing=plan.missing), job.run.path, stopped)
    write_markdown(result)
    return result


def _score_folder(path: Path, scorings: Sequence[str] | None, missing: Missing | None) -> Result:
    run = Run(path)
    manifest = run.manifest()
    benchmark = catalog.of_run(manifest)
    with run.folder.lock():
        run.load()
        result = Result(score_run(run, benchmark, scorings=scorings, missing=missing), path)
        if scorings is None:
            write_markdown(result)
        return result


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else value


def _told(profile: Profile) -> dict[str, Any]:
    """A profile as it is stored: what was set, addresses without secrets."""
    told: dict[str, Any] = msgspec.to_builtins(profile)
    if profile.base_url is not None:
        told["base_url"] = _without_secrets(profile.base_url)
    return {name: value for name, value in told.items() if value not in (None, {})}


def _without_secrets(text: str) -> str:
    """A word of a command with what may be secret in its addresses taken out: user, password,
    query.

    >>> _without_secrets("--base-url=https://me:secret@host/v1?key=secret")
    '--base-url=https://host/v1'
    """
    if "://" not in text:
        return text
    return re.sub(r"[?#]\S*", "", re.sub(r"//[^/\s]*@", "//", text))


# -- running


async def _close(model: Model) -> None:
    close = getattr(model, "close", None)
    if close is not None:
        await close()


class _shown:
    """Calls `show` a few times a second, and once at the end."""

    def __init__(self, progress: Sequence[Progress], show: Show | None) -> None:
        self._progress = progress
        self._show = show

    def __enter__(self) -> None:
        self._task = asyncio.create_task(self._loop()) if self._show else None

    async def _loop(self) -> None:
        while self._show:
            self._show(self._progress)
            await asyncio.sleep(SHOWN_EVERY)

    def __exit__(self, *_: object) -> None:
        if self._task and self._show:
            self._task.cancel()
            self._show(self._progress)


class _interrupts:
    """Ctrl-C stops the runs cleanly; a second one stops them at once."""

    def __init__(
        self, stops: Sequence[Stop], at_once: Callable[[], NoReturn] | None = None
    ) -> None:
        self._stops = stops
        self._at_once = at_once

    def __enter__(self) -> None:
        self._on = threading.current_thread() is threading.main_thread()
        if self._on:
            self._loop = asyncio.get_running_loop()
            self._loop.add_signal_handler(signal.SIGINT, self._stop)

    def _stop(self) -> None:
        self._loop.remove_signal_handler(signal.SIGINT)
        if at_once := self._at_once:
            signal.signal(signal.SIGINT, lambda *_: at_once())
        print(
            "stopping: waiting for the replies under way (Ctrl-C again: at once)", file=sys.stderr
        )
        for stop in self._stops:
            stop.set(INTERRUPTED, interrupted=True)

    def __exit__(self, *_: object) -> None:
        if self._on:
            self._loop.remove_signal_handler(signal.SIGINT)


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end, also where an event loop runs already (a notebook): then in a thread of its
    own."""
    if not _loop_is_running():
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, work).result()


__all__ = ["Finished", "Plan", "ask", "evaluate", "load_run", "run_plan", "score"]
