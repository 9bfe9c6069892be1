"""What can go wrong, as a user meets it.

    SnellenError
    ├── UsageError           a command or a call asks for something that makes no sense
    ├── DataError            a data set's file or row is not what the benchmark expects
    │   └── MediaError       one image or video cannot be read: fails its sample, the run goes on
    ├── CatalogError         no benchmark or model of that name, or two of them
    ├── StoreError           a run folder is locked, full, foreign or newer than this version: ends
    the run
    └── ModelError           a model gave no reply
        ├── Overloaded       try again later (408, 409, 425, 429, 5xx, time-out): the runner asks
        again
        └── Rejected         will fail again (400, 401, 404): recorded, not asked again

Every message says what happened, in which file, row, sample or model, and what to do.
"""

import re

# The user part of an address, with its scheme or as `user:password@host:port`.
_USER = re.compile(
    r"(?<=://)[^\s/?#]*@|(?<![\w.+:/@-])[\w.+-]{1,100}:[^\s/@]{1,300}@(?=[\w.-]+:\d)"
)
_IN_A_QUERY = re.compile(
    r"([?&][\w.-]{0,40}(?:key|token|secret|password|signature|sig|credential)[\w.-]{0,40}=)"
    r"[^\s&#\"'<>]+",
    re.IGNORECASE,
)


def without_credentials(text: str) -> str:
    """The text with users, passwords, and keys taken out of the addresses in it.

    >>> without_credentials("no proxy at http://bob:secret@host:80 for https://a/v1?key=1&n=2")
    'no proxy at http://host:80 for https://a/v1?key=[key]&n=2'
    >>> without_credentials("bob:secret@host:3128 refused the connection")
    'host:3128 refused the connection'
    """
    return _IN_A_QUERY.sub(r"\1[key]", _USER.sub("", text))


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
