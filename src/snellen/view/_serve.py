"""The viewer's server, which is read-only and serves only this machine."""

from __future__ import annotations

import math
import socket
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from snellen.core.benchmark import Benchmark
from snellen.core.rule_errors import RuleError
from snellen.errors import MediaError, SnellenError, UsageError
from snellen.media.content import Image
from snellen.store import Key, Question
from snellen.view.media import Media
from snellen.view.pages import NotThere, Pages
from snellen.view.query import Wanted
from snellen.view.samples import find, question_with_steps, reply_of

HERE = "127.0.0.1"
PORT = 7878
"""The default port. If this port is taken, the next free port is used."""
TRIED = 20
STATIC = Path(__file__).parent / "static"
LOOK = Path(__file__).parents[1] / "report" / "look.css"
FILES = {
    "look.css": (LOOK, "text/css"),
    "view.css": (STATIC / "view.css", "text/css"),
    "view.js": (STATIC / "view.js", "text/javascript"),
    "icon.svg": (STATIC / "icon.svg", "image/svg+xml"),
}
THUMB = 192
"""The longer side of a thumbnail, in pixels."""
LONGEST_KEY = 4_096

HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        b"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
]

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]


class Guarded:
    """Accepts only requests with a host name of this machine, and adds security headers to every
    response.

    Other host names are rejected, because an attacker can make them resolve to this machine (DNS
    rebinding). Requests from other sites' pages are also rejected, because response times would
    leak what is in the runs. Links that the user follows are allowed."""

    def __init__(self, app: App, port: int) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}".encode() for name in (HERE, "localhost")}

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return

        async def answer(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        hosts = [value for name, value in scope["headers"] if name == b"host"]
        headers = dict(scope["headers"])
        own = headers.get(b"sec-fetch-site", b"none") in (b"same-origin", b"none")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            wrong = PlainTextResponse(
                "This viewer answers only requests to 127.0.0.1 and localhost.", 421
            )
            await wrong(scope, receive, answer)
        elif not own and headers.get(b"sec-fetch-dest") != b"document":
            wrong = PlainTextResponse("This viewer answers only requests from its own pages.", 403)
            await wrong(scope, receive, answer)
        elif scope["method"] not in ("GET", "HEAD"):
            await PlainTextResponse("The viewer is read-only: use GET or HEAD.", 405)(
                scope, receive, answer
            )
        else:
            await self._app(scope, receive, answer)


class Server:
    """The routes and their handlers. Handlers run in threads, because they read files."""

    def __init__(self, *roots: Path, benchmarks: Sequence[str | Benchmark] = ()) -> None:
        self.pages = Pages(*roots, benchmarks=benchmarks)
        self.media = Media(benchmarks)

    def app(self) -> Starlette:
        routes = {
            "/": self.overview,
            "/run/{run:path}": self.run,
            "/samples/{run:path}": self.samples,
            "/sample/{run:path}": self.sample,
            "/beside": self.side_by_side,
            "/compare": self.comparison,
            "/difference": self.difference,
            "/known": self.known,
            "/progress/{run:path}": self.progress,
            "/media/{run:path}": self.picture,
            "/frame/{run:path}": self.frame,
            "/text/{run:path}": self.text,
            "/static/{name}": self.static,
        }
        return Starlette(
            routes=[Route(path, endpoint) for path, endpoint in routes.items()],
            exception_handlers={
                404: self.unknown, NotThere: self.not_there, RuleError: self.rule_failed,
                SnellenError: self.not_there, Exception: self.broken,
            },
        )  # fmt: skip

    # -- pages

    def overview(self, request: Request) -> Response:
        return _html(self.pages.overview())

    def run(self, request: Request) -> Response:
        return _html(self.pages.run_page(_run(request)))

    def samples(self, request: Request) -> Response:
        return _html(self.pages.samples(_run(request), _wanted(request)))

    def sample(self, request: Request) -> Response:
        return _html(self.pages.sample(_run(request), _key(request), _wanted(request)))

    def side_by_side(self, request: Request) -> Response:
        names = request.query_params.getlist("run")
        key = _key(request) if "s" in request.query_params else None
        return _html(self.pages.side_by_side(names, key, _wanted(request)))

    def comparison(self, request: Request) -> Response:
        return _html(self.pages.comparison(request.query_params.getlist("run")))

    def difference(self, request: Request) -> Response:
        return _html(self.pages.difference(request.query_params.getlist("run")))

    def known(self, request: Request) -> Response:
        return PlainTextResponse(self.pages.known(), headers={"cache-control": "no-store"})

    def progress(self, request: Request) -> Response:
        return _html(self.pages.progress(_run(request)))

    # -- file contents

    def picture(self, request: Request) -> Response:
        run, question = self._question(request)
        number = _integer(request, "n")
        small = THUMB if request.query_params.get("small") == "1" else None
        if number >= len(question.media):
            raise NotThere(f"The sample has only {len(question.media)} pictures and videos.")
        return _picture(lambda: self.media.image(run, question, number, small))

    def frame(self, request: Request) -> Response:
        run, question = self._question(request)
        number = _integer(request, "n")
        try:
            time = float(request.query_params.get("t", ""))
        except ValueError:
            time = math.nan
        if number >= len(question.media) or not 0 <= time < 1e6:
            raise NotThere("The sample has no such frame.")
        return _picture(lambda: self.media.frame(run, question, number, time))

    def text(self, request: Request) -> Response:
        """The full text of a reply, or of the reasoning before a reply."""
        run = self.pages.run(_run(request))
        index = self.pages.indexes.of(run.path)
        with index.connect() as connection:
            row = find(connection, _key(request))
            record = None if row is None else reply_of(index, connection, row)
        if record is None:
            raise NotThere("This sample has no reply.")
        thought = request.query_params.get("what") == "reasoning"
        content = (record.reasoning or "") if thought else record.reply
        return PlainTextResponse(content.encode(errors="replace"))

    def static(self, request: Request) -> Response:
        file = FILES.get(request.path_params["name"])
        if file is None:
            raise NotThere("There is no such file.")
        path, kind = file
        return Response(path.read_bytes(), media_type=kind, headers={"cache-control": "no-cache"})

    # -- faults

    def not_there(self, request: Request, error: Exception) -> Response:
        return _html(self.pages.fault(str(error)), 404)

    def unknown(self, request: Request, error: Exception) -> Response:
        return _html(self.pages.fault("There is no such page."), 404)

    def rule_failed(self, request: Request, error: Exception) -> Response:
        """Show the exception of a benchmark's function."""
        return _html(self.pages.fault(f"This page could not be made. {error}"), 500)

    def broken(self, request: Request, error: Exception) -> Response:
        """Show an unexpected error. The server prints the traceback in the terminal."""
        message = (
            f"This page could not be made ({type(error).__name__}: {error}). If nothing but "
            "Snellen changed the run's files, this is a bug in the viewer. The terminal shows the "
            "traceback."
        )
        return _html(self.pages.fault(message), 500)

    def _question(self, request: Request) -> tuple[Any, Question]:
        run = self.pages.run(_run(request))
        index = self.pages.indexes.of(run.path)
        with index.connect() as connection:
            row = find(connection, _key(request))
            question = None if row is None else question_with_steps(index, connection, row)
        if question is None:
            raise NotThere("The run has no such sample.")
        return run, question


def _html(page: str, status: int = 200) -> Response:
    # File names may contain lone surrogates, which UTF-8 cannot encode.
    return HTMLResponse(
        page.encode(errors="replace"), status, headers={"cache-control": "no-store"}
    )


def _picture(load: Callable[[], Image]) -> Response:
    try:
        image = load()
    except MediaError as error:
        return PlainTextResponse(str(error).encode(errors="replace"), 404)
    assert isinstance(image.source, bytes) and image.mime is not None
    # Browsers may cache the picture: the address names run and sample, and the bytes have the
    # digest that the run stored, so they never change.
    kept = {"cache-control": "private, max-age=3600"}
    return Response(image.source, media_type=image.mime, headers=kept)


def _run(request: Request) -> str:
    return str(request.path_params["run"])


def _wanted(request: Request) -> Wanted:
    return Wanted.of(parse_qsl(request.url.query))


def _key(request: Request) -> Key:
    sample = request.query_params.get("s", "")[:LONGEST_KEY]
    return Key(sample, *(_integer(request, part) for part in ("repeat", "turn", "step")))


def _integer(request: Request, name: str) -> int:
    value = request.query_params.get(name, "0")
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise NotThere(f"{name} must be a whole number, not {value!r}.")
    return int(value)


def serve(
    roots: Sequence[Path],
    port: int | None,
    started: Callable[[str], None],
    *,
    benchmarks: Sequence[str | Benchmark] = (),
) -> None:
    """Serve the runs in folders until interrupted. `started` is called with the viewer's URL.

    `benchmarks` are the caller's own benchmarks, as objects or as `FILE.py:NAME`. The viewer needs
    them to show the pictures of their runs and to compare their runs.

    Raises:
        UsageError: a folder does not exist, or the port is taken.
    """
    for root in roots:
        if not root.is_dir():
            raise UsageError(
                f"{root}: there is no such folder. `snellen demo` creates a first run in `runs`."
            )
    bound = _bound(port)
    port = bound.getsockname()[1]
    server = Server(*roots, benchmarks=benchmarks)
    config = uvicorn.Config(
        Guarded(server.app(), port), log_level="warning", access_log=False, lifespan="off",
        server_header=False, timeout_graceful_shutdown=1,
    )  # fmt: skip
    bound.listen()  # requests that arrive before the server runs wait for it
    started(f"http://{HERE}:{port}/")
    try:
        uvicorn.Server(config).run(sockets=[bound])
    except KeyboardInterrupt:
        pass  # the normal way to stop the viewer
    finally:
        server.pages.stop()
        bound.close()


def _bound(port: int | None) -> socket.socket:
    for tried in range(PORT, PORT + TRIED) if port is None else [port]:
        bound = socket.socket()
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((HERE, tried))
            return bound
        except OSError as error:
            bound.close()
            last = error
    where = f"port {port}" if port is not None else f"a port from {PORT} on"
    raise UsageError(f"{where} cannot be used: {last.strerror}. Choose another with --port.")
