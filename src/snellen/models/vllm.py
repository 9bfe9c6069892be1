"""A model that vLLM runs in this process's care, without a server: batches as requests come and
go.

The prompt is made by vLLM itself, as `vllm serve` makes it: the model's chat template, pictures in
their places. A video goes as its frames, an image each. What a request leaves open is as the
model's generation_config.json has it, as there.

Written for vLLM 0.32 (vllm-project/vllm, vllm/v1/engine/async_llm.py, vllm/renderers/base.py).
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

from snellen.core.model import Ranked, Reply, Request, Times, Usage
from snellen.core.profile import Profile, refuse_keys
from snellen.errors import Overloaded, Rejected, UsageError, install
from snellen.media import images
from snellen.media.content import Image
from snellen.models._openai import chat_message
from snellen.models.weights import digest

MOST = 256
"""Requests at once, at most, unless the profile says more."""
OURS = ("model", "trust_remote_code")
"""Options of the engine that a profile's `extra` does not set."""
ASKED = ("max_tokens", "temperature", "top_p", "stop", "n", "logprobs", "prompt_logprobs")
"""Settings of sampling that a request has, or that its reply is read by."""


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Vllm:
    """The model in the folder, or of the name on the hub, that `name` is. A profile's `extra` is
    for the engine (`max_model_len`, `dtype`, `tensor_parallel_size`, …), for sampling (`top_k`, …)
    and for the chat template (`chat_template_kwargs`).

    Raises:
        UsageError: vLLM is missing, or knows no such option, or cannot load the model.
    """
    refuse_keys(f"vllm/{name}", profile.extra)
    try:
        import vllm
    except ImportError as error:
        raise UsageError(
            f"vllm/{name} needs the extra `vllm`: {install('vllm')} ({error})."
        ) from error
    known = {field.name for field in fields(vllm.AsyncEngineArgs)}.difference(OURS)
    engine, sampling = {}, {}
    for option, value in profile.extra.items():
        if option in known:
            engine[option] = value
        elif option in vllm.SamplingParams.__struct_fields__ and option not in ASKED:
            sampling[option] = value
        elif option != "chat_template_kwargs":
            raise UsageError(
                f"vllm/{name}: {option!r} of its `extra` is no option of vLLM {vllm.__version__}'s "
                "engine or sampling that a profile sets so."
            )
    try:
        vllm.SamplingParams(**sampling)  # before the weights are loaded
    except (TypeError, ValueError) as error:
        raise UsageError(f"vllm/{name}: {sampling} of its `extra`: {error}") from error
    engine = {"disable_log_stats": True, "trust_remote_code": profile.trust_remote_code, **engine}
    if profile.revision is not None and not Path(name).is_dir():
        engine.setdefault("revision", profile.revision)
    return Vllm(name, _loaded(name, engine), sampling)


def _loaded(name: str, options: Mapping[str, Any]) -> Any:
    """The engine. No local name has it: vLLM keeps the frames that it was called from, which would
    keep the engine until Python's own end, where it complains.

    Raises:
        UsageError: vLLM cannot load the model so.
    """
    import vllm

    try:
        arguments = vllm.AsyncEngineArgs(model=name, **options)
        return vllm.AsyncLLMEngine.from_engine_args(arguments)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise UsageError(f"vllm/{name}: it cannot be loaded: {error}") from error


class Vllm:
    """Answers and ranks. `sampling` are settings that a profile has beyond a request's own."""

    def __init__(self, name: str, engine: Any, sampling: Mapping[str, object]) -> None:
        from vllm import __version__

        weights = digest(Path(name)) if Path(name).is_dir() else None
        dtype = str(engine.model_config.dtype).removeprefix("torch.")
        self.name = f"vllm/{name}"
        self.revision = " ".join(filter(None, ("vllm", __version__, dtype, weights)))
        # While so many go through the model, pictures are prepared for as many more.
        self.concurrency = min(MOST, 2 * engine.vllm_config.scheduler_config.max_num_seqs)
        self._engine = engine
        self._sampling = {**engine.model_config.get_diff_sampling_param(), **sampling}
        self._numbers = count()

    async def generate(self, request: Request) -> Reply:
        """One reply.

        Raises:
            Rejected: the request is too long, or has what the model does not take; the engine has
                ended. Overloaded: it failed in this request.
        """
        started = monotonic()
        generation = request.generation
        asked = {
            "max_tokens": generation.max_tokens,
            "temperature": generation.temperature,
            "top_p": generation.top_p,
            "seed": request.seed,
            "stop": list(request.stop) or None,
        }
        given = {name: value for name, value in asked.items() if value is not None}
        # Without a limit vLLM itself would stop after 16 tokens.
        settings = {"max_tokens": None, **self._sampling, **given}
        output = await self._ask(await self._prompt(request), settings)
        (said,) = output.outputs
        return Reply(
            text=said.text,
            stop=said.finish_reason,
            usage=Usage(
                input=len(output.prompt_token_ids),
                output=len(said.token_ids),
                cached=output.num_cached_tokens,
            ),
            times=Times(total=monotonic() - started),
        )

    async def rank(self, request: Request) -> Sequence[Ranked]:
        """The log-probability of each choice behind the prompt, in tokens of its own: where a
        choice begins no token is made of the prompt's end and of its start.

        Raises:
            As `generate`.
        """
        prompt = await self._prompt(request)
        return await asyncio.gather(*(self._ranked(prompt, choice) for choice in request.choices))

    async def close(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            await asyncio.to_thread(engine.shutdown)

    async def _ranked(self, prompt: Mapping[str, Any], choice: str) -> Ranked:
        ids = self._engine.get_tokenizer().encode(choice, add_special_tokens=False)
        if not ids:
            raise Rejected(f"{self.name}: the choice {choice!r} has no tokens to be ranked by.")
        whole = {**prompt, "prompt_token_ids": [*prompt["prompt_token_ids"], *ids]}
        # A token must be generated, and is thrown away.
        settings = {"max_tokens": 1, "temperature": 0.0, "prompt_logprobs": 0, "detokenize": False}
        output = await self._ask(whole, settings)
        found = zip(output.prompt_logprobs[-len(ids) :], ids, strict=True)
        return Ranked(sum(at[token].logprob for at, token in found), len(ids))

    async def _prompt(self, request: Request) -> Mapping[str, Any]:
        """The messages as the model's tokens, and its pictures."""
        from vllm.exceptions import VLLMClientError
        from vllm.renderers import ChatParams

        more: Any = request.generation.extra.get("chat_template_kwargs", {})
        params = ChatParams(chat_template_kwargs={"add_generation_prompt": True, **more})
        renderer = self._engine.renderer
        messages = [chat_message(message, _data_url) for message in request.messages]
        try:
            _, made = await renderer.render_messages_async(messages, params)
            prompts: Sequence[Mapping[str, Any]] = await renderer.tokenize_prompts_async(
                [made], renderer.default_chat_tok_params
            )
        except (VLLMClientError, OSError, TypeError, ValueError) as error:
            raise Rejected(f"{self.name}: {error}") from error
        return prompts[0]

    async def _ask(self, prompt: Mapping[str, Any], settings: Mapping[str, object]) -> Any:
        """The engine's last output to a prompt."""
        from vllm import SamplingParams
        from vllm.exceptions import VLLMClientError, VLLMError
        from vllm.sampling_params import RequestOutputKind
        from vllm.v1.engine.exceptions import EngineDeadError

        renderer = self._engine.renderer
        number = f"{self.name} {next(self._numbers)}"
        try:
            params = SamplingParams(output_kind=RequestOutputKind.FINAL_ONLY, **settings)
            (made,) = await renderer.render_cmpl_async([prompt], renderer.default_chat_tok_params)
            outputs = [output async for output in self._engine.generate(made, params, number)]
        except (VLLMClientError, TypeError, ValueError) as error:
            raise Rejected(f"{self.name}: {error}") from error
        except EngineDeadError as error:
            raise Rejected(f"{self.name}: the engine has ended: {error}", hopeless=True) from error
        except VLLMError as error:
            raise Overloaded(f"{self.name}: {error or error.__cause__}") from error
        if not outputs or outputs[-1].outputs[0].finish_reason in ("abort", "error"):
            raise Overloaded(f"{self.name}: the engine left this request unfinished.")
        return outputs[-1]


def _data_url(image: Image) -> str:
    image = images.load(image)
    assert isinstance(image.source, bytes)
    return f"data:{image.mime};base64,{b64encode(image.source).decode()}"
