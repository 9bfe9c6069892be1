"""What VLMEvalKit's classes are told and say, in its form and in ours.

Its messages are lists of {"type": text|image|video, "value", "role"?}, or lists of text, one text
or one such object, pictures and videos being files:
open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/vlm/base.py,
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
from snellen.models.user_code import UserObject, found, told_as

PACKAGE = "vlmeval"
ROLES: tuple[Role, ...] = ("system", "user", "assistant")
ENDINGS = {"image/jpeg": ".jpg", "image/png": ".png"}


def class_named(name: str, kind: str) -> UserObject:
    """What `FILE:NAME` means.

    Raises:
        UsageError: there is no such file or name, or the file cannot be loaded; says so where it
            needs VLMEvalKit itself.
    """
    try:
        with aside():
            return found(name, kind)
    except UsageError as error:
        cause = error.__cause__
        lacking = cause.name if isinstance(cause, ModuleNotFoundError) else None
        if (lacking or "").partition(".")[0] != PACKAGE:
            raise
        raise UsageError(
            f"{error} VLMEvalKit is not installed beside this package. Install it (pip install -e "
            "in a clone of it), or leave its base class out: only the methods count."
        ) from error


def made_of(own: UserObject, arguments: dict[str, Any], title: str) -> Any:
    """The object that a class, a partial or another function gives for these arguments, or that
    stands there already.

    Raises:
        UsageError: it raised something, or an object would be given arguments.
    """
    if not (isinstance(own.made, type | functools.partial) or inspect.isroutine(own.made)):
        if arguments:
            raise UsageError(
                f"{title} is made already: there is nothing to give {', '.join(arguments)} to. "
                "Name its class, or leave the arguments out."
            )
        return own.made
    with aside(), told_as(UsageError, f"{title} cannot be made", own.source):
        return own.made(**arguments)


# -- standard output


_LOCK = Lock()
_ASIDE: list[int] = []
"""The threads that are `aside`, as often as they are."""


class _Routed:
    """Standard output, which is standard error to the threads that are `aside`: also where a class
    keeps it from one time to the next, as a handler of its log does."""

    def __init__(self, real: Any) -> None:
        self.real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr if get_ident() in _ASIDE else self.real, name)


@contextmanager
def aside() -> Iterator[None]:
    """What this thread prints goes to standard error: standard output is one JSON document. A class
    that never ends, when its run was interrupted, must not take the others' words with it."""
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
    """Pictures as files, since that is what these classes open: the original bytes, once for each
    digest, in a folder that goes with `close`. Threads may call it."""

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None
        self._known: dict[str, Image] = {}
        self._lock = Lock()

    def path(self, image: Image) -> str:
        """The file of a picture."""
        image = images.load(image)
        assert isinstance(image.source, bytes) and image.digest and image.mime
        ending = ENDINGS.get(image.mime) or mimetypes.guess_extension(image.mime) or ""
        with self._lock:
            if self._folder is None:
                self._folder = TemporaryDirectory(prefix="snellen-")
            path = Path(self._folder.name, image.digest.partition(":")[2] + ending)
            if str(path) not in self._known:
                path.write_bytes(image.source)
                self._known[str(path)] = Image(path, place=image.place)
        return str(path)

    def image(self, path: str) -> Image:
        """The picture of a file, by the name that the benchmark has for it if it is one of ours."""
        return self._known.get(path) or Image(Path(path), place=path)

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()


# -- messages


def ours(
    said: object, image: Callable[[str], Image] | None = None, where: str = "a part of the prompt"
) -> tuple[Message, ...]:
    """Messages of ours of what a `build_prompt` gave; `image` makes one of a file's path.

    A text of a list, too, may be a picture by its form: see `media.forms`.

    Raises:
        ValueError: it is no such list. MediaError: a part is a picture that cannot be shown.
    """
    items = said if isinstance(said, list | tuple) else [said]
    if said is None or not items:
        raise ValueError(
            f"a prompt is a list of texts, or of objects with type and value: {said!r:.80}"
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
        raise ValueError(f"the role of a part is one of {', '.join(ROLES)}, not {role!r:.40}")
    return cast(Role, role)


def _known(part: Part, image: Callable[[str], Image] | None) -> Part:
    """A picture by the name that the benchmark has for it, if its file is one of ours."""
    if image is None or not isinstance(part, Image) or not isinstance(part.source, Path):
        return part
    return image(str(part.source))


def theirs(content: Sequence[Part], path: Callable[[Image], str]) -> list[dict[str, str]]:
    """A message's parts as its classes take them; the frames of a video that was decoded are
    pictures, one that was not is its file."""
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
