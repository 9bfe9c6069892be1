"""Scoring what is there: a run folder, or anybody's predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen import registry
from snellen.analysis.result import Result, load_report
from snellen.core.benchmark import Benchmark
from snellen.core.exchange import Published
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Missing, Reading, Verdicts
from snellen.errors import CatalogError, DataError, UsageError
from snellen.report.words import write_markdown
from snellen.run.identity import data_notes
from snellen.run.plan import check_missing
from snellen.scoring import (
    Explanation,
    Predicted,
    Spent,
    asks_notes,
    explain_reply,
    explain_run,
    judge,
    replies_of,
    rules_of,
    score_predictions,
    score_run,
    spent,
)
from snellen.store import MANIFEST, REPORT, Mirror, Run, data_at, is_object_run, runs_at
from snellen.transforms.probes import again

if TYPE_CHECKING:
    from snellen.interop.predictions import Predictions

PASS_OBJECT = (
    "In Python, pass the Benchmark object that made the run: `snellen.score(run, benchmark)`, or "
    "`snellen.compare(run, other, benchmark=benchmark)`. "
    "`snellen report RUN` shows the stored result."
)


def score(
    replies: str | Path,
    benchmark: str | Benchmark | None = None,
    *,
    data: str | Path | None = None,
    scorings: Sequence[str] | None = None,
    missing: Missing | None = None,
    ids: str | None = None,
    replies_in: str | None = None,
    only: str | None = None,
) -> Result:
    """Score a run folder again, or anybody's predictions of a benchmark: a file or a folder.

    `ids` and `replies_in` name the columns of a file, where they are not the usual ones; `only`
    takes the files of a folder that match it. Without a `benchmark` it is what the name of a file
    of VLMEvalKit's or lmms-eval's says. A run knows its own, but for one of the caller's: the
    `Benchmark` object, `FILE.py:NAME`, or `module:NAME` is passed here again.

    Raises:
        SnellenError: something that the caller can mend.
    """
    check_missing(missing)
    path = runs_at(replies)
    if _is_run(path, benchmark, data):
        return _score_folder(path, benchmark, scorings, missing)
    said = said_in(path, benchmark, data, ids, replies_in, only)
    report = score_predictions(
        said.benchmark,
        said.replies,
        where=said.where,
        model=said.model,
        notes=said.notes,
        scorings=scorings,
        missing=missing,
        verdicts=said.verdicts,
        questions=said.questions,
        again=said.again,
        only_these=said.only_these and missing is None,
        published=said.published,
    )
    return Result(report)


def explain(
    replies: str | Path,
    sample: str,
    benchmark: str | Benchmark | None = None,
    *,
    data: str | Path | None = None,
    ids: str | None = None,
    replies_in: str | None = None,
    only: str | None = None,
) -> list[Explanation]:
    """One sample's whole story, once for each time that it was asked: what was sent, what came,
    what every scoring finds in it. The arguments are those of `score`.

    Raises:
        UsageError: there is no such sample, or it was not asked.
    """
    path = runs_at(replies)
    if _is_run(path, benchmark, data):
        run = Run(path)
        made = benchmark_of(path, run.manifest(), benchmark)
        with run.folder.lock(), closing(run), ExitStack() as stack:
            run.load()
            verdicts, _ = judge.verdicts(run, made, partial(judgeable, run, made), stack)
            found = explain_run(run, made, sample, verdicts)
        where = f"the run {path}"
    else:
        said = said_in(path, benchmark, data, ids, replies_in, only)
        made, where = said.benchmark, said.benchmark.data.where
        found = explain_reply(predicted_in(said), sample, said.verdicts)
    if not found:
        raise UsageError(f"{made.name}: {where} has no sample {sample!r}.")
    return found


def _is_run(path: Path, benchmark: str | Benchmark | None, data: str | Path | None) -> bool:
    """Whether a path is a run folder, rather than somebody's predictions.

    Raises:
        UsageError: it is neither, or something is given that does not go with it.
    """
    if not path.exists():
        # Those of an object store are fetched from a single file, and only it is looked for.
        what = "run, and no such file" if isinstance(path, Mirror) else "file or folder"
        raise UsageError(f"{path}: there is no such {what}.")
    is_run = (path / MANIFEST).exists()
    if is_run and isinstance(benchmark, str) and not registry.is_own_code(benchmark):
        raise UsageError(f"{path} is a run, which knows its benchmark: leave it (-b) out.")
    if is_run or (benchmark is None and not path.is_file()):
        if data is not None:
            raise UsageError("data is for predictions: name their benchmark too (-b).")
        if not is_run:
            raise UsageError(
                f"{path} is no run folder: it has no {MANIFEST}. If predictions are in it, name "
                "their benchmark (-b)."
            )
    return is_run


@dataclass(frozen=True, kw_only=True)
class Said:
    """What somebody's files hold: replies to a benchmark, by sample id, verdicts on them, and some
    of the questions as they stand there."""

    path: Path
    benchmark: Benchmark
    replies: Mapping[str, str | None]
    where: str
    model: str
    notes: Sequence[str]
    verdicts: Verdicts = field(default_factory=dict)
    questions: Mapping[str, str] = field(default_factory=dict)
    again: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    only_these: bool = False
    published: Published | None = None


def said_in(
    path: Path,
    benchmark: str | Benchmark | None,
    data: str | Path | None,
    ids: str | None,
    replies_in: str | None,
    only: str | None,
) -> Said:
    from snellen.interop import predictions

    if isinstance(benchmark, str):
        benchmark = registry.benchmark(benchmark, data=None if data is None else data_at(data))
    if benchmark is not None and not (ids or replies_in):
        published = _in_layout(path, benchmark, only)
        if published is not None:
            return _published(path, benchmark, published)
    said = predictions.read(path, ids=ids, replies=replies_in, only=only)
    model, taken = path.name, []
    if benchmark is None:
        model, name = _named_by(path, said.named)
        taken = [f"taken for replies of {model} to {name}, by the file's name"]
        benchmark = registry.benchmark(name, data=None if data is None else data_at(data))
    if said.other_ids and not _has_ids_of(benchmark, said):
        # Of VLMEvalKit's columns `index` is the key everywhere, though authors have an `id`.
        others = (
            predictions.read(path, ids=column, replies=replies_in, only=only)
            for column in said.other_ids
        )
        said = next((other for other in others if _has_ids_of(benchmark, other)), said)
    names = _by_place(benchmark, said) if said.row_numbers else {}
    return Said(
        path=path,
        benchmark=benchmark,
        replies={names.get(name, name): text for name, text in said.replies.items()},
        questions={
            names.get(name, name): text
            for name, text in said.questions.items()
            if name in said.replies
        },
        where=said.where,
        model=model,
        notes=[*said.notes, *taken, *benchmark.notes, *data_notes(benchmark)],
    )


def predicted_in(predictions: Said, where: str | None = None) -> Predicted:
    """The replies from a user's files, with the questions. Messages call the files `where`."""
    return Predicted(
        benchmark=predictions.benchmark,
        replies=predictions.replies,
        where=where or predictions.where,
        questions=predictions.questions,
        again=predictions.again,
        only_these=predictions.only_these,
        published=predictions.published,
    )


def _has_ids_of(benchmark: Benchmark, said: Predictions) -> bool:
    return any(benchmark.read(row).id in said.replies for row in benchmark.data)


def _in_layout(path: Path, benchmark: Benchmark, only: str | None) -> Published | None:
    """What a file or a folder says in the form that the benchmark's authors publish: a folder as a
    whole, or else each file of it that is of that form; None where nothing is.

    Raises:
        UsageError: several files have replies to the same questions.
    """
    from snellen.interop import predictions

    if benchmark.interop.layout is None:
        return None
    is_folder = path.is_dir()
    whole = None if is_folder and only else benchmark.interop.layout(path)
    if whole is not None or not is_folder:
        return whole
    every = {
        name: benchmark.interop.layout(path / name) for name in predictions.names_in(path, only)
    }
    known = {name: found for name, found in every.items() if found is not None}
    if not known:
        return None
    note = f"read are {len(known)} of {len(every)} files, in that form: {', '.join(known)}"
    return _together(path, known, note)


def _together(folder: Path, known: Mapping[str, Published], note: str) -> Published:
    """Several files as parts of one model's replies."""
    replies: dict[str, str | None] = {}
    verdicts: dict[str, dict[str, Sequence[str]]] = {}
    for found in known.values():
        for name in found.replies:
            if name in replies:
                raise UsageError(
                    f"{folder}: the question {name!r} is in more than one of its files: "
                    f"{', '.join(known)}. Whose replies are meant? Name one file, or by a pattern "
                    "(--only) those that belong together."
                )
        replies |= found.replies
        for scoring, words in found.verdicts.items():
            verdicts.setdefault(scoring, {}).update(words)
    said = dict.fromkeys(note for found in known.values() for note in found.notes)
    readings: dict[str, dict[str, Reading]] = {}
    for part in known.values():
        for scoring, stated in part.readings.items():
            readings.setdefault(scoring, {}).update(stated)
    return Published(
        replies=replies,
        verdicts=verdicts,
        readings=readings,
        tags=dict(chain.from_iterable(part.tags.items() for part in known.values())),
        again=dict(chain.from_iterable(found.again.items() for found in known.values())),
        only_these=any(found.only_these for found in known.values()),
        unread=tuple(chain.from_iterable(found.unread for found in known.values())),
        notes=(note, *said),
    )


def _published(path: Path, benchmark: Benchmark, published: Published) -> Said:
    """What the authors' own files say."""
    notes = ["read as the benchmark's authors publish results"]
    notes += [f"incomplete: {reason}" for reason in published.unread]
    notes += published.notes
    if without := sum(text is None for text in published.replies.values()):
        notes.append(f"{without:,} rows have an id and no reply")
    return Said(
        path=path,
        benchmark=benchmark,
        replies=published.replies,
        again=published.again,
        only_these=published.only_these,
        published=published,
        where=path.name,
        model=path.name,
        notes=[*notes, *benchmark.notes, *data_notes(benchmark)],
        verdicts={name: partial(_words, given) for name, given in published.verdicts.items()},
    )


def _words(given: Mapping[str, Sequence[str]], sample: Sample, _: Reply) -> Sequence[str]:
    return given.get(sample.id, ())


def _score_folder(
    path: Path,
    benchmark: str | Benchmark | None,
    scorings: Sequence[str] | None,
    missing: Missing | None,
) -> Result:
    run = Run(path)
    benchmark = benchmark_of(path, run.manifest(), benchmark)
    with run.folder.lock(), closing(run):
        run.load()
        return scored(run, benchmark, scorings=scorings, missing=missing)


def scored(
    run: Run,
    benchmark: Benchmark,
    *,
    scorings: Sequence[str] | None = None,
    missing: Missing | None = None,
    stopped: str | None = None,
) -> Result:
    """The score of a run (loaded, locked) with what judges have said of its replies."""
    with ExitStack() as stack:
        replies = partial(judgeable, run, benchmark)
        verdicts, notes = judge.verdicts(run, benchmark, replies, stack)
        older = asks_notes(run.manifest().get("identity", {}), rules_of(benchmark))
        notes = [
            *notes,
            *_by_other_rules(run, benchmark),
            *source_notes(run, benchmark),
            *older,
        ]
        report = score_run(
            run,
            benchmark,
            scorings=scorings,
            missing=missing,
            verdicts=verdicts,
            notes=notes,
            judging=_judging(run, benchmark),
        )
    result = Result(report, run.path, stopped)
    if scorings is None:
        write_markdown(result)
    return result


def judgeable(run: Run, benchmark: Benchmark) -> Iterator[tuple[int, Sample, Reply]]:
    """The replies of a run (loaded) that a judge can be asked about."""
    for scored_reply in replies_of(run, benchmark):
        if scored_reply.reply is not None and scored_reply.state != "refused":
            yield scored_reply.place, scored_reply.sample, scored_reply.reply


def _by_other_rules(run: Run, benchmark: Benchmark) -> list[str]:
    """Note that the caller's object, not the catalog's benchmark, scored a catalog run."""
    if benchmark.provenance.from_catalog or run.manifest().get("benchmark_object") is not False:
        return []
    return [
        f"scored by a Benchmark object that the caller passed, not by the catalog's "
        f"{benchmark.name}. `snellen score {run.path}` uses the catalog's rules"
    ]


def source_notes(run: Run, benchmark: Benchmark) -> list[str]:
    """Note that somebody's own benchmark changed since the run was made, or may have."""
    before = run.manifest().get("benchmark_source", {})
    source = registry.source_of(benchmark)
    if source is None or None in (source.digest, before.get("digest")):
        return []
    what = f"{source.spec}" if source.spec else f"the Benchmark object {benchmark.name}"
    if before["kind"] != source.kind:  # their digests are of different things
        made_by = before.get("spec") or "a Benchmark object"
        return [f"scored by {what}. The run was made by {made_by}, which may be another version"]
    if source.digest == before["digest"]:
        return []
    return [f"scored by {what} as it is now. It has changed since the run was made"]


def _judging(run: Run, benchmark: Benchmark) -> dict[str, Spent]:
    """What each judge of a run took, under all its scorings."""
    by_model: dict[str, list[Run]] = {}
    for name, scoring in benchmark.scorings.items():
        for one in judge.runs_of(run.path, f"{benchmark.name}.{name}") if scoring.judge else ():
            by_model.setdefault(one.manifest()["model"], []).append(one)
    took = {model: spent(runs) for model, runs in by_model.items()}
    return {model: one for model, one in took.items() if one is not None}


def benchmark_of(
    path: Path, manifest: Mapping[str, Any], given: str | Benchmark | None = None
) -> Benchmark:
    """The benchmark of a run: what its manifest names, or the caller's own, which is passed again:
    the object, or the file or module that it is in.

    Raises:
        CatalogError: the manifest names none of ours. UsageError: the one given is another.
    """
    if isinstance(given, str):
        benchmark = registry.of_run(manifest, given)
        _check_asked(path, manifest, benchmark)
        return benchmark
    if given is not None:
        _check_asked(path, manifest, given)
        if given.provenance.from_catalog and is_object_run(manifest):
            raise UsageError(
                f"{path}: this run's benchmark was a Python object, but you passed the catalog's "
                f"{given.name}. Pass the object that the run was made with."
            )
        probe = manifest["identity"].get("probe", {})
        if given.provenance.probe and given.provenance.probe != probe:
            raise UsageError(
                f"{path} is of the probe {probe or 'none'}, and the benchmark that is given of "
                f"{dict(given.provenance.probe)}: give it as it was before it was probed."
            )
        return given if given.provenance.probe == probe else again(given, probe)
    try:
        return registry.of_run(manifest)
    except CatalogError as error:
        has_spec = "spec" in manifest.get("benchmark_source", {})
        hint = "" if has_spec else f" {PASS_OBJECT}"
        raise CatalogError(f"{path}: {error}{hint}") from error


def _check_asked(path: Path, manifest: Mapping[str, Any], benchmark: Benchmark) -> None:
    """The benchmark must be the one that the run asked.

    Raises:
        UsageError: it is another, or asks otherwise.
    """
    identity = manifest["identity"]
    was, now = (identity["benchmark"], identity["asks"]), (benchmark.name, benchmark.asks)
    if was != now:
        raise UsageError(
            f"{path} is a run of {was[0]} (asks {was[1]}), not of {now[0]} (asks {now[1]})."
        )


def _named_by(path: Path, named: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """The model and the benchmark in a file's name.

    Raises:
        UsageError: no benchmark is called so.
    """
    for model, name in named:
        if registry.is_own_code(name):
            continue  # a file's name never leads to running a file
        try:
            registry.benchmark(name)
        except CatalogError:
            continue
        return model, name
    raise UsageError(f"{path}: whose questions are these replies to? Say it with -b.")


def _by_place(benchmark: Benchmark, said: Predictions) -> dict[str, str]:
    """The ids of a file that has the rows' places instead; replies to rows that are not there are
    named by their places, to be counted.

    Raises:
        DataError: what the file takes for right is not what the data set has in those places.
    """
    found = {place: f"doc_id {place}" for place in said.replies}
    for row in benchmark.data:
        sample = benchmark.read(row)
        place = str(row.place)
        target = said.targets.get(place)
        known = {right.strip().casefold() for right in (sample.target, *sample.references) if right}
        if target is not None and known and target.strip().casefold() not in known:
            raise DataError(
                f"{said.where}: doc_id {place} has the target {target!r}, but the data set's "
                f"row {row.place + 1} has {sample.target!r}: its rows are others, or in another "
                "order. Name a column of ids (--ids), if it has one."
            )
        if place in found:
            found[place] = sample.id
    return found


def load_run(path: str | Path, benchmark: str | Benchmark | None = None) -> Result:
    """The stored result of a run folder.

    With the `benchmark` of a run of the caller's own benchmark, an object or `FILE.py:NAME`, the
    result also says whether it is out of date.
    """
    run = runs_at(path)
    if benchmark is None:
        return load_report(run)
    folder = run.parent if run.name == REPORT else run
    return load_report(run, benchmark_of(folder, Run(folder).manifest(), benchmark))
