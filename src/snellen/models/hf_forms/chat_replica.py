"""A model that answers one request at a time through the `chat` method of its own code."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

from snellen.core.model import Generation, Reply, Request, Usage
from snellen.errors import MediaError, Rejected, UsageError
from snellen.models.batch import TooMuch, size_of
from snellen.models.hf_common import MAX_TOKENS, ScoreCheck, drawing, is_short
from snellen.models.hf_forms.form import Loading
from snellen.models.hf_forms.generation_watch import Generated, GenerationWatch
from snellen.models.hf_settings import own_sampling
from snellen.models.user_code import errors_as

ESTIMATED = (
    "token counts of replies, and whether a reply was cut at the limit, are estimates: the model's "
    "own code returns only text, whose tokens were counted with the model's tokenizer"
)


@dataclass(frozen=True)
class PreparedChat:
    """A request that was converted to the arguments of `chat`."""

    request: Request
    """The request."""
    arguments: Mapping[str, Any]
    """The argument of `ChatReplica.call`."""


class ChatReplica(ABC):
    """A model on one device. Each subclass converts requests to calls of the model's `chat`
    method."""

    ranks = False
    own_arguments: ClassVar[frozenset[str]] = frozenset()
    """Arguments of `chat` that the form sets. A profile cannot set them."""

    def __init__(self, loading: Loading, model: Any, tokenizer: Any) -> None:
        """
        Raises:
            UsageError: the profile sets an argument that `chat` does not accept, or that the form
                sets.
        """
        self.name = loading.checkpoint.spec
        self.model = model
        self.tokenizer = tokenizer
        self._torch = loading.torch
        self._settings = loading.settings
        self._watch = GenerationWatch(model, loading.library.GenerationMixin)
        self.notes = () if self._watch else (ESTIMATED,)
        self.parameters = inspect.signature(model.chat).parameters
        self.takes_more = any(
            parameter.kind is inspect.Parameter.VAR_KEYWORD
            for parameter in self.parameters.values()
        )
        self._check_arguments(loading.settings.chat)

    def _check_arguments(self, arguments: Mapping[str, Any]) -> None:
        taken = sorted(self.own_arguments.intersection(arguments))
        missing = [name for name in arguments if not self.takes(name)]
        if taken or missing:
            what = (
                f"sets {', '.join(taken)}, which Snellen sets from the request"
                if taken
                else f"has {', '.join(missing)}, which the model's chat() does not accept"
            )
            names = ", ".join(name for name in self.parameters if name not in self.own_arguments)
            raise UsageError(
                f"{self.name}: `chat` in the profile's `extra` {what}. It can set: {names}."
            )

    def takes(self, name: str) -> bool:
        """Return whether `chat` has a parameter with this name, or accepts any keyword argument."""
        return name in self.parameters or self.takes_more

    @abstractmethod
    def arguments(self, request: Request, limit: int) -> dict[str, Any]:
        """Convert a request to the argument of the method `call`.

        Args:
            request: The request.
            limit: The maximum number of tokens in the reply.

        Raises:
            Rejected: `chat` has no argument for a part of the request. The message names the part.
            MediaError: a picture is damaged.
        """

    @abstractmethod
    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Call `chat`, and return the result."""

    def check_call(self, request: Request, call: Generated) -> None:  # noqa: B027
        """Check that the model's own code passed the full prompt to `generate`.

        Args:
            request: The request.
            call: The first call of `generate`.

        Raises:
            Rejected: the model's own code changed the prompt.
        """

    # -- the interface for `models.batching`

    def size(self, request: Request) -> int:
        return size_of(request)

    def rows(self, request: Request) -> int:
        return 1

    def group(self, request: Request) -> Hashable:
        return object()

    def prepare(self, requests: Sequence[Request]) -> PreparedChat:
        (request,) = requests
        limit = request.generation.max_tokens or MAX_TOKENS
        try:
            return PreparedChat(request, self.arguments(request, limit))
        except MediaError as error:
            raise Rejected(str(error)) from error
        except MemoryError:
            pass  # leaving the block frees the exception's memory before the next attempt
        raise TooMuch

    def answer(self, prepared: PreparedChat) -> Sequence[Reply]:
        """Answer the request, and return a list with the reply.

        Raises:
            TooMuch: the request did not fit in memory.
            Rejected: the model's own code raised an exception, returned something other than text,
                or ignored a setting.
        """
        torch, scores = self._torch, ScoreCheck()
        request = prepared.request
        greedy = request.generation.temperature == 0
        generator = nullcontext() if greedy else drawing(self.model.device, request.seed, torch)
        try:
            with (
                errors_as(Rejected, f"{self.name}: its own code raises an exception", None),
                torch.inference_mode(),
                generator,
                self._watch.watching(scores) as calls,
            ):
                returned = self.call(prepared.arguments)
        except Rejected as error:
            if not is_short(error.__cause__, torch):
                error.hopeless = "CUDA error" in str(error)
                raise
        else:
            scores.check(self.name, self.model.dtype)
            return [self._reply(request, self._text(returned), calls)]
        torch.cuda.empty_cache()
        raise TooMuch

    # -- replies

    def _text(self, returned: Any) -> str:
        """Return the text in the output of `chat`. If the output is a tuple, the text is its first
        element."""
        text = returned[0] if isinstance(returned, tuple) and returned else returned
        if not isinstance(text, str):
            raise Rejected(
                f"{self.name}: its chat() returns {type(text).__name__}, not text.", hopeless=True
            )
        return text

    def _reply(self, request: Request, text: str, calls: Sequence[Generated]) -> Reply:
        limit = request.generation.max_tokens or MAX_TOKENS
        for call in calls:
            self._check_settings(request.generation, limit, call.settings)
            self._check_positions(call)
        if calls:
            self.check_call(request, calls[0])
            usage: Usage | None = Usage(
                input=calls[0].prompt, output=sum(call.count for call in calls)
            )
            was_cut = not calls[-1].ended and len(calls[-1].tokens) >= limit
        else:
            count = len(self.tokenizer(text, add_special_tokens=False)["input_ids"])
            usage, was_cut = None if self._watch else Usage(output=count), count >= limit
        if positions := [text.index(string) for string in request.stop if string in text]:
            text, was_cut = text[: min(positions)], False
        return Reply(text=text, stop="length" if was_cut else "stop", usage=usage)

    def _check_positions(self, call: Generated) -> None:
        """Check that the prompt and the reply fit in the model's context.

        Raises:
            Rejected: the prompt and the reply have more tokens than the model has positions.
        """
        total = call.prompt + len(call.tokens)
        if call.positions is not None and total > call.positions:
            raise Rejected(
                f"{self.name}: the prompt has {call.prompt:,} tokens and the reply has "
                f"{len(call.tokens):,}, but the model has {call.positions:,} positions. Use "
                "smaller or fewer pictures or frames (the profile's [images], `tiles`, --frames)."
            )

    def _check_settings(
        self, generation: Generation, limit: int, arrived: Mapping[str, Any]
    ) -> None:
        """Check that the reply was generated with the run's settings. `arrived` contains the
        settings that `generate` received.

        Raises:
            Rejected: `chat` did not pass on a setting. The message names the setting.
        """
        temperature = generation.temperature
        expected: dict[str, Any] = {"max_new_tokens": limit}
        if temperature is not None:
            expected |= {"do_sample": bool(temperature), "num_beams": 1}
        if temperature:
            expected["temperature"] = temperature
        if temperature != 0:
            expected["top_p"] = generation.top_p
        expected |= own_sampling(self._settings, is_sampled=temperature != 0)
        defaults = {"do_sample": False, "num_beams": 1}
        changed = [
            f"{name} is {arrived[name]} instead of {value}"
            for name, value in expected.items()
            if value is not None
            and (defaults.get(name) if arrived[name] is None else arrived[name]) != value
        ]
        if changed:
            raise Rejected(
                f"{self.name}: the model's chat() does not pass on the run's settings: "
                f"{', '.join(changed)}. Use the model's own settings (`--temperature default`), "
                "or run the model in another way.",
                hopeless=True,
            )
