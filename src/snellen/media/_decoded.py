"""Keeps the pictures that were decoded last, since a model often looks at a picture several times.

This module imports Pillow, so other modules import it only to decode a picture.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, RLock

from PIL import Image as pillow

KEPT_PIXELS = 48_000_000
"""The maximum number of pixels of the pictures that are kept together, about 192 MB in RGB. A
picture with more pixels is a large picture."""
LOCKS = 16
"""The number of locks for decoding. Pictures with the same lock are decoded one after another."""


class DecodedPictures:
    """The decoded pictures, keyed by digest. This class is thread-safe. The pictures must not be
    changed.

    Large pictures are decoded one after another, and only the last of them is kept, so that no more
    than one is in memory.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._pictures: OrderedDict[str, pillow.Image] = OrderedDict()
        # A picture is decoded once even if several threads need it at the same time.
        self._decoding = tuple(Lock() for _ in range(LOCKS))
        self._large_turn = RLock()
        self._large: tuple[str, pillow.Image] | None = None

    @contextmanager
    def picture(
        self, digest: str, pixels: int, decode: Callable[[], pillow.Image]
    ) -> Iterator[pillow.Image]:
        """The picture with this digest, which `decode` decodes if it is not kept. `pixels` is its
        number of pixels."""
        if pixels <= KEPT_PIXELS:
            with self._decoding[hash(digest) % LOCKS]:
                picture = self._kept(digest) or self._keep(digest, decode())
            yield picture
            return
        with self._large_turn:
            if self._large is None or self._large[0] != digest:
                self._large = None
                self._large = (digest, decode())
            yield self._large[1]

    @contextmanager
    def turn(self, pixels: int) -> Iterator[None]:
        """Wait until a picture with this number of pixels may be decoded. A large picture has to
        wait for other large pictures, and the one that is kept is dropped."""
        if pixels <= KEPT_PIXELS:
            yield
            return
        with self._large_turn:
            self._large = None
            yield

    def _kept(self, digest: str) -> pillow.Image | None:
        with self._lock:
            if digest in self._pictures:
                self._pictures.move_to_end(digest)
            return self._pictures.get(digest)

    def _keep(self, digest: str, picture: pillow.Image) -> pillow.Image:
        with self._lock:
            self._pictures[digest] = picture
            while sum(map(_pixels, self._pictures.values())) > KEPT_PIXELS:
                self._pictures.popitem(last=False)
        return picture


def _pixels(picture: pillow.Image) -> int:
    return picture.width * picture.height


decoded = DecodedPictures()
"""The pictures that this process decoded last."""
