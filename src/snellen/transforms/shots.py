"""Puts few-shot examples before the questions of a benchmark. An example is an earlier turn whose
answer has the form that the prompt asks for. Only the prompt changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from random import Random

from snellen import scoring
from snellen.core.benchmark import Benchmark, History, vary, with_note
from snellen.core.sample import Sample
from snellen.data import Filtered, Row, rows_at
from snellen.errors import DataError, MediaError, UsageError
from snellen.media import images
from snellen.media.content import Image, Message, assistant

SPARE = 2
"""The number of spare examples. A spare example replaces an example that has the same id as the
question, or the same picture. For a question with one picture, two spare examples are enough,
because no two examples share a picture."""

BATCH, MOST = 50, 500
"""To find examples with different pictures, `BATCH` rows are read at a time, and at most `MOST`
rows in all."""


@dataclass(frozen=True, kw_only=True)
class _Example:
    """A question and its right answer, as messages. `pictures` contains the digests of the
    question's pictures."""

    id: str
    row_index: int
    pictures: frozenset[str]
    messages: tuple[Message, Message]


def with_shots(
    benchmark: Benchmark, n: int, *, source: Benchmark | None = None, seed: int = 0
) -> Benchmark:
    """Return the benchmark with n examples before each question. All questions have the same
    examples in the same order, except that a spare example replaces an example that shares the
    question's id or a picture with the question.

    The examples are drawn with `seed` from the rows of `source` that the benchmark does not ask.
    Without a source, the examples are drawn from the benchmark's own rows, and these rows are not
    asked.

    Raises:
        UsageError: n is less than 1, the source has too few rows or is the benchmark's own data, or
            the benchmark asks in several messages, shows videos, or does not define how answers are
            worded.
        DataError: a row, or a picture of a drawn row, cannot be read.
    """
    name = benchmark.name
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise UsageError(f"--shots must be a whole number of at least 1, not {n!r}.")
    if benchmark.procedure.conversation.turns != 1 or benchmark.procedure.kind != "generate":
        raise UsageError(
            "--shots is only for questions that are asked in one message and answered with text, "
            f"but those of {name} are not. Leave out --shots."
        )
    if benchmark.procedure.frames is not None:
        raise UsageError(
            f"--shots is only for questions about pictures, but {name} shows videos. Leave out "
            "--shots."
        )
    if benchmark.check is None:
        raise UsageError(
            f"{name} does not say how answers are worded, so examples cannot be answered. Add "
            "Check.says to the benchmark."
        )
    of = source or benchmark
    digest = of.data.facts().digest
    if source is not None and digest == benchmark.data.facts().digest:
        raise UsageError(
            f"{name}: the rows for examples, {source.data.where}, are the rows that are asked. "
            "Choose another file or split."
        )
    examples = _drawn(benchmark, of, n, seed)
    shown = [example.id for example in examples[:n]]
    places = {example.row_index for example in examples}
    note = (
        f"{n} examples before each question, from {of.data.where}, seed {seed}: {', '.join(shown)}"
    )
    if source is None:
        note += f"; the {len(places)} rows that may become examples are not asked"
    few_shot = vary(
        benchmark,
        data=benchmark.data
        if source is not None
        else Filtered(benchmark.data, lambda row: row.position not in places),
        prompt=lambda sample, history: _prompt(benchmark, examples, n, sample, history),
        shots={"n": n, "seed": seed, "source": digest, "ids": shown},
    )
    return with_note(few_shot, note)


def _prompt(
    benchmark: Benchmark,
    examples: list[_Example],
    n: int,
    sample: Sample,
    history: History,
) -> tuple[Message, ...]:
    question = _only(benchmark, sample, history)
    pictures: frozenset[str] = frozenset()
    with suppress(MediaError):  # the request reads it again and reports the error
        question = _loaded(question)
        pictures = _digests(question)
    apart = (
        example
        for example in examples
        if example.id != sample.id and not example.pictures & pictures
    )
    chosen = [*islice(apart, n)]
    if len(chosen) < n:
        raise DataError(
            f"{benchmark.name}: sample {sample.id!r} shares pictures with so many examples that "
            f"only {len(chosen)} of {n} are left. Draw other examples (--shots-seed), or fewer "
            "(--shots)."
        )
    return (*chain.from_iterable(example.messages for example in chosen), question)


def _drawn(benchmark: Benchmark, of: Benchmark, n: int, seed: int) -> list[_Example]:
    """Draw n examples and `SPARE` spare examples. No two of these examples share a picture.

    Raises:
        UsageError: there are too few suitable rows.
    """
    # One split may contain rows of another. A row that is asked cannot be an example.
    question_digests = set() if of is benchmark else {row.digest for row in benchmark.data}
    places = [
        row.position
        for row in of.data
        if row.digest not in question_digests and not of.read(row).hidden
    ]
    Random(f"{seed} {of.name}").shuffle(places)
    examples: list[_Example] = []
    for example in _examples(benchmark, of, places):
        if all(not example.pictures & other.pictures for other in examples):
            examples.append(example)
        if len(examples) == n + SPARE:
            return examples
    raise UsageError(
        f"{of.data.where} has only {len(examples)} rows that can be examples. Such rows are not "
        f"asked, have an answer, and share no picture. {n} examples need {n + SPARE} such rows, "
        f"because {SPARE} of them are spare. Use fewer examples (--shots), or name other rows "
        "(--shots-from)."
    )


def _examples(benchmark: Benchmark, of: Benchmark, places: list[int]) -> Iterator[_Example]:
    for start in range(0, min(len(places), MOST), BATCH):
        batch = places[start : start + BATCH]
        rows = {row.position: row for row in rows_at(of.data, batch)}
        yield from (_example(benchmark, of, rows[row_index]) for row_index in batch)


def _example(benchmark: Benchmark, of: Benchmark, row: Row) -> _Example:
    sample = of.read(row)
    right = scoring.common_answer(sample.target, sample.references)
    assert right is not None and benchmark.check is not None
    try:
        question = _loaded(_only(benchmark, sample, ()))
    except MediaError as error:
        raise DataError(
            f"{of.name}: row {row.position + 1} of {of.data.where} was drawn as an example, but "
            f"its picture cannot be read: {error} Repair the picture, or draw other examples "
            "(--shots-seed)."
        ) from error
    return _Example(
        id=sample.id,
        row_index=row.position,
        pictures=_digests(question),
        messages=(question, assistant(benchmark.check.says(sample, right))),
    )


def _only(benchmark: Benchmark, sample: Sample, history: History) -> Message:
    """Return the only message of a question.

    Raises:
        UsageError: the question is not asked in a single message from the user.
    """
    messages = benchmark.messages(sample, history)
    if [message.role for message in messages] != ["user"]:
        raise UsageError(
            "--shots is only for questions that are asked in a single message from the user, but "
            f"{benchmark.name} asks sample {sample.id!r} in {len(messages)} messages. Leave out "
            "--shots."
        )
    return messages[0]


def _loaded(message: Message) -> Message:
    parts = (images.load(part) if isinstance(part, Image) else part for part in message.content)
    return replace(message, content=tuple(parts))


def _digests(message: Message) -> frozenset[str]:
    return frozenset(image.digest for image in message.images if image.digest is not None)
