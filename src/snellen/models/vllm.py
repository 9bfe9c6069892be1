"""Runs a model with vLLM in this process, with continuous batching and without a server.

The prompt is rendered as in `vllm serve`, with the model's chat template and with pictures at their
position in the message. A video is sent as one image per frame. Settings that a request does not
specify come from the model's generation_config.json, as in `vllm serve`.

This back end was written for vLLM 0.32 (vllm-project/vllm, vllm/v1/engine/async_llm.py,
vllm/renderers/base.py).
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
"""The maximum number of concurrent requests, unless the profile sets a higher number."""
OURS = ("model", "trust_remote_code")
"""Engine options that a profile's `extra` cannot set."""
FROM_REQUEST = ("max_tokens", "temperature", "top_p", "stop", "n", "logprobs", "prompt_logprobs")
"""Sampling settings that a profile's `extra` cannot set, because the request sets these settings or
the code that reads the reply depends on them."""


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Vllm:
    """Load the model in the folder `name`, or the model with that name on the hub.

    A profile's `extra` can contain options of the engine (`max_model_len`, `dtype`,
    `tensor_parallel_size`, …), of sampling (`top_k`, …), and of the chat template
    (`chat_template_kwargs`).

    Raises:
        UsageError: vLLM is missing, does not know an option, or cannot load the model.
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
        elif option in vllm.SamplingParams.__struct_fields__ and option not in FROM_REQUEST:
            sampling[option] = value
        elif option != "chat_template_kwargs":
            raise UsageError(
                f"vllm/{name}: {option!r} in the profile's `extra` is not an engine or sampling "
                f"option of vLLM {vllm.__version__} that a profile can set."
            )
    try:
        vllm.SamplingParams(**sampling)  # before the weights are loaded
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"vllm/{name}: vLLM does not accept {sampling} in the profile's `extra`: {error}"
        ) from error
    engine = {"disable_log_stats": True, "trust_remote_code": profile.trust_remote_code, **engine}
    if profile.revision is not None and not Path(name).is_dir():
        engine.setdefault("revision", profile.revision)
    return Vllm(name, _loaded(name, engine), sampling)


def _loaded(name: str, options: Mapping[str, Any]) -> Any:
    """Start the engine. This function does not assign the engine to a local variable, because vLLM
    keeps references to the stack frames of its callers. With such a variable, the engine would stay
    alive until Python exits, and vLLM would report an error.

    Raises:
        UsageError: vLLM cannot load the model with these options.
    """
    import vllm

    try:
        arguments = vllm.AsyncEngineArgs(model=name, **options)
        return vllm.AsyncLLMEngine.from_engine_args(arguments)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise UsageError(f"vllm/{name}: vLLM cannot load the model: {error}") from error


class Vllm:
    """A model that generates replies and ranks choices. `sampling` contains the profile's sampling
    settings."""

    def __init__(self, name: str, engine: Any, sampling: Mapping[str, object]) -> None:
        from vllm import __version__

        weights = digest(Path(name)) if Path(name).is_dir() else None
        dtype = str(engine.model_config.dtype).removeprefix("torch.")
        self.name = f"vllm/{name}"
        self.revision = " ".join(filter(None, ("vllm", __version__, dtype, weights)))
        # While the model runs half of these requests, vLLM prepares pictures for the other half.
        self.concurrency = min(MOST, 2 * engine.vllm_config.scheduler_config.max_num_seqs)
        self._engine = engine
        self._sampling = {**engine.model_config.get_diff_sampling_param(), **sampling}
        self._numbers = count()

    async def generate(self, request: Request) -> Reply:
        """Return the reply to a request.

        Raises:
            Rejected: the request is too long or has content that the model does not accept, or the
                engine has ended.
            Overloaded: the engine failed during this request.
        """
        started = monotonic()
        generation = request.generation
        requested = {
            "max_tokens": generation.max_tokens,
            "temperature": generation.temperature,
            "top_p": generation.top_p,
            "seed": request.seed,
            "stop": list(request.stop) or None,
        }
        own = {name: value for name, value in requested.items() if value is not None}
        # If `max_tokens` is not passed, vLLM stops after 16 tokens.
        settings = {"max_tokens": None, **self._sampling, **own}
        output = await self._ask(await self._prompt(request), settings)
        (completion,) = output.outputs
        return Reply(
            text=completion.text,
            stop=completion.finish_reason,
            usage=Usage(
                input=len(output.prompt_token_ids),
                output=len(completion.token_ids),
                cached=output.num_cached_tokens,
            ),
            times=Times(total=monotonic() - started),
        )

    async def rank(self, request: Request) -> Sequence[Ranked]:
        """Return the log-probability of each choice after the prompt. A choice is tokenized
        separately, so that no token contains both the end of the prompt and the start of the
        choice.

        Raises:
            Overloaded, Rejected: as in `generate`.
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
            raise Rejected(
                f"{self.name}: the choice {choice!r} has no tokens, so it cannot be ranked."
            )
        extended = {**prompt, "prompt_token_ids": [*prompt["prompt_token_ids"], *ids]}
        # vLLM must generate at least one token. It is discarded.
        settings = {"max_tokens": 1, "temperature": 0.0, "prompt_logprobs": 0, "detokenize": False}
        output = await self._ask(extended, settings)
        logprobs = zip(output.prompt_logprobs[-len(ids) :], ids, strict=True)
        return Ranked(sum(at[token].logprob for at, token in logprobs), len(ids))

    async def _prompt(self, request: Request) -> Mapping[str, Any]:
        """Render the messages as the tokens of the prompt and the pictures."""
        from vllm.exceptions import VLLMClientError
        from vllm.renderers import ChatParams

        more: Any = request.generation.extra.get("chat_template_kwargs", {})
        params = ChatParams(chat_template_kwargs={"add_generation_prompt": True, **more})
        renderer = self._engine.renderer
        messages = [chat_message(message, _data_url) for message in request.messages]
        try:
            _, rendered = await renderer.render_messages_async(messages, params)
            prompts: Sequence[Mapping[str, Any]] = await renderer.tokenize_prompts_async(
                [rendered], renderer.default_chat_tok_params
            )
        except (VLLMClientError, OSError, TypeError, ValueError) as error:
            raise Rejected(f"{self.name}: {error}") from error
        return prompts[0]

    async def _ask(self, prompt: Mapping[str, Any], settings: Mapping[str, object]) -> Any:
        """Send a prompt to the engine, and return its last output."""
        from vllm import SamplingParams
        from vllm.exceptions import VLLMClientError, VLLMError
        from vllm.sampling_params import RequestOutputKind
        from vllm.v1.engine.exceptions import EngineDeadError

        renderer = self._engine.renderer
        number = f"{self.name} {next(self._numbers)}"
        try:
            params = SamplingParams(output_kind=RequestOutputKind.FINAL_ONLY, **settings)
            (rendered,) = await renderer.render_cmpl_async(
                [prompt], renderer.default_chat_tok_params
            )
            outputs = [output async for output in self._engine.generate(rendered, params, number)]
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
