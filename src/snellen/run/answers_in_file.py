"""Replaces the data set's right answers with those in a file of predictions, on request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from string import ascii_uppercase

from snellen.core.benchmark import Benchmark, vary, with_note
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.errors import DataError, UsageError

ANSWER = "answer"
"""The column of a file of predictions that holds the right answers."""


def with_answers(benchmark: Benchmark, answers: Mapping[str, str], where: str) -> Benchmark:
    """Replace the benchmark's right answers with those in a file.

    Questions without an answer in the file keep the data set's answer. The benchmark gets a note
    that states how many answers come from the file, and how many of them differ from the data
    set's.

    Args:
        benchmark: The benchmark.
        answers: The right answers in the file, keyed by sample id.
        where: The name of the file in messages.

    Raises:
        UsageError: a question has answers from several people.
        DataError: the file has no answers, or one of them is neither the letter nor the text of a
            choice.
    """
    if not answers:
        raise DataError(
            f"{where} has no answers. --answers-in-file needs a column of right answers "
            f"named {ANSWER!r}."
        )
    samples = [benchmark.read(row) for row in benchmark.data]
    if any(sample.references for sample in samples):
        raise UsageError(
            "--answers-in-file is only for questions with one right answer. Some questions of "
            f"{benchmark.name} have answers from several people, so leave the option out."
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
        f"{len(samples):,} questions. Of these, {differing:,} have a different answer in the data "
        f"set, and the data set hides the answers to {hidden:,}",
    )


def _target(answer: str, sample: Sample, spelled: Mapping[str, str], where: str) -> str:
    """Convert an answer in the file to the data set's form. For example, the text of a choice
    becomes the letter of the choice, and `Yes` becomes `yes` if the data set has `yes`."""
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
        f"{where}: sample {sample.id!r} has the answer {text[:40]!r}, which is neither the text "
        f"of a choice nor a letter from A to {letters[-1]}."
    )
