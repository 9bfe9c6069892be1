"""Asking from Python: a whole benchmark, or one thing."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec

from snellen import registry
from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark
from snellen.core.model import Generates, Generation, Reply, Request, loaded
from snellen.core.outputs import check_reply
from snellen.core.profile import Profile, read_profile
from snellen.core.scoring import Missing
from snellen.errors import UsageError
from snellen.media import forms, video
from snellen.media.content import Video, user
from snellen.models.executors.replicas import Replicas
from snellen.run import fetched
from snellen.run.lifecycle import INTERRUPTED, Show, close_model, run_async
from snellen.run.plan import OnSample, Plan
from snellen.run.run_plan import run_plan
from snellen.store import data_at, place_of
from snellen.transforms.probes import probed


def evaluate(
    benchmark: str | Benchmark,
    model: object,
    *,
    base_url: str | None = None,
    api_key_env: str | None = None,
    profile: Profile | str | Path | None = None,
    data: str | Path | None = None,
    out: str | Path = "runs",
    limit: int | None = None,
    sample: int | None = None,
    repeats: int = 1,
    concurrency: int | None = None,
    max_tokens: int | None = None,
    temperature: float | Literal["default"] | None = None,
    frames: str | None = None,
    adapter: str | None = None,
    replicas: int | None = None,
    seed: int | None = None,
    missing: Missing | None = None,
    allow_urls: bool = False,
    task: str | None = None,
    columns: Mapping[str, str] | None = None,
    shots: int | None = None,
    shots_from: str | None = None,
    shots_seed: int = 0,
    blind: str | None = None,
    permute_options: int | None = None,
    open_ended: bool = False,
    probe_seed: int = 0,
    show: Show | None = None,
    on_sample: OnSample | None = None,
) -> Result:
    """Ask a model a benchmark's questions, score the replies, and give the result.

    `benchmark` is a name with options (`mathvision:split=testmini`), a file of rows, or a
    `Benchmark`; `model` a name (`openai/NAME`), or what `python:FILE:NAME` may name: a function of
    messages, or an object with a method `generate` or `generate_batch`. `profile` may be a TOML
    file. `out` and `data` may lie on an object store (`s3://bucket/runs`). `api_key_env` names the
    environment variable that holds the key. `frames` is a frame policy, such as `fps:1,max=256`, in
    the place of the benchmark's; `adapter` how a model that does not watch streams is shown them
    (`window:4`). `replicas` are copies of a model given by name, in workers of Ray: of the cluster
    that this process is in, or RAY_ADDRESS names, or its own. `shots` examples stand before each
    question, from `shots_from`: a file, or another split (`split=dev`). `blind` (none, blank,
    other) asks without the pictures, `permute_options` each question so many times with its options
    in other places, `open_ended` without options. `allow_urls` fetches pictures from the addresses
    that data name. `on_sample` is called with sample, reply and `{scoring: score}` as soon as a
    reply is stored. If it raises, the run ends and keeps its replies. A second call with the same
    arguments asks only questions without a reply. Two objects count as the same model if name,
    `revision` and source are equal; their arguments are not compared.

    Raises:
        SnellenError: something that the caller can mend; its message says what to do.
    """
    place = None if data is None else data_at(data)
    if isinstance(benchmark, str):
        spec = benchmark
        benchmark = registry.benchmark(spec, data=place, task=task, columns=columns)
        if shots:
            benchmark = registry.few_shot(
                spec,
                benchmark,
                shots,
                source=shots_from,
                seed=shots_seed,
                data=place,
                columns=columns,
            )
    elif shots:
        raise UsageError("shots are for benchmarks by name: give the object of `with_shots`.")
    benchmark = probed(
        benchmark,
        blind=blind,
        permute_options=permute_options,
        open_ended=open_ended,
        seed=probe_seed,
    )
    profile = _profile(profile)
    if base_url is not None:
        profile = msgspec.structs.replace(profile, base_url=base_url)
    if api_key_env is not None:
        profile = msgspec.structs.replace(profile, api_key_env=api_key_env)
    plan = Plan(
        benchmarks=[benchmark],
        models=[],
        profile=profile,
        out=place_of(out),
        limit=limit,
        sample=sample,
        repeats=repeats,
        concurrency=concurrency,
        seed=seed,
        max_tokens=max_tokens,
        temperature=temperature,
        frames=frames,
        adapter=adapter,
        replicas=None if replicas is None else Replicas(n=replicas),
        missing=missing,
        allow_urls=allow_urls,
        on_sample=on_sample,
    )
    if isinstance(model, str):
        finished = run_plan(replace(plan, models=[model]), show)[0]
    else:
        opened = registry.from_object(model, threads=concurrency or profile.concurrency)
        try:
            finished = run_plan(replace(plan, models=[opened]), show)[0]
        finally:
            if opened.model is not model:
                run_async(close_model(opened.model))  # its threads; the object is the caller's
        if kept := finished.progress.kept:
            print(
                f"kept {kept} replies of {opened.name} from {finished.run}; give the model a "
                "revision if it is another one",
                file=sys.stderr,
            )
    if finished.interrupted and finished.stopped == INTERRUPTED:
        raise KeyboardInterrupt
    assert finished.result is not None
    return finished.result


def ask(
    model: object,
    *parts: object,
    base_url: str | None = None,
    api_key_env: str | None = None,
    max_tokens: int | None = 512,
    temperature: float | None = None,
) -> Reply:
    """Ask a model one thing: text, images and videos in order; gives its reply.

    An image is an `Image`, a path, an address, bytes, base64, a Pillow image, or a numpy array of
    8-bit pixels. Addresses are fetched. A text that is only a picture's path or address is read as
    that picture. `{"type": "text", "text": ...}` is always text.

    Raises:
        ModelError: it gave none. MediaError: an image or a video cannot be read.
    """
    profile = Profile(base_url=base_url, api_key_env=api_key_env)
    shown = [
        video.shown(part) if isinstance(part, Video) else part
        for number, value in enumerate(parts, 1)
        for part in forms.parts(value, f"part {number}")
    ]
    made = registry.model(model, profile) if isinstance(model, str) else registry.from_object(model)
    opened = made.model
    if not isinstance(opened, Generates):
        raise UsageError(f"{opened.name} does not answer in text.")
    request = Request(
        messages=(user(*shown),),
        generation=Generation(max_tokens=max_tokens, temperature=temperature),
    )

    async def once() -> Reply:
        try:
            return check_reply(await opened.generate(loaded(await fetched(request))), opened.name)
        finally:
            if opened is not model:
                await close_model(opened)

    return run_async(once())


def _profile(given: Profile | str | Path | None) -> Profile:
    if given is None or isinstance(given, Profile):
        return given or Profile()
    if not isinstance(given, str | Path):
        raise UsageError(f"profile is a Profile or the path of a TOML file, not {given!r:.80}.")
    return read_profile(Path(given))
