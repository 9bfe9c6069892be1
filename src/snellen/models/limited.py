"""Models that take pictures of some sizes: others are scaled on their way there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from threading import Lock
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

from snellen.core.model import Generates, Model, Prompts, Ranking, Ranks, Reply, Request
from snellen.core.profile import ImageLimits
from snellen.errors import MediaError, Rejected, UsageError
from snellen.media import images
from snellen.media.content import Image
from snellen.models.traits import copy_traits

T = TypeVar("T")
Ask = Callable[[Request], Coroutine[Any, Any, T]]
KEPT = 64 << 20
"""Bytes of pictures that are kept smaller: some hundreds of them."""


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
        copy_traits(model, self)
        self._model = model
        self._limits = limits
        self._smaller = _Smaller(limits.per_picture) if limits.per_picture else None
        # What a model can do is told by its methods: only those are here that it has.
        if isinstance(model, Generates):
            self.generate = self._within(model.generate)
        if isinstance(model, Ranks):
            self.rank = self._within(model.rank)
        if isinstance(model, Prompts):
            self.own_prompt, self.prompted = model.own_prompt, model.prompted

    async def close(self) -> None:
        if close := getattr(self._model, "close", None):
            await close()

    def _within(self, ask: Ask[T]) -> Ask[T]:
        async def asked(request: Request) -> T:
            original = request
            n = sum(len(message.images) for message in request.messages)
            most = self._limits.max_images
            if most is not None and n > most:
                raise Rejected(
                    f"the request has {n} pictures; max_images of {self.name}'s profile is {most}."
                )
            if n and self._smaller:
                try:
                    request = await asyncio.to_thread(self._smaller.all_of, request)
                except MediaError as error:
                    raise Rejected(str(error)) from error
            answer = await ask(request)
            return answer if request is original else _with_sizes(answer, request)

        return asked


class _Smaller:
    """Pictures within limits. The last ones that had to be made smaller are kept: the next attempt,
    repeat or rotation shows the same one. Threads may call it."""

    def __init__(self, limits: dict[str, int]) -> None:
        self._limits = dict(limits)
        self._min_pixels = self._limits.pop("min_pixels", None)
        self._lock = Lock()
        self._made: dict[str, Image] = {}
        self._bytes = 0
        # A picture's lock is there while a thread has it; repeats come at the same time.
        self._locks: WeakValueDictionary[str, Lock] = WeakValueDictionary()

    def all_of(self, request: Request) -> Request:
        """The request with its pictures within the limits."""
        messages = []
        for message in request.messages:
            parts = (
                self._one(part) if isinstance(part, Image) else part for part in message.content
            )
            messages.append(replace(message, content=tuple(parts)))
        return replace(request, messages=tuple(messages))

    def _one(self, image: Image) -> Image:
        image = images.load(image)
        assert image.digest is not None
        with self._lock:
            one_at_a_time = self._locks.setdefault(image.digest, Lock())
        with one_at_a_time:
            made = self._made.get(image.digest)
            if made is not None:
                return replace(made, place=image.place)
            made = image
            if self._min_pixels is not None:
                made = images.larger(made, min_pixels=self._min_pixels)
            made = images.smaller(made, **self._limits)
            if made is not image:
                self._keep(image.digest, made)
            return made

    def _keep(self, digest: str, made: Image) -> None:
        """Keep a picture, and let the oldest go where there is no room."""
        with self._lock:
            self._made[digest] = made
            self._bytes += _size(made)
            while self._bytes > KEPT:
                self._bytes -= _size(self._made.pop(next(iter(self._made))))


def _with_sizes(answer: T, request: Request) -> T:
    """An answer with the sizes of the request's pictures, where one was scaled."""
    pictures = [
        part for message in request.messages for part in message.content if isinstance(part, Image)
    ]
    if all(picture.original is None for picture in pictures):
        return answer
    sizes = tuple(picture.size or (0, 0) for picture in pictures)
    if isinstance(answer, Reply):
        return replace(answer, sizes=sizes)
    if isinstance(answer, Ranking):
        answer.sizes = sizes
    elif isinstance(answer, list | tuple):
        ranking = Ranking(answer)
        ranking.sizes = sizes
        return cast(T, ranking)
    return answer


def _size(image: Image) -> int:
    assert isinstance(image.source, bytes)
    return len(image.source)
