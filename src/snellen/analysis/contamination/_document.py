"""The types of the result of a contamination search: the samples that benchmarks share, and the
samples that a corpus contains."""

from __future__ import annotations

from typing import Literal

import msgspec

from snellen.scoring import MetricReport


class BenchmarkCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The amount of data that was read from a benchmark."""

    name: str
    """The benchmark."""
    samples: int
    """The number of samples that were read."""
    pictures: int
    """The number of different pictures in these samples."""


class Duplicate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Two samples that have the same question or the same picture."""

    kind: Literal["question", "picture"]
    """What matches. `question` means that the words match and that the pictures, if any, match too.
    `picture` means that only a picture matches."""
    a: tuple[str, str]
    """The benchmark and the id of the first sample."""
    b: tuple[str, str]
    """The benchmark and the id of the second sample."""
    picture: float | None = None
    """The similarity of the pictures, which is 1 for identical files; None if no pictures were
    compared."""
    text: float | None = None
    """The similarity of the words, which is 1 for identical words; None if the words were not
    compared."""
    answers: tuple[str, str] | None = None
    """The right answers of the two samples, if these answers differ."""


class Overlap(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The duplicates between two benchmarks `a` and `b`, or within one benchmark, in which case `a`
    and `b` are the same."""

    a: str
    """The first benchmark."""
    b: str
    """The second benchmark."""
    questions: int
    """The number of pairs of samples that ask the same thing about the same picture."""
    conflicting: int
    """The number of pairs in `questions` whose answers differ."""
    samples: int
    """The number of samples of benchmark a that belong to at least one of the pairs in
    `questions`."""
    same_pictures: int
    """The number of pairs of identical picture files. Identical files within one benchmark are not
    counted, since many questions share a file."""
    near_pictures: int
    """The number of pairs of similar pictures."""
    with_pictures: int
    """The number of samples of benchmark a that have an identical or similar picture in b."""
    same_words: int
    """The number of samples of benchmark a that have the same words as another sample in b.
    Pictures are ignored, so these samples are not necessarily duplicates."""
    examples: list[Duplicate] = []
    """The first few duplicates."""


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """A number of samples, and the share of the benchmark that these samples make up."""

    n: int
    """The number."""
    share: float
    """The number of samples, divided by the number of the benchmark's samples that were looked
    up."""


class FoundIn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many samples of one benchmark the corpus contains."""

    benchmark: str
    """The benchmark."""
    samples: int
    """The number of the benchmark's samples that were looked up."""
    text_same: Share
    """Samples whose complete question, including all choices, is in one row of the corpus."""
    text_near: Share
    """Samples with most of the question's n-grams in one text of the corpus."""
    picture_same: Share
    """Samples with an identical picture file in the corpus."""
    picture_near: Share
    """Samples with a similar picture in the corpus."""
    both: Share
    """Samples whose question and picture are in the same row of the corpus. Questions that many
    samples share count too."""
    answered: Share
    """Samples whose right answer is next to the question in the corpus."""


class Hit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A match between a sample and a row of the corpus."""

    benchmark: str
    """The benchmark."""
    sample: str
    """The id of the sample."""
    where: str
    """The position of the row: the file, and the line or row number in it."""
    text: float | None = None
    """The share of the question's n-grams that the row contains, which is 1 for the complete
    question including all choices. None if the words do not match."""
    picture: float | None = None
    """The similarity of the matching pictures; None if no pictures match."""
    answered: bool = False
    """Whether the right answer is next to the question in the row."""


class Corpus(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The amount of data that was read from a corpus, and the benchmarks' samples that the corpus
    contains."""

    files: int
    """The number of files."""
    rows: int
    """The number of rows."""
    pictures: int
    """The number of pictures."""
    found: list[FoundIn]
    """For each benchmark, the number of samples that the corpus contains."""


class Effect(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run's mean scores on contaminated and on clean samples, as fractions of the best score."""

    by: Literal["text", "picture", "both"]
    """What must match for a sample to count as contaminated: the text, a picture, or both in one
    row."""
    found: MetricReport
    """The mean on the contaminated samples."""
    clean: MetricReport
    """The mean on the clean samples."""
    difference: MetricReport
    """`found` minus `clean`."""


class Contamination(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a search for contamination, as `snellen contamination --json` prints it."""

    format: int
    """The version of the JSON format."""
    benchmarks: list[BenchmarkCounts]
    """The amount of data that was read from each benchmark."""
    overlaps: list[Overlap]
    """The duplicates between each pair of benchmarks, and within each benchmark."""
    corpus: Corpus | None = None
    """The amount of data that was read from the corpus, and the samples that the corpus contains;
    None if no corpus was given."""
    effects: list[Effect] = []
    """The differences between the scores of `run` on contaminated and on clean samples."""
    notes: list[str] = []
    """What limits the result."""
    run: str | None = None
    """The run folder whose scores are used; None if no run is given."""
