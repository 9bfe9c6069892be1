"""Downloads files from any server."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
from yarl import URL

from snellen.errors import Overloaded, Rejected, shown_address
from snellen.transport._requests import (
    HERE,
    address_of,
    check_header,
    proxy_of,
    wait_of,
    what_broke,
)

MOST_REDIRECTIONS = 10


@dataclass(frozen=True, kw_only=True)
class FileHead:
    """The information that a server sends about a file before sending the file's bytes."""

    start: int
    """The position in the file of the first byte that the server sends, starting at 0."""
    size: int | None
    """The size of the whole file in bytes; None if unknown."""
    validator: str | None
    """The ETag or date that identifies this version of the file, for `If-Range`; None if the server
    sends neither an ETag nor a date."""
    beyond: bool = False
    """Whether the requested start is beyond the end of the file."""


class Downloads:
    """Downloads files without changing their bytes. Redirections are followed, except redirections
    from https to http.

    `connect` is the maximum number of seconds until the connection is made, and `silence` the
    maximum number of seconds without a byte.
    """

    def __init__(self, *, connect: float = 10.0, silence: float = 60.0) -> None:
        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect, sock_read=silence),
            # In a compressed transfer, byte ranges would refer to the compressed bytes.
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
        """Download a file from byte `start` on. The context manager returns the file's head and an
        iterator over the file's bytes.

        If the file is no longer the version that `validator` identifies, or if the server does not
        support ranges, the whole file is sent, and the head's `start` is 0. The key is sent only to
        the server of `url`, not to servers to which that server redirects.

        Raises:
            Overloaded: no reply came, or the transfer was interrupted. A retry may help. The
                iterator over the file's bytes can also raise `Overloaded`.
            Rejected: a retry will not help, because the file does not exist, access is denied, or a
                redirection is not allowed.
            UsageError: `url` is not a valid address.
        """
        origin = address_of(url)
        headers = {}
        if key is not None:
            check_header(shown_address(url), "Authorization", key)
        if start:
            headers = {"Range": f"bytes={start}-", "If-Range": validator or ""}
        if key is not None and origin.scheme != "https" and origin.host not in HERE:
            raise Rejected(
                f"{shown_address(url)}: the key was not sent, because the address is not https. "
                "Use an https address."
            )
        there = origin.with_user(None)
        for _ in range(MOST_REDIRECTIONS + 1):
            mine = headers
            if key is not None and _server(there) == _server(origin):
                mine = {**headers, "Authorization": f"Bearer {key}"}
            where = shown_address(str(there))
            try:
                reply = await self._session.get(
                    there, headers=mine, allow_redirects=False, proxy=proxy_of(there)
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
        raise Rejected(
            f"{shown_address(url)}: the server redirects more than {MOST_REDIRECTIONS} times."
        )

    async def _bytes(self, reply: aiohttp.ClientResponse, where: str) -> AsyncIterator[bytes]:
        try:
            while block := await reply.content.readany():
                yield block
        except (aiohttp.ClientError, OSError) as error:
            raise Overloaded(f"{where}: {self._why(error)}") from None

    def _why(self, error: Exception) -> str:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return "the connection timed out"
        if isinstance(error, TimeoutError):
            return f"the server sent nothing for {self._silence:g} s"
        return what_broke(error)


def _server(url: URL) -> tuple[str, str | None, int | None]:
    return url.scheme, url.host, url.port


def _redirected(url: URL, location: str) -> URL:
    """Return the target of a redirection, or raise an error if the redirection must not be
    followed."""
    where = shown_address(str(url))
    try:
        there = url.join(URL(location))
    except ValueError:
        raise Rejected(f"{where}: the server redirects to an invalid address.") from None
    if not location or there.scheme not in ("http", "https") or not there.host:
        raise Rejected(
            f"{where}: the server redirects to {shown_address(location) or 'nowhere'}, which is "
            "not the address of a server."
        )
    if url.scheme == "https" and there.scheme != "https":
        raise Rejected(
            f"{where}: the server redirects from https to http. Snellen does not follow such "
            "redirections, because http can be forged."
        )
    return there.with_user(None)


def _head(reply: aiohttp.ClientResponse, start: int) -> FileHead:
    """Return the file's head from a reply, or raise an error if the reply is not the file.

    By RFC 9110, a weak ETag does not validate a part of a file (section 13.1.5), and the
    Content-Range of a reply with status 206 or 416 contains the size of the whole file (sections
    15.3.7 and 15.5.17).
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
                raise Rejected(
                    f"{where}: the server sends the file compressed, although the request does not "
                    "allow that."
                )
            return FileHead(start=0, size=reply.content_length, validator=validator)
        case 206 if start and span and span[1]:
            return FileHead(start=int(span[1]), size=total, validator=validator)
        case 416 if start:
            return FileHead(start=start, size=total, validator=validator, beyond=True)
        case 408 | 425 | 429 | 500 | 502 | 503 | 504:
            wait = wait_of(reply.headers)
            raise Overloaded(
                f"{where}: {reply.status}: the server is busy or broken", retry_after=wait
            )
        case 401 | 403:
            raise Rejected(
                f"{where}: {reply.status}: the server denies access to the file. You may have to "
                "accept its terms on the server's website first."
            )
        case 404 | 410:
            raise Rejected(f"{where}: {reply.status}: the file does not exist.")
        case status:
            raise Rejected(f"{where}: {status}: the reply is not a file.")
