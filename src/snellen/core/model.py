"""The interface of models: requests, replies, and three small protocols.

A back end translates requests and reports replies. It does not retry, cache, count, or log, and it
never learns a benchmark's name (only the VLMEvalKit wrapper reads `Request.origin`).
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
    """The token limit of a reply; None for the server's limit."""
    temperature: float | None = None
    """The sampling temperature, 0 for greedy decoding; None for the server's."""
    top_p: float | None = None
    """The probability mass, in (0, 1], from which tokens are sampled; None for the server's."""
    extra: Mapping[str, object] = field(default_factory=dict)
    """Further fields, sent unchanged, such as a thinking budget."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The question that a request came from. It is not part of the request's digest."""

    benchmark: str
    """The benchmark's name for models with prompts of their own."""
    sample: str
    """The sample's id."""
    columns: Callable[[], Mapping[str, object]] = field(default=dict, compare=False)
    """Returns the question by the names of VLMEvalKit's columns, without the right answer."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """Everything that a model gets."""

    messages: tuple[Message, ...]
    """The conversation; it ends with the user."""
    kind: Kind = "generate"
    """What the model returns: text, a ranking of the choices, or messages in a session."""
    choices: tuple[str, ...] = ()
    """The choices of a choice question, for every `kind`; `rank` compares them as continuations."""
    generation: Generation = field(default_factory=Generation)
    """How the reply is generated; by default the server chooses."""
    seed: int | None = None
    """The seed of the sampling; None: none is sent."""
    stop: tuple[str, ...] = ()
    """Texts that end the reply."""
    origin: Origin | None = None
    """The question that it came from, for the VLMEvalKit wrapper; None if it has none."""


def request_digest(request: Request) -> str:
    """BLAKE2b-128 (hex) of the request without its origin.

    Media enter with the digest of what the model gets, so images must have been loaded.

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
    if message.has_tools:  # requests without tools keep the digest of earlier versions
        parts.append(
            {
                "call_id": message.call_id,
                "calls": [(call.id, call.name, call.arguments) for call in message.tool_calls],
            }
        )
    return parts


def check_tools(request: Request, model: object) -> None:
    """Check that a model supports tools (`takes_tools`) if the conversation has tool calls.

    Raises:
        Rejected: it does not.
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
    """Whether one of its pictures must still be fetched from a server."""
    return any(
        isinstance(part, Image) and isinstance(part.source, Address)
        for message in request.messages
        for part in message.content
    )


def loaded(request: Request) -> Request:
    """The request with its images read, checked, and digested, and its videos located and digested.
    It is returned unchanged if there is nothing to read. Frames are decoded elsewhere, for all
    questions about a video together (`media.video.decoded`).

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
        raise ValueError(f"{part.label or 'a medium'} has no digest: it was not loaded")
    if isinstance(part, Video):
        window = {"start": float(part.start), "end": None if part.end is None else float(part.end)}
        return {"video": part.digest, "frames": part.policy, **window}
    return {"image": part.digest}


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Token counts of the server; None where it reports none."""

    input: int | None = None
    """Tokens of the request, including cached ones."""
    output: int | None = None
    """Tokens of the reply, including reasoning."""
    reasoning: int | None = None
    """The part of `output` that is reasoning."""
    cached: int | None = None
    """The part of `input` that the server had cached."""


@dataclass(frozen=True, kw_only=True)
class Times:
    """Seconds since the request was sent; None where they were not measured."""

    first: float | None = None
    """To the first byte; for a streamed reply, to its first text or reasoning."""
    token: float | None = None
    """To the first text or reasoning of a streamed reply; None if the reply was not streamed."""
    total: float | None = None
    """To the end of the reply."""


class Ranked(NamedTuple):
    """The likelihood of a choice under a model."""

    logprob: float
    """Its log-probability: natural log, summed over its tokens."""
    tokens: int
    """Its number of tokens."""


Shown = tuple[tuple[float, ...], ...]
"""For each video of a request, the times in seconds of the frames that a model was shown."""


Sizes = tuple[Size, ...]
FrameSizes = tuple[tuple[Size, Size] | None, ...]
"""For each video of a request, the size of its frames as shown to a model, and before scaling; None
where it is not known."""


class Ranking(tuple[Ranked, ...]):
    """The choices that `rank` returns, for a model that decodes videos itself or whose pictures
    were scaled."""

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
    """The text, without reasoning that the server returns separately."""
    reasoning: str | None = None
    """The reasoning that the server returns separately; None if it returns none."""
    stop: str | None = None
    """The stop reason: `length` (cut at the token limit), `filter` (the service withheld the
    reply), or the server's own word; None if not known."""
    usage: Usage | None = None
    """The token counts; None if the server reported none."""
    times: Times | None = None
    """The times of the request; None if they were not measured."""
    choices: tuple[Ranked, ...] = ()
    """One entry for each choice of a `rank` request; empty for other requests."""
    shown: Shown | None = None
    """The frames shown to a model that decodes videos itself; None for other models."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The tool calls that the model requests, in order."""
    sizes: Sizes | None = None
    """The size of each picture of the request as it was sent; None if no picture was scaled."""
    frame_sizes: FrameSizes | None = None
    """The sizes of the frames in `shown`; None if not known."""

    @property
    def state(self) -> ReplyState:
        """The first that applies of `refused`, `truncated`, `empty`, and `ok`. A failed question
        has no reply."""
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

    Raises `Overloaded` if a retry may help, `Rejected` if it will not.
    """

    name: str
    """What runs and messages call the model."""

    async def generate(self, request: Request) -> Reply: ...


@runtime_checkable
class Ranks(Protocol):
    """Returns a log-probability for each of `request.choices`, in their order."""

    name: str
    """What runs and messages call the model."""

    async def rank(self, request: Request) -> Sequence[Ranked]: ...


@dataclass(frozen=True, kw_only=True)
class Query:
    """One question put to a session."""

    id: str
    """The id by which emissions name the question."""
    text: str
    """The question, with its instructions."""
    choices: tuple[str, ...] = ()
    """The choices of a choice question."""
    max_tokens: int | None = None
    """The token limit of each message of the answer; None for the model's limit."""
    stop: tuple[str, ...] = ()
    """Texts that end a message."""


@dataclass(frozen=True, kw_only=True)
class Emission:
    """A message of a session. The runner sets its time."""

    text: str
    """The message, or its new part."""
    query: str | None = None
    """The id of the question that it answers; None if the model names none."""
    final: bool = True
    """Whether the message ends here; False if more of it follows."""
    silence: float | None = None
    """The model's own score for staying silent; None if it has none."""
    stop: str | None = None
    """As in a `Reply`."""
    usage: Usage | None = None
    """As in a `Reply`."""


@dataclass(frozen=True, kw_only=True)
class SessionSpec:
    """The settings that a session gets when it opens. They say nothing about the video."""

    system: str = ""
    """The system message; empty if there is none."""
    rate: float = 1.0
    """The frames per second of media time."""
    seed: int | None = None
    """The sampling seed; None if none is set."""
    generation: Generation = field(default_factory=Generation)
    """How messages are generated; by default the model chooses."""


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
    """Watches a stream of frames, and speaks when asked or on its own."""

    name: str
    """What runs and messages call the model."""

    async def open(self, spec: SessionSpec) -> Session: ...


@runtime_checkable
class Prompts(Protocol):
    """Has its own prompts for some benchmarks, by name (`Origin.benchmark`). `own_prompt` says for
    which, and `prompted` returns the request with that prompt. Only VLMEvalKit's classes do so."""

    def own_prompt(self, benchmark: str) -> bool: ...

    async def prompted(self, request: Request) -> Request: ...


@runtime_checkable
class Expects(Protocol):
    """Decodes videos itself. Before the first question, it is given the videos that are asked about
    together."""

    def expect(self, videos: Sequence[Video]) -> None: ...


Model = Generates | Ranks | Streams
