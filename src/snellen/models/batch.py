"""What `models.batching` asks of a model that answers several requests at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, runtime_checkable

from snellen.core.model import Reply, Request
from snellen.media.content import Image

PATCH = 28
"""Pixels along a side of what a vision-language model takes for one token, about."""
CHARACTERS = 4
"""Characters in a token of text, about."""


class Batches(Protocol):
    """Answers several requests in one call, in their order. One thread calls it."""

    name: str

    def generate_batch(self, requests: Sequence[Request]) -> Sequence[Reply]: ...


@runtime_checkable
class Prepares(Protocol):
    """Answers batches in two steps: several threads prepare them, one thread has them answered.

    A batch holds requests of one `group`. `size` is about how many tokens a request has, `rows` how
    many rows of a batch it takes. Of `ranks` a reply has `choices` alone.
    """

    name: str
    ranks: bool

    def group(self, request: Request) -> Hashable: ...

    def size(self, request: Request) -> int: ...

    def rows(self, request: Request) -> int: ...

    def prepare(self, requests: Sequence[Request]) -> Any: ...

    def answer(self, prepared: Any) -> Sequence[Reply]: ...


class TooMuch(Exception):
    """A batch that did not fit into the memory; halves of it may."""


def size_of(request: Request) -> int:
    """About how many tokens a request has."""
    return text_size(request) + sum(
        image_size(image) for message in request.messages for image in message.images
    )


def text_size(request: Request) -> int:
    """About how many tokens of text a request has."""
    parts = (part for message in request.messages for part in message.content)
    return sum(len(part) // CHARACTERS for part in parts if isinstance(part, str))


def image_size(image: Image) -> int:
    """About how many tokens an image has."""
    return (image.width or 0) * (image.height or 0) // PATCH**2
