"""Reads files of predictions and determines the benchmark that they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.core.exchange import Published
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Verdicts
from snellen.errors import CatalogError, DataError, UsageError
from snellen.run.answers_in_file import with_answers
from snellen.run.data_notes import data_notes
from snellen.scoring import FileQuestions, Predicted
from snellen.store import data_at

if TYPE_CHECKING:
    from snellen.interop.predictions import Predictions

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class PredictionSet:
    """The prediction files of one model."""

    path: Path
    """The file, or the folder of files."""
    benchmark: Benchmark
    """The benchmark whose questions the replies answer."""
    replies: Mapping[str, str | None]
    """The replies, keyed by sample id; None for a row without a reply."""
    where: str
    """The name of the files in messages."""
    model: str
    """The model's name, if the files give it."""
    notes: Sequence[str]
    """Notes for the report."""
    verdicts: Verdicts = field(default_factory=dict)
    """The judges' verdicts on the replies, keyed by scoring."""
    questions: FileQuestions = field(default_factory=FileQuestions)
    """The questions in the files, which are compared with the data set."""
    again: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    """Further replies to the same questions, keyed by sample id."""
    only_these: bool = False
    """Whether the authors' code counts only the samples in the files."""
    published: Published | None = None
    """The contents, if the files have the format in which the authors publish results; None for
    other formats."""

    def scorable(self, where: str | None = None) -> Predicted:
        """The replies with their questions, ready to be scored. `where` is the name of the files in
        messages."""
        return Predicted(
            benchmark=self.benchmark,
            replies=self.replies,
            where=where or self.where,
            questions=self.questions,
            again=self.again,
            only_these=self.only_these,
            published=self.published,
        )


def read_predictions(
    path: Path,
    benchmark: str | Benchmark | None,
    data: str | Path | None,
    ids: str | None,
    replies_in: str | None,
    only: str | None,
    answers_in_file: bool = False,
) -> PredictionSet:
    """Read the predictions in a file or a folder. The arguments are those of `score`.

    Raises:
        SnellenError: the predictions cannot be read, or their benchmark is not known.
    """
    from snellen.interop import predictions

    if isinstance(benchmark, str):
        benchmark = registry.benchmark(benchmark, data=None if data is None else data_at(data))
    if benchmark is not None and not (ids or replies_in or answers_in_file):
        published = _in_layout(path, benchmark, only)
        if published is not None:
            return _published(path, benchmark, published)
    rows = predictions.read(path, ids=ids, replies=replies_in, only=only)
    model, guessed = path.name, []
    if benchmark is None:
        model, name = _model_and_benchmark(path, rows.possible_names)
        guessed = [f"taken as replies of {model} to {name}, because of the file's name"]
        benchmark = registry.benchmark(name, data=None if data is None else data_at(data))
    if rows.other_ids and not _has_ids_of(benchmark, rows):
        # In files from VLMEvalKit, `index` is always the key, even if the authors' data have an
        # `id`.
        others = (
            predictions.read(path, ids=column, replies=replies_in, only=only)
            for column in rows.other_ids
        )
        rows = next((other for other in others if _has_ids_of(benchmark, other)), rows)
    names = _ids_by_row_number(benchmark, rows) if rows.row_numbers else {}
    if answers_in_file:
        answers = {names.get(name, name): text for name, text in rows.answers.items()}
        benchmark = with_answers(benchmark, answers, rows.where)
    replies: dict[str, str | None] = {
        names.get(name, name): text for name, text in rows.replies.items()
    }
    again = {names.get(name, name): texts for name, texts in rows.again.items()}
    return PredictionSet(
        path=path,
        benchmark=benchmark,
        replies=replies | {name: None for name in again if name not in replies},
        again=again,
        questions=_questions(rows, names, not answers_in_file),
        where=rows.where,
        model=model,
        notes=[*rows.notes, *guessed, *benchmark.notes, *data_notes(benchmark)],
    )


def _questions(rows: Predictions, names: Mapping[str, str], has_own_answers: bool) -> FileQuestions:
    """What the file contains about the questions that have a reply. Its answers are only compared
    if the data set has its own answers."""

    def by_id(values: Mapping[str, Value]) -> dict[str, Value]:
        return {
            names.get(name, name): value for name, value in values.items() if name in rows.replies
        }

    return FileQuestions(
        texts=by_id(rows.questions),
        choices=by_id(rows.choices),
        answers=by_id(rows.answers) if has_own_answers else {},
    )


def _has_ids_of(benchmark: Benchmark, rows: Predictions) -> bool:
    return any(benchmark.read(row).id in rows.replies for row in benchmark.data)


def _in_layout(path: Path, benchmark: Benchmark, only: str | None) -> Published | None:
    """Read a file or a folder in the format in which the benchmark's authors publish results.

    A folder is read as a whole if it has this format; otherwise, each of its files with this format
    is read. Returns None if no file has this format.

    Raises:
        UsageError: several files have replies to the same questions.
    """
    from snellen.interop import predictions

    if benchmark.interop.layout is None:
        return None
    is_folder = path.is_dir()
    published = None if is_folder and only else benchmark.interop.layout(path)
    if published is not None or not is_folder:
        return published
    every = {
        name: benchmark.interop.layout(path / name) for name in predictions.names_in(path, only)
    }
    known = {name: part for name, part in every.items() if part is not None}
    if not known:
        return None
    note = f"{len(known)} of {len(every)} files have this format and were read: {', '.join(known)}"
    return _together(path, known, note)


def _together(folder: Path, known: Mapping[str, Published], note: str) -> Published:
    """Combine several files that contain parts of one model's replies."""
    parts = known.values()
    replies: dict[str, str | None] = {}
    verdicts: dict[str, dict[str, Sequence[str]]] = {}
    readings: dict[str, dict[str, Reading]] = {}
    for part in parts:
        for name in part.replies:
            if name in replies:
                raise UsageError(
                    f"{folder}: the question {name!r} is in more than one of its files: "
                    f"{', '.join(known)}. Pass one file, or select the files that belong together "
                    "with a pattern (--only)."
                )
        replies |= part.replies
        for scoring, words in part.verdicts.items():
            verdicts.setdefault(scoring, {}).update(words)
        for scoring, stated in part.readings.items():
            readings.setdefault(scoring, {}).update(stated)
    return Published(
        replies=replies,
        verdicts=verdicts,
        readings=readings,
        tags=dict(chain.from_iterable(part.tags.items() for part in parts)),
        again=dict(chain.from_iterable(part.again.items() for part in parts)),
        only_these=any(part.only_these for part in parts),
        unread=tuple(chain.from_iterable(part.unread for part in parts)),
        notes=(note, *dict.fromkeys(chain.from_iterable(part.notes for part in parts))),
    )


def _published(path: Path, benchmark: Benchmark, published: Published) -> PredictionSet:
    """Convert the contents of the authors' own files to predictions."""
    notes = ["read in the format in which the benchmark's authors publish results"]
    notes += [f"incomplete: {reason}" for reason in published.unread]
    notes += published.notes
    if without := sum(text is None for text in published.replies.values()):
        notes.append(f"{without:,} rows have an id but no reply")
    return PredictionSet(
        path=path,
        benchmark=benchmark,
        replies=published.replies,
        again=published.again,
        only_these=published.only_these,
        published=published,
        where=path.name,
        model=path.name,
        notes=[*notes, *benchmark.notes, *data_notes(benchmark)],
        verdicts={name: partial(_words, verdicts) for name, verdicts in published.verdicts.items()},
    )


def _words(verdicts: Mapping[str, Sequence[str]], sample: Sample, _: Reply) -> Sequence[str]:
    return verdicts.get(sample.id, ())


def _model_and_benchmark(path: Path, names: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Determine the model and the benchmark from a file's name.

    Raises:
        UsageError: no benchmark has such a name.
    """
    for model, name in names:
        if registry.is_own_code(name):
            continue  # the name of a file must never cause code to be run
        try:
            registry.benchmark(name)
        except CatalogError:
            continue
        return model, name
    raise UsageError(f"{path}: the benchmark of these replies is not known. Name it with -b.")


def _ids_by_row_number(benchmark: Benchmark, rows: Predictions) -> dict[str, str]:
    """Map row numbers to ids, for a file that has row numbers instead of ids. Replies to rows that
    do not exist keep their numbers, so that they are counted.

    Raises:
        DataError: the targets in the file differ from those in the data set's rows.
    """
    ids = {number: f"doc_id {number}" for number in rows.replies}
    for row in benchmark.data:
        sample = benchmark.read(row)
        number = str(row.position)
        target = rows.targets.get(number)
        known = {right.strip().casefold() for right in (sample.target, *sample.references) if right}
        if target is not None and known and target.strip().casefold() not in known:
            raise DataError(
                f"{rows.where}: doc_id {number} has the target {target!r}, but the data set's row "
                f"{row.position + 1} has {sample.target!r}. The rows of the file differ from those "
                "of the data set, or are in a different order. If the file has a column of ids, "
                "name it with --ids."
            )
        if number in ids:
            ids[number] = sample.id
    return ids
