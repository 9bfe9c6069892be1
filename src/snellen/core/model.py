"""The seam between the harness and a model: requests, replies, and three small protocols.

A back end translates and reports. It does not retry, cache, count or log, and never learns a
benchmark's name (`Request.origin` is read by the VLMEvalKit wrapper alone).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import orjson

from snellen.errors import Rejected
from snellen.media import images, video
from snellen.media.content import Address, Frame, Image, Message, Part, Size, ToolCall, Video

Kind = Literal["generate", "rank", "session"]


@dataclass(frozen=True, kw_only=True)
class Generation:
    """How a reply is generated. None leaves the choice to the server.

    `extra` is sent as it is (a thinking budget, a server's own sampling fields).
    """

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Which question a request came from; no part of its digest. `asked` gives what is asked, by
    the names of VLMEvalKit's columns, and never what is right."""

    benchmark: str
    sample: str
    asked: Callable[[], Mapping[str, object]] = field(default=dict, compare=False)


@dataclass(frozen=True, kw_only=True)
class Request:
    """All that a model is told.

    `choices` are filled for every choice question, whatever the kind; for `rank` they are the
    continuations that are compared.
    """

    messages: tuple[Message, ...]
    kind: Kind = "generate"
    choices: tuple[str, ...] = ()
    generation: Generation = field(default_factory=Generation)
    seed: int | None = None
    stop: tuple[str, ...] = ()
    origin: Origin | None = None


def request_digest(request: Request) -> str:
    """BLAKE2b-128 (hex) of all of a request but its origin.

    Media count by the digest of what the model gets, so images must have been loaded.

    Raises:
        ValueError: an image has no digest yet.
    """
    generation = request.generation
    told = [
        request.kind,
        [_message_digest(message) for message in request.messages],
        request.choices,
        generation.max_tokens,
        None if generation.temperature is None else float(generation.temperature),
        None if generation.top_p is None else float(generation.top_p),
        generation.extra,
        request.seed,
        request.stop,
    ]
    return blake2b(orjson.dumps(told, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()


def _message_digest(message: Message) -> list[object]:
    parts: list[object] = [message.role, [_part_digest(part) for part in message.content]]
    if message.has_tools:  # else a digest stays what it was before there were tools
        parts.append(
            {
                "call_id": message.call_id,
                "calls": [(call.id, call.name, call.arguments) for call in message.tool_calls],
            }
        )
    return parts


def check_tools(request: Request, model: object) -> None:
    """Check that a model which is sent calls of tools, or what they gave, can be sent these: it
    has `takes_tools`, which is True.

    Raises:
        Rejected: it has not.
    """
    if getattr(model, "takes_tools", False):
        return
    if any(message.has_tools for message in request.messages):
        name = getattr(model, "name", "the model")
        raise Rejected(
            f"{name}: the conversation has calls of tools, and this back end cannot send them. "
            "Ask the questions without tools, or another back end."
        )


def has_addresses(request: Request) -> bool:
    """Whether a picture of it is still on a server, to be fetched before it can be read."""
    return any(
        isinstance(part, Image) and isinstance(part.source, Address)
        for message in request.messages
        for part in message.content
    )


def loaded(request: Request) -> Request:
    """The request with its images read, checked and digested, and its videos found and digested;
    itself where there is nothing to read. Frames of videos are decoded elsewhere, for all questions
    about one at once (`media.video.decoded`).

    Raises:
        MediaError: one cannot be read.
    """
    if all(isinstance(part, str) for message in request.messages for part in message.content):
        return request
    messages = tuple(
        replace(message, content=tuple(map(_loaded, message.content)))
        for message in request.messages
    )
    return replace(request, messages=messages)


def _loaded(part: Part) -> Part:
    if isinstance(part, str):
        return part
    return images.load(part) if isinstance(part, Image) else video.load(part)


def _part_digest(part: Part) -> object:
    if isinstance(part, str):
        return part
    if part.digest is None:
        raise ValueError(f"{part.place or 'a medium'} has no digest: it was not loaded")
    if isinstance(part, Video):
        window = {"start": float(part.start), "end": None if part.end is None else float(part.end)}
        return {"video": part.digest, "frames": part.policy, **window}
    return {"image": part.digest}


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens as the server counted them; None where it did not say. `reasoning` is part of
    `output`, `cached` of `input`."""

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cached: int | None = None


@dataclass(frozen=True, kw_only=True)
class Times:
    """Seconds from sending the request to the first byte (of a streamed reply: its first piece of
    text or reasoning) and to the end of the reply."""

    first: float | None = None
    total: float | None = None


class Ranked(NamedTuple):
    """A choice's log-probability (natural log, summed over its tokens) and its number of tokens."""

    logprob: float
    tokens: int


Shown = tuple[tuple[float, ...], ...]
"""The times of the frames that a model was shown of each of a request's videos, in seconds."""


Sizes = tuple[Size, ...]


class Ranking(tuple[Ranked, ...]):
    """Choices, as `rank` gives them, of a model that decodes videos itself, or whose pictures are
    scaled on their way; the fields are as in a `Reply`."""

    shown: Shown | None = None
    sizes: Sizes | None = None


ReplyState = Literal["ok", "empty", "truncated", "refused", "failed"]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a model said.

    `stop` is the server's finish reason in its own words but for two: `length` (cut at the token
    limit)
    and `filter` (the service withheld the reply). `choices` has one entry per choice of a `rank`
    request. `shown` is of a model that decodes videos itself: which frames it was shown.
    """

    text: str = ""
    reasoning: str | None = None
    stop: str | None = None
    usage: Usage | None = None
    times: Times | None = None
    choices: tuple[Ranked, ...] = ()
    shown: Shown | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    """The calls of tools that it asks for, in order."""
    sizes: Sizes | None = None
    """The size of each picture of the request as it was sent, where one was scaled on its way."""

    @property
    def state(self) -> ReplyState:
        """`refused` before `truncated` before `empty`, else `ok`; a failure has no reply at all."""
        if self.stop == "filter":
            return "refused"
        if self.stop == "length":
            return "truncated"
        if not (self.text.strip() or self.choices or self.tool_calls):
            return "empty"
        return "ok"


@runtime_checkable
class Generates(Protocol):
    """Answers in text.

    Raises `Overloaded` where asking again may help, `Rejected` where it will not.
    """

    name: str

    async def generate(self, request: Request) -> Reply: ...


@runtime_checkable
class Ranks(Protocol):
    """Gives a log-probability for each of `request.choices`, in their order."""

    name: str

    async def rank(self, request: Request) -> Sequence[Ranked]: ...


@dataclass(frozen=True, kw_only=True)
class Query:
    """One question put to a session; `max_tokens` limits each message of the answer, `choices` and
    `stop` are as in a `Request`."""

    id: str
    text: str
    choices: tuple[str, ...] = ()
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Emission:
    """Something a session said. Its time is set by the runner.

    `query` names the question it answers, None where the model does not say; `final` is False for
    part of a message that goes on; `silence` is the model's own score for saying nothing, where it
    has one; `stop` and `usage` are as in a `Reply`.
    """

    text: str
    query: str | None = None
    final: bool = True
    silence: float | None = None
    stop: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True, kw_only=True)
class SessionSpec:
    """What a session is told when it opens: nothing about the video."""

    system: str = ""
    rate: float = 1.0
    seed: int | None = None
    generation: Generation = field(default_factory=Generation)


class Session(Protocol):
    """One open stream of frames. Sessions that can fork also have `fork()`."""

    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]: ...

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]: ...

    async def close(self) -> None: ...


@runtime_checkable
class Forks(Protocol):
    """A session that can be copied, so that a question leaves no trace in the original."""

    async def fork(self) -> Session: ...


@runtime_checkable
class Streams(Protocol):
    """Watches a stream of frames and speaks when asked, or by itself."""

    name: str

    async def open(self, spec: SessionSpec) -> Session: ...


@runtime_checkable
class Prompts(Protocol):
    """Is told what a benchmark is called (`Origin.benchmark`), and asks some of them in words of
    its own: `own_prompt` says which, `prompted` gives the request in them. VLMEvalKit's classes
    alone."""

    def own_prompt(self, benchmark: str) -> bool: ...

    async def prompted(self, request: Request) -> Request: ...


@runtime_checkable
class Expects(Protocol):
    """Decodes videos itself, and is told which are asked about together before the first is."""

    def expect(self, videos: Sequence[Video]) -> None: ...


Model = Generates | Ranks | Streams
