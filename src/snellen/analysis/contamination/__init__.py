"""Finds samples that benchmarks share with each other, or with the training data of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.analysis.contamination._document import (
    BenchmarkCounts,
    Contamination,
    Corpus,
    Duplicate,
    Effect,
    FoundIn,
    Hit,
    Overlap,
    Share,
)
from snellen.core.benchmark import Benchmark
from snellen.errors import UsageError
from snellen.store import FORMAT, Run, is_object_run

if TYPE_CHECKING:
    from snellen.analysis.contamination._read import BenchmarkContent
    from snellen.analysis.contamination.pictures import PictureIndex

__all__ = [
    "BenchmarkCounts",
    "Contamination",
    "Corpus",
    "Duplicate",
    "Effect",
    "FoundIn",
    "Hit",
    "Overlap",
    "Share",
    "contamination",
]


def contamination(
    benchmarks: Sequence[Benchmark],
    *,
    corpus: Sequence[Path] = (),
    pictures_in: Path | None = None,
    run: Path | None = None,
    limit: int | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[Contamination, list[Duplicate | Hit]]:
    """Find near-duplicates within and between benchmarks, and the samples that a `corpus` (files
    and folders) contains. Pictures that the corpus refers to are looked up in `pictures_in`, or
    next to the rows by default. If there is a single benchmark, a `run` of this benchmark can be
    passed. The run's scores on samples that the corpus contains are then compared with the run's
    scores on all other samples. Returns the report, and all duplicates and hits that the report
    counts.

    With `limit`, only the first rows of each benchmark are read. `say` is called with a line about
    each step.

    Raises:
        UsageError: a path does not exist, or `run` is given without a corpus or with several
            benchmarks.
        DataError: a benchmark's rows cannot be read.
    """
    from snellen.analysis.contamination._pairs import overlaps
    from snellen.analysis.contamination._read import Pictures, Troubles, read
    from snellen.analysis.contamination.effect import effects
    from snellen.analysis.contamination.pictures import PictureIndex
    from snellen.analysis.contamination.search import Search

    if run is not None and (len(benchmarks) != 1 or not corpus):
        raise UsageError("A run needs exactly one benchmark, and a corpus (--corpus).")
    if run is not None:
        _check(Run(run), benchmarks[0])
    troubles, pictures = Troubles(), Pictures()
    reads = [read(benchmark, pictures, troubles, limit, say) for benchmark in benchmarks]
    say(f"comparing {len(pictures.numbers):,} pictures")
    index = PictureIndex(pictures.grays())
    shared, duplicates = overlaps(reads, index)
    notes = _notes(benchmarks, reads, index)
    matches: Corpus | None = None
    hits: list[Hit] = []
    differences: list[Effect] = []
    if corpus:
        search = Search(reads, pictures, index, troubles, say=say)
        matches = search.run(corpus, pictures_in)
        hits = [hit for sample_hits in search.hits.values() for hit in sample_hits]
        if run is not None:
            by_number = {number: match for (_, number), match in search.matches.items()}
            differences, more = effects(Run(run), benchmarks[0], reads[0], by_number)
            notes += more
    report = Contamination(
        format=FORMAT,
        benchmarks=[_counts(content) for content in reads],
        overlaps=shared,
        corpus=matches,
        effects=differences,
        run=None if run is None else f"{run}",
        notes=[*notes, *troubles.notes()],
    )
    return report, [*duplicates, *hits]


def _notes(
    benchmarks: Sequence[Benchmark], reads: Sequence[BenchmarkContent], index: PictureIndex
) -> list[str]:
    """Notes on the data, and on pictures and videos that were not compared."""
    notes = list(dict.fromkeys(note for benchmark in benchmarks for note in benchmark.notes))
    if index.cut:
        notes.append(
            "so many pictures look alike that not every pair was compared: there are more similar "
            "pictures than are counted"
        )
    if videos := sum(content.videos for content in reads):
        notes.append(f"{videos:,} samples have a video; videos are not compared")
    return notes


def _counts(content: BenchmarkContent) -> BenchmarkCounts:
    numbers = {number for sample in content.samples for number in sample.pictures}
    return BenchmarkCounts(name=content.name, samples=len(content.samples), pictures=len(numbers))


def _check(run: Run, benchmark: Benchmark) -> None:
    """Check that the run is a run of this benchmark, before a search that may take hours.

    Raises:
        UsageError: the run is not a run of `benchmark`.
    """
    manifest = run.manifest()
    name = manifest["identity"]["benchmark"]
    if name != benchmark.name:
        raise UsageError(f"{run.path} is a run of {name}, not of {benchmark.name}.")
    if benchmark.provenance.from_catalog and is_object_run(manifest):
        raise UsageError(
            f"{run.path} is a run of a Python object called {name}, not of the catalog's {name}. "
            "Pass this object to `snellen.analysis.contamination.contamination`."
        )
