"""Checks whether a model can answer a benchmark's kind of question, and calls the model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from snellen.core.benchmark import Benchmark
from snellen.core.layout import laid_out, with_sizes
from snellen.core.model import (
    Generates,
    Model,
    Prompts,
    Ranks,
    Reply,
    Request,
    Streams,
    check_tools,
)
from snellen.core.outputs import check_ranking, check_reply
from snellen.errors import MediaError, Rejected, UsageError

Call = Callable[[Request, str], Awaitable[Reply]]
"""Sends one request to a model and returns its reply. The text is the id of the sample, for
messages."""


def own_prompt(benchmark: Benchmark, model: Model) -> bool:
    """Whether the model uses its own prompt for the benchmark. A model's own prompt is possible
    only for questions about pictures with one turn, without examples and without a probe.

    Raises:
        UsageError: the model raised an exception when asked whether it has a prompt.
    """
    worded = (
        benchmark.procedure.kind == "generate"
        and benchmark.procedure.conversation.turns == 1
        and benchmark.procedure.frames is None
    )
    worded = worded and not benchmark.provenance.shots and not benchmark.provenance.probe
    called = benchmark.provenance.called or benchmark.name
    return worded and isinstance(model, Prompts) and model.own_prompt(called)


def check_model(benchmark: Benchmark, model: Model) -> None:
    """Check that a model can answer a benchmark's kind of question.

    Raises:
        UsageError: the model cannot answer this kind of question.
    """
    if benchmark.procedure.kind != "session":
        call_of(benchmark, model)
    elif not isinstance(model, Streams):
        raise _not_offered(benchmark, model)
    streaming = benchmark.procedure.streaming
    if streaming is not None and streaming.until and not getattr(model, "speaks", True):
        raise UsageError(
            f"{model.name} replies only when it is asked, but {benchmark.name} with these options "
            "needs a model that decides by itself when to speak. Use the option mode=polled, or a "
            "model that watches streams, such as hf-stream/FOLDER."
        )


def call_of(benchmark: Benchmark, model: Model) -> Call:
    """The function that asks the model this benchmark's kind of question.

    Raises:
        UsageError: the model has no such method.
    """
    if benchmark.procedure.kind == "generate" and isinstance(model, Generates):
        generates = model

        async def generate(request: Request, sample: str) -> Reply:
            check_tools(request, generates)
            output = await generates.generate(_laid_out(request))
            if type(output) is Reply and output.steps is None:
                reply = check_reply(output, generates.name)
            else:  # the check reads the pictures in steps, which takes long if they are large
                reply = await asyncio.to_thread(check_reply, output, generates.name, sample)
            return with_sizes(reply, request)

        return generate
    if benchmark.procedure.kind == "rank" and isinstance(model, Ranks):
        ranks = model

        async def rank(request: Request, sample: str) -> Reply:
            check_tools(request, ranks)
            ranking = check_ranking(await ranks.rank(_laid_out(request)), request, ranks.name)
            reply = Reply(
                choices=tuple(ranking),
                stop="stop",
                shown=ranking.shown,
                sizes=ranking.sizes,
                frame_sizes=ranking.frame_sizes,
            )
            return with_sizes(reply, request)

        return rank
    raise _not_offered(benchmark, model)


def _laid_out(request: Request) -> Request:
    """
    Raises:
        Rejected: a video cannot be laid out with the prompt's texts.
    """
    try:
        return laid_out(request)
    except MediaError as error:
        raise Rejected(str(error)) from error


def _not_offered(benchmark: Benchmark, model: Model) -> UsageError:
    return UsageError(
        f"{benchmark.name} needs a model with `{benchmark.procedure.kind}`, which {model.name} "
        "does not have. `snellen list models` shows what each back end can do."
    )
