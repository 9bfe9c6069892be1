"""What comes back from a server, and what is said when nothing does."""

import asyncio
import gzip
import os
import socket
import ssl
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from snellen.errors import Overloaded, Rejected, SnellenError, UsageError, shown_address
from snellen.transport import Response, Transport
from tests.servers import (
    Answer,
    ReceivedRequest,
    closes,
    completion,
    drips,
    hangs,
    in_turn,
    refusing,
    resets,
    serving,
    status,
)

KEY = "sk-a-key-that-nobody-may-see"
# Made for this test with `openssl req -x509`, and good for nothing else.
CERTIFICATE = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgiXgNz1mXk4HbpSp9
K4spTpW1ZAeqOBqPp0d/N4CvvTehRANCAAS8gOkYBko4n2RspLQBfgDL9zFNVcPS
uKOoZoGme7yxtsDoEI2P0RJDk60u2OF/h5YUx7JzO+VR7H1i1GrK542F
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBkTCCATagAwIBAgIUNRPljXASupLDzYhr4Pl63VjpxmUwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMTEwNDEzMFoYDzIxMjYxMDI4
MTA0MTMwWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAS8gOkYBko4n2RspLQBfgDL9zFNVcPSuKOoZoGme7yxtsDoEI2P0RJD
k60u2OF/h5YUx7JzO+VR7H1i1GrK542Fo2QwYjAdBgNVHQ4EFgQUGclDwI/YfpO7
oJmfUg4oWe4p7LkwHwYDVR0jBBgwFoAUGclDwI/YfpO7oJmfUg4oWe4p7LkwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0kAMEYC
IQCVlq88jUes/CPXnYNLM38yDJX0/ugl+JuvqTLigPjpJQIhANhPb99kipJsTQTM
zEj2ANJ34QEULeUy7djNkAJghOJK
-----END CERTIFICATE-----
"""


@asynccontextmanager
async def opened(url: str, **settings: Any) -> AsyncIterator[Transport]:
    transport = Transport(url, **settings)
    try:
        yield transport
    finally:
        await transport.close()


async def post(url: str, body: bytes = b"{}", **settings: Any) -> Response:
    async with opened(url, **settings) as transport:
        return await transport.post("chat/completions", body)


async def error_of(url: str, **settings: Any) -> SnellenError:
    with pytest.raises(SnellenError) as caught:
        await post(url, **settings)
    return caught.value


def headers(retry_after: str) -> Response:
    fields = {"Retry-After": retry_after}
    return Response(status=429, headers=fields, body=b"", first=0.0, total=0.0)


# -- what is sent


async def test_a_body_goes_below_the_address_as_it_is() -> None:
    with serving(completion("A")) as server:
        await post(server.url, b'{"a": 1}', headers={"Authorization": "Bearer k"})

    request = server.requests[0]
    assert (request.path, request.body) == ("/v1/chat/completions", b'{"a": 1}')
    assert request.headers["content-type"] == "application/json"
    assert request.headers["authorization"] == "Bearer k"


async def test_a_query_of_the_address_stays_behind_the_path() -> None:
    with serving(completion("A")) as server:
        await post(f"{server.url}/?api-version=2&key=a%26b")

    assert server.requests[0].path == "/v1/chat/completions?api-version=2&key=a%26b"


async def test_a_user_in_the_address_becomes_a_header() -> None:
    with serving(completion("A")) as server:
        await post(server.url.replace("//", "//Aladdin:open%20sesame@"))

    # RFC 7617, section 2.
    assert server.requests[0].headers["authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="


async def test_a_body_of_several_megabytes_goes_whole() -> None:
    body = os.urandom(3_000_000)
    with serving(completion("A")) as server:
        await post(server.url, body)

    assert server.requests[0].body == body


async def test_connections_are_kept_and_as_many_as_requests_at_once() -> None:
    with serving(completion("A"), latency=0.02) as server:
        async with opened(server.url) as transport:
            for _ in range(3):
                await asyncio.gather(*(transport.post("p", b"{}") for _ in range(150)))

    assert len(server.requests) == 450
    assert server.most == server.connections == 150


async def test_the_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(completion("A")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "other.example")
        await post("http://model.example/v1")

    assert proxy.requests[0].path == "http://model.example/v1/chat/completions"


async def test_a_server_on_this_machine_is_asked_without_a_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with refusing() as nobody, serving(completion("A")) as server:
        monkeypatch.setenv("http_proxy", nobody)
        assert (await post(server.url)).status == 200


@pytest.mark.parametrize(
    "url", ["localhost:8000/v1", "ftp://host/v1", "http:///v1", "http://host:99999/v1", ""]
)
def test_what_is_no_address_is_said_at_once(url: str) -> None:
    with pytest.raises(UsageError, match=r"is not a server's address. Write http://HOST:PORT/v1"):
        Transport(url)


def test_a_key_with_a_line_break_is_said_at_once() -> None:
    with pytest.raises(UsageError, match="header Authorization cannot be sent") as caught:
        Transport("http://host/v1", headers={"Authorization": f"Bearer {KEY}\n"})
    assert KEY not in str(caught.value)


def test_a_key_beside_a_user_in_the_address_is_one_too_many() -> None:
    with pytest.raises(UsageError, match="Remove one of them"):
        Transport("http://me:secret@host/v1", headers={"Authorization": "Bearer k"})


# -- what comes back


@pytest.mark.parametrize("number", [200, 400, 429, 503])
async def test_a_reply_comes_back_with_its_status_whatever_that_is(number: int) -> None:
    with serving(Answer(number, b"words", {"X-Y": "z"})) as server:
        response = await post(server.url)

    assert (response.status, response.body, response.headers["x-y"]) == (number, b"words", "z")


async def test_the_head_and_the_end_of_a_reply_are_timed() -> None:
    slow = drips(Answer(200, b"ab"), 0.1)
    with serving(slow, latency=0.1) as server:
        response = await post(server.url)

    assert response.first >= 0.09
    assert response.total - response.first >= 0.09


async def test_a_packed_reply_is_unpacked() -> None:
    packed = Answer(200, gzip.compress(b"words", mtime=0), {"Content-Encoding": "gzip"})
    with serving(packed) as server:
        assert (await post(server.url)).body == b"words"


@pytest.mark.parametrize(
    ("value", "seconds"), [("3", 3.0), ("0.5", 0.5), (" 7 ", 7.0), ("", None), ("soon", None)]
)
def test_retry_after_is_read_in_seconds(value: str, seconds: float | None) -> None:
    assert headers(value).retry_after == seconds


def test_retry_after_is_read_as_a_date() -> None:
    wait = headers(format_datetime(datetime.now(UTC) + timedelta(seconds=60))).retry_after
    assert wait is not None
    assert 50 < wait <= 60


def test_a_date_in_the_past_asks_for_no_wait() -> None:
    assert headers("Wed, 21 Oct 2015 07:28:00 GMT").retry_after == 0.0


# -- when nothing comes back


async def test_a_closed_port_may_open_later() -> None:
    with refusing() as url:
        error = await error_of(url)

    assert isinstance(error, Overloaded)
    assert str(error).startswith(f"{url}: nothing accepts connections there")


async def test_a_host_that_does_not_exist_is_named() -> None:
    error = await error_of("http://no-such-host.invalid/v1")

    assert isinstance(error, Overloaded)
    assert str(error).startswith("http://no-such-host.invalid/v1: there is no host of that name")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (closes(), "the server closed the connection without a reply"),
        (resets(completion("A" * 1000)), "the connection broke in the middle of a reply"),
        (Answer(7, b""), "the reply is not HTTP"),
    ],
)
async def test_a_broken_reply_may_come_whole_later(answer: Answer, words: str) -> None:
    with serving(answer) as server:
        error = await error_of(server.url)

    assert isinstance(error, Overloaded)
    assert str(error).startswith(f"{server.url}: {words}")


async def test_a_server_that_hangs_is_left_at_the_first_time_out() -> None:
    with serving(hangs()) as server:
        error = await error_of(server.url, first=0.1)

    assert isinstance(error, Overloaded)
    assert str(error) == f"{server.url}: no reply started within 0.1 s (timeout `first`)"


async def test_a_reply_that_drips_is_left_at_the_total_time_out() -> None:
    with serving(drips(completion("A"), 0.02)) as server:
        error = await error_of(server.url, first=10, total=0.2)

    assert isinstance(error, Overloaded)
    assert str(error) == (
        f"{server.url}: the reply was not complete within 0.2 s (timeout `total`)"
    )


async def test_a_reply_that_drips_in_time_is_whole() -> None:
    with serving(drips(Answer(200, b"0123456789"), 0.01)) as server:
        assert (await post(server.url, first=0.1)).body == b"0123456789"


async def test_a_connection_that_is_not_taken_up_is_left_at_the_connect_time_out() -> None:
    with socket.socket() as listening, socket.socket() as first, socket.socket() as second:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        # The queue of those that wait is full: Linux drops what comes then.
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        error = await error_of(url, connect=0.2)

    assert isinstance(error, Overloaded)
    assert str(error) == f"{url}: no connection within 0.2 s (timeout `connect`)"


async def test_a_cancelled_request_leaves_the_others_alone() -> None:
    with serving(in_turn(hangs(), completion("A"))) as server:
        async with opened(server.url) as transport:
            task = asyncio.create_task(transport.post("p", b"{}"))
            while not server.requests:
                await asyncio.sleep(0.01)
            task.cancel()
            assert (await transport.post("p", b"{}")).status == 200
            with pytest.raises(asyncio.CancelledError):
                await task


async def test_a_connection_that_the_server_closed_meanwhile_is_not_used_again() -> None:
    closing = Answer(200, b"{}", {"Connection": "close"})
    with serving(closing) as server:
        async with opened(server.url) as transport:
            replies = [await transport.post("p", b"{}") for _ in range(3)]

    assert [reply.status for reply in replies] == [200, 200, 200]


async def test_a_redirection_is_not_followed_but_shown() -> None:
    with serving(completion("A")) as other:
        moved = Answer(307, b"", {"Location": f"{other.url}/chat/completions?key={KEY}"})
        with serving(moved) as server:
            error = await error_of(server.url)

    assert isinstance(error, Rejected)
    assert error.hopeless
    assert f"the server redirects to {other.url}/chat/completions. " in str(error)
    assert other.requests == []


async def test_a_reply_without_end_is_cut_off() -> None:
    bomb = gzip.compress(bytes(70 << 20), 1, mtime=0)
    with serving(Answer(200, bomb, {"Content-Encoding": "gzip"})) as server:
        error = await error_of(server.url)

    assert isinstance(error, Rejected)
    assert str(error) == f"{server.url}: the reply is longer than 64 MiB."


async def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    pem = tmp_path / "server.pem"
    pem.write_text(CERTIFICATE)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with serving(completion("A"), tls=context) as server:
        error = await error_of(server.url)

    assert isinstance(error, Rejected)
    assert error.hopeless
    assert f"{server.url}: its TLS certificate could not be verified" in str(error)
    assert server.requests == []


async def test_a_server_without_tls_is_said() -> None:
    async def plain(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
        error = await error_of(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")

    assert isinstance(error, Overloaded)
    assert "there is no TLS" in str(error)


# -- secrets


def echo(request: ReceivedRequest) -> Answer:
    words = f"{request.path} {request.headers['authorization']}"
    return status(401, f"wrong key: {words}")


FAILURES: list[Answer | Callable[[ReceivedRequest], Answer]] = [
    echo,
    closes(),
    hangs(),
    resets(completion("A" * 1000)),
    Answer(7, b""),
    Answer(302, b"", {"Location": f"http://{KEY}@127.0.0.1/{KEY}"}),
]


@pytest.fixture(params=[f"?key={KEY}", "user"])
def secret_url(request: pytest.FixtureRequest) -> Iterator[Callable[[str], str]]:
    if request.param == "user":
        yield lambda url: url.replace("//", f"//me:{KEY}@")
    else:
        yield lambda url: url + request.param


@pytest.mark.parametrize("failure", FAILURES)
async def test_no_key_is_in_what_is_said(
    failure: Answer | Callable[[ReceivedRequest], Answer],
    secret_url: Callable[[str], str],
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with serving(failure) as server:
        url = secret_url(server.url)
        key = {} if "@" in url else {"Authorization": f"Bearer {KEY}"}
        async with opened(url, headers=key, secrets=[KEY], first=0.1) as transport:
            seen = [repr(transport), str(transport)]
            try:
                response = await transport.post("p", b"{}")
                seen += [response.body.decode(), repr(response)]
            except SnellenError as error:
                seen += traceback.format_exception(error)
    seen += [caplog.text, *capfd.readouterr()]

    assert KEY not in "".join(seen)


async def test_an_encoded_user_and_password_is_a_secret_too() -> None:
    with serving(echo) as server:
        response = await post(server.url.replace("//", f"//me:{KEY}@"))

    assert b"Basic [key]" in response.body


@pytest.mark.parametrize("placeholder", ["EMPTY", "x", ""])
async def test_a_placeholder_for_a_key_is_left_in_replies(placeholder: str) -> None:
    with serving(completion("x is EMPTY")) as server:
        response = await post(server.url, secrets=[placeholder])

    assert b"x is EMPTY" in response.body


async def test_a_version_in_the_address_is_left_in_replies() -> None:
    with serving(completion("on 2024-02-01")) as server:
        response = await post(f"{server.url}?api-version=2024-02-01")

    assert b"on 2024-02-01" in response.body


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://me:se@cret@host:80/v1?a=b#c", "https://host:80/v1"),
        ("/login?key=secret", "/login"),
        ("http://[::1", "http://[::1"),
    ],
)
def test_an_address_is_shown_without_what_is_secret(url: str, words: str) -> None:
    assert shown_address(url) == words


def test_an_address_that_cannot_be_read_is_not_shown() -> None:
    with pytest.raises(UsageError) as caught:
        Transport(f"http://me:{KEY}@host:99999/v1")
    assert KEY not in "".join(traceback.format_exception(caught.value))


# -- the servers of these tests


def test_the_mean_number_of_requests_at_once_is_weighted_by_time() -> None:
    with serving(completion("A")) as server:
        server.timeline = [(1.0, 1), (2.0, 2), (4.0, 0)]

    assert server.most == 2
    assert server.mean(0.0, 5.0) == (1 * 1 + 2 * 2) / 5
    assert server.mean(1.5, 3.0) == (0.5 * 1 + 1 * 2) / 1.5


# -- streams of events


def streamed(*blocks: bytes) -> Answer:
    """A stream, of which each block may come by itself."""
    return Answer(200, b"".join(blocks), {"Content-Type": "text/event-stream"})


async def events_of(answer: Answer, **settings: Any) -> list[bytes]:
    with serving(answer) as server:
        return [event.data for event in (await post(server.url, **settings)).events]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("pause", [0.0, 0.0005])
async def test_a_stream_is_cut_into_its_events_however_its_lines_end_and_it_comes(
    end: bytes, pause: float
) -> None:
    # The examples of WHATWG HTML, 9.2.6.
    lines = [b": comment", b"", b"data: YHOO", b"data: +2", b"data: 10", b"", b"event: add"]
    lines += [
        b"data:  third",
        b"id: 1",
        b"",
        b"data",
        b"",
        b"data:test",
        b"",
        b"",
        b"x: 1",
        b"",
        b"",
    ]
    answer = drips(streamed(end.join(lines)), pause)
    assert await events_of(answer) == [b"YHOO\n+2\n10", b" third", b"test"]


async def test_an_event_that_no_empty_line_ends_is_none() -> None:
    assert await events_of(streamed(b"data: a\n\ndata: b\n")) == [b"a"]


async def test_events_are_timed_when_they_come() -> None:
    answer = drips(streamed(b"data: a\n\n", b"data: b\n\n"), 0.05, piece=9)
    with serving(answer) as server:
        first, second = (await post(server.url)).events
    assert second.at - first.at > 0.04


async def test_a_key_in_an_event_is_taken_out() -> None:
    assert await events_of(streamed(f"data: x{KEY}\n\n".encode()), secrets=[KEY]) == [b"x[key]"]


async def test_an_error_is_no_stream_whatever_it_says_it_is() -> None:
    with serving(Answer(400, b"data: no\n\n", {"Content-Type": "text/event-stream"})) as server:
        response = await post(server.url)
    assert (response.events, response.body) == ((), b"data: no\n\n")


async def test_a_stream_without_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("snellen.transport.posting.MOST_BYTES", 1 << 20)
    with serving(streamed(b"data: xxxxxxxx\n\n" * (1 << 17))) as server:
        error = await error_of(server.url)
    assert isinstance(error, Rejected)
    assert "longer than 1 MiB" in str(error)


async def test_a_path_may_have_a_query_beside_that_of_the_address() -> None:
    with serving(completion("A")) as server:
        async with opened(f"{server.url}?api-version=2") as transport:
            await transport.post("m:ask?alt=sse", b"{}")
    assert server.requests[0].path == "/v1/m:ask?api-version=2&alt=sse"


def test_a_date_is_measured_by_the_clock_of_its_server() -> None:
    sent = {"Date": "Fri, 31 Dec 1999 23:59:00 GMT", "Retry-After": "Sat, 01 Jan 2000 00:00:30 GMT"}
    response = Response(status=503, headers=sent, body=b"", first=0.0, total=0.0)

    assert response.retry_after == 90.0
