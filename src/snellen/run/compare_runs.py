"""Comparing what is there: runs, folders of runs, anybody's predictions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from snellen import registry
from snellen.analysis import comparing
from snellen.analysis.comparing import Compared, Loaded
from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark
from snellen.errors import SnellenError, UsageError
from snellen.run.score_run import Said, benchmark_of, judgeable, predicted_in, said_in, source_notes
from snellen.scoring import asks_notes, judge, replies_of, rules_of
from snellen.store import DEPTH, MANIFEST, Run, data_at, found_elsewhere, runs_at, runs_below


def compare(
    *sides: str | Path | Result,
    benchmark: str | Benchmark | Sequence[str | Benchmark] | None = None,
    data: str | Path | None = None,
    scoring: str | None = None,
    ids: str | None = None,
    replies_in: str | None = None,
    only: str | None = None,
    details: bool = True,
) -> Compared:
    """Compare two or more sets of replies, on the samples that they share: the path of a run, of a
    folder of runs or of predictions, or what `evaluate` or `load_run` gave. A difference is always
    of a later one less an earlier one.

    The replies are scored again from what is stored, as `score` does; nobody is asked and nothing
    is written, so a run under way can be compared as far as it is. `benchmark` and `data` are for
    predictions, which know neither. `benchmark`, or several, is also for runs of the caller's own
    benchmarks: the object, `FILE.py:NAME`, or `module:NAME`. `ids`,
    `replies_in` and `only` are those of `score`. `scoring` is the headline one unless named.
    Without `details` several pairs have their first metric alone, which is faster.

    Raises:
        SnellenError: something that the caller can mend, such as that two sides share no sample.
    """
    own = [benchmark] if isinstance(benchmark, str | Benchmark) else list(benchmark or ())
    notes: list[str] = []
    broken: list[SnellenError] = []
    found: dict[Path, Path | Said] = {}  # by where it really is: a run is taken once
    paths = [runs_at(_named(side, number)) for number, side in enumerate(sides, 1)]
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder.")
        runs = [path] if (path / MANIFEST).exists() else runs_below(path)
        if (elsewhere := found_elsewhere(path, runs)) is not None:
            notes.append(elsewhere)
        for run in runs:
            found.setdefault(run.resolve(), run)
        if not runs and path.resolve() not in found:
            if not isinstance(benchmark, str | Benchmark | None):
                raise UsageError(f"{path} has predictions: name one benchmark for them.")
            if isinstance(benchmark, str):
                where = None if data is None else data_at(data)
                benchmark = registry.benchmark(benchmark, data=where)
            found[path.resolve()] = _predictions(path, benchmark, data, ids, replies_in, only)
    if len(found) < 2 <= len(sides):
        raise UsageError(f"{paths[0]} is named twice: comparing takes two sets of replies.")
    said = [one for one in found.values() if isinstance(one, Said)]
    if data is not None and not said:
        raise UsageError("data is for predictions, and these are runs, which have theirs.")
    # Where all are of the same rows nobody need read these to the last byte.
    digests = len(said) < len(found) or len({id(one.benchmark) for one in said}) > 1
    loaded: list[Loaded] = []
    named = {path.resolve() for path in paths}
    for place, one in found.items():
        if isinstance(one, Said):
            loaded.append(_of_predictions(one, scoring, digests=digests))
            continue
        try:
            loaded.append(_of_run(one, own, scoring))
        except SnellenError as error:
            if place in named:
                raise
            broken.append(error)
            notes.append(f"left out: {error}")
    if broken and len(loaded) < 2:
        raise broken[0]
    try:
        return Compared(comparing.compare(loaded, notes, details=details))
    except UsageError as error:
        if not broken:
            raise
        # What could not be read may be what the others would have been compared with.
        raise UsageError("\n".join([str(error), *notes])) from error


def _named(side: object, number: int) -> str | Path:
    if isinstance(side, str | Path):
        return side
    if isinstance(side, os.PathLike):
        return Path(side)
    if not isinstance(side, Result):
        raise UsageError(
            f"compare was given a {type(side).__name__} as number {number}: it takes paths of runs "
            "and predictions, or results of evaluate and load_run, one by one."
        )
    if side.run is None:
        raise UsageError(
            f"the result of {side.report.model or 'replies from a file'} on "
            f"{side.report.benchmark} has no run folder: name its file of predictions instead."
        )
    return side.run


def _predictions(
    path: Path,
    benchmark: Benchmark | None,
    data: str | Path | None,
    ids: str | None,
    replies_in: str | None,
    only: str | None,
) -> Said:
    if path.is_dir() and benchmark is None:
        raise UsageError(
            f"{path}: there is no run in it, down to {DEPTH} folders below. If predictions are, "
            "name their benchmark (-b)."
        )
    return said_in(path, benchmark, data, ids, replies_in, only)


def _of_predictions(said: Said, scoring: str | None, *, digests: bool) -> Loaded:
    where = _written(f"{said.path}")
    predicted = predicted_in(said, where)
    loaded = comparing.load(
        said.benchmark,
        lambda: predicted.scored(digests=digests),
        model=_written(said.model),
        where=where,
        identity=predicted.identity,
        scoring=scoring,
        verdicts=said.verdicts,
        verdicts_first=True,
    )
    return replace(loaded, notes=[*said.notes, *predicted.notes()])


def _of_run(path: Path, own: Sequence[str | Benchmark], scoring: str | None) -> Loaded:
    """A run's replies as far as they are there. It is not locked: who writes it only appends."""
    run = Run(path)
    manifest = run.manifest()
    benchmark = benchmark_of(path, manifest, registry.supplied(own, manifest))
    with closing(run), ExitStack() as stack:
        run.load()
        replies = partial(judgeable, run, benchmark)
        verdicts, notes = judge.verdicts(run, benchmark, replies, stack)
        older = asks_notes(manifest.get("identity", {}), rules_of(benchmark))
        return comparing.load(
            benchmark,
            lambda: replies_of(run, benchmark),
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
            ],
        )


def _written(path: str) -> str:
    """A path as it can be written down: a name that is no UTF-8 has `?` in it."""
    return path.encode(errors="replace").decode()
