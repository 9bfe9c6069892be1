"""Reads and checks images for a model, computes their digests, and decodes them on demand.

A model gets the bytes of the file: JPEG (also CMYK and progressive), PNG (also 16-bit), WebP, and
GIF are sent unchanged. Only formats that servers reject are converted to lossless PNG. These
formats are BMP, TIFF, and animated GIF, WebP, and PNG, of which only the first frame is kept. For
models with size limits, `smaller` returns smaller images.

The checks do not decode the image. The structure of the file shows the size of the image and
whether the file is complete. Damage in the middle of the compressed data is noticed only when the
image is decoded.
"""

from __future__ import annotations

import binascii
import os
import re
import stat
import struct
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import pybase64

from snellen.copies import changed
from snellen.errors import MediaError, check_kind, check_regular
from snellen.media._files import label, path_inside
from snellen.media._heads import (
    PNG_START,
    jpeg_segments,
    jpeg_size,
    kind_of_head,
    size_by_head,
    webp_size,
)
from snellen.media.content import Address, Excerpt, Image, Slice
from snellen.media.limits import DEFAULT_BYTES, check_bytes, check_size, max_bytes
from snellen.media.sizes import at_least, within

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from snellen.media._decoding import Decoder

SMALL = 1 << 20
"""Files of at most this many bytes are read before their first bytes are checked, which saves a
system call per file."""
HEAD = 16  # the number of bytes that identify every format
KINDS = "JPEG, PNG, WebP, GIF, BMP, TIFF"
DATA_URL = re.compile(rb"data:[^,]{0,200};base64,", re.IGNORECASE)


class _Shape(NamedTuple):
    """Facts from the structure of a file. `is_complete` tells whether the end of the file is
    present."""

    mime: str
    width: int
    height: int
    is_complete: bool = True
    animated: bool = False


def load(image: Image) -> Image:
    """Load the image that a model gets, with its bytes, digest, MIME type, width, and height.

    If the source is bytes, the bytes may also be base64 text or a `data:` URL of an image, as in
    the cells of tables. A loaded image is returned unchanged. The width and height are those of the
    stored pixels. The EXIF orientation is not applied but stays in the bytes, so the server decides
    whether to apply the orientation. If an image was converted, the loaded image's `label` says so.

    Raises:
        MediaError: The file is missing, empty, cut off, outside the allowed folder, or not an
            image, or it has too many pixels or bytes. The message names the image.
    """
    if image.digest is not None and isinstance(image.source, bytes) and image.source:
        return image
    data = _read(image)
    kind = kind_of_head(data)
    if kind is None and isinstance(image.source, bytes):
        data = _from_base64(image, data)
        kind = kind_of_head(data)
    if kind is None:
        raise _no_image(image, data)
    read_shape = SHAPES.get(kind)
    try:
        shape = read_shape(data) if read_shape else None
    except (IndexError, struct.error) as error:
        raise _cut_off(image) from error
    name = image.label or ("" if isinstance(image.source, bytes) else label(image))
    if shape is not None:
        if not shape.is_complete:
            raise _cut_off(image)
        check_size(name, shape.width, shape.height)
    if shape is None or shape.animated:
        data, note = _decoder(image, data).png()
        shape = _png(data)
        name = f"{name} ({note})".lstrip()
    return changed(
        image,
        source=data,
        label=name,
        digest=f"sha256:{sha256(data).hexdigest()}",
        mime=shape.mime,
        width=shape.width,
        height=shape.height,
        read_from=None if isinstance(image.source, bytes) else image.source,
    )


class Sized(Image):
    """An image whose width and height are read when one of them is first accessed.

    Width and height are read from the beginning of the file, and are the same as after `load`.
    Width and height are None if the file cannot be read.
    """

    @cached_property
    def _size(self) -> tuple[int, int] | tuple[None, None]:
        return _size(self) or (None, None)

    @cached_property
    def width(self) -> int | None:
        return self._size[0]

    @cached_property
    def height(self) -> int | None:
        return self._size[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Image) and _unsized(self) == _unsized(other)

    def __hash__(self) -> int:
        return hash(_unsized(self))


def sized(image: Image) -> Image:
    """A copy of the image whose width and height are read when they are first accessed."""
    if image.width is not None or isinstance(image, Sized):
        return image
    # This runs for every sample, so it must be fast.
    result = Sized.__new__(Sized)
    fields = result.__dict__
    fields.update(image.__dict__)
    del fields["width"], fields["height"]
    return result


def _unsized(image: Image) -> tuple[object, ...]:
    size = (None, None) if isinstance(image, Sized) else (image.width, image.height)
    return (image.source, image.label, image.within, image.digest, image.mime, *size)


HEADS = (1 << 12, 1 << 18, DEFAULT_BYTES)
"""How many bytes are read from the beginning of a file in the first attempt, the second, and the
third, until the width and height of the image are found. In a JPEG from a camera, a thumbnail of up
to 64 kB, or an even larger color profile, may precede the width and height."""


def _size(image: Image) -> tuple[int, int] | None:
    for most in HEADS:
        try:
            data = _beginning(image, most)
            size = size_by_head(data)
        except (IndexError, struct.error):
            continue
        except (OSError, ValueError, MediaError):
            return None
        if size is None and kind_of_head(data) is not None:
            return _decoder(image, _beginning(image, max_bytes())).upright_size()
        return size
    return None


def _beginning(image: Image, most: int) -> bytes:
    """The first bytes of the image, at most `most` of them; empty for a URL, and for a path that is
    not a regular file."""
    source = image.source
    text = most // 3 * 4
    if isinstance(source, Address):
        return b""
    if isinstance(source, bytes):
        return source[:most] if kind_of_head(source) else _decoded_start(source[:text])
    is_slice = isinstance(source, Slice)
    path = path_inside(image, source.path if isinstance(source, Slice) else source)
    # Open without blocking, because the path may be a pipe.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        if not is_slice:
            return os.pread(descriptor, most, 0)
        assert isinstance(source, Slice)
        length = min(source.length, most if source.encoding == "raw" else text)
        data = os.pread(descriptor, length, source.offset)
    finally:
        os.close(descriptor)
    return data if source.encoding == "raw" else _decoded_start(data)


def _decoded_start(text: bytes) -> bytes:
    """Decode the beginning of base64 text or of a `data:` URL."""
    start = DATA_URL.match(text)
    text = (text[start.end() :] if start else text).translate(None, b" \t\r\n")
    return pybase64.b64decode(text[: len(text) // 4 * 4])


def smaller(
    image: Image,
    *,
    max_side: int | None = None,
    max_pixels: int | None = None,
    max_bytes: int | None = None,
) -> Image:
    """The image as `load` returns it, scaled down if it exceeds the limits.

    `max_side` limits the longer side in pixels, `max_pixels` limits width times height, and
    `max_bytes` limits the size of the file. A scaled image keeps its aspect ratio. Scaling uses
    Lanczos resampling and applies the EXIF orientation. The image is saved in its own format if
    that is JPEG (with quality 95 and full color resolution), PNG, or WebP (lossless), otherwise as
    PNG. The color profile is kept, but no other metadata.

    Raises:
        MediaError: The image cannot be loaded (see `load`), the compressed data is damaged, or the
            file has more than `max_bytes` bytes however far the image is scaled down.
    """
    image = load(image)
    assert isinstance(image.source, bytes) and image.width and image.height
    fits = within((image.width, image.height), max_side, max_pixels) == (image.width, image.height)
    if fits and (max_bytes is None or len(image.source) <= max_bytes):
        return image
    decoder = _decoder(image, image.source)
    data = decoder.smaller(image.mime, max_side, max_pixels, max_bytes)
    if data is None:
        raise MediaError(
            f"{label(image)} has more than max_bytes ({max_bytes}) bytes at every size."
        )
    return load(replace(image, source=data, digest=None, original=image.original_size))


def larger(image: Image, *, min_pixels: int) -> Image:
    """The image as `load` returns it, enlarged if it has fewer than `min_pixels` pixels. An
    enlarged image is scaled and saved in the same way as in `smaller`.

    Raises:
        MediaError: The image cannot be loaded (see `load`), or the compressed data is damaged.
    """
    image = load(image)
    assert isinstance(image.source, bytes) and image.size
    if at_least(image.size, min_pixels) == image.size:
        return image
    data = _decoder(image, image.source).larger(image.mime, min_pixels)
    return load(replace(image, source=data, digest=None, original=image.original_size))


def as_png(image: Image) -> Image:
    """The image as `load` returns it, converted to PNG without loss if it has another type. Some
    models do not accept every type of image.

    Raises:
        MediaError: The image cannot be loaded (see `load`), or the compressed data is damaged.
    """
    image = load(image)
    assert isinstance(image.source, bytes)
    if image.mime == "image/png":
        return image
    data, note = _decoder(image, image.source).png()
    return load(replace(image, source=data, digest=None, label=f"{image.label} ({note})".lstrip()))


def upright_size(image: Image) -> tuple[int, int]:
    """The width and height of the picture as a person sees the picture, with the EXIF orientation
    applied. No pixels are decoded.

    Raises:
        MediaError: The image cannot be loaded (see `load`).
    """
    loaded = load(image)
    assert isinstance(loaded.source, bytes) and loaded.size is not None
    return _decoder(loaded, loaded.source).upright_size() or loaded.size


def part(image: Image, box: tuple[int, int, int, int], turns: int, *, max_pixels: int) -> Image:
    """A part of the picture as a person sees the picture, as PNG without loss, rotated by quarter
    turns clockwise.

    `box` has the left, top, right, and bottom edges in pixels. The part keeps the resolution of the
    picture. Only a part with more than `max_pixels` pixels is scaled down.

    Raises:
        MediaError: The image cannot be loaded (see `load`), or the compressed data is damaged.
    """
    loaded = load(image)
    assert loaded.digest is not None and loaded.width and loaded.height
    size = loaded.width * loaded.height
    data = _decoder_of(loaded).part(loaded.digest, size, box, turns, max_pixels)
    excerpt = Excerpt(of=loaded.digest, box=box, turns=turns)
    cut = load(Image(data, label=f"part {list(box)} of {label(loaded)}", excerpt=excerpt))
    full = (box[2] - box[0], box[3] - box[1])[:: -1 if turns % 2 else 1]
    return cut if cut.size == full else changed(cut, original=full)


def pixels(image: Image) -> NDArray[np.uint8]:
    """The pixels of the picture as a person sees the picture: (height, width, 3), RGB, 0 to 255.

    The EXIF orientation is applied, so height and width may be swapped. 16-bit samples lose their
    lower byte. CMYK is converted without its color profile. Transparent pixels are blended with
    white. If the image is an animation, only its first frame is returned.

    Raises:
        MediaError: The image cannot be loaded (see `load`), or the compressed data is damaged.
    """
    return _decoder_of(image).pixels()


def gray(image: Image, side: int) -> NDArray[np.uint8]:
    """The gray pixels of the picture, scaled to a square: (side, side), 0 to 255.

    These pixels are used to compare pictures. Each pixel is the mean of the original pixels that it
    covers. A JPEG is decoded at the smallest scale with enough pixels, which is several times as
    fast as decoding the full size.

    Raises:
        MediaError: The image cannot be loaded (see `load`), or the compressed data is damaged.
    """
    return _decoder_of(image).gray(side)


def _decoder_of(image: Image) -> Decoder:
    loaded = load(image)
    assert isinstance(loaded.source, bytes)
    return _decoder(loaded, loaded.source)


def _decoder(image: Image, data: bytes) -> Decoder:
    from snellen.media._decoding import Decoder

    return Decoder(data, label(image))


def _cut_off(image: Image) -> MediaError:
    return MediaError(f"{label(image)} is cut off: its end is missing. Download the file again.")


def _no_image(image: Image, data: bytes) -> MediaError:
    return MediaError(
        f"{label(image)} is not an image: it begins with {data[:HEAD]!r}. "
        f"Supported formats are {KINDS}. If the file has another format, convert it to PNG. If the "
        "file is damaged, download it again."
    )


# -- reading


def _opened(path: str) -> int:
    """Open a file without blocking, because the path may be a pipe.

    Raises:
        OSError: the file cannot be opened.
    """
    try:
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        check_regular(path)  # a socket cannot be opened; this error names it
        raise


def _read(image: Image) -> bytes:
    source = image.source
    if isinstance(source, Address):
        raise MediaError(
            f"{label(image)} is a URL, {source}. Snellen downloads pictures from URLs in data only "
            "with --allow-urls. Add --allow-urls, or download the picture and pass the path of the "
            "file."
        )
    if isinstance(source, bytes):
        data = source
    else:
        path = source.path if isinstance(source, Slice) else source
        inside = path_inside(image, path)
        try:
            descriptor = _opened(inside)
            try:
                status = os.fstat(descriptor)
                check_kind(status.st_mode, inside)
                if isinstance(source, Slice):
                    check_bytes(label(image), source.length)
                    data = _content(descriptor, source.offset, source.length)
                else:
                    _check_start(image, descriptor, status.st_size)
                    data = _content(descriptor, 0, status.st_size)
            finally:
                os.close(descriptor)
        except FileNotFoundError as error:
            raise MediaError(
                f"{label(image)} is missing: there is no file {inside}. "
                "If the data set's images are published separately from its rows, put the image at "
                "this path."
            ) from error
        except OSError as error:
            raise MediaError(
                f"{label(image)} cannot be read: {inside}: {error.strerror}."
            ) from error
        except MemoryError as error:
            raise MediaError(
                f"{label(image)} is too large to be read into memory: {inside}."
            ) from error
    if isinstance(source, Slice):
        if len(data) < source.length:
            raise MediaError(
                f"{label(image)} is cut off, because {source.path} is incomplete. Download that "
                "file again."
            )
        if source.encoding == "base64":
            return _from_base64(image, data)
    if not data and image.digest is not None:
        raise MediaError(
            f"{label(image)} is not available. Scoring uses stored replies, and the folder of a "
            "run contains only the sizes and digests of pictures."
        )
    if not data:
        raise MediaError(f"{label(image)} is empty (0 bytes). Download the file again.")
    return data


def _check_start(image: Image, descriptor: int, size: int) -> None:
    """Refuse a large file that does not begin like an image or is too large, before the file is
    read."""
    if size <= SMALL:
        return
    head = os.pread(descriptor, HEAD, 0)
    if head and kind_of_head(head) is None:
        raise _no_image(image, head)
    check_bytes(label(image), size)


def _content(descriptor: int, offset: int, length: int) -> bytes:
    """The bytes of an open file from the offset on, at most `length`."""
    data = os.pread(descriptor, length, offset)
    while 0 < len(data) < length:  # a system call reads at most 2 GiB, and may be interrupted
        more = os.pread(descriptor, length - len(data), offset + len(data))
        if not more:
            break
        data += more
    return data


def _from_base64(image: Image, text: bytes) -> bytes:
    """Decode base64 text or a `data:` URL."""
    start = DATA_URL.match(text)
    text = text[start.end() :] if start else text
    try:
        return pybase64.b64decode(text.translate(None, b" \t\r\n"), validate=True)
    except binascii.Error as error:
        raise MediaError(
            f"{label(image)} begins with {text[:16]!r} and is neither an image ({KINDS}) nor the "
            f"complete base64 of one: {error}. If the base64 was cut off (cells of spreadsheets "
            "have at most 32,767 characters), download the rows again, or save the images as "
            "files."
        ) from error


# -- the structure of each format; IndexError or struct.error means that the data ends too early


def _jpeg(data: bytes) -> _Shape:
    """Read the structure of a JPEG (ITU T.81, annex B). The frame header contains the size. The
    file is complete if it has an end marker, which cannot occur inside a scan."""
    size = jpeg_size(data)
    if size is None:
        raise IndexError("no frame header before its scan")
    is_complete = data.find(b"\xff\xd9", -2) >= 0
    if not is_complete:
        *_, (_, at) = jpeg_segments(data)
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        is_complete = data.rfind(b"\xff\xd9", at) >= 0
    return _Shape(mime="image/jpeg", width=size[0], height=size[1], is_complete=is_complete)


def _png(data: bytes) -> _Shape:
    """Read the chunks of a PNG up to IEND (PNG specification, 3rd edition, clauses 5 and 11). The
    chunk acTL marks an animation."""
    width, height = struct.unpack_from(">II", data, 16)
    at = len(PNG_START)
    animated = False
    while True:
        length, name = struct.unpack_from(">I4s", data, at)
        at += 12 + length
        if name == b"acTL":
            animated = True
        elif name == b"IEND":
            is_complete = at <= len(data)
            return _Shape(
                mime="image/png",
                width=width,
                height=height,
                is_complete=is_complete,
                animated=animated,
            )


def _gif(data: bytes) -> _Shape:
    """Read the blocks of a GIF up to the trailer (GIF89a). A GIF with more than one image is an
    animation."""
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    at = 13 + _color_table_size(flags)
    images = 0
    while (block := data[at]) != 0x3B:
        if block == 0x2C:
            images += 1
            at += 11 + _color_table_size(data[at + 9])
        elif block == 0x21:
            at += 2
        else:
            raise IndexError("no block begins here")
        while length := data[at]:
            at += 1 + length
        at += 1
    return _Shape(mime="image/gif", width=width, height=height, animated=images > 1)


def _color_table_size(flags: int) -> int:
    """The size in bytes of the color table that the flags declare."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _webp(data: bytes) -> _Shape:
    """Read the structure of a WebP (RFC 9649). The first chunk contains the size, and shows whether
    the file is an animation."""
    length = struct.unpack_from("<I", data, 4)[0]
    width, height = webp_size(data)
    animated = data[12:16] == b"VP8X" and bool(data[20] & 2)
    is_complete = len(data) >= 8 + length
    return _Shape(
        mime="image/webp", width=width, height=height, is_complete=is_complete, animated=animated
    )


SHAPES: dict[str, Callable[[bytes], _Shape]] = {
    "JPEG": _jpeg,
    "PNG": _png,
    "GIF": _gif,
    "WEBP": _webp,
}
