"""Asking from Python: a whole benchmark, or one thing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from snellen import catalog
from snellen.api._plan import Plan
from snellen.api._run import run_plan
from snellen.api._running import INTERRUPTED, Show, close_model, run_async
from snellen.benchmark import Benchmark, Missing
from snellen.content import Message, Part, user
from snellen.errors import UsageError
from snellen.model import Generates, Generation, Model, Reply, Request
from snellen.models._profile import Profile
from snellen.result import Result


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
                await close_model(opened)

    return run_async(once())
