"""Wraps models that accept only pictures within certain limits. Pictures outside the limits are
resized before they are sent."""

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
"""The maximum total size, in bytes, of resized pictures that are kept. This size is enough for
several hundred pictures."""


def limited(model: Model, limits: ImageLimits) -> Model:
    """Wrap a model so that it gets only pictures within the limits. Pictures outside the limits are
    resized.

    Raises:
        UsageError: the model watches streams. Limits do not apply to the frames of streams.
    """
    wrapped = Limited(model, limits)
    if isinstance(wrapped, Generates | Ranks):
        return wrapped
    raise UsageError(
        f"{model.name}: image limits do not apply to streams. Remove [images] from its profile."
    )


class Limited:
    """A model with limits for pictures. The wrapper can generate and rank if `model` can. A request
    raises `Rejected` if a picture cannot be resized to fit the limits, or if there are too many
    pictures."""

    def __init__(self, model: Model, limits: ImageLimits) -> None:
        self.name = model.name
        copy_traits(model, self)
        self._model = model
        self._limits = limits
        self._smaller = _Smaller(limits.per_picture) if limits.per_picture else None
        # A model's methods show what it can do, so the wrapper has only the methods of the model.
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
        async def ask_within(request: Request) -> T:
            original = request
            n = sum(len(message.images) for message in request.messages)
            most = self._limits.max_images
            if most is not None and n > most:
                raise Rejected(
                    f"the request has {n} pictures, but max_images in the profile of {self.name} "
                    f"is {most}."
                )
            if n and self._smaller:
                try:
                    request = await asyncio.to_thread(self._smaller.all_of, request)
                except MediaError as error:
                    raise Rejected(str(error)) from error
            answer = await ask(request)
            return answer if request is original else _with_sizes(answer, request)

        return ask_within


class _Smaller:
    """Resizes pictures to fit the limits. The most recently resized pictures are kept, since
    retries, repeats, and rotations of a question show the same pictures. This class is
    thread-safe."""

    def __init__(self, limits: dict[str, int]) -> None:
        self._limits = dict(limits)
        self._min_pixels = self._limits.pop("min_pixels", None)
        self._lock = Lock()
        self._scaled: dict[str, Image] = {}
        self._bytes = 0
        # Repeats ask for the same picture at the same time, so each picture has a lock. It exists
        # only while a thread holds it.
        self._locks: WeakValueDictionary[str, Lock] = WeakValueDictionary()

    def all_of(self, request: Request) -> Request:
        """Resize the pictures of a request that are not within the limits."""
        messages = []
        for message in request.messages:
            parts = (
                self._scale(part) if isinstance(part, Image) else part for part in message.content
            )
            messages.append(replace(message, content=tuple(parts)))
        return replace(request, messages=tuple(messages))

    def _scale(self, image: Image) -> Image:
        image = images.load(image)
        assert image.digest is not None
        with self._lock:
            picture_lock = self._locks.setdefault(image.digest, Lock())
        with picture_lock:
            scaled = self._scaled.get(image.digest)
            if scaled is not None:
                return replace(scaled, label=image.label)
            scaled = image
            if self._min_pixels is not None:
                scaled = images.larger(scaled, min_pixels=self._min_pixels)
            scaled = images.smaller(scaled, **self._limits)
            if scaled is not image:
                self._keep(image.digest, scaled)
            return scaled

    def _keep(self, digest: str, scaled: Image) -> None:
        """Keep a resized picture, and drop the oldest pictures if their total size is too large."""
        with self._lock:
            self._scaled[digest] = scaled
            self._bytes += _size(scaled)
            while self._bytes > KEPT:
                self._bytes -= _size(self._scaled.pop(next(iter(self._scaled))))


def _with_sizes(answer: T, request: Request) -> T:
    """Add the sizes of the request's pictures to the model's answer, if a picture was resized."""
    pictures = [
        part for message in request.messages for part in message.content if isinstance(part, Image)
    ]
    if all(picture.original is None for picture in pictures):
        return answer
    sizes = tuple(picture.size for picture in pictures)
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
