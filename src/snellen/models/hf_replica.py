"""A model of transformers on one device: generates replies and ranks choices, in its one thread."""

from __future__ import annotations

import copy
import threading
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

from snellen.core.model import Ranked, Reply, Request, Usage
from snellen.errors import Rejected
from snellen.models._hf import BROKEN, stop_tokens
from snellen.models.batch import TooMuch
from snellen.models.hf_prompts import HfPrompts, PreparedBatch
from snellen.models.hf_settings import HfSettings

MAX_TOKENS = 1024
"""Of a reply to which nobody set a limit."""
SHORT = ("out of memory", "ALLOC_FAILED", "can't allocate memory", "not enough memory")
"""Words of errors that say that there is no memory, where it is not OutOfMemoryError that says so:
those of CUDA's and its libraries', of the CPU's allocator."""


class HfReplica:
    """A model on one device."""

    ranks = True
    _generators: ClassVar[dict[str, threading.Lock]] = {}
    """A lock for each device's generator, from which all draw that are on it."""

    def __init__(
        self,
        name: str,
        prompts: HfPrompts,
        model: Any,
        settings: HfSettings,
        torch: Any,
        library: Any,
    ) -> None:
        self.name = name
        self.model = model
        self._prompts = prompts
        self._tokenizer = prompts.tokenizer
        self._settings = settings
        self._torch = torch
        self._library = library
        self._drawing = self._generators.setdefault(str(model.device), threading.Lock())
        self._stops = stop_tokens(model, self._tokenizer)
        self._positions = getattr(model.config.get_text_config(), "max_position_embeddings", None)

    # -- as `models.batching` asks

    def size(self, request: Request) -> int:
        return self._prompts.size(request)

    def rows(self, request: Request) -> int:
        return 1

    def group(self, request: Request) -> Hashable:
        """What may be generated together; an object of its own where nothing may."""
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
            pass  # what it holds is let go before more is tried, here and below
        raise TooMuch

    def answer(self, prepared: PreparedBatch) -> Sequence[Reply]:
        """A reply for each request.

        Raises:
            TooMuch: there was no memory for it. Rejected: the model does not take it.
        """
        torch = self._torch
        try:
            with torch.inference_mode():
                if prepared.choices:
                    return [self._ranked(prepared)]
                return self._generated(prepared)
        except (MemoryError, *BROKEN) as error:
            is_short = self._is_short(error)
            why = f"{self.name}: {type(error).__name__}: {error}"
        if not is_short:
            raise Rejected(why, hopeless="CUDA error" in why)
        torch.cuda.empty_cache()
        raise TooMuch

    def _is_short(self, error: Exception) -> bool:
        """Whether an error says that there is no memory."""
        kinds = (MemoryError, self._torch.OutOfMemoryError)
        return isinstance(error, kinds) or any(words in str(error) for words in SHORT)

    # -- generating

    def _samples(self, request: Request) -> bool:
        temperature = request.generation.temperature
        return bool(self.model.generation_config.do_sample if temperature is None else temperature)

    def _config(self, request: Request, most: int) -> Any:
        """How a batch is generated, by its first request."""
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
        numbers = _Numbers()
        call = {
            **inputs,
            "generation_config": self._config(requests[0], max(limits)),
            "stopping_criteria": self._library.StoppingCriteriaList([ends]),
            "logits_processor": self._library.LogitsProcessorList([numbers]),
        }
        if self._samples(requests[0]):
            with self._drawing:
                self._seed(requests[0].seed)
                output = self.model.generate(**call)
        else:
            output = self.model.generate(**call)
        if numbers.lacking:
            raise Rejected(
                f"{self.name}: the model's scores are no numbers (NaN), so that its reply would "
                f"mean nothing: {self.model.dtype} may not hold them. Set another `dtype` in the "
                "profile's `extra`."
            )
        return [
            self._reply(tokens[:end], length, request.stop)
            for tokens, end, length, request in zip(
                output[:, start:].tolist(), ends.lengths, prepared.lengths, requests, strict=True
            )
        ]

    def _seed(self, seed: int | None) -> None:
        """Seed the generator of this device: those of other GPUs may be drawn from meanwhile."""
        if seed is None:
            return
        if self.model.device.type == "cuda":
            with self._torch.cuda.device(self.model.device):
                self._torch.cuda.manual_seed(seed)
        else:
            self._torch.manual_seed(seed)

    def _limit(self, request: Request, length: int) -> int:
        """Tokens that a reply may have.

        Raises:
            Rejected: there is no room for any.
        """
        limit = request.generation.max_tokens or MAX_TOKENS
        room = limit if self._positions is None else self._positions - length
        if room <= 0:
            raise Rejected(
                f"{self.name}: the prompt has {length:,} tokens, and the model has "
                f"{self._positions:,} positions. Make pictures or frames smaller or fewer (the "
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
        """The tensors on the model's device, pixels in its type of number."""
        here = {}
        for name, value in inputs.items():
            if isinstance(value, self._torch.Tensor):
                is_pixels = name.startswith("pixel_values")
                value = value.to(self.model.device, self.model.dtype if is_pixels else None)
            here[name] = value
        return here

    # -- ranking

    def _ranked(self, prepared: PreparedBatch) -> Reply:
        """All choices in one batch, the prompt in each row: with it as keys and values of the rows
        some models would place what follows by what they last saw."""
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
                if at_once == 1 or not self._is_short(error):
                    raise
                at_once //= 2
        return Reply(choices=tuple(ranked), stop="stop")

    def _rows(
        self, inputs: Mapping[str, Any], length: int, choices: Sequence[Sequence[int]]
    ) -> Sequence[Ranked]:
        """Log-probabilities of choices behind one prompt; padding, behind them, is seen by none."""
        torch = self._torch
        n, most = len(choices), max(map(len, choices))
        rows: dict[str, Any] = {}
        for name, value in inputs.items():
            if not isinstance(value, torch.Tensor):
                rows[name] = list(value) * n if isinstance(value, list) else value
                continue
            rows[name] = torch.cat([value] * n)  # also where it is a row for each image
            if value.shape == inputs["input_ids"].shape:
                # Kinds of tokens, all text; the first two are filled in below.
                rows[name] = torch.nn.functional.pad(rows[name], (0, most))
        for row, choice in enumerate(choices):
            end = length + len(choice)
            rows["input_ids"][row, length:end] = torch.tensor(choice)
            rows["attention_mask"][row, length:end] = 1
        logits = self.model(**rows, use_cache=False, logits_to_keep=most + 1).logits
        # The last `most` + 1 places of each row begin with the prompt's last token.
        scores = logits[:, -most - 1 :].float().log_softmax(-1)
        return [
            Ranked(
                sum(scores[row, index, token].item() for index, token in enumerate(choice)),
                len(choice),
            )
            for row, choice in enumerate(choices)
        ]


class _Numbers:
    """Sees whether scores are ever no numbers (NaN): the likeliest token would then be the first of
    the vocabulary, time and again."""

    lacking: Any = False

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        self.lacking = scores.isnan().any() | self.lacking  # stays there: nobody waits for it here
        return scores


class _Ends:
    """Says which rows of a batch have said all that they may: as many tokens as their limit, or one
    of their stop strings. `lengths`: of what each has said then."""

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
