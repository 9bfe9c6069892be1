"""The identity of a run, the digest that names it, and the differences between two identities."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

import orjson

from snellen.errors import UsageError

UNSAFE = re.compile(r"[^A-Za-z0-9._+=-]+")
LONGEST_NAME = 255
"""Bytes that file systems take for the name of a file or folder."""
STEM = 240
"""The part of these bytes for a file name's suffix and the temporary suffix while it is written."""


def safe_name(name: str, *, room: int = LONGEST_NAME) -> str:
    """A name as a folder's name: unsafe characters become `__`, and one of more than `room` bytes
    is cut and ends in a digest of the whole.

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
    """12 hex digits that name a run: BLAKE2b of its identity as sorted JSON.

    Values that are None or empty do not count, so that a field that is added in a later version and
    not used in a run does not change its name.

    >>> identity_digest({"a": 1}) == identity_digest({"a": 1, "b": {"c": None}})
    True

    Raises:
        UsageError: it contains a value that cannot be stored, such as a number beyond 64 bits.
    """
    try:
        raw = orjson.dumps(_without_empty(identity), option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:
        raise UsageError(
            f"what was given, by options or a profile, cannot be stored: {error}. Numbers are of "
            "64 bits at most."
        ) from error
    return blake2b(raw, digest_size=6).hexdigest()


def _without_empty(value: Any) -> Any:
    """A value without its None and empty parts."""
    if not isinstance(value, Mapping):
        return value
    parts = {name: _without_empty(part) for name, part in value.items()}
    return {name: part for name, part in parts.items() if part not in (None, {}, [], "")}


def is_object_run(manifest: Mapping[str, Any]) -> bool:
    """Whether a run's benchmark was a caller's Python object, which no manifest can rebuild.

    Manifests of earlier versions do not say so; the result is then False.
    """
    return manifest.get("benchmark_object") is True


def differing(
    identity: Mapping[str, Any], other: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """The fields in which two identities differ, with both values: `generation.seed`, 0, 1."""
    for name in sorted({*identity, *other}):
        mine, theirs = identity.get(name), other.get(name)
        if isinstance(mine, dict | None) and isinstance(theirs, dict | None):
            # A missing group of fields means that none of them is set.
            yield from differing(mine or {}, theirs or {}, f"{prefix}{name}.")
        elif mine != theirs:
            yield f"{prefix}{name}", mine, theirs


def differences(identity: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The fields in which two identities differ, as `generation.max_tokens (64, was 512)`."""
    return [
        f"{name} ({_in_words(mine)}, was {_in_words(theirs)})"
        for name, mine, theirs in differing(identity, other)
    ]


def _in_words(value: Any) -> str:
    if value is None:
        return "not set"
    return "empty" if value in ("", [], ()) else f"{value}"
