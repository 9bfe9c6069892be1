"""Errors for exceptions in the functions of benchmarks: `sample`, `prompt`, `parse`, `score`, and
metrics."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from snellen.errors import DataError, message_of

PACKAGE = Path(__file__).resolve().parents[1]
STANDARD_LIBRARY = Path(os.__file__).parent.resolve()
INSTALLED = frozenset(("site-packages", "dist-packages"))
"""Names of folders that contain packages of several authors."""
SHOWN = 200
"""The maximum number of characters of a reply that an error quotes."""


class RuleError(DataError):
    """A function of a benchmark raised an exception."""


class _TracedCall(NamedTuple):
    file: str
    line: int
    function: str

    @property
    def shown(self) -> str:
        """The call for messages. The path is relative to the current folder if the file is below
        it."""
        path, folder = Path(self.file), Path.cwd()
        if path.is_relative_to(folder):
            path = path.relative_to(folder)
        return f"{path}:{self.line}, in {self.function}"


def rule_error(error: Exception, what: str, advice: str) -> RuleError:
    """The error for an exception in a benchmark's function. `what` names the function and its
    sample, and `advice` says what to do."""
    message = message_of(error)
    call = users_call(error) or [*_calls(error)][-1].shown
    failure = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return RuleError(f"{what} failed with {failure} ({call}). {advice}")


def users_call(error: BaseException) -> str:
    """The innermost call in a user's code when an exception was raised, such as `mine.py:12, in
    parse`; empty if no user's code was running."""
    calls = [call for call in _calls(error) if is_users_file(call.file)]
    return calls[-1].shown if calls else ""


def runs_users_code(error: BaseException) -> bool:
    """Whether a user's code was running when an exception was raised."""
    return any(is_users_file(call.file) for call in _calls(error))


def quoted(reply: str) -> str:
    """The start of a reply, for an error."""
    return repr(reply if len(reply) <= SHOWN else f"{reply[:SHOWN]}…")


def _calls(error: BaseException) -> Iterator[_TracedCall]:
    """The calls in progress when an exception was raised, the innermost last."""
    entry = error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        yield _TracedCall(code.co_filename, entry.tb_lineno, code.co_name)
        entry = entry.tb_next


def is_users_file(file: str) -> bool:
    """Whether a file belongs neither to Python, nor to Snellen, nor to an installed package."""
    if file.startswith("<"):  # code without a file
        return False
    path = Path(file).resolve()
    is_own = path.is_relative_to(PACKAGE) or path.is_relative_to(STANDARD_LIBRARY)
    return not is_own and INSTALLED.isdisjoint(path.parts)
