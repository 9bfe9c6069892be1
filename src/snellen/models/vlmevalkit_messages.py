"""Converts messages between VLMEvalKit's format and Snellen's.

In VLMEvalKit, a message is an object {"type": text|image|video, "value", "role"?}, a list of such
objects, a text, or a list of texts. Pictures and videos are files.

Source: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/vlm/base.py,
preproc_content, and vlmeval/smp/file.py, parse_file.
"""

from __future__ import annotations

import functools
import inspect
import mimetypes
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, get_ident
from typing import Any, TextIO, cast

from snellen.errors import UsageError
from snellen.media import forms, images
from snellen.media.content import Image, Message, Part, Role
from snellen.models.user_code import UserObject, errors_as, load_object

PACKAGE = "vlmeval"
ROLES: tuple[Role, ...] = ("system", "user", "assistant")
ENDINGS = {"image/jpeg": ".jpg", "image/png": ".png"}


def load_class(name: str, kind: str) -> UserObject:
    """Load the class or object at `FILE:NAME`.

    Raises:
        UsageError: the file or the name does not exist, or the file cannot be loaded. If the file
            needs VLMEvalKit itself, the message states that.
    """
    try:
        with aside():
            return load_object(name, kind)
    except UsageError as error:
        cause = error.__cause__
        lacking = cause.name if isinstance(cause, ModuleNotFoundError) else None
        if (lacking or "").partition(".")[0] != PACKAGE:
            raise
        raise UsageError(
            f"{error} VLMEvalKit is not installed in this environment. Install VLMEvalKit (pip "
            "install -e in a clone of it), or remove VLMEvalKit's base class from your class. Only "
            "the methods matter."
        ) from error


def build(own: UserObject, arguments: dict[str, Any], title: str) -> Any:
    """Call a class, partial, or function with the arguments, and return the result. If `own` is
    neither a class, a partial, nor a function, return it unchanged.

    Raises:
        UsageError: the class or function raised an exception, or arguments were passed for an
            object.
    """
    if not (isinstance(own.value, type | functools.partial) or inspect.isroutine(own.value)):
        if arguments:
            raise UsageError(
                f"{title} is an object, not a class, so it cannot accept {', '.join(arguments)}. "
                "Pass the object's class, or remove the arguments."
            )
        return own.value
    with aside(), errors_as(UsageError, f"{title} cannot be instantiated", own.source):
        return own.value(**arguments)


# -- standard output


_LOCK = Lock()
_ASIDE: list[int] = []
"""The ids of the threads that are running inside `aside`. A thread's id is listed once per level of
nesting."""


class _Routed:
    """Replaces standard output, and redirects the output of threads inside `aside` to standard
    error. The redirection works even if a class keeps a reference to standard output, as log
    handlers do."""

    def __init__(self, real: Any) -> None:
        self.real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr if get_ident() in _ASIDE else self.real, name)


@contextmanager
def aside() -> Iterator[None]:
    """Redirect this thread's output to standard error, since standard output may be a JSON
    document. Other threads still write to standard output. They do so even if this thread hangs in
    a class after the run was interrupted."""
    with _LOCK:
        routed = sys.stdout if isinstance(sys.stdout, _Routed) else _Routed(sys.stdout)
        sys.stdout = cast(TextIO, routed)
        _ASIDE.append(get_ident())
    try:
        yield
    finally:
        with _LOCK:
            _ASIDE.remove(get_ident())
            if not _ASIDE and sys.stdout is cast(TextIO, routed):
                sys.stdout = routed.real


# -- pictures as files


class PictureFiles:
    """Writes pictures to files for VLMEvalKit's classes. A file contains a picture's original
    bytes, and there is one file per digest. `close` deletes the folder. This class is
    thread-safe."""

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None
        self._known: dict[str, Image] = {}
        self._lock = Lock()

    def path(self, image: Image) -> str:
        """Write a picture to a file, unless the file exists already, and return the path."""
        image = images.load(image)
        assert isinstance(image.source, bytes) and image.digest and image.mime
        ending = ENDINGS.get(image.mime) or mimetypes.guess_extension(image.mime) or ""
        with self._lock:
            if self._folder is None:
                self._folder = TemporaryDirectory(prefix="snellen-")
            path = Path(self._folder.name, image.digest.partition(":")[2] + ending)
            if str(path) not in self._known:
                path.write_bytes(image.source)
                self._known[str(path)] = Image(path, label=image.label)
        return str(path)

    def image(self, path: str) -> Image:
        """Return the picture in a file. If Snellen wrote the file, the picture has the label that
        the benchmark uses."""
        return self._known.get(path) or Image(Path(path), label=path)

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()


# -- messages


def ours(
    prompt: object, image: Callable[[str], Image] | None = None, where: str = "a part of the prompt"
) -> tuple[Message, ...]:
    """Convert the result of `build_prompt` to Snellen's messages. `image` converts the path of a
    file to an image.

    Some texts in a list stand for pictures (see `media.forms`).

    Raises:
        ValueError: the prompt has an unknown format.
        MediaError: a picture cannot be used.
    """
    items = prompt if isinstance(prompt, list | tuple) else [prompt]
    if prompt is None or not items:
        raise ValueError(
            "a prompt must be a list of texts, or of objects with type and value, not "
            f"{prompt!r:.80}"
        )
    parts = [
        (_role(item), _known(part, image)) for item in items for part in _parts_of(item, where)
    ]
    return tuple(
        Message(role, tuple(part for _, part in of))
        for role, of in groupby(parts, key=lambda part: part[0])
    )


def _parts_of(item: object, where: str) -> tuple[Part, ...]:
    if not isinstance(item, dict):
        return forms.parts(item, where)
    stated = item.get("type")
    if stated not in ("text", "image", "video", "image_url", "video_url"):
        raise ValueError(f"the type of a part must be text, image, or video, not {stated!r:.40}")
    return forms.parts({name: value for name, value in item.items() if name != "role"}, where)


def _role(item: object) -> Role:
    role = item.get("role", "user") if isinstance(item, dict) else "user"
    if role not in ROLES:
        raise ValueError(f"the role of a part must be one of {', '.join(ROLES)}, not {role!r:.40}")
    return cast(Role, role)


def _known(part: Part, image: Callable[[str], Image] | None) -> Part:
    """Give a picture the label that the benchmark uses, if Snellen wrote the picture's file."""
    if image is None or not isinstance(part, Image) or not isinstance(part.source, Path):
        return part
    return image(str(part.source))


def theirs(content: Sequence[Part], path: Callable[[Image], str]) -> list[dict[str, str]]:
    """Convert a message's parts to VLMEvalKit's format. A decoded video is converted to its frames.
    A video that is not decoded is converted to the path of its file."""
    parts: list[dict[str, str]] = []
    for part in content:
        if isinstance(part, str):
            parts.append({"type": "text", "value": part})
        elif isinstance(part, Image):
            parts.append({"type": "image", "value": path(part)})
        elif part.frames:
            parts += [{"type": "image", "value": path(frame.image)} for frame in part.frames]
        else:
            parts.append({"type": "video", "value": str(part.source)})
    return parts
