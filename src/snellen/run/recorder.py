"""Writes questions and replies to a run's folder, and looks up those that are already stored.

The keys of questions and replies are created only in this file.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from msgspec import UNSET
from msgspec.structs import replace

from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply, Request, request_digest
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.errors import DataError, MediaError, ModelError, message_of
from snellen.media.content import Image, Slice, Video
from snellen.store import (
    FORMAT,
    Ending,
    EventRecord,
    Failure,
    Key,
    Question,
    ReplyRecord,
    Run,
    SeenMedia,
    SessionCallFields,
    ShownMedia,
    StreamedFields,
    WindowRecord,
    reply_record,
    seen_media,
    shown_media,
    stored_tools,
)

OwnMedia = list[ShownMedia] | None
"""The stored form of a sample's own media; None if the sample's first turn shows exactly these
media."""


# `Prepared` and `Turn` are not frozen, because there is one for each request, and frozen instances
# take several times as long to create.
@dataclass(slots=True, kw_only=True)
class Prepared:
    """A request that is ready to be sent, or that cannot be sent because of an error."""

    worded: Request
    """The request with the benchmark's prompt, before its media are read."""
    shown: Request
    """The same request after its media have been read, as far as possible."""
    request: Request
    """The request that the model gets: `shown`, or a request with the model's own prompt."""
    error: MediaError | ModelError | None = None
    """Why the request cannot be sent; None if it can."""


@dataclass(slots=True)
class Turn:
    """A question with the key of its records."""

    key: Key
    """The key of the records."""
    request: Request
    """The question."""
    digest: str = ""
    """The digest of the request; empty if it was not computed."""
    media: list[SeenMedia] = field(default_factory=list)
    """The media shown to the model, if they are stored with the reply."""
    replayed: bool = False
    """Whether the reply is already stored, so that the question is asked again only to rebuild a
    session."""
    max_tokens: int | None = None
    """The token limit of the request; None: the run's limit."""
    cut_at: int | None = None
    """The token limit at which the earlier reply was truncated, if the question is asked again with
    more tokens."""
    attempts: int = 0
    """The number of attempts that the earlier reply took."""
    ending: Callable[[Reply], Ending | None] | None = None
    """How the turn ends with a reply to this request, in a run with tools; None in other runs."""


class Recorder:
    """Reads and writes a run's folder (loaded, locked) for the code that asks questions."""

    def __init__(self, run: Run, benchmark: Benchmark, *, own_prompt: bool = False) -> None:
        self._run = run
        self._benchmark = benchmark
        self._own_prompt = own_prompt
        self._kind: Literal["reply", "rank"] = (
            "rank" if benchmark.procedure.kind == "rank" else "reply"
        )

    def key(self, sample: Sample, repeat: int, turn: int = 0, step: int = 0) -> Key:
        return Key(sample.id, repeat, turn, step)

    # -- reading

    def repeats_finished(self, row: Row) -> int:
        """The number of repeats of a row that have a reply. The row must have a single turn."""
        return self._run.finished_at(row.position)

    def finished_rows(self, repeats: int) -> set[int]:
        """The rows of which at least this many repeats have a reply. The rows must have a single
        turn."""
        return self._run.finished_rows(repeats)

    def has_reply(self, key: Key) -> bool:
        return self._run.has_reply(key)

    def has_question(self, row: Row, key: Key) -> bool:
        """Whether the question of a stored reply is also stored. The question may have been lost in
        a power failure.

        Raises:
            DataError: the question belongs to another row.
        """
        if self._run.lacks_question(key):
            return False
        self._check_row(row, key)
        return True

    def stored_record(self, key: Key) -> ReplyRecord | None:
        """The latest record of a key, which may be a failure; None if there is no record."""
        return self._run.final(key)

    def stored_reply(self, key: Key) -> Reply:
        record = self._run.final(key)
        assert record is not None
        return record.as_reply()

    def windows(self) -> Iterator[WindowRecord]:
        """Yield the records of finished windows, in order."""
        return self._run.windows()

    # -- writing

    def write_question(self, row: Row, sample: Sample, key: Key, prepared: Prepared) -> bool:
        """Write the question's record if it does not exist yet. Returns whether it was written.

        Raises:
            DataError: two rows have the same id.
        """
        for medium in media_of(prepared.shown):
            if (path := file_of(medium)) is not None:
                self._run.media_stamps.note(path)
        if self._run.was_rendered(key):
            self._check_row(row, key)
            return False
        own = self._own_media(sample, prepared) if key.is_first else None
        self._run.append_question(question_record(row, sample, key, prepared.request, own))
        return True

    def turn(self, key: Key, request: Request, *, with_media: bool = True) -> Turn:
        """Create the turn for a request that is ready to be sent."""
        media = _seen_media(request) if with_media else []
        return Turn(key, request, request_digest(request), media)

    def write_reply(
        self, turn: Turn, reply: Reply, attempt: int = 1, *, reused: str | None = None
    ) -> None:
        """Store a reply. `reused` is the folder of the run from which the reply was taken; None for
        a new reply."""
        media = _as_shown(turn.media, turn.request, reply)
        self._append(
            turn,
            reply=reply,
            kind=self._kind,
            attempt=attempt,
            media=media,
            reused=reused,
            ended=None if turn.ending is None else turn.ending(reply),
        )

    def write_failure(self, turn: Turn, error: ModelError | MediaError, attempt: int = 1) -> None:
        failure = Failure(type=type(error).__name__, message=message_of(error))
        self._append(turn, error=failure, attempt=attempt, media=turn.media)

    def _append(self, turn: Turn, **outcome: Any) -> None:
        outcome["attempt"] = turn.attempts + outcome["attempt"]
        record = reply_record(turn.key, turn.digest, _now(), **outcome)
        if turn.max_tokens is not None:
            record = replace(record, max_tokens=turn.max_tokens, cut_at=turn.cut_at)
        self._run.append_reply(record)

    def write_end(self, sample: Sample, repeat: int, turns: int) -> None:
        """Record that a conversation ended after this number of turns."""
        self._run.append_end(sample.id, repeat, turns, _now())

    def write_window(
        self,
        key: Key,
        *,
        samples: Sequence[str],
        until: float,
        clock: float,
        before: int,
        calls: Sequence[SessionCallFields],
        streamed: StreamedFields | None,
    ) -> None:
        """Record that a window of a session is finished. The arguments are fields of the record."""
        self._run.append_window(
            WindowRecord(
                format=FORMAT,
                key=key,
                at=_now(),
                samples=[*samples],
                until=until,
                clock=clock,
                before=before,
                calls=[*calls],
                streamed=UNSET if streamed is None else streamed,
            )
        )

    def write_event(self, event: EventRecord) -> None:
        self._run.append_event(event)

    def flush(self) -> None:
        self._run.folder.flush()

    async def flush_every_second(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(1.0)
            await loop.run_in_executor(None, self.flush)

    def _check_row(self, row: Row, key: Key) -> None:
        """Check that a first turn that is already stored belongs to this row, not to another row.

        Raises:
            DataError: two rows have the same id.
        """
        if key.is_first and not self._run.has_row(row.position):
            raise DataError(
                f"{self._benchmark.name}: row {row.position + 1} of "
                f"{self._benchmark.data.where} has the id {key.sample!r} of an earlier row. Ids "
                "must be unique: give each row its own. Replies so far are kept."
            )

    def _own_media(self, sample: Sample, prepared: Prepared) -> OwnMedia:
        shown = [*media_of(prepared.worded)]
        same = len(shown) == len(sample.media) and all(map(_is_same, shown, sample.media))
        if same and not self._own_prompt:
            return None
        read = dict(zip(map(id, shown), media_of(prepared.shown), strict=True))
        return [shown_media(read.get(id(medium), medium)) for medium in sample.media]


def question_record(
    row: Row, sample: Sample, key: Key, request: Request, own: OwnMedia
) -> Question:
    media: list[ShownMedia] = []
    messages: list[tuple[str, list[str | int]]] = []
    for message in request.messages:
        parts: list[str | int] = []
        for part in message.content:
            if isinstance(part, str):
                parts.append(part)
            else:
                parts.append(len(media))
                media.append(shown_media(part))
        messages.append((message.role, parts))
    return Question(
        format=FORMAT,
        key=key,
        place=row.position,
        row=row.digest,
        question=sample.question,
        messages=messages,
        tools=stored_tools(request.messages),
        media=media,
        sample_media=own,
        choices=list(sample.choices),
        target=sample.target,
        references=list(sample.references),
        tags=dict(sample.tags),
        data=dict(sample.data),
    )


def media_of(request: Request) -> Iterator[Image | Video]:
    """The pictures and videos of a request, in order."""
    for message in request.messages:
        for part in message.content:
            if not isinstance(part, str):
                yield part


def file_of(medium: Image | Video) -> str | None:
    """The path of the file that has a picture or video; None if it is not in a file of its own or
    in a table's file."""
    source: object = medium.source
    if isinstance(medium, Image):
        source = medium.read_from or source
    if isinstance(source, Slice):
        source = source.path
    return str(source) if isinstance(source, Path) else None


def _is_same(shown: Image | Video, own: Image | Video) -> bool:
    """Whether a medium in a prompt is one of the sample's own media. The frame policy of a video
    may differ, since the prompt sets it."""
    if isinstance(shown, Video) and isinstance(own, Video):
        return (shown.source, shown.start, shown.end) == (own.source, own.start, own.end)
    return shown is own


def _seen_media(request: Request) -> list[SeenMedia]:
    return [seen_media(medium) for medium in media_of(request) if medium.digest is not None]


def _as_shown(media: list[SeenMedia], request: Request, reply: Reply) -> list[SeenMedia]:
    """Add what the back end reports about the media: the times and sizes of frames that it decoded
    itself, and the sizes of pictures that it scaled."""
    if reply.sizes is not None:
        media = media or _seen_media(request)
    if not media or (reply.shown is None and reply.sizes is None):
        return media
    times, sizes = iter(reply.shown or ()), iter(reply.sizes or ())
    frame_sizes = iter(reply.frame_sizes or ())
    seen_as_shown = []
    for seen, medium in zip(media, media_of(request), strict=True):
        if isinstance(medium, Video):
            frames = seen.frames if reply.shown is None else next(times, ())
            size, original = next(frame_sizes, None) or (None, None)
            seen_as_shown.append(seen_media(medium, times=frames, size=size, original=original))
        else:
            seen_as_shown.append(seen_media(medium, size=next(sizes, None)))
    return seen_as_shown


def _now() -> str:
    now = time.time()
    return f"{_second(int(now))}.{int(now % 1 * 1000):03d}Z"


@lru_cache(maxsize=1)
def _second(now: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
