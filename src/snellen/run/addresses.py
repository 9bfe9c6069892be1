"""Fetches pictures from web servers before a request is sent."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from snellen.core.model import Request, has_addresses
from snellen.errors import MediaError, ModelError, UsageError
from snellen.media.content import Address, Image, Part
from snellen.media.forms import kind_of_head

if TYPE_CHECKING:
    from snellen.transport import Downloads

SECONDS = 60.0
"""The time limit for fetching one picture, in seconds."""
MAX_BYTES = 100_000_000
"""The maximum size of one picture, in bytes. Many pictures are fetched concurrently, possibly from
untrusted servers."""


async def fetched(request: Request) -> Request:
    """Fetch the pictures of a request that have URLs, and replace each URL with the picture's
    bytes. A request without URLs is returned unchanged.

    Raises:
        MediaError: a picture could not be fetched or is too large, or the file is not a picture.
    """
    if not has_addresses(request):
        return request
    # The HTTP client takes longer to import than most commands to run.
    from snellen.transport import Downloads

    downloads = Downloads()
    try:
        messages = [
            replace(
                message,
                content=tuple([await _fetched(part, downloads) for part in message.content]),
            )
            for message in request.messages
        ]
    finally:
        await downloads.close()
    return replace(request, messages=tuple(messages))


async def _fetched(part: Part, downloads: Downloads) -> Part:
    if not isinstance(part, Image) or not isinstance(part.source, Address):
        return part
    label = part.label or "a picture"
    body = bytearray()
    try:
        async with asyncio.timeout(SECONDS), downloads.get(part.source.url) as (head, blocks):
            _check_size(head.size or 0, label, part.source)
            async for block in blocks:
                body += block
                _check_size(len(body), label, part.source)
    except TimeoutError:
        why = f"it did not arrive within {SECONDS:g} s"
        raise MediaError(f"{label} could not be fetched: {part.source}: {why}.") from None
    except (ModelError, UsageError) as error:
        raise MediaError(f"{label} could not be fetched: {error}") from None
    if kind_of_head(bytes(body[:16])) != "image":
        raise MediaError(
            f"{label} is not a picture: the content of {part.source} begins with "
            f"{bytes(body[:16])!r}."
        )
    return replace(part, source=bytes(body), label=f"{label}, {part.source}")


def _check_size(size: int, label: str, address: Address) -> None:
    if size > MAX_BYTES:
        raise MediaError(
            f"{label}, {address}, has more than {MAX_BYTES:,} bytes. Save a smaller copy and use "
            "its path."
        )
