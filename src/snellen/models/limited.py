"""Models that take pictures up to a size: larger ones are made smaller on their way there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeVar

from snellen.content import Image, Message
from snellen.errors import MediaError, Rejected, UsageError
from snellen.media import images
from snellen.model import Generates, Model, Ranks, Request
from snellen.models._profile import ImageLimits

T = TypeVar("T")
Ask = Callable[[Request], Coroutine[Any, Any, T]]


def limited(model: Model, limits: ImageLimits) -> Model:
    """The model, asked with pictures within the limits; one that is within them goes as it is.

    Raises:
        UsageError: it watches streams, whose frames have no such limits.
    """
    wrapped = Limited(model, limits)
    if isinstance(wrapped, Generates | Ranks):
        return wrapped
    raise UsageError(f"{model.name}: limits of images are not for streams; leave out its [images].")


class Limited:
    """Answers and ranks as far as `model` does; `Rejected` where a picture cannot be made to fit,
    or a request has too many."""

    def __init__(self, model: Model, limits: ImageLimits) -> None:
        self.name = model.name
        self._model = model
        self._limits = limits
        # What a model can do is told by its methods: only those are here that it has.
        if isinstance(model, Generates):
            self.generate = self._within(model.generate)
        if isinstance(model, Ranks):
            self.rank = self._within(model.rank)

    async def close(self) -> None:
        if close := getattr(self._model, "close", None):
            await close()

    def _within(self, ask: Ask[T]) -> Ask[T]:
        async def asked(request: Request) -> T:
            n = sum(len(message.images) for message in request.messages)
            most = self._limits.max_images
            if most is not None and n > most:
                raise Rejected(
                    f"the request has {n} pictures; max_images of {self.name}'s profile is {most}."
                )
            if n and self._limits.of_one:
                try:
                    request = await asyncio.to_thread(self._smaller, request)
                except MediaError as error:
                    raise Rejected(str(error)) from error
            return await ask(request)

        return asked

    def _smaller(self, request: Request) -> Request:
        messages = []
        for message in request.messages:
            parts = (
                images.smaller(part, **self._limits.of_one) if isinstance(part, Image) else part
                for part in message.content
            )
            messages.append(Message(message.role, tuple(parts)))
        return replace(request, messages=tuple(messages))
