"""Posts JSON bodies to a server, and returns the server's replies."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO

import aiohttp
from yarl import URL

from snellen.errors import Overloaded, Rejected, UsageError, shown_address
from snellen.transport._requests import (
    address_of,
    basic,
    check_header,
    proxy_of,
    query_secrets,
    user_secrets,
    wait_of,
    what_broke,
    written_forms,
)

MOST_BYTES = 64 << 20
"""The maximum size of an uncompressed reply, in bytes."""
UNSTREAMED = 1 << 20
"""The maximum size, in bytes, of a body that is passed to the HTTP client as `bytes`. Larger bodies
are passed as a stream, since the HTTP client warns about large `bytes`."""
EVENTS = "text/event-stream"
LINE_END = re.compile(rb"\r\n|\n|\r")
EVENT_END = re.compile(rb"(?>\r\n|\n|\r){2}")


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event of a stream."""

    data: bytes
    """The content of the event."""
    at: float
    """When the event arrived, in seconds after the request."""


@dataclass(slots=True, kw_only=True)  # not frozen, which would take longer for each request
class Response:
    """A server's reply."""

    status: int
    """The HTTP status."""
    headers: Mapping[str, str]
    """The headers, with names in lower case."""
    body: bytes
    """The body; empty if the reply is a stream of events."""
    first: float
    """When the head of the reply arrived, in seconds after the request."""
    total: float
    """When the end of the reply arrived, in seconds after the request."""
    events: tuple[Event, ...] = ()
    """The events of a stream with status 200."""

    @property
    def retry_after(self) -> float | None:
        """The number of seconds that the server asks the client to wait; None if the server does
        not ask for this."""
        return wait_of(self.headers)


class Transport:
    """An HTTP client for one server. The runner limits the number of connections.

    The `secrets` and the secrets in the address are removed from every reply, since some servers
    repeat keys in their error pages. `connect`, `first`, and `total` are the maximum numbers of
    seconds until the connection is made, until the head of the reply arrives, and until the end of
    the reply arrives.

    Raises:
        UsageError: `base_url` is not a valid address, or a header cannot be sent.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        secrets: Sequence[str] = (),
        connect: float = 10.0,
        first: float = 600.0,
        total: float = 1200.0,
    ) -> None:
        self._base = address_of(base_url)
        self.where = shown_address(str(self._base))
        self._headers = {"Content-Type": "application/json", **(headers or {})}
        secrets = [*secrets, *query_secrets(self._base)]
        if self._base.user is not None:
            if "Authorization" in self._headers:
                raise UsageError(
                    f"{self.where}: there is a key, and also a user in the address. Remove one of "
                    "them."
                )
            self._headers["Authorization"] = f"Basic {basic(self._base)}"
            secrets += user_secrets(self._base)
            self._base = self._base.with_user(None)
        for name, value in self._headers.items():
            check_header(self.where, name, value)
        self._proxy = proxy_of(self._base)
        if self._proxy is not None:
            secrets += user_secrets(self._proxy)
        self._secrets = [secret.encode() for secret in written_forms(secrets)]
        self._connect = connect
        self._first = first
        self._late_first = f"no reply started within {first:g} s (timeout `first`)"
        self._total = total
        self._session: aiohttp.ClientSession | None = None
        self._urls: dict[str, URL] = {}

    def __repr__(self) -> str:
        return f"Transport({self.where!r})"

    async def post(self, path: str, body: bytes) -> Response:
        """Send a JSON body to `base_url/path`. Redirections are not followed.

        Raises:
            Overloaded: there is no connection, the reply is incomplete, or a time limit is
                exceeded. A retry may help.
            Rejected: a retry will not help, because the server redirects, its certificate could not
                be verified, or the reply is too long.
        """
        session = self._session or self._opened()
        data = body if len(body) <= UNSTREAMED else BytesIO(body)
        now = asyncio.get_running_loop().time
        started = now()
        late = self._late_first
        try:
            async with (
                asyncio.timeout(self._first) as patience,
                session.post(self._url(path), data=data, allow_redirects=False) as reply,
            ):
                first = now() - started
                if not reply.content.is_eof():  # most replies arrive together with their head
                    late = f"the reply was not complete within {self._total:g} s (timeout `total`)"
                    patience.reschedule(started + self._total)
                content = b""
                events: tuple[Event, ...] = ()
                if reply.status == 200 and reply.content_type == EVENTS:
                    events = await self._events(reply, started)
                else:
                    content = self._without_secrets(await self._content(reply))
        # The HTTP client's errors quote the address and the headers, including keys. Therefore they
        # are reworded and kept out of tracebacks.
        except aiohttp.ConnectionTimeoutError:
            late = f"no connection within {self._connect:g} s (timeout `connect`)"
            raise Overloaded(f"{self.where}: {late}") from None
        except TimeoutError:
            raise Overloaded(f"{self.where}: {late}") from None
        except (aiohttp.ClientError, OSError) as error:
            why = f"{self.where}: {self.redact(what_broke(error))}"
            if isinstance(error, aiohttp.ClientConnectorCertificateError):
                raise Rejected(why, hopeless=True) from None
            raise Overloaded(why) from None
        if 300 <= reply.status < 400:
            there = shown_address(reply.headers.get("Location", "nowhere"))
            raise Rejected(
                f"{self.where}: {reply.status}: the server redirects to {self.redact(there)}. "
                "Snellen does not send requests or keys to another address. If the new address is "
                "right, use it as the base URL.",
                hopeless=True,
            )
        return Response(
            status=reply.status,
            headers=reply.headers,
            body=content,
            first=first,
            total=now() - started,
            events=events,
        )

    def redact(self, text: str) -> str:
        """Replace the secrets in a text with `[key]`."""
        for secret in self._secrets:
            text = text.replace(secret.decode(), "[key]")
        return text

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _opened(self) -> aiohttp.ClientSession:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect),
            headers=self._headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=self._proxy,
        )
        return self._session

    def _url(self, path: str) -> URL:
        """Return the full URL of a path. A query in the path is added to the query of the base
        URL."""
        url = self._urls.get(path)
        if url is None:
            path_alone, _, query = path.partition("?")
            full_path = f"{self._base.raw_path.rstrip('/')}/{path_alone}"
            url = self._base.with_path(full_path, encoded=True, keep_query=True).extend_query(query)
            self._urls[path] = url
        return url

    async def _content(self, reply: aiohttp.ClientResponse) -> bytes:
        """Return the whole reply."""
        content = await reply.content.readany()
        self._check_size(len(content))
        if reply.content.at_eof():
            return content
        return content + b"".join([b async for b in self._blocks(reply, len(content))])

    async def _blocks(self, reply: aiohttp.ClientResponse, size: int = 0) -> AsyncIterator[bytes]:
        """Yield the blocks of a reply, or of its rest if `size` bytes have been read."""
        while block := await reply.content.readany():
            size += len(block)
            self._check_size(size)
            yield block

    def _check_size(self, size: int) -> None:
        if size > MOST_BYTES:
            raise Rejected(f"{self.where}: the reply is longer than {MOST_BYTES >> 20} MiB.")

    async def _events(self, reply: aiohttp.ClientResponse, started: float) -> tuple[Event, ...]:
        """Return a stream's events that have data. An event without an empty line at its end is
        dropped, as the standard requires (WHATWG HTML, 9.2.6), because the stream broke before the
        event was complete."""
        now = asyncio.get_running_loop().time
        events: list[Event] = []
        rest = bytearray()
        async for block in self._blocks(reply):
            seen = max(0, len(rest) - 3)
            rest += block
            if EVENT_END.search(rest, seen) is None:
                continue
            *complete, left = EVENT_END.split(rest)
            rest = bytearray(left)
            at = now() - started
            events += (
                Event(data=self._without_secrets(data), at=at)
                for data in map(_data, complete)
                if data
            )
        return tuple(events)

    def _without_secrets(self, content: bytes) -> bytes:
        for secret in self._secrets:
            content = content.replace(secret, b"[key]")
        return content


def _data(event: bytes) -> bytes:
    """Return the content of an event's `data` lines."""
    lines = LINE_END.split(event)
    return b"\n".join(
        bytes(line[5:]).removeprefix(b" ") for line in lines if line.startswith(b"data:")
    )
