"""The lines of a run folder's files, and the JSON schemas that are published for them.

Readers accept every older `format`, keep kinds and fields that they do not know, and refuse a newer
one.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from snellen.core.answer import Answer
from snellen.core.model import Ranked, Reply, ReplyState, Times, Usage

FORMAT = 0
"""Raised when a line written now could be misread by the readers of yesterday."""

Count = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
RowIndex = Annotated[int, msgspec.Meta(ge=0, lt=10**8)]
"""A larger number is damage, and would take its size in memory."""
Key = tuple[str, Count, Count]
"""(sample, repeat, turn) of one reply."""


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
        )


class EndRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Says that a conversation is over, a line of the journal: the prompt gives no turn `key[2]`
    behind those that were asked."""

    format: int
    key: Key
    at: str
    kind: Literal["end"] = "end"


def _utf8(text: str) -> str:
    """The text, with `?` for halves of surrogate pairs: they have no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text


def reply_record(
    key: Key,
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
            key=key,
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
        key=key,
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
    )


class ShownMedia(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One medium of a question: its digest, and where it lay; of a video the window that may be
    seen (seconds) and the frame policy."""

    kind: Literal["image", "video"]
    place: str
    digest: str | None = None
    mime: str | None = None
    width: int | None = None
    height: int | None = None
    start: float | None = None
    end: float | None = None
    policy: str | None = None


class Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was asked under one key, a line of `questions.jsonl`; enough to score without the data
    set.

    `messages` is the rendered text: (role, parts), a part being text or the number of a medium in
    `media`.
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
    media: list[ShownMedia] = []
    sample_media: list[ShownMedia] | None = None
    choices: list[str] = []
    target: str | None = None
    references: list[str] = []
    tags: dict[str, str] = {}
    data: dict[str, Any] = {}


class EventRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One frame, emission or question of an online run, a line of `events*.jsonl`."""

    format: int
    session: str
    seq: int
    ev: str
    data: dict[str, Any] = {}


class ScoreRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one scoring made of one (sample, repeat), a line of `scores.jsonl`; derived."""

    format: int
    sample: str
    repeat: int
    scoring: str
    version: int
    state: Literal["answered", "guessed", "unparsed", "not-judged", "no-target", "no-reply"]
    reply: ReplyState | Literal["absent"]
    score: float | None = None
    answer: Answer | None = None
    rule: str = ""
    candidates: list[Answer] = []


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


SCHEMAS: dict[str, type[msgspec.Struct]] = {
    "reply": ReplyRecord,
    "end": EndRecord,
    "question": Question,
    "event": EventRecord,
    "score": ScoreRow,
    "label": LabelRecord,
}


def schemas() -> dict[str, dict[str, Any]]:
    """The published JSON schema of each kind of line."""
    return {name: msgspec.json.schema(struct) for name, struct in SCHEMAS.items()}
