"""A run's files, local and remote. Only this room opens them.

May import core and data.
Start with `run_folder.py`, then `records.py`.
"""

from snellen.store._fetched import fetch
from snellen.store._mirror import Mirror, is_address, mirror
from snellen.store.finding import DEPTH, open_run, runs_below, runs_elsewhere
from snellen.store.folder import Folder, Stamp
from snellen.store.formats import FORMAT
from snellen.store.identity import (
    STEM,
    differences,
    differing,
    identity_digest,
    is_object_run,
    safe_name,
)
from snellen.store.key import AnyKey, Key
from snellen.store.locations import data_at, data_path, path_of, runs_at
from snellen.store.manifest import MANIFEST, command_on
from snellen.store.mirrored import pull
from snellen.store.records import (
    EventRecord,
    Failure,
    LabelRecord,
    Question,
    ReplyRecord,
    ScoreRow,
    SeenMedia,
    ShownMedia,
    Unknown,
    reply_record,
    seen_media,
    shown_media,
    stored_tools,
)
from snellen.store.run_folder import REPORT, SCORES, Placed, Run
from snellen.store.schemas import schemas

__all__ = [
    "DEPTH",
    "FORMAT",
    "MANIFEST",
    "REPORT",
    "SCORES",
    "STEM",
    "AnyKey",
    "EventRecord",
    "Failure",
    "Folder",
    "Key",
    "LabelRecord",
    "Mirror",
    "Placed",
    "Question",
    "ReplyRecord",
    "Run",
    "ScoreRow",
    "SeenMedia",
    "ShownMedia",
    "Stamp",
    "Unknown",
    "command_on",
    "data_at",
    "data_path",
    "differences",
    "differing",
    "fetch",
    "identity_digest",
    "is_address",
    "is_object_run",
    "mirror",
    "open_run",
    "path_of",
    "pull",
    "reply_record",
    "runs_at",
    "runs_below",
    "runs_elsewhere",
    "safe_name",
    "schemas",
    "seen_media",
    "shown_media",
    "stored_tools",
]
