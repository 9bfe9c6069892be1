"""The parts of a message: text, images and videos, in the order in which the model gets them.

Media are references (a path, bytes, or a slice of a file). `snellen.media` opens them on use.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from snellen.errors import shown_address

Size = tuple[int, int]
"""Width and height in pixels."""
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Bytes inside a larger file: a cell of a row.

    `encoding` says how the picture is stored: as raw bytes or as base64 text.
    """

    path: Path
    offset: int
    length: int
    encoding: Literal["raw", "base64"] = "raw"


@dataclass(frozen=True)
class Address:
    """The URL of a picture (`http://` or `https://`) that is not fetched yet."""

    url: str

    def __str__(self) -> str:
        """The URL without user, password, query, and fragment, which may hold secrets."""
        return shown_address(self.url)


@dataclass(frozen=True)
class Image:
    """One image, by reference.

    `place` is its name for people (a path as in the data set, or `row 3, image`). It appears in
    messages and is stored. `within` is a folder that a path may not leave. `media.images.load`
    fills in the other fields: `source` becomes the bytes as a model gets them, `digest` is
    `sha256:<hex>` of those bytes, `width` and `height` are pixels, and `read_from` is the original
    source if that was not bytes.
    """

    source: Path | bytes | Slice | Address
    place: str = ""
    within: Path | None = None
    digest: str | None = None
    mime: str | None = None
    width: int | None = None
    height: int | None = None
    read_from: Path | Slice | Address | None = field(default=None, compare=False)
    original: Size | None = field(default=None, compare=False)
    """The size before scaling (for a frame, the size of its video). None if it was not scaled."""

    @property
    def size(self) -> Size | None:
        """Width and height as a model gets them, once they are known."""
        width, height = self.width, self.height
        return None if width is None or height is None else (width, height)

    @property
    def original_size(self) -> Size | None:
        """Width and height as the data set has them, once they are known."""
        return self.original or self.size


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One video frame: its media time in seconds and its pixels."""

    time: float
    image: Image


@dataclass(frozen=True)
class Video:
    """One video, by reference, with its visible window: frames from `start` on and before `end`
    (None: to the last), in seconds from the first frame.

    `policy` says which frames of the window a model is shown, and how large: see
    `media.video.policy`. `media.video.load` sets `digest`, `sha256:<hex>` of all bytes. Decoding
    sets `frames`.
    """

    source: Path
    start: float = 0.0
    end: float | None = None
    place: str = ""
    within: Path | None = None
    digest: str | None = None
    policy: str | None = None
    frames: tuple[Frame, ...] = ()

    @property
    def size(self) -> Size | None:
        """Width and height of its frames as a model gets them; None before they are decoded."""
        return self.frames[0].image.size if self.frames else None

    @property
    def original_size(self) -> Size | None:
        """Its own width and height, upright; None before its frames are decoded."""
        return self.frames[0].image.original_size if self.frames else None


class Text(str):
    """A text part of a message, even if it looks like a picture's path or URL."""

    __slots__ = ()


Part = str | Image | Video


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """One call of a tool that a model asks for."""

    id: str
    """The id of the call. The tool's message repeats it."""
    name: str
    """The name of the tool."""
    arguments: str
    """The model's JSON text, unchanged. It may be invalid."""


@dataclass(frozen=True)
class Message:
    """One turn of a conversation: the speaker, and text and media in order."""

    role: Role
    """The speaker."""
    content: tuple[Part, ...]
    """Text and media in order."""
    call_id: str | None = field(default=None, kw_only=True)
    """The call that a message of the role `tool` answers; None for other roles."""
    tool_calls: tuple[ToolCall, ...] = field(default=(), kw_only=True)
    """The tool calls in an assistant's message."""

    @property
    def has_tools(self) -> bool:
        """Whether the message comes from a tool or calls one."""
        return self.role == "tool" or bool(self.tool_calls)

    @property
    def text(self) -> str:
        """The text parts, joined by newlines."""
        return "\n".join(part for part in self.content if isinstance(part, str))

    @property
    def images(self) -> tuple[Image, ...]:
        """The images, and the frames of videos, in order."""
        images: list[Image] = []
        for part in self.content:
            if isinstance(part, Image):
                images.append(part)
            elif isinstance(part, Video):
                images += (frame.image for frame in part.frames)
        return tuple(images)

    @property
    def videos(self) -> tuple[Video, ...]:
        """The videos, in order."""
        return tuple(part for part in self.content if isinstance(part, Video))


def system(*parts: Part) -> Message:
    """A message of the system."""
    return Message("system", parts)


def user(*parts: Part) -> Message:
    """A message of the user."""
    return Message("user", parts)


def assistant(*parts: Part) -> Message:
    """A message of the model."""
    return Message("assistant", parts)


def tool(call_id: str, *parts: Part) -> Message:
    """A message of the tool that was called by this id."""
    return Message("tool", parts, call_id=call_id)
