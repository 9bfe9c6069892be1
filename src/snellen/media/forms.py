"""Decides whether a value is text, a picture, or a video. The same rules apply wherever a prompt
can come from.

A part of a prompt can accept only text, only media, or both.

- Only text is accepted, for example in the column `question`, `{"type": "text", ...}`, or a model's
  reply. The value is text even if it looks like a picture, and this module is not used.

- Only media are accepted, for example in the column `image` or `{"type": "image", ...}`. The value
  must be a picture or a video. Anything else is an error. See `medium`.

- Both text and media are accepted, for example in an item of a list of parts, an argument of
  `snellen.ask`, or a part of a message. The form of the value decides whether it is text. See
  `parts`.

Where both text and media are accepted, these values are pictures and videos:

- any value that is not a string: `Image`, `Video`, `Path`, bytes, a Pillow image, a NumPy array of
  8-bit pixels, an object with a type such as `image`, `image_url`, or `video`, or a list of these;
- text that consists only of a `data:` URL or the base64 of a picture or video;
- a URL (`https://...`) whose path has the extension of a picture or video, or no extension; a URL
  with a query; a `file://` URL;
- a path with the extension of a picture or video; the absolute path of a file whose first bytes are
  those of a picture or video.

Anything else is text: a word, the URL of a page (`.html`), or a sentence that contains a URL. Use
`{"type": "text", "text": ...}` for text that looks like a picture. If a value looks like a picture
but cannot be shown, a `MediaError` is raised, either in this module or when the picture is read.
Such a value is never treated as text.
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
"""The fields that contain the picture or video in the objects that other tools use."""
OTHER_KEYS = frozenset({"type", "role", "media_type", "path", "mime_type", "detail"})
"""The other fields that such objects may have. `path` is the file that `bytes` came from. `detail`
states how a server scales a picture; only the value "auto" is accepted."""
SOURCES = (Path, bytes, Slice, Address)
"""The types of the sources of pictures and videos."""
LONGEST_PATH = 4096
IN_BASE64 = 1024
"""Where only media are accepted, a string with more characters than this limit counts as base64,
because paths are shorter."""
BEGINNINGS = ("data:", "/9j/", "iVBORw0KGgo", "R0lGOD", "UklGR")
"""The first characters of a `data:` URL, and of the base64 of a JPEG, PNG, GIF, and WebP."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_DATA = re.compile(r"data:([^,;\s]{0,100})(?:;[^,\s]{0,200})?,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}(?:\r?\n[A-Za-z0-9+/_-]+)*={0,2}")
_PATH_START = re.compile(r"~?/|\.{1,2}[/\\]|[A-Za-z]:[\\/]|\\\\")
_ABSOLUTE = re.compile(r"~?/|[A-Za-z]:[\\/]")
_ENDING = re.compile(r"[^/\\.]\.([A-Za-z0-9]{1,5})$")
_SPACE = re.compile(r"\s")


def kind_of(text: str) -> Kind | None:
    """The kind of media, picture or video, that a string refers to where a prompt accepts both text
    and media; None if the string is plain text.

    Usually, only the text itself is examined. However, a path with spaces that does not begin with
    `/`, `./`, `~/`, or the like counts as media only if the file exists. An absolute path without a
    known extension counts as media only if the first bytes of the file are those of a picture or
    video.
    """
    text = text.strip()
    if "." not in text and "/" not in text and ":" not in text:  # true of most choices
        may_be_encoded = len(text) >= 24 and " " not in text
        return _kind_in_base64(text[:64]) if may_be_encoded and _BASE64.fullmatch(text) else None
    if header := _data_header(text):
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
    """Whether a string is an encoded picture or video rather than a path. Use this only where text
    is not accepted. A string counts as encoded if it begins like encoded media, or if it is too
    long to be a path."""
    return text.startswith(BEGINNINGS) or len(text) > IN_BASE64 or _data_header(text) is not None


def _data_header(text: str) -> re.Match[str] | None:
    return _DATA.match(text) if text[4:5] == ":" else None


def parts(value: object, label: str) -> tuple[Part, ...]:
    """Convert a value that may be text or media, or a list of both, to the parts of a message.
    `label` is the name of the value in error messages.

    Raises:
        MediaError: The value looks like a picture or video but cannot be shown, or it is neither
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
    """Convert a value that must be a picture or a video to an `Image` or a `Video`.

    `kind` is the only kind of medium that is accepted. If `kind` is None, both are accepted, and
    the form of the value decides; if the form does not show the kind, the value is a picture. With
    a `folder`, paths are relative to the folder and must not lead out of the folder.

    Raises:
        MediaError: The value is not a picture or video, or it cannot be shown.
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
        f"{label} is {type_of(value)}, which is neither text nor a picture. Pass text, a "
        "path, bytes, base64, a Pillow image, or a NumPy array of 8-bit pixels."
    )


def _is_pixels(value: object) -> bool:
    """Whether a value is a Pillow image or a NumPy array. The check does not import these
    packages."""
    return any(parent.__module__ in ("PIL.Image", "numpy") for parent in type(value).__mro__)


def is_reference(value: Image | Video) -> bool:
    """Whether the medium's source has one of the supported types. Callers may have passed any
    object as the source."""
    return isinstance(value.source, SOURCES)


def _of_text(text: str, kind: Kind, label: str, folder: Path | None) -> Image | Video:
    text = text.strip()
    scheme = _SCHEME.match(text) if "://" in text else None
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
                    f"{label} is a file on another machine, {address.netloc!r}. Pass a path on "
                    "this machine."
                )
            return _of_path(unquote(address.path), kind, folder)
        case "http" | "https" if kind == "image":
            return Image(Address(text), label=label)
        case "http" | "https":
            raise MediaError(
                f"{label} is the URL of a video, {Address(text)}. Snellen does not download "
                "videos. Download the video, and pass the path of the file."
            )
        case other:
            raise MediaError(
                f"{label} is a URL, {Address(text)}. Snellen does not download from {other}://. "
                f"Download the {kind}, and pass the path of the file."
            )


def _of_path(path: str, kind: Kind, folder: Path | None) -> Image | Video:
    source = _expanded(path) if folder is None else folder / path
    if kind == "video":
        return Video(source, label=path, within=folder)
    return Image(source, label=path, within=folder)


def _expanded(path: str) -> Path:
    """Replace `~` or `~name` in the path with the user's home folder. If that user does not exist,
    the path is unchanged."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _video_itself(label: str) -> str:
    return (
        f"{label} is the content of a video, not the path of a file. Save the video as a file, and "
        "pass the path."
    )


# -- objects with a type


def _is_text(value: Mapping[Any, Any]) -> bool:
    return value.get("type") in ("text", "input_text")


def text_of(value: Mapping[Any, Any], label: str) -> str:
    """The text of an object of type `text`.

    Raises:
        MediaError: The object has no text, or it has fields that are not supported.
    """
    key = next((key for key in TEXT_KEYS if key in value), "text")
    text = value.get(key)
    if not isinstance(text, str):
        raise MediaError(f"{label} is an object of the type text without text: {value!r:.80}")
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
            f"{label} is an object of the type {stated} without a picture or video: {value!r:.80}"
        )
    unknown = {*value} - OTHER_KEYS - {key}
    if value.get("detail", "auto") != "auto":
        unknown.add("detail")
    _refuse(sorted(map(str, unknown)), key, label)
    return medium(value[key], label, kind=kind, folder=folder)


def _refuse(unknown: list[str], key: str, label: str) -> None:
    """Refuse unknown fields, because they could change what a model is shown."""
    if unknown:
        raise MediaError(
            f"{label} has fields, in addition to {key}, that Snellen does not support: "
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
    # A URL without an extension may be a picture, unless it has no path. A page (.html) is not one.
    return "image" if path.strip("/") and not _ENDING.search(path) else None


def _kind_by_ending(name: str) -> Kind | None:
    ending = _ENDING.search(name)
    if ending is None:
        return None
    if ending[1].lower() in IMAGE_ENDINGS:
        return "image"
    return "video" if ending[1].lower() in VIDEO_ENDINGS else None


def _kind_in_base64(text: str) -> Kind | None:
    """The kind of medium that the beginning of base64 text decodes to; None for anything else."""
    text = re.sub(r"[\r\n]", "", text).translate(str.maketrans("-_", "+/"))
    try:
        head = pybase64.b64decode(text[: len(text) // 4 * 4])
    except ValueError:
        return None
    return kind_of_head(head)


def kind_of_head(head: bytes) -> Kind | None:
    """The kind of medium that the first 16 bytes of a file indicate; None if the file is neither a
    picture nor a video."""
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
