"""What the search gives: what benchmarks share, and what of them is in a corpus."""

from __future__ import annotations

from typing import Literal

import msgspec

from snellen.scoring import MetricReport


class BenchmarkCounts(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark, how many samples of it were read, and how many different pictures they show."""

    name: str
    samples: int
    pictures: int


class Duplicate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Two samples that share something, as `[benchmark, id]` each.

    `kind` is `question` where picture and words are the same, or the words alone of questions
    without pictures; `picture` where only a picture is. `picture` and `text` say how alike they are
    (1: the same file, the same words). `answers` are what is right in each, where that differs.
    """

    kind: Literal["question", "picture"]
    a: tuple[str, str]
    b: tuple[str, str]
    picture: float | None = None
    text: float | None = None
    answers: tuple[str, str] | None = None


class Overlap(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What two benchmarks share, or what one has several times (`a` and `b` are the same).

    `questions` are pairs that ask the same of the same picture, `conflicting` of them those with
    other answers; `samples` how many of a's are in such a pair. `same_pictures` and `near_pictures`
    are pairs of pictures, of one benchmark only near ones: many ask several questions about a file.
    `with_pictures` of a's samples show one of them. `same_words` are samples of a whose words come
    again with another picture, which proves nothing.
    """

    a: str
    b: str
    questions: int
    conflicting: int
    samples: int
    same_pictures: int
    near_pictures: int
    with_pictures: int
    same_words: int
    examples: list[Duplicate] = []


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """How many samples, and what share of the benchmark's."""

    n: int
    share: float


class FoundIn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What of one benchmark is in the corpus, as samples.

    `text_same`: the whole question stands there as a line or a text of its own, with all choices;
    `text_near`: only most of its n-grams do. `picture_same` and `picture_near`: one of its
    pictures. `both`: question and picture in one row, where questions that many samples share count
    too; `answered`: with the right answer beside them.
    """

    benchmark: str
    samples: int
    text_same: Share
    text_near: Share
    picture_same: Share
    picture_near: Share
    both: Share
    answered: Share


class Hit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One sample and a row of the corpus that has something of it; `text` is the share of its
    n-grams there (1: the whole question), `picture` how alike the pictures are."""

    benchmark: str
    sample: str
    where: str
    text: float | None = None
    picture: float | None = None
    answered: bool = False


class Corpus(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was read of a corpus, and what of each benchmark is in it."""

    files: int
    rows: int
    pictures: int
    found: list[FoundIn]


class Effect(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run's mean score on the samples that were `found` and on the others (`clean`), as a share
    of the best, and found less clean."""

    by: Literal["text", "picture", "both"]
    found: MetricReport
    clean: MetricReport
    difference: MetricReport


class Contamination(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What `contamination` gives and `--json` prints."""

    format: int
    benchmarks: list[BenchmarkCounts]
    overlaps: list[Overlap]
    corpus: Corpus | None = None
    effects: list[Effect] = []
    notes: list[str] = []
    run: str | None = None
