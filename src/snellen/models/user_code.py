"""A stranger's code: found by its name, called, and what it raises told as an error of ours.

Sessions of his are made ones of ours here: their methods may be sync or async, and say text where
ours say emissions.
"""

from __future__ import annotations

import asyncio
import difflib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from snellen.core.model import Emission, Query, SessionSpec
from snellen.core.outputs import check_emissions
from snellen.errors import ModelError, Rejected, UsageError, message_of, type_of
from snellen.media.content import Frame
from snellen.models.code_files import digest_of_code
from snellen.models.threads import CallThreads

FILE_MODULE = "snellen_python_"
"""How the names of modules begin that are loaded from a file."""

# -- found


@dataclass(frozen=True, kw_only=True)
class UserObject:
    """What stands under a name in a file or module, that file, and a digest of it and of its
    author's modules that it imports."""

    made: Any
    source: str | None
    digest: str | None


def found(name: str, kind: str) -> UserObject:
    """What `FILE:NAME` means.

    Raises:
        UsageError: there is no such file or name, or the file cannot be loaded.
    """
    file, attribute = split(name, kind)
    module = module_of(file, f"{kind}:{file}")
    source = module.__file__
    return UserObject(
        made=attribute_of(module, attribute, file),
        source=source,
        digest=digest_of_code(Path(source), _importable_name(module)) if source else None,
    )


def attribute_of(module: ModuleType, name: str, where: str) -> Any:
    """What stands under a name in a module. Messages call the module `where`.

    Raises:
        UsageError: there is no such name.
    """
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if value is None:
        raise unknown_name(name, where, defined_in(module))
    return value


def defined_in(module: ModuleType) -> list[str]:
    """The functions, classes, and objects of classes that a module defines; not what it imports.
    If there is none, its constants."""
    public = {
        name: getattr(value, "__module__", None)
        for name, value in vars(module).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    own = [name for name, where in public.items() if where == module.__name__]
    return own or [name for name, where in public.items() if where is None]


def unknown_name(name: str, where: str, known: Sequence[str]) -> UsageError:
    """The error for a name that is not in a file or module, with those that are."""
    close = difflib.get_close_matches(name, known, 2, cutoff=0.6)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    return UsageError(f"{where} has no {name!r}; it has {', '.join(known) or 'nothing'}.{hint}")


def split(name: str, kind: str) -> tuple[str, str]:
    """The file and the name in it.

    Raises:
        UsageError: it is no `FILE:NAME`.
    """
    file, colon, attribute = name.rpartition(":")
    if not colon or not file:
        raise UsageError(f"{kind}:{name}: write {kind}:FILE:NAME, with a function or class NAME.")
    return file, attribute


def _importable_name(module: ModuleType) -> str | None:
    """The name that a module is imported by; None for a file that was loaded by its path."""
    return None if module.__name__.startswith(FILE_MODULE) else module.__name__


def module_of(file: str, title: str) -> ModuleType:
    """The module of a file (`my_model.py`), or of that name. Messages call it `title`.

    Raises:
        UsageError: there is no such file or module, or it cannot be loaded.
    """
    path = Path(file)
    if path.suffix != ".py":
        try:
            with told_as(UsageError, f"{file} cannot be loaded", None, but=ImportError):
                return importlib.import_module(file)
        except ImportError as error:
            raise UsageError(
                f"{title}: {error}. Name a file (my_model.py) or an installed module."
            ) from error
    if not path.is_file():
        raise UsageError(f"{title}: there is no such file.")
    # Under its own name a file called json.py would take the place of Python's.
    name = f"{FILE_MODULE}{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # As for a script, modules beside it can be imported; at the end, so that none hides another.
    beside = str(path.parent.resolve())
    if beside not in sys.path:
        sys.path.append(beside)
    with told_as(UsageError, f"{file} cannot be loaded", module.__file__):
        spec.loader.exec_module(module)
    return module


# -- told

PASSED = (KeyboardInterrupt, asyncio.CancelledError)
"""Exceptions that stop the program or a task, whoever raises them."""


@contextmanager
def told_as(
    kind: type[Rejected | UsageError],
    what: str,
    source: str | None,
    but: type[BaseException] | tuple[type[BaseException], ...] = (),
) -> Iterator[None]:
    """What a stranger's code raises, which may be anything `but` what passes, as an error of ours:
    `Rejected` fails one question. Its `sys.exit()` would end the run, as one that went well.
    Ctrl-C and the end of a task pass."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, (PASSED, but)):
            raise
        raise kind(f"{what}: {_told(error, source)}") from error


def _told(error: BaseException, source: str | None) -> str:
    """What was raised, and the last line of the stranger's file that led to it."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == source]
    where = f" ({Path(source).name}, line {lines[-1]})" if source and lines else ""
    return f"{type(error).__name__}: {message_of(error)}{where}"


# -- sessions


@dataclass(frozen=True, kw_only=True)
class Calls:
    """How a stranger's methods are called: async ones are awaited, sync ones run in `threads`."""

    name: str
    source: str | None
    threads: CallThreads

    async def __call__(self, function: Callable[..., Any], *given: object, **named: object) -> Any:
        """What the function gives.

        Raises:
            Rejected: it raised something; says what, and where.
        """

        def call() -> Any:  # an error is told in the thread: a future takes no StopIteration
            with self._told():
                return function(*given, **named)

        if inspect.iscoroutinefunction(function):
            said = call()
        else:
            said = await self.threads.run(call)
        if not inspect.isawaitable(said):
            return said
        # A coroutine that is closed is sent a GeneratorExit.
        with self._told(GeneratorExit):
            return await said

    def _told(self, *but: type[BaseException]) -> Any:
        return told_as(Rejected, self.name, self.source, but=(ModelError, *but))


async def opened(calls: Calls, opens: Callable[..., Any], spec: SessionSpec) -> OwnSession:
    """A session of what a stranger's `open(spec)` gives.

    Raises:
        Rejected: it raised something, or gave what has no `feed` and `ask`.
    """
    return _session(calls, await calls(opens, spec))


def _session(calls: Calls, made: Any) -> OwnSession:
    if not all(callable(getattr(made, name, None)) for name in ("feed", "ask")):
        raise Rejected(
            f"{calls.name} gave {type_of(made)} as a session, which has no methods `feed` and "
            "`ask`.",
            hopeless=True,
        )
    # What a session can do is told by its methods.
    return (OwnForks if callable(getattr(made, "fork", None)) else OwnSession)(calls, made)


class OwnSession:
    """A stranger's session, as the runner asks one; it need not have `close`."""

    def __init__(self, calls: Calls, made: Any) -> None:
        self._calls = calls
        self._made = made

    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]:
        return self._emissions(await self._calls(self._made.feed, frames))

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]:
        return self._emissions(await self._calls(self._made.ask, query, must_answer=must_answer))

    async def close(self) -> None:
        if close := getattr(self._made, "close", None):
            await self._calls(close)

    def _emissions(self, said: object) -> Sequence[Emission]:
        """None and "" say nothing; one thing said need not be in a list."""
        if said is None:
            return []
        many = said if isinstance(said, list | tuple) else [said]
        emissions = [self._emission(item) for item in many if not _is_silent(item)]
        return check_emissions(emissions, self._calls.name)

    def _emission(self, said: object) -> Emission:
        if isinstance(said, str):
            return Emission(text=said)
        if isinstance(said, Emission):
            return said
        raise Rejected(
            f"{self._calls.name} said {type_of(said)}, which is no text and no Emission."
        )


def _is_silent(output: object) -> bool:
    return isinstance(output, str) and not output


class OwnForks(OwnSession):
    async def fork(self) -> OwnSession:
        return _session(self._calls, await self._calls(self._made.fork))
