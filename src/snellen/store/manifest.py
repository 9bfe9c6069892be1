"""Reads a run's manifest, and checks the fields that other code relies on."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import orjson

from snellen.errors import StoreError
from snellen.store import part_files
from snellen.store.folder import Folder
from snellen.store.formats import Count, FormatNumber, check_format

MANIFEST = part_files.MANIFEST


class RunIdentity(msgspec.Struct, frozen=True):
    """The fields of a manifest's identity that other code relies on."""

    options: dict[str, Any] = {}
    """The benchmark's options."""


class SessionFields(msgspec.Struct, frozen=True):
    """A process that asked questions of a run."""

    started: str = ""
    """When the process started, in UTC."""
    command: list[str] = []
    """The command line of the process."""
    profile: dict[str, Any] = {}
    """The model's profile, without API keys."""
    retry_truncated: Count | None = None
    """If the process asked questions again because their replies were truncated, the token limit
    that it used; None if it did not."""
    packages: dict[str, Any] = {}
    """The versions of the packages that the process used."""


class ManifestFields(msgspec.Struct, frozen=True):
    """The fields of `manifest.json` that other code relies on. The file has further fields."""

    format: FormatNumber
    """The format number that a reader must support to read this run."""
    benchmark: str = ""
    """The benchmark's name."""
    benchmark_object: bool = False
    """Whether the benchmark was a Python object of the caller."""
    model: str = ""
    """The model's name."""
    identity: RunIdentity = RunIdentity()
    """The identity that names the run's folder."""
    data: str = ""
    """The source from which the rows were read."""
    rows: Count = 0
    """The number of rows of the benchmark."""
    repeats: Count = 1
    """The number of times that each question is asked."""
    missing: str | None = None
    """How questions without a reply are scored; None means the default."""
    notes: list[str] = []
    """Notes that reports show."""
    noticed: dict[str, str] = {}
    """Notes that reports show about problems with the first replies, keyed by the kind of problem:
    `truncated` or `thoughts`."""
    raised: Count | None = None
    """The token limit to which `--on-truncation raise` has raised the run's limit; None if the
    limit was not raised."""
    sessions: list[SessionFields] = []
    """The processes that asked the run's questions, in order."""


def command_on(verb: str, path: Path, manifest: Mapping[str, Any], *arguments: str) -> str:
    """A `snellen` command for a run, quoted so that it can be pasted into a shell. If the user's
    own benchmark must be passed again, the command includes its file or module as `-b`."""
    source = manifest.get("benchmark_source", {})
    own = ["-b", source["spec"]] if source.get("kind") in ("file", "module") else []
    return shlex.join(["snellen", verb, f"{path}", *own, *arguments])


def read_manifest(folder: Folder) -> dict[str, Any]:
    """Read the complete manifest of a run's folder.

    Raises:
        StoreError: there is no manifest, or this version cannot read it.
    """
    path = folder.root
    if path.is_file():
        raise StoreError(
            f"{path} is a file, not a run folder. If it has predictions, score them with `snellen "
            f"score {path}`."
        )
    raw = folder.get(MANIFEST)
    if raw is None:
        raise StoreError(f"{path} is not a run folder: it has no {MANIFEST}.")
    try:
        manifest = orjson.loads(raw)
        check_format(manifest["format"], path / MANIFEST)
        if manifest["format"] >= 1:  # the run may have parts
            manifest = part_files.with_additions(folder, manifest)
        msgspec.convert(manifest, ManifestFields)
    except (orjson.JSONDecodeError, KeyError, TypeError, msgspec.ValidationError) as error:
        raise StoreError(f"{path / MANIFEST} is not a manifest: {error}") from error
    return dict(manifest)
