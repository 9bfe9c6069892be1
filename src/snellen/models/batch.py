"""The protocols of models that answer several requests in a call, for `models.batching`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, runtime_checkable

from snellen.core.model import Reply, Request
from snellen.media.content import Image

PATCH = 28
"""Approximate side of a square that is one token for a vision-language model, in pixels."""
CHARACTERS = 4
"""Approximate number of characters in a token of text."""


class Batches(Protocol):
    """Answers several requests in one call, in order. A single thread calls it."""

    name: str

    def generate_batch(self, requests: Sequence[Request]) -> Sequence[Reply]: ...


@runtime_checkable
class Prepares(Protocol):
    """Answers batches in two steps: several threads prepare them, and a single thread answers them.

    A batch holds requests of a single `group`. `size` is a request's approximate number of tokens.
    `rows` is the number of rows that it takes in a batch. If `ranks`, a reply has `choices` alone.
    """

    name: str
    ranks: bool

    def group(self, request: Request) -> Hashable: ...

    def size(self, request: Request) -> int: ...

    def rows(self, request: Request) -> int: ...

    def prepare(self, requests: Sequence[Request]) -> Any: ...

    def answer(self, prepared: Any) -> Sequence[Reply]: ...


class TooMuch(Exception):
    """A batch did not fit into memory. Its halves may."""


def size_of(request: Request) -> int:
    """The approximate number of tokens of a request."""
    return text_size(request) + sum(
        image_size(image) for message in request.messages for image in message.images
    )


def text_size(request: Request) -> int:
    """The approximate number of text tokens of a request."""
    parts = (part for message in request.messages for part in message.content)
    return sum(len(part) // CHARACTERS for part in parts if isinstance(part, str))


def image_size(image: Image) -> int:
    """The approximate number of tokens of an image."""
    return (image.width or 0) * (image.height or 0) // PATCH**2
