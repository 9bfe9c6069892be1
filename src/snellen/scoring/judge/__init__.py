"""Runs judges as models on benchmarks whose samples are stored replies. Each judge has a run folder
of its own.

A judge is a model that scores the replies that a scoring's own rules cannot decide. The judge's
verdicts are stored in `judged/` in the run's folder. The key of each verdict consists of the
sample's id and a digest of the reply's exact words, so judging a run again requests only missing
verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from snellen.core.benchmark import Benchmark, History, vary
from snellen.core.model import Reply
from snellen.core.procedure import Conversation, Procedure
from snellen.core.sample import Sample
from snellen.core.scoring import Judge, Reading, Scoring, Verdicts, total_score
from snellen.data import Facts, Row, Table
from snellen.errors import UsageError
from snellen.media.content import Message
from snellen.metrics import mean
from snellen.scoring.judge._batches import BatchTable, members, positions
from snellen.scoring.judge._jury import JudgeRepeat, Jury, select_jury
from snellen.scoring.judge._steering import (
    JudgedReply,
    Steered,
    attempts,
    drawn,
    is_right,
    probed_id,
)
from snellen.store import MANIFEST, Run, safe_name

__all__ = [
    "JUDGED",
    "PROBED",
    "JudgeVerdicts",
    "JudgedReply",
    "Replies",
    "attempts",
    "drawn",
    "graded",
    "is_right",
    "judge_of",
    "judged_id",
    "probed_id",
    "replies_in",
    "runs_of",
    "scoring_of",
    "steering",
    "verdicts",
    "words_of",
    "worth",
]

JUDGED = "judged"
"""The subfolder of a run that contains the runs of its judges."""

PROBED = "probed"
"""The subfolder of a run that contains probes of its judges."""

Replies = Callable[[], Iterable[tuple[int, Sample, Reply]]]
"""A function that returns (row index, sample, reply) for each reply."""


def graded(benchmark: Benchmark, name: str, replies: Replies, *, of: str, digest: str) -> Benchmark:
    """Build a judge benchmark, whose questions ask a judge to score the replies that the rules of
    the scoring `name` cannot decide.

    `of` is the folder of the run with these replies, and `digest` identifies the run. If the run
    gets more replies, the benchmark gets more rows but counts as the same benchmark.

    Raises:
        UsageError: there is no such scoring, or the scoring has no judge.
    """
    scoring, judge = scoring_of(benchmark, name), judge_of(benchmark, name)
    rows: Table = _Open(scoring, judge, replies, of, digest)
    if (batches := judge.batches) is not None:
        rows = BatchTable(rows, lambda question: batches.by(_original(question)))
    return _asking(benchmark, name, rows)


def steering(
    benchmark: Benchmark, name: str, replies: Sequence[JudgedReply], *, of: str, digest: str
) -> Benchmark:
    """Build a judge benchmark, whose questions ask a scoring's judge to score replies to which
    texts that try to steer the judge were added.

    `of` is the folder of the run with these replies, and `digest` identifies the run.
    """
    asking = _asking(benchmark, name, Steered(benchmark, name, replies, of, digest))
    return replace(asking, name=f"{asking.name}.steering")


def _asking(benchmark: Benchmark, name: str, data: Table) -> Benchmark:
    """Build a judge benchmark, whose questions ask a scoring's judge to score the replies in
    `data`."""
    scoring, judge = scoring_of(benchmark, name), judge_of(benchmark, name)
    asking = Benchmark(
        name=f"{benchmark.name}.{name}",
        asks=judge.asks,
        data=data,
        sample=lambda _, row: row["sample"],
        prompt=lambda sample, history: _messages(judge, sample, history),
        scorings={
            "verdict": Scoring(
                version=scoring.version,
                source=scoring.source,
                parse=lambda reply, sample: _reading(judge, reply.text, sample),
                score=lambda *_: None,
                metrics={"score": mean},
            )
        },
        max_answer_tokens=judge.max_answer_tokens,
        procedure=Procedure(
            # Not 1, since several replies to one row (its repeats) may be open.
            conversation=Conversation(turns=None),
            temperature=judge.temperature,
        ),
    )
    return vary(asking, options={"judge": judge.name})


def judge_of(benchmark: Benchmark, name: str) -> Judge:
    """The judge of a scoring.

    Raises:
        UsageError: there is no such scoring, or the scoring has no judge.
    """
    judge = scoring_of(benchmark, name).judge
    assert judge is not None
    return judge


def scoring_of(benchmark: Benchmark, name: str) -> Scoring:
    """The scoring with this name, which must have a judge.

    Raises:
        UsageError: there is no such scoring, or the scoring has no judge.
    """
    with_judge = [judged for judged, scoring in benchmark.scorings.items() if scoring.judge]
    scoring = benchmark.scorings.get(name)
    if scoring is None or scoring.judge is None:
        has = (
            f"Scorings with a judge: {', '.join(with_judge)}"
            if with_judge
            else "None of its scorings has a judge"
        )
        raise UsageError(f"{benchmark.name} has no scoring {name!r} with a judge. {has}.")
    return scoring


class JudgeVerdicts(NamedTuple):
    """The verdicts of a run's judges."""

    by_scoring: Verdicts
    """The verdicts."""
    notes: Sequence[str]
    """Notes that name the judges."""
    juries: Mapping[str, Sequence[Run]]
    """For each scoring, the runs of the judges whose verdicts are used."""


def verdicts(run: Run, benchmark: Benchmark, replies: Replies, stack: ExitStack) -> JudgeVerdicts:
    """Load the verdicts that a run's judges have given so far. The files of the judges' runs stay
    open until `stack` is closed.

    A judge with far fewer verdicts than another is left out (`select_jury`), so that every number
    in a report comes from the same verdicts.
    """
    by_scoring = {}
    juries = {}
    notes: list[str] = []
    for name, scoring in benchmark.scorings.items():
        if scoring.judge is None:
            continue
        slots = list(_slots(run, benchmark, name, scoring.judge))
        for judging in {id(slot.run): slot.run for slot in slots}.values():
            judging.load()
            stack.callback(judging.close)
        if not slots:
            continue
        slots, n_open = _count(slots, _Open(scoring, scoring.judge, replies, "", ""))
        jury = select_jury(slots)
        by_scoring[name] = partial(
            _words_by_slot,
            [(slot.run, slot.repeat) for slot in jury.members],
            scoring.judge,
        )
        juries[name] = [
            *{id(slot.run): slot.run for slot in jury.members if slot.verdicts}.values()
        ]
        notes += _describe(run, name, jury, n_open)
    return JudgeVerdicts(by_scoring, notes, juries)


def _slots(run: Run, benchmark: Benchmark, name: str, judge: Judge) -> Iterator[JudgeRepeat]:
    """Yield every repeat of every judge whose run used the current version of the scoring's judge
    prompt."""
    for judging in runs_of(run.path, f"{benchmark.name}.{name}"):
        manifest = judging.manifest()
        identity = manifest["identity"]
        if identity["asks"] == judge.asks and identity["options"].get("judge") == judge.name:
            started = manifest["sessions"][-1]["started"]
            for repeat in range(manifest.get("repeats", 1)):
                yield JudgeRepeat(manifest["model"], judging, repeat, started)


def _count(slots: Sequence[JudgeRepeat], rows: _Open) -> tuple[list[JudgeRepeat], int]:
    """Count the readable verdicts of each repeat of each judge. Returns `slots` with these numbers,
    and the number of replies that need a judge."""
    counts = [0] * len(slots)
    n_open = 0
    for row in rows:
        sample = row["sample"]
        n_open += 1
        for number, slot in enumerate(slots):
            words = words_of(slot.run, sample.id, rows.judge, slot.repeat)
            counts[number] += worth(rows.scoring, words, _original(sample)) is not None
    return [replace(slot, verdicts=n) for slot, n in zip(slots, counts, strict=True)], n_open


def _describe(run: Run, scoring: str, jury: Jury, n_open: int) -> Iterator[str]:
    """Yield notes that name the judges whose verdicts are used in a score, and the judges that are
    left out."""
    models = ", ".join(dict.fromkeys(slot.model for slot in jury.members))
    if any(slot.verdicts for slot in jury.members):
        yield f"{scoring}: judged by {models}"
    else:
        yield f"{scoring}: {models} gave no readable verdict"
    for slot in jury.absentees:
        repeat = f" (repeat {slot.repeat + 1})" if slot.repeat else ""
        yield (
            f"{scoring}: {slot.model}{repeat} has verdicts on only {slot.verdicts:,} of "
            f"{n_open:,} replies and is left out of the score; "
            f"`{run.command('judge', '--judge', slot.model)}` requests the missing ones"
        )


def runs_of(path: Path, name: str) -> list[Run]:
    """The runs of the judge benchmark `name` that are stored in the folder `path` of a run."""
    manifests = sorted((path / JUDGED / safe_name(name)).glob(f"*/*/{MANIFEST}"))
    return [Run(manifest.parent) for manifest in manifests]


def _words_by_slot(
    slots: Sequence[tuple[Run, int]], judge: Judge, sample: Sample, reply: Reply
) -> list[str | None]:
    """The text of the verdict in each slot, which is one repeat of one judge; None for a slot
    without a usable verdict (see `words_of`)."""
    name = judged_id(sample, reply)
    return [words_of(run, name, judge, repeat) for run, repeat in slots]


def words_of(run: Run, name: str, judge: Judge, repeat: int = 0) -> str | None:
    """The text of a judge's verdict on the question with id `name`, from the judge's loaded run.
    None if the judge's reply is missing, withheld, or empty, or if it is truncated and
    `Judge.reads_cut` is false. If the judge reads several replies in one prompt, the result is the
    part of the text that is about one of them, or "" if the text cannot be split."""
    if judge.batches is None:
        return _text(run, name, judge, repeat)
    best: str | None = None
    for batch, position, n in positions(run, name):
        text = _text(run, batch, judge, repeat)
        if text is not None:
            parts = judge.batches.split(text, n)
            if len(parts) == n:
                return parts[position]
            best = ""
    return best


def _text(run: Run, name: str, judge: Judge, repeat: int) -> str | None:
    first = _text_of_stage(run, (name, repeat, 0), judge)
    if judge.then is None:
        return first
    if judge.then_when is not None and first is not None and not judge.then_when(first):
        return first
    return _text_of_stage(run, (name, repeat, 1), judge)


def _text_of_stage(run: Run, key: tuple[str, int, int], judge: Judge) -> str | None:
    record = run.final(key)
    states = ("ok", "truncated") if judge.reads_cut else ("ok",)
    return record.reply if record is not None and record.state in states else None


def worth(scoring: Scoring, words: str | None, sample: Sample) -> float | None:
    """The score that a judge's verdict gives a reply; None if there is no verdict, or if the
    verdict cannot be parsed."""
    assert scoring.judge is not None
    reading = None if words is None else scoring.judge.parse(words, sample)
    if reading is None or reading.answer is None:
        return None
    return total_score(scoring.score(reading, sample))


def judged_id(sample: Sample, reply: Reply) -> str:
    """The id of a question for a judge, which consists of the sample's id and a digest of the
    reply."""
    words = reply.text.encode(errors="surrogatepass")
    return f"{sample.id}~{blake2b(words, digest_size=8).hexdigest()}"


class _Open:
    """A table with a row for each reply that the scoring's own rules cannot decide. Identical
    replies to the same sample share a row."""

    revision: str | None = None

    def __init__(
        self, scoring: Scoring, judge: Judge, replies: Replies, where: str, digest: str
    ) -> None:
        self.where = where
        self.scoring = scoring
        self.judge = judge
        self._replies = replies
        self._digest = digest

    def __iter__(self) -> Iterator[Row]:
        seen: set[str] = set()
        for row_index, sample, reply in self._replies():
            name = judged_id(sample, reply)
            if name in seen or sample.hidden:
                continue
            if self.judge.when(self.scoring.parse(reply, sample)):
                seen.add(name)
                data = {"of": sample.id, "reply": reply.text, "data": dict(sample.data)}
                question = replace(sample, id=name, media=(), data=data)
                yield Row({"sample": question}, row_index, name.rpartition("~")[2])

    def facts(self) -> Facts:
        return Facts(rows=sum(1 for _ in self), digest=self._digest)


def _original(question: Sample) -> Sample:
    of: Any = question.data
    return replace(question, id=of["of"], data=of["data"])


def _messages(judge: Judge, question: Sample, history: History) -> tuple[Message, ...]:
    """The messages of the judge's next stage, or () if there is none."""
    pairs = replies_in(question)
    if not history:
        return judge.prompt(*pairs[0]) if judge.batches is None else judge.batches.prompt(pairs)
    _, first = history[0]
    is_final = judge.then_when is not None and not judge.then_when(first.text)
    if judge.then is None or len(history) > 1 or is_final:
        return ()
    return judge.then(*pairs[0], first.text)


def replies_in(question: Sample) -> list[tuple[Sample, Reply]]:
    """The replies that a question to a judge is about, each with its original sample."""
    return [
        (_original(member), Reply(text=str(member.data["reply"]))) for member in members(question)
    ]


def _reading(judge: Judge, words: str, question: Sample) -> Reading:
    """The reading of a judge's text. If the text is about several replies, it is the first reading
    without an answer, if there is one."""
    pairs = replies_in(question)
    parts = [words] if judge.batches is None else judge.batches.split(words, len(pairs))
    if len(parts) != len(pairs):
        return Reading(answer=None, rule="not of the form requested")
    readings = [judge.parse(part, sample) for part, (sample, _) in zip(parts, pairs, strict=True)]
    return next((reading for reading in readings if reading.answer is None), readings[0])
