"""The lines of a run folder's files.

Readers accept every older `format`, keep kinds and fields that they do not know, and refuse a newer
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from snellen.core.answer import Answer
from snellen.core.model import Ranked, Reply, ReplyState, Times, Usage
from snellen.media.content import Image, Message, Size, ToolCall, Video
from snellen.store.formats import FORMAT, NEWEST, Count, RowIndex
from snellen.store.key import AnyKey, Key


class UsageFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens, as the server counted them."""

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cached: int | None = None


class TimesFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Seconds to the first byte and to the end of the reply."""

    first: float | None = None
    total: float | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why there is no reply: the class of the error and its words."""

    type: str
    message: str


class SeenMedia(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One medium as the model got it; `frames` are a video's exact frame times in seconds."""

    digest: str
    frames: list[float] = []
    width: Count | None = None
    height: Count | None = None
    """Pixels as the model got it, of a video those of a frame; absent where they are those of the
    question's row, or are not known."""
    original: Size | None = None
    """Width and height before it was scaled; absent where it was not."""


class ToolCallFields(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a tool that a model asks for."""

    id: str
    """What the tool's message names it by."""
    name: str
    """The tool."""
    arguments: str
    """JSON text, as the model wrote it."""


class ToolFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a message of a question says of tools."""

    message: Count
    """The number of the message among the question's messages."""
    call_id: str | None = None
    """The id of the call that a tool's message answers."""
    calls: list[ToolCallFields] = []
    """The calls that the model asked for in its message."""


class ReplyRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One attempt's outcome, a line of `replies*.jsonl`. No `media`: they were those of the key's
    row in `questions.jsonl`. `reused` is the folder of the run that the reply was taken from."""

    format: int
    key: Key
    kind: Literal["reply", "rank"]
    request: str
    state: ReplyState
    at: str
    attempt: int = 1
    reply: str = ""
    reasoning: str | None = None
    stop: str | None = None
    usage: UsageFields | None = None
    times: TimesFields | None = None
    choices: list[tuple[float, int]] = []
    error: Failure | None = None
    media: list[SeenMedia] = []
    session: str | None = None
    reused: str | None = None
    tool_calls: list[ToolCallFields] = []

    @property
    def least_format(self) -> int:
        """The least format that a reader of this line must know."""
        return NEWEST if len(self.key) > 3 or self.tool_calls else FORMAT

    def as_reply(self) -> Reply:
        """The reply as scorings read it."""
        return Reply(
            text=self.reply,
            reasoning=self.reasoning,
            stop=self.stop,
            usage=None
            if self.usage is None
            else Usage(
                input=self.usage.input,
                output=self.usage.output,
                reasoning=self.usage.reasoning,
                cached=self.usage.cached,
            ),
            times=None
            if self.times is None
            else Times(first=self.times.first, total=self.times.total),
            choices=tuple(Ranked(*choice) for choice in self.choices),
            tool_calls=tuple(
                ToolCall(id=call.id, name=call.name, arguments=call.arguments)
                for call in self.tool_calls
            ),
        )


class EndRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Says that a conversation is over, a line of the journal: the prompt gives no turn `key[2]`
    behind those that were asked."""

    format: int
    key: Key
    at: str
    kind: Literal["end"] = "end"

    @property
    def least_format(self) -> int:
        """The least format that a reader of this line must know."""
        return NEWEST if len(self.key) > 3 else FORMAT


def _utf8(text: str) -> str:
    """The text, with `?` for halves of surrogate pairs: they have no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text


def reply_record(
    key: AnyKey,
    request: str,
    at: str,
    *,
    reply: Reply | None = None,
    error: Failure | None = None,
    kind: Literal["reply", "rank"] = "reply",
    attempt: int = 1,
    media: list[SeenMedia] | None = None,
    reused: str | None = None,
) -> ReplyRecord:
    """The record of one attempt: what came, or why nothing did."""
    if reply is None:
        return ReplyRecord(
            format=FORMAT,
            key=Key.of(key),
            kind=kind,
            request=request,
            state="failed",
            at=at,
            attempt=attempt,
            error=error,
            media=media or [],
        )
    usage, times = reply.usage, reply.times
    return ReplyRecord(
        format=FORMAT,
        key=Key.of(key),
        kind=kind,
        request=request,
        state=reply.state,
        at=at,
        attempt=attempt,
        reply=_utf8(reply.text),
        reasoning=None if reply.reasoning is None else _utf8(reply.reasoning),
        stop=reply.stop,
        usage=None
        if usage is None
        else UsageFields(
            input=usage.input, output=usage.output, reasoning=usage.reasoning, cached=usage.cached
        ),
        times=None
        if times is None
        else TimesFields(
            first=None if times.first is None else round(times.first, 4),
            total=None if times.total is None else round(times.total, 4),
        ),
        choices=[(choice.logprob, choice.tokens) for choice in reply.choices],
        media=media or [],
        reused=reused,
        tool_calls=stored_calls(reply.tool_calls),
    )


def stored_tools(messages: Sequence[Message]) -> list[ToolFields]:
    """What messages say of tools as it is stored."""
    return [
        ToolFields(message=number, call_id=message.call_id, calls=stored_calls(message.tool_calls))
        for number, message in enumerate(messages)
        if message.has_tools
    ]


def stored_calls(calls: Sequence[ToolCall]) -> list[ToolCallFields]:
    """Calls of tools as they are stored."""
    return [
        ToolCallFields(id=_utf8(call.id), name=_utf8(call.name), arguments=_utf8(call.arguments))
        for call in calls
    ]


class ShownMedia(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One medium of a question: its digest, and where it lay; of a video the window that may be
    seen (seconds), the frame policy, and its own width and height, once they are known."""

    kind: Literal["image", "video"]
    place: str
    digest: str | None = None
    mime: str | None = None
    width: int | None = None
    height: int | None = None
    start: float | None = None
    end: float | None = None
    policy: str | None = None
    original: Size | None = None
    """Width and height before it was scaled; absent where it was not."""


def shown_media(medium: Image | Video) -> ShownMedia:
    """A medium of a question as it is stored."""
    path = medium.label or (str(medium.source) if not isinstance(medium.source, bytes) else "")
    if isinstance(medium, Video):
        width, height = medium.original_size or (None, None)
        return ShownMedia(
            kind="video",
            place=path,
            digest=medium.digest,
            width=width,
            height=height,
            start=medium.start,
            end=medium.end,
            policy=medium.policy,
        )
    return ShownMedia(
        kind="image",
        place=path,
        digest=medium.digest,
        mime=medium.mime,
        width=medium.width,
        height=medium.height,
        original=medium.original,
    )


def seen_media(
    medium: Image | Video,
    *,
    times: Sequence[float] | None = None,
    size: Size | None = None,
    original: Size | None = None,
) -> SeenMedia:
    """A medium as a model got it, which has a digest; `times` of the frames, `size`, and `original`
    size where its back end says them."""
    assert medium.digest is not None
    frames: Sequence[float] = ()
    if isinstance(medium, Video):
        frames = [frame.time for frame in medium.frames] if times is None else times
        size = size or medium.size
    elif size == medium.size:
        size = None
    original = original or medium.original_size
    width, height = size or (None, None)
    return SeenMedia(
        digest=medium.digest,
        frames=[*frames],
        width=width,
        height=height,
        original=original if size is not None and original != size else None,
    )


class Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was asked under one key, a line of `questions.jsonl`; enough to score without the data
    set.

    `messages` is the rendered text: (role, parts), a part being text or the number of a medium in
    `media`. `tools` has what messages say of tool calls.
    `row` is the digest of the data set's row and `place` its number among all rows.
    `sample_media` are the sample's own media where the messages do not show just these, in their
    order: with examples before the question, under a probe, in the first of several turns.
    """

    format: int
    key: Key
    place: RowIndex
    row: str
    question: str
    messages: list[tuple[str, list[str | int]]]
    tools: list[ToolFields] = []
    media: list[ShownMedia] = []
    sample_media: list[ShownMedia] | None = None
    choices: list[str] = []
    target: str | None = None
    references: list[str] = []
    tags: dict[str, str] = {}
    data: dict[str, Any] = {}

    @property
    def least_format(self) -> int:
        """The least format that a reader of this line must know."""
        return NEWEST if len(self.key) > 3 or self.tools else FORMAT


class EventRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One frame, emission or question of an online run, a line of `events*.jsonl`."""

    format: int
    session: str
    seq: int
    ev: str
    data: dict[str, Any] = {}


class ScoreRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one scoring made of one (sample, repeat), a line of `scores.jsonl`; derived. `step` is
    set where it is of a step and not of the last reply."""

    format: int
    sample: str
    repeat: int
    step: Count = 0
    scoring: str
    version: int
    state: Literal["answered", "guessed", "unparsed", "not-judged", "no-target", "no-reply"]
    reply: ReplyState | Literal["absent"]
    score: float | None = None
    answer: Answer | None = None
    rule: str = ""
    candidates: list[Answer] = []
    parts: dict[str, float] = {}
    """The score of each part, by its name; empty where the score is a single number."""

    @property
    def least_format(self) -> int:
        """The least format that a reader of this line must know."""
        return NEWEST if self.step else FORMAT


class LabelRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person says that one reply is worth, in the unit of its scoring, a line of
    `labels.jsonl`: None where the sheet was left blank. Without `scoring` it is for all that have a
    judge; without `rater` for one whom nobody named. `seed` is that of the drawn sheet."""

    format: int
    sample: str
    label: float | None
    repeat: int = 0
    scoring: str | None = None
    rater: str | None = None
    seed: str | None = None


class Unknown(msgspec.Struct, frozen=True):
    """A line of a kind that this version does not know, kept as it is."""

    kind: str
    line: bytes


def key_hook(kind: type, value: Any) -> Any:
    """Make what a decoder cannot make by itself: keys."""
    if kind is Key and isinstance(value, list):
        return Key.of(value)
    raise ValueError(f"{value!r:.80} is no {kind.__name__}")
