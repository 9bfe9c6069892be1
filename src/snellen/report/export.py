"""A run's replies in other tools' files, and as test servers take them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.data import placed
from snellen.errors import CatalogError, DataError, UsageError
from snellen.interop import (
    EXPORTED,
    Answered,
    jsonl,
    labels,
    lmms_eval,
    separated,
    vlmevalkit,
    xlsx,
)
from snellen.scoring import Scored, judge, replies_of
from snellen.store import STEM, Run, data_path, is_object_run, safe_name

Write = Callable[[Path, Sequence[str], Iterable[Sequence[object]]], list[str]]
Table = tuple[Sequence[str], Iterable[Sequence[object]]]
FORMATS = (
    *("vlmevalkit", "lmms-eval", "csv", "tsv", "xlsx", "jsonl", "submission", "authors"),
    "labels",
)
COUNTED = {
    "submission": ", are empty in it, and a test server counts them as wrong",
    "authors": ", are null in it, and the authors' script counts them as wrong",
}
"""What becomes of those that failed."""
WRITERS: Mapping[str, Write] = {
    ".csv": separated.write,
    ".tsv": separated.write,
    ".xlsx": xlsx.write,
    ".jsonl": jsonl.write,
    ".json": jsonl.write_list,
}


@dataclass(frozen=True, kw_only=True)
class LabelSheet:
    """Which replies stand on a blank sheet of labels."""

    scoring: str | None = None
    """The scoring whose judge decided the replies; default: the first that has a judge."""
    sample: int | None = None
    """How many of these replies, drawn at random; default: all."""
    seed: int = 0
    """Draws the replies. Those of a smaller sheet are the first of a larger one."""


ALL_REPLIES = LabelSheet()


def export(
    folder: Path,
    to: str,
    out: Path | None = None,
    *,
    data: Path | None = None,
    sheet: LabelSheet = ALL_REPLIES,
    benchmark: str | Benchmark | None = None,
) -> tuple[Path, list[str]]:
    """Write a run's replies to a file (or into the folder) `out`; gives its path and what a reader
    must know. The ending of `out` chooses the kind of file where there is a choice. The authors'
    form has parts of the rows in it, which are read where the run read them, or in `data`.

    `labels` is a blank sheet for people, with the replies that `sheet` names.

    `benchmark` is the caller's own that the run was made with: the object, `FILE.py:NAME`, or
    `module:NAME`.

    Raises:
        CatalogError: the run was made with a Benchmark object, and none is passed.
        UsageError: no such format, the benchmark has no test server, its authors no form of their
            own, or an extra is missing. StoreError: it is no run folder. DataError: a reply does
            not fit into such a file, or the rows are not there, or not those of the run.
    """
    if to not in FORMATS:
        raise UsageError(f"no format {to!r}; there are {', '.join(FORMATS)}.")
    if data is not None and to != "authors":
        raise UsageError(f"data is for --to authors: {to} takes all that it has from the run.")
    if to != "labels" and (sheet.scoring is not None or sheet.sample is not None):
        raise UsageError("scoring and sample are for --to labels: all else has every reply.")
    run = Run(folder)
    manifest = run.manifest()
    benchmark = _benchmark_of(folder, manifest, benchmark)
    run.load()
    try:
        states: Counter[str] = Counter()
        if to == "authors":
            path, said = _as_authors(run, manifest, benchmark, data, out, states)
            return path, [*_missing(run, manifest, to, states), *said]
        if to == "labels":
            return _write_sheet(run, manifest, benchmark, out, sheet)
        name, (columns, rows) = _table(run, manifest, benchmark, to, out, states)
        path = _placed(out, name)
        write = WRITERS.get(path.suffix)
        sent = benchmark.interop.submission if to == "submission" else None
        if sent is not None and sent.by_id and path.suffix == ".json":
            write = jsonl.write_by_id
        if to == "vlmevalkit" and path.suffix == ".tsv":
            write = partial(separated.write, formulas="kept")  # it reads cells as they stand
        if write is None:
            raise UsageError(f"{path}: exports end in {', '.join(WRITERS)}.")
        changed = write(path, columns, rows)
        return path, [*_missing(run, manifest, to, states), *changed]
    finally:
        run.close()


def _benchmark_of(
    folder: Path, manifest: Mapping[str, Any], benchmark: str | Benchmark | None
) -> Benchmark:
    if isinstance(benchmark, str):
        benchmark = registry.of_run(manifest, benchmark)
    if benchmark is None:
        try:
            return registry.of_run(manifest)
        except CatalogError as error:
            if "spec" in manifest.get("benchmark_source", {}):
                raise CatalogError(f"{folder}: {error}") from error
            raise CatalogError(
                f"{folder}: {error} Pass the Benchmark object that made the run, in Python: "
                "`snellen.report.export.export(run, to, benchmark=benchmark)`."
            ) from error
    if not is_object_run(manifest) or benchmark.name != manifest["benchmark"]:
        raise UsageError(
            f"{folder} was not made with a Benchmark object called {benchmark.name}. Call export "
            "without `benchmark`."
        )
    return benchmark


def _as_authors(
    run: Run,
    manifest: Mapping[str, Any],
    benchmark: Benchmark,
    data: Path | None,
    out: Path | None,
    states: Counter[str],
) -> tuple[Path, Sequence[str]]:
    """Write the file in which the benchmark's authors publish results."""
    name = manifest["benchmark"]
    if benchmark.interop.results is None:
        raise UsageError(
            f"{name}: no form is known in which its authors publish replies to what this run asked."
        )
    if benchmark.provenance.from_catalog:
        was = data_path(manifest["data"])
        benchmark = registry.benchmark(
            name,
            data=data or (was if was.exists() else None),
            options=manifest["identity"]["options"],
        )
    assert benchmark.interop.results is not None
    if benchmark.data.facts().digest != manifest["identity"]["data"]["digest"]:
        raise DataError(
            f"{benchmark.data.where} has other rows than those that the run asked about: name "
            "these with --data."
        )
    replies = _counted((one for one in replies_of(run, benchmark) if one.repeat == 0), states)
    texts = {one.sample.id: None if one.reply is None else one.reply.text for one in replies}
    made = benchmark.interop.results(manifest["model"], texts)
    path = _placed(out, made.name)
    if path.suffix != ".json":
        raise UsageError(f"{path}: the authors' files end in .json.")
    with placed(path) as part:
        part.write_text(json.dumps(made.holds, indent=4, allow_nan=False) + "\n")
    return path, made.notes


def _write_sheet(
    run: Run,
    manifest: Mapping[str, Any],
    benchmark: Benchmark,
    out: Path | None,
    sheet: LabelSheet,
) -> tuple[Path, list[str]]:
    """Write a blank sheet of labels: no verdicts in it, so that they sway nobody."""
    name = sheet.scoring or next((n for n, one in benchmark.scorings.items() if one.judge), None)
    if name is None:
        raise UsageError(f"{benchmark.name}: none of its scorings has a judge to be measured.")
    made, asked = judge.scoring_of(benchmark, name), judge.judge_of(benchmark, name)
    every = [
        one
        for one in replies_of(run, benchmark)
        if one.reply is not None
        and one.state != "refused"
        and not one.sample.hidden
        and asked.when(made.parse(one.reply, one.sample))
    ]
    if not every:
        raise UsageError(f"{run.path}: {name} leaves none of its replies to a judge.")

    def order(one: Scored) -> bytes:
        return blake2b(
            f"{sheet.seed} {one.sample.id} {one.repeat}".encode(), digest_size=8
        ).digest()

    drawn = sorted(every, key=order)[: sheet.sample]
    stem = safe_name(f"{benchmark.name}_{manifest['model']}_labels", room=STEM)
    path = _placed(out, f"{stem}.csv")
    if path.suffix not in WRITERS:
        raise UsageError(f"{path}: exports end in {', '.join(WRITERS)}.")
    rows = (
        (
            one.sample.id,
            one.repeat,
            name,
            one.sample.question,
            "\n".join(one.sample.references or (one.sample.target or "",)),
            "" if one.reply is None else one.reply.text,
            None,
            sheet.seed,
        )
        for one in drawn
    )
    changed = WRITERS[path.suffix](path, labels.COLUMNS, rows)
    return path, [
        f"{len(drawn):,} of {len(every):,} replies that {name} leaves to a judge, drawn with seed "
        f"{sheet.seed}: fill in label, 0 to {made.best:g}, then "
        f"`{run.command('judge', '--against', str(path))}`",
        *changed,
    ]


def _placed(out: Path | None, name: str) -> Path:
    """Where a file goes: to `out`, into it where that is a folder, or here under its usual name."""
    return out / name if out is not None and out.is_dir() else out or Path(name)


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
        name = vlmevalkit.file_name(model, registry.vlmevalkit_name(manifest), kind)
        # Tags for metrics say nothing to a reader, and may have the name of a column: `question`.
        without = benchmark.presentation.metric_tags
        return name, vlmevalkit.table([_answered(one, without) for one in replies])
    if to == "lmms-eval":
        name = lmms_eval.file_name(registry.lmms_eval_name(manifest), datetime.now(UTC))
        return name, lmms_eval.table(map(_answered, replies))
    if to == "submission":
        if benchmark.interop.submission is None:
            raise UsageError(f"{benchmark.name}: there is no form in which a test server takes it.")
        row = benchmark.interop.submission.row
        rows = (row(one.sample, "" if one.reply is None else one.reply.text) for one in replies)
        return benchmark.interop.submission.name, (benchmark.interop.submission.columns, rows)
    plain = ((*_fields(_answered(one)), one.state) for one in replies)
    return f"{safe_name(f'{benchmark.name}_{model}', room=STEM)}.{to}", (EXPORTED, plain)


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
    if sent and registry.BUNDLED in manifest.get("notes", []):
        yield registry.BUNDLED
    if of > n:
        wrong = ", and a test server counts the others as wrong" * sent
        yield f"partial: {n:,} of {of:,} questions are in it{wrong}"
    if failed:
        wrong = COUNTED.get(to, "")
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


def _answered(one: Scored, without: Collection[str] = ()) -> Answered:
    """A reply as formats take it, without these tags."""
    reply = one.reply
    return Answered(
        id=one.sample.id,
        place=one.row_index,
        question=one.sample.question,
        choices=one.sample.choices,
        target=one.sample.target,
        reply=None if reply is None else reply.text,
        reasoning=None if reply is None else reply.reasoning,
        tags={tag: value for tag, value in one.sample.tags.items() if tag not in without},
    )


def _fields(one: Answered) -> tuple[object, ...]:
    return one.id, one.question, list(one.choices), one.target, one.reply
