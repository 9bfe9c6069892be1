"""Scores a run folder or predictions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from snellen.core.benchmark import Benchmark
from snellen.core.exchange import Published
from snellen.core.scoring import Missing, Verdicts
from snellen.scoring.document import CostReport, Report
from snellen.scoring.draft import ReplySource
from snellen.scoring.file_questions import FileQuestions
from snellen.scoring.freshness import StoredWith, source_digest
from snellen.scoring.judged_by import JudgedBy
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
    judged_by: Mapping[str, JudgedBy] | None = None,
    row_indices: Collection[int] | None = None,
) -> Report:
    """Score a loaded run, and write its `scores.jsonl` and `report.json`. `judging` maps judges to
    costs, and `judged_by` maps scorings to judges.

    If `scorings` or `row_indices` are given, nothing is written, since a stored report must contain
    all scorings and all replies. With `row_indices`, only these rows of the data set are scored.

    Raises:
        UsageError: a scoring does not exist.
    """
    manifest = run.manifest()
    inputs = run.input_sizes()

    def replies() -> Iterator[Scored]:
        return replies_of(run, benchmark, row_indices)

    resolved = resolve(benchmark, scorings or benchmark.scorings, replies)
    missing = missing or manifest.get("missing")
    tally = Tally(benchmark, scorings, missing, verdicts, resolved=resolved)
    labels = run.labels()
    is_stored = scorings is None and row_indices is None
    if is_stored:
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
        judged_by=judged_by or {},
    )
    noticed = [
        text
        for kind, text in manifest.get("noticed", {}).items()
        # If only some rows are scored, the report itself counts their cut replies. The message
        # would also count those of other rows.
        if kind != "truncated" or row_indices is None
    ]
    notes = [*manifest.get("notes", []), *noticed, *dict.fromkeys(run.notes), *_lost(run), *notes]
    report = tally.report_on(source, notes)
    if is_stored:
        stored = StoredWith(inputs=inputs, source=source_digest(benchmark))
        document = {**msgspec.to_builtins(report), **msgspec.to_builtins(stored)}
        pretty = msgspec.json.format(msgspec.json.encode(document), indent=2)
        run.folder.put_atomic(REPORT, pretty + b"\n")
    return report


def _lost(run: Run) -> list[str]:
    n = run.lost_questions
    return [
        f"{n:,} replies are not scored, since their rows in questions.jsonl are lost; repeat the "
        "run's command to restore them"
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
    questions: FileQuestions | None = None,
    again: Mapping[str, Sequence[str | None]] | None = None,
    only_these: bool = False,
    published: Published | None = None,
) -> Report:
    """Score predictions. Nothing is written.

    `replies` maps sample ids to replies (None for a row without a reply). `verdicts` are verdicts
    that were published with the replies. `where` is the name of the file, for messages. `questions`
    are the questions in the file, which are compared with the data set. `again` maps sample ids to
    additional replies, which count as repeats. With `only_these`, samples that are not in `replies`
    are left out. If the file has the authors' layout, `published` is the parsed file, whose
    readings and tags are used.

    Raises:
        DataError: the predictions do not belong to this data set (see `Predicted.scored`).
        UsageError: a scoring does not exist, or the benchmark scores each turn of a conversation.
    """
    predicted = Predicted(
        benchmark=benchmark,
        replies=replies,
        where=where,
        questions=questions or FileQuestions(),
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
