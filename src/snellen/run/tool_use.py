"""Which tools a run offers, in which form, and when a question ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Literal

import orjson

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.core.model import Model, Reply
from snellen.core.tools import is_malformed
from snellen.errors import UsageError
from snellen.models.text_calls import instructions, with_text_calls
from snellen.run.model_calls import own_prompt
from snellen.run.options import RunOptions
from snellen.run.run_config import RunConfig
from snellen.store import Ending
from snellen.tools import OF_VIDEOS, Tool, Toolbox

Form = Literal["native", "text"]
"""How a model gets tools: in the service's own form, or as text."""
STEPS = 6
"""The maximum number of replies to a question, if it is not set."""
MOST_MALFORMED = 3
"""The number of replies in a row with nothing but malformed calls after which a question ends."""


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """How the questions of a run use tools."""

    toolbox: Toolbox
    """The tools."""
    form: Form
    """How the model gets them."""
    max_steps: int
    """The maximum number of replies to a question."""
    max_tokens: int | None
    """The number of output tokens after which no further step of a question is asked; None: no
    limit."""
    reply_tokens: int | None
    """The token limit of a reply, with which a reply without a token count is counted."""
    max_pictures: int | None
    """The maximum number of pictures and frames in a request, by the model's profile; None: no
    limit."""
    takes_pictures: bool
    """Whether the results of calls contain pictures. Otherwise, a user message after the results
    contains the pictures."""
    takes_results: bool = True
    """Whether results are messages of their own in the form `native`. Otherwise, the back end sends
    them as user messages."""

    @property
    def identity(self) -> dict[str, Any]:
        """The fields of a run's identity that describe the use of tools."""
        digests = [_digest(tool) for tool in self.toolbox.tools.values()]
        if self.form == "text":
            digests.append(instructions(()))
        return {
            "tools": ",".join(self.toolbox.tools),
            "tool_use": {
                "form": self.form,
                "max_steps": self.max_steps,
                **({} if self.max_tokens is None else {"max_tokens": self.max_tokens}),
                **({} if self.max_pictures is None else {"max_pictures": self.max_pictures}),
                "pictures": "in results" if self.takes_pictures else "in user messages",
                **({} if self.takes_results else {"results": "in user messages"}),
                "digest": blake2b("\0".join(digests).encode(), digest_size=8).hexdigest(),
            },
        }

    def ending(self, replies: Sequence[Reply]) -> Ending | None:
        """How a question ends with the last of its replies so far; None if it goes on.

        The last reply ends the question if it calls no tool (`answered`), or if the model may not
        try again: after too many malformed replies (`malformed`), tokens (`budget`), or replies
        (`steps`).
        """
        if not replies[-1].tool_calls:
            return "answered"
        last = replies[-MOST_MALFORMED:]
        if len(last) == MOST_MALFORMED and all(map(_is_only_malformed, last)):
            return "malformed"
        if self.max_tokens is not None and sum(map(self._tokens, replies)) >= self.max_tokens:
            return "budget"
        return "steps" if len(replies) >= self.max_steps else None

    def _tokens(self, reply: Reply) -> int:
        if reply.usage is None or reply.usage.output is None:
            return self.reply_tokens or 0
        return reply.usage.output


def with_tools(config: RunConfig, opened: registry.Opened) -> tuple[registry.Opened, ToolUse]:
    """The model in the form in which it gets the tools of a run, and how the run uses them.

    Raises:
        UsageError: the benchmark or the model cannot be used with tools, or a tool cannot be
            loaded.
    """
    options = config.options
    toolbox = registry.toolbox(options["tools"])
    _check(config.benchmark, opened.model, toolbox)
    form = _form(options, opened.model)
    if form == "text":
        opened = replace(opened, model=with_text_calls(opened.model))
    use = ToolUse(
        toolbox=toolbox,
        form=form,
        max_steps=options["max_steps"] or STEPS,
        max_tokens=options["question_tokens"],
        reply_tokens=config.settings.generation.max_tokens,
        max_pictures=config.profile.images.max_images,
        takes_pictures=getattr(opened.model, "takes_pictures_in_results", False),
        takes_results=form == "text" or getattr(opened.model, "takes_results", True),
    )
    return opened, use


def _form(options: RunOptions, model: Model) -> Form:
    """How the model gets tools: as the option says, or else natively if the back end can.

    Raises:
        UsageError: the back end cannot send tools in the service's own form.
    """
    has_native = getattr(model, "takes_tools", False)
    form = options["tool_form"]
    if form == "native" and not has_native:
        raise UsageError(
            f"{model.name}: this back end has no native tool calls. Use --tool-form text."
        )
    return form or ("native" if has_native else "text")


def _check(benchmark: Benchmark, model: Model, toolbox: Toolbox) -> None:
    """Check that a benchmark's questions can be asked with tools.

    Raises:
        UsageError: they cannot.
    """
    reason = None
    if benchmark.procedure.kind != "generate" or benchmark.procedure.streaming is not None:
        reason = "it asks for something else than text"
    elif benchmark.provenance.shots:
        reason = "its examples are answered without tools. Leave out --shots"
    elif own_prompt(benchmark, model):
        reason = f"{model.name} has a prompt of its own, which does not describe tools"
    elif benchmark.procedure.frames is None and (of_videos := toolbox.tools.keys() & OF_VIDEOS):
        reason = f"it shows no video. Leave out {' and '.join(sorted(of_videos))}"
    if reason is not None:
        raise UsageError(f"{benchmark.name}: --tools cannot be used, because {reason}.")


def _digest(tool: Tool) -> str:
    spec = [tool.spec.name, tool.spec.description, tool.spec.parameters, tool.version]
    return blake2b(orjson.dumps(spec, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()


def _is_only_malformed(reply: Reply) -> bool:
    return bool(reply.tool_calls) and all(map(is_malformed, reply.tool_calls))
