"""A replica of a model in a worker of `executors.ray`. The replica reads the media of its requests.
This module does not depend on Ray. The processes exchange the dataclasses in this module, in
`core.model`, and in `media.content`. Processes send an error as a class name and a message, since
the class of a user's own error may not exist in the receiving process.
"""

from __future__ import annotations

import asyncio
import os
import platform
import socket
import traceback
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from snellen import __version__, errors
from snellen.core.layout import laid_out, with_sizes
from snellen.core.model import FrameSizes, Reply, Request, Shown
from snellen.core.outputs import check_ranking, check_reply
from snellen.errors import MediaError, Rejected, SnellenError, message_of
from snellen.media import images, video
from snellen.media.content import Frame, Image, Part, Video

MOST_BYTES = 300 << 20
"""The maximum total size, in bytes, of the encoded frames that a worker keeps for further questions
about the same videos."""


@dataclass(frozen=True, kw_only=True)
class Hello:
    """A worker's process, and the versions of its software."""

    snellen: str
    """The version of Snellen."""
    python: str
    """The version of Python."""
    node: str
    """The name of the machine."""
    pid: int
    """The process id."""

    @classmethod
    def here(cls) -> Hello:
        """Describe this process."""
        return cls(
            snellen=__version__,
            python=platform.python_version(),
            node=socket.gethostname(),
            pid=os.getpid(),
        )


@dataclass(frozen=True, kw_only=True)
class ReplicaInfo:
    """A description of a worker's model and its capabilities."""

    revision: str | None
    """The revision of the model."""
    concurrency: int | None
    """The maximum number of concurrent requests; None if unknown."""
    generates: bool
    """Whether the model generates replies."""
    ranks: bool
    """Whether the model ranks choices."""
    decodes: bool
    """Whether the worker decodes videos for the model."""
    takes_tools: bool = False
    """Whether the model supports tool calls."""
    takes_pictures_in_results: bool = False
    """Whether the results of tool calls may contain pictures."""
    takes_results: bool = True
    """Whether the results of tool calls are messages of their own. Otherwise, they are messages of
    the user."""
    speed: tuple[str, ...] = ()
    """The names of the settings that affect only the speed, not the replies."""
    runs_on: Mapping[str, Any] = field(default_factory=dict)
    """The software and the devices that the model runs on."""
    notes: tuple[str, ...] = ()
    """Notes about the model that results contain."""


@dataclass(frozen=True, kw_only=True)
class ReplicaRequest:
    """A request whose media are references to files."""

    request: Request
    """The request."""
    companions: tuple[Video, ...] = ()
    """All windows of the video that related questions ask about. These windows are decoded
    together."""


@dataclass(frozen=True, kw_only=True)
class ReplicaAnswer:
    """A reply from a worker's model."""

    reply: Reply
    """The model's reply."""
    shown: Shown | None = None
    """The times of the frames that the model was shown; None if the request has no video."""
    frame_sizes: FrameSizes | None = None
    """The sizes of the frames that the model was shown; None if the request has no video."""


@dataclass(frozen=True, kw_only=True)
class MediaMissing:
    """A worker's answer if it cannot read a picture or video on its machine."""

    reason: str
    """Why the picture or video cannot be read."""


@dataclass(frozen=True, kw_only=True)
class ReplicaFailure:
    """An error that a worker reports."""

    kind: str
    """The name of the error's class in `snellen.errors`."""
    message: str
    """The message."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The error's other attributes, such as `retry_after`."""

    @classmethod
    def of(cls, error: Exception, name: str) -> ReplicaFailure:
        if isinstance(error, SnellenError):
            kind = next(
                ancestor
                for ancestor in type(error).__mro__
                if ancestor.__module__ == errors.__name__
            )
            known = ("retry_after", "throttled", "hopeless")
            held = {key: value for key, value in vars(error).items() if key in known}
            return cls(kind=kind.__name__, message=message_of(error), fields=held)
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}, line {last.lineno}"
        message = f"{name}: {type(error).__name__}: {message_of(error)} ({where})"
        return cls(kind="SnellenError", message=message)

    def error(self) -> SnellenError:
        error: SnellenError = getattr(errors, self.kind)(self.message, **self.fields)
        return error


class Replica:
    """A replica of a model. Call `hello` first, then `open`, which returns a description of the
    model. While a request waits for the model, its media are read."""

    _room: AbstractAsyncContextManager[object] = nullcontext()

    def hello(self) -> Hello:
        return Hello.here()

    def open(
        self, spec: str, opening: Callable[[], Any], folder: str
    ) -> ReplicaInfo | ReplicaFailure:
        """Open the model with `opening`, which returns a `registry.Opened`. If the path `folder`
        exists on this machine, it becomes the current folder."""
        try:
            os.chdir(folder)
            there = ""
        except OSError as error:
            there = f" The folder {folder} cannot be used there ({error.strerror})."
        self._name = spec
        self._threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        try:
            opened = opening()
        except SnellenError as error:
            where = f"on {socket.gethostname()}"
            return replace(ReplicaFailure.of(error, spec), message=f"{where}: {error}{there}")
        except Exception as error:  # opening a model may run the user's code
            return ReplicaFailure.of(error, spec)
        self._model = opened.model
        self._films = Films(max(1, min(4, self._threads // 2)))
        self._decodes = getattr(opened.model, "wants_frames", True)
        if opened.concurrency is not None:
            self._room = asyncio.Semaphore(opened.concurrency)
        return ReplicaInfo(
            revision=opened.revision,
            concurrency=opened.concurrency,
            generates=hasattr(opened.model, "generate"),
            ranks=hasattr(opened.model, "rank"),
            takes_tools=getattr(opened.model, "takes_tools", False),
            takes_pictures_in_results=getattr(opened.model, "takes_pictures_in_results", False),
            takes_results=getattr(opened.model, "takes_results", True),
            decodes=self._decodes,
            speed=tuple(opened.speed),
            runs_on=dict(opened.runs_on),
            notes=tuple(getattr(opened.model, "notes", ())),
        )

    async def generate(self, sent: ReplicaRequest) -> ReplicaAnswer | MediaMissing | ReplicaFailure:
        async def answer(request: Request) -> Reply:
            # Convert to plain values, since the other process does not have a user's classes.
            reply = check_reply(await self._model.generate(laid_out(request)), self._name)
            return with_sizes(reply, request)

        return await self._answered(sent, answer)

    async def rank(self, sent: ReplicaRequest) -> ReplicaAnswer | MediaMissing | ReplicaFailure:
        async def answer(request: Request) -> Reply:
            ranking = check_ranking(await self._model.rank(laid_out(request)), request, self._name)
            return with_sizes(Reply(choices=tuple(ranking), sizes=ranking.sizes), request)

        return await self._answered(sent, answer)

    async def close(self) -> None:
        if close := getattr(self._model, "close", None):
            await close()

    async def _answered(
        self, sent: ReplicaRequest, answer: Callable[[Request], Awaitable[Reply]]
    ) -> ReplicaAnswer | MediaMissing | ReplicaFailure:
        try:
            request = await self._there(sent)
            if isinstance(request, MediaMissing):
                return request
            async with self._room:
                reply = await answer(request)
        except Exception as error:  # the other process has only Snellen's error classes
            return ReplicaFailure.of(error, self._name)
        videos = [film for message in request.messages for film in message.videos]
        if not videos:
            return ReplicaAnswer(reply=reply)
        return ReplicaAnswer(
            reply=reply,
            shown=tuple(tuple(frame.time for frame in film.frames) for film in videos),
            frame_sizes=tuple(
                (film.size, film.original_size) if film.size and film.original_size else None
                for film in videos
            ),
        )

    async def _there(self, sent: ReplicaRequest) -> Request | MediaMissing:
        """Read the media of a request on this machine, and check their digests.

        Raises:
            Rejected: a picture or video differs from the file on the sender's machine.
            MediaError: a video cannot be decoded.
        """
        messages = []
        for message in sent.request.messages:
            parts: list[Part] = []
            for part in message.content:
                if not isinstance(part, str):
                    try:
                        medium = await self._load(part)
                    except MediaError as error:
                        return MediaMissing(reason=str(error))
                    if part.digest not in (None, medium.digest):
                        raise Rejected(_another(part))
                    part = medium
                if isinstance(part, Video) and self._decodes and not part.frames:
                    part = await self._films.shown(part, sent.companions)
                parts.append(part)
            messages.append(replace(message, content=tuple(parts)))
        return replace(sent.request, messages=tuple(messages))

    async def _load(self, part: Image | Video) -> Image | Video:
        if isinstance(part, Video):
            if part.frames:
                return part
            return await asyncio.to_thread(video.load, replace(part, digest=None))
        if isinstance(part.source, bytes):
            return part
        return replace(images.load(replace(part, digest=None)), label=part.label)


def _another(medium: Image | Video) -> str:
    name = medium.label or (str(medium.source) if isinstance(medium.source, Path) else "a picture")
    return (
        f"{name} on {socket.gethostname()} differs from the file on the machine where the run was "
        "started. Give every node the same files, or remove this file, so that its bytes are sent."
    )


class Films:
    """Decodes videos in the replica's process. All windows of a video that a group of questions
    needs are decoded in a single pass. Frames are kept for later questions, up to `MOST_BYTES`
    bytes in all."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, "decode")
        self._frames: OrderedDict[Video, asyncio.Future[tuple[Frame, ...]]] = OrderedDict()
        self._held: dict[Video, int] = {}
        self.passes = 0

    async def shown(self, clip: Video, companions: Sequence[Video]) -> Video:
        """Add the frames to a video.

        Raises:
            MediaError: the video cannot be decoded.
            UsageError: the extra for videos is not installed.
        """
        key = _bare(clip)
        if key not in self._frames:
            loop = asyncio.get_running_loop()
            same = (_bare(window) for window in companions if window.source == clip.source)
            windows = [
                window for window in dict.fromkeys((key, *same)) if window not in self._frames
            ]
            self._frames.update((window, loop.create_future()) for window in windows)
            self.passes += 1
            loop.run_in_executor(self._threads, self._decode, windows, loop)
        self._frames.move_to_end(key)
        return replace(clip, frames=await asyncio.shield(self._frames[key]))

    def _decode(self, windows: Sequence[Video], loop: asyncio.AbstractEventLoop) -> None:
        wanted = [
            video.Window(start=window.start, end=window.end, policy=window.policy or video.DEFAULT)
            for window in windows
        ]
        frames: tuple[Frame, ...] | Exception
        try:
            for number, frames in video.decoded(windows[0], wanted):
                loop.call_soon_threadsafe(self._tell, windows[number], frames)
        except Exception as error:  # every waiting question gets this error
            for window in windows:
                loop.call_soon_threadsafe(self._tell, window, error)

    def _tell(self, window: Video, frames: tuple[Frame, ...] | Exception) -> None:
        future = self._frames.get(window)
        if future is None or future.done():
            return
        if isinstance(frames, Exception):
            future.set_exception(frames)
            future.exception()  # avoids a warning if nothing waits for this future
            return
        future.set_result(frames)
        sources = (frame.image.source for frame in frames)
        self._held[window] = sum(len(source) for source in sources if isinstance(source, bytes))
        for other in [*self._frames]:
            if sum(self._held.values()) <= MOST_BYTES:
                break
            if other is not window and self._frames[other].done():
                del self._frames[other]
                self._held.pop(other, None)


def _bare(clip: Video) -> Video:
    return replace(clip, digest=None, frames=(), subtitles=(), captions=())
