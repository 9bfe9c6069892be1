"""Represents a run in the form that the writers of other tools' formats need: facts about the run,
and its samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from snellen.store import Question, ReplyRecord, ScoreRow


@dataclass(frozen=True, kw_only=True)
class RunMetric:
    """A metric of a scoring over the whole run."""

    scoring: str
    """The scoring's name."""
    version: int
    """The version of the scoring's rules."""
    source: str
    """The source of the scoring's rules."""
    judge: str | None = None
    """The judge's name, if the scoring has one."""
    metric: str
    """The metric's name."""
    value: float | None
    """The value; None if there is none."""
    unit: str
    """The unit of the value, such as `fraction`."""
    n: int
    """The number of scores behind the value."""
    stderr: float | None = None
    """The standard error of the value; None if not known."""
    interval: tuple[float, float] | None = None
    """The 95 % confidence interval; None if not known."""
    better: Literal["higher", "lower"] | None = None
    """Whether a higher or a lower value is better; None if not known."""
    reason: str | None = None
    """Why there is no value or no interval."""


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """Facts about a run as a whole."""

    benchmark: str
    """The benchmark's name."""
    task: str
    """lmms-eval's name for the benchmark with its options. If lmms-eval has no such name, the
    benchmark's own name."""
    description: str
    """A sentence about the benchmark; empty if there is none."""
    model: str
    """The model's name."""
    started: str
    """When the run began (ISO 8601, UTC)."""
    rows: int
    """The number of questions that were chosen."""
    repeats: int
    """The number of times that each question is asked."""
    scores_turns: bool
    """Whether each turn of a conversation is scored separately."""
    generation: Mapping[str, Any]
    """The generation settings."""
    figures: Sequence[RunMetric]
    """The metrics of all scorings; the first is the headline."""
    best: Mapping[str, float]
    """For each scoring, the score of a perfect answer."""
    readings: Mapping[str, Mapping[str, int]]
    """For each scoring, the number of replies in each state of reading."""
    provenance: Mapping[str, Any]
    """Facts for which the formats have no field: versions, digests, the recipe, how the scoring was
    checked against the authors' code, counts, and notes."""

    @property
    def headline(self) -> RunMetric | None:
        """The first metric; None if the run has no scoring."""
        return next(iter(self.figures), None)

    @property
    def first_figures(self) -> list[RunMetric]:
        """The first metric of each scoring."""
        first: dict[str, RunMetric] = {}
        for figure in self.figures:
            first.setdefault(figure.scoring, figure)
        return list(first.values())

    @property
    def texts(self) -> dict[str, str]:
        """The provenance, for formats whose extra fields are texts. Values that are not text become
        JSON."""
        return as_texts(self.provenance)


@dataclass(frozen=True, kw_only=True)
class RunSample:
    """One repeat of a sample in a run, with all its turns and scores."""

    turns: Sequence[tuple[Question, ReplyRecord | None]]
    """The question of each turn, in order, with the stored record of the final reply; None instead
    of a record if there is no final reply."""
    scores: Sequence[ScoreRow] = field(default=())
    """The results of all scorings. If the turns of a conversation are scored separately, the
    results of all turns are included."""
    scored_turns: Sequence[Question] = field(default=())
    """A question for each turn that is scored separately. The id of the question is the id under
    which the scores of the turn are stored. Empty if turns are not scored separately."""

    def turn(self, number: int) -> RunSample:
        """The turn at this index, as a sample of its own. Only for turns that are scored
        separately."""
        question = self.scored_turns[number]
        return RunSample(
            turns=[(question, self.turns[number][1])],
            scores=[row for row in self.scores if row.sample == question.key.sample],
        )

    def turn_of(self, name: str) -> RunSample:
        """The part of the sample that is scored under this id: a turn, or the whole sample."""
        names = [question.key.sample for question in self.scored_turns]
        return self.turn(names.index(name)) if name in names else self

    @property
    def id(self) -> str:
        """The sample's id."""
        return self.turns[0][0].key.sample

    @property
    def repeat(self) -> int:
        """The number of the repeat, from 0."""
        return self.turns[0][0].key.repeat

    @property
    def question(self) -> Question:
        """The question of the first turn."""
        return self.turns[0][0]

    @property
    def references(self) -> list[str]:
        """The right answers; empty if the answers are hidden."""
        return references_of(self.question)

    @property
    def last(self) -> ReplyRecord | None:
        """The record of the final reply in the last turn; None if there is none."""
        return self.turns[-1][1]

    @property
    def error(self) -> str | None:
        """Why the sample has no final reply; None if there is a final reply."""
        for _, record in self.turns:
            if record is None:
                return "the question was not asked"
            if record.state == "failed":
                return (record.error and record.error.message) or "no reason was given"
        return None

    @property
    def transcript(self) -> list[tuple[str, str, ReplyRecord | None]]:
        """All messages in order, as (role, text, record). In the texts, marks such as `<image:
        DIGEST>` stand for pictures. Only the model's own replies have a record."""
        messages: list[tuple[str, str, ReplyRecord | None]] = []
        own = iter([record for _, record in self.turns])
        question, last = self.turns[-1]
        spoken = [role for role, _ in question.messages].count("assistant")
        examples = spoken - (len(self.turns) - 1)  # of a prompt with examples
        for role, parts in question.messages:
            record = None
            if role == "assistant":
                examples -= 1
                record = next(own, None) if examples < 0 else None
            messages.append((role, text_of(question, parts), record))
        if last is not None and last.state != "failed":
            messages.append(("assistant", last.reply, last))
        return messages


def references_of(question: Question) -> list[str]:
    """The right answers to a question; empty if the answers are hidden."""
    return question.references or ([] if question.target is None else [question.target])


def text_of(question: Question, parts: Sequence[str | int]) -> str:
    """The text of a message, in which the mark `<image: DIGEST>` stands for a picture."""
    return "\n".join(part if isinstance(part, str) else _mark(question, part) for part in parts)


def _mark(question: Question, number: int) -> str:
    medium = question.media[number]
    return f"<{medium.kind}: {medium.digest or medium.place}>"


def media_of(sample: RunSample) -> list[dict[str, Any]]:
    """The kind, path, digest, and size of each picture and video in all turns."""
    media: dict[str, dict[str, Any]] = {}
    for question, _ in sample.turns:
        for medium in question.media:
            known = {
                "kind": medium.kind,
                "file": medium.place,
                "digest": medium.digest,
                "width": medium.width,
                "height": medium.height,
            }
            media[medium.digest or medium.place] = {
                name: value for name, value in known.items() if value is not None
            }
    return [*media.values()]


def as_texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Convert values to texts. None values are left out, and other values that are not text become
    JSON."""
    return {
        name: value if isinstance(value, str) else orjson.dumps(value).decode()
        for name, value in values.items()
        if value is not None
    }


def questions_of(facts: RunFacts, samples: Iterable[RunSample]) -> Iterator[list[RunSample]]:
    """Yield a list of all repeats of each question, for formats with one line per question. If
    turns are scored separately, each turn is a question."""
    for repeats in _repeats_together(samples):
        if not facts.scores_turns:
            yield repeats
            continue
        for number in range(max(len(sample.turns) for sample in repeats)):
            yield [sample.turn(number) for sample in repeats if number < len(sample.turns)]


def _repeats_together(samples: Iterable[RunSample]) -> Iterator[list[RunSample]]:
    """Yield a list of all repeats of each sample. A run stores the repeats of a sample
    consecutively."""
    repeats: list[RunSample] = []
    for sample in samples:
        if repeats and repeats[0].id != sample.id:
            yield repeats
            repeats = []
        repeats.append(sample)
    if repeats:
        yield repeats
