"""A run's replies in other tools' files, and as test servers take them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from snellen import catalog
from snellen.benchmark import Benchmark
from snellen.errors import UsageError
from snellen.formats import Answered, jsonl, lmms_eval, separated, vlmevalkit, xlsx
from snellen.scoring import Scored, replies_of
from snellen.store import STEM, Run, safe_name

Write = Callable[[Path, Sequence[str], Iterable[Sequence[object]]], list[str]]
Table = tuple[Sequence[str], Iterable[Sequence[object]]]
PLAIN = ("id", "question", "choices", "target", "reply", "state")
FORMATS = ("vlmevalkit", "lmms-eval", "csv", "tsv", "xlsx", "jsonl", "submission")
WRITERS: Mapping[str, Write] = {
    ".csv": separated.write,
    ".tsv": lambda path, columns, rows: separated.write(path, columns, rows, formulas="kept"),
    ".xlsx": xlsx.write,
    ".jsonl": jsonl.write,
    ".json": jsonl.write_list,
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
        states: Counter[str] = Counter()
        benchmark = catalog.of_run(manifest)
        name, (columns, rows) = _table(run, manifest, benchmark, to, out, states)
        path = out / name if out is not None and out.is_dir() else out or Path(name)
        write = WRITERS.get(path.suffix)
        sent = benchmark.submission if to == "submission" else None
        if sent is not None and sent.by_id and path.suffix == ".json":
            write = jsonl.write_by_id
        if write is None:
            raise UsageError(f"{path}: exports end in {', '.join(WRITERS)}.")
        changed = write(path, columns, rows)
        return path, [*_missing(run, manifest, to, states), *changed]
    finally:
        run.close()


def _table(
    run: Run,
    manifest: Mapping[str, Any],
    benchmark: Benchmark,
    to: str,
    out: Path | None,
    states: Counter[str],
) -> tuple[str, Table]:
    """The file's usual name, and its columns and rows; `states` counts the replies in them as they
    are read."""
    model = manifest["model"]
    replies = _counted((one for one in replies_of(run, benchmark) if one.repeat == 0), states)
    if to == "vlmevalkit":
        kind = out.suffix if out is not None and out.suffix in WRITERS else ".xlsx"
        name = vlmevalkit.file_name(model, catalog.vlmevalkit_name(manifest), kind)
        return name, vlmevalkit.table([_answered(one) for one in replies])
    if to == "lmms-eval":
        name = lmms_eval.file_name(catalog.lmms_eval_name(manifest), datetime.now(UTC))
        return name, lmms_eval.table(map(_answered, replies))
    if to == "submission":
        if benchmark.submission is None:
            raise UsageError(f"{benchmark.name}: there is no form in which a test server takes it.")
        row = benchmark.submission.row
        rows = (row(one.sample, "" if one.reply is None else one.reply.text) for one in replies)
        return benchmark.submission.name, (benchmark.submission.columns, rows)
    plain = ((*_fields(_answered(one)), one.state) for one in replies)
    return f"{safe_name(f'{benchmark.name}_{model}', room=STEM)}.{to}", (PLAIN, plain)


def _counted(replies: Iterable[Scored], states: Counter[str]) -> Iterator[Scored]:
    for one in replies:
        states[one.state] += 1
        yield one


def _missing(run: Run, manifest: Mapping[str, Any], to: str, states: Counter[str]) -> Iterator[str]:
    """What of a run is not in the file."""
    if (repeats := manifest.get("repeats", 1)) > 1:
        yield f"only the first of {repeats} repeats is in it"
    n, of, failed = states.total(), manifest.get("rows", 0), states["failed"]
    sent = to == "submission"
    if sent and catalog.BUNDLED in manifest.get("notes", []):
        yield catalog.BUNDLED
    if of > n:
        wrong = ", and a test server counts the others as wrong" * sent
        yield f"partial: {n:,} of {of:,} questions are in it{wrong}"
    if failed:
        wrong = ", are empty in it, and a test server counts them as wrong" * sent
        yield (
            f"incomplete: {failed:,} of {n:,} have no reply{wrong}; the run's command asks them "
            "again"
        )
    yield from dict.fromkeys(run.notes)
    if lost := run.lost_questions:
        yield (
            "1 reply is not in it: its row of questions.jsonl is lost; the run's command writes it "
            "again"
            if lost == 1
            else f"{lost:,} replies are not in it: their rows of questions.jsonl are lost; the "
            "run's command writes them again"
        )


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
