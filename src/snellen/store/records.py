"""Defines the records that are stored as lines in the files of a run folder.

Readers accept every older `format`, keep unknown kinds and fields, and reject a newer `format`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from snellen.core.answer import Answer
from snellen.core.model import Ranked, Reply, ReplyState, Sizes, Step, Times, Usage
from snellen.core.tools import ToolResult
from snellen.media.content import Excerpt, Image, Message, Size, ToolCall, Video
from snellen.store.formats import FORMAT, NEWEST, Count, RowIndex
from snellen.store.key import AnyKey, Key


class UsageFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Token counts, as reported by the server; absent if the server did not report them."""

    input: int | None = None
    """Tokens of the request."""
    output: int | None = None
    """Tokens of the reply, including reasoning."""
    reasoning: int | None = None
    """The tokens of `output` that are reasoning."""
    cached: int | None = None
    """The tokens of `input` that were cached."""


class TimesFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The duration of a request, in seconds."""

    first: float | None = None
    """The time until the first byte of the reply."""
    token: float | None = None
    """The time until the first text or reasoning of a streamed reply; absent if the reply was not
    streamed."""
    total: float | None = None
    """The time until the end of the reply."""


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why there is no reply."""

    type: str
    """The name of the error's class."""
    message: str
    """Its message."""


class SeenMedia(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A picture or video, as the model received it."""

    digest: str
    """The digest of the picture's or video's bytes, `sha256:<hex>`."""
    frames: list[float] = []
    """The times of a video's frames, in seconds."""
    width: Count | None = None
    """The width in pixels of the picture, or of a video's frames, as the model received them.
    Absent if the width is unknown, or the same as in the question's row."""
    height: Count | None = None
    """The height in pixels of the picture, or of a video's frames, as the model received them.
    Absent in the same cases as the width."""
    original: Size | None = None
    """The width and height in pixels before scaling; absent if the picture was not scaled."""


class ToolCallFields(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call that a model requested."""

    id: str
    """The id by which the message with the tool's result refers to this call."""
    name: str
    """The tool."""
    arguments: str
    """The arguments as JSON text, exactly as the model wrote them."""


class ToolFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The tool calls, or the result of a tool, in one message of a question."""

    message: Count
    """The index of the message among the question's messages."""
    call_id: str | None = None
    """The id of the call whose result the message contains."""
    calls: list[ToolCallFields] = []
    """The calls that the model requested in the message."""


class ToolResultFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call of a model that calls tools itself, with its result."""

    call: ToolCallFields
    """The call."""
    parts: list[str | int] = []
    """The result: texts, and indexes into the `media` of the step."""


class StepFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of a model that calls tools itself, before its reply."""

    text: str = ""
    """The text of the step."""
    reasoning: str | None = None
    """The reasoning before the text."""
    results: list[ToolResultFields] = []
    """The calls of the step, with their results."""
    media: list[ShownMedia] = []
    """The pictures in the results."""
    usage: UsageFields | None = None
    """The token counts of the step; absent if not known."""
    times: TimesFields | None = None
    """The duration of the step; absent if not known."""

    def __post_init__(self) -> None:
        for part in (part for result in self.results for part in result.parts):
            if isinstance(part, int) and not 0 <= part < len(self.media):
                raise ValueError(f"a step has {len(self.media)} media, so it has no media[{part}]")


Ending = Literal["answered", "steps", "budget", "malformed"]
"""How a question with tools ended: with a reply that calls no tool, or because its model used up
the steps or the tokens, or made only malformed calls."""


class ReplyRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one attempt: a line of `replies*.jsonl`."""

    format: int
    """The number of the format."""
    key: Key
    """The sample, repeat, turn, and step."""
    kind: Literal["reply", "rank"]
    """`reply` for a text; `rank` for log-probabilities of choices."""
    request: str
    """The digest of the request."""
    state: ReplyState
    """`ok`, `empty`, `truncated`, `refused`, or `failed`."""
    at: str
    """When the outcome was stored (ISO 8601)."""
    attempt: int = 1
    """The number of the attempt, from 1."""
    max_tokens: Count | None = None
    """The token limit of the request; absent if it is the limit in the run's identity."""
    cut_at: Count | None = None
    """The token limit at which the earlier reply was cut; absent unless this attempt asks the
    question again with more tokens."""
    reply: str = ""
    """The text of the reply."""
    reasoning: str | None = None
    """The reasoning before the reply."""
    stop: str | None = None
    """The reason why the model stopped, as reported by the server."""
    usage: UsageFields | None = None
    """The token counts."""
    times: TimesFields | None = None
    """The duration of the request."""
    choices: list[tuple[float, int]] = []
    """For each choice, the pair (log-probability, number of tokens); empty unless `kind` is
    `rank`."""
    error: Failure | None = None
    """Why there is no reply, if `state` is `failed`."""
    media: list[SeenMedia] = []
    """The media that the model received; empty if they are the same as in the question's line."""
    session: str | None = None
    """The name of the session, in an online run."""
    reused: str | None = None
    """The folder of the run from which the reply was taken; absent if the reply is new."""
    tool_calls: list[ToolCallFields] = []
    """The tool calls that the model requested."""
    continuation: str | None = None
    """What the service needs back with this reply to continue the conversation, as JSON text."""
    ended: Ending | None = None
    """How the turn ended with this reply, in a run with tools; absent if a further step follows,
    and in runs without tools."""
    steps: list[StepFields] | None = None
    """The steps before the reply that the model took itself, whose tokens and seconds are part of
    `usage` and `times`; absent if the model hands over no steps."""

    @property
    def least_format(self) -> int:
        """The lowest format number that covers all features that this line uses."""
        is_step = len(self.key) > 3 or self.ended is not None
        has_calls = self.tool_calls or self.continuation is not None
        return NEWEST if is_step or has_calls or self.steps else FORMAT

    def as_reply(self) -> Reply:
        """Convert the record to the reply that scorings use."""
        return Reply(
            text=self.reply,
            reasoning=self.reasoning,
            stop=self.stop,
            usage=_usage(self.usage),
            times=_times(self.times),
            choices=tuple(Ranked(*choice) for choice in self.choices),
            tool_calls=tuple(map(_call, self.tool_calls)),
            continuation=self.continuation,
            sizes=_sizes(self.media),
            steps=None if self.steps is None else tuple(map(_step, self.steps)),
        )


def _usage(stored: UsageFields | None) -> Usage | None:
    if stored is None:
        return None
    return Usage(
        input=stored.input, output=stored.output, reasoning=stored.reasoning, cached=stored.cached
    )


def _stored_usage(usage: Usage | None) -> UsageFields | None:
    if usage is None:
        return None
    return UsageFields(
        input=usage.input, output=usage.output, reasoning=usage.reasoning, cached=usage.cached
    )


def _times(stored: TimesFields | None) -> Times | None:
    if stored is None:
        return None
    return Times(first=stored.first, token=stored.token, total=stored.total)


def _stored_times(times: Times | None) -> TimesFields | None:
    if times is None:
        return None
    return TimesFields(
        first=None if times.first is None else round(times.first, 4),
        token=None if times.token is None else round(times.token, 4),
        total=None if times.total is None else round(times.total, 4),
    )


def _call(stored: ToolCallFields) -> ToolCall:
    return ToolCall(id=stored.id, name=stored.name, arguments=stored.arguments)


def _step(stored: StepFields) -> Step:
    """Convert a stored step. The bytes of its pictures are not known."""
    pictures = [image_without_bytes(medium) for medium in stored.media]
    return Step(
        text=stored.text,
        reasoning=stored.reasoning,
        results=tuple(
            ToolResult(
                call=_call(result.call),
                parts=tuple(
                    part if isinstance(part, str) else pictures[part] for part in result.parts
                ),
            )
            for result in stored.results
        ),
        usage=_usage(stored.usage),
        times=_times(stored.times),
    )


def _stored_step(step: Step) -> StepFields:
    media: list[ShownMedia] = []
    results = []
    for result in step.results:
        parts: list[str | int] = []
        for part in result.parts:
            if isinstance(part, str):
                parts.append(_utf8(part))
            else:
                parts.append(len(media))
                media.append(shown_media(part))
        (call,) = stored_calls((result.call,))
        results.append(ToolResultFields(call=call, parts=parts))
    return StepFields(
        text=_utf8(step.text),
        reasoning=None if step.reasoning is None else _utf8(step.reasoning),
        results=results,
        media=media,
        usage=_stored_usage(step.usage),
        times=_stored_times(step.times),
    )


class EndRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the journal that says that a conversation has ended."""

    format: int
    """The number of the format."""
    key: Key
    """The key of the turn that would have come next."""
    at: str
    """When the conversation ended (ISO 8601)."""
    kind: Literal["end"] = "end"
    """Always `end`."""

    @property
    def least_format(self) -> int:
        """The lowest format number that covers all features that this line uses."""
        return NEWEST if len(self.key) > 3 else FORMAT


def _sizes(media: Sequence[SeenMedia]) -> Sizes | None:
    """The sizes at which the pictures of a question were sent; None if no picture was scaled. Media
    with frames are videos."""
    pictures = [medium for medium in media if not medium.frames]
    if all(picture.width is None or picture.height is None for picture in pictures):
        return None
    return tuple(
        None if picture.width is None or picture.height is None else (picture.width, picture.height)
        for picture in pictures
    )


def _utf8(text: str) -> str:
    """Replace unpaired surrogates, which UTF-8 cannot encode, with `?`."""
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
    ended: Ending | None = None,
) -> ReplyRecord:
    """Create the record of one attempt, from the reply or from the reason why there is no reply."""
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
        usage=_stored_usage(reply.usage),
        times=_stored_times(reply.times),
        choices=[(choice.logprob, choice.tokens) for choice in reply.choices],
        media=media or [],
        reused=reused,
        tool_calls=stored_calls(reply.tool_calls),
        continuation=None if reply.continuation is None else _utf8(reply.continuation),
        ended=ended,
        steps=None if reply.steps is None else [_stored_step(step) for step in reply.steps],
    )


def stored_tools(messages: Sequence[Message]) -> list[ToolFields]:
    """Convert the tool calls and results in messages to the form in which they are stored."""
    return [
        ToolFields(message=number, call_id=message.call_id, calls=stored_calls(message.tool_calls))
        for number, message in enumerate(messages)
        if message.has_tools
    ]


def stored_calls(calls: Sequence[ToolCall]) -> list[ToolCallFields]:
    """Convert tool calls to the form in which they are stored."""
    return [
        ToolCallFields(id=_utf8(call.id), name=_utf8(call.name), arguments=_utf8(call.arguments))
        for call in calls
    ]


class ExcerptFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which part of another picture a picture shows."""

    of: str
    """The digest of the other picture, `sha256:<hex>`."""
    box: tuple[int, int, int, int]
    """The left, top, right, and bottom edges of the part, in pixels of the other picture as a
    person sees it."""
    turns: int = 0
    """By how many quarter turns clockwise the part is rotated."""
    has_grid: bool = False
    """Whether lines with coordinates are drawn over the part."""


class ShownMedia(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A picture or video of a question."""

    kind: Literal["image", "video"]
    """`image` or `video`."""
    place: str
    """The name of the file in the data set, or another label."""
    digest: str | None = None
    """The digest of the picture's or video's bytes, `sha256:<hex>`; absent if the bytes could not
    be read."""
    mime: str | None = None
    """The media type, such as `image/png`."""
    width: int | None = None
    """The width in pixels; absent if unknown."""
    height: int | None = None
    """The height in pixels; absent if unknown."""
    start: float | None = None
    """The start of the part of a video that is shown, in seconds."""
    end: float | None = None
    """The end of the part of a video that is shown, in seconds; absent if it is the end of the
    video."""
    policy: str | None = None
    """The frame policy of a video."""
    original: Size | None = None
    """The width and height in pixels before scaling; absent if the picture was not scaled."""
    excerpt: ExcerptFields | None = None
    """The part of another picture that the picture shows; absent unless a tool cut it out."""


def shown_media(medium: Image | Video) -> ShownMedia:
    """Convert a picture or video of a question to the form in which it is stored."""
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
        excerpt=None
        if medium.excerpt is None
        else ExcerptFields(
            of=medium.excerpt.of,
            box=medium.excerpt.box,
            turns=medium.excerpt.turns,
            has_grid=medium.excerpt.has_grid,
        ),
    )


def image_without_bytes(shown: ShownMedia) -> Image:
    """The reference to a stored picture, whose bytes are not known."""
    excerpt = shown.excerpt
    return Image(
        b"",
        label=shown.place,
        digest=shown.digest,
        mime=shown.mime,
        width=shown.width,
        height=shown.height,
        original=shown.original,
        excerpt=None
        if excerpt is None
        else Excerpt(
            of=excerpt.of, box=excerpt.box, turns=excerpt.turns, has_grid=excerpt.has_grid
        ),
    )


def seen_media(
    medium: Image | Video,
    *,
    times: Sequence[float] | None = None,
    size: Size | None = None,
    original: Size | None = None,
) -> SeenMedia:
    """Describe a picture or video as the model received it. The back end reports the `times` of
    frames, the `size`, and the `original` size. A value that the back end does not report is
    None."""
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
    """The question that was asked for one key: a line of `questions.jsonl`. The line contains
    everything that is needed to score a reply without the data set."""

    format: int
    """The number of the format."""
    key: Key
    """The sample, repeat, turn, and step."""
    place: RowIndex
    """The position of the row in the data set, from 0."""
    row: str
    """The digest of the row."""
    question: str
    """The sample's question."""
    messages: list[tuple[str, list[str | int]]]
    """The (role, parts) of each message that was sent. A part is a text or an index into
    `media`."""
    tools: list[ToolFields] = []
    """The tool calls, and the results of tools, in the messages."""
    media: list[ShownMedia] = []
    """The media of the messages."""
    sample_media: list[ShownMedia] | None = None
    """The sample's own media; absent if the messages show exactly these media. The messages may
    show other media because of few-shot examples or a probe, or because this is only the first of
    several turns."""
    choices: list[str] = []
    """The choices."""
    target: str | None = None
    """The right answer; absent if it is not public, or if there are several."""
    references: list[str] = []
    """The answers of several people."""
    tags: dict[str, str] = {}
    """The categories of the sample, keyed by tag."""
    data: dict[str, Any] = {}
    """Other fields that the benchmark's scorings need."""

    @property
    def least_format(self) -> int:
        """The lowest format number that covers all features that this line uses."""
        return NEWEST if len(self.key) > 3 or self.tools else FORMAT


class EventRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event of an online run: a line of `events*.jsonl`."""

    format: int
    """The number of the format."""
    session: str
    """The session."""
    seq: int
    """The number of the event in its session, from 0."""
    ev: str
    """The kind of event, such as `frame`, `ask`, or `emit`."""
    data: dict[str, Any] = {}
    """The fields of the event."""


class ScoreRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one scoring for one (sample, repeat): a line of `scores.jsonl`. `snellen score`
    replaces the file."""

    format: int
    """The number of the format."""
    sample: str
    """The id of the sample; `ID#2` for its second turn if turns are scored separately."""
    repeat: int
    """The number of the repeat, from 0."""
    step: Count = 0
    """The number of the step; absent for the reply to the last step."""
    scoring: str
    """The scoring."""
    version: int
    """The version of the scoring."""
    state: Literal["answered", "guessed", "unparsed", "not-judged", "no-target", "no-reply"]
    """The result of parsing the reply."""
    reply: ReplyState | Literal["absent"]
    """The state of the reply; `absent` if there is no record of a reply."""
    score: float | None = None
    """The score; absent if the reply does not count."""
    answer: Answer | None = None
    """The parsed answer."""
    rule: str = ""
    """The rule that found the answer, or that ended the search for it."""
    candidates: list[Answer] = []
    """The answers that the reply could have meant."""
    parts: dict[str, float] = {}
    """The score of each part, keyed by name; empty if the score is a single number."""

    @property
    def least_format(self) -> int:
        """The lowest format number that covers all features that this line uses."""
        return NEWEST if self.step else FORMAT


class LabelRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The score that a person gave to a reply: a line of `labels.jsonl`."""

    format: int
    """The number of the format."""
    sample: str
    """The id of the sample."""
    label: float | None
    """The score, in the unit of the scoring; null if the field in the sheet was left empty."""
    repeat: int = 0
    """The number of the repeat, from 0."""
    scoring: str | None = None
    """The scoring that the label is for; absent if the label is for all scorings with a judge."""
    rater: str | None = None
    """The person who gave the label; absent if the person is not named."""
    seed: str | None = None
    """The seed with which the replies on the sheet were drawn."""


class Unknown(msgspec.Struct, frozen=True):
    """A line of a kind that this version does not know. It is kept unchanged."""

    kind: str
    """The kind."""
    line: bytes
    """The line."""


def key_hook(kind: type, value: Any) -> Any:
    """Create keys, which the decoder cannot create itself."""
    if kind is Key and isinstance(value, list):
        return Key.of(value)
    raise ValueError(f"{value!r:.80} is not a {kind.__name__}")
