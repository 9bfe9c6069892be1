"""Shared parts of servers' back ends: their errors as our classes, and optional fields."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import orjson
from pybase64 import b64encode

from snellen.core.model import Reply, Request, Times
from snellen.core.outputs import MAX_COUNT
from snellen.core.profile import Profile
from snellen.errors import Overloaded, Rejected, is_temporary
from snellen.media import images
from snellen.media.content import Image, Message
from snellen.transport import Response, Transport

QUOTED = 300
"""Characters of a server's message that are kept."""
THINKING = re.compile(r"thinking|reasoning[_.]effort|budget_tokens", re.IGNORECASE)
"""Words of services about settings of thinking that they refuse."""
BEARER = "Authorization"
GAP = b"\x00"
"""Placeholder for a string that is inserted later. JSON has no such byte: strings escape it."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """A model on a server, and its error messages."""

    name: str
    """The name of the model."""
    transport: Transport
    """The HTTP client."""
    path: str
    """The path after the server's address."""
    version: str = "/v1"
    """The end that the address usually has."""
    key_variable: str | None = None
    """The environment variable of the key; None without one."""
    stream: bool = False
    """Whether replies come in pieces."""

    def error(
        self,
        status: int,
        words: str,
        *,
        wait: float | None = None,
        is_unpaid: bool = False,
        is_wrong_key: bool = False,
        is_hopeless: bool = False,
    ) -> Overloaded | Rejected:
        """The exception for a status other than 200. `is_hopeless` says that an error that is not
        retried would fail every other question, too."""
        message = self.transport.redact(f"{self.transport.where}: {status}: {words}")
        if is_unpaid or status == 402:
            return Rejected(f"{_ended(message)} The account must be paid.", hopeless=True)
        if is_temporary(status):
            return Overloaded(message, retry_after=wait, throttled=status == 429)
        if is_wrong_key or status == 401:
            hint = (
                f"Is the key in {self.key_variable} right?"
                if self.key_variable
                else "Pass the name of the variable that holds its key with --api-key-env."
            )
            return Rejected(f"{_ended(message)} {hint}", hopeless=True)
        if status == 404:
            return Rejected(
                f"{_ended(message)} Is {self.name!r} a model there, and is the address the part "
                f"before /{self.path} (it usually ends in {self.version})?",
                hopeless=True,
            )
        if status == 400 and "temperature" in words.lower():
            return Rejected(
                f"{_ended(message)} If the model takes no temperature, use --temperature default, "
                "which sends none.",
                hopeless=True,
            )
        if status == 400 and THINKING.search(words):
            return Rejected(
                f"{_ended(message)} If the model does not take this effort, use another --effort.",
                hopeless=True,
            )
        return Rejected(message, hopeless=is_hopeless)

    def json(self, data: bytes, what: str) -> dict[str, Any]:
        """The JSON object in a reply or in an event of a stream.

        Raises:
            Overloaded: the data is not JSON, or not an object. `what` names the expected
                object, with its article.
        """
        try:
            value = orjson.loads(data)
        except orjson.JSONDecodeError:
            raise self.unreadable("not JSON", data) from None
        if not isinstance(value, dict):
            raise self.unreadable(f"not {what}", data)
        return value

    def unreadable(self, what: str, data: bytes) -> Overloaded:
        return Overloaded(f"{self.transport.where}: the reply is {what}, but {quote(data)}")

    def without_text(self, kinds: Collection[str]) -> Rejected:
        """The error for a reply that has something else instead of text, such as a tool call that
        was not requested. It does not answer the question, so it is not scored."""
        content = self.transport.redact(", ".join(sorted(kinds)))
        return Rejected(
            f"{self.transport.where}: the reply has no text, only {content}, which was not "
            "requested. Use a model or server that answers in text."
        )

    def cut(self) -> Overloaded:
        """The error for a stream that ended without its end mark."""
        return Overloaded(f"{self.transport.where}: the stream ended before the reply did")


class OnServer(ABC):
    """A model on a server. A back end writes requests and reads bodies, streams of events, and
    errors. `what` is the name of a whole body in messages."""

    what: ClassVar[str]

    def __init__(self, there: Service) -> None:
        self.name = there.name
        self._there = there
        self._path = there.path

    async def generate(self, request: Request) -> Reply:
        """The reply to a request.

        Raises:
            Overloaded: the server's status or error allows a retry, the body is malformed, or the
                stream is incomplete.
            Rejected: the server's status or error allows no retry.
        """
        response = await self._there.transport.post(self._path, await self._encoded(request))
        if response.status != 200:
            return self._withheld(response.status, error_in(response.body), response)
        if response.events:
            reply = self._streamed(response)
        else:
            reply = self._reply(self._there.json(response.body, self.what), response)
        # The bytes have no keys, but JSON can spell one in escapes, and a stream can split it.
        redact = self._there.transport.redact
        text = redact(reply.text)
        reasoning = None if reply.reasoning is None else redact(reply.reasoning)
        if (text, reasoning) == (reply.text, reply.reasoning):
            return reply
        return replace(reply, text=text, reasoning=reasoning)

    async def close(self) -> None:
        await self._there.transport.close()

    async def _encoded(self, request: Request) -> bytes:
        return self._body(request)

    @abstractmethod
    def _body(self, request: Request) -> bytes: ...

    @abstractmethod
    def _reply(
        self, body: Mapping[str, Any], response: Response, first: float | None = None
    ) -> Reply:
        """The reply in a whole body. `first` is when the first piece of a stream came."""

    @abstractmethod
    def _streamed(self, response: Response) -> Reply: ...

    @abstractmethod
    def _error(
        self, status: int, error: Mapping[str, Any], response: Response
    ) -> Overloaded | Rejected: ...

    def _withheld(self, status: int, error: Mapping[str, Any], response: Response) -> Reply:
        """The reply that an error means, for services whose content filters answer with errors."""
        raise self._error(status, error, response)


def service(
    name: str,
    *,
    profile: Profile,
    api_key: str | None,
    path: str,
    variable: str,
    key_header: str = BEARER,
    headers: Mapping[str, str] | None = None,
    version: str = "/v1",
) -> Service:
    """The model of that name on the profile's server. The key goes in the profile's key header,
    else in `key_header`. `variable` is the environment variable of the official server's key."""
    assert profile.base_url is not None
    header = profile.key_header or key_header
    sent = dict(headers or {})
    if api_key:
        sent[header] = f"Bearer {api_key}" if header.lower() == BEARER.lower() else api_key
    transport = Transport(
        profile.base_url,
        headers=sent,
        secrets=[api_key] if api_key else [],
        connect=profile.timeout.connect,
        first=profile.timeout.first,
        total=profile.timeout.total,
    )
    return Service(
        name=name,
        transport=transport,
        path=path,
        version=version,
        key_variable=profile.api_key_env or (variable if api_key else None),
        stream=profile.stream,
    )


# -- there


def encoded(image: Image, *, takes: Sequence[str] | None = None) -> tuple[str, bytes]:
    """An image's type, and its bytes as base64. It becomes a PNG if the server's types, `takes`, do
    not include its own (None: the server takes every type that is loaded)."""
    image = images.load(image)
    if takes is not None and image.mime not in takes:
        image = images.as_png(image)
    assert isinstance(image.source, bytes) and image.mime is not None
    return image.mime, b64encode(image.source)


class Encoded(NamedTuple):
    """The text of a JSON string, in pieces: bytes that need no escapes, such as base64. This saves
    decoding, searching, and encoding the text again."""

    pieces: tuple[bytes, ...]
    """The pieces."""


def system_apart(messages: Sequence[Message]) -> tuple[str | None, Sequence[Message]]:
    """The system message, for servers with a separate field for it, and the turns after it.

    Raises:
        Rejected: a system message is not the first message, or has pictures.
    """
    if not messages or messages[0].role != "system":
        first, rest = None, messages
    else:
        first, rest = messages[0].text, messages[1:]
        if not all(isinstance(part, str) for part in messages[0].content):
            raise Rejected(
                "the system message has pictures, and this service takes only text there."
            )
    if any(message.role == "system" for message in rest):
        raise Rejected(
            "the request has a system message that is not the first message. This service takes a "
            "single system message, before all others."
        )
    return first, rest


def body_of(fields: Mapping[str, Any]) -> bytes:
    """A request's body, without the fields that are None.

    Strings that are already encoded are inserted last: copying a picture of 1 MB into the growing
    buffer of the JSON encoder costs as much as all other work on it here.
    """
    strings: list[tuple[bytes, ...]] = []

    def put_off(value: object) -> orjson.Fragment:
        if not isinstance(value, Encoded):
            raise TypeError(f"JSON has no type for {type(value).__name__}")
        strings.append((b'"', *value.pieces, b'"'))
        return orjson.Fragment(GAP)

    present = {name: value for name, value in fields.items() if value is not None}
    body = orjson.dumps(present, default=put_off)
    if not strings:
        return body
    chunks: list[bytes] = []
    for before, string in zip(body.split(GAP), [*strings, ()], strict=True):
        chunks += (before, *string)
    return b"".join(chunks)


# -- and back


def error_in(body: bytes) -> dict[str, Any]:
    """The error object of a body, in the shapes that servers use. It is empty without an error."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    if isinstance(value, list) and value:  # Google's, when a stream was requested
        value = value[0]
    error = value.get("error", value) if isinstance(value, dict) else {}
    return error if isinstance(error, dict) else {"message": error}


def words_of(error: Mapping[str, Any], body: bytes = b"") -> str:
    """The error's own message on one line, else the beginning of the body."""
    message = string(error.get("message"))
    return " ".join(message.split())[:QUOTED] if message else quote(body)


def times(response: Response, first: float | None = None) -> Times:
    """A reply's times. `first` is when the first piece of a stream came."""
    return Times(
        first=response.first if first is None else first, token=first, total=response.total
    )


def count(counts: object, name: str) -> int | None:
    """The count in a field; None if the field is absent or is not a count."""
    value = counts.get(name) if isinstance(counts, dict) else None
    # In Python `true` is an integer; in a journal it is not.
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT
    return value if is_count else None


def total(*counts: int | None) -> int | None:
    """The sum of the known counts, or None if all are unknown."""
    known = [value for value in counts if value is not None]
    return sum(known) if known else None


def string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def objects(value: object) -> list[dict[str, Any]]:
    """The objects in a list. Another value has none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def is_optional(value: object, kind: type) -> bool:
    return value is None or isinstance(value, kind)


def are_objects(value: object) -> bool:
    """Whether a field is a list of objects, or absent."""
    if value is None:
        return True
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def are_parts(value: object) -> bool:
    """Whether a field is a list of objects with a type, or absent."""
    return are_objects(value) and all(isinstance(part.get("type"), str) for part in objects(value))


def are_texts(parts: Sequence[Mapping[str, Any]], kind: str, field: str = "text") -> bool:
    """Whether all parts of type `kind` have text in a field."""
    return all(isinstance(part.get(field), str) for part in parts if part.get("type") == kind)


def quote(body: bytes) -> str:
    """The beginning of a body, on one line."""
    text = " ".join(body[: 4 * QUOTED].decode(errors="replace").split())
    return repr(text[:QUOTED]) if text else "nothing"


def _ended(words: str) -> str:
    """A server's message, ready to be followed by a sentence of ours."""
    return words if words.endswith((".", "!", "?")) else f"{words}."
