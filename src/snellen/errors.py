"""What can go wrong, as a user meets it.

    SnellenError
    ├── UsageError           a command or a call asks for something that makes no sense
    ├── DataError            a data set's file or row is not what the benchmark expects
    │   └── MediaError       one image or video cannot be read: fails its sample, the run goes on
    ├── CatalogError         no benchmark or model of that name, or two of them
    ├── StoreError           a run folder is locked, full, foreign, or too new: ends the run
    └── ModelError           a model gave no reply
        ├── Overloaded       try again later (busy, broken, timeout): the runner retries
        └── Rejected         will fail again (400, 401, 404): recorded, not asked again

Every message says what happened, in which file, row, sample or model, and what to do.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Patterns as text: `re` compiles them when they are first used, and `snellen --help` uses none.
# The user part of an address, with its scheme or as `user:password@host:port`.
_USER = r"(?<=://)[^\s/?#]*@|(?<![\w.+:/@-])[\w.+-]{1,100}:[^\s/@]{1,300}@(?=[\w.-]+:\d)"
_BEFORE_HOST = r"^((?:[\w+.-]*:)?//|)[^/]*@"
_IN_A_QUERY = (
    r"(?i)"
    r"([?&][\w.-]{0,40}(?:key|token|secret|password|signature|sig|credential)[\w.-]{0,40}=)"
    r"[^\s&#\"'<>]+"
)


def without_credentials(text: str) -> str:
    """The text with users, passwords, and keys taken out of the addresses in it.

    >>> without_credentials("no proxy at http://bob:secret@host:80 for https://a/v1?key=1&n=2")
    'no proxy at http://host:80 for https://a/v1?key=[key]&n=2'
    >>> without_credentials("bob:secret@host:3128 refused the connection")
    'host:3128 refused the connection'
    """
    return re.sub(_IN_A_QUERY, r"\1[key]", re.sub(_USER, "", text))


def shown_address(url: str) -> str:
    """An address as it may be shown: without user, password, query, and fragment.

    >>> shown_address("https://me:secret@host:8000/v1?key=secret")
    'https://host:8000/v1'
    """
    return re.sub(_BEFORE_HOST, r"\1", re.split("[?#]", url, maxsplit=1)[0])


def _storable(message: str) -> str:
    return without_credentials(message).encode(errors="backslashreplace").decode()


class SnellenError(Exception):
    """Anything that a user can mend; printed without a traceback.

    Its text goes to files, logs, and the terminal, and may quote a server or an exception of any
    library. So credentials in addresses are removed from it here, and what UTF-8 cannot hold (the
    bytes of a header, say) is escaped.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(_storable(arg) if isinstance(arg, str) else arg for arg in args))


class UsageError(SnellenError):
    """A command or a call asks for something that makes no sense."""


class DataError(SnellenError):
    """A data set's file or row is not what the benchmark expects."""


class MediaError(DataError):
    """One image or video cannot be read; fails its sample and nothing else."""


class CatalogError(SnellenError):
    """No benchmark or model of that name, or two of them."""


class StoreError(SnellenError):
    """A run folder is locked, full, foreign or newer than this version; ends the run."""


class ModelError(SnellenError):
    """A model gave no reply."""


class Overloaded(ModelError):
    """No reply now, perhaps later; the runner asks again.

    `retry_after` is the number of seconds that the server asked for, `throttled` says that it
    turned the request away because of too many at once (429), which lowers the concurrency.
    """

    def __init__(
        self, message: str, *, retry_after: float | None = None, throttled: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.throttled = throttled


RETRIED_STATUSES = (408, 409, 425, 429)
"""Statuses below 500 after which the same request may succeed later."""


def is_temporary(status: int) -> bool:
    """Whether a request that got this HTTP status is worth a retry."""
    return status in RETRIED_STATUSES or status >= 500


class Rejected(ModelError):
    """No reply, and none to be expected from asking the same again.

    `hopeless` says that no other question will be answered either (401, no such model), which ends
    the run.
    """

    def __init__(self, message: str, *, hopeless: bool = False) -> None:
        super().__init__(message)
        self.hopeless = hopeless


def install(extra: str) -> str:
    """How to get the packages of an extra, for a message.

    >>> install("view")
    "pip install '.[view]' in a checkout, else pip install 'snellen[view]'"
    """
    return f"pip install '.[{extra}]' in a checkout, else pip install 'snellen[{extra}]'"


# -- messages as they are stored and printed: of bounded length, without control codes

LONGEST = 2000
"""Longer messages are cut to this many characters."""
CUT = " […] "
UNSEEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\ud800-\udfff"
)
"""Characters that act and are not seen, as a class of a regular expression has them: control codes
except tab and line feed, marks of writing direction, blanks without width, lone surrogates."""
_UNPRINTABLE = f"[{UNSEEN}]"


def printable(text: str) -> str:
    r"""The text with what acts and is not seen escaped. Control codes can move a terminal's cursor
    or change its title, and lone surrogates cannot be stored.

    >>> printable("\x1b[31mred")
    '\\x1b[31mred'
    """
    return re.sub(_UNPRINTABLE, _escaped, text)


def shortened(text: str, limit: int = LONGEST) -> str:
    """The text, or its beginning and end where it has more than `limit` characters.

    >>> shortened("abcdefghijklmnop", limit=11)
    'abc […] nop'
    """
    if len(text) <= limit:
        return text
    half = (limit - len(CUT)) // 2
    return f"{text[:half]}{CUT}{text[-half:]}"


def message_of(error: BaseException) -> str:
    """What an exception says, ready to be stored; its own `__str__` may fail."""
    try:
        text = str.__str__(str(error))  # a plain string, also of an instance of a subclass
    except Exception:
        return "(its message cannot be read: its __str__ raises an exception)"
    return printable(shortened(text))


def type_of(value: object) -> str:
    """The type of a value, with its article.

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
    """Refuse anything but a regular file: opening a named pipe or a device can block forever.

    Raises:
        OSError: there is no such file, or it is of another kind.
    """
    mode = os.stat(path).st_mode
    for is_kind, kind in _KINDS:
        if is_kind(mode):
            raise OSError(errno.EINVAL, f"it is {kind}, not a regular file", str(path))
