"""Keeps the pictures that were decoded last, since a model often looks at a picture several times.

This module imports Pillow, so other modules import it only to decode a picture.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from PIL import Image as pillow

MOST_PIXELS = 48_000_000
"""The maximum number of pixels that are kept, about 144 MB in RGB. A larger picture is decoded each
time."""


class DecodedPictures:
    """The decoded pictures, keyed by digest. This class is thread-safe. The pictures must not be
    changed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pictures: OrderedDict[str, pillow.Image] = OrderedDict()

    def get(self, digest: str, decode: Callable[[], pillow.Image]) -> pillow.Image:
        """The picture with this digest, which `decode` decodes if it is not kept."""
        with self._lock:
            if (picture := self._pictures.get(digest)) is not None:
                self._pictures.move_to_end(digest)
                return picture
        picture = decode()
        if _pixels(picture) <= MOST_PIXELS:
            with self._lock:
                self._pictures[digest] = picture
                while sum(map(_pixels, self._pictures.values())) > MOST_PIXELS:
                    self._pictures.popitem(last=False)
        return picture


def _pixels(picture: pillow.Image) -> int:
    return picture.width * picture.height


decoded = DecodedPictures()
"""The pictures that this process decoded last."""
