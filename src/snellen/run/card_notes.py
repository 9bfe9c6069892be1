"""Notes on the limitations of a model card's results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from snellen.analysis.result import Result
from snellen.data.mismatches import is_mismatch
from snellen.registry import is_bundled
from snellen.report.side_by_side import OTHER_DATA, short_of
from snellen.run.card_entries import CardEntry
from snellen.run.plan import Finished
from snellen.scoring.sections.failures import is_failure
from snellen.store import Run

NOTED_SHARE = 0.05
"""The maximum share of unparsed replies without a note."""


def run_notes(entry: CardEntry, against: str) -> Iterator[str]:
    """Yield the limitations of a row's values, each only once. Limitations of the data come
    first."""
    ends = [done for done in (entry.by_recipe, entry.official) if done is not None]
    results = [done.result for done in ends if done.result is not None]
    notes = dict.fromkeys(
        note for result in results for note in result.report.notes if is_mismatch(note)
    )
    for result in results:
        waiting = result.counts.not_judged
        notes |= {
            _unjudged(result) if note == "incomplete" and waiting else note: None
            for note in short_of(result)
            if note != OTHER_DATA  # the first notes have the details
        }
    notes |= dict.fromkeys(
        note for result in results for note in result.report.notes if is_failure(note)
    )
    notes |= dict.fromkeys(_unparsed_notes(entry, against))
    for done in ends:
        if done.stopped:
            notes[f"stopped: {done.stopped}"] = None
    yield from notes
    if entry.ask is not None and entry.ask.manner.fault:
        yield f"fault: {entry.ask.manner.fault}"


def _unjudged(result: Result) -> str:
    """The note on a result whose replies wait for a judge, with the command that asks it."""
    command = (
        "snellen judge RUN --judge MODEL"
        if result.run is None
        else Run(result.run).command("judge", "--judge", "MODEL")
    )
    return f"incomplete: replies wait for a judge: `{command}`"


def _unparsed_notes(entry: CardEntry, against: str) -> Iterator[str]:
    """Yield a note if the headline scoring cannot parse many replies of a run."""
    shares = []
    name = ""
    for setting, result in _results(entry, against).items():
        if not result.report.scorings:
            continue
        name, counts = result.report.headline, result.counts
        if counts.n and counts.unparsed / counts.n > NOTED_SHARE:
            shares.append(f"{counts.unparsed:,} of {counts.n:,} ({setting})")
    if shares:
        yield (
            f"unparsed by the scoring {name}: {' and '.join(shares)} replies, which count as "
            "wrong. `snellen view` shows them"
        )


def report_notes(entry: CardEntry) -> dict[str, list[str]]:
    """The notes of each run's report, keyed by the result's field in the row."""
    runs: Mapping[str, Finished | None] = {
        "by_recipe": entry.by_recipe,
        "official": entry.official,
    }
    return {
        name: [*done.result.report.notes]
        for name, done in runs.items()
        if done is not None and done.result is not None and done.result.report.notes
    }


def is_of_bundled_rows(entry: CardEntry) -> bool:
    """Whether a run of the benchmark used its bundled rows, which are not the published data."""
    runs = (entry.by_recipe, entry.official)
    results = [done.result for done in runs if done is not None and done.result is not None]
    return any(is_bundled(result.report.notes) for result in results)


def _results(entry: CardEntry, against: str) -> Mapping[str, Result]:
    """The results of the runs, keyed by setting."""
    runs = {"recipe": entry.by_recipe, against: entry.official}
    return {
        name: done.result
        for name, done in runs.items()
        if done is not None and done.result is not None
    }
