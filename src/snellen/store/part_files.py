"""The manifest of a run that is written in parts.

`manifest.json` is created by whichever part comes first, and never replaced while parts are
written. What a part adds to it later, such as its sessions, is in the part's own file,
`manifest.part-00003.json`. Readers get all of these as one manifest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from snellen.errors import StoreError
from snellen.store.folder import Folder
from snellen.store.formats import NEWEST
from snellen.store.locks import RunPart

MANIFEST = "manifest.json"
PART_MANIFEST = re.compile(r"manifest\.part-\d{5}\.json")
ADDED = ("sessions", "repeats", "noticed")
"""The fields of a manifest that a part may add to."""


def put_manifest(folder: Folder, part: RunPart, manifest: Mapping[str, Any]) -> None:
    """Create the manifest of a run, or store what a part adds to it."""
    document = {**manifest, "format": NEWEST}
    if folder.get(MANIFEST) is None and folder.put_first(MANIFEST, _encoded(document)):
        return
    own = _name(part)
    others = merged(_read(folder, MANIFEST), _additions(folder, without=own))
    sessions = [
        session
        for session in manifest.get("sessions", [])
        if session not in others.get("sessions", [])
    ]
    added = {**{name: manifest[name] for name in ADDED if name in manifest}, "sessions": sessions}
    folder.put_atomic(own, _encoded(added))


def mark(folder: Folder) -> None:
    """Give the manifest the format number of a run with parts, before the first line of a part is
    written. Readers that do not know parts would not see their lines, and would ask all questions
    again. Several processes may do this at once, since all of them write the same."""
    manifest = _read(folder, MANIFEST)
    if manifest.get("format") != NEWEST:
        folder.put_atomic(MANIFEST, _encoded({**manifest, "format": NEWEST}))


def with_additions(folder: Folder, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Add to a manifest what the parts of the run have added."""
    return merged(manifest, _additions(folder))


def merged(manifest: Mapping[str, Any], additions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Merge the manifest of a run with the additions of its parts."""
    everything = dict(manifest)
    sessions = [*everything.get("sessions", [])]
    for added in additions:
        sessions += [session for session in added.get("sessions", []) if session not in sessions]
        everything["repeats"] = max(everything.get("repeats", 1), added.get("repeats", 1))
        if noticed := added.get("noticed"):
            everything["noticed"] = {**noticed, **everything.get("noticed", {})}
    if sessions:
        everything["sessions"] = sorted(
            sessions, key=lambda session: str(session.get("started", ""))
        )
    return everything


def _additions(folder: Folder, without: str = "") -> list[dict[str, Any]]:
    names = [name for name in folder.names() if PART_MANIFEST.fullmatch(name) and name != without]
    return [_read(folder, name) for name in names]


def _read(folder: Folder, name: str) -> dict[str, Any]:
    raw = folder.get(name)
    path = folder.root / name
    if raw is None:
        raise StoreError(f"{folder.root} is not a run folder: it has no {name}.")
    try:
        return dict(orjson.loads(raw))
    except (orjson.JSONDecodeError, TypeError, ValueError) as error:
        raise StoreError(f"{path} is not a manifest: {error}") from error


def _name(part: RunPart) -> str:
    return f"manifest.part-{part.number:05d}.json"


def _encoded(document: Mapping[str, Any]) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"
