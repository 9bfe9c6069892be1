"""Code that the back ends for servers share: conversion of errors, and access to optional
fields."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import orjson
from pybase64 import b64encode

from snellen.core.model import Reply, Request, Times
from snellen.core.output_fields import MAX_COUNT
from snellen.core.profile import Profile
from snellen.errors import Overloaded, Rejected, is_temporary
from snellen.media import images
from snellen.media.content import Image, Message, ToolCall
from snellen.transport import Response, Transport

QUOTED = 300
"""The maximum number of characters of a server's message that Snellen quotes."""
THINKING = re.compile(r"thinking|reasoning[_.]effort|budget_tokens", re.IGNORECASE)
"""Matches error messages about thinking, which may mean that the service does not support the
effort."""
NO_TOOLS = re.compile(r"--enable-auto-tool-choice|not support (?:tools|function)", re.IGNORECASE)
"""Matches error messages of servers and models without tool calls: those of vLLM and Ollama."""
BEARER = "Authorization"
GAP = b"\x00"
"""A placeholder for a string that is inserted later. This byte never occurs in JSON, because JSON
strings must escape it."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """A model on a server, and the exceptions for the server's errors."""

    name: str
    """The name of the model."""
    transport: Transport
    """The HTTP client."""
    path: str
    """The path of requests, relative to the server's address."""
    version: str = "/v1"
    """The path with which a base URL usually ends."""
    key_variable: str | None = None
    """The name of the environment variable that contains the key; None if there is no key."""
    stream: bool = False
    """Whether replies are streamed."""

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
        """Return the exception for a status other than 200. `is_hopeless` states whether an error
        that cannot be retried would make every other question fail, too."""
        message = self.transport.redact(f"{self.transport.where}: {status}: {words}")
        if is_unpaid or status == 402:
            return Rejected(
                f"{_ended(message)} Check the account's credit and billing.",
                hopeless=True,
            )
        if is_temporary(status):
            return Overloaded(message, retry_after=wait, throttled=status == 429)
        if is_wrong_key or status == 401:
            hint = (
                f"Is the key in {self.key_variable} right?"
                if self.key_variable
                else "Pass the name of the environment variable that holds the key with "
                "--api-key-env."
            )
            return Rejected(f"{_ended(message)} {hint}", hopeless=True)
        if status == 404:
            return Rejected(
                f"{_ended(message)} Does the server have a model {self.name!r}? Is the address "
                f"right? (It is the part before /{self.path}, and usually ends in {self.version}.)",
                hopeless=True,
            )
        if status == 400 and "temperature" in words.lower():
            return Rejected(
                f"{_ended(message)} If the model does not accept a temperature, use --temperature "
                "default, which sends none.",
                hopeless=True,
            )
        if status == 400 and THINKING.search(words):
            return Rejected(
                f"{_ended(message)} If the model does not support this effort, use another "
                "--effort.",
                hopeless=True,
            )
        if status == 400 and NO_TOOLS.search(words):
            return Rejected(
                f"{_ended(message)} Start the server with a parser of tool calls, or use "
                "--tool-form text.",
                hopeless=True,
            )
        return Rejected(message, hopeless=is_hopeless)

    def json(self, data: bytes, what: str) -> dict[str, Any]:
        """Parse the JSON object in a reply or in an event of a stream. `what` describes the
        expected object, such as "a message".

        Raises:
            Overloaded: the data is not JSON, or not a JSON object.
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
        """Return the error for a reply without text, such as a reply with only a tool call that was
        not requested. A reply without text does not answer the question, so it is not scored."""
        content = self.transport.redact(", ".join(sorted(kinds)))
        return Rejected(
            f"{self.transport.where}: the reply has no text, only {content}, which was not "
            "requested. Use a model or server that answers in text."
        )

    def cut(self) -> Overloaded:
        """Return the error for a stream that ended before the reply was complete."""
        return Overloaded(f"{self.transport.where}: the stream ended before the reply was complete")


class OnServer(ABC):
    """The base class of models on servers. A back end implements methods that write requests and
    read replies, event streams, and errors. `what` names a whole reply in error messages, such as
    `a chat completion`."""

    what: ClassVar[str]
    calls: ClassVar[str]
    """The service's word for tool calls in replies."""
    takes_tools = True

    def __init__(self, there: Service) -> None:
        self.name = there.name
        self._there = there
        self._path = there.path

    async def generate(self, request: Request) -> Reply:
        """Return the reply to a request.

        Raises:
            Overloaded: the server reported an error after which a retry may help, the reply is
                malformed, or the stream is incomplete.
            Rejected: the server reported an error after which a retry will not help.
        """
        response = await self._there.transport.post(self._path, await self._encoded(request))
        if response.status != 200:
            return self._withheld(response.status, error_in(response.body), response)
        if response.events:
            reply = self._streamed(response)
        else:
            reply = self._reply(self._there.json(response.body, self.what), response)
        if reply.tool_calls and not request.tools:
            if not reply.text:
                raise self._there.without_text([self.calls])
            reply = replace(reply, tool_calls=(), continuation=None)
        return self._redacted(reply)

    def _redacted(self, reply: Reply) -> Reply:
        """Return a reply without keys. Keys were already removed from the bytes. But JSON can
        contain a key in escaped form, and a stream can split it."""
        redact = self._there.transport.redact
        text = redact(reply.text)
        reasoning = None if reply.reasoning is None else redact(reply.reasoning)
        if reply.tool_calls:
            calls = tuple(
                ToolCall(
                    id=redact(call.id), name=redact(call.name), arguments=redact(call.arguments)
                )
                for call in reply.tool_calls
            )
            continuation = None if reply.continuation is None else redact(reply.continuation)
            reply = replace(reply, tool_calls=calls, continuation=continuation)
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
        """Return the reply in a complete body. `first` is the time at which the first piece of a
        stream arrived."""

    @abstractmethod
    def _streamed(self, response: Response) -> Reply: ...

    @abstractmethod
    def _error(
        self, status: int, error: Mapping[str, Any], response: Response
    ) -> Overloaded | Rejected: ...

    def _withheld(self, status: int, error: Mapping[str, Any], response: Response) -> Reply:
        """Raise the exception for an error. If the error means that the service's content filter
        withheld the reply, a back end may return a reply instead."""
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
    """Return the model with this name on the profile's server. The key is sent in the profile's
    `key_header`, or otherwise in the argument `key_header`. `variable` is the environment variable
    that usually contains the official server's key."""
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
    """Return the media type of an image, and its bytes in base64. `takes` lists the types that the
    server accepts (None: all types that can be loaded). An image of another type is converted to
    PNG."""
    image = images.load(image)
    if takes is not None and image.mime not in takes:
        image = images.as_png(image)
    assert isinstance(image.source, bytes) and image.mime is not None
    return image.mime, b64encode(image.source)


class Encoded(NamedTuple):
    """The text of a JSON string, as bytes that need no escaping, such as base64. With such bytes,
    the JSON encoder does not need to decode, search, and encode the text."""

    pieces: tuple[bytes, ...]
    """The consecutive pieces of the text."""


def system_apart(messages: Sequence[Message]) -> tuple[str | None, Sequence[Message]]:
    """Split a conversation into the system message and the turns after it, for servers that have a
    separate field for the system message.

    Raises:
        Rejected: a system message is not the first message, or has pictures.
    """
    if not messages or messages[0].role != "system":
        first, rest = None, messages
    else:
        first, rest = messages[0].text, messages[1:]
        if not all(isinstance(part, str) for part in messages[0].content):
            raise Rejected(
                "the system message has pictures, but this service accepts only text in it."
            )
    if any(message.role == "system" for message in rest):
        raise Rejected(
            "the request has a system message that is not the first message. This service accepts "
            "only one system message, before all other messages."
        )
    return first, rest


def body_of(fields: Mapping[str, Any]) -> bytes:
    """Encode the body of a request as JSON, without the fields that are None.

    Strings that are already encoded are inserted after the rest of the body has been encoded. If
    the JSON encoder copied a picture of 1 MB into its growing buffer, the copying would take as
    long as all other work on the picture.
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
    """Return the error object in a body, in any of the formats that servers use. If there is no
    error, return an empty object."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    if isinstance(value, list) and value:  # Google sends a list if a stream was requested
        value = value[0]
    error = value.get("error", value) if isinstance(value, dict) else {}
    return error if isinstance(error, dict) else {"message": error}


def words_of(error: Mapping[str, Any], body: bytes = b"") -> str:
    """Return the message of an error on one line. If there is no message, return the beginning of
    the body."""
    message = string(error.get("message"))
    return " ".join(message.split())[:QUOTED] if message else quote(body)


def times(response: Response, first: float | None = None) -> Times:
    """Return the times of a reply. `first` is the time at which the first piece of a stream
    arrived."""
    return Times(
        first=response.first if first is None else first, token=first, total=response.total
    )


def count(counts: object, name: str) -> int | None:
    """Return the count in a field, or None if the field is missing or does not contain a count."""
    value = counts.get(name) if isinstance(counts, dict) else None
    # In Python, True is an integer, but it must not be stored as a count.
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT
    return value if is_count else None


def total(*counts: int | None) -> int | None:
    """Return the sum of the known counts, or None if all counts are unknown."""
    known = [value for value in counts if value is not None]
    return sum(known) if known else None


def string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def objects(value: object) -> list[dict[str, Any]]:
    """Return the JSON objects in a list, or an empty list if the value is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def is_optional(value: object, kind: type) -> bool:
    return value is None or isinstance(value, kind)


def are_objects(value: object) -> bool:
    """Return whether a field is missing or contains a list of JSON objects."""
    if value is None:
        return True
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def are_parts(value: object) -> bool:
    """Return whether a field is missing or contains a list of JSON objects with a type."""
    return are_objects(value) and all(isinstance(part.get("type"), str) for part in objects(value))


def are_texts(parts: Sequence[Mapping[str, Any]], kind: str, field: str = "text") -> bool:
    """Return whether all parts of type `kind` have text in the given field."""
    return all(isinstance(part.get(field), str) for part in parts if part.get("type") == kind)


def quote(body: bytes) -> str:
    """Return the beginning of a body on one line."""
    text = " ".join(body[: 4 * QUOTED].decode(errors="replace").split())
    return repr(text[:QUOTED]) if text else "nothing"


def _ended(words: str) -> str:
    """End a server's message with a period, if necessary, so that a sentence can follow the
    message."""
    return words if words.endswith((".", "!", "?")) else f"{words}."
