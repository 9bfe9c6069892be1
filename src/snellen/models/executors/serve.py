"""A model behind a server that Snellen starts and stops.

The server is started when the first question is asked, so a run without open questions starts no
server. The server listens only on this machine, and always ends with this process (see
`_watch.py`).

Sources of the commands: `vllm serve` (vllm-project/vllm, vllm/entrypoints/cli/serve.py), `sglang
serve` (sgl-project/sglang@4a55fdb:python/pyproject.toml#L188 and docs.sglang.io), `transformers
serve` (huggingface/transformers, src/transformers/cli/serve.py). All three servers have the path
`/health`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from snellen.core.model import Generates, Model, Ranks, Request
from snellen.core.profile import Serve
from snellen.errors import Overloaded, Rejected, UsageError
from snellen.models.traits import copy_traits
from snellen.store import safe_name

T = TypeVar("T")
Ask = Callable[[Request], Coroutine[Any, Any, T]]
COMMANDS: Mapping[str, Sequence[str]] = {
    "vllm": ("serve",),
    "sglang": ("serve", "--model-path"),
    "transformers": ("serve",),
}
"""The arguments between the name of the program and the name of the model."""
INSTALL = {"vllm": "vllm", "sglang": "sglang", "transformers": "transformers[serving]"}
HOST = "127.0.0.1"
SHARED_BY_LISTENING = sys.platform == "linux"
"""Whether a server can listen on a port that another process has bound, if that process does not
listen on the port and both processes set SO_REUSEADDR. (Servers set SO_REUSEADDR so that they can
be restarted.)"""
PATIENCE = 3600.0
"""The maximum number of seconds until a server is ready. The weights may have to be downloaded
first."""
EVERY = 0.25
"""The number of seconds between two checks of whether a server is ready."""
ENDING = 1.0
"""The maximum number of seconds to wait for the server to end after an error."""
STOPPING = 15.0
"""How many seconds `_watch.py` has to end the server before both are killed. `_watch.py` normally
needs less time."""
LAST_WORDS = 1000
"""The maximum number of characters that messages quote from a server's log."""
WATCH = Path(__file__).with_name("_watch.py")


class ModelServer:
    """A server for a model, on a port of this machine. The method `ready` starts the server.

    Raises:
        UsageError: the server's program is not installed.
    """

    def __init__(
        self,
        model: str,
        serve: Serve,
        *,
        logs: Path,
        environment: Mapping[str, str],
        trust_remote_code: bool = False,
        patience: float = PATIENCE,
    ) -> None:
        program = _program(serve.kind)
        # Reserve the port, so that no other process gets it, and our requests, during the start.
        self._port = socket.socket()
        if SHARED_BY_LISTENING:
            self._port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._port.bind((HOST, 0))
        port = self._port.getsockname()[1]
        self.url = f"http://{HOST}:{port}/v1"
        self.command = [program, *COMMANDS[serve.kind], model]
        self.command += ["--host", HOST, "--port", str(port), *serve.args]
        self.command += ["--trust-remote-code"] * trust_remote_code
        self.log = logs / "served" / f"{serve.kind}-{safe_name(model)}.log"
        self.facts = {
            "kind": serve.kind,
            "version": _version(program, serve.kind),
            "command": [serve.kind, *self.command[1:]],
            "log": str(self.log),
        }
        self._what = f"the server of {model} ({serve.kind})"
        self._address = (HOST, port)
        self._environment = environment
        self._patience = patience
        self._written = 0
        self._process: asyncio.subprocess.Process | None = None
        self._starting: asyncio.Task[None] | None = None
        self._over: asyncio.Task[bytes] | None = None

    async def ready(self) -> None:
        """Wait until the server answers. The first call starts the server.

        Raises:
            UsageError: the server did not become ready.
            Rejected: the server became ready, but has ended since.
        """
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        await asyncio.shield(self._starting)
        if self._over is not None and self._over.done():
            raise Rejected(self._died(), hopeless=True)

    async def ends(self) -> bool:
        """Return whether the server has ended. This method waits for a moment first, since
        connections break before the process ends."""
        assert self._over is not None
        await asyncio.wait({self._over}, timeout=ENDING)
        return self._over.done()

    async def stop(self) -> None:
        """End the server and its child processes."""
        self._port.close()
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._process is None:
            return
        assert self._process.stdin is not None and self._over is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(STOPPING):
                code = await self._over
                await self._process.wait()
        except TimeoutError:
            code = b""
        if not code:  # `_watch.py` reported no exit code, so it was killed itself or is stuck
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def _start(self) -> None:
        pipe = asyncio.subprocess.PIPE
        if not SHARED_BY_LISTENING:
            self._port.close()
        with self._log() as log:
            self._written = log.tell()
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                str(WATCH),
                *self.command,
                stdin=pipe,
                stdout=pipe,
                stderr=log,
                env=self._environment,
                start_new_session=True,  # Ctrl-C goes to the run, which then ends the server
            )
        assert self._process.stdout is not None
        self._over = asyncio.create_task(self._process.stdout.read())
        try:
            async with asyncio.timeout(self._patience):
                while not await self._is_healthy():
                    await asyncio.wait({self._over}, timeout=EVERY)
                    if self._over.done():
                        raise UsageError(f"{self._died()}\nThe server was never ready.")
        except TimeoutError:
            raise UsageError(
                f"{self._what} was not ready within {self._patience:g} s.{self._last_words()}"
            ) from None

    def _log(self) -> BinaryIO:
        try:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            return self.log.open("ab")
        except OSError as error:
            raise UsageError(
                f"{self._what} cannot be started, because its log {self.log} cannot be written: "
                f"{error.strerror}."
            ) from error

    async def _is_healthy(self) -> bool:
        """Return whether /health answers with status 200."""
        try:
            async with asyncio.timeout(5):
                reader, writer = await asyncio.open_connection(*self._address)
                try:
                    writer.write(b"GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n")
                    return b" 200 " in await reader.readline()
                finally:
                    writer.close()
        except (OSError, TimeoutError):
            return False

    def _died(self) -> str:
        assert self._over is not None
        code = self._over.result().decode().strip()
        with_code = f" with code {code}" if code else ""
        return f"{self._what} ended{with_code}.{self._last_words()}"

    def _last_words(self) -> str:
        """Return the end of this server's output, for messages. The log may also contain the output
        of earlier servers, which is not quoted."""
        with self.log.open("rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(self._written, size - LAST_WORDS))
            tail = log.read().decode(errors="replace").strip()
        return f" {self.log} ends in:\n{tail}" if tail else f" {self.log} is empty."


class Served:
    """A model that starts and stops its own server. The model can generate and rank if `model` can.
    After the server has ended, requests raise `Rejected`."""

    def __init__(self, model: Model, server: ModelServer) -> None:
        self.name = model.name
        copy_traits(model, self)
        self._model = model
        self._server = server
        # A model's methods show what it can do, so the wrapper has only the methods of the model.
        if isinstance(model, Generates):
            self.generate = self._there(model.generate)
        if isinstance(model, Ranks):
            self.rank = self._there(model.rank)

    async def close(self) -> None:
        try:
            if close := getattr(self._model, "close", None):
                await close()
        finally:
            await self._server.stop()

    def _there(self, ask: Ask[T]) -> Ask[T]:
        async def ask_server(request: Request) -> T:
            await self._server.ready()
            try:
                return await ask(request)
            except Overloaded as error:
                if not error.throttled and await self._server.ends():
                    await self._server.ready()  # raises the reason
                raise

        return ask_server


def _program(kind: str) -> str:
    """Find a server's program in PATH, or in the folder of this Python if that folder is not in
    PATH."""
    program = shutil.which(kind) or shutil.which(kind, path=str(Path(sys.executable).parent))
    if program is None:
        raise UsageError(
            f"--serve {kind}: the program {kind} is neither in PATH nor in the folder of this "
            f"Python. Install {INSTALL[kind]} in this environment, or in one whose programs are in "
            "PATH."
        )
    return program


def _version(program: str, kind: str) -> str | None:
    """Return the version of a program, from the package metadata in the program's environment."""
    places = Path(program).parent.resolve().parent.glob("lib/python3*/site-packages")
    distributions = metadata.distributions(name=kind, path=[str(folder) for folder in places])
    return next((distribution.version for distribution in distributions), None)
