"""python:FILE:NAME: a model of one's own, in a few lines and without importing anything of ours.

NAME in FILE (a path ending in .py, or the name of an installed module) is

- a function `answer(messages) -> str`, sync or async. `messages[-1].text` is the question's text,
  `messages[-1].images` its images: `image.source` their bytes, `image.mime` their type,
  `image.width` and `image.height` pixels;
- a class, made once without arguments, or an object, with a method `generate(messages) -> str` of
  that kind;
- or one with `generate_batch(list of messages) -> list of str`, sync: questions that wait are then
  answered together.

A sync function is called for one question at a time, unless `--concurrency` or the profile says how
many; it must then bear as many threads.

A first parameter named `request` (or `requests`) gets all that a back end gets
(`snellen.model.Request`), and a `Reply` may be given instead of text.
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
    module = _module(file)
    source = module.__file__
    revision = blake2b(Path(source).read_bytes(), digest_size=16).hexdigest() if source else None
    made: Any = getattr(module, attribute, None)
    if made is None:
        names = ", ".join(key for key in vars(module) if not key.startswith("_"))
        raise UsageError(f"{file} has no {attribute!r}; it has {names}.")
    if inspect.isclass(made):
        try:
            made = made()
        except Exception as error:  # a stranger's code may raise anything
            raise UsageError(f"{file}: {attribute}() failed: {_told(error, source)}") from error
    title = f"python:{name}"
    if callable(getattr(made, "generate_batch", None)):
        return Batched(title, _Answer(title, made.generate_batch, source), revision)
    ask = getattr(made, "generate", made)
    if not callable(ask):
        raise UsageError(
            f"{file}: {attribute} is neither a function nor has it a method `generate`."
        )
    answer = _Answer(title, ask, source)
    return Python(title, answer, revision, threads=profile.concurrency or 1)


class Python:
    """A function of messages as a model; a sync one runs in `threads` threads."""

    def __init__(self, name: str, answer: _Answer, revision: str | None, *, threads: int) -> None:
        self.name = name
        self.revision = revision
        self.concurrency = None if answer.is_async else threads
        self._answer = answer
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="snellen python")

    async def generate(self, request: Request) -> Reply:
        """What the function says.

        Raises:
            Rejected: it raised something; says what, and where.
        """
        given = self._answer.given(loaded(request))
        if self._answer.is_async:
            said = await self._answer.awaited(given)
        else:
            loop = asyncio.get_running_loop()
            said = await loop.run_in_executor(self._threads, self._answer, given)
        return _reply(self.name, said)

    async def close(self) -> None:
        self._threads.shutdown(wait=False)


class Batched:
    """A function of several conversations as a model of batches; it waits behind a queue."""

    def __init__(self, name: str, answer: _Answer, revision: str | None) -> None:
        self.name = name
        self.revision = revision
        self._answer = answer

    def generate_batch(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """A reply to each, in their order.

        Raises:
            Rejected: the function raised something, or gave no list of as many replies.
        """
        said = self._answer([self._answer.given(loaded(request)) for request in requests])
        n = len(requests)
        if isinstance(said, list | tuple) and len(said) == n:
            return [_reply(self.name, one) for one in said]
        if inspect.iscoroutine(said):
            said.close()  # or Python warns that nobody awaited it
        what = f"a list of {len(said)}" if isinstance(said, list | tuple) else _a(said)
        raise Rejected(
            f"{self.name} gave {what} to {n} conversation{'s' * (n != 1)}, not a list of as many "
            "replies."
        )


class _Answer:
    """A stranger's function: what it wants, and what it raises told as `Rejected`."""

    def __init__(self, name: str, answer: Callable[[Any], Any], source: str | None) -> None:
        first = next(iter(inspect.signature(answer).parameters), "")
        self.given = _whole if first in ("request", "requests") else _messages
        call = type(answer).__call__  # an object may be a function too
        self.is_async = inspect.iscoroutinefunction(answer) or inspect.iscoroutinefunction(call)
        self._name = name
        self._answer = answer
        self._source = source

    def __call__(self, given: object) -> Any:
        try:
            return self._answer(given)
        except ModelError:
            raise
        except Exception as error:  # a stranger's code may raise anything; it fails one question
            raise Rejected(f"{self._name}: {_told(error, self._source)}") from error

    async def awaited(self, given: object) -> Any:
        try:
            return await self._answer(given)
        except ModelError:
            raise
        except Exception as error:  # as above
            raise Rejected(f"{self._name}: {_told(error, self._source)}") from error


def _whole(request: Request) -> object:
    return request


def _messages(request: Request) -> object:
    return request.messages


def _module(file: str) -> ModuleType:
    """The module of a file, or of that name."""
    path = Path(file)
    if path.suffix != ".py":
        try:
            return importlib.import_module(file)
        except ImportError as error:
            raise UsageError(
                f"python:{file}: {error}. Name a file (my_model.py) or an installed module."
            ) from error
        except Exception as error:  # a stranger's module may raise anything
            raise UsageError(f"{file} cannot be loaded: {_told(error, None)}") from error
    if not path.is_file():
        raise UsageError(f"python:{file}: there is no such file.")
    # Under its own name a file called json.py would take the place of Python's.
    name = f"snellen_python_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # As for a script, modules beside it can be imported; at the end, so that none hides another.
    beside = str(path.parent.resolve())
    if beside not in sys.path:
        sys.path.append(beside)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # a stranger's file may raise anything
        raise UsageError(f"{file} cannot be loaded: {_told(error, module.__file__)}") from error
    return module


def _reply(name: str, said: object) -> Reply:
    if isinstance(said, Reply):
        return said
    if isinstance(said, str):
        return Reply(text=said, stop="stop")
    raise Rejected(f"{name} gave {_a(said)}, not text.")


def _a(said: object) -> str:
    return f"a {type(said).__name__}"


def _told(error: Exception, source: str | None) -> str:
    """What was raised, and the last line of the stranger's file that led to it."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == source]
    where = f" ({Path(source).name}, line {lines[-1]})" if source and lines else ""
    return f"{type(error).__name__}: {error}{where}"
