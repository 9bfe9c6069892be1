"""The replies of a run folder, or of somebody's predictions, scored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import msgspec

from snellen.core.benchmark import Benchmark, History
from snellen.core.exchange import Published
from snellen.core.model import Reply
from snellen.core.prompts import IMAGE_MARK
from snellen.core.sample import Sample
from snellen.core.scoring import Missing, Reading, Verdicts
from snellen.data import Row
from snellen.errors import DataError, SnellenError, UsageError
from snellen.media.content import Image, Video
from snellen.scoring.baselines import baselines
from snellen.scoring.cost import spent
from snellen.scoring.document import Report, Spent
from snellen.scoring.probe_pairs import probe_report
from snellen.scoring.resolution import resolve
from snellen.scoring.streams import stream_notes, stream_report
from snellen.scoring.tally import Scored, Tally
from snellen.store import REPORT, SCORES, Question, ReplyRecord, Run, ShownMedia


def score_run(
    run: Run,
    benchmark: Benchmark,
    *,
    scorings: Sequence[str] | None = None,
    missing: Missing | None = None,
    verdicts: Verdicts | None = None,
    notes: Sequence[str] = (),
    judging: Mapping[str, Spent] | None = None,
) -> Report:
    """Score a run folder (loaded), and write its `scores.jsonl` and `report.json`; its judges took
    what `judging` says.

    With some of the scorings alone nothing is written: the stored report has them all.

    Raises:
        UsageError: there is no scoring of that name.
    """
    manifest = run.manifest()
    inputs = run.input_sizes()
    of = manifest.get("rows", 0) * manifest.get("repeats", 1)
    missing = missing or manifest.get("missing")
    resolved = resolve(
        benchmark, scorings or benchmark.scorings, lambda: replies_of(run, benchmark)
    )
    scoring = Tally(benchmark, scorings, missing, verdicts, labels=run.labels(), resolved=resolved)

    def samples() -> Iterator[Sample]:
        return (scored.sample for scored in replies_of(run, benchmark))

    if scorings is None:
        run.folder.put_atomic(f"{SCORES}.jsonl", scoring.rows(replies_of(run, benchmark)))
    else:
        scoring.add(replies_of(run, benchmark))
    report = scoring.report(
        baselines=baselines(benchmark, scoring, samples),
        model=manifest.get("model", ""),
        identity=manifest.get("identity", {}),
        notes=[*manifest.get("notes", []), *dict.fromkeys(run.notes), *_lost(run), *notes],
        of=of,
    )
    report = msgspec.structs.replace(
        report,
        spent=spent([run]),
        judging=dict(judging or {}),
        probe=probe_report(benchmark, scoring, report, samples),
    )
    if (streamed := stream_report(run)) is not None:
        said = [*report.notes, *stream_notes(streamed)]
        report = msgspec.structs.replace(report, streaming=streamed, notes=said)
    if scorings is None:
        document = {**msgspec.to_builtins(report), "inputs": inputs}
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
    """Score somebody's replies by sample id (`where` is their file; None: a row without one), with
    the verdicts that were published with them; writes nothing. `questions` are what some of them
    answer, by sample id, as the file has it; `again` are further replies to a sample, which count
    like repeats; `only_these` leaves out the samples that have no row. `published` is the file as
    the benchmark's layout reads it, where it is of that form: its readings and tags are used.

    Raises:
        DataError: no id of the replies is one of the benchmark's, or too many questions are others.
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
    return tally.report(
        baselines=baselines(benchmark, tally, predicted.samples),
        model=model,
        identity=predicted.identity,
        notes=[*notes, *predicted.notes()],
        incomplete=published is not None and bool(published.unread),
    )


@dataclass(kw_only=True)
class Predicted:
    """Somebody's replies, put beside the questions; the fields are those of `score_predictions`."""

    benchmark: Benchmark
    replies: Mapping[str, str | None]
    where: str
    questions: Mapping[str, str] = field(default_factory=dict)
    again: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    only_these: bool = False
    published: Published | None = None
    _notes: list[str] = field(default_factory=list)
    _regrouped: set[str] = field(default_factory=set)

    @property
    def identity(self) -> dict[str, Any]:
        """What is known of what was asked."""
        return {
            "benchmark": self.benchmark.name,
            "options": dict(self.benchmark.options),
            "replies": self.where,
        }

    def samples(self) -> Iterator[Sample]:
        """The samples that are scored."""
        return (sample for _, sample in self._rows())

    def notes(self) -> Sequence[str]:
        """What must be said of them, once `scored` has come to its end."""
        return self._notes

    def scored(self, *, digests: bool = False) -> Iterator[Scored]:
        """Every question with what was replied; with the digest of its row if it is wanted, which
        may take reading what nobody else reads.

        Raises:
            DataError: at the end, no id of the replies is one of the benchmark's, or most are not
                and most questions have none, or too many questions are others.
            UsageError: each turn is scored.
        """
        benchmark, replies = self.benchmark, self.replies
        if benchmark.by_turn is not None:
            raise UsageError(
                f"{benchmark.name} has conversations of several turns, whose replies are scored in "
                "a run's folder alone: a file of predictions does not say which turn a reply is to."
            )
        asked = _Asked(self.questions)
        lines = {name: index for index, name in enumerate(replies)}
        known = found = hidden = 0
        # Most short replies come again: each is made once.
        reply_of = lru_cache(maxsize=1 << 12)(lambda text: Reply(text=text))
        seen: set[str] = set()
        for place, (row, sample) in enumerate(self._rows()):
            if sample.id in seen:
                raise DataError(
                    f"{benchmark.name}: two rows of {benchmark.data.where} have the id "
                    f"{sample.id!r}: nobody knows which one a reply is to."
                )
            seen.add(sample.id)
            asked.compare(sample)
            texts = (replies.get(sample.id), *self.again.get(sample.id, ()))
            known += sample.id in replies
            found += texts[0] is not None
            digest = row.digest if digests else None
            readings = self._stated_readings(sample.id)
            for repeat, text in enumerate(texts):
                reply = None if text is None else reply_of(text)
                hidden += reply is None and sample.hidden
                yield Scored(
                    sample,
                    repeat,
                    "absent" if reply is None else reply.state,
                    reply,
                    benchmark.ask,
                    place=place,
                    row=digest,
                    line=lines.get(sample.id),
                    in_layout=self.published is not None,
                    readings=readings,
                )
        if not known:
            first = ", ".join(map(repr, list(replies)[:3]))
            raise DataError(
                f"{self.where}: none of its {len(replies):,} ids ({first}, ...) is an id of "
                f"{benchmark.data.where}. Is it this benchmark, and this split?"
            )
        self._notes = [*asked.notes(benchmark, self.where)]
        if self._regrouped:
            self._notes.append(
                f"{len(self._regrouped):,} samples have other categories in {self.where} than in "
                "the data set; the file's are used, as in the authors' script"
            )
        if hidden:  # scorings say what becomes of the others
            self._notes.append(
                f"{hidden:,} questions whose answers are hidden have no reply in {self.where}"
            )
        extra = sum(text is not None for text in replies.values()) - found
        if extra > found and len(seen) - known > known:
            # Numbers of one data set are ids of another, too.
            raise DataError(
                f"{self.where}: {extra:,} of its {extra + found:,} replies are to questions that "
                f"{benchmark.data.where} does not have, and {len(seen) - known:,} of the "
                f"{len(seen):,} there have no reply. Is it this benchmark, and this split?"
            )
        if extra:
            self._notes.append(
                f"{extra:,} replies of {self.where} are to questions that the data set does not "
                "have: left out"
            )

    def _rows(self) -> Iterator[tuple[Row, Sample]]:
        for row in self.benchmark.data:
            sample = self._tagged(self.benchmark.read(row))
            if not self.only_these or sample.id in self.replies:
                yield row, sample

    def _tagged(self, sample: Sample) -> Sample:
        """The sample with the tags that the authors' file gives it."""
        tags = self.published.tags.get(sample.id) if self.published is not None else None
        if not tags or tags.items() <= sample.tags.items():
            return sample
        self._regrouped.add(sample.id)
        return replace(sample, tags={**sample.tags, **tags})

    def _stated_readings(self, sample: str) -> Mapping[str, Reading] | None:
        """By scoring, the answers that the authors' file states for a sample."""
        if self.published is None or not self.published.readings:
            return None
        by_scoring = self.published.readings.items()
        return {name: known[sample] for name, known in by_scoring if sample in known}


# -- the questions beside replies

NO_LETTERS = re.compile(r"[\W_]+")
OTHERS = 0.2
"""A file with a larger share of other questions is not of this data set. Of POPE's other release a
third are others; of a right file 6 %, where a model got the numbers masked."""
SHOWN = 200
"""Characters of a question in a message."""


@dataclass
class _Asked:
    """Compares the questions of a file with the data set's, one after the other.

    They are alike where one has the other in it, but for all that is neither letter nor digit: the
    file's may be the whole prompt, or lack marks of images.
    """

    questions: Mapping[str, str]
    theirs: set[str] = field(default_factory=set)
    ours: set[str] = field(default_factory=set)
    n: int = 0
    others: int = 0
    example: str = ""

    def compare(self, sample: Sample) -> None:
        if sample.id not in self.questions:
            return
        theirs, ours = _letters(self.questions[sample.id]), _letters(sample.question)
        if not theirs or not ours:
            return
        self.n += 1
        self.theirs.add(theirs)
        self.ours.add(ours)
        if theirs not in ours and ours not in theirs:
            self.others += 1
            self.example = self.example or (
                f"{sample.id!r} asks {_shown(self.questions[sample.id])} there, and "
                f"{_shown(sample.question)} in the data set"
            )

    def notes(self, benchmark: Benchmark, where: str) -> Iterator[str]:
        """What must be said of them: nothing where all are alike, or where the column tells
        nothing.

        Raises:
            DataError: too many are others.
        """
        # Where all samples ask the same, anybody words it; and prompts of which there are much
        # fewer than questions are forms, without the question.
        told = len(self.ours) > 1 and len(self.theirs) * 2 > len(self.ours)
        if not told or not self.others:
            return
        some = f"{self.others:,} of {self.n:,} questions beside the replies"
        if self.others > OTHERS * self.n:
            options = ", ".join(f"{name}={value}" for name, value in benchmark.options.items())
            given = f" It was read with {options}; " if options else " "
            raise DataError(
                f"{where}: {some} are others than {benchmark.name}'s: {self.example}. Is it this "
                f"benchmark, this split, this release?{given}`snellen show {benchmark.name}` has "
                "its options. If the same is asked in other words, leave the questions out of the "
                "file."
            )
        yield f"{some} are others than the data set's, such as: {self.example}"


def _letters(text: str) -> str:
    return NO_LETTERS.sub("", IMAGE_MARK.sub("", text)).casefold()


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")


# -- a run's replies


def replies_of(run: Run, benchmark: Benchmark) -> Iterator[Scored]:
    """The finished conversations of a run, in the data set's order."""
    turns: list[Question] = []
    rows = _Originals(benchmark)
    for question in run.questions():
        if turns and turns[-1].key[:2] != question.key[:2]:
            yield from _conversation(run, benchmark, turns, rows)
            turns = []
        if question.key.step and turns and turns[-1].key.turn == question.key.turn:
            # The reply to a turn is that to its last step; what was asked stands in the first.
            turns[-1] = msgspec.structs.replace(turns[-1], key=question.key)
        else:
            turns.append(question)
    if turns:
        yield from _conversation(run, benchmark, turns, rows)


def _conversation(
    run: Run, benchmark: Benchmark, turns: list[Question], rows: _Originals
) -> Iterator[Scored]:
    """What became of one sample's turns; nothing while its last reply is still to come."""
    if benchmark.by_turn is not None:
        yield from _each_turn(run, benchmark, turns)
        return
    replies: list[Reply] = []
    reused = False
    for question in turns:
        record = run.final(question.key)
        if record is None:
            return
        if record.state == "failed":
            yield Scored(
                sample_of(turns[0]),
                question.key.repeat,
                "failed",
                None,
                benchmark.ask,
                error=_why(record),
                place=turns[0].place,
                row=turns[0].row,
            )
            return
        replies.append(record.as_reply())
        reused |= record.reused is not None
    name, repeat = turns[0].key.sample, turns[0].key.repeat
    ended = len(turns) == benchmark.turns or run.has_ended(name, repeat, len(turns))
    if ended or not _goes_on(benchmark, rows.sample(turns[0]), replies):
        yield Scored(
            sample_of(turns[0]),
            repeat,
            replies[-1].state,
            replies[-1],
            benchmark.ask,
            reused=reused,
            place=turns[0].place,
            row=turns[0].row,
        )


def _goes_on(benchmark: Benchmark, sample: Sample, replies: Sequence[Reply]) -> bool:
    """Whether a conversation has a turn behind these replies, by its prompt: for runs of earlier
    versions, which did not store where it ends, and for those that were interrupted."""
    history: History = ()
    for reply in replies:
        request = benchmark.request(sample, history)
        if request is None:
            return False
        history = (*history, (request.messages, reply))
    return benchmark.request(sample, history) is not None


class _Originals:
    """The samples of a run's questions as in the data set, with readable media. They must be
    requested in the order of the data set."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._rows = _rows_at_hand(benchmark)
        self._row: Row | None = None

    def sample(self, question: Question) -> Sample:
        """The sample from the question's row; the stored sample if the row is missing or has
        changed."""
        while self._row is None or self._row.place < question.place:
            self._row = next(self._rows, None)
            if self._row is None:
                return sample_of(question)
        if (self._row.place, self._row.digest) != (question.place, question.row):
            return sample_of(question)
        return self._benchmark.read(self._row)


def _rows_at_hand(benchmark: Benchmark) -> Iterator[Row]:
    with suppress(SnellenError, OSError):
        yield from benchmark.data


def _each_turn(run: Run, benchmark: Benchmark, turns: list[Question]) -> Iterator[Scored]:
    """What became of each of a sample's turns that is scored; nothing while one is still to come. A
    failed turn ended the conversation: those behind it failed with it."""
    conversation = sample_of(turns[0])
    records = [record for turn in turns if (record := run.final(turn.key)) is not None]
    failed = next((n for n, record in enumerate(records) if record.state == "failed"), None)
    wanted = benchmark.scored_turns(conversation)
    if len(records) < len(turns if failed is not None else wanted):
        return
    for number, sample in enumerate(wanted):
        if sample is None:
            continue
        said: Reply | None = None
        error: str | None = None
        if failed is None or number < failed:
            said = records[number].as_reply()
        else:
            before = "" if number == failed else f"turn {failed + 1} of it has no reply: "
            error = before + _why(records[failed])
        yield Scored(
            sample,
            turns[0].key.repeat,
            "failed" if said is None else said.state,
            said,
            benchmark.ask,
            error=error,
            reused=said is not None and records[number].reused is not None,
            place=turns[0].place,
            turn=number,
            conversation=conversation,
            row=turns[0].row,
        )


def _why(record: ReplyRecord) -> str:
    # The record's type is a class's name, which says nothing to who reads a report.
    return (record.error and record.error.message) or "no reason was given"


def sample_of(question: Question) -> Sample:
    """The sample as it was asked; its media are references that nobody needs to open."""
    media = question.media if question.sample_media is None else question.sample_media
    return Sample(
        id=question.key.sample,
        question=question.question,
        choices=tuple(question.choices),
        media=tuple(map(_medium, media)),
        target=question.target,
        references=tuple(question.references),
        tags=question.tags,
        data=question.data,
    )


def _medium(shown: ShownMedia) -> Image | Video:
    if shown.kind == "video":
        from pathlib import Path

        return Video(
            Path(shown.place),
            start=shown.start or 0.0,
            end=shown.end,
            place=shown.place,
            digest=shown.digest,
        )
    return Image(
        b"",
        place=shown.place,
        digest=shown.digest,
        width=shown.width,
        height=shown.height,
        original=shown.original,
    )
