"""Reuses the stored report of a run if scoring the run again could not change the report.

After a run is scored, the hidden file `.scored` in its folder describes everything that the report
depends on: the journal and the other inputs, the scorings with the digest of their source, the
fields of the manifest, `--missing`, and Snellen's version and files. The file also has the digests
of the files that scoring writes. If all of that is unchanged when the same command is repeated, the
stored report is read instead of scoring all replies. `snellen score` always scores.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from snellen import __version__, registry
from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark
from snellen.core.scoring import Missing
from snellen.scoring import Report, rules_of
from snellen.scoring.judge import JUDGED
from snellen.scoring.sections.cost import prices_of
from snellen.store import KEPT_FROM, REPORT, SCORES, FileStamp, Mirror, Run

SEAL = ".scored"
MARKDOWN = "report.md"
OUTPUTS = (REPORT, MARKDOWN, f"{SCORES}.jsonl")
"""The files that scoring writes."""
BLOCK = 1 << 20


class Input(msgspec.Struct, frozen=True):
    """The state of a file that a report depends on."""

    stamp: FileStamp
    """Identifies the state without reading the file, if the stamp is settled."""
    digest: str | None
    """The digest of the content; None if the stamp suffices."""


class Seal(msgspec.Struct, frozen=True):
    """Everything that a stored report depends on, and the files that scoring wrote."""

    rules: str
    """The digest of the rules by which the replies were scored."""
    inputs: dict[str, Input]
    """The state of each input, by the name of the file."""
    outputs: dict[str, str]
    """The digest of each file that scoring wrote, by the name of the file."""


def inputs_of(run: Run) -> dict[str, Input]:
    """The state of the files that a report of the run depends on. Call this before scoring."""
    return {name: _input(run.path / name) for name in _input_names(run)}


def keep(
    run: Run, benchmark: Benchmark, missing: Missing | None, inputs: Mapping[str, Input]
) -> None:
    """Store what the run's report depends on. Call this after the report was written, while holding
    the run's lock. `inputs` is the state of the inputs before scoring."""
    seal = run.path / SEAL
    if not _can_be_kept(run, benchmark, inputs):
        if not isinstance(run.path, Mirror):
            seal.unlink(missing_ok=True)
        return
    outputs = {name: _digest(run.path / name) for name in OUTPUTS}
    document = Seal(_rules_digest(run, benchmark, missing), dict(inputs), outputs)
    run.folder.put_atomic(SEAL, msgspec.json.encode(document))


def kept_result(run: Run, benchmark: Benchmark, missing: Missing | None) -> Result | None:
    """The stored result of a run (loaded, locked); None if the run must be scored."""
    raw = None if isinstance(run.path, Mirror) else run.folder.get(SEAL)
    if raw is None:
        return None
    try:
        seal = msgspec.json.decode(raw, type=Seal)
        inputs = inputs_of(run)
        if (
            not _can_be_kept(run, benchmark, inputs)
            or seal.inputs.keys() != inputs.keys()
            or not all(_is_same(seal.inputs[name], run.path / name) for name in inputs)
            or seal.rules != _rules_digest(run, benchmark, missing)
            or seal.outputs != {name: _digest(run.path / name) for name in OUTPUTS}
        ):
            return None
        report = msgspec.json.decode((run.path / REPORT).read_bytes(), type=Report)
    except (msgspec.DecodeError, OSError):  # a file is damaged or missing
        return None
    return Result(report, run.path)


def _can_be_kept(run: Run, benchmark: Benchmark, inputs: Mapping[str, Input]) -> bool:
    """Whether the file `.scored` can describe everything that the run's report depends on, and is
    worth it."""
    source = registry.source_of(benchmark)
    return (
        sum(entry.stamp.size for entry in inputs.values()) >= KEPT_FROM
        # Only the process that holds the lock of the whole run knows that nobody else writes.
        and not run.folder.has_parts
        and not isinstance(run.path, Mirror)
        # The notes are about damage that this process found or repaired.
        and not run.notes
        # A judged run also depends on the runs of its judges, and on their qualifications.
        and not (run.path / JUDGED).exists()
        and not registry.runs_a_program(run.manifest())
        # The digest of an object does not cover everything that its functions use.
        and (source is None or (source.kind != "object" and source.digest is not None))
    )


def _rules_digest(run: Run, benchmark: Benchmark, missing: Missing | None) -> str:
    manifest = run.manifest()
    sessions = manifest.get("sessions", [])
    limits = [session.get("until_stderr") for session in sessions]
    source = registry.source_of(benchmark)
    fields: dict[str, Any] = {
        "snellen": __version__,
        "files": _package_digest(),
        "manifest": {name: value for name, value in manifest.items() if name != "sessions"},
        "missing": missing or manifest.get("missing"),
        "prices": prices_of(manifest),
        "until_stderr": limits if any(limit is not None for limit in limits) else [],
        "rules": vars(rules_of(benchmark)),
        "from_catalog": benchmark.provenance.from_catalog,
        "source": None if source is None else source.stored(),
    }
    return sha256(msgspec.json.encode(fields, order="sorted")).hexdigest()


def _package_digest() -> str:
    """A digest of the names, sizes, and times of change of Snellen's own files. It also changes if
    someone edits the files without a new version."""
    root = Path(__file__).parents[1]
    return sha256(msgspec.json.encode(sorted(_files_below(f"{root}")))).hexdigest()


def _files_below(folder: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _files_below(entry.path)
            else:
                status = entry.stat()
                yield entry.path, status.st_size, status.st_mtime_ns


def _input_names(run: Run) -> list[str]:
    return [name for name in run.folder.names() if name.endswith(".jsonl") and name not in OUTPUTS]


def _input(path: Path) -> Input:
    stamp = FileStamp.of(path)
    return Input(stamp, None if stamp.is_settled else _digest(path))


def _is_same(stored: Input, path: Path) -> bool:
    if stored.stamp.is_same(FileStamp.of(path)):
        return True
    return stored.digest is not None and stored.digest == _digest(path)


def _digest(path: Path) -> str:
    digest = sha256()
    with path.open("rb", buffering=0) as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
