"""Reads the replies of a run, each with the sample that it answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

import msgspec

from snellen.core.benchmark import Benchmark, History
from snellen.core.model import Kind, Reply, ReplyState
from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.data import Row
from snellen.errors import SnellenError
from snellen.media.content import Image, Video
from snellen.scoring.steps import StepFacts, has_tools, step_facts, step_records
from snellen.store import Question, ReplyRecord, Run, ShownMedia, image_without_bytes

ReplyOrAbsent = ReplyState | Literal["absent"]
REPLY_STATES: tuple[ReplyOrAbsent, ...] = (
    "ok",
    "empty",
    "truncated",
    "refused",
    "failed",
    "absent",
)


class Scored(NamedTuple):
    """A reply to be scored."""

    sample: Sample
    """The sample. If each turn of a conversation is scored, the sample is the question of this
    turn."""
    repeat: int
    """The number of the repeat, counted from 0."""
    state: ReplyOrAbsent
    """The state of the reply; `absent` if a file of predictions has no reply."""
    reply: Reply | None
    """The reply; None if the question has no reply."""
    kind: Kind = "generate"
    """The kind of reply that was requested."""
    error: str | None = None
    """Why the request failed."""
    reused: bool = False
    """Whether the reply was taken from another run."""
    max_tokens: int | None = None
    """The token limit of the reply's request; None if it is the same as the run's token limit."""
    cut_at: int | None = None
    """The token limit that truncated an earlier reply to this question, if the question was asked
    again."""
    row_index: int = 0
    """The index of the sample's row in the data set."""
    turn: int = 0
    """The number of the turn in the conversation, counted from 0."""
    conversation: Sample | None = None
    """The whole conversation, if each turn is scored."""
    row: str | None = None
    """The digest of the data set's row; None if it is not needed."""
    line: int | None = None
    """The index of the reply in its file of predictions; None for a reply of a run."""
    in_layout: bool = False
    """Whether the file of predictions has the layout that the benchmark's authors use."""
    readings: Mapping[str, Reading] | None = None
    """For each scoring, the answer to this sample that the authors' file contains."""
    steps: StepFacts | None = None
    """How the question was answered with tools; None if there were no tools and the model handed
    over no steps, or if there is no reply."""


def replies_of(
    run: Run, benchmark: Benchmark, row_indices: Collection[int] | None = None
) -> Iterator[Scored]:
    """Yield the outcomes of a run's finished conversations, in the order of the data set. With
    `row_indices`, only the conversations about these rows of the data set are yielded."""
    turns: list[Question] = []
    last_steps: list[Question] = []
    rows = _Originals(benchmark)
    with_tools = has_tools(run)

    def outcomes() -> Iterator[Scored]:
        if with_tools:
            return _with_steps(run, benchmark, turns, last_steps, rows)
        return _conversation(run, benchmark, turns, rows)

    for question in run.questions():
        if row_indices is not None and question.place not in row_indices:
            continue
        if turns and turns[-1].key[:2] != question.key[:2]:
            yield from outcomes()
            turns, last_steps = [], []
        if question.key.step and turns and turns[-1].key.turn == question.key.turn:
            # The first step of a turn has the question. The reply to its last step is the reply to
            # the turn.
            turns[-1] = msgspec.structs.replace(turns[-1], key=question.key)
            last_steps[-1] = question
        else:
            turns.append(question)
            last_steps.append(question)
    if turns:
        yield from outcomes()


def _with_steps(
    run: Run,
    benchmark: Benchmark,
    turns: list[Question],
    last_steps: list[Question],
    rows: _Originals,
) -> Iterator[Scored]:
    """Yield the outcome of one conversation with tools. If its last turn goes on, yield nothing.
    The keys of `turns` are those of their last steps, and `last_steps` are the questions of these
    steps."""
    last = run.final(turns[-1].key)
    if last is None or (last.state != "failed" and last.ended is None):
        return
    by_turn = benchmark.procedure.conversation.by_turn is not None
    for scored in _conversation(run, benchmark, turns, rows):
        if scored.reply is not None:
            answered = slice(scored.turn, scored.turn + 1) if by_turn else slice(None)
            records = step_records(run, [turn.key for turn in turns[answered]])
            pictures = sum(medium.kind == "image" for medium in turns[answered][-1].media)
            scored = scored._replace(
                reply=scored.reply.without_tool_sizes(pictures),
                steps=None if records is None else step_facts(records, last_steps[answered]),
            )
        yield scored


def _conversation(
    run: Run, benchmark: Benchmark, turns: list[Question], rows: _Originals
) -> Iterator[Scored]:
    """Yield the outcome of one conversation. If the last reply has not arrived yet, yield
    nothing."""
    if benchmark.procedure.conversation.by_turn is not None:
        yield from _turns_of(run, benchmark, turns)
        return
    records: list[ReplyRecord] = []
    replies: list[Reply] = []
    reused = False
    max_tokens = cut_at = None
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
                benchmark.procedure.kind,
                error=_why(record),
                row_index=turns[0].place,
                row=turns[0].row,
            )
            return
        records.append(record)
        replies.append(record.as_reply())
        reused |= record.reused is not None
        max_tokens, cut_at = record.max_tokens, record.cut_at
    name, repeat = turns[0].key.sample, turns[0].key.repeat
    most = benchmark.procedure.conversation.turns
    ended = len(turns) == most or run.has_ended(name, repeat, len(turns))
    if ended or not _goes_on(benchmark, rows.sample(turns[0]), replies):
        yield Scored(
            sample_of(turns[0]),
            repeat,
            replies[-1].state,
            replies[-1],
            benchmark.procedure.kind,
            reused=reused,
            max_tokens=max_tokens,
            cut_at=cut_at,
            row_index=turns[0].place,
            row=turns[0].row,
            steps=_own_steps(records),
        )


def _own_steps(records: Sequence[ReplyRecord]) -> StepFacts | None:
    """The steps that a model took itself; None if it handed over none with any of its replies."""
    has_steps = any(record.steps is not None for record in records)
    return step_facts(records) if has_steps else None


def _goes_on(benchmark: Benchmark, sample: Sample, replies: Sequence[Reply]) -> bool:
    """Whether the benchmark's prompt has another turn after these replies. This check is needed for
    interrupted runs. The check is also needed for runs of earlier versions, which did not record
    the ends of conversations."""
    history: History = ()
    for reply in replies:
        request = benchmark.request(sample, history)
        if request is None:
            return False
        history = (*history, (request.messages, reply))
    return benchmark.request(sample, history) is not None


class _Originals:
    """Reads the samples of a run's questions from the data set, with their media. Samples must be
    requested in the order of the data set."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._rows = _rows_at_hand(benchmark)
        self._row: Row | None = None

    def sample(self, question: Question) -> Sample:
        """The sample of the question's row in the data set, or the stored sample if the row is
        missing or has changed."""
        while self._row is None or self._row.position < question.place:
            self._row = next(self._rows, None)
            if self._row is None:
                return sample_of(question)
        if (self._row.position, self._row.digest) != (question.place, question.row):
            return sample_of(question)
        return self._benchmark.read(self._row)


def _rows_at_hand(benchmark: Benchmark) -> Iterator[Row]:
    with suppress(SnellenError, OSError):
        yield from benchmark.data


def _turns_of(run: Run, benchmark: Benchmark, turns: list[Question]) -> Iterator[Scored]:
    """Yield the outcome of each scored turn of a sample. If some replies have not arrived yet,
    yield nothing. A failed turn ends the conversation, so all later turns count as failed too."""
    conversation = sample_of(turns[0])
    records = [record for turn in turns if (record := run.final(turn.key)) is not None]
    failed = next((n for n, record in enumerate(records) if record.state == "failed"), None)
    wanted = benchmark.scored_turns(conversation)
    if len(records) < len(turns if failed is not None else wanted):
        return
    for number, sample in enumerate(wanted):
        if sample is None:
            continue
        reply: Reply | None = None
        error: str | None = None
        if failed is None or number < failed:
            reply = records[number].as_reply()
        else:
            before = "" if number == failed else f"turn {failed + 1} has no reply: "
            error = before + _why(records[failed])
        yield Scored(
            sample,
            turns[0].key.repeat,
            "failed" if reply is None else reply.state,
            reply,
            benchmark.procedure.kind,
            error=error,
            reused=reply is not None and records[number].reused is not None,
            row_index=turns[0].place,
            turn=number,
            conversation=conversation,
            row=turns[0].row,
            steps=None if reply is None else _own_steps(records[number : number + 1]),
        )


def _why(record: ReplyRecord) -> str:
    # The record's error type is left out: the name of a class does not help readers of a report.
    return (record.error and record.error.message) or "no reason was given"


def sample_of(question: Question) -> Sample:
    """The sample as it was asked. Media are only references to files, which are not opened."""
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
            label=shown.place,
            digest=shown.digest,
        )
    return image_without_bytes(shown)
