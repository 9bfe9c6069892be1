"""Protocols for models that answer several requests in one call. `models.batching` calls such
models."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, runtime_checkable

from snellen.core.model import Reply, Request
from snellen.media.content import Image

PATCH = 28
"""One token of a picture stands for a square patch whose sides have about this many pixels."""
CHARACTERS = 4
"""The approximate number of characters in a text token."""


class Batches(Protocol):
    """A model that answers several requests in one call. A single thread calls the model."""

    name: str

    def generate_batch(self, requests: Sequence[Request]) -> Sequence[Reply]: ...


@runtime_checkable
class Prepares(Protocol):
    """A model that answers batches in two steps. Several threads may prepare batches, and a single
    thread answers them.

    All requests of a batch have the same `group`. `size` returns the approximate number of tokens
    of a request, and `rows` the number of rows that the request takes in a batch. If `ranks` is
    true, the model accepts `rank` requests, and its replies to them contain only `choices`.
    """

    name: str
    ranks: bool

    def group(self, request: Request) -> Hashable: ...

    def size(self, request: Request) -> int: ...

    def rows(self, request: Request) -> int: ...

    def prepare(self, requests: Sequence[Request]) -> Any: ...

    def answer(self, prepared: Any) -> Sequence[Reply]: ...


class TooMuch(Exception):
    """Raised if a batch does not fit in memory. Each half of the batch may fit."""


def size_of(request: Request) -> int:
    """Estimate the number of tokens in a request."""
    return text_size(request) + sum(
        image_size(image) for message in request.messages for image in message.images
    )


def text_size(request: Request) -> int:
    """Estimate the number of text tokens in a request, with the declarations of its tools."""
    parts = (part for message in request.messages for part in message.content)
    declared = sum(len(tool.description) + len(str(tool.parameters)) for tool in request.tools)
    texts = sum(len(part) // CHARACTERS for part in parts if isinstance(part, str))
    return texts + declared // CHARACTERS


def image_size(image: Image) -> int:
    """Estimate the number of tokens that an image takes."""
    return (image.width or 0) * (image.height or 0) // PATCH**2
