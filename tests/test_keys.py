"""No key reaches a file, a log or a message, from the command or from Python."""

import json
import os
import subprocess
import sys
import traceback
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import pytest

import snellen
from snellen.errors import Rejected, SnellenError, UsageError
from tests.servers import Answer, ReceivedRequest, closes, completion, refusing, serving, status
from tests.vendors import VENDORS, Vendor

KEY = "sk-a-very-secret-key-0123456789"
PASSWORD = "hunter2hunter2"


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    lines = [
        {"id": f"q{i}", "question": f"[q{i}] Which?", "A": "x", "B": "y", "answer": "A"}
        for i in range(8)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def echoing(request: ReceivedRequest) -> Answer:
    """Every second question fails, with what was sent in the words."""
    sent = request.headers.get("authorization", "")
    if request.number % 2:
        return status(400, f"Incorrect API key provided: {sent}, at {request.path}")
    return completion(f"A. You sent me {sent}")


def everything_under(folder: Path) -> bytes:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return b"\n".join(path.read_bytes() for path in files)


@pytest.mark.parametrize("form", ["--base-url {url}", "--base-url={url}"])
def test_a_run_from_the_command_keeps_its_key_to_itself(
    rows: Path, tmp_path: Path, form: str
) -> None:
    with serving(echoing) as server:
        url = server.url + f"?api_key={PASSWORD}"
        command = [sys.executable, "-m", "snellen", "run", "-b", str(rows), "-m", "openai/m"]
        command += form.format(url=url).split(" ")
        command += ["--api-key-env", "MY_KEY", "--out", str(tmp_path / "runs")]
        out = subprocess.run(command, capture_output=True, env={**os.environ, "MY_KEY": KEY})

        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert out.returncode == 1, out.stderr.decode()
    written = everything_under(tmp_path / "runs") + out.stdout + out.stderr
    assert KEY.encode() not in written
    assert PASSWORD.encode() not in written
    assert b"Incorrect API key provided" in written


def test_a_run_from_python_keeps_its_key_to_itself(
    rows: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with serving(echoing) as server:
        result = snellen.evaluate(
            str(rows),
            "openai/m",
            base_url=server.url,
            api_key_env="MY_KEY",
            out=tmp_path / "runs",
        )
    print(result, result.json())
    shown = capsys.readouterr()
    assert KEY.encode() not in everything_under(tmp_path / "runs")
    assert KEY not in shown.out + shown.err


def test_an_error_and_its_whole_traceback_keep_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with (
        serving(
            lambda request: status(401, f"wrong key {request.headers['authorization']}")
        ) as server,
        pytest.raises(SnellenError) as caught,
    ):
        snellen.ask("openai/m", "Hello?", base_url=server.url, api_key_env="MY_KEY")

    trace = traceback.TracebackException.from_exception(caught.value, capture_locals=False)
    assert KEY not in "".join(trace.format())
    assert "wrong key" in str(caught.value)


# -- proxies

PROXY_PASSWORD = "swordfish-0123"


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.mark.usefixtures("no_proxy")
@pytest.mark.parametrize(
    "proxy",
    [
        f"http://bob:{PROXY_PASSWORD}@127.0.0.1:99999",
        f"bob:{PROXY_PASSWORD}@127.0.0.1:port",
        f"socks5://bob:{PROXY_PASSWORD}@127.0.0.1:1080",
        f"http://bob:sword/{PROXY_PASSWORD}@127.0.0.1:3128",
        f"http://bob:9/{PROXY_PASSWORD}@127.0.0.1:3128",
        f"http://bob:{PROXY_PASSWORD}@",
    ],
)
def test_a_proxy_that_cannot_be_used_is_refused_without_its_password(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(UsageError, match="http_proxy does not hold the address") as caught:
        snellen.ask("openai/m", "Hello?", base_url="http://model.example/v1")

    assert PROXY_PASSWORD not in "".join(traceback.format_exception(caught.value))
    assert "bob" not in str(caught.value)


def test_a_run_keeps_the_password_of_its_proxy_to_itself(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    command = [sys.executable, "-m", "snellen", "run", "-b", str(rows), "-m", "openai/m"]
    command += ["--base-url", "http://model.example/v1", "--out", str(out)]
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    with serving(lambda request: status(407, f"who are you: {request.headers}")) as server:
        address = server.url.removeprefix("http://").removesuffix("/v1")
        environment = {**kept, "http_proxy": f"bob:{PROXY_PASSWORD}@{address}"}
        done = subprocess.run(command, capture_output=True, env=environment)

    assert server.requests
    seen = everything_under(out) + done.stdout + done.stderr
    assert b"who are you" in seen
    for secret in (PROXY_PASSWORD.encode(), b64encode(f"bob:{PROXY_PASSWORD}".encode())):
        assert secret not in seen


@pytest.mark.usefixtures("no_proxy")
@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"])
def test_a_variable_for_a_proxy_keeps_its_password(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda request: status(407, f"who are you: {request.headers}")) as server:
        address = server.url.removeprefix("http://").removesuffix("/v1")
        monkeypatch.setenv(name, f"bob:{PROXY_PASSWORD}@{address}")
        with pytest.raises(SnellenError) as caught:
            snellen.ask("openai/m", "Hello?", base_url="http://model.invalid/v1")

    # ALL_PROXY is not read, as in Python's HTTP clients of this kind: nothing goes through it.
    assert bool(server.requests) == (name.lower() == "http_proxy")
    for secret in ("bob:", PROXY_PASSWORD, b64encode(f"bob:{PROXY_PASSWORD}".encode()).decode()):
        assert secret not in str(caught.value)


@pytest.mark.usefixtures("no_proxy")
@pytest.mark.parametrize("error", ["refused", "closed"])
def test_a_proxy_that_fails_keeps_its_password(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with refusing() as nobody, serving(closes()) as server:
        address = nobody if error == "refused" else server.url
        address = address.removeprefix("http://").removesuffix("/v1")
        monkeypatch.setenv("http_proxy", f"bob:{PROXY_PASSWORD}@{address}")
        with pytest.raises(SnellenError) as caught:
            snellen.ask("openai/m", "Hello?", base_url="http://model.example/v1")

    assert PROXY_PASSWORD not in "".join(traceback.format_exception(caught.value))
    assert "bob" not in str(caught.value)


@pytest.mark.usefixtures("no_proxy")
def test_a_proxy_without_a_scheme_is_an_http_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(completion("A")) as proxy:
        address = proxy.url.removeprefix("http://").removesuffix("/v1")
        monkeypatch.setenv("http_proxy", f"bob:pass%2Fword@{address}")
        answer = snellen.ask("openai/m", "Hello?", base_url="http://model.example/v1")

    assert answer.text == "A"
    (request,) = proxy.requests
    assert request.path == "http://model.example/v1/chat/completions"
    # RFC 7617: base64 of `bob:pass/word`.
    assert request.headers["proxy-authorization"] == "Basic Ym9iOnBhc3Mvd29yZA=="


# -- keys as people set them


@pytest.mark.parametrize("around", ["{}\n", " {} ", "{}\r\n"])
def test_blanks_around_a_key_are_not_part_of_it(
    around: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", around.format(KEY))
    with serving(
        lambda request: completion(f"You sent {request.headers['authorization']}")
    ) as server:
        answer = snellen.ask("openai/m", "Hello?", base_url=server.url, api_key_env="MY_KEY")

    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert answer.text == "You sent Bearer [key]"


@pytest.mark.parametrize("key", [f"{KEY}é", f"{KEY[:9]}\n{KEY[9:]}", f"{KEY}\x1b"])
def test_a_key_that_no_header_carries_is_refused_unseen(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(UsageError, match="the header Authorization cannot be sent") as caught:
        snellen.ask("openai/m", "Hello?", base_url="http://host/v1", api_key_env="MY_KEY")

    assert KEY[:9] not in str(caught.value)


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.kind)
@pytest.mark.parametrize("is_error", [True, False])
def test_a_key_in_the_escapes_of_json_is_taken_out(
    vendor: Vendor, is_error: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk+with/signs=that==servers&escape"
    spelled = "".join(sign if sign.isalnum() else f"\\u{ord(sign):04x}" for sign in key)
    monkeypatch.setenv("MY_KEY", key)
    answer = (
        vendor.error(400, "wrong key HERE") if is_error else vendor.answered("your key is HERE")
    )
    answer = replace(answer, body=answer.body.replace(b"HERE", spelled.encode()))
    with serving(answer) as server:
        try:
            seen = snellen.ask(
                f"{vendor.kind}/m", "Hello?", base_url=server.url, api_key_env="MY_KEY"
            ).text
        except SnellenError as error:
            seen = str(error)

    assert "key [key]" in seen or "key is [key]" in seen
    assert key not in seen


def test_a_key_in_the_type_of_a_part_without_text_is_taken_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    kind = "".join(f"\\u{ord(sign):04x}" for sign in KEY)
    choice = f'{{"finish_reason":"stop","message":{{"content":[{{"type":"{kind}"}}]}}}}'
    body = f'{{"choices":[{choice}]}}'
    with serving(Answer(200, body.encode())) as server, pytest.raises(Rejected) as caught:
        snellen.ask("openai/m", "Hello?", base_url=server.url, api_key_env="MY_KEY")

    assert "the reply has no text, only [key]," in str(caught.value)


def test_a_key_that_a_function_of_the_user_puts_into_its_error_is_taken_out(
    rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def calls_a_service(messages: object) -> str:
        raise ConnectionError(
            f"bob:{PASSWORD}@proxy.example:3128 or http://me:{PASSWORD}@host/v1?key={PASSWORD}&n=1 "
            "does not answer"
        )

    result = snellen.evaluate(str(rows), calls_a_service, out=tmp_path / "runs")

    print(result, result.json())
    shown = capsys.readouterr()
    stored = everything_under(tmp_path / "runs")
    assert b"proxy.example:3128 or http://host/v1?key=[key]&n=1 does not answer" in stored
    assert PASSWORD.encode() not in stored
    assert PASSWORD not in shown.out + shown.err
