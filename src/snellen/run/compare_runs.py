"""Compares stored replies: runs, folders of runs, and files of predictions."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from pathlib import Path

from msgspec import structs

from snellen import registry
from snellen.analysis import comparing
from snellen.analysis.comparing import ComparisonResult, Comparisons, LoadedSide
from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark
from snellen.errors import SnellenError, UsageError
from snellen.run.prediction_files import PredictionSet, read_predictions
from snellen.run.qualifications import judged_by
from snellen.run.score_run import benchmark_of, judgeable, run_size_notes, source_notes
from snellen.scoring import asks_notes, judge, replies_of, rules_of
from snellen.scoring.sections.cost import stored_cost
from snellen.scoring.sections.tools import reported_tools, text_call_notes
from snellen.store import (
    DEPTH,
    MANIFEST,
    Run,
    data_at,
    runs_at,
    runs_below,
    runs_elsewhere,
    started,
)

PUBLISHED = "the judge of the published verdicts"


def compare(
    *sides: str | Path | Result,
    benchmark: str | Benchmark | Sequence[str | Benchmark] | None = None,
    data: str | Path | None = None,
    scoring: str | None = None,
    ids: str | None = None,
    replies_in: str | None = None,
    only: str | None = None,
    details: bool = True,
) -> ComparisonResult:
    """Compare two or more sets of replies on the samples that they share. Each set is either a path
    (of a run, a folder of runs, or predictions) or a result of `evaluate` or `load_run`. A
    difference is always a later set minus an earlier set. The sets are in the order of the
    arguments, and the runs of a folder are in the order in which they started.

    Stored replies are scored again, in the same way as by `score`. No model is asked and nothing is
    written, so a run in progress can be compared up to its current state. For predictions,
    `benchmark` is the benchmark that the predictions belong to, and `data` is the file or folder
    with the benchmark's rows. For runs of the caller's own benchmarks, `benchmark` is one benchmark
    or a list of several, each given as an object, `FILE.py:NAME`, or `module:NAME`. `ids`,
    `replies_in` and `only` have the same meaning as in `score`. `scoring` defaults to the headline
    scoring. With `details=False`, a comparison of more than two sets contains only the first metric
    of each pair, which is faster.

    Raises:
        SnellenError: an error that the caller can fix; for example, two sides share no sample.
    """
    own = [benchmark] if isinstance(benchmark, str | Benchmark) else list(benchmark or ())
    paths = [runs_at(_path_of(side, number)) for number, side in enumerate(sides, 1)]
    reader = _PredictionReader(benchmark, data=data, ids=ids, replies_in=replies_in, only=only)
    collected = _Sides(own, scoring)
    for path in paths:
        collected.add(path, reader)
    if len(collected.sources) < 2 <= len(sides):
        raise UsageError(f"{paths[0]} was passed twice. Pass two different sets of replies.")
    if data is not None and not collected.predictions:
        raise UsageError(
            "`data` applies only to predictions, but all paths are runs, which have their own "
            "data. Leave `data` out."
        )
    loaded = collected.loaded(paths)
    try:
        document = comparing.compare(
            loaded, collected.notes, details=details, unreadable=collected.unreadable
        )
    except UsageError as error:
        if not collected.broken:
            raise
        # The unreadable run may be the one that the others should be compared with.
        raise UsageError("\n".join([str(error), *collected.notes])) from error
    notes = [*collected.order_notes(document), *document.notes]
    return ComparisonResult(structs.replace(document, notes=notes))


class _Sides:
    """The runs and predictions to compare."""

    def __init__(self, own: Sequence[str | Benchmark], scoring: str | None) -> None:
        self.sources: dict[Path, Path | PredictionSet] = {}
        """Runs and predictions, keyed by resolved path, so that each is included only once."""
        self.notes: list[str] = []
        self.broken: list[SnellenError] = []
        """The errors that caused runs to be left out."""
        self.unreadable: list[str] = []
        """The folders of the runs that were left out."""
        self.folders: dict[Path, list[str]] = {}
        """The runs of each folder of several runs, the oldest first."""
        self._own = own
        self._scoring = scoring

    @property
    def predictions(self) -> list[PredictionSet]:
        return [source for source in self.sources.values() if isinstance(source, PredictionSet)]

    def add(self, path: Path, reader: _PredictionReader) -> None:
        """Add the run at a path, the runs in a folder, or, if there are no runs, the predictions at
        this path.

        Raises:
            UsageError: the path has neither runs nor predictions.
        """
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder.")
        runs = [path] if (path / MANIFEST).exists() else runs_below(path)
        if len(runs) > 1:
            runs.sort(key=started)  # the names of the folders are digests
            self.folders[path] = [_written(f"{run}") for run in runs]
        if (elsewhere := runs_elsewhere(path, runs)) is not None:
            self.notes.append(elsewhere)
        for run in runs:
            self.sources.setdefault(run.resolve(), run)
        if not runs and path.resolve() not in self.sources:
            self.sources[path.resolve()] = reader.read(path)

    def loaded(self, paths: Sequence[Path]) -> list[LoadedSide]:
        """Load and score all sides. A run that cannot be read is left out with a note, unless it is
        one of the `paths`.

        Raises:
            SnellenError: a run at one of the `paths` cannot be read, or fewer than two sides can be
                read.
        """
        predictions = self.predictions
        # The rows' digests are not needed if all sides have the same rows.
        benchmarks = {id(source.benchmark) for source in predictions}
        digests = len(predictions) < len(self.sources) or len(benchmarks) > 1
        required = {path.resolve() for path in paths}
        loaded: list[LoadedSide] = []
        for path, source in self.sources.items():
            if isinstance(source, PredictionSet):
                loaded.append(_of_predictions(source, self._scoring, digests=digests))
                continue
            try:
                loaded.append(loaded_run(source, self._own, self._scoring))
            except SnellenError as error:
                if path in required:
                    raise
                self.broken.append(error)
                self.unreadable.append(_written(f"{source}"))
                self.notes.append(f"left out: {error}")
        if self.broken and len(loaded) < 2:
            raise self.broken[0]
        return loaded

    def order_notes(self, document: Comparisons) -> Iterator[str]:
        """Yield a note for each folder with several runs of a benchmark: the order of the runs, and
        the name of the oldest run."""
        for folder, runs in self.folders.items():
            by_benchmark: dict[str, list[str]] = {}
            for side in document.sides:
                if side.where in runs:
                    by_benchmark.setdefault(side.benchmark, []).append(side.name)
            several = {name: sides for name, sides in by_benchmark.items() if len(sides) > 1}
            oldest = dict.fromkeys(sides[0] for sides in several.values())
            if len(oldest) > 1:
                texts = (f"{sides[0]} on {name}" for name, sides in several.items())
                oldest = dict.fromkeys(texts)
            if oldest:
                yield (
                    f"the runs in {_written(f'{folder}')} are in the order in which they started; "
                    f"the oldest is {', '.join(oldest)}"
                )


def _path_of(side: object, number: int) -> str | Path:
    if isinstance(side, str | Path):
        return side
    if isinstance(side, os.PathLike):
        return Path(side)
    if not isinstance(side, Result):
        raise UsageError(
            f"compare got a {type(side).__name__} as argument {number}. Pass paths of runs or "
            "predictions, or results of evaluate and load_run, each as a separate argument."
        )
    if side.run is None:
        raise UsageError(
            f"the result of {side.report.model or 'replies from a file'} on "
            f"{side.report.benchmark} has no run folder. Pass the file of predictions instead."
        )
    return side.run


@dataclass
class _PredictionReader:
    """Reads predictions. The fields are the arguments of `compare`."""

    benchmark: str | Benchmark | Sequence[str | Benchmark] | None
    _: KW_ONLY
    data: str | Path | None
    ids: str | None
    replies_in: str | None
    only: str | None

    def read(self, path: Path) -> PredictionSet:
        """Read the predictions in a file or a folder.

        Raises:
            SnellenError: there are no predictions, or their benchmark is not known.
        """
        if not isinstance(self.benchmark, str | Benchmark | None):
            raise UsageError(
                f"{path} has predictions, and several benchmarks are named. Name only the "
                "benchmark of the predictions."
            )
        if isinstance(self.benchmark, str):  # made once, so that all sides have the same rows
            where = None if self.data is None else data_at(self.data)
            self.benchmark = registry.benchmark(self.benchmark, data=where)
        if path.is_dir() and self.benchmark is None:
            raise UsageError(
                f"{path}: there is no run in this folder, searched {DEPTH} levels deep. If the "
                "folder has predictions, name their benchmark (-b)."
            )
        return read_predictions(
            path, self.benchmark, self.data, self.ids, self.replies_in, self.only
        )


def _of_predictions(
    predictions: PredictionSet, scoring: str | None, *, digests: bool
) -> LoadedSide:
    where = _written(f"{predictions.path}")
    scorable = predictions.scorable(where)
    loaded = comparing.load(
        predictions.benchmark,
        lambda: scorable.scored(digests=digests),
        model=_written(predictions.model),
        where=where,
        identity=scorable.identity,
        scoring=scoring,
        verdicts=predictions.verdicts,
        verdicts_first=True,
    )
    published = (PUBLISHED,) if loaded.scoring in predictions.verdicts else ()
    return replace(loaded, notes=[*predictions.notes, *scorable.notes()], judges=published)


def loaded_run(
    path: Path,
    own: Sequence[str | Benchmark],
    scoring: str | None,
    row_indices: Collection[int] | None = None,
) -> LoadedSide:
    """Load a run as one side of a comparison, and score again the replies that the run has so far.
    The run is not locked, since a process that writes to the run only appends.

    Args:
        path: The run folder.
        own: The caller's own benchmarks.
        scoring: The scoring; None for the headline scoring.
        row_indices: The rows of the data set that count; None: all rows.

    Raises:
        SnellenError: the run cannot be read or scored.
    """
    run = Run(path)
    manifest = run.manifest()
    benchmark = benchmark_of(path, manifest, registry.supplied(own, manifest))
    with closing(run), ExitStack() as stack:
        run.load()
        replies = partial(judgeable, run, benchmark)
        verdicts, notes, juries = judge.verdicts(run, benchmark, replies, stack)
        judges_by_scoring = judged_by(run, benchmark, juries)
        older = asks_notes(manifest.get("identity", {}), rules_of(benchmark))
        loaded = comparing.load(
            benchmark,
            lambda: replies_of(run, benchmark, row_indices),
            model=manifest.get("model", ""),
            where=_written(f"{path}"),
            identity=manifest.get("identity", {}),
            scoring=scoring,
            verdicts=verdicts,
            of=manifest.get("rows", 0) * manifest.get("repeats", 1),
            notes=[
                *manifest.get("notes", []),
                *dict.fromkeys(run.notes),
                *notes,
                *older,
                *source_notes(run, benchmark),
                *run_size_notes(run, benchmark),
            ],
        )
    noticed = [*manifest.get("noticed", {}).values()]
    tools = reported_tools(run)
    notes = [*loaded.notes, *([] if tools is None else text_call_notes(tools))]
    loaded = replace(loaded, cost=stored_cost(run), tools=tools, notes=notes, noticed=noticed)
    judges = judges_by_scoring.get(loaded.scoring)
    if judges is None:
        return loaded
    note = judges.note(loaded.scoring)
    return replace(
        loaded, judges=judges.judges, notes=[*loaded.notes, note] if note else loaded.notes
    )


def _written(path: str) -> str:
    """Convert a path to text that can be stored: bytes that are not valid UTF-8 become `?`."""
    return path.encode(errors="replace").decode()
