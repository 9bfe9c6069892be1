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


class SnellenError(Exception):
    """Anything that a user can mend; printed without a traceback."""


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
