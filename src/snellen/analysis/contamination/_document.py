"""What the search gives: what benchmarks share, and what of them is in a corpus."""

from __future__ import annotations

from typing import Literal

import msgspec

from snellen.scoring import MetricReport


class BenchmarkCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What was read of a benchmark."""

    name: str
    """The benchmark."""
    samples: int
    """The number of samples that were read."""
    pictures: int
    """The number of different pictures that they show."""


class Duplicate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Two samples that share a question or a picture."""

    kind: Literal["question", "picture"]
    """`question`: the same picture and words, or the same words without pictures; `picture`: only a
    picture is the same."""
    a: tuple[str, str]
    """(benchmark, id) of the first sample."""
    b: tuple[str, str]
    """(benchmark, id) of the second sample."""
    picture: float | None = None
    """The similarity of the pictures, up to 1 for the same file; None if they are not compared."""
    text: float | None = None
    """The similarity of the words, up to 1 for the same words; None if they are not compared."""
    answers: tuple[str, str] | None = None
    """The right answers of both, if they differ."""


class Overlap(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What two benchmarks share, or what one benchmark has several times (`a` and `b` are then the
    same)."""

    a: str
    """The first benchmark."""
    b: str
    """The second benchmark."""
    questions: int
    """Pairs of samples that ask the same about the same picture."""
    conflicting: int
    """Those of `questions` whose answers differ."""
    samples: int
    """The samples of a that are in such a pair."""
    same_pictures: int
    """Pairs of equal picture files; not counted within one benchmark, where many questions share a
    file."""
    near_pictures: int
    """Pairs of similar pictures."""
    with_pictures: int
    """The samples of a that show one of these pictures."""
    same_words: int
    """Samples of a whose words occur again with another picture, which proves nothing."""
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
    """The number of its samples that were looked up."""
    text_same: Share
    """The whole question with all its choices is a line or a text of the corpus."""
    text_near: Share
    """Most of the question's n-grams are in one text of the corpus."""
    picture_same: Share
    """One of its picture files is in the corpus."""
    picture_near: Share
    """A picture that is similar to one of its own is in the corpus."""
    both: Share
    """Question and picture are in one row. Questions that many samples share count too."""
    answered: Share
    """The right answer is next to the question."""


class Hit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sample and a row of the corpus that contains part of it."""

    benchmark: str
    """The benchmark."""
    sample: str
    """The id of the sample."""
    where: str
    """The file and row of the corpus."""
    text: float | None = None
    """The share of the question's n-grams in the row; 1: the whole question. None without a match
    of words."""
    picture: float | None = None
    """The similarity of the pictures; None without a match of pictures."""
    answered: bool = False
    """Whether the right answer is next to the question."""


class Corpus(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was read of a corpus, and the samples of each benchmark in it."""

    files: int
    """The number of files."""
    rows: int
    """The number of rows."""
    pictures: int
    """The number of pictures."""
    found: list[FoundIn]
    """The samples of each benchmark."""


class Effect(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run's mean score on contaminated and on clean samples, as a share of the best score."""

    by: Literal["text", "picture", "both"]
    """What the samples share with the corpus."""
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
    """What was read of each benchmark."""
    overlaps: list[Overlap]
    """What benchmarks share with each other, and have several times."""
    corpus: Corpus | None = None
    """The samples in the corpus; None without a corpus."""
    effects: list[Effect] = []
    """The effect on the scores of `run`."""
    notes: list[str] = []
    """What limits the result."""
    run: str | None = None
    """The run folder whose scores are used; None without one."""
