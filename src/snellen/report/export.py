"""Export a run's replies to the formats of other tools and of test servers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    separated,
    vlmevalkit,
    xlsx,
)
from snellen.interop.hub import NO_TARGET, HubTarget
from snellen.report import exchange
from snellen.scoring import Scored, judge, replies_of
from snellen.store import STEM, Run, data_path, is_object_run, safe_name

Write = Callable[[Path, Sequence[str], Iterable[Sequence[object]]], list[str]]
Table = tuple[Sequence[str], Iterable[Sequence[object]]]
FORMATS = (
    *("vlmevalkit", "csv", "tsv", "xlsx", "jsonl", "submission", "authors", "labels"),
    *exchange.FORMATS,
)
COUNTED = {
    "submission": ", are empty in it, and a test server counts them as wrong",
    "authors": ", are null in it, and the authors' script counts them as wrong",
}
"""How a file represents failed replies, and how the program that reads the file counts them."""
WRITERS: Mapping[str, Write] = {
    ".csv": separated.write,
    ".tsv": separated.write,
    ".xlsx": xlsx.write,
    ".jsonl": jsonl.write,
    ".json": jsonl.write_list,
}


@dataclass(frozen=True, kw_only=True)
class LabelSheet:
    """Which replies people label on a blank sheet."""

    scoring: str | None = None
    """The scoring whose judge decides the replies. Default: the first scoring with a judge."""
    sample: int | None = None
    """The number of replies to draw at random. Default: all replies that the scoring passes to a
    judge."""
    seed: int = 0
    """The seed for drawing the replies. With the same seed, the replies of a smaller sheet are the
    first replies of a larger sheet."""


ALL_REPLIES = LabelSheet()


def export(
    folder: Path,
    to: str,
    out: Path | None = None,
    *,
    data: Path | None = None,
    sheet: LabelSheet = ALL_REPLIES,
    benchmark: str | Benchmark | None = None,
    hub: HubTarget = NO_TARGET,
) -> tuple[Path, list[str]]:
    """Write a run's replies to a file or folder `out`. Returns its path and notes for the user.

    The extension of `out` selects the file type if a format allows several. The authors' format
    contains parts of the rows, which are read from the run's data path, or from `data`.

    `inspect`, `every-eval-ever`, `lm-eval`, and `lmms-eval` contain all repeats, and the scores if
    the run has been scored. `hf-results` and `hf-benchmark` are for the Hugging Face Hub; `hub`
    names the data set there.

    The format `labels` is a blank sheet on which people label the replies that `sheet` selects.

    If the run used the caller's own benchmark, `benchmark` names it: the object, `FILE.py:NAME`, or
    `module:NAME`.

    Raises:
        CatalogError: the run used a Benchmark object, and `benchmark` is missing.
        UsageError: there is no such format, the benchmark has no test server, the benchmark's
            authors have no format of their own, or an extra is missing.
        StoreError: `folder` is not a run folder.
        DataError: the format cannot represent a reply, or the benchmark's rows are missing or have
            changed since the run.
    """
    if to not in FORMATS:
        raise UsageError(f"No such format {to!r}. Formats: {', '.join(FORMATS)}.")
    if data is not None and to != "authors":
        raise UsageError(f"--data is only for --to authors. The format {to} needs only the run.")
    if to != "labels" and (sheet.scoring is not None or sheet.sample is not None):
        raise UsageError(
            "--scoring and --sample are only for --to labels. Other formats contain every reply."
        )
    if hub != NO_TARGET and to not in exchange.OF_HUB:
        raise UsageError(
            f"--hub-dataset, --hub-task, --hub-revision, and --source-url are only for --to "
            f"{' and --to '.join(exchange.OF_HUB)}."
        )
    run = Run(folder)
    manifest = run.manifest()
    benchmark = _benchmark_of(folder, manifest, benchmark)
    run.load()
    try:
        states: Counter[str] = Counter()
        if to == "authors":
            path, notes = _as_authors(run, manifest, benchmark, data, out, states)
            return path, [*_missing(run, manifest, to, states), *notes]
        if to in exchange.FORMATS:
            path, notes = exchange.write(run, benchmark, to, out, states, hub)
            missing = _missing(run, manifest, to, states)
            return path, [*missing, *dict.fromkeys(notes)]
        if to == "labels":
            return _write_sheet(run, manifest, benchmark, out, sheet)
        name, (columns, rows) = _table(run, manifest, benchmark, to, out, states)
        path = _placed(out, name)
        write = WRITERS.get(path.suffix)
        sent = benchmark.interop.submission if to == "submission" else None
        if sent is not None and sent.by_id and path.suffix == ".json":
            write = jsonl.write_by_id
        if to == "vlmevalkit" and path.suffix == ".tsv":
            write = partial(separated.write, formulas="kept")  # VLMEvalKit reads cells unchanged
        if write is None:
            raise UsageError(f"{path}: unknown extension. Use {', '.join(WRITERS)}.")
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
                f"{folder}: {error} Pass the Benchmark object of the run, in Python: "
                "`snellen.report.export.export(run, to, benchmark=benchmark)`."
            ) from error
    if not is_object_run(manifest) or benchmark.name != manifest["benchmark"]:
        raise UsageError(
            f"{folder} is not a run with a Benchmark object called {benchmark.name}. Call export "
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
    """Write the results in the format in which the benchmark's authors publish results."""
    name = manifest["benchmark"]
    if benchmark.interop.results is None:
        raise UsageError(
            f"{name}: the authors' result format for this run is unknown. Use another format."
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
            f"{benchmark.data.where} does not have the rows of this run. Pass the path of the "
            "run's rows with --data."
        )
    replies = _counted(
        (scored for scored in replies_of(run, benchmark) if scored.repeat == 0), states
    )
    texts = {
        scored.sample.id: None if scored.reply is None else scored.reply.text for scored in replies
    }
    file = benchmark.interop.results(manifest["model"], texts)
    path = _placed(out, file.name)
    if path.suffix != ".json":
        raise UsageError(f"{path}: files in the authors' format must end in .json.")
    with placed(path) as part:
        part.write_text(json.dumps(file.holds, indent=4, allow_nan=False) + "\n")
    return path, file.notes


def _write_sheet(
    run: Run,
    manifest: Mapping[str, Any],
    benchmark: Benchmark,
    out: Path | None,
    sheet: LabelSheet,
) -> tuple[Path, list[str]]:
    """Write a blank sheet on which people label replies. The sheet does not show the verdicts of
    judges, because they could bias the people."""
    name = sheet.scoring or next(
        (n for n, scored in benchmark.scorings.items() if scored.judge), None
    )
    if name is None:
        raise UsageError(f"{benchmark.name}: none of its scorings has a judge to measure.")
    scoring, judged = judge.scoring_of(benchmark, name), judge.judge_of(benchmark, name)
    every = [
        scored
        for scored in replies_of(run, benchmark)
        if scored.reply is not None
        and scored.state != "refused"
        and not scored.sample.hidden
        and judged.when(scoring.parse(scored.reply, scored.sample))
    ]
    if not every:
        raise UsageError(f"{run.path}: {name} passes none of its replies to a judge.")

    def order(scored: Scored) -> bytes:
        return blake2b(
            f"{sheet.seed} {scored.sample.id} {scored.repeat}".encode(), digest_size=8
        ).digest()

    drawn = sorted(every, key=order)[: sheet.sample]
    stem = safe_name(f"{benchmark.name}_{manifest['model']}_labels", room=STEM)
    path = _placed(out, f"{stem}.csv")
    if path.suffix not in WRITERS:
        raise UsageError(f"{path}: unknown extension. Use {', '.join(WRITERS)}.")
    rows = (
        (
            scored.sample.id,
            scored.repeat,
            name,
            scored.sample.question,
            "\n".join(scored.sample.references or (scored.sample.target or "",)),
            "" if scored.reply is None else scored.reply.text,
            None,
            sheet.seed,
        )
        for scored in drawn
    )
    changed = WRITERS[path.suffix](path, labels.COLUMNS, rows)
    return path, [
        f"{len(drawn):,} of {len(every):,} replies that {name} passes to a judge, drawn with seed "
        f"{sheet.seed}. Fill in the column label with 0 to {scoring.best:g}, then run "
        f"`{run.command('judge', '--against', str(path))}`",
        *changed,
    ]


def _placed(out: Path | None, name: str) -> Path:
    """The path of the file to write. If `out` is a folder, the path is `name` in this folder; if
    `out` is None, it is `name` in the current folder."""
    return out / name if out is not None and out.is_dir() else out or Path(name)


def _table(
    run: Run,
    manifest: Mapping[str, Any],
    benchmark: Benchmark,
    to: str,
    out: Path | None,
    states: Counter[str],
) -> tuple[str, Table]:
    """The default name of the file, and its columns and rows. While the rows are consumed, `states`
    counts the replies in each state."""
    model = manifest["model"]
    replies = _counted(
        (scored for scored in replies_of(run, benchmark) if scored.repeat == 0), states
    )
    if to == "vlmevalkit":
        kind = out.suffix if out is not None and out.suffix in WRITERS else ".xlsx"
        name = vlmevalkit.file_name(model, registry.vlmevalkit_name(manifest), kind)
        # Tags that only metrics use do not help VLMEvalKit, and may have the name of a column.
        without = benchmark.presentation.metric_tags
        return name, vlmevalkit.table([_answered(scored, without) for scored in replies])
    if to == "submission":
        if benchmark.interop.submission is None:
            raise UsageError(f"{benchmark.name} has no submission format for a test server.")
        row = benchmark.interop.submission.row
        rows = (
            row(scored.sample, "" if scored.reply is None else scored.reply.text)
            for scored in replies
        )
        return benchmark.interop.submission.name, (benchmark.interop.submission.columns, rows)
    plain = ((*_fields(_answered(scored)), scored.state) for scored in replies)
    return f"{safe_name(f'{benchmark.name}_{model}', room=STEM)}.{to}", (EXPORTED, plain)


def _counted(replies: Iterable[Scored], states: Counter[str]) -> Iterator[Scored]:
    for scored in replies:
        states[scored.state] += 1
        yield scored


def _missing(run: Run, manifest: Mapping[str, Any], to: str, states: Counter[str]) -> Iterator[str]:
    """Yield notes that say which replies of the run the file lacks, and why."""
    if (repeats := manifest.get("repeats", 1)) > 1 and to not in exchange.FORMATS:
        yield f"only the first of {repeats} repeats is in the file"
    n, of, failed = states.total(), manifest.get("rows", 0), states["failed"]
    if to in exchange.FORMATS:
        of *= repeats
    sent = to == "submission"
    if sent and registry.is_bundled(manifest.get("notes", [])):
        yield registry.BUNDLED
    if of > n > 0:
        wrong = ", and a test server counts the others as wrong" * sent
        yield f"partial: {n:,} of {of:,} questions are in the file{wrong}"
    if failed:
        wrong = COUNTED.get(to, "")
        yield (
            f"incomplete: {failed:,} of {n:,} have no reply{wrong}; run the same command to ask "
            "them again"
        )
    yield from dict.fromkeys(run.notes)
    if lost := run.lost_questions:
        yield (
            "1 reply is missing from the file, because its row of questions.jsonl is lost; run the "
            "same command to restore it"
            if lost == 1
            else f"{lost:,} replies are missing from the file, because their rows of "
            "questions.jsonl are lost; run the same command to restore them"
        )


def _answered(scored: Scored, without: Collection[str] = ()) -> Answered:
    """A question with its reply, for the writers of the formats. The tags that `without` names are
    left out."""
    reply = scored.reply
    return Answered(
        id=scored.sample.id,
        position=scored.row_index,
        question=scored.sample.question,
        choices=scored.sample.choices,
        target=scored.sample.target,
        reply=None if reply is None else reply.text,
        reasoning=None if reply is None else reply.reasoning,
        tags={tag: value for tag, value in scored.sample.tags.items() if tag not in without},
    )


def _fields(answered: Answered) -> tuple[object, ...]:
    return answered.id, answered.question, list(answered.choices), answered.target, answered.reply
