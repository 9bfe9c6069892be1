"""HTTP to one server. The only file that imports the HTTP client.

It sends a body and brings back a status and bytes, or says why nothing came. What the status means
is the back end's to say; whether to send again is the runner's. `Downloads` brings whole files.
"""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from io import BytesIO
from time import time
from urllib.parse import quote, unquote
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from snellen.errors import Overloaded, Rejected, UsageError, shown_address

MOST_BYTES = 64 << 20
"""No reply is longer, uncompressed."""
SHORTEST_SECRET = 8
"""What is shorter is a placeholder (`EMPTY`, `x`), and may be a word of a reply."""
IN_ONE_PIECE = 1 << 20
"""Larger bodies are given to the HTTP client as a stream: it warns about larger bytes."""
HERE = ("localhost", "127.0.0.1", "::1")
MOST_REDIRECTIONS = 10
EVENTS = "text/event-stream"
LINE_END = re.compile(rb"\r\n|\n|\r")
EVENT_END = re.compile(rb"(?>\r\n|\n|\r){2}")


@dataclass(frozen=True, kw_only=True)
class Event:
    """One event of a stream: its data, and the seconds until it had come."""

    data: bytes
    at: float


@dataclass(frozen=True, kw_only=True)
class Response:
    """What a server sent; `first` and `total` are seconds until its head and its end had come.

    A reply of status 200 that is a stream of events has them in `events`, and no `body`.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    first: float
    total: float
    events: tuple[Event, ...] = ()

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asks to wait."""
        return _wait(self.headers)


class Transport:
    """Connections to one server, kept open; how many at once is the runner's to decide.

    `secrets`, and those in the address, are taken out of all that comes back before anybody sees
    it: servers echo keys in their error pages. `connect`, `first` and `total` are the seconds
    allowed until there is a connection, the head of the reply, and its end.

    Raises:
        UsageError: that is no address, or a header cannot be sent.
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
        self._base = _address(base_url)
        self.where = shown_address(str(self._base))
        self._headers = {"Content-Type": "application/json", **(headers or {})}
        secrets = [*secrets, *_query_secrets(self._base)]
        if self._base.user is not None:
            if "Authorization" in self._headers:
                raise UsageError(
                    f"{self.where}: there is a key, and a user in the address; give one."
                )
            self._headers["Authorization"] = f"Basic {_basic(self._base)}"
            secrets += _user_secrets(self._base)
            self._base = self._base.with_user(None)
        for name, value in self._headers.items():
            _check_header(self.where, name, value)
        self._proxy = _proxy(self._base)
        if self._proxy is not None:
            secrets += _user_secrets(self._proxy)
        self._secrets = [secret.encode() for secret in _written_forms(secrets)]
        self._connect = connect
        self._first = first
        self._total = total
        self._session: aiohttp.ClientSession | None = None
        self._urls: dict[str, URL] = {}

    def __repr__(self) -> str:
        return f"Transport({self.where!r})"

    async def post(self, path: str, body: bytes) -> Response:
        """Send a JSON body to `base_url/path`. Redirections are not followed.

        Raises:
            Overloaded: no connection, no whole reply, or not in time.
            Rejected: asking again is of no use: a redirection, a certificate that nobody vouches
                for, a reply without end.
        """
        session = self._session or self._opened()
        data = body if len(body) <= IN_ONE_PIECE else BytesIO(body)
        now = asyncio.get_running_loop().time
        started = now()
        late = f"no reply began within {self._first:g} s (time-out `first`)"
        try:
            async with (
                asyncio.timeout(self._first) as patience,
                session.post(self._url(path), data=data, allow_redirects=False) as reply,
            ):
                first = now() - started
                late = f"the reply was not complete within {self._total:g} s (time-out `total`)"
                patience.reschedule(started + self._total)
                content = b""
                events: tuple[Event, ...] = ()
                if reply.status == 200 and reply.content_type == EVENTS:
                    events = await self._events(reply, started)
                else:
                    content = self._without_secrets(
                        b"".join([b async for b in self._blocks(reply)])
                    )
        # The HTTP client's own errors quote the address and the headers, keys included: they are
        # told in our words, and never appear in a traceback.
        except aiohttp.ConnectionTimeoutError:
            late = f"no connection within {self._connect:g} s (time-out `connect`)"
            raise Overloaded(f"{self.where}: {late}") from None
        except TimeoutError:
            raise Overloaded(f"{self.where}: {late}") from None
        except (aiohttp.ClientError, OSError) as error:
            why = f"{self.where}: {self.redact(_what_broke(error))}"
            if isinstance(error, aiohttp.ClientConnectorCertificateError):
                raise Rejected(why, hopeless=True) from None
            raise Overloaded(why) from None
        if 300 <= reply.status < 400:
            there = shown_address(reply.headers.get("Location", "nowhere"))
            raise Rejected(
                f"{self.where}: {reply.status}: it has moved to {self.redact(there)}. "
                "Requests and keys do not follow; if that address is right, name it.",
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
        """The text without the secrets."""
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
        """The address of a path, which may have a query beside that of the base."""
        url = self._urls.get(path)
        if url is None:
            path_alone, _, query = path.partition("?")
            whole = f"{self._base.raw_path.rstrip('/')}/{path_alone}"
            url = self._base.with_path(whole, encoded=True, keep_query=True).extend_query(query)
            self._urls[path] = url
        return url

    async def _blocks(self, reply: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        size = 0
        while block := await reply.content.readany():
            size += len(block)
            if size > MOST_BYTES:
                raise Rejected(f"{self.where}: the reply is longer than {MOST_BYTES >> 20} MiB")
            yield block

    async def _events(self, reply: aiohttp.ClientResponse, started: float) -> tuple[Event, ...]:
        """A stream's events that have data. One that no empty line ends is none, as the standard
        has it (WHATWG HTML, 9.2.6): the stream was cut in it."""
        now = asyncio.get_running_loop().time
        events: list[Event] = []
        rest = bytearray()
        async for block in self._blocks(reply):
            seen = max(0, len(rest) - 3)
            rest += block
            if EVENT_END.search(rest, seen) is None:
                continue
            *whole, left = EVENT_END.split(rest)
            rest = bytearray(left)
            at = now() - started
            events += (
                Event(data=self._without_secrets(data), at=at) for data in map(_data, whole) if data
            )
        return tuple(events)

    def _without_secrets(self, content: bytes) -> bytes:
        for secret in self._secrets:
            content = content.replace(secret, b"[key]")
        return content


@dataclass(frozen=True, kw_only=True)
class FileHead:
    """What a server says of a file whose bytes are about to come.

    `start` is the place in the file of the first byte that comes, `size` that of the whole file
    (None: not said). `validator` names this version of the file, for `If-Range`; None: it has none.
    `beyond` says that the file has nothing at the place that was asked for.
    """

    start: int
    size: int | None
    validator: str | None
    beyond: bool = False


class Downloads:
    """Files from any server, as they are stored there. Redirections are followed, from https to
    https alone.

    `connect` is the seconds allowed until there is a connection, `silence` those without a byte.
    """

    def __init__(self, *, connect: float = 10.0, silence: float = 60.0) -> None:
        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect, sock_read=silence),
            # A file compressed on the way would have other bytes, and its ranges mean nothing.
            headers={"Accept-Encoding": "identity"},
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        self._silence = silence

    async def close(self) -> None:
        await self._session.close()

    @asynccontextmanager
    async def get(
        self, url: str, *, start: int = 0, validator: str | None = None, key: str | None = None
    ) -> AsyncIterator[tuple[FileHead, AsyncIterator[bytes]]]:
        """The file's head and its bytes from `start` on, if it is still the version `validator`;
        else, as where the server gives no ranges, all of it, which the head's `start` tells.

        The key goes to the server of `url`, and to none that it redirects to.

        Raises:
            Overloaded: nothing came, or it broke off (from the bytes, too): worth another try.
            Rejected: asking again is of no use: no such file, no permission, a bad redirection.
            UsageError: that is no address.
        """
        asked = _address(url)
        headers = {}
        if key is not None:
            _check_header(shown_address(url), "Authorization", key)
        if start:
            headers = {"Range": f"bytes={start}-", "If-Range": validator or ""}
        if key is not None and asked.scheme != "https" and asked.host not in HERE:
            raise Rejected(f"{shown_address(url)}: a key is sent over https only.")
        there = asked.with_user(None)
        for _ in range(MOST_REDIRECTIONS + 1):
            mine = headers
            if key is not None and _server(there) == _server(asked):
                mine = {**headers, "Authorization": f"Bearer {key}"}
            where = shown_address(str(there))
            try:
                reply = await self._session.get(
                    there, headers=mine, allow_redirects=False, proxy=_proxy(there)
                )
            except (aiohttp.ClientError, OSError) as error:
                why = f"{where}: {self._why(error)}"
                if isinstance(error, aiohttp.ClientConnectorCertificateError):
                    raise Rejected(why) from None
                raise Overloaded(why) from None
            async with reply:
                if reply.status not in (301, 302, 303, 307, 308):
                    yield _head(reply, start), self._bytes(reply, where)
                    return
                there = _redirected(there, reply.headers.get("Location", ""))
        raise Rejected(f"{shown_address(url)}: redirects more than {MOST_REDIRECTIONS} times.")

    async def _bytes(self, reply: aiohttp.ClientResponse, where: str) -> AsyncIterator[bytes]:
        try:
            while block := await reply.content.readany():
                yield block
        except (aiohttp.ClientError, OSError) as error:
            raise Overloaded(f"{where}: {self._why(error)}") from None

    def _why(self, error: Exception) -> str:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return "no connection in time"
        if isinstance(error, TimeoutError):
            return f"nothing came for {self._silence:g} s"
        return _what_broke(error)


def _data(event: bytes) -> bytes:
    """What the `data` lines of an event say."""
    lines = LINE_END.split(event)
    return b"\n".join(
        bytes(line[5:]).removeprefix(b" ") for line in lines if line.startswith(b"data:")
    )


def _server(url: URL) -> tuple[str, str | None, int | None]:
    return url.scheme, url.host, url.port


def _redirected(url: URL, location: str) -> URL:
    """Where a redirection leads, if it may be followed."""
    where = shown_address(str(url))
    try:
        there = url.join(URL(location))
    except ValueError:
        raise Rejected(f"{where}: redirects to what is no address.") from None
    if not location or there.scheme not in ("http", "https") or not there.host:
        raise Rejected(
            f"{where}: redirects to {shown_address(location) or 'nowhere'}, which is no server."
        )
    if url.scheme == "https" and there.scheme != "https":
        raise Rejected(f"{where}: redirects from https to plain http, which anybody can forge.")
    return there.with_user(None)


def _head(reply: aiohttp.ClientResponse, start: int) -> FileHead:
    """What is to come, or an error where that is not the file.

    RFC 9110: a weak ETag (13.1.5) cannot vouch for a part of a file; 416 (15.5.17) and 206
    (15.3.7) carry the whole size in Content-Range.
    """
    where = shown_address(str(reply.url))
    etag = reply.headers.get("ETag", "")
    strong = etag if etag.startswith('"') else None
    validator = strong or reply.headers.get("Last-Modified")
    span = re.fullmatch(
        r"bytes (?:(\d{1,18})-\d{1,18}|\*)/(\d{1,18}|\*)", reply.headers.get("Content-Range", "")
    )
    total = int(span[2]) if span and span[2] != "*" else None
    match reply.status:
        case 200:
            if reply.headers.get("Content-Encoding", "identity") != "identity":
                raise Rejected(f"{where}: sends the file compressed, though asked not to.")
            return FileHead(start=0, size=reply.content_length, validator=validator)
        case 206 if start and span and span[1]:
            return FileHead(start=int(span[1]), size=total, validator=validator)
        case 416 if start:
            return FileHead(start=start, size=total, validator=validator, beyond=True)
        case 408 | 425 | 429 | 500 | 502 | 503 | 504:
            wait = _wait(reply.headers)
            raise Overloaded(f"{where}: {reply.status}: it is busy or broken", retry_after=wait)
        case 401 | 403:
            raise Rejected(
                f"{where}: {reply.status}: it gives the file to those it knows only: its terms may "
                "have to be accepted there first."
            )
        case 404 | 410:
            raise Rejected(f"{where}: {reply.status}: there is no such file.")
        case status:
            raise Rejected(f"{where}: {status}: that is no file.")


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait, as a number or a date (RFC 9110, 10.2.3)."""
    value = headers.get("Retry-After", "").strip()
    if value.replace(".", "", 1).isdecimal():
        return float(value)
    until = _timestamp(value)
    if until is None:
        return None
    # By the server's clock where it sends the time, since ours may be wrong.
    now = _timestamp(headers.get("Date", ""))
    return max(0.0, until - (time() if now is None else now))


def _timestamp(date: str) -> float | None:
    """A header's date in seconds since 1970; None if it is not a date."""
    try:
        return parsedate_to_datetime(date).timestamp()
    # Which of these a bad date raises depends on the version of Python: numbers too large for a
    # date, a zone of more than a day, fields that are missing, years that the C library lacks.
    except (ValueError, OverflowError, TypeError, IndexError, OSError):
        return None


def _address(base_url: str) -> URL:
    try:
        url = URL(base_url).with_fragment(None)
        if url.scheme in ("http", "https") and url.host:
            return url
    except ValueError:
        pass
    # An address that cannot be taken apart cannot be shown without what is secret in it, either.
    named = "the base URL" if {"@", "?"} & set(base_url) else repr(base_url)
    raise UsageError(f"{named} is no address of a server; write http://HOST:PORT/v1.")


def _query_secrets(url: URL) -> list[str]:
    """The values of a query, as written and as meant; versions (`api-version=…`) are no secret."""
    pairs = [pair.partition("=") for pair in url.raw_query_string.split("&")]
    raw = [value for name, _, value in pairs if not name.endswith("version")]
    return [*raw, *map(unquote, raw)]


def _proxy(url: URL) -> URL | None:
    """The proxy that the environment names for this address; none for this machine itself.

    Raises:
        UsageError: the variable does not hold the address of an HTTP proxy.
    """
    if url.host in HERE or proxy_bypass(url.authority):
        return None
    address = getproxies().get(url.scheme)
    if not address:
        return None
    try:
        # As curl does, take an address without a scheme for that of an HTTP proxy.
        proxy = URL(address if "://" in address else f"http://{address}")
        # An unescaped slash or question mark in a password ends the host too early.
        is_proxy = proxy.scheme in ("http", "https") and bool(proxy.host)
        is_proxy = is_proxy and "@" not in proxy.raw_path_qs + proxy.raw_fragment
    except ValueError:
        is_proxy = False
    if not is_proxy:
        raise UsageError(
            f"The environment variable {url.scheme}_proxy does not hold the address of an HTTP "
            "proxy. Its value is not shown because it may contain a password. Set it to "
            "http://HOST:PORT, with USER:PASSWORD@ before HOST if the proxy needs them and special "
            "characters in both percent-encoded, or unset it."
        )
    return proxy


def _basic(url: URL) -> str:
    """The user part of an address as the header of basic authentication has it."""
    return b64encode(f"{url.user}:{url.password or ''}".encode()).decode()


def _user_secrets(url: URL) -> list[str]:
    """The secrets in the user part of an address, as written and as sent."""
    if url.user is None:
        return []
    user, password = url.user, url.password or ""
    return [password or user, url.raw_password or "", f"{user}:{password}@", _basic(url)]


def _written_forms(secrets: Sequence[str]) -> list[str]:
    """Secrets in the forms in which servers write them, the longest first.

    HTTP strips blanks around a header's value, JSON may escape a slash, and an address escapes
    more.
    """
    bare = {secret.strip() for secret in secrets}
    bare = {secret for secret in bare if len(secret) >= SHORTEST_SECRET}
    escaped = {secret.replace("/", "\\/") for secret in bare}
    return sorted(bare | escaped | {quote(secret, safe="") for secret in bare}, key=len)[::-1]


def _check_header(where: str, name: str, value: str) -> None:
    """Whether a header can be sent.

    Raises:
        UsageError: it cannot; the value is not quoted.
    """
    if not (value.isascii() and value.isprintable()):
        raise UsageError(
            f"{where}: the header {name} cannot be sent, because it has a line break "
            "or a character outside ASCII. Check that only the key was copied."
        )


def _what_broke(error: Exception) -> str:
    """What happened to a connection, in words."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return f"its TLS certificate is not to be trusted: {error.certificate_error}"
        case aiohttp.ClientConnectorDNSError():
            return f"there is no host of that name ({error.os_error.strerror})"
        case aiohttp.ClientProxyConnectionError():
            return "the proxy that the environment names accepts no connections"
        case aiohttp.ClientHttpProxyError():
            return f"the proxy that the environment names answers {error.status} {error.message}"
        case aiohttp.ClientConnectorSSLError():
            return f"no TLS there ({error}): is the address to begin with http://?"
        case aiohttp.ClientConnectorError():
            return f"nothing accepts connections there ({error.os_error.strerror}): is it up?"
        case aiohttp.ServerDisconnectedError():
            return "it closed the connection without a reply"
        case aiohttp.ClientPayloadError():
            return "it broke off in the middle of a reply"
        case aiohttp.ClientResponseError():
            return f"what it sends is not HTTP ({error.message})"
        case _:
            return f"the connection broke ({error or type(error).__name__})"
