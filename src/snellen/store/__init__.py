"""Reads and writes a run's files, local and remote. No other package opens these files.

This package may import `core` and `data`. Start reading at `run_folder.py`, then `records.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import lazy

if TYPE_CHECKING:
    from snellen.store._fetched import fetch as fetch
    from snellen.store._mirror import Mirror as Mirror, is_address as is_address, mirror as mirror
    from snellen.store.finding import (
        DEPTH as DEPTH,
        runs_below as runs_below,
        runs_elsewhere as runs_elsewhere,
        started as started,
    )
    from snellen.store.kept_index import KEPT_FROM as KEPT_FROM, FileStamp as FileStamp
    from snellen.store.folder import Folder as Folder, Stamp as Stamp
    from snellen.store.formats import FORMAT as FORMAT
    from snellen.store.identity import (
        STEM as STEM,
        differences as differences,
        differing as differing,
        identity_digest as identity_digest,
        is_object_run as is_object_run,
        safe_name as safe_name,
    )
    from snellen.store.key import AnyKey as AnyKey, Key as Key
    from snellen.store.locations import (
        data_at as data_at,
        data_path as data_path,
        path_of as path_of,
        runs_at as runs_at,
    )
    from snellen.store.locks import (
        HeldError as HeldError,
        RunPart as RunPart,
        check_shared as check_shared,
        sharing_lock as sharing_lock,
    )
    from snellen.store.manifest import MANIFEST as MANIFEST, command_on as command_on
    from snellen.store.media_stamps import MediaStamps as MediaStamps
    from snellen.store.mirrored import pull as pull
    from snellen.store.opening import open_run as open_run
    from snellen.store.records import (
        EventRecord as EventRecord,
        Ending as Ending,
        ExcerptFields as ExcerptFields,
        Failure as Failure,
        LabelRecord as LabelRecord,
        Question as Question,
        ReplyRecord as ReplyRecord,
        ScoreRow as ScoreRow,
        SeenMedia as SeenMedia,
        ShownMedia as ShownMedia,
        Unknown as Unknown,
        image_without_bytes as image_without_bytes,
        reply_record as reply_record,
        seen_media as seen_media,
        shown_media as shown_media,
        stored_tools as stored_tools,
    )
    from snellen.store.run_folder import (
        REPORT as REPORT,
        SCORES as SCORES,
        Placed as Placed,
        Run as Run,
    )
    from snellen.store.windows import (
        SessionCallFields as SessionCallFields,
        SessionMessageFields as SessionMessageFields,
        StreamedFields as StreamedFields,
        WindowRecord as WindowRecord,
    )
    from snellen.store.json_schemas import schemas as schemas
    from snellen.store.traces import with_steps as with_steps

_FILES = {
    "DEPTH": "finding",
    "FORMAT": "formats",
    "KEPT_FROM": "kept_index",
    "MANIFEST": "manifest",
    "REPORT": "run_folder",
    "SCORES": "run_folder",
    "STEM": "identity",
    "AnyKey": "key",
    "EventRecord": "records",
    "Ending": "records",
    "ExcerptFields": "records",
    "Failure": "records",
    "FileStamp": "kept_index",
    "Folder": "folder",
    "HeldError": "locks",
    "Key": "key",
    "LabelRecord": "records",
    "MediaStamps": "media_stamps",
    "Mirror": "_mirror",
    "RunPart": "locks",
    "Placed": "run_folder",
    "Question": "records",
    "ReplyRecord": "records",
    "Run": "run_folder",
    "ScoreRow": "records",
    "SeenMedia": "records",
    "SessionCallFields": "windows",
    "SessionMessageFields": "windows",
    "StreamedFields": "windows",
    "ShownMedia": "records",
    "Stamp": "folder",
    "Unknown": "records",
    "WindowRecord": "windows",
    "check_shared": "locks",
    "command_on": "manifest",
    "data_at": "locations",
    "data_path": "locations",
    "differences": "identity",
    "differing": "identity",
    "fetch": "_fetched",
    "identity_digest": "identity",
    "image_without_bytes": "records",
    "is_address": "_mirror",
    "is_object_run": "identity",
    "mirror": "_mirror",
    "open_run": "opening",
    "path_of": "locations",
    "pull": "mirrored",
    "reply_record": "records",
    "runs_at": "locations",
    "runs_below": "finding",
    "runs_elsewhere": "finding",
    "safe_name": "identity",
    "schemas": "json_schemas",
    "seen_media": "records",
    "sharing_lock": "locks",
    "shown_media": "records",
    "started": "finding",
    "stored_tools": "records",
    "with_steps": "traces",
}
__all__ = [*_FILES]
__getattr__ = lazy.attributes(__name__, _FILES)
