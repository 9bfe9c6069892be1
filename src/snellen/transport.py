"""HTTP to one server. The only file that imports the HTTP client.

It sends a body and brings back a status and bytes, or says in `Overloaded` why nothing came. What the status means is the back end's to say;
whether to send again is the runner's.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import monotonic, time
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from snellen.errors import Overloaded, UsageError

MOST_BYTES = 64 << 20
"""No reply is longer, uncompressed."""
BLOCK = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Response:
    """What a server sent: `first` and `total` are seconds from sending to the head and to the end of the reply."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    first: float
    total: float

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asks to wait, from `Retry-After` in seconds or as a date (RFC 9110, 10.2.3)."""
        value = self.headers.get("Retry-After", "").strip()
        if value.replace(".", "", 1).isdigit():
            return float(value)
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time())
        except ValueError:
            return None


class Transport:
    """Connections to one server, kept open; how many at once is the runner's to decide.

    `secrets` are taken out of everything that comes back, before anybody sees it: servers echo keys in their error pages. Seconds to connect, until the
    first byte, and for the whole request are bounded.
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
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{shown(base_url)!r} is no address of a server; write http://HOST:PORT/v1.")
        self.where = shown(base_url)
        self._base = base_url.rstrip("/")
        self._headers = dict(headers or {})
        secrets = [*secrets, parts.password or "", *_values(parts.query)]
        self._secrets = [secret.encode() for secret in secrets if secret]
        self._first = first
        self._total = total
        self._timeout = aiohttp.ClientTimeout(total=total, sock_connect=connect)
        self._connect = connect
        self._session: aiohttp.ClientSession | None = None
        self._urls: dict[str, URL] = {}

    def __repr__(self) -> str:
        return f"Transport({self.where!r})"

    async def post(self, path: str, body: bytes) -> Response:
        """Send a JSON body to `base_url/path`.

        Raises:
            Overloaded: no connection, no complete reply, or not in time.
        """
        session = self._session or self._opened()
        started = monotonic()
        phase = "the first byte of a reply"
        try:
            async with asyncio.timeout(self._first) as patience:
                async with session.post(self._url(path), data=body, allow_redirects=False) as reply:
                    patience.reschedule(None)
                    phase = "the whole reply"
                    first = monotonic() - started
                    content = await self._body(reply)
        except TimeoutError as error:
            seconds = monotonic() - started
            raise Overloaded(f"{self.where}: no sign of {phase} within {seconds:.1f} s") from error
        except aiohttp.ClientConnectorCertificateError as error:
            raise Overloaded(f"{self.where}: its TLS certificate is not valid: {error.certificate_error}") from error
        except (aiohttp.ClientError, ssl.SSLError, OSError) as error:
            words = self.redact(str(error) or type(error).__name__)
            raise Overloaded(f"{self.where}: {_what_broke(error)} ({words})") from error
        return Response(
            status=reply.status,
            headers=reply.headers,
            body=content,
            first=first,
            total=monotonic() - started,
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
            timeout=self._timeout,
            headers={"Content-Type": "application/json", **self._headers},
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self._session

    def _url(self, path: str) -> URL:
        url = self._urls.get(path)
        if url is None:
            base, question, query = self._base.partition("?")
            url = self._urls[path] = URL(f"{base.rstrip('/')}/{path}{question}{query}", encoded=True)
        return url

    async def _body(self, reply: aiohttp.ClientResponse) -> bytes:
        blocks = []
        size = 0
        async for block in reply.content.iter_any():
            blocks.append(block)
            size += len(block)
            if size > MOST_BYTES:
                reply.close()
                raise Overloaded(f"{self.where}: the reply is longer than {MOST_BYTES >> 20} MiB")
        content = blocks[0] if len(blocks) == 1 else b"".join(blocks)
        for secret in self._secrets:
            if secret in content:
                content = content.replace(secret, b"[key]")
        return content


def shown(url: str) -> str:
    """An address as it may be shown: without user, password and query.

    >>> shown("https://me:secret@host:8000/v1?key=secret")
    'https://host:8000/v1'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _values(query: str) -> list[str]:
    return [pair.partition("=")[2] for pair in query.split("&")]


def _what_broke(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "there is no host of that name"
    if isinstance(error, aiohttp.ClientConnectorError):
        return "nothing accepts connections there: is the server up, and the address right?"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "it closed the connection without a reply"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "it broke off in the middle of a reply"
    return "the connection broke"
