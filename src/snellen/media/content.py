"""Messages and their parts: text, images, and videos, in the order in which the model gets them.

Images and videos are references (a path, bytes, a slice of a file, or a URL). Other modules of
`snellen.media` open images and videos when needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from snellen.errors import shown_address

Size = tuple[int, int]
"""Width and height in pixels."""
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Part of a file, such as the picture in a cell of a table."""

    path: Path
    """The path of the file."""
    offset: int
    """The offset of the first byte."""
    length: int
    """The number of bytes."""
    encoding: Literal["raw", "base64"] = "raw"
    """`raw` if the bytes are the picture itself; `base64` if the bytes are base64 text of the
    picture."""


@dataclass(frozen=True)
class Address:
    """The URL of a picture (`http://` or `https://`) that has not been fetched yet."""

    url: str
    """The URL."""

    def __str__(self) -> str:
        """The URL without user, password, query, and fragment, which may contain secrets."""
        return shown_address(self.url)


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """Which part of another picture a picture shows."""

    of: str
    """The digest of the other picture."""
    box: tuple[int, int, int, int]
    """The left, top, right, and bottom edges of the part, in pixels of the other picture as a
    person sees it (with its EXIF orientation applied)."""
    turns: int = 0
    """By how many quarter turns clockwise the part is rotated, from 0 to 3."""
    has_grid: bool = False
    """Whether lines with coordinates are drawn over the part."""


@dataclass(frozen=True)
class Image:
    """A reference to one image. `media.images.load` reads it."""

    source: Path | bytes | Slice | Address
    """The source of the image: a path, bytes, a part of a file, or a URL. After `load`, the bytes
    that a model gets."""
    label: str = ""
    """The name of the image in messages and in stored questions: the path in the data set, or text
    such as `row 3, image`. If empty, messages use the source."""
    within: Path | None = None
    """The folder that the path must not lead out of; None means that any path is allowed."""
    digest: str | None = None
    """`sha256:<hex>` of the bytes that a model gets; None before `load`."""
    mime: str | None = None
    """The media type, such as `image/png`; None before `load`."""
    width: int | None = None
    """The width in pixels; None before `load`."""
    height: int | None = None
    """The height in pixels; None before `load`."""
    read_from: Path | Slice | Address | None = field(default=None, compare=False)
    """The source that `load` read; None before `load`, or if the source was bytes."""
    original: Size | None = field(default=None, compare=False)
    """The width and height before scaling. For a frame, this is the size of the video. None if the
    image was not scaled."""
    excerpt: Excerpt | None = field(default=None, compare=False)
    """The part of another picture that the image shows; None for other images."""

    @property
    def size(self) -> Size | None:
        """The width and height of the image that a model gets, in pixels; None before `load`."""
        width, height = self.width, self.height
        return None if width is None or height is None else (width, height)

    @property
    def original_size(self) -> Size | None:
        """The width and height of the image in the data set, in pixels; None before `load`."""
        return self.original or self.size


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One video frame. It contains nothing from which a model could learn about later frames."""

    time: float
    """The time of the frame in the video, in seconds from the first frame."""
    image: Image
    """The encoded image of the frame."""


class Cue(NamedTuple):
    """One line of subtitles."""

    start: float
    """When the line appears, in seconds from the first frame."""
    end: float
    """When the line disappears, in seconds from the first frame."""
    text: str
    """The line."""


@dataclass(frozen=True)
class Video:
    """A reference to one video, with the window that a model may see."""

    source: Path
    """The path of the file."""
    start: float = 0.0
    """The start of the window, in seconds from the first frame."""
    end: float | None = None
    """The end of the window in seconds. Frames at or after the end are hidden. None means that the
    window ends with the video."""
    label: str = ""
    """The name of the video in messages and in stored questions. If empty, messages use the
    source."""
    within: Path | None = None
    """The folder that the path must not lead out of; None means that any path is allowed."""
    digest: str | None = None
    """`sha256:<hex>` of the file; None before `media.video.load`."""
    policy: str | None = None
    """The frame policy, which determines the frames of the window that a model gets, and their
    size. See `media.video.policy`."""
    frames: tuple[Frame, ...] = ()
    """The frames that a model gets; empty before decoding."""
    subtitles: tuple[Cue, ...] = ()
    """Subtitles between the frames, in chronological order, see `media.layout`; empty for
    no text between frames."""
    captions: tuple[str, ...] = ()
    """A text before each frame; empty if the frame policy decides. Captions replace the stamps of
    the frame policy."""

    @property
    def size(self) -> Size | None:
        """The width and height of the frames that a model gets; None before decoding."""
        return self.frames[0].image.size if self.frames else None

    @property
    def original_size(self) -> Size | None:
        """The width and height of the upright video; None before its frames are decoded."""
        return self.frames[0].image.original_size if self.frames else None


class Text(str):
    """Text in a message that is treated as text even if it looks like the path or URL of a
    picture."""

    __slots__ = ()


class TimedText(str):
    """Text that depends on the times of the frames that a model is shown, such as the subtitles at
    these times. As a string, it is the text for the case that the times are not known yet."""

    videos: tuple[Video, ...]
    """The videos, or the windows of a video, whose frames are shown."""
    write: Callable[[Sequence[float]], str]
    """Returns the text for the times of the frames of all videos, in order, in seconds."""

    def __new__(
        cls, text: str, videos: Sequence[Video], write: Callable[[Sequence[float]], str]
    ) -> TimedText:
        timed = super().__new__(cls, text)
        timed.videos = tuple(videos)
        timed.write = write
        return timed


Part = str | Image | Video


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A call to a tool, as requested by a model."""

    id: str
    """The id of the call. The message with the tool's reply has the same id."""
    name: str
    """The name of the tool."""
    arguments: str
    """The arguments as the model wrote them, which may not be valid JSON."""


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: Role
    """The role of the speaker."""
    content: tuple[Part, ...]
    """The text and media of the message, in order."""
    call_id: str | None = field(default=None, kw_only=True)
    """The id of the call that a message of the role `tool` answers; None for other roles."""
    tool_calls: tuple[ToolCall, ...] = field(default=(), kw_only=True)
    """The tool calls that a message of the role `assistant` requests."""
    continuation: str | None = field(default=None, kw_only=True)
    """What the service returned with a message of the role `assistant` to continue from it, as JSON
    text that only the back end reads; None if there is nothing."""

    @property
    def has_tools(self) -> bool:
        """Whether the message comes from a tool or requests tool calls."""
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
    """A message with the role `system`."""
    return Message("system", parts)


def user(*parts: Part) -> Message:
    """A message with the role `user`."""
    return Message("user", parts)


def assistant(*parts: Part) -> Message:
    """A message with the role `assistant`."""
    return Message("assistant", parts)


def tool(call_id: str, *parts: Part) -> Message:
    """A message with the role `tool`, which answers the call with this id."""
    return Message("tool", parts, call_id=call_id)
