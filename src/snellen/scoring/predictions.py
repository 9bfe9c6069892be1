"""Matches predictions with the questions of a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from snellen.core.benchmark import Benchmark
from snellen.core.exchange import Published
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, model_coordinates
from snellen.data import Row
from snellen.errors import DataError, UsageError
from snellen.scoring.file_questions import FileComparison, FileQuestions
from snellen.scoring.replies import Scored


@dataclass(kw_only=True)
class Predicted:
    """Predictions, matched with the questions of a benchmark."""

    benchmark: Benchmark
    """The benchmark."""
    replies: Mapping[str, str | None]
    """Maps sample ids to replies; None for a row without a reply."""
    where: str
    """The name of the predictions' source, for messages."""
    questions: FileQuestions = field(default_factory=FileQuestions)
    """The questions in the file, which are compared with the data set."""
    again: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    """Maps sample ids to additional replies, which count as repeats."""
    only_these: bool = False
    """Whether only samples in `replies` are scored."""
    published: Published | None = None
    """The authors' file that the replies come from; None for other files."""
    _notes: list[str] = field(default_factory=list)
    _regrouped: set[str] = field(default_factory=set)

    @property
    def identity(self) -> dict[str, Any]:
        """The part of a run's identity that is also known for predictions."""
        coordinates = model_coordinates(self.benchmark.scorings)
        return {
            "benchmark": self.benchmark.name,
            "options": dict(self.benchmark.provenance.options),
            "replies": self.where,
            **({} if coordinates is None else {"coordinates": str(coordinates)}),
        }

    def unanswered(self) -> Iterator[Scored]:
        """Yield each sample that is scored. A sample is yielded once and without replies, even if
        it has several replies."""
        for row_index, (_, sample) in enumerate(self._rows(_Counts())):
            yield Scored(sample, 0, "absent", None, row_index=row_index)

    def notes(self) -> Sequence[str]:
        """Notes on the predictions. The list is complete only after all items of `scored` have been
        read."""
        return self._notes

    def scored(self, *, digests: bool = False) -> Iterator[Scored]:
        """Yield every question with its reply. With `digests`, the digest of the data set's row is
        included, which may require reading more data.

        Raises:
            DataError: two rows of the data set have the same id. The same error is raised after the
                last question if no reply has an id of the benchmark, if most replies belong to no
                question and most questions have no reply, if too many questions or choices differ,
                or if a question has its choices in a different order.
            UsageError: the benchmark scores each turn of a conversation.
        """
        benchmark, replies = self.benchmark, self.replies
        if benchmark.procedure.conversation.by_turn is not None:
            raise UsageError(
                f"{benchmark.name} scores each turn of a conversation, which requires a run "
                "folder: a file of predictions does not say which turn a reply belongs to."
            )
        compared = FileComparison(self.questions)
        lines = {name: index for index, name in enumerate(replies)}
        counts = _Counts()
        # Short replies often repeat, so equal replies share an object.
        reply_of = lru_cache(maxsize=1 << 12)(lambda text: Reply(text=text))
        seen: set[str] = set()
        for row_index, (row, sample) in enumerate(self._rows(counts)):
            if sample.id in seen:
                raise DataError(
                    f"{benchmark.name}: it is unclear which row a reply to {sample.id!r} belongs "
                    f"to, because two rows of {benchmark.data.where} have this id."
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

    def _checked(self, compared: FileComparison, counts: _Counts) -> Iterator[str]:
        """Compare all replies with the data set, and yield notes.

        Raises:
            DataError: the replies do not belong to this data set.
        """
        where, data = self.where, self.benchmark.data.where
        if not counts.known:
            first = ", ".join(map(repr, list(self.replies)[:3]))
            raise DataError(
                f"{where}: none of its {len(self.replies):,} ids ({first}, ...) is an id of "
                f"{data}. Check the benchmark and the split."
            )
        yield from compared.notes(self.benchmark, where)
        if self._regrouped:
            yield (
                f"{len(self._regrouped):,} samples have different categories in {where} than in "
                "the data set; the categories of the file are used, as in the authors' script"
            )
        if counts.hidden:  # scorings report other questions without a reply
            yield f"{counts.hidden:,} questions whose answers are hidden have no reply in {where}"
        if counts.left_out:
            yield (
                f"{counts.left_out:,} questions without a reply in {where} are left out, as in the "
                "authors' code; --missing wrong counts them as wrong"
            )
        extra = sum(text is not None for text in self.replies.values()) - counts.replied
        lacking = counts.samples - counts.known
        if extra > counts.replied and lacking > counts.known:
            # Some ids may match by chance, since many data sets use numbers as ids.
            raise DataError(
                f"{where}: {extra:,} of its {extra + counts.replied:,} replies are to questions "
                f"that are not in {data}, and {lacking:,} of the {counts.samples:,} questions "
                "there have no reply. Check the benchmark and the split."
            )
        if extra:
            yield (
                f"{extra:,} replies of {where} are left out: their questions are not in the data "
                "set"
            )

    def _rows(self, counts: _Counts) -> Iterator[tuple[Row, Sample]]:
        for row in self.benchmark.data:
            sample = self._tagged(self.benchmark.read(row))
            if self.only_these and sample.id not in self.replies:
                counts.left_out += 1
            else:
                yield row, sample

    def _tagged(self, sample: Sample) -> Sample:
        """Add the tags that the authors' file contains for the sample."""
        tags = self.published.tags.get(sample.id) if self.published is not None else None
        if not tags or tags.items() <= sample.tags.items():
            return sample
        self._regrouped.add(sample.id)
        return replace(sample, tags={**sample.tags, **tags})

    def _stated_readings(self, sample: str) -> Mapping[str, Reading] | None:
        """For each scoring, the answer to this sample that the authors' file contains."""
        if self.published is None or not self.published.readings:
            return None
        by_scoring = self.published.readings.items()
        return {name: known[sample] for name, known in by_scoring if sample in known}


@dataclass
class _Counts:
    """Counts of the data set's samples."""

    samples: int = 0
    known: int = 0
    """The number of samples that are in the file."""
    replied: int = 0
    """The number of samples that have a reply in the file."""
    hidden: int = 0
    """The number of questions that have a hidden answer and no reply."""
    left_out: int = 0
    """The number of questions that are not scored because they are not in the file."""
