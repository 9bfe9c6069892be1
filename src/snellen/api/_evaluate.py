"""Asks a model all questions of a benchmark, or a single question, from Python."""

from __future__ import annotations

import sys
from typing import Unpack

from snellen import registry
from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark
from snellen.core.layout import laid_out
from snellen.core.model import Generates, Generation, Reply, Request, loaded
from snellen.core.outputs import check_reply
from snellen.core.profile import Profile
from snellen.errors import UsageError, plain
from snellen.media import forms, video
from snellen.media.content import Video, user
from snellen.run import fetched
from snellen.run.declarations import checked
from snellen.run.drivers import command_words, run_with_drivers
from snellen.run.lifecycle import INTERRUPTED, Show, close_model, run_async
from snellen.run.options import RunOptions
from snellen.run.plan import Finished, OnSample, Plan, load_benchmarks
from snellen.run.progress_text import ShownProgress
from snellen.run.run_config import with_options
from snellen.run.run_plan import run_plan, score_parts


def evaluate(
    benchmark: str | Benchmark,
    model: object,
    *,
    show: Show | bool = False,
    on_sample: OnSample | None = None,
    **options: Unpack[RunOptions],
) -> Result:
    """Ask a model a benchmark's questions, score the replies, and return the result.

    `benchmark` is a name, optionally with options (`mathvision:split=testmini`), a file of rows, or
    a `Benchmark`. `model` is a name (`openai/NAME`), a function that takes messages, or an object
    with a method `generate` or `generate_batch`. The options are those of `snellen run`, for
    example `limit=100`, `temperature=0.7`, `base_url="http://localhost:8000/v1"`.

    `show=True` shows the progress: as updating text in a notebook, and as lines on standard error
    elsewhere. If `show` is a function, it is called with the progress of the runs four times per
    second. `on_sample` is called with the sample, the reply, and `{scoring: score}` as soon as a
    reply is stored. If `on_sample` raises an exception, the run ends and keeps its replies.

    With `part`, the result covers the replies of all parts so far.

    A second call with the same arguments asks only the questions that have no reply yet. If the
    second call has a smaller `limit`, the result still covers all stored replies, and a note on
    standard error says so. Two model objects count as the same model if their name, `revision`, and
    source code are equal. The arguments of their constructors are not compared.

    Raises:
        SnellenError: an error that the caller can fix. The message says what to do.
    """
    display = ShownProgress() if show is True else show or None
    options = checked(options)
    benchmarks = load_benchmarks([benchmark], **options)
    plan = Plan(benchmarks=benchmarks, models=[], on_sample=on_sample, **options)
    if isinstance(model, str) and (plan.options["drivers"] or 1) > 1:
        words = command_words([benchmark], [model], options)
        finished = run_with_drivers(plan.replaced(models=[model]), words, display)[0]
    elif isinstance(model, str):
        finished = run_plan(plan.replaced(models=[model]), display)[0]
    else:
        finished = _run_object(plan, model, display)
    if finished.interrupted and finished.stopped == INTERRUPTED:
        raise KeyboardInterrupt
    if finished.scope_note is not None and plan.options["part"] is None:
        print(plain(finished.scope_note), file=sys.stderr)
    if finished.result is None:  # another part of the run is not complete
        return score_parts(finished.run, plan.benchmarks[0], plan.options["missing"])
    return finished.result


def _run_object(plan: Plan, model: object, show: Show | None) -> Finished:
    """Run a plan with a model object that the caller passed."""
    profile = with_options(plan.profile, plan.options)
    opened = registry.from_object(model, threads=profile.concurrency)
    try:
        finished = run_plan(plan.replaced(models=[opened]), show)[0]
    finally:
        if opened.model is not model:
            run_async(
                close_model(opened.model)
            )  # closes only its threads; the object belongs to the caller
    if kept := finished.progress.kept:
        print(
            f"kept {kept} replies of {opened.name} from {finished.run}; if the model has changed, "
            "give it a new `revision`",
            file=sys.stderr,
        )
    return finished


def ask(
    model: object,
    *parts: object,
    base_url: str | None = None,
    api_key_env: str | None = None,
    max_tokens: int | None = 512,
    temperature: float | None = None,
) -> Reply:
    """Ask a model a single question (text, images, and videos in order), and return its reply.

    An image can be an `Image`, a path, a URL, bytes, base64 text, a Pillow image, or a NumPy array
    of 8-bit pixels. URLs are fetched. A text that consists only of the path or URL of a picture is
    replaced by that picture. To send a path or a URL as text, use `{"type": "text", "text": ...}`.

    Raises:
        ModelError: the model gave no reply. MediaError: an image or a video cannot be read.
    """
    profile = Profile(base_url=base_url, api_key_env=api_key_env)
    shown = [
        video.shown(part) if isinstance(part, Video) else part
        for number, value in enumerate(parts, 1)
        for part in forms.parts(value, f"part {number}")
    ]
    opened_model = (
        registry.model(model, profile) if isinstance(model, str) else registry.from_object(model)
    )
    opened = opened_model.model
    if not isinstance(opened, Generates):
        raise UsageError(f"{opened.name} cannot generate text. Use a model that can `generate`.")
    request = Request(
        messages=(user(*shown),),
        generation=Generation(max_tokens=max_tokens, temperature=temperature),
    )

    async def once() -> Reply:
        try:
            shown = laid_out(loaded(await fetched(request)))
            return check_reply(await opened.generate(shown), opened.name)
        finally:
            if opened is not model:
                await close_model(opened)

    return run_async(once())
