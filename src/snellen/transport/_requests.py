"""Code that all requests share: addresses, proxies, secrets, and connection errors."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from time import time
from urllib.parse import quote, unquote
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from snellen.errors import UsageError

SHORTEST_SECRET = 8
"""The minimum length of a secret. A shorter value is a placeholder such as `EMPTY` or `x`, or may
be an ordinary word in a reply."""
HERE = ("localhost", "127.0.0.1", "::1")


def wait_of(headers: Mapping[str, str]) -> float | None:
    """Return the number of seconds that a server asks the client to wait. The header `Retry-After`
    contains a number or a date (RFC 9110, 10.2.3)."""
    value = headers.get("Retry-After", "").strip()
    if value.replace(".", "", 1).isdecimal():
        return float(value)
    until = _timestamp(value)
    if until is None:
        return None
    # If the server sends its time, use that, since our clock may be wrong.
    now = _timestamp(headers.get("Date", ""))
    return max(0.0, until - (time() if now is None else now))


def _timestamp(date: str) -> float | None:
    """Convert a header's date to seconds since 1970, or return None if it is not a date."""
    try:
        return parsedate_to_datetime(date).timestamp()
    # Which of these an invalid date raises depends on the version of Python. Examples are numbers
    # that are too large, a time zone of more than a day, missing fields, and years that the C
    # library does not support.
    except (ValueError, OverflowError, TypeError, IndexError, OSError):
        return None


def address_of(base_url: str) -> URL:
    try:
        url = URL(base_url).with_fragment(None)
        if url.scheme in ("http", "https") and url.host:
            return url
    except ValueError:
        pass
    # If an address cannot be parsed, the secrets in it cannot be removed, so it is not shown.
    address = "the base URL" if {"@", "?"} & set(base_url) else repr(base_url)
    raise UsageError(f"{address} is not a server's address. Write http://HOST:PORT/v1.")


def query_secrets(url: URL) -> list[str]:
    """Return the values in a query string, raw and decoded. Versions (`api-version=…`) are left
    out, since they are not secret."""
    pairs = [pair.partition("=") for pair in url.raw_query_string.split("&")]
    raw = [value for name, _, value in pairs if not name.endswith("version")]
    return [*raw, *map(unquote, raw)]


def proxy_of(url: URL) -> URL | None:
    """Return the proxy that the environment sets for this address. Addresses of this machine have
    no proxy.

    Raises:
        UsageError: the environment variable does not contain the address of an HTTP proxy.
    """
    if url.host in HERE or proxy_bypass(url.authority):
        return None
    address = getproxies().get(url.scheme)
    if not address:
        return None
    try:
        # As in curl, an address without a scheme is that of an HTTP proxy.
        proxy = URL(address if "://" in address else f"http://{address}")
        # An unescaped slash or question mark in a password ends the host too early.
        is_proxy = proxy.scheme in ("http", "https") and bool(proxy.host)
        is_proxy = is_proxy and "@" not in proxy.raw_path_qs + proxy.raw_fragment
    except ValueError:
        is_proxy = False
    if not is_proxy:
        raise UsageError(
            f"The environment variable {url.scheme}_proxy does not hold the address of an HTTP "
            "proxy. The value is not shown because it may contain a password. Set the variable to "
            "http://HOST:PORT, or unset it. If the proxy needs a user and a password, write "
            "http://USER:PASSWORD@HOST:PORT, with special characters percent-encoded."
        )
    return proxy


def basic(url: URL) -> str:
    """Encode the user and password in an address for the header of basic authentication."""
    return b64encode(f"{url.user}:{url.password or ''}".encode()).decode()


def user_secrets(url: URL) -> list[str]:
    """Return the secrets in the user part of an address, both as they are written and as they are
    sent."""
    if url.user is None:
        return []
    user, password = url.user, url.password or ""
    return [password or user, url.raw_password or "", f"{user}:{password}@", basic(url)]


def written_forms(secrets: Sequence[str]) -> list[str]:
    """Return all forms in which servers may write the secrets, with the longest forms first.

    HTTP strips the spaces around a header's value, JSON may escape slashes, and URLs also escape
    other characters.
    """
    bare = {secret.strip() for secret in secrets}
    bare = {secret for secret in bare if len(secret) >= SHORTEST_SECRET}
    escaped = {secret.replace("/", "\\/") for secret in bare}
    return sorted(bare | escaped | {quote(secret, safe="") for secret in bare}, key=len)[::-1]


def check_header(where: str, name: str, value: str) -> None:
    """Check that a header can be sent.

    Raises:
        UsageError: the header cannot be sent. The message does not quote the header's value.
    """
    if not (value.isascii() and value.isprintable()):
        raise UsageError(
            f"{where}: the header {name} cannot be sent, because it has a line break "
            "or a character outside ASCII. Check that only the key was copied."
        )


def what_broke(error: Exception) -> str:
    """Describe how a connection failed."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return f"its TLS certificate could not be verified: {error.certificate_error}"
        case aiohttp.ClientConnectorDNSError():
            return f"there is no host of that name ({error.os_error.strerror})"
        case aiohttp.ClientProxyConnectionError():
            return "the environment's proxy does not accept connections"
        case aiohttp.ClientHttpProxyError():
            return f"the environment's proxy answered {error.status} {error.message}"
        case aiohttp.ClientConnectorSSLError():
            return f"there is no TLS ({error}), so the address may have to begin with http://"
        case aiohttp.ClientConnectorError():
            return (
                f"nothing accepts connections there ({error.os_error.strerror}), so the server may "
                "not be running"
            )
        case aiohttp.ServerDisconnectedError():
            return "the server closed the connection without a reply"
        case aiohttp.ClientPayloadError():
            return "the connection broke in the middle of a reply"
        case aiohttp.ClientResponseError():
            return f"the reply is not HTTP ({error.message})"
        case _:
            return f"the connection broke ({error or type(error).__name__})"
