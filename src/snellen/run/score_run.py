"""Scores a run folder or a file of predictions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from snellen import registry
from snellen.analysis.result import Result, load_report
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Missing
from snellen.errors import CatalogError, UsageError
from snellen.report.words import write_markdown
from snellen.run import kept_report
from snellen.run.data_notes import size_notes
from snellen.run.plan import check_missing
from snellen.run.prediction_files import read_predictions
from snellen.run.qualifications import judged_by
from snellen.run.unused_options import coordinates_notes
from snellen.scoring import (
    SOURCE_CHANGED,
    SOURCE_DIFFERS,
    CostReport,
    Explanation,
    asks_notes,
    cost_of,
    explain_reply,
    explain_run,
    judge,
    replies_of,
    rules_of,
    score_predictions,
    score_run,
)
from snellen.store import MANIFEST, REPORT, Mirror, Run, is_object_run, runs_at
from snellen.transforms.coordinates import with_coordinates
from snellen.transforms.probes import again

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
    answers_in_file: bool = False,
    coordinates: str | None = None,
) -> Result:
    """Score a run folder again, or a file or folder of predictions.

    For predictions, `ids` and `replies_in` name the columns of ids and replies if these columns
    have unusual names. `only` is a pattern that selects files of a folder. With `answers_in_file`,
    the column `answer` of the file replaces the right answers of the data set. `coordinates` are
    those in which the model of the file writes boxes and points. For files from
    VLMEvalKit or lmms-eval, `benchmark` may be None, since it can be determined from the file's
    name.

    A run stores the name of its benchmark. For a run of the caller's own benchmark, pass the
    `Benchmark` object, `FILE.py:NAME`, or `module:NAME` again.

    Raises:
        SnellenError: an error that the caller can fix.
    """
    check_missing(missing)
    path = runs_at(replies)
    if _is_run(path, benchmark, data):
        if answers_in_file:
            raise UsageError(
                f"{path} is a run folder, but --answers-in-file is for files of predictions. Leave "
                "it out."
            )
        _check_no_coordinates(path, coordinates)
        return _score_folder(path, benchmark, scorings, missing)
    predictions = read_predictions(path, benchmark, data, ids, replies_in, only, answers_in_file)
    unused = coordinates_notes(predictions.benchmark, coordinates)
    report = score_predictions(
        with_coordinates(predictions.benchmark, coordinates),
        predictions.replies,
        where=predictions.where,
        model=predictions.model,
        notes=[*predictions.notes, *unused],
        scorings=scorings,
        missing=missing,
        verdicts=predictions.verdicts,
        questions=predictions.questions,
        again=predictions.again,
        only_these=predictions.only_these and missing is None,
        published=predictions.published,
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
    answers_in_file: bool = False,
    coordinates: str | None = None,
) -> list[Explanation]:
    """Explain one sample: the prompt, the reply, and the result of each scoring, once for each time
    that the sample was asked. The other arguments are those of `score`.

    Raises:
        UsageError: there is no such sample, or it was not asked.
    """
    path = runs_at(replies)
    if _is_run(path, benchmark, data):
        _check_no_coordinates(path, coordinates)
        run = Run(path)
        benchmark = benchmark_of(path, run.manifest(), benchmark)
        with run.folder.scores_lock(), closing(run), ExitStack() as stack:
            run.load()
            replies_left = partial(judgeable, run, benchmark)
            verdicts = judge.verdicts(run, benchmark, replies_left, stack).by_scoring
            stories = explain_run(run, benchmark, sample, verdicts)
        where = f"the run {path}"
    else:
        predictions = read_predictions(
            path, benchmark, data, ids, replies_in, only, answers_in_file
        )
        benchmark = with_coordinates(predictions.benchmark, coordinates)
        predictions, where = replace(predictions, benchmark=benchmark), benchmark.data.where
        stories = explain_reply(predictions.scorable(), sample, predictions.verdicts)
    if not stories:
        raise UsageError(f"{benchmark.name}: {where} has no sample {sample!r}.")
    return stories


def _is_run(path: Path, benchmark: str | Benchmark | None, data: str | Path | None) -> bool:
    """Whether a path is a run folder, as opposed to a file of predictions.

    Raises:
        UsageError: the path is neither a run folder nor a file, or an argument does not apply to
            it.
    """
    if not path.exists():
        # In an object store, only a single file can be looked up and fetched.
        what = "run, and no such file" if isinstance(path, Mirror) else "file or folder"
        raise UsageError(f"{path}: there is no such {what}.")
    is_run = (path / MANIFEST).exists()
    if is_run and isinstance(benchmark, str) and not registry.is_own_code(benchmark):
        raise UsageError(f"{path} is a run, which stores the name of its benchmark. Leave out -b.")
    if is_run or (benchmark is None and not path.is_file()):
        if data is not None:
            raise UsageError(
                "data applies only to predictions. Name the predictions' benchmark too (-b)."
            )
        if not is_run:
            raise UsageError(
                f"{path} is not a run folder: it has no {MANIFEST}. If it contains "
                "predictions, name their benchmark (-b)."
            )
    return is_run


def _check_no_coordinates(path: Path, coordinates: str | None) -> None:
    """
    Raises:
        UsageError: coordinates are passed for a run, whose identity has the run's coordinates.
    """
    if coordinates is not None:
        raise UsageError(
            f"{path} is a run folder, which stores the coordinates of its model. To read the same "
            f"replies in other coordinates, repeat the run's command with --coordinates "
            f"{coordinates} --reuse {path}; nothing is sent again."
        )


def _score_folder(
    path: Path,
    benchmark: str | Benchmark | None,
    scorings: Sequence[str] | None,
    missing: Missing | None,
) -> Result:
    run = Run(path)
    benchmark = benchmark_of(path, run.manifest(), benchmark)
    with run.folder.scores_lock(), closing(run):
        run.keep_index()
        run.load()
        return scored(run, benchmark, scorings=scorings, missing=missing)


def scored(
    run: Run,
    benchmark: Benchmark,
    *,
    scorings: Sequence[str] | None = None,
    missing: Missing | None = None,
    stopped: str | None = None,
    row_indices: Collection[int] | None = None,
) -> Result:
    """Score a run (loaded, locked), including the judges' verdicts on its replies. With
    `row_indices`, only these rows of the data set are scored, and nothing is written."""
    inputs = kept_report.inputs_of(run)
    with ExitStack() as stack:
        replies = partial(judgeable, run, benchmark)
        verdicts, notes, juries = judge.verdicts(run, benchmark, replies, stack)
        older = asks_notes(run.manifest().get("identity", {}), rules_of(benchmark))
        notes = [
            *notes,
            *_by_other_rules(run, benchmark),
            *source_notes(run, benchmark),
            *run_size_notes(run, benchmark),
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
            judged_by=judged_by(run, benchmark, juries),
            row_indices=row_indices,
        )
    result = Result(report, run.path, stopped)
    if scorings is None and row_indices is None:
        write_markdown(result)
        if stopped is None:
            kept_report.keep(run, benchmark, missing, inputs)
    return result


def judgeable(run: Run, benchmark: Benchmark) -> Iterator[tuple[int, Sample, Reply]]:
    """Yield the replies of a run (loaded) that a judge can be asked about."""
    for scored_reply in replies_of(run, benchmark):
        if scored_reply.reply is not None and scored_reply.state != "refused":
            yield scored_reply.row_index, scored_reply.sample, scored_reply.reply


def _by_other_rules(run: Run, benchmark: Benchmark) -> list[str]:
    """A note if the caller's benchmark object, and not the catalog's benchmark, scored the run."""
    if benchmark.provenance.from_catalog or run.manifest().get("benchmark_object") is not False:
        return []
    return [
        f"scored by a Benchmark object that the caller passed, not by the catalog's "
        f"{benchmark.name}. `snellen score {run.path}` uses the catalog's rules"
    ]


def source_notes(run: Run, benchmark: Benchmark) -> list[str]:
    """A note if a user's own benchmark or a toolkit's code has changed, or may have changed, since
    the run was made."""
    then, now = run.manifest()["identity"].get("options", {}), benchmark.provenance.options
    if "toolkit" in then and then.get("digest") != now.get("digest"):
        return [f"scored by {then['toolkit']}'s code as it is now. {SOURCE_CHANGED}"]
    before = run.manifest().get("benchmark_source", {})
    source = registry.source_of(benchmark)
    if source is None or None in (source.digest, before.get("digest")):
        return []
    what = f"{source.spec}" if source.spec else f"the Benchmark object {benchmark.name}"
    if before["kind"] != source.kind:  # digests of different kinds cannot be compared
        earlier = before.get("spec") or "a Benchmark object"
        return [f"scored by {what}. The run was made by {earlier}, {SOURCE_DIFFERS}"]
    if source.digest == before["digest"]:
        return []
    return [f"scored by {what} as it is now. {SOURCE_CHANGED}"]


def run_size_notes(run: Run, benchmark: Benchmark) -> list[str]:
    """A note if the number of a run's rows is not that of the published data set."""
    manifest = run.manifest()
    return size_notes(benchmark, manifest.get("rows", 0), manifest.get("notes", ()))


def _judging(run: Run, benchmark: Benchmark) -> dict[str, CostReport]:
    """The cost of each judge of a run, summed over all scorings."""
    by_model: dict[str, list[Run]] = {}
    for name, scoring in benchmark.scorings.items():
        for judge_run in (
            judge.runs_of(run.path, f"{benchmark.name}.{name}") if scoring.judge else ()
        ):
            by_model.setdefault(judge_run.manifest()["model"], []).append(judge_run)
    took = {model: cost_of(runs) for model, runs in by_model.items()}
    return {model: cost for model, cost in took.items() if cost is not None}


def benchmark_of(
    path: Path, manifest: Mapping[str, Any], benchmark: str | Benchmark | None = None
) -> Benchmark:
    """Find the benchmark of a run: the benchmark that its manifest names, or the caller's own
    benchmark, passed as an object, a file, or a module.

    Raises:
        CatalogError: the manifest names no known benchmark. UsageError: the caller's benchmark is
            not the run's benchmark.
    """
    if isinstance(benchmark, str):
        benchmark = registry.of_run(manifest, benchmark)
        _check_same_benchmark(path, manifest, benchmark)
        return benchmark
    if benchmark is not None:
        _check_same_benchmark(path, manifest, benchmark)
        if benchmark.provenance.from_catalog and is_object_run(manifest):
            raise UsageError(
                f"{path}: this run's benchmark was a Python object, but you passed the catalog's "
                f"{benchmark.name}. Pass the object that the run was made with."
            )
        benchmark = with_coordinates(benchmark, manifest["identity"].get("coordinates"))
        probe = manifest["identity"].get("probe", {})
        if benchmark.provenance.probe and benchmark.provenance.probe != probe:
            raise UsageError(
                f"{path} has the probe {probe or 'none'}, but the benchmark that was passed has "
                f"the probe {dict(benchmark.provenance.probe)}. Pass the benchmark without a probe."
            )
        return benchmark if benchmark.provenance.probe == probe else again(benchmark, probe)
    try:
        return registry.of_run(manifest)
    except CatalogError as error:
        has_spec = "spec" in manifest.get("benchmark_source", {})
        hint = "" if has_spec else f" {PASS_OBJECT}"
        raise CatalogError(f"{path}: {error}{hint}") from error


def _check_same_benchmark(path: Path, manifest: Mapping[str, Any], benchmark: Benchmark) -> None:
    """Check that a benchmark is the run's benchmark.

    Raises:
        UsageError: the benchmark is a different benchmark, or its questions have changed.
    """
    identity = manifest["identity"]
    was, now = (identity["benchmark"], identity["asks"]), (benchmark.name, benchmark.asks)
    if was != now:
        raise UsageError(
            f"{path} is a run of {was[0]} (asks {was[1]}), not of {now[0]} (asks {now[1]}). Pass "
            "the benchmark of the run."
        )


def load_run(path: str | Path, benchmark: str | Benchmark | None = None) -> Result:
    """Load the stored result of a run folder.

    For a run of the caller's own benchmark, pass this benchmark (an object or `FILE.py:NAME`), so
    that the result can also state whether it is out of date.
    """
    run = runs_at(path)
    if benchmark is None:
        return load_report(run)
    folder = run.parent if run.name == REPORT else run
    return load_report(run, benchmark_of(folder, Run(folder).manifest(), benchmark))
