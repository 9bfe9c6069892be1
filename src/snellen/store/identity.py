"""The identity of a run, the digest that names its folder, and the differences between two
identities."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

import orjson

from snellen.errors import UsageError

UNSAFE = re.compile(r"[^A-Za-z0-9._+=-]+")
LONGEST_NAME = 255
"""The maximum length, in bytes, that file systems allow for the name of a file or folder."""
STEM = 240
"""The maximum length of a file name's stem, in bytes. This limit leaves room for the suffix, and
for a temporary suffix while the file is written."""


def safe_name(name: str, *, room: int = LONGEST_NAME) -> str:
    """Convert a name to the name of a folder. Unsafe characters become `__`. A result of more than
    `room` bytes is cut and ends with a digest of the full name.

    >>> safe_name("openai/Qwen/Qwen2-VL")
    'openai__Qwen__Qwen2-VL'
    >>> safe_name("openai/Qwen/Qwen2-VL", room=20)
    'openai_-feb969421371'
    """
    safe = UNSAFE.sub("__", name).strip(".") or "__"
    if len(safe) <= room:
        return safe
    digest = blake2b(name.encode(errors="surrogatepass"), digest_size=6).hexdigest()
    return f"{safe[: room - len(digest) - 1]}-{digest}"


def identity_digest(identity: Mapping[str, Any]) -> str:
    """The 12 hex digits that name a run's folder: the BLAKE2b digest of its identity as sorted
    JSON.

    Values that are None or empty are left out, so that a field that is added in a later version
    does not change the names of runs that do not use it.

    >>> identity_digest({"a": 1}) == identity_digest({"a": 1, "b": {"c": None}})
    True

    Raises:
        UsageError: the identity contains a value that cannot be stored, such as a number of more
            than 64 bits.
    """
    try:
        raw = orjson.dumps(_without_empty(identity), option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:
        raise UsageError(
            f"a value in the options or the profile cannot be stored: {error}. Numbers can have at "
            "most 64 bits."
        ) from error
    return blake2b(raw, digest_size=6).hexdigest()


def _without_empty(value: Any) -> Any:
    """Remove the parts of a value that are None or empty."""
    if not isinstance(value, Mapping):
        return value
    parts = {name: _without_empty(part) for name, part in value.items()}
    return {name: part for name, part in parts.items() if part not in (None, {}, [], "")}


def is_object_run(manifest: Mapping[str, Any]) -> bool:
    """Whether a run's benchmark was a Python object of the caller, which cannot be created from the
    manifest.

    The result is False for manifests of earlier versions, which lack this information.
    """
    return manifest.get("benchmark_object") is True


def differing(
    identity: Mapping[str, Any], other: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the fields in which two identities differ, each with both values, such as
    (`generation.seed`, 0, 1)."""
    for name in sorted({*identity, *other}):
        mine, theirs = identity.get(name), other.get(name)
        if isinstance(mine, dict | None) and isinstance(theirs, dict | None):
            # A missing group of fields is the same as a group in which no field is set.
            yield from differing(mine or {}, theirs or {}, f"{prefix}{name}.")
        elif mine != theirs:
            yield f"{prefix}{name}", mine, theirs


def differences(identity: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Describe the fields in which two identities differ, such as `generation.max_tokens (64, was
    512)`."""
    return [
        f"{name} ({_text(mine)}, was {_text(theirs)})"
        for name, mine, theirs in differing(identity, other)
    ]


def _text(value: Any) -> str:
    """Format a field's value for a message. The value is None if the identity lacks the field."""
    if value is None:
        return "not set"
    return str(value) or "empty"
