"""Few-shot: a benchmark whose questions come after examples, each an earlier turn that was answered
as the prompt asks for it. Few-shot is a longer prompt, and changes nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from random import Random

from snellen.core.benchmark import Benchmark, History, vary, with_note
from snellen.core.sample import Sample
from snellen.data import Filtered, Row, rows_at
from snellen.errors import DataError, MediaError, UsageError
from snellen.media import images
from snellen.media.content import Image, Message, assistant
from snellen.scoring import common_answer

SPARE = 2
"""Further examples, for questions that have the id or a picture of one: a question with one picture
can have no more than two such, as no two examples have a picture in common."""

BATCH, MOST = 50, 500
"""So many rows are looked at together, and in all, for examples with pictures of their own."""


@dataclass(frozen=True, kw_only=True)
class _Example:
    """A question with its right answer, as messages; `pictures` are the digests of its images."""

    id: str
    position: int
    pictures: frozenset[str]
    messages: tuple[Message, Message]


def with_shots(
    benchmark: Benchmark, n: int, *, source: Benchmark | None = None, seed: int = 0
) -> Benchmark:
    """The benchmark with n examples before each question, the same ones in the same order, but for
    those that have the question's id or one of its pictures: others stand in their places.

    Examples are drawn by `seed` from the rows of `source` that are not asked, or (None) from those
    of the benchmark itself, which then does not ask what was drawn.

    Raises:
        UsageError: n is not from 1 on; it is not asked in one message, or with videos, or it is not
            known in which words it wants answers; or the source has too few rows, or is what is
            asked.
        DataError: a row cannot be read, or a picture of one that was drawn.
    """
    name = benchmark.name
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise UsageError(f"shots is a whole number from 1 on, not {n!r}.")
    if benchmark.procedure.conversation.turns != 1 or benchmark.procedure.kind != "generate":
        raise UsageError(
            f"--shots is for questions that are asked in one message each, and answered in words: "
            f"{name}'s are not."
        )
    if benchmark.procedure.frames is not None:
        raise UsageError(f"--shots is for questions about pictures, and {name} shows videos.")
    if benchmark.check is None:
        raise UsageError(f"{name} does not say in which words it wants answers (Check.says).")
    of = source or benchmark
    digest = of.data.facts().digest
    if source is not None and digest == benchmark.data.facts().digest:
        raise UsageError(
            f"{name}: the examples' rows, {source.data.where}, are those that are asked. Name "
            "another file or split."
        )
    examples = _drawn(benchmark, of, n, seed)
    shown = [example.id for example in examples[:n]]
    positions = {example.position for example in examples}
    note = f"{n} examples before each question, of {of.data.where}, seed {seed}: {', '.join(shown)}"
    if source is None:
        note += f"; the {len(positions)} rows that may be examples are not asked"
    changed = vary(
        benchmark,
        data=benchmark.data
        if source is not None
        else Filtered(benchmark.data, lambda row: row.position not in positions),
        prompt=lambda sample, history: _prompt(benchmark, examples, n, sample, history),
        shots={"n": n, "seed": seed, "source": digest, "ids": shown},
    )
    return with_note(changed, note)


def _prompt(
    benchmark: Benchmark,
    examples: list[_Example],
    n: int,
    sample: Sample,
    history: History,
) -> tuple[Message, ...]:
    question = _only(benchmark, sample, history)
    pictures: frozenset[str] = frozenset()
    with suppress(MediaError):  # who asks reads it again, and says what is wrong with it
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
            f"only {len(chosen)} of {n} are left. Draw others (--shots-seed), or fewer."
        )
    return (*chain.from_iterable(example.messages for example in chosen), question)


def _drawn(benchmark: Benchmark, of: Benchmark, n: int, seed: int) -> list[_Example]:
    """n examples and a few to spare, no two with a picture in common.

    Raises:
        UsageError: there are not as many.
    """
    # A split may be a part of another one: what is asked is no example.
    digests = set() if of is benchmark else {row.digest for row in benchmark.data}
    positions = [
        row.position for row in of.data if row.digest not in digests and not of.read(row).hidden
    ]
    Random(f"{seed} {of.name}").shuffle(positions)
    examples: list[_Example] = []
    for example in _examples(benchmark, of, positions):
        if all(not example.pictures & other.pictures for other in examples):
            examples.append(example)
        if len(examples) == n + SPARE:
            return examples
    raise UsageError(
        f"{of.data.where} has {len(examples)} rows that are not asked, with an answer and with "
        f"pictures of their own; {n} examples need {n + SPARE}, {SPARE} of them in reserve. "
        "Ask for fewer (--shots), or name other rows (--shots-from)."
    )


def _examples(benchmark: Benchmark, of: Benchmark, positions: list[int]) -> Iterator[_Example]:
    for start in range(0, min(len(positions), MOST), BATCH):
        batch = positions[start : start + BATCH]
        rows = {row.position: row for row in rows_at(of.data, batch)}
        yield from (_example(benchmark, of, rows[position]) for position in batch)


def _example(benchmark: Benchmark, of: Benchmark, row: Row) -> _Example:
    sample = of.read(row)
    right = common_answer(sample.target, sample.references)
    assert right is not None and benchmark.check is not None
    try:
        question = _loaded(_only(benchmark, sample, ()))
    except MediaError as error:
        raise DataError(
            f"{of.name}: row {row.position + 1} of {of.data.where} was drawn as an example, and "
            f"cannot be shown: {error} Mend it, or draw others (--shots-seed)."
        ) from error
    return _Example(
        id=sample.id,
        position=row.position,
        pictures=_digests(question),
        messages=(question, assistant(benchmark.check.says(sample, right))),
    )


def _only(benchmark: Benchmark, sample: Sample, history: History) -> Message:
    """The one message that a question is asked in.

    Raises:
        UsageError: it is asked in several.
    """
    messages = benchmark.messages(sample, history)
    if [message.role for message in messages] != ["user"]:
        raise UsageError(
            f"--shots is for questions that are asked in one message of the user; {benchmark.name} "
            f"asks {sample.id!r} in {len(messages)}."
        )
    return messages[0]


def _loaded(message: Message) -> Message:
    parts = (images.load(part) if isinstance(part, Image) else part for part in message.content)
    return replace(message, content=tuple(parts))


def _digests(message: Message) -> frozenset[str]:
    return frozenset(image.digest for image in message.images if image.digest is not None)
