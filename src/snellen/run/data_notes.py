"""Notes on whether the rows are those of the published data set."""

from __future__ import annotations

from collections.abc import Collection

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.data import missing_note
from snellen.data.mismatches import FEWER, MORE

CHANGES_ROWS = ("permute_options", "open_ended")
"""The probes that repeat rows or leave rows out. Their own notes say how many questions remain."""


def data_notes(benchmark: Benchmark) -> list[str]:
    """Notes about the files of rows, for reports.

    Raises:
        DataError: the rows do not exist or cannot be read.
    """
    notes = [missing_note(benchmark.data)]
    if benchmark.interop.files is not None:
        from snellen.data import verification  # imported on use: it imports the code of downloads

        notes.append(verification.mismatch(benchmark.interop.files))
    return [note for note in notes if note is not None]


def size_notes(benchmark: Benchmark, rows: int, notes: Collection[str] = ()) -> list[str]:
    """A note if the number of rows differs from the number of questions that the published data
    set has with the benchmark's options. Bundled rows, which the benchmark's `notes` or those of a
    run state, have a note of their own."""
    provenance = benchmark.provenance
    if not provenance.from_catalog or registry.is_bundled([*benchmark.notes, *notes]):
        return []
    size = registry.published_size(benchmark)
    if not rows or size is None or any(name in provenance.probe for name in CHANGES_ROWS):
        return []
    if rows < size:
        return [f"the data have {rows:,} of the {size:,} questions of {benchmark.name}. {FEWER}"]
    if rows > size:
        return [
            f"the data have {rows:,} questions, but {benchmark.name} with these options has "
            f"{size:,}. {MORE}"
        ]
    return []
