"""The errors that users see.

    SnellenError
    ├── UsageError           a command or a call is not valid
    ├── DataError            a data set's file or row does not have the expected form
    │   └── MediaError       an image or video cannot be read: its sample fails, the run continues
    ├── CatalogError         no benchmark or model has the name, or several have it
    ├── StoreError           a run folder is locked, full, not a run, or too new: ends the run
    └── ModelError           a model gave no reply
        ├── Overloaded       a retry may help (busy, server error, timeout): the runner retries
        └── Rejected         a retry will not help (400, 401, 404): recorded, not retried

Every message says what happened, where (file, row, sample, model), and what to do.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Patterns are stored as text. `re` compiles them on first use, and `snellen --help` needs none.
# The user part of an address, with its scheme or as `user:password@host:port`.
_USER = r"(?<=://)[^\s/?#]*@|(?<![\w.+:/@-])[\w.+-]{1,100}:[^\s/@]{1,300}@(?=[\w.-]+:\d)"
_BEFORE_HOST = r"^((?:[\w+.-]*:)?//|)[^/]*@"
_IN_A_QUERY = (
    r"(?i)"
    r"([?&][\w.-]{0,40}(?:key|token|secret|password|signature|sig|credential)[\w.-]{0,40}=)"
    r"[^\s&#\"'<>]+"
)


def without_credentials(text: str) -> str:
    """Remove user names, passwords, and keys from the addresses in a text.

    >>> without_credentials("no proxy at http://bob:secret@host:80 for https://a/v1?key=1&n=2")
    'no proxy at http://host:80 for https://a/v1?key=[key]&n=2'
    >>> without_credentials("bob:secret@host:3128 refused the connection")
    'host:3128 refused the connection'
    """
    return re.sub(_IN_A_QUERY, r"\1[key]", re.sub(_USER, "", text))


def shown_address(url: str) -> str:
    """Make an address safe to show: remove user, password, query, and fragment.

    >>> shown_address("https://me:secret@host:8000/v1?key=secret")
    'https://host:8000/v1'
    """
    return re.sub(_BEFORE_HOST, r"\1", re.split("[?#]", url, maxsplit=1)[0])


def _storable(message: str) -> str:
    return without_credentials(message).encode(errors="backslashreplace").decode()


class SnellenError(Exception):
    """An error that the user can fix. The command line prints the error without a traceback.

    The message may quote a server or any library's exception, and is written to files, logs, and
    the terminal. Credentials in addresses are therefore removed from the message. Characters that
    UTF-8 cannot encode, such as those from bytes in a header, are escaped.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(_storable(arg) if isinstance(arg, str) else arg for arg in args))


class UsageError(SnellenError):
    """A command or a function call is not valid."""


class DataError(SnellenError):
    """A data set's file or row does not have the form that the benchmark expects."""


class MediaError(DataError):
    """An image or video cannot be read. Only its sample fails."""


class CatalogError(SnellenError):
    """No benchmark or model has the given name, or several have it."""


class StoreError(SnellenError):
    """A run folder is locked, full, not a run, or newer than this version of Snellen. The run
    ends."""


class ModelError(SnellenError):
    """A model gave no reply."""


class Overloaded(ModelError):
    """There is no reply now, but a retry may help. Runs retry the request.

    `retry_after` is the number of seconds that the server asks to wait. `throttled` means that the
    server rejected the request because it had received too many (HTTP 429). The run then lowers its
    concurrency.
    """

    def __init__(
        self, message: str, *, retry_after: float | None = None, throttled: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.throttled = throttled


RETRIED_STATUSES = (408, 409, 425, 429)
"""HTTP status codes below 500 after which the same request may succeed later."""


def is_temporary(status: int) -> bool:
    """Return whether a request that got this HTTP status code should be retried."""
    return status in RETRIED_STATUSES or status >= 500


class Rejected(ModelError):
    """There is no reply, and a retry will not help.

    `hopeless` means that all other questions would fail too (HTTP 401, no such model). After
    several hopeless errors in a row, the run ends.
    """

    def __init__(self, message: str, *, hopeless: bool = False) -> None:
        super().__init__(message)
        self.hopeless = hopeless


def install(extra: str) -> str:
    """Return the command that installs one of Snellen's extras, for use in messages. If Snellen
    runs from a checkout, the command installs from this checkout."""
    checkout = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
    if os.path.isfile(os.path.join(checkout, "pyproject.toml")):
        return f"pip install -e {shlex.quote(f'{checkout}[{extra}]')}"
    return f"pip install 'snellen[{extra}]'"


# -- messages as they are stored and printed: with limited length, without control codes

LONGEST = 2000
"""Longer messages are cut to this many characters."""
CUT = " […] "
UNSEEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\ud800-\udfff"
)
"""Invisible characters that have an effect, as the inside of a regular expression's character
class: control codes except tab and line feed, marks of writing direction, zero-width spaces, and
lone surrogates."""
_UNPRINTABLE = f"[{UNSEEN}]"
_BREAKS_A_LINE = rf"[{UNSEEN}\t\n]"


def printable(text: str) -> str:
    r"""Escape the invisible characters in a text. Control codes can move a terminal's cursor or
    change its title, and lone surrogates cannot be stored.

    >>> printable("\x1b[31mred")
    '\\x1b[31mred'
    """
    return re.sub(_UNPRINTABLE, _escaped, text)


def plain(text: str) -> str:
    r"""Convert a text to one line without control codes. Line breaks and tabs become spaces, and
    other invisible characters become U+FFFD.

    >>> plain("two\nlines")
    'two lines'
    """
    return re.sub(
        _BREAKS_A_LINE,
        lambda match: " " if match[0] in "\t\n\r\u2028\u2029" else "\ufffd",
        text,
    )


def shortened(text: str, limit: int = LONGEST) -> str:
    """Cut the middle out of a text that has more than `limit` characters.

    >>> shortened("abcdefghijklmnop", limit=11)
    'abc […] nop'
    """
    if len(text) <= limit:
        return text
    half = (limit - len(CUT)) // 2
    return f"{text[:half]}{CUT}{text[-half:]}"


def message_of(error: BaseException) -> str:
    """Return an exception's message in a form that can be stored, even if the exception's `__str__`
    fails."""
    try:
        text = str.__str__(str(error))  # a plain string, also for an instance of a subclass
    except Exception:
        return "(its message cannot be read: its __str__ raises an exception)"
    return printable(shortened(text))


def type_of(value: object) -> str:
    """Return the name of a value's type, with an article.

    >>> type_of(5), type_of("a"), type_of(None)
    ('an int', 'a str', 'None')
    """
    name = type(value).__name__
    if value is None:
        return "None"
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


# -- files that a row, a profile, or a user names: only regular ones are opened

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def check_regular(path: str | Path) -> None:
    """Check that a path is a regular file, since opening a named pipe or a device can block
    forever.

    Raises:
        OSError: there is no such file, or it is not a regular file.
    """
    check_kind(os.stat(path).st_mode, path)


def check_kind(mode: int, path: str | Path) -> None:
    """Check that the mode of a path (`st_mode`) is that of a regular file.

    Raises:
        OSError: it is not.
    """
    if stat.S_ISREG(mode):
        return
    for is_kind, kind in _KINDS:
        if is_kind(mode):
            raise OSError(errno.EINVAL, f"it is {kind}, not a regular file", str(path))
