"""A transformers model on one device. A single thread generates replies and ranks choices."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from snellen.core.model import Ranked, Reply, Request, Usage
from snellen.errors import Rejected
from snellen.models.batch import TooMuch
from snellen.models.hf_common import (
    BROKEN,
    MAX_TOKENS,
    ScoreCheck,
    drawing,
    is_short,
    stop_tokens,
)
from snellen.models.hf_prompts import BatchPrompts, PreparedBatch
from snellen.models.hf_settings import HfSettings, own_sampling
from snellen.models.hf_tools import ToolTemplate, with_template_calls

PIXELS = ("pixel_values", "images")
"""Prefixes of the names of inputs that contain pixels."""


class HfReplica:
    """A model on one device."""

    def __init__(
        self,
        name: str,
        prompts: BatchPrompts,
        model: Any,
        settings: HfSettings,
        torch: Any,
        library: Any,
        no_gradients: Callable[[], Any],
    ) -> None:
        """`no_gradients` is `torch.inference_mode`, or `torch.no_grad` for a model in training."""
        self.name = name
        self.model = model
        self._prompts = prompts
        self._tokenizer = prompts.tokenizer
        self._settings = settings
        self._torch = torch
        self._library = library
        self._no_gradients = no_gradients
        self.ranks = _can_rank(model)
        tools: ToolTemplate = getattr(prompts, "tools", ToolTemplate())
        self.takes_tools = tools.takes_tools
        self.takes_results = tools.takes_results
        # A user message may have pictures in any case.
        self.takes_pictures_in_results = tools.takes_pictures or not tools.takes_results
        self._stops = stop_tokens(model, self._tokenizer)
        self._positions = getattr(model.config.get_text_config(), "max_position_embeddings", None)

    # -- the interface for `models.batching`

    def size(self, request: Request) -> int:
        return self._prompts.size(request)

    def rows(self, request: Request) -> int:
        return 1

    def group(self, request: Request) -> Hashable:
        """Return a key that is the same for all requests that can share a batch. For a request that
        needs its own batch, the key is a unique object."""
        generation = request.generation
        if request.kind == "rank":
            return object()
        lengths = self._prompts.lengths(request)
        if not self._samples(request):
            return "greedy", lengths
        if request.seed is not None:
            return object()
        return generation.temperature, generation.top_p, lengths

    def prepare(self, requests: Sequence[Request]) -> PreparedBatch:
        try:
            return self._prompts.prepared(requests)
        except MemoryError:
            pass  # leaving the block frees the exception's memory before the next attempt
        raise TooMuch

    def answer(self, prepared: PreparedBatch) -> Sequence[Reply]:
        """Answer a batch with one reply per request.

        Raises:
            TooMuch: the batch did not fit in memory.
            Rejected: the model does not accept the batch.
        """
        torch = self._torch
        try:
            with self._no_gradients():
                if prepared.choices:
                    return [self._ranked(prepared)]
                return self._generated(prepared)
        except (MemoryError, *BROKEN) as error:
            lacks_memory = is_short(error, torch)
            why = f"{self.name}: {type(error).__name__}: {error}"
        if not lacks_memory:
            raise Rejected(why, hopeless="CUDA error" in why)
        torch.cuda.empty_cache()
        raise TooMuch

    # -- generating

    def _samples(self, request: Request) -> bool:
        temperature = request.generation.temperature
        return bool(self.model.generation_config.do_sample if temperature is None else temperature)

    def _config(self, request: Request, most: int) -> Any:
        """Return the generation settings of a batch, which are those of its first request."""
        generation = request.generation
        config = copy.deepcopy(self.model.generation_config)
        config.max_length, config.max_new_tokens, config.num_beams = None, most, 1
        config.eos_token_id = sorted(self._stops) or None
        config.pad_token_id = self._tokenizer.pad_token_id
        config.do_sample = self._samples(request)
        if not config.do_sample:
            config.temperature = config.top_p = config.top_k = None
        elif generation.temperature is not None:
            config.temperature = generation.temperature
        if config.do_sample and generation.top_p is not None:
            config.top_p = generation.top_p
        for name, value in own_sampling(self._settings, is_sampled=config.do_sample).items():
            setattr(config, name, value)
        return config

    def _generated(self, prepared: PreparedBatch) -> Sequence[Reply]:
        inputs = self._here(prepared.inputs)
        start = inputs["input_ids"].shape[1]
        requests = prepared.requests
        limits = [
            self._limit(request, length)
            for request, length in zip(requests, prepared.lengths, strict=True)
        ]
        ends = _Ends(self._torch, self._tokenizer, start, limits, [r.stop for r in requests])
        scores = ScoreCheck()
        call = {
            **inputs,
            "generation_config": self._config(requests[0], max(limits)),
            "stopping_criteria": self._library.StoppingCriteriaList([ends]),
            "logits_processor": self._library.LogitsProcessorList([scores]),
        }
        if self._samples(requests[0]):
            with drawing(self.model.device, requests[0].seed, self._torch):
                output = self.model.generate(**call)
        else:
            output = self.model.generate(**call)
        scores.check(self.name, self.model.dtype)
        return [
            with_template_calls(self._reply(tokens[:end], length, request.stop), request)
            for tokens, end, length, request in zip(
                output[:, start:].tolist(), ends.lengths, prepared.lengths, requests, strict=True
            )
        ]

    def _limit(self, request: Request, length: int) -> int:
        """Return the maximum number of tokens in a reply.

        Raises:
            Rejected: the prompt leaves no room for a reply.
        """
        limit = request.generation.max_tokens or MAX_TOKENS
        room = limit if self._positions is None else self._positions - length
        if room <= 0:
            raise Rejected(
                f"{self.name}: the prompt has {length:,} tokens, but the model's context has only "
                f"{self._positions:,} positions. Use smaller or fewer pictures or frames (the "
                "profile's [images], --frames)."
            )
        return min(limit, room)

    def _reply(self, tokens: Sequence[int], length: int, stops: Sequence[str]) -> Reply:
        end = next((index for index, token in enumerate(tokens) if token in self._stops), None)
        text = self._tokenizer.decode(tokens[:end], skip_special_tokens=True)
        stop = "length" if end is None else "stop"
        if positions := [text.index(string) for string in stops if string in text]:
            text, stop = text[: min(positions)], "stop"
        n = len(tokens) if end is None else end
        return Reply(text=text, stop=stop, usage=Usage(input=length, output=n))

    def _here(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Move the tensors to the model's device, and convert pixels to the model's dtype."""
        here = {}
        for name, value in inputs.items():
            if isinstance(value, self._torch.Tensor):
                is_pixels = name.startswith(PIXELS) and value.is_floating_point()
                value = value.to(self.model.device, self.model.dtype if is_pixels else None)
            here[name] = value
        return here

    # -- ranking

    def _ranked(self, prepared: PreparedBatch) -> Reply:
        """Rank all choices in one batch, with the whole prompt in each row. The prompt is not
        cached, since some models would derive wrong positions from a cached prompt."""
        length, choices = prepared.lengths[0], prepared.choices
        longest = length + max(map(len, choices))
        if self._positions is not None and longest > self._positions:
            self._limit(prepared.requests[0], longest)
        inputs = self._here(prepared.inputs)
        at_once = max(1, min(len(choices), self._settings.batch_tokens // longest))
        ranked: list[Ranked] = []
        while len(ranked) < len(choices):
            part = choices[len(ranked) : len(ranked) + at_once]
            try:
                ranked += self._rows(inputs, length, part)
            except RuntimeError as error:
                if at_once == 1 or not is_short(error, self._torch):
                    raise
                at_once //= 2
        return Reply(choices=tuple(ranked), stop="stop")

    def _rows(
        self, inputs: Mapping[str, Any], length: int, choices: Sequence[Sequence[int]]
    ) -> Sequence[Ranked]:
        """Return the log-probabilities of choices after a prompt. No token attends to the padding
        after the choices."""
        torch = self._torch
        n, most = len(choices), max(map(len, choices))
        rows: dict[str, Any] = {}
        for name, value in inputs.items():
            if not isinstance(value, torch.Tensor):
                rows[name] = list(value) * n if isinstance(value, list) else value
                continue
            rows[name] = torch.cat([value] * n)  # even if the tensor has one row per image
            if value.shape == inputs["input_ids"].shape:
                # Zeros are right for token types, since they mean text. The ids and the mask are
                # filled in below.
                rows[name] = torch.nn.functional.pad(rows[name], (0, most))
        for row, choice in enumerate(choices):
            end = length + len(choice)
            rows["input_ids"][row, length:end] = torch.tensor(choice)
            rows["attention_mask"][row, length:end] = 1
        logits = self.model(**rows, use_cache=False, logits_to_keep=most + 1).logits
        # The last `most` + 1 positions of each row start at the prompt's last token.
        scores = logits[:, -most - 1 :].float().log_softmax(-1)
        return [
            Ranked(
                sum(scores[row, index, token].item() for index, token in enumerate(choice)),
                len(choice),
            )
            for row, choice in enumerate(choices)
        ]


def _can_rank(model: Any) -> bool:
    """Return whether the model's `forward` can return only the scores of the last positions."""
    parameters = inspect.signature(model.forward).parameters
    return "logits_to_keep" in parameters or any(
        parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()
    )


class _Ends:
    """Stops each row of a batch at its token limit or at a stop string. `lengths` contains the
    number of tokens after which each row ends."""

    def __init__(
        self,
        torch: Any,
        tokenizer: Any,
        start: int,
        limits: Sequence[int],
        stops: Sequence[Sequence[str]],
    ) -> None:
        self._torch = torch
        self._tokenizer = tokenizer
        self._start = start
        self._stops = stops
        self.lengths = [*limits]

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        n = input_ids.shape[1] - self._start
        for row, stops in enumerate(self._stops):
            if stops and n < self.lengths[row]:
                text = self._tokenizer.decode(
                    input_ids[row, self._start :], skip_special_tokens=True
                )
                if any(stop in text for stop in stops):
                    self.lengths[row] = n
        done = [n >= length for length in self.lengths]
        return self._torch.tensor(done, device=input_ids.device)
