"""Notes on the limitations of a model card's results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from snellen.analysis.cards import CardCounts
from snellen.analysis.result import Result
from snellen.data.mismatches import is_mismatch
from snellen.registry import is_bundled
from snellen.report.side_by_side import OTHER_DATA, short_of
from snellen.run.card_entries import CardEntry
from snellen.run.plan import Finished
from snellen.run.recipe_notes import is_change_of_recipe
from snellen.run.reply_watch import is_about_thoughts
from snellen.scoring.sections.failures import is_failure
from snellen.scoring.sections.reply_states import is_withheld
from snellen.store import Run

NOTED_SHARE = 0.05
"""The maximum share of unparsed replies without a note."""
COUNTED = {
    "unparsed": (
        NOTED_SHARE,
        "unparsed by the scoring {scoring}: {counts} replies, which count as wrong. "
        "`snellen view` shows them",
    ),
    "guessed": (
        0.0,
        "guessed by the rule of the scoring {scoring}: {counts} replies, which count in the score",
    ),
    "cut": (0.0, "cut at a token limit: {counts} replies"),
    "empty": (0.0, "empty: {counts} replies"),
}
"""For each count, the largest share of replies without a note, and the text of the note."""
EXPLAINING = (is_change_of_recipe, is_about_thoughts, is_withheld, is_failure)
"""The kinds of notes of a run's report that may explain a gap. The row has them, too."""


def run_notes(entry: CardEntry, against: str) -> Iterator[str]:
    """Yield the limitations of a row's values, each only once. Limitations of the data come
    first."""
    results = _results(entry, against)
    notes = dict.fromkeys(
        note for result in results.values() for note in result.report.notes if is_mismatch(note)
    )
    for setting, result in results.items():
        notes |= dict.fromkeys(_short_of(entry, result, setting))
    notes |= dict.fromkeys(_explaining(results))
    notes |= dict.fromkeys(_count_notes(entry, results))
    for done in (entry.by_recipe, entry.official):
        if done is not None and done.stopped:
            notes[f"stopped: {done.stopped}"] = None
    yield from notes
    if entry.ask is not None and entry.ask.manner.fault:
        yield f"fault: {entry.ask.manner.fault}"


def shown_scoring(entry: CardEntry, result: Result) -> str:
    """The scoring by which the card's first table shows a result: that of the published figures, or
    the headline scoring if Snellen does not have it."""
    of_figures = entry.scoring.name if entry.figures else None
    return of_figures if of_figures in result.report.scorings else result.report.headline


def counts_of(result: Result, scoring: str) -> CardCounts:
    """Count the missing and unusual replies of a result. `scoring` is one of its scorings."""
    readings, states = result.scoring(scoring).readings, result.report.replies
    return CardCounts(
        failed=result.failed,
        unparsed=readings.get("unparsed", 0),
        guessed=readings.get("guessed", 0),
        not_judged=readings.get("not-judged", 0),
        cut=states.get("truncated", 0),
        empty=states.get("empty", 0),
    )


def _short_of(entry: CardEntry, result: Result, setting: str) -> Iterator[str]:
    """Yield the reasons why a result is not a regular result for the full data set. Only the
    scoring that the card's first table shows can wait for a judge."""
    scoring, report = shown_scoring(entry, result), result.report
    waiting = {name: of.readings.get("not-judged", 0) for name, of in report.scorings.items()}
    for note in short_of(result, scoring):
        if note == OTHER_DATA:
            continue  # the first notes have the details
        if note != "incomplete":
            yield note
        elif waiting.get(scoring):
            yield _unjudged(result, f"{waiting[scoring]:,} of {report.n:,} replies ({setting})")
        elif result.failed or not any(waiting.values()):
            yield note


def _unjudged(result: Result, replies: str) -> str:
    """The note on replies that wait for a judge, with the command that asks it."""
    command = (
        "snellen judge RUN --judge MODEL"
        if result.run is None
        else Run(result.run).command("judge", "--judge", "MODEL")
    )
    return f"incomplete: {replies} wait for a judge: `{command}`"


def _explaining(results: Mapping[str, Result]) -> Iterator[str]:
    """Yield the notes of the runs' reports that may explain a gap. A note begins with the name of
    its run if the other run does not have it."""
    settings: dict[str, list[str]] = {}
    for setting, result in results.items():
        for note in result.report.notes:
            if any(is_kind(note) for is_kind in EXPLAINING):
                settings.setdefault(note, []).append(setting)
    for note, having in settings.items():
        yield note if len(having) == len(results) else f"{having[0]}: {note}"


def _count_notes(entry: CardEntry, results: Mapping[str, Result]) -> Iterator[str]:
    """Yield a note on each kind of unusual replies."""
    for field, (share, text) in COUNTED.items():
        counts: list[str] = []
        scoring = ""
        for setting, result in results.items():
            if not result.report.scorings:
                continue
            scoring, states = shown_scoring(entry, result), result.report.replies
            count = getattr(counts_of(result, scoring), field)
            n = result.report.n - states.get("failed", 0) - states.get("absent", 0)
            if n and count / n > share:
                counts.append(f"{count:,} of {n:,} ({setting})")
        if counts:
            yield text.format(scoring=scoring, counts=" and ".join(counts))


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
