"""python:FILE:NAME: a model of one's own, in a few lines and without importing anything of ours.

NAME in FILE (a path, or a module's name) is

- a function `answer(messages) -> str`, sync or async. `messages[-1].text` is the question's text, `messages[-1].images` its images: `image.source` their
  bytes, `image.mime` their type, `image.width` and `image.height` pixels;
- a class, made once without arguments, or an object, with a method `generate(messages) -> str` of that kind;
- or one with `generate_batch(list of messages) -> list of str`: questions that wait are then answered together.

A first parameter named `request` (or `requests`) gets all that a back end gets (`snellen.model.Request`), and a `Reply` may be given instead of text.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any

from snellen.errors import ModelError, Rejected, UsageError
from snellen.model import Reply, Request, loaded
from snellen.models._profile import Profile


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Python | Batched:
    """The model that `FILE:NAME` means.

    Raises:
        UsageError: there is no such file or name, or nothing in it can be asked.
    """
    file, colon, attribute = name.rpartition(":")
    if not colon or not file:
        raise UsageError(f"python:{name}: write python:FILE:NAME, with a function or class NAME.")
    module, revision = _module(file)
    target = getattr(module, attribute, None)
    if target is None:
        names = ", ".join(key for key in vars(module) if not key.startswith("_"))
        raise UsageError(f"{file} has no {attribute!r}; it has {names}.")
    made: Any = target() if inspect.isclass(target) else target
    title = f"python:{name}"
    if callable(getattr(made, "generate_batch", None)):
        return Batched(title, made.generate_batch, revision)
    answer = getattr(made, "generate", made)
    if not callable(answer):
        raise UsageError(f"{file}: {attribute} is neither a function nor has it a method `generate`.")
    return Python(title, answer, revision, threads=profile.concurrency or 1)


class Python:
    """A function of messages as a model; sync ones run in threads of their own, one unless the profile says more."""

    def __init__(
        self, name: str, answer: Callable[[Any], Any], revision: str | None, *, threads: int
    ) -> None:
        self.name = name
        self.revision = revision
        self._answer = answer
        self._whole = _wants_request(answer)
        self._async = inspect.iscoroutinefunction(answer)
        self.concurrency = None if self._async else threads
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="snellen python")

    async def generate(self, request: Request) -> Reply:
        """What the function says.

        Raises:
            Rejected: it raised something; says what, and where.
        """
        request = loaded(request)
        given: Any = request if self._whole else request.messages
        try:
            if self._async:
                said = await self._answer(given)
            else:
                loop = asyncio.get_running_loop()
                said = await loop.run_in_executor(self._threads, self._answer, given)
        except ModelError:
            raise
        except Exception as error:  # a stranger's code may raise anything; it fails one question
            raise Rejected(f"{self.name}: {_told(error)}") from error
        return _reply(self.name, said)

    async def close(self) -> None:
        self._threads.shutdown(wait=False)


class Batched:
    """A function of several conversations as a model that answers batches; it waits behind `models.batching`."""

    def __init__(
        self, name: str, answer: Callable[[Any], Any], revision: str | None
    ) -> None:
        self.name = name
        self.revision = revision
        self._answer = answer
        self._whole = _wants_request(answer)

    def generate_batch(self, requests: Sequence[Request]) -> Sequence[Reply]:
        given = [loaded(request) for request in requests]
        try:
            said = self._answer(given if self._whole else [one.messages for one in given])
        except ModelError:
            raise
        except Exception as error:  # a stranger's code may raise anything; it fails one batch
            raise Rejected(f"{self.name}: {_told(error)}") from error
        return [_reply(self.name, one) for one in said]


def _module(file: str) -> tuple[ModuleType, str | None]:
    """The module of a file or of that name, and a digest of its source."""
    path = Path(file)
    if path.suffix != ".py":
        try:
            module = importlib.import_module(file)
        except ImportError as error:
            raise UsageError(f"python:{file}: {error}. Name a file (my_model.py) or an installed module.") from error
        source = getattr(module, "__file__", None)
        return module, _digest(Path(source)) if source else None
    if not path.is_file():
        raise UsageError(f"python:{file}: there is no such file.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # a stranger's file may raise anything
        raise UsageError(f"{file} cannot be loaded: {_told(error)}") from error
    return module, _digest(path)


def _digest(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _wants_request(answer: Callable[[Any], Any]) -> bool:
    first = next(iter(inspect.signature(answer).parameters), "")
    return first in ("request", "requests")


def _reply(name: str, said: object) -> Reply:
    if isinstance(said, Reply):
        return said
    if isinstance(said, str):
        return Reply(text=said, stop="stop")
    raise Rejected(f"{name} gave a {type(said).__name__}, not text.")


def _told(error: Exception) -> str:
    """What was raised, and where in the stranger's code."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"
