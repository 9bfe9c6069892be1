"""A model behind a server that is started for it, and stopped with it.

The server starts with the first question, so that a run with nothing left to ask starts none. It
listens on this machine alone, and ends with the process that asks, however that ends (`_watch`).

Commands: `vllm serve` (vllm-project/vllm, vllm/entrypoints/cli/serve.py), `sglang serve`
(sgl-project/sglang@4a55fdb:python/pyproject.toml#L188 and docs.sglang.io), `transformers serve`
(huggingface/transformers, src/transformers/cli/serve.py). All three have `/health`.
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
"""What stands between the program's name and the model's."""
INSTALL = {"vllm": "vllm", "sglang": "sglang", "transformers": "transformers[serving]"}
HOST = "127.0.0.1"
SHARED_BY_LISTENING = sys.platform == "linux"
"""Whether a server may listen on a port that another has, who does not listen, if both allow it
(SO_REUSEADDR, as servers do to be started anew)."""
PATIENCE = 3600.0
"""Seconds until a server must be ready: weights may have to be fetched first."""
EVERY = 0.25
"""Seconds between two looks at whether it is."""
ENDING = 1.0
"""Seconds for which a server that answered with an error is suspected to end."""
STOPPING = 15.0
"""Seconds until a server is ended by force; more than `_watch` takes."""
LAST_WORDS = 1000
"""Characters of a server's log that are quoted."""
WATCH = Path(__file__).with_name("_watch.py")


class ModelServer:
    """A server of one model on a port of this machine, not yet started.

    Raises:
        UsageError: its program is not installed.
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
        # Kept: nobody else is to get this port while the server starts, and be asked in its place.
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
        """Wait until it answers; the first to ask starts it.

        Raises:
            UsageError: it did not get so far. Rejected: it has ended since.
        """
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        await asyncio.shield(self._starting)
        if self._over is not None and self._over.done():
            raise Rejected(self._died(), hopeless=True)

    async def ends(self) -> bool:
        """Whether it has ended, or does now: a connection breaks before its process is gone."""
        assert self._over is not None
        await asyncio.wait({self._over}, timeout=ENDING)
        return self._over.done()

    async def stop(self) -> None:
        """End it, and all that it started."""
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
        if not code:  # `_watch` did not see the end: it was killed itself, or is stuck
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
                start_new_session=True,  # Ctrl-C is the run's, which ends the server after itself
            )
        assert self._process.stdout is not None
        self._over = asyncio.create_task(self._process.stdout.read())
        try:
            async with asyncio.timeout(self._patience):
                while not await self._is_healthy():
                    await asyncio.wait({self._over}, timeout=EVERY)
                    if self._over.done():
                        raise UsageError(f"{self._died()}\nIt never was ready.")
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
                f"{self._what} cannot be started: its log {self.log} cannot be written: "
                f"{error.strerror}."
            ) from error

    async def _is_healthy(self) -> bool:
        """Whether it says on /health that it is."""
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
        """The end of what this server wrote; a log may hold earlier ones'."""
        with self.log.open("rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(self._written, size - LAST_WORDS))
            tail = log.read().decode(errors="replace").strip()
        return f" {self.log} ends in:\n{tail}" if tail else f" {self.log} is empty."


class Served:
    """Answers and ranks as far as `model` does, whose server it starts and stops; `Rejected` once
    the server has ended."""

    def __init__(self, model: Model, server: ModelServer) -> None:
        self.name = model.name
        copy_traits(model, self)
        self._model = model
        self._server = server
        # What a model can do is told by its methods: only those are here that it has.
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
                    await self._server.ready()  # says so
                raise

        return ask_server


def _program(kind: str) -> str:
    """Where a server's program is: in PATH, or beside this Python, whose environment may not be in
    PATH."""
    program = shutil.which(kind) or shutil.which(kind, path=str(Path(sys.executable).parent))
    if program is None:
        raise UsageError(
            f"--serve {kind}: there is no program {kind}, neither in PATH nor beside this Python. "
            f"Install {INSTALL[kind]}, here or in an environment whose programs are in PATH."
        )
    return program


def _version(program: str, kind: str) -> str | None:
    """A program's version, as the environment that it lies in says."""
    places = Path(program).parent.resolve().parent.glob("lib/python3*/site-packages")
    distributions = metadata.distributions(name=kind, path=[str(folder) for folder in places])
    return next((distribution.version for distribution in distributions), None)
