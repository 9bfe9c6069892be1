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
    """How a reply is generated. None leaves the choice to the server."""

    max_tokens: int | None = None
    """The most tokens of a reply; None: the server's limit."""
    temperature: float | None = None
    """The sampling temperature, 0 for greedy decoding; None: the server's."""
    top_p: float | None = None
    """The share of probability, in (0, 1], that tokens are sampled from; None: the server's."""
    extra: Mapping[str, object] = field(default_factory=dict)
    """Further fields, sent as they are, such as a thinking budget; empty: none."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Which question a request came from; no part of its digest."""

    benchmark: str
    """The name that models with prompts of their own know the benchmark by."""
    sample: str
    """The sample's id."""
    columns: Callable[[], Mapping[str, object]] = field(default=dict, compare=False)
    """Gives the question by the names of VLMEvalKit's columns, without the right answer; by default
    there are none."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """All that a model is told."""

    messages: tuple[Message, ...]
    """The conversation; it ends with the user."""
    kind: Kind = "generate"
    """What the model gives: text, a rank of the choices, or messages in a session."""
    choices: tuple[str, ...] = ()
    """The choices of a choice question, whatever the kind; `rank` compares them as continuations.
    Empty: there are none."""
    generation: Generation = field(default_factory=Generation)
    """How the reply is generated; by default as the server chooses."""
    seed: int | None = None
    """The seed of the sampling; None: none is sent."""
    stop: tuple[str, ...] = ()
    """Texts that end the reply; empty: none."""
    origin: Origin | None = None
    """The question that it came from, for the VLMEvalKit wrapper; None: it came from none."""


def request_digest(request: Request) -> str:
    """BLAKE2b-128 (hex) of all of a request but its origin.

    Media count by the digest of what the model gets, so images must have been loaded.

    Raises:
        ValueError: an image has no digest yet.
    """
    generation = request.generation
    fields = [
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
    return blake2b(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()


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
    """Tokens as the server counted them; None where it did not say."""

    input: int | None = None
    """Tokens of the request, those that the server had cached included."""
    output: int | None = None
    """Tokens of the reply, reasoning included."""
    reasoning: int | None = None
    """Those of `output` that are reasoning."""
    cached: int | None = None
    """Those of `input` that the server had cached."""


@dataclass(frozen=True, kw_only=True)
class Times:
    """Seconds from sending the request; None where they were not measured."""

    first: float | None = None
    """To the first byte; of a streamed reply to its first piece of text or reasoning."""
    total: float | None = None
    """To the end of the reply."""


class Ranked(NamedTuple):
    """How likely a model takes a choice to be."""

    logprob: float
    """Its log-probability: natural log, summed over its tokens."""
    tokens: int
    """Its number of tokens."""


Shown = tuple[tuple[float, ...], ...]
"""The times of the frames that a model was shown of each of a request's videos, in seconds."""


Sizes = tuple[Size, ...]
FrameSizes = tuple[tuple[Size, Size] | None, ...]
"""Of each of a request's videos the size of its frames as a model was shown them, and before they
were scaled; None where it is not known."""


class Ranking(tuple[Ranked, ...]):
    """Choices, as `rank` gives them, of a model that decodes videos itself, or whose pictures are
    scaled on their way."""

    shown: Shown | None = None
    """As in a `Reply`."""
    sizes: Sizes | None = None
    """As in a `Reply`."""
    frame_sizes: FrameSizes | None = None
    """As in a `Reply`."""


ReplyState = Literal["ok", "empty", "truncated", "refused", "failed"]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a model said."""

    text: str = ""
    """The text, without reasoning that the server gives apart."""
    reasoning: str | None = None
    """The reasoning that the server gives apart; None: it gives none."""
    stop: str | None = None
    """The server's finish reason in its own words, but for `length` (cut at the token limit) and
    `filter` (the service withheld the reply); None: not known."""
    usage: Usage | None = None
    """The tokens that it took; None: the server did not count them."""
    times: Times | None = None
    """The seconds that it took; None: they were not measured."""
    choices: tuple[Ranked, ...] = ()
    """One entry for each choice of a `rank` request; empty: another kind of request."""
    shown: Shown | None = None
    """The frames that a model which decodes videos itself was shown; None: others decode them."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The calls of tools that it asks for, in order; empty: none."""
    sizes: Sizes | None = None
    """The size of each picture of the request as it was sent; None: none was scaled on its way."""
    frame_sizes: FrameSizes | None = None
    """The sizes of the frames that `shown` has the times of; None: not known."""

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
    """What runs and messages call the model."""

    async def generate(self, request: Request) -> Reply: ...


@runtime_checkable
class Ranks(Protocol):
    """Gives a log-probability for each of `request.choices`, in their order."""

    name: str
    """What runs and messages call the model."""

    async def rank(self, request: Request) -> Sequence[Ranked]: ...


@dataclass(frozen=True, kw_only=True)
class Query:
    """One question put to a session."""

    id: str
    """What emissions name the question by."""
    text: str
    """The question, with its instructions."""
    choices: tuple[str, ...] = ()
    """The choices of a choice question; empty: there are none."""
    max_tokens: int | None = None
    """The most tokens of each message of the answer; None: the model's limit."""
    stop: tuple[str, ...] = ()
    """Texts that end a message; empty: none."""


@dataclass(frozen=True, kw_only=True)
class Emission:
    """Something a session said. Its time is set by the runner."""

    text: str
    """The message, or the part of it that is new."""
    query: str | None = None
    """The id of the question that it answers; None: the model does not say."""
    final: bool = True
    """Whether the message ends here; False: it goes on."""
    silence: float | None = None
    """The model's own score for saying nothing; None: it has none."""
    stop: str | None = None
    """As in a `Reply`."""
    usage: Usage | None = None
    """As in a `Reply`."""


@dataclass(frozen=True, kw_only=True)
class SessionSpec:
    """What a session is told when it opens: nothing about the video."""

    system: str = ""
    """The system message; empty: none."""
    rate: float = 1.0
    """The frames of the stream in a second of media time."""
    seed: int | None = None
    """The seed of the sampling; None: none is set."""
    generation: Generation = field(default_factory=Generation)
    """How messages are generated; by default as the model chooses."""


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
    """What runs and messages call the model."""

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
