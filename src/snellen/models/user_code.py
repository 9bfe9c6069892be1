"""Loads and calls a user's own code, and converts its exceptions to Snellen's errors.

A user's sessions are wrapped, because the methods of these sessions may be sync or async, and may
return text instead of emissions.
"""

from __future__ import annotations

import asyncio
import difflib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from snellen.core.model import Emission, Query, SessionSpec
from snellen.core.outputs import check_emissions
from snellen.core.rule_errors import is_users_file
from snellen.errors import ModelError, Rejected, UsageError, message_of, type_of
from snellen.media.content import Frame
from snellen.models.code_files import digest_of_code
from snellen.models.threads import CallThreads

FILE_MODULE = "snellen_python_"
"""The prefix of the name of a module that is loaded from a file by its path."""

# -- loading


@dataclass(frozen=True, kw_only=True)
class UserObject:
    """An object in a user's file or module."""

    value: Any
    """The object."""
    source: str | None
    """The path of the file; None if the module has no file."""
    digest: str | None
    """The digest of the file and of the author's other modules that the file imports; None if there
    is no file."""


def load_object(name: str, kind: str) -> UserObject:
    """Load the object at `FILE:NAME`.

    Raises:
        UsageError: the file or the name does not exist, or the file cannot be loaded.
    """
    file, attribute = split(name, kind)
    module = module_of(file, f"{kind}:{file}")
    source = module.__file__
    return UserObject(
        value=attribute_of(module, attribute, file),
        source=source,
        digest=digest_of_code(Path(source), _importable_name(module)) if source else None,
    )


def attribute_of(module: ModuleType, name: str, where: str) -> Any:
    """Return the object with this name in a module. `where` names the module in error messages.

    Raises:
        UsageError: the module does not contain the name.
    """
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if value is None:
        raise unknown_name(name, where, defined_in(module))
    return value


def defined_in(module: ModuleType) -> list[str]:
    """Return the names of the functions, classes, and instances that a module defines itself. If
    there are none, return the names of the module's constants."""
    public = {
        name: getattr(value, "__module__", None)
        for name, value in vars(module).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    own = [name for name, where in public.items() if where == module.__name__]
    return own or [name for name, where in public.items() if where is None]


def unknown_name(name: str, where: str, known: Sequence[str]) -> UsageError:
    """Return the error for a name that a file or module does not contain. The message lists the
    names that exist."""
    close = difflib.get_close_matches(name, known, 2, cutoff=0.6)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    return UsageError(f"{where} has no {name!r}; it has {', '.join(known) or 'nothing'}.{hint}")


def split(name: str, kind: str) -> tuple[str, str]:
    """Split `FILE:NAME` into the file and the name.

    Raises:
        UsageError: `name` does not have the form `FILE:NAME`.
    """
    file, colon, attribute = name.rpartition(":")
    if not colon or not file:
        raise UsageError(
            f"{kind}:{name}: the name of an object is missing. Write {kind}:FILE:NAME, where NAME "
            "is a function or class in FILE."
        )
    return file, attribute


def _importable_name(module: ModuleType) -> str | None:
    """Return the name by which a module can be imported, or None if the module was loaded from a
    file by its path."""
    return None if module.__name__.startswith(FILE_MODULE) else module.__name__


class _SourceLoader(SourceFileLoader):
    """Compiles a file each time it is loaded. Python's own loader reuses the compiled code of an
    earlier version that was written in the same second and has the same size."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def module_of(file: str, title: str) -> ModuleType:
    """Load the module in the file `file` (`my_model.py`), or the installed module with the name
    `file`. `title` names the module in error messages.

    Raises:
        UsageError: the file or module does not exist or cannot be loaded.
    """
    path = Path(file)
    if path.suffix != ".py":
        try:
            with errors_as(UsageError, f"{file} cannot be loaded", None, but=ImportError):
                return importlib.import_module(file)
        except ImportError as error:
            raise UsageError(
                f"{title}: {error}. Pass a file (my_model.py) or an installed module."
            ) from error
    if not path.is_file():
        raise UsageError(f"{title}: there is no such file.")
    # Without the prefix, a file named json.py would replace Python's own module.
    name = f"{FILE_MODULE}{path.stem}"
    loader = _SourceLoader(name, f"{path.absolute()}")
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # As with a script, the file can import modules in its folder. The folder is the last in
    # `sys.path`, so that its modules do not hide others.
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.append(folder)
    with errors_as(UsageError, f"{file} cannot be loaded", module.__file__):
        spec.loader.exec_module(module)
    return module


# -- errors

PASSED = (KeyboardInterrupt, asyncio.CancelledError)
"""Exceptions that stop the program or a task, and are never converted."""


@contextmanager
def errors_as(
    kind: type[Rejected | UsageError],
    what: str,
    source: str | None,
    but: type[BaseException] | tuple[type[BaseException], ...] = (),
) -> Iterator[None]:
    """Convert exceptions of a user's code to an error of type `kind`. (If the type is `Rejected`,
    only one question fails.)

    Exceptions of the types in `but`, Ctrl-C, and the cancellation of a task are not converted.
    SystemExit is converted, since `sys.exit()` in a user's code would otherwise end the run as if
    it had succeeded.
    """
    try:
        yield
    except BaseException as error:
        if isinstance(error, (PASSED, but)):
            raise
        raise kind(f"{what}: {_described(error, source)}") from error


def _described(error: BaseException, source: str | None) -> str:
    """Describe an exception, with the file and line of the traceback's last entry from the user's
    code. No line is known if the traceback does not contain `source`, the user's file."""
    frames = traceback.extract_tb(error.__traceback__)
    last = None
    for frame in frames:
        if frame.filename == source or (last is not None and is_users_file(frame.filename)):
            last = frame
    where = "" if last is None else f" ({Path(last.filename).name}, line {last.lineno})"
    return f"{type(error).__name__}: {message_of(error)}{where}"


# -- sessions


@dataclass(frozen=True, kw_only=True)
class Calls:
    """Calls a user's methods. Async methods are awaited, and sync methods run in `threads`."""

    name: str
    """The name of the model."""
    source: str | None
    """The file with the model's code; None if the file is not known."""
    threads: CallThreads
    """The threads for sync methods."""

    async def __call__(self, function: Callable[..., Any], *args: object, **kwargs: object) -> Any:
        """Call the function and return its result.

        Raises:
            Rejected: the function raised an exception. The message quotes the exception and, if
                known, gives the line number in the user's file.
        """

        def call() -> Any:  # converts errors in the thread, since futures reject StopIteration
            with self._errors():
                return function(*args, **kwargs)

        if inspect.iscoroutinefunction(function):
            result = call()
        else:
            result = await self.threads.run(call)
        if not inspect.isawaitable(result):
            return result
        # Closing a coroutine raises GeneratorExit in it.
        with self._errors(GeneratorExit):
            return await result

    def _errors(self, *but: type[BaseException]) -> Any:
        return errors_as(Rejected, self.name, self.source, but=(ModelError, *but))


async def opened(calls: Calls, opens: Callable[..., Any], spec: SessionSpec) -> OwnSession:
    """Call a user's `open(spec)`, and wrap the session that it returns.

    Raises:
        Rejected: `open` raised an exception, or returned an object without `feed` and `ask`.
    """
    return _session(calls, await calls(opens, spec))


def _session(calls: Calls, session: Any) -> OwnSession:
    if not all(callable(getattr(session, name, None)) for name in ("feed", "ask")):
        raise Rejected(
            f"{calls.name} returned {type_of(session)} as a session, which does not have the "
            "methods `feed` and `ask`.",
            hopeless=True,
        )
    # A session's methods show what it can do, so only a session with `fork` gets a `fork`.
    return (OwnForks if callable(getattr(session, "fork", None)) else OwnSession)(calls, session)


class OwnSession:
    """Gives a user's session the interface that the runner needs. The user's session does not need
    a method `close`."""

    replay: Callable[[Frame | Query, Sequence[Emission]], Coroutine[Any, Any, None]]

    def __init__(self, calls: Calls, session: Any) -> None:
        self._calls = calls
        self._session = session
        if callable(getattr(session, "replay", None)):
            self.replay = self._replay

    async def _replay(self, event: Frame | Query, messages: Sequence[Emission]) -> None:
        await self._calls(self._session.replay, event, messages)

    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]:
        return self._emissions(await self._calls(self._session.feed, frames))

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]:
        return self._emissions(await self._calls(self._session.ask, query, must_answer=must_answer))

    async def close(self) -> None:
        if close := getattr(self._session, "close", None):
            await self._calls(close)

    def _emissions(self, output: object) -> Sequence[Emission]:
        """Return the emissions in the output of a user's method. None and "" mean silence. The
        output may be a single emission instead of a list."""
        if output is None:
            return []
        many = output if isinstance(output, list | tuple) else [output]
        emissions = [self._emission(item) for item in many if not _is_silent(item)]
        return check_emissions(emissions, self._calls.name)

    def _emission(self, output: object) -> Emission:
        if isinstance(output, str):
            return Emission(text=output)
        if isinstance(output, Emission):
            return output
        raise Rejected(
            f"{self._calls.name} returned {type_of(output)}, which is neither text nor an Emission."
        )


def _is_silent(output: object) -> bool:
    return isinstance(output, str) and not output


class OwnForks(OwnSession):
    async def fork(self) -> OwnSession:
        return _session(self._calls, await self._calls(self._session.fork))
