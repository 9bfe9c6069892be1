"""The right answers of a file of predictions in the place of the data set's, on request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from string import ascii_uppercase

from snellen.core.benchmark import Benchmark, vary, with_note
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.errors import DataError, UsageError

ANSWER = "answer"
"""The column of right answers in a file of predictions."""


def with_answers(benchmark: Benchmark, answers: Mapping[str, str], where: str) -> Benchmark:
    """The benchmark with the right answers of a file.

    Questions without an answer in the file keep that of the data set. The benchmark's notes say how
    many answers are the file's, and how many of them differ.

    Args:
        benchmark: The benchmark.
        answers: The right answers in the file, by sample id.
        where: The file, for messages.

    Raises:
        UsageError: the benchmark has several people's answers to a question.
        DataError: the file has no answers, or one is not a letter or a text of the choices.
    """
    if not answers:
        raise DataError(
            f"{where} has no answers: --answers-in-file needs a column {ANSWER!r} with some."
        )
    samples = [benchmark.read(row) for row in benchmark.data]
    if any(sample.references for sample in samples):
        raise UsageError(
            f"--answers-in-file is for questions with one right answer, and {benchmark.name} has "
            "several people's answers to a question."
        )
    spelled = {sample.target.casefold(): sample.target for sample in samples if sample.target}
    targets = {
        sample.id: _target(answers[sample.id], sample, spelled, where)
        for sample in samples
        if sample.id in answers
    }
    known = {sample.id: sample.target for sample in samples if sample.target is not None}
    differing = sum(known.get(name, target) != target for name, target in targets.items())
    hidden = len(targets.keys() - known.keys())

    def read(position: int, row: Row) -> Sample:
        sample = benchmark.sample(position, row)
        target = targets.get(sample.id)
        return sample if target is None else replace(sample, target=target)

    return with_note(
        vary(benchmark, sample=read),
        f"scored with the answers in {where}, not with the data set's: {len(targets):,} of "
        f"{len(samples):,} questions, of which {differing:,} have another answer there and "
        f"{hidden:,} have a hidden one",
    )


def _target(answer: str, sample: Sample, spelled: Mapping[str, str], where: str) -> str:
    """An answer of the file in the data set's spelling: a letter for a choice, `yes` for `Yes`."""
    text = answer.strip()
    letters = ascii_uppercase[: len(sample.choices)]
    has_letters = not spelled or all(target in ascii_uppercase for target in spelled.values())
    if not sample.choices or not has_letters:
        return spelled.get(text.casefold(), text)
    if len(text) == 1 and text.upper() in letters:
        return text.upper()
    if sample.choices.count(text) == 1:
        return letters[sample.choices.index(text)]
    raise DataError(
        f"{where}: sample {sample.id!r} has the answer {text[:40]!r}, which is neither a letter "
        f"from A to {letters[-1]} nor the text of a choice."
    )
