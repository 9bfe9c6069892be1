"""Scores a run folder or predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from snellen.core.benchmark import Benchmark
from snellen.core.exchange import Published
from snellen.core.scoring import Missing, Verdicts
from snellen.scoring.document import CostReport, Report
from snellen.scoring.draft import ReplySource
from snellen.scoring.freshness import StoredWith, source_digest
from snellen.scoring.predictions import Predicted
from snellen.scoring.replies import Scored, replies_of
from snellen.scoring.resolution import resolve
from snellen.scoring.tally import Tally
from snellen.store import REPORT, SCORES, Run


def score_run(
    run: Run,
    benchmark: Benchmark,
    *,
    scorings: Sequence[str] | None = None,
    missing: Missing | None = None,
    verdicts: Verdicts | None = None,
    notes: Sequence[str] = (),
    judging: Mapping[str, CostReport] | None = None,
) -> Report:
    """Score a run folder (loaded), and write its `scores.jsonl` and `report.json`. `judging` is the
    cost of its judges.

    If only some `scorings` are requested, nothing is written, since a stored report has all of
    them.

    Raises:
        UsageError: there is no scoring of that name.
    """
    manifest = run.manifest()
    inputs = run.input_sizes()

    def replies() -> Iterator[Scored]:
        return replies_of(run, benchmark)

    resolved = resolve(benchmark, scorings or benchmark.scorings, replies)
    missing = missing or manifest.get("missing")
    tally = Tally(benchmark, scorings, missing, verdicts, resolved=resolved)
    labels = run.labels()
    if scorings is None:
        run.folder.put_atomic(f"{SCORES}.jsonl", tally.rows(replies()))
    else:
        tally.add(replies())
    source = ReplySource(
        model=manifest.get("model", ""),
        identity=manifest.get("identity", {}),
        of=manifest.get("rows", 0) * manifest.get("repeats", 1),
        run=run,
        questions=replies,
        labels=labels,
        judging=judging or {},
    )
    noticed = manifest.get("noticed", {}).values()
    notes = [*manifest.get("notes", []), *noticed, *dict.fromkeys(run.notes), *_lost(run), *notes]
    report = tally.report_on(source, notes)
    if scorings is None:
        stored = StoredWith(inputs=inputs, source=source_digest(benchmark))
        document = {**msgspec.to_builtins(report), **msgspec.to_builtins(stored)}
        pretty = msgspec.json.format(msgspec.json.encode(document), indent=2)
        run.folder.put_atomic(REPORT, pretty + b"\n")
    return report


def _lost(run: Run) -> list[str]:
    n = run.lost_questions
    return [
        f"{n:,} replies are not scored: their rows of questions.jsonl are lost; the run's command "
        "writes them again"
    ] * bool(n)


def score_predictions(
    benchmark: Benchmark,
    replies: Mapping[str, str | None],
    *,
    where: str,
    model: str = "",
    notes: Sequence[str] = (),
    scorings: Sequence[str] | None = None,
    missing: Missing | None = None,
    verdicts: Verdicts | None = None,
    questions: Mapping[str, str] | None = None,
    again: Mapping[str, Sequence[str | None]] | None = None,
    only_these: bool = False,
    published: Published | None = None,
) -> Report:
    """Score predictions: replies by sample id (None for a row without a reply), with the verdicts
    that were published with them. Nothing is written.

    `where` is their file, for messages. `questions` are questions in the file's own words, by
    sample id. `again` are further replies to a sample, which count as repeats. `only_these` leaves
    out samples without a row. `published` is the file as read by the benchmark's layout, if it has
    that form; its readings and tags are used.

    Raises:
        DataError: no id of the replies is one of the benchmark's, or too many questions differ.
        UsageError: there is no scoring of that name, or each turn is scored.
    """
    predicted = Predicted(
        benchmark=benchmark,
        replies=replies,
        where=where,
        questions=questions or {},
        again=again or {},
        only_these=only_these,
        published=published,
    )
    tally = Tally(
        benchmark,
        scorings,
        missing,
        verdicts,
        verdicts_first=True,
        resolved=resolve(benchmark, scorings or benchmark.scorings, predicted.scored),
    )
    tally.add(predicted.scored())
    source = ReplySource(
        model=model,
        identity=predicted.identity,
        incomplete=published is not None and bool(published.unread),
        questions=predicted.unanswered,
    )
    return tally.report_on(source, [*notes, *predicted.notes()])
