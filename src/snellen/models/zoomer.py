"""baseline/zoomer: `baseline/reader` with the tool `zoom`, which it calls where letters are too
small to read.

Like the reader, the zoomer does not learn and uses no random numbers. If a question about a row of
letters offers the tool `zoom`, and the letters are less than 16 pixels high, the zoomer zooms into
the part with the letters once, before it reads. It reads the picture in which the letters are
tallest. If no picture shows anything, the zoomer looks at the middle, and then guesses: it repeats
the first letter that the question lists. All other questions are answered as the reader answers
them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import orjson

from snellen.core.model import Reply, Request
from snellen.errors import MediaError, Rejected
from snellen.media import images
from snellen.media.content import Image, Message, ToolCall, user
from snellen.media.views import FULL
from snellen.models.batch import Batches
from snellen.models.reader_shapes import LISTED, ink_of

LEGIBLE = 16
"""The minimum height of letters, in pixels, that are read without a zoom."""
FAINT = 0.2
"""Pixels with a higher ink value than this belong to the letters. Letters smaller than a pixel are
faint."""
MARGIN = 40
"""The minimum margin around the letters in a zoom, from 0 to 1000."""
MIDDLE = (FULL // 4, FULL // 4, 3 * FULL // 4, 3 * FULL // 4)
ROW = re.compile(r"\brow of ([1-9]) letters\b")

Box = tuple[int, int, int, int]
"""The left, top, right, and bottom edges, from 0 to 1000."""


class Zoomer:
    """Reads letters, with a zoom if they are small."""

    takes_tools = True
    takes_pictures_in_results = True

    def __init__(self, reader: Batches) -> None:
        self.name = reader.name
        self._reader = reader

    def generate_batch(self, requests: Sequence[Request]) -> list[Reply]:
        """Return one reply per request.

        Raises:
            Rejected: a picture cannot be decoded.
        """
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        question = next(message for message in reversed(request.messages) if message.role == "user")
        pictures = _pictures(request.messages)
        row = ROW.search(question.text)
        if row is None or not pictures:
            return self._read(request, question)
        try:
            extents = [_extent(picture) for picture in pictures]
        except MediaError as error:
            raise Rejected(str(error)) from error
        heights = [_height(box, image) for box, image in zip(extents, pictures, strict=True)]
        tallest = int(np.argmax(heights))
        if heights[tallest] < LEGIBLE and _may_zoom(request):
            return _zoom(tallest + 1, _around(extents[tallest]))
        if extents[tallest] is None:
            listed = LISTED.search(question.text)
            guess = (listed.group()[0] if listed else "A") * int(row[1])
            return Reply(text=guess, stop="stop")
        return self._read(request, user(pictures[tallest], question.text))

    def _read(self, request: Request, question: Message) -> Reply:
        (reply,) = self._reader.generate_batch([replace(request, messages=(question,))])
        return reply


def _pictures(messages: Sequence[Message]) -> list[Image]:
    """The pictures in the messages, in the order of their numbers."""
    return [part for message in messages for part in message.content if isinstance(part, Image)]


def _extent(image: Image) -> tuple[float, float, float, float] | None:
    """The left, top, right, and bottom edges of the ink, from 0 to 1000; None if there is no
    ink."""
    ink = ink_of(images.pixels(image))
    if ink is None:
        return None
    rows, columns = np.nonzero(ink > FAINT)
    height, width = ink.shape
    return (
        FULL * float(columns.min()) / width,
        FULL * float(rows.min()) / height,
        FULL * float(columns.max() + 1) / width,
        FULL * float(rows.max() + 1) / height,
    )


def _height(extent: tuple[float, float, float, float] | None, image: Image) -> float:
    """The height of the ink in pixels; 0 if there is no ink."""
    if extent is None or image.height is None:
        return 0.0
    return (extent[3] - extent[1]) / FULL * image.height


def _around(extent: tuple[float, float, float, float] | None) -> Box:
    """The part to zoom into: the ink with a margin, or the middle of an empty picture."""
    if extent is None:
        return MIDDLE
    left, top, right, bottom = map(round, extent)
    margin = max(MARGIN, bottom - top)
    return (
        max(0, left - margin),
        max(0, top - margin),
        min(FULL, right + margin),
        min(FULL, bottom + margin),
    )


def _may_zoom(request: Request) -> bool:
    """Whether the tool `zoom` is offered and has not been called."""
    is_offered = any(tool.name == "zoom" for tool in request.tools)
    return is_offered and not any(message.tool_calls for message in request.messages)


def _zoom(picture: int, box: Box) -> Reply:
    arguments = orjson.dumps({"box": box, "picture": picture}).decode()
    return Reply(
        text="",
        stop="tool_calls",
        tool_calls=(ToolCall(id="call-1", name="zoom", arguments=arguments),),
    )
