"""A run's replies in other tools' files, and as test servers take them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from snellen import catalog
from snellen.errors import UsageError
from snellen.formats import Answered, jsonl, lmms_eval, separated, vlmevalkit, xlsx
from snellen.scoring import Scored, replies_of
from snellen.store import Run, safe_name

Write = Callable[[Path, Sequence[str], Iterable[Sequence[object]]], list[str]]
Table = tuple[Sequence[str], Iterable[Sequence[object]]]
PLAIN = ("id", "question", "choices", "target", "reply", "state")
FORMATS = ("vlmevalkit", "lmms-eval", "csv", "tsv", "xlsx", "jsonl", "submission")
WRITERS: Mapping[str, Write] = {
    ".csv": separated.write,
    ".tsv": lambda path, columns, rows: separated.write(path, columns, rows, formulas="kept"),
    ".xlsx": xlsx.write,
    ".jsonl": jsonl.write,
}


def export(folder: Path, to: str, out: Path | None = None) -> tuple[Path, list[str]]:
    """Write a run's replies to a file (or into the folder) `out`; gives its path and what a reader
    must know. The ending of `out` chooses the kind of file where there is a choice.

    Raises:
        UsageError: no such format, the benchmark has no test server, or an extra is missing.
        StoreError: it is no run folder. DataError: a reply does not fit into such a file.
    """
    if to not in FORMATS:
        raise UsageError(f"no format {to!r}; there are {', '.join(FORMATS)}.")
    run = Run(folder)
    manifest = run.manifest()
    run.load()
    try:
        notes: list[str] = []
        name, (columns, rows) = _table(run, manifest, to, out, notes)
        path = out / name if out is not None and out.is_dir() else out or Path(name)
        write = WRITERS.get(path.suffix)
        if write is None:
            raise UsageError(f"{path}: exports end in {', '.join(WRITERS)}.")
        return path, notes + write(path, columns, rows)
    finally:
        run.close()


def _table(
    run: Run, manifest: Mapping[str, Any], to: str, out: Path | None, notes: list[str]
) -> tuple[str, Table]:
    """The file's usual name, and its columns and rows."""
    benchmark = catalog.of_run(manifest)
    model = manifest["model"]
    replies = (one for one in replies_of(run, benchmark) if one.repeat == 0)
    if (repeats := manifest.get("repeats", 1)) > 1:
        notes.append(f"only the first of {repeats} repeats is in it")
    if to == "vlmevalkit":
        kind = out.suffix if out is not None and out.suffix in WRITERS else ".xlsx"
        name = vlmevalkit.file_name(model, catalog.published_name(manifest), kind)
        return name, vlmevalkit.table([_answered(one) for one in replies])
    if to == "lmms-eval":
        name = lmms_eval.file_name(benchmark.name, datetime.now(UTC))
        return name, lmms_eval.table(map(_answered, replies))
    if to == "submission":
        if benchmark.submission is None:
            raise UsageError(f"{benchmark.name}: there is no form in which a test server takes it.")
        row = benchmark.submission.row
        rows = (row(one.sample, "" if one.reply is None else one.reply.text) for one in replies)
        return benchmark.submission.name, (benchmark.submission.columns, rows)
    plain = ((*_fields(_answered(one)), one.state) for one in replies)
    return f"{safe_name(benchmark.name)}_{safe_name(model)}.{to}", (PLAIN, plain)


def _answered(one: Scored) -> Answered:
    reply = one.reply
    return Answered(
        id=one.sample.id,
        place=one.place,
        question=one.sample.question,
        choices=one.sample.choices,
        target=one.sample.target,
        reply=None if reply is None else reply.text,
        reasoning=None if reply is None else reply.reasoning,
        tags=one.sample.tags,
    )


def _fields(one: Answered) -> tuple[object, ...]:
    return one.id, one.question, list(one.choices), one.target, one.reply
