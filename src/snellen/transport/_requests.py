"""Shared parts of all requests: addresses, proxies, secrets, and errors of connections."""

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
"""A shorter value is a placeholder (`EMPTY`, `x`), and may be a word in a reply."""
HERE = ("localhost", "127.0.0.1", "::1")


def wait_of(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait, as a number or a date (RFC 9110, 10.2.3)."""
    value = headers.get("Retry-After", "").strip()
    if value.replace(".", "", 1).isdecimal():
        return float(value)
    until = _timestamp(value)
    if until is None:
        return None
    # By the server's clock if it sends the time, since ours may be wrong.
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


def address_of(base_url: str) -> URL:
    try:
        url = URL(base_url).with_fragment(None)
        if url.scheme in ("http", "https") and url.host:
            return url
    except ValueError:
        pass
    # The secrets in an address that cannot be parsed cannot be removed from it, either.
    address = "the base URL" if {"@", "?"} & set(base_url) else repr(base_url)
    raise UsageError(f"{address} is not a server's address. Write http://HOST:PORT/v1.")


def query_secrets(url: URL) -> list[str]:
    """The values of a query, raw and decoded. Versions (`api-version=…`) are not secrets."""
    pairs = [pair.partition("=") for pair in url.raw_query_string.split("&")]
    raw = [value for name, _, value in pairs if not name.endswith("version")]
    return [*raw, *map(unquote, raw)]


def proxy_of(url: URL) -> URL | None:
    """The environment's proxy for this address. There is none for this machine itself.

    Raises:
        UsageError: the variable does not hold the address of an HTTP proxy.
    """
    if url.host in HERE or proxy_bypass(url.authority):
        return None
    address = getproxies().get(url.scheme)
    if not address:
        return None
    try:
        # Like curl, treat an address without a scheme as that of an HTTP proxy.
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


def basic(url: URL) -> str:
    """The user part of an address, encoded for the header of basic authentication."""
    return b64encode(f"{url.user}:{url.password or ''}".encode()).decode()


def user_secrets(url: URL) -> list[str]:
    """The secrets in the user part of an address, as written and as sent."""
    if url.user is None:
        return []
    user, password = url.user, url.password or ""
    return [password or user, url.raw_password or "", f"{user}:{password}@", basic(url)]


def written_forms(secrets: Sequence[str]) -> list[str]:
    """Secrets in the forms in which servers write them, the longest first.

    HTTP strips blanks around a header's value, JSON may escape a slash, and addresses escape more.
    """
    bare = {secret.strip() for secret in secrets}
    bare = {secret for secret in bare if len(secret) >= SHORTEST_SECRET}
    escaped = {secret.replace("/", "\\/") for secret in bare}
    return sorted(bare | escaped | {quote(secret, safe="") for secret in bare}, key=len)[::-1]


def check_header(where: str, name: str, value: str) -> None:
    """Check that a header can be sent.

    Raises:
        UsageError: it cannot. The message does not quote the value.
    """
    if not (value.isascii() and value.isprintable()):
        raise UsageError(
            f"{where}: the header {name} cannot be sent, because it has a line break "
            "or a character outside ASCII. Check that only the key was copied."
        )


def what_broke(error: Exception) -> str:
    """What happened to a connection, in words."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return f"its TLS certificate could not be verified: {error.certificate_error}"
        case aiohttp.ClientConnectorDNSError():
            return f"there is no host of that name ({error.os_error.strerror})"
        case aiohttp.ClientProxyConnectionError():
            return "the environment's proxy accepts no connections"
        case aiohttp.ClientHttpProxyError():
            return f"the environment's proxy answers {error.status} {error.message}"
        case aiohttp.ClientConnectorSSLError():
            return f"no TLS there ({error}): should the address begin with http://?"
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
