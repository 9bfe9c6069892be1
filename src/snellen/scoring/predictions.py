"""Matches predictions with the questions of a benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from snellen.core.benchmark import Benchmark
from snellen.core.exchange import Published
from snellen.core.model import Reply
from snellen.core.prompts import IMAGE_MARK
from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.data import Row
from snellen.errors import DataError, UsageError
from snellen.scoring.replies import Scored


@dataclass(kw_only=True)
class Predicted:
    """Predictions matched with questions."""

    benchmark: Benchmark
    """The benchmark."""
    replies: Mapping[str, str | None]
    """The replies by sample id; None for a row without a reply."""
    where: str
    """The source of the predictions, for messages."""
    questions: Mapping[str, str] = field(default_factory=dict)
    """The questions in the file by sample id, for a check."""
    again: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    """Further replies to a sample, which count as repeats."""
    only_these: bool = False
    """Whether only these samples are scored."""
    published: Published | None = None
    """The authors' file that the replies come from; None for other files."""
    _notes: list[str] = field(default_factory=list)
    _regrouped: set[str] = field(default_factory=set)

    @property
    def identity(self) -> dict[str, Any]:
        """The known part of the identity."""
        return {
            "benchmark": self.benchmark.name,
            "options": dict(self.benchmark.provenance.options),
            "replies": self.where,
        }

    def unanswered(self) -> Iterator[Scored]:
        """The samples that are scored, once each, without their replies."""
        for row_index, (_, sample) in enumerate(self._rows()):
            yield Scored(sample, 0, "absent", None, row_index=row_index)

    def notes(self) -> Sequence[str]:
        """The notes, complete once `scored` has ended."""
        return self._notes

    def scored(self, *, digests: bool = False) -> Iterator[Scored]:
        """Every question with its reply. With `digests` also the digest of its row, which may need
        additional reading.

        Raises:
            DataError: at the end, if no id of the replies is one of the benchmark's, or most are
                not and most questions have no reply, or too many questions differ.
            UsageError: each turn is scored.
        """
        benchmark, replies = self.benchmark, self.replies
        if benchmark.procedure.conversation.by_turn is not None:
            raise UsageError(
                f"{benchmark.name} has conversations of several turns, which are scored "
                "only from a run's folder: a file of predictions does not name a reply's turn."
            )
        compared = _QuestionComparison(self.questions)
        lines = {name: index for index, name in enumerate(replies)}
        counts = _Counts()
        # Most short replies repeat: each is created once.
        reply_of = lru_cache(maxsize=1 << 12)(lambda text: Reply(text=text))
        seen: set[str] = set()
        for row_index, (row, sample) in enumerate(self._rows()):
            if sample.id in seen:
                raise DataError(
                    f"{benchmark.name}: two rows of {benchmark.data.where} have the id "
                    f"{sample.id!r}, so it is unknown which one a reply answers."
                )
            seen.add(sample.id)
            compared.compare(sample)
            texts = (replies.get(sample.id), *self.again.get(sample.id, ()))
            counts.samples += 1
            counts.known += sample.id in replies
            counts.replied += texts[0] is not None
            digest = row.digest if digests else None
            readings = self._stated_readings(sample.id)
            for repeat, text in enumerate(texts):
                reply = None if text is None else reply_of(text)
                counts.hidden += reply is None and sample.hidden
                yield Scored(
                    sample,
                    repeat,
                    "absent" if reply is None else reply.state,
                    reply,
                    benchmark.procedure.kind,
                    row_index=row_index,
                    row=digest,
                    line=lines.get(sample.id),
                    in_layout=self.published is not None,
                    readings=readings,
                )
        self._notes = [*self._checked(compared, counts)]

    def _checked(self, compared: _QuestionComparison, counts: _Counts) -> Iterator[str]:
        """Notes on all replies, after they are compared with the data set."""
        where, data = self.where, self.benchmark.data.where
        if not counts.known:
            first = ", ".join(map(repr, list(self.replies)[:3]))
            raise DataError(
                f"{where}: none of its {len(self.replies):,} ids ({first}, ...) is an id of "
                f"{data}. Is it this benchmark, and this split?"
            )
        yield from compared.notes(self.benchmark, where)
        if self._regrouped:
            yield (
                f"{len(self._regrouped):,} samples have other categories in {where} than in "
                "the data set; the file's are used, as in the authors' script"
            )
        if counts.hidden:  # scorings handle the others
            yield f"{counts.hidden:,} questions whose answers are hidden have no reply in {where}"
        extra = sum(text is not None for text in self.replies.values()) - counts.replied
        lacking = counts.samples - counts.known
        if extra > counts.replied and lacking > counts.known:
            # Numbers of one data set are ids of another, too.
            raise DataError(
                f"{where}: {extra:,} of its {extra + counts.replied:,} replies are to questions "
                f"that {data} does not have, and {lacking:,} of the {counts.samples:,} there have "
                "no reply. Is it this benchmark, and this split?"
            )
        if extra:
            yield (
                f"{extra:,} replies of {where} are to questions that the data set does not "
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


# -- the questions in a file of replies

NO_LETTERS = re.compile(r"[\W_]+")
OTHERS = 0.2
"""A file with a larger fraction of different questions does not belong to this data set. For POPE's
other release, a third differ; for a correct file, 6 % differ, since a model got masked numbers."""
SHOWN = 200
"""Characters of a question in a message."""


@dataclass
class _Counts:
    """The outcome of the data set's samples."""

    samples: int = 0
    known: int = 0
    """Samples in the file."""
    replied: int = 0
    """Samples with a reply in the file."""
    hidden: int = 0
    """Questions without a reply whose answers are hidden."""


@dataclass
class _QuestionComparison:
    """Compares the questions of a file with the data set's, one at a time.

    Only letters and digits count, and one question may contain the other: the file may have the
    whole prompt, or lack markers of images.
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
        """Notes on the differences: none if all questions match, or if the column is not
        informative.

        Raises:
            DataError: too many questions differ.
        """
        # If all samples ask the same, the wording is arbitrary. If there are far fewer prompts than
        # questions, they are templates without the question.
        comparable = len(self.ours) > 1 and len(self.theirs) * 2 > len(self.ours)
        if not comparable or not self.others:
            return
        some = f"{self.others:,} of {self.n:,} questions beside the replies"
        if self.others > OTHERS * self.n:
            options = ", ".join(
                f"{name}={value}" for name, value in benchmark.provenance.options.items()
            )
            options_text = f" It was read with {options}; " if options else " "
            raise DataError(
                f"{where}: {some} are others than {benchmark.name}'s: {self.example}. Is it this "
                f"benchmark, this split, this release?{options_text}"
                f"`snellen show {benchmark.name}` has its options. If the same is asked in other "
                "words, leave the questions out of the file."
            )
        yield f"{some} are others than the data set's, such as: {self.example}"


def _letters(text: str) -> str:
    return NO_LETTERS.sub("", IMAGE_MARK.sub("", text)).casefold()


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")
