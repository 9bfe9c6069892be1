"""What a message is made of: text, images and videos, in the order in which the model gets them.

Media are references (a path, bytes, or a slice of a file) and are opened late, by `snellen.media`.
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
    """Part of a file: the picture in a cell of a table."""

    path: Path
    """The file."""
    offset: int
    """The first byte."""
    length: int
    """The number of bytes."""
    encoding: Literal["raw", "base64"] = "raw"
    """`raw`: the picture's bytes; `base64`: base64 text."""


@dataclass(frozen=True)
class Address:
    """The URL of a picture (`http://` or `https://`), which is not fetched yet."""

    url: str
    """The URL."""

    def __str__(self) -> str:
        """The address without user, password, query, and fragment, which may hold secrets."""
        return shown_address(self.url)


@dataclass(frozen=True)
class Image:
    """One image, by reference. `media.images.load` reads it."""

    source: Path | bytes | Slice | Address
    """A file, bytes, a part of a file, or a URL; after `load`, the bytes that a model gets."""
    label: str = ""
    """Its name in messages and in stored questions: a path as the data set writes it, or `row 3,
    image`. Default: derived from the source."""
    within: Path | None = None
    """The folder that a path may not leave; None: no limit."""
    digest: str | None = None
    """`sha256:<hex>` of the bytes that a model gets; None before `load`."""
    mime: str | None = None
    """The media type, such as `image/png`; None before `load`."""
    width: int | None = None
    """Pixels; None before `load`."""
    height: int | None = None
    """Pixels; None before `load`."""
    read_from: Path | Slice | Address | None = field(default=None, compare=False)
    """The source that `load` read; None before `load`, and for bytes."""
    original: Size | None = field(default=None, compare=False)
    """The width and height before scaling, of a frame those of its video; None if not scaled."""

    @property
    def size(self) -> Size | None:
        """Width and height in pixels as a model gets them; None before `load`."""
        width, height = self.width, self.height
        return None if width is None or height is None else (width, height)

    @property
    def original_size(self) -> Size | None:
        """Width and height in pixels as the data set has them; None before `load`."""
        return self.original or self.size


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One video frame. It holds nothing of the video's future."""

    time: float
    """Its time in the video, in seconds from the first frame."""
    image: Image
    """Its pixels."""


@dataclass(frozen=True)
class Video:
    """One video, by reference, with the window that a model may see."""

    source: Path
    """The file."""
    start: float = 0.0
    """The start of the window, in seconds from the first frame."""
    end: float | None = None
    """The end of the window in seconds; frames at this time and later are hidden. None: no end."""
    label: str = ""
    """Its name in messages and in stored questions; default: derived from the source."""
    within: Path | None = None
    """The folder that the path may not leave; None: no limit."""
    digest: str | None = None
    """`sha256:<hex>` of the file; None before `media.video.load`."""
    policy: str | None = None
    """Which frames of the window a model gets, and their size: see `media.video.policy`."""
    frames: tuple[Frame, ...] = ()
    """The frames that a model gets; empty before they are decoded."""

    @property
    def size(self) -> Size | None:
        """Width and height of its frames as a model gets them; None before they are decoded."""
        return self.frames[0].image.size if self.frames else None

    @property
    def original_size(self) -> Size | None:
        """Its own width and height, upright; None before its frames are decoded."""
        return self.frames[0].image.original_size if self.frames else None


class Text(str):
    """A part of a message that is text, though it looks like a picture's path or address."""

    __slots__ = ()


Part = str | Image | Video


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """One call of a tool that a model asks for."""

    id: str
    """Names the call; the tool's message repeats it."""
    name: str
    """The tool."""
    arguments: str
    """JSON text as the model wrote it, which may be none."""


@dataclass(frozen=True)
class Message:
    """One turn of a conversation: who speaks, and text and media in order."""

    role: Role
    """Who speaks."""
    content: tuple[Part, ...]
    """Text and media in order."""
    call_id: str | None = field(default=None, kw_only=True)
    """The call that a message of the role `tool` answers; None for other roles."""
    tool_calls: tuple[ToolCall, ...] = field(default=(), kw_only=True)
    """The calls that an assistant's message asks for."""

    @property
    def has_tools(self) -> bool:
        """Whether it is of a tool, or calls one."""
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
