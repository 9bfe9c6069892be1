"""The result of the search: what benchmarks share, and which of their samples are in a corpus."""

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
    """Two samples that share a question or a picture."""

    kind: Literal["question", "picture"]
    """`question`: the picture and the words are the same, or the words are the same and there are
    no pictures. `picture`: only a picture is the same."""
    a: tuple[str, str]
    """(benchmark, id) of the first sample."""
    b: tuple[str, str]
    """(benchmark, id) of the second sample."""
    picture: float | None = None
    """The similarity of the pictures, 1 for identical files; None if they were not compared."""
    text: float | None = None
    """The similarity of the words, 1 for identical words; None if they were not compared."""
    answers: tuple[str, str] | None = None
    """The right answers of the two samples, if the answers differ."""


class Overlap(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What two benchmarks share, or what one benchmark contains several times (then `a` equals
    `b`)."""

    a: str
    """The first benchmark."""
    b: str
    """The second benchmark."""
    questions: int
    """The number of pairs of samples that ask the same thing about the same picture."""
    conflicting: int
    """The number of pairs in `questions` whose answers differ."""
    samples: int
    """The number of samples of a that are in a pair of `questions`."""
    same_pictures: int
    """The number of pairs of identical picture files. They are not counted within one benchmark,
    where many questions share a file."""
    near_pictures: int
    """The number of pairs of similar pictures."""
    with_pictures: int
    """The number of samples of a that have one of the same or similar pictures."""
    same_words: int
    """The number of samples of a whose words occur in another sample, with any picture. This alone
    does not indicate a duplicate."""
    examples: list[Duplicate] = []
    """The first few duplicates."""


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """A number of samples."""

    n: int
    """The number."""
    share: float
    """The share of the benchmark's samples, from 0 to 1."""


class FoundIn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The samples of one benchmark that are in the corpus."""

    benchmark: str
    """The benchmark."""
    samples: int
    """The number of the benchmark's samples that were looked up."""
    text_same: Share
    """Samples whose whole question, with all its choices, is in one row of the corpus."""
    text_near: Share
    """Samples with most of the question's n-grams in one text of the corpus."""
    picture_same: Share
    """Samples with an identical picture file in the corpus."""
    picture_near: Share
    """Samples with a similar picture in the corpus."""
    both: Share
    """Samples whose question and picture are in the same row. Questions that many samples share
    count too."""
    answered: Share
    """Samples whose right answer is next to the question in the corpus."""


class Hit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sample and a row of the corpus that contains part of it."""

    benchmark: str
    """The benchmark."""
    sample: str
    """The id of the sample."""
    where: str
    """The file and row of the corpus."""
    text: float | None = None
    """The share of the question's n-grams in the row; 1 for the whole question. None if the words
    do not match."""
    picture: float | None = None
    """The similarity of the pictures; None if no pictures match."""
    answered: bool = False
    """Whether the right answer is next to the question."""


class Corpus(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The amount of data that was read from a corpus, and the samples found in it."""

    files: int
    """The number of files."""
    rows: int
    """The number of rows."""
    pictures: int
    """The number of pictures."""
    found: list[FoundIn]
    """For each benchmark, the samples that are in the corpus."""


class Effect(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run's mean scores on contaminated and on clean samples, as shares of the best score."""

    by: Literal["text", "picture", "both"]
    """What a sample must share with the corpus to count as contaminated."""
    found: MetricReport
    """The mean on the contaminated samples."""
    clean: MetricReport
    """The mean on the clean samples."""
    difference: MetricReport
    """`found` minus `clean`."""


class Contamination(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The document of `contamination`, which `--json` prints."""

    format: int
    """The number of the format."""
    benchmarks: list[BenchmarkCounts]
    """The amount of data that was read from each benchmark."""
    overlaps: list[Overlap]
    """What each pair of benchmarks shares, and what each benchmark contains several times."""
    corpus: Corpus | None = None
    """The samples in the corpus; None without a corpus."""
    effects: list[Effect] = []
    """How the scores of `run` differ between contaminated and clean samples."""
    notes: list[str] = []
    """What limits the result."""
    run: str | None = None
    """The run folder whose scores are used; None if no run is given."""
