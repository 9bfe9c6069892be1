"""The JSON schemas of the files in a run folder, which are published in
`docs/reference/schemas`."""

from __future__ import annotations

from typing import Any

import msgspec

from snellen.store.formats import MAX_COUNT
from snellen.store.key import Key
from snellen.store.manifest import ManifestFields
from snellen.store.records import (
    EndRecord,
    EventRecord,
    LabelRecord,
    Question,
    ReplyRecord,
    ScoreRow,
)
from snellen.store.windows import WindowRecord

STORED: dict[str, type[msgspec.Struct]] = {
    "manifest": ManifestFields,
    "reply": ReplyRecord,
    "end": EndRecord,
    "window": WindowRecord,
    "question": Question,
    "event": EventRecord,
    "score": ScoreRow,
    "label": LabelRecord,
}


def schemas() -> dict[str, dict[str, Any]]:
    """The published JSON schemas of the manifest and of each kind of line. Readers keep fields that
    they do not know, so later versions may add fields."""
    return {
        name: msgspec.json.schema(struct, schema_hook=_key_schema)
        for name, struct in STORED.items()
    }


def _key_schema(kind: type) -> dict[str, Any]:
    if kind is not Key:
        raise NotImplementedError
    number = {"type": "integer", "minimum": 0, "exclusiveMaximum": MAX_COUNT}
    return {
        "type": "array",
        "description": "sample, repeat, turn, and step where it is not 0",
        "prefixItems": [{"type": "string"}, number, number, number],
        "items": False,
        "minItems": 3,
    }
