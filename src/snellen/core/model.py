"""The interface of models: requests, replies, and small protocols.

A back end translates requests and returns replies. A back end does not retry, cache, count, or log.
A back end also does not know which benchmark a request is from. The only exception is the
VLMEvalKit wrapper, which reads `Request.origin`.

A back end with `takes_tools = True` offers `Request.tools` to the model in the service's own form,
sends earlier calls and messages with the role `tool`, and returns the model's calls unchanged in
`Reply.tool_calls`, even if their arguments are not valid JSON. With `takes_pictures_in_results =
True`, a message with the role `tool` may contain pictures. For other back ends, the runner sends
such pictures in a user message after the results. If the service needs more than text and calls to
continue a conversation, such as signed reasoning, the back end returns it in `Reply.continuation`
and gets it back in `Message.continuation`.

A model that calls tools itself can hand over its steps in `Reply.steps`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import orjson

from snellen.copies import changed
from snellen.core.tools import ToolResult, ToolSpec
from snellen.errors import Rejected
from snellen.media import images, video
from snellen.media.content import Address, Frame, Image, Message, Part, Size, ToolCall, Video

Kind = Literal["generate", "rank", "session"]


@dataclass(frozen=True, kw_only=True)
class Generation:
    """How a reply is generated. If a field is None, the server uses its default."""

    max_tokens: int | None = None
    """The token limit of a reply; None for the server's default."""
    temperature: float | None = None
    """The sampling temperature, 0 for greedy decoding; None for the server's default."""
    top_p: float | None = None
    """The probability mass, in (0, 1], from which tokens are sampled; None for the server's
    default."""
    extra: Mapping[str, object] = field(default_factory=dict)
    """Further fields of the request, such as a thinking budget. They are sent unchanged."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The question that a request was made for. The origin is not part of the request's digest."""

    benchmark: str
    """The benchmark's name, by which models with their own prompts choose a prompt."""
    sample: str
    """The sample's id."""
    columns: Callable[[], Mapping[str, object]] = field(default=dict, compare=False)
    """Returns the question as a row of VLMEvalKit (values keyed by column), without the right
    answer."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request to a model, with everything that the model gets."""

    messages: tuple[Message, ...]
    """The conversation, whose last message is the user's or the result of a tool call."""
    kind: Kind = "generate"
    """What the model returns: text, log-probabilities of the choices, or messages in a session."""
    choices: tuple[str, ...] = ()
    """The choices of a multiple-choice question, whatever the request's `kind`. A model's `rank`
    method compares the choices as continuations of the conversation."""
    generation: Generation = field(default_factory=Generation)
    """How the reply is generated; by default with the server's settings."""
    seed: int | None = None
    """The sampling seed; None if no seed is sent."""
    stop: tuple[str, ...] = ()
    """Stop sequences: generation ends when the model writes one of these texts."""
    tools: tuple[ToolSpec, ...] = ()
    """The tools that the model may call; empty if the model is not offered any."""
    origin: Origin | None = None
    """The question that the request was made for, which the VLMEvalKit wrapper uses; None if there
    is no such question."""


def request_digest(request: Request) -> str:
    """BLAKE2b-128 (hex) of the request without its origin. Media are represented by digests of what
    the model gets, so the media must be loaded first.

    Raises:
        ValueError: an image or a video has no digest yet.
    """
    generation = request.generation
    fields: list[object] = [
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
    if request.tools:  # so that requests without tools have the same digest as before
        fields.append([(tool.name, tool.description, tool.parameters) for tool in request.tools])
    return blake2b(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()


def _message_digest(message: Message) -> list[object]:
    parts: list[object] = [message.role, [_part_digest(part) for part in message.content]]
    if message.has_tools:  # so that requests without tools have the same digest as before
        parts.append(
            {
                "call_id": message.call_id,
                "calls": [(call.id, call.name, call.arguments) for call in message.tool_calls],
            }
        )
    if message.continuation is not None:
        parts.append({"continuation": message.continuation})
    return parts


def check_tools(request: Request, model: object) -> None:
    """Check that a model supports tools (`takes_tools`) if the request offers tools or the
    conversation has tool calls.

    Raises:
        Rejected: the model does not support tools.
    """
    if getattr(model, "takes_tools", False):
        return
    if request.tools or any(message.has_tools for message in request.messages):
        name = getattr(model, "name", "the model")
        raise Rejected(
            f"{name}: the request contains tools or tool calls, and this back end cannot send "
            "them. Ask the questions without tools, or use another back end."
        )


def has_addresses(request: Request) -> bool:
    """Whether a picture of the request must still be downloaded from a server."""
    return any(
        isinstance(part, Image) and isinstance(part.source, Address)
        for message in request.messages
        for part in message.content
    )


def loaded(request: Request) -> Request:
    """Read a request's images, locate its videos, and compute the digests of images and videos.

    Images are also checked. A request without media is returned unchanged. Frames are decoded
    elsewhere, once for all questions about a video (`media.video.decoded`).

    Raises:
        MediaError: an image or a video cannot be read.
    """
    if all(isinstance(part, str) for message in request.messages for part in message.content):
        return request
    messages = tuple(
        [
            changed(message, content=tuple(map(_loaded, message.content)))
            for message in request.messages
        ]
    )
    return changed(request, messages=messages)


def _loaded(part: Part) -> Part:
    if isinstance(part, str):
        return part
    return images.load(part) if isinstance(part, Image) else video.load(part)


def _part_digest(part: Part) -> object:
    if isinstance(part, str):
        return part
    if part.digest is None:
        raise ValueError(f"{part.label or 'a medium'} has no digest, because it was not loaded")
    if isinstance(part, Video):
        window = {"start": float(part.start), "end": None if part.end is None else float(part.end)}
        texts = {
            **({"subtitles": [[*cue] for cue in part.subtitles]} if part.subtitles else {}),
            **({"captions": part.captions} if part.captions else {}),
        }
        return {"video": part.digest, "frames": part.policy, **window, **texts}
    return {"image": part.digest}


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Token counts that the server reports. A count that the server does not report is None."""

    input: int | None = None
    """The number of tokens in the request, including cached ones."""
    output: int | None = None
    """The number of tokens in the reply, including reasoning."""
    reasoning: int | None = None
    """How many of the `output` tokens are reasoning."""
    cached: int | None = None
    """How many of the `input` tokens the server had cached."""


BELOW = 0.9
"""A truncated reply with less than this share of the tokens that the limit allows was cut for a
reason other than the limit. The share is below 1 because servers may differ by a few tokens in how
they count a reply."""


def is_cut_early(output: int | None, limit: int | None) -> bool:
    """Whether a truncated reply of `output` tokens is well below the requested limit, which means
    that the server cut the reply for another reason. False if either number is not known."""
    return output is not None and limit is not None and output < BELOW * limit


@dataclass(frozen=True, kw_only=True)
class Times:
    """Times in seconds after the request was sent. A time that was not measured is None."""

    first: float | None = None
    """When the first byte arrived or, for a streamed reply, when the first text or reasoning
    arrived."""
    token: float | None = None
    """When the first text or reasoning of a streamed reply arrived; None if the reply was not
    streamed."""
    total: float | None = None
    """When the end of the reply arrived."""


class Ranked(NamedTuple):
    """The log-probability of a choice under a model."""

    logprob: float
    """The natural logarithm of the probability, summed over the tokens of the choice."""
    tokens: int
    """The number of tokens in the choice."""


Shown = tuple[tuple[float, ...], ...]
"""For each video of a request, the times in seconds of the frames that a model was shown."""


Sizes = tuple[Size | None, ...]
FrameSizes = tuple[tuple[Size, Size] | None, ...]
"""For each video of a request, the size of its frames as shown to the model, and their size before
scaling. None for a video whose sizes are not known."""


class Ranking(tuple[Ranked, ...]):
    """What `rank` returns if the model decodes videos itself or if pictures were scaled: the ranked
    choices, with the frames and sizes that the model was shown."""

    shown: Shown | None = None
    """As in a `Reply`."""
    sizes: Sizes | None = None
    """As in a `Reply`."""
    frame_sizes: FrameSizes | None = None
    """As in a `Reply`."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a model that calls tools itself: what the model said before its answer, and the
    results of its calls."""

    text: str = ""
    """The text of the step, without the calls."""
    reasoning: str | None = None
    """The reasoning before the text; None if there is none."""
    results: tuple[ToolResult, ...] = ()
    """The calls of the step, in order, with their results."""
    usage: Usage | None = None
    """The token counts of the step; None if not known."""
    times: Times | None = None
    """The times of the step; None if not known."""


ReplyState = Literal["ok", "empty", "truncated", "refused", "failed"]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a model said."""

    text: str = ""
    """The reply's text, without reasoning that the server returns separately."""
    reasoning: str | None = None
    """The reasoning that the server returns separately; None if there is none."""
    stop: str | None = None
    """Why the reply ended: `length` (cut at the token limit), `filter` (the service withheld the
    reply), or the server's own term; None if not known."""
    usage: Usage | None = None
    """The token counts, including those of the `steps`; None if the server did not report any."""
    times: Times | None = None
    """The times of the request, including the `steps`; None if no times were measured."""
    choices: tuple[Ranked, ...] = ()
    """One entry for each choice of a `rank` request; empty for other requests."""
    shown: Shown | None = None
    """The times of the frames that the model was shown, if the model decodes videos itself; None
    for other models."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The tool calls that the model requests, in order."""
    continuation: str | None = None
    """What the service needs back with this reply to continue the conversation, such as signed
    reasoning, as JSON text that only the back end reads; None if it needs nothing else."""
    sizes: Sizes | None = None
    """The size of each picture of the request as it was sent; None for a picture that was not
    scaled. None instead of the sizes if no picture was scaled."""
    frame_sizes: FrameSizes | None = None
    """The sizes of the frames of each video; None if not known."""
    steps: tuple[Step, ...] | None = None
    """The steps before this reply, if the model called tools itself; empty if the model answered
    without a call. None if the model does not hand over its steps. The pictures in their results
    are stored by their digests. The steps are not scored."""

    @property
    def state(self) -> ReplyState:
        """The first of `refused`, `truncated`, `empty`, and `ok` that applies. (A failed question
        has no `Reply`.)"""
        if self.stop == "filter":
            return "refused"
        if self.stop == "length":
            return "truncated"
        if not (self.text.strip() or self.choices or self.tool_calls):
            return "empty"
        return "ok"

    def without_tool_sizes(self, pictures: int) -> "Reply":
        """The reply without the sizes of pictures that tools returned. They come after those of the
        question, which has `pictures` pictures."""
        return self if self.sizes is None else replace(self, sizes=self.sizes[:pictures])


@runtime_checkable
class Generates(Protocol):
    """A model that replies with text.

    `generate` raises `Overloaded` if a retry may help, and `Rejected` if a retry will not help.
    """

    name: str
    """The model's name in runs and messages."""

    async def generate(self, request: Request) -> Reply: ...


@runtime_checkable
class Ranks(Protocol):
    """A model that returns a log-probability for each of `request.choices`, in the same order."""

    name: str
    """The model's name in runs and messages."""

    async def rank(self, request: Request) -> Sequence[Ranked]: ...


@dataclass(frozen=True, kw_only=True)
class Query:
    """A question that is sent to a session."""

    id: str
    """The question's id. A message that answers the question contains this id as
    `Emission.query`."""
    text: str
    """The question, with its instructions."""
    choices: tuple[str, ...] = ()
    """The choices of a multiple-choice question."""
    max_tokens: int | None = None
    """The token limit of each message of the answer; None for the model's default."""
    stop: tuple[str, ...] = ()
    """Stop sequences: a message ends when the model writes one of these texts."""


@dataclass(frozen=True, kw_only=True)
class Emission:
    """A message that a model sends in a session. The runner records the message's time."""

    text: str
    """The message, or the next part of a message that the model sends in several parts."""
    query: str | None = None
    """The id of the question that the message answers; None if the model does not name a
    question."""
    final: bool = True
    """Whether the message is complete; False if further parts follow."""
    silence: float | None = None
    """The model's own score for staying silent; None if the model has no such score."""
    stop: str | None = None
    """As in a `Reply`."""
    usage: Usage | None = None
    """As in a `Reply`."""


@dataclass(frozen=True, kw_only=True)
class SessionSpec:
    """The settings that a session gets when it opens. The settings contain no information about the
    video."""

    system: str = ""
    """The system message; empty if there is none."""
    rate: float = 1.0
    """The frame rate of the stream, in frames per second of the video."""
    seed: int | None = None
    """The sampling seed; None if no seed is set."""
    generation: Generation = field(default_factory=Generation)
    """How messages are generated; by default with the model's settings."""


class Session(Protocol):
    """An open session, which is fed with frames and asked questions. Sessions that can be copied
    also have `fork()`."""

    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]: ...

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]: ...

    async def close(self) -> None: ...


@runtime_checkable
class Forks(Protocol):
    """A session that can be copied, so that a question to the copy leaves the original
    unchanged."""

    async def fork(self) -> Session: ...


@runtime_checkable
class Replays(Protocol):
    """A session that can continue an interrupted session without repeating the model's work.

    `replay` gets a frame or a question that the interrupted session got, and the messages that the
    interrupted session sent then. The session adds both to its state, and sends nothing.
    """

    async def replay(self, event: Frame | Query, messages: Sequence[Emission]) -> None: ...


@runtime_checkable
class Streams(Protocol):
    """A model that watches a stream of frames. The model speaks when it is asked a question, or
    unprompted."""

    name: str
    """The model's name in runs and messages."""

    async def open(self, spec: SessionSpec) -> Session: ...


@runtime_checkable
class Prompts(Protocol):
    """A model with its own prompts for some benchmarks. Only VLMEvalKit's model classes have such
    prompts.

    `own_prompt` returns whether the model has a prompt for the benchmark that `Origin.benchmark`
    names. `prompted` returns the request with the model's own prompt.
    """

    def own_prompt(self, benchmark: str) -> bool: ...

    async def prompted(self, request: Request) -> Request: ...


@runtime_checkable
class Expects(Protocol):
    """A model that decodes videos itself. Before the first question about a group of videos,
    `expect` is called with these videos."""

    def expect(self, videos: Sequence[Video]) -> None: ...


Model = Generates | Ranks | Streams
