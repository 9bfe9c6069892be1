"""Decides what is a picture or a video. The same rule holds for every entry point of a prompt.

A value comes from one of three kinds of places.

- A place for text: a column such as `question`, `{"type": "text", ...}`, what a model said. The
  value is text, whatever it looks like. Nothing here is called for it.
- A place for media: a column such as `image`, `{"type": "image", ...}`. The value is a picture or
  a video, or an error: `media`.
- An open place: an item of a list of parts, an argument of `snellen.ask`, a part of a message. The
  form of the value decides: `parts`.

In an open place these are pictures and videos:

- everything that is not text: `Image`, `Video`, `Path`, bytes, a Pillow image, a numpy array of
  8-bit pixels, an object with a type such as `image`, `image_url` or `video`, lists of all these;
- a text that is, as a whole, a `data:` address or base64 of a picture or video; an address
  (`https://...`) of a file with the ending of a picture or video, without an ending, or with a
  query; a `file://` address; a path with such an ending; an absolute path of a file that begins as
  a picture or video does.

Anything else is text: a sentence that mentions an address, an address of a page (`.html`), a word.
`{"type": "text", "text": ...}` marks a text that looks like a picture as text. A value that looks
like a picture but cannot be shown is a `MediaError`, here or when it is read. It is never text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import unquote, urlsplit

import pybase64

from snellen.errors import MediaError, type_of
from snellen.media._heads import is_picture
from snellen.media.content import Address, Image, Part, Slice, Video

Kind = Literal["image", "video"]

# fmt: off
IMAGE_ENDINGS = frozenset({
    "apng", "avif", "bmp", "dib", "gif", "heic", "heif", "ico", "jfif", "jp2", "jpe", "jpeg", "jpg",
    "pbm", "pgm", "png", "pnm", "ppm", "svg", "tga", "tif", "tiff", "webp", "xbm", "xpm",
})
VIDEO_ENDINGS = frozenset({
    "3gp", "asf", "avi", "flv", "m2ts", "m4v", "mkv", "mov", "mp4", "mpe", "mpeg", "mpg", "mxf",
    "ogv", "webm", "wmv",
})
# fmt: on
TEXT_KEYS = ("text", "value")
MEDIUM_KEYS = (
    *("value", "image", "image_url", "video", "video_url", "url", "bytes", "data", "base64"),
    *("path", "source"),
)
"""The fields that hold the medium in objects of other toolkits."""
OTHER_KEYS = frozenset({"type", "role", "media_type", "path", "mime_type", "detail"})
"""Fields allowed beside it. `path` names the file that `bytes` came from; `detail` says how a
server scales a picture, and is taken with the value "auto" alone."""
LONGEST_PATH = 4096
IN_BASE64 = 1024
"""In a place for media, a longer text is base64: no path is so long."""
BEGINNINGS = ("data:", "/9j/", "iVBORw0KGgo", "R0lGOD", "UklGR")
"""How base64 of a JPEG, PNG, GIF and WebP begins."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_DATA = re.compile(r"data:([^,;\s]{0,100})(?:;[^,\s]{0,200})?,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}(?:\r?\n[A-Za-z0-9+/_-]+)*={0,2}")
_PATH_START = re.compile(r"~?/|\.{1,2}[/\\]|[A-Za-z]:[\\/]|\\\\")
_ABSOLUTE = re.compile(r"~?/|[A-Za-z]:[\\/]")
_ENDING = re.compile(r"[^/\\.]\.([A-Za-z0-9]{1,5})$")
_SPACE = re.compile(r"\s")


def kind_of(text: str) -> Kind | None:
    """Whether a text in an open place is a picture or a video; None for text.

    The text alone decides, except for a path with blanks or without a known ending: there the file
    decides.
    """
    text = text.strip()
    if "." not in text and "/" not in text and ":" not in text:  # as in most choices
        return _kind_in_base64(text[:64]) if _BASE64.fullmatch(text) else None
    if header := _DATA.match(text):
        stated = header[1].lower().partition("/")[0]
        if stated in ("image", "video"):
            return cast(Kind, stated)
        return _kind_in_base64(text[header.end() :][:64])
    if _BASE64.fullmatch(text) and (kind_inside := _kind_in_base64(text[:64])):
        return kind_inside
    if not text or len(text) > LONGEST_PATH or "\n" in text:
        return None
    if scheme := _SCHEME.match(text):
        return _kind_of_address(text, scheme[1].lower())
    kind_by_name = _kind_by_ending(text)
    if kind_by_name and (_PATH_START.match(text) or not _SPACE.search(text) or _is_file(text)):
        return kind_by_name
    if kind_by_name is None and _ABSOLUTE.match(text) and _is_file(text):
        return _kind_of_file(text)
    return None


def is_encoded(text: str) -> bool:
    """Whether a text in a place for media is the encoded medium, not a path: it begins like base64
    of a medium, or is longer than a path can be."""
    return text.startswith(BEGINNINGS) or len(text) > IN_BASE64 or _DATA.match(text) is not None


def parts(value: object, label: str) -> tuple[Part, ...]:
    """The parts of a value in an open place. Messages call it `label`.

    Raises:
        MediaError: the value looks like a picture or a video but cannot be shown, or it is neither
            text nor a picture nor a video.
    """
    return tuple(_parts(value, label))


def _parts(value: object, label: str) -> Iterator[Part]:
    if isinstance(value, str):
        kind = kind_of(value)
        yield value if kind is None else _of_text(value, kind, label, None)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _parts(item, label)
    elif isinstance(value, Mapping) and _is_text(value):
        yield text_of(value, label)
    else:
        yield medium(value, label)


def medium(
    value: object, label: str, *, kind: Kind | None = None, folder: Path | None = None
) -> Image | Video:
    """The picture or video that a value in a place for media is.

    `kind` is what the place is for (None: what the value says, else a picture). With a `folder`,
    paths are relative to it and may not leave it.

    Raises:
        MediaError: the value is not a picture or video, or it cannot be shown.
    """
    if isinstance(value, str):
        return _of_text(value, kind or kind_of(value) or "image", label, folder)
    if isinstance(value, Image | Video) and is_reference(value):
        return value
    if isinstance(value, Video):
        file = medium(value.source, value.label or label, kind="video", folder=folder)
        assert isinstance(file, Video)
        return replace(value, source=file.source, label=value.label or file.label)
    if isinstance(value, Image):
        return medium(value.source, value.label or label, kind="image", folder=folder)
    if isinstance(value, os.PathLike):
        path = os.fspath(value)
        assert isinstance(path, str)
        return _of_path(path, kind or _kind_by_ending(path) or "image", folder)
    if isinstance(value, bytes | bytearray | memoryview):
        if kind == "video":
            raise MediaError(_video_itself(label))
        return Image(bytes(value), label=label)
    if isinstance(value, Mapping):
        return _of_object(value, label, kind, folder)
    if _is_pixels(value):
        from snellen.media._decoding import encoded

        return Image(encoded(value, label), label=label)
    raise MediaError(
        f"{label} is {type_of(value)}, which is neither text nor a picture. Give text, a "
        "path, bytes, base64, a Pillow image, or a numpy array of 8-bit pixels."
    )


def _is_pixels(value: object) -> bool:
    """Whether it is a Pillow image or a NumPy array. Imports neither."""
    return any(parent.__module__ in ("PIL.Image", "numpy") for parent in type(value).__mro__)


def is_reference(value: Image | Video) -> bool:
    """Whether the source is of a type that is read; a caller may have put anything there."""
    return isinstance(value.source, Path | bytes | Slice | Address)


def _of_text(text: str, kind: Kind, label: str, folder: Path | None) -> Image | Video:
    text = text.strip()
    scheme = _SCHEME.match(text)
    if scheme is None and (is_encoded(text) or (_BASE64.fullmatch(text) and kind_of(text))):
        if kind == "video":
            raise MediaError(_video_itself(label))
        return Image(text.encode(), label=label)
    if scheme is None:
        return _of_path(text, kind, folder)
    match scheme[1].lower():
        case "file":
            address = urlsplit(text)
            if address.netloc not in ("", "localhost"):
                raise MediaError(
                    f"{label} is a file on another machine, {address.netloc!r}. Give a path on "
                    "this machine."
                )
            return _of_path(unquote(address.path), kind, folder)
        case "http" | "https" if kind == "image":
            return Image(Address(text), label=label)
        case "http" | "https":
            raise MediaError(
                f"{label} is the URL of a video, {Address(text)}. Snellen does not fetch videos. "
                "Download the video, and give the file's path."
            )
        case other:
            raise MediaError(
                f"{label} is a URL, {Address(text)}. Snellen does not fetch from {other}://. "
                f"Download the {kind}, and give the file's path."
            )


def _of_path(path: str, kind: Kind, folder: Path | None) -> Image | Video:
    source = _expanded(path) if folder is None else folder / path
    if kind == "video":
        return Video(source, label=path, within=folder)
    return Image(source, label=path, within=folder)


def _expanded(path: str) -> Path:
    """The path with the user's home in the place of `~`; as it is where there is no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _video_itself(label: str) -> str:
    return (
        f"{label} is the content of a video, not a file's path. Save it as a file, and give its "
        "path."
    )


# -- objects with a type


def _is_text(value: Mapping[Any, Any]) -> bool:
    return value.get("type") in ("text", "input_text")


def text_of(value: Mapping[Any, Any], label: str) -> str:
    """The text of an object of type `text`.

    Raises:
        MediaError: it has none.
    """
    key = next((key for key in TEXT_KEYS if key in value), "text")
    text = value.get(key)
    if not isinstance(text, str):
        raise MediaError(f"{label} is an object of type text without a text: {value!r:.80}")
    _refuse(sorted(map(str, {*value} - {"type", key})), key, label)
    return text


def _of_object(
    value: Mapping[Any, Any], label: str, kind: Kind | None, folder: Path | None
) -> Image | Video:
    stated = value.get("type", kind or "image")
    if not isinstance(stated, str) or not re.search("image|video|url|base64", stated):
        raise MediaError(f"{label} has the type {stated!r:.40}. Use text, image, or video.")
    if "type" in value and ("image" in stated or "video" in stated):
        kind = "video" if "video" in stated else "image"
    key = next((key for key in MEDIUM_KEYS if value.get(key) is not None), None)
    if key is None:
        raise MediaError(
            f"{label} is an object of type {stated} without a picture or video: {value!r:.80}"
        )
    unknown = {*value} - OTHER_KEYS - {key}
    if value.get("detail", "auto") != "auto":
        unknown.add("detail")
    _refuse(sorted(map(str, unknown)), key, label)
    return medium(value[key], label, kind=kind, folder=folder)


def _refuse(unknown: list[str], key: str, label: str) -> None:
    """Refuse unknown fields: they could change what is shown."""
    if unknown:
        raise MediaError(
            f"{label} has fields that Snellen does not support beside its {key}: "
            f"{', '.join(unknown)}. Remove them."
        )


# -- texts


def _kind_of_address(text: str, scheme: str) -> Kind | None:
    if scheme not in ("http", "https", "file") and not _kind_by_ending(text):
        return None
    address, _, query = text.partition("#")[0].partition("?")
    path = address.partition("://")[2].partition("/")[2]
    kind = _kind_by_ending(path)
    if _SPACE.search(text):
        return kind if _SPACE.search(address) and _kind_by_ending(text) else None
    if kind or scheme == "file":
        return kind or "image"
    if query:
        return _kind_by_ending(query) or "image"
    # A URL without an ending can be a picture. A bare server or a page (.html) is not one.
    return "image" if path.strip("/") and not _ENDING.search(path) else None


def _kind_by_ending(name: str) -> Kind | None:
    ending = _ENDING.search(name)
    if ending is None:
        return None
    if ending[1].lower() in IMAGE_ENDINGS:
        return "image"
    return "video" if ending[1].lower() in VIDEO_ENDINGS else None


def _kind_in_base64(text: str) -> Kind | None:
    """What the first characters of base64 decode to."""
    text = re.sub(r"[\r\n]", "", text).translate(str.maketrans("-_", "+/"))
    try:
        head = pybase64.b64decode(text[: len(text) // 4 * 4])
    except ValueError:
        return None
    return kind_of_head(head)


def kind_of_head(head: bytes) -> Kind | None:
    """The kind that the first 16 bytes of a file show; None if it is not a picture or video."""
    if is_picture(head):
        return "image"
    is_video = head[4:8] == b"ftyp" or head.startswith(b"\x1aE\xdf\xa3") or head[8:12] == b"AVI "
    return "video" if is_video else None


def _kind_of_file(text: str) -> Kind | None:
    try:
        with open(_expanded(text), "rb", buffering=0) as file:
            return kind_of_head(file.read(16))
    except OSError:
        return None


def _is_file(text: str) -> bool:
    try:
        return _expanded(text).is_file()
    except (OSError, ValueError):
        return False
