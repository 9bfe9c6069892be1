"""Reads a run's manifest, and checks the fields that others rely on."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import orjson

from snellen.errors import StoreError
from snellen.store.folder import Folder
from snellen.store.formats import Count, FormatNumber, check_format

MANIFEST = "manifest.json"


class RunIdentity(msgspec.Struct, frozen=True):
    """The part of a manifest that names the run."""

    options: dict[str, Any] = {}
    """The benchmark's options."""


class SessionFields(msgspec.Struct, frozen=True):
    """One process that asked a run's questions."""

    started: str = ""
    """When it began, in UTC."""
    command: list[str] = []
    """Its command line."""
    profile: dict[str, Any] = {}
    """The model's profile, without keys."""
    retry_truncated: Count | None = None
    """The token limit with which it asked truncated replies' questions again; None: it did not."""
    packages: dict[str, Any] = {}
    """The versions of the packages that the process used."""


class ManifestFields(msgspec.Struct, frozen=True):
    """The fields of `manifest.json` that others rely on. The file has more."""

    format: FormatNumber
    """The lowest format number that a reader of this run must know."""
    benchmark: str = ""
    """The benchmark's name."""
    benchmark_object: bool = False
    """Whether the benchmark was a caller's Python object."""
    model: str = ""
    """The model's name."""
    identity: RunIdentity = RunIdentity()
    """The identity that names the run's folder."""
    data: str = ""
    """Where the rows were read from."""
    rows: Count = 0
    """How many rows were chosen."""
    repeats: Count = 1
    """How often each question is asked."""
    missing: str | None = None
    """How questions without a reply count; None for the default."""
    notes: list[str] = []
    """Notes for the reader of a report."""
    noticed: dict[str, str] = {}
    """What was wrong with the first replies, by kind: `truncated`, `thoughts`. Notes for the reader
    of a report."""
    raised: Count | None = None
    """The token limit to which `--on-truncation raise` has raised the run's; None if it has not."""
    sessions: list[SessionFields] = []
    """The processes that asked its questions, in order."""


def command_on(verb: str, path: Path, manifest: Mapping[str, Any], *arguments: str) -> str:
    """A command on a run, ready to be pasted: with `-b` where the run needs its own benchmark's
    file or module passed again."""
    source = manifest.get("benchmark_source", {})
    own = ["-b", source["spec"]] if source.get("kind") in ("file", "module") else []
    return shlex.join(["snellen", verb, f"{path}", *own, *arguments])


def read_manifest(folder: Folder) -> dict[str, Any]:
    """The whole manifest of a run's folder.

    Raises:
        StoreError: there is none, or this version cannot read it.
    """
    path = folder.root
    if path.is_file():
        raise StoreError(
            f"{path} is a file, not a run folder. If predictions are in it, "
            f"`snellen score {path}` scores them."
        )
    raw = folder.get(MANIFEST)
    if raw is None:
        raise StoreError(f"{path} is not a run folder: it has no {MANIFEST}.")
    try:
        manifest = orjson.loads(raw)
        check_format(manifest["format"], path / MANIFEST)
        msgspec.convert(manifest, ManifestFields)
    except (orjson.JSONDecodeError, KeyError, TypeError, msgspec.ValidationError) as error:
        raise StoreError(f"{path / MANIFEST} is not a manifest: {error}") from error
    return dict(manifest)
