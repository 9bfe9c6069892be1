"""A run's files. Only this folder opens them."""

from snellen.store._posix import Folder
from snellen.store._records import (
    FORMAT,
    EventRecord,
    Failure,
    Key,
    Question,
    ReplyRecord,
    ScoreRow,
    SeenMedia,
    ShownMedia,
    Unknown,
    reply_record,
    schemas,
)
from snellen.store._run import (
    MANIFEST,
    REPORT,
    SCORES,
    STEM,
    Run,
    differences,
    identity_digest,
    open_run,
    safe_name,
)

__all__ = [
    "FORMAT",
    "MANIFEST",
    "REPORT",
    "SCORES",
    "STEM",
    "EventRecord",
    "Failure",
    "Folder",
    "Key",
    "Question",
    "ReplyRecord",
    "Run",
    "ScoreRow",
    "SeenMedia",
    "ShownMedia",
    "Unknown",
    "differences",
    "identity_digest",
    "open_run",
    "reply_record",
    "safe_name",
    "schemas",
]
