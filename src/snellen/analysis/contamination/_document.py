"""The document of a search: what benchmarks share, and what of them is in a corpus."""

from __future__ import annotations

from typing import Literal

import msgspec

from snellen.scoring import MetricReport


class BenchmarkCounts(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark, the number of samples that were read, and the number of different pictures in
    them."""

    name: str
    samples: int
    pictures: int


class Duplicate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Two samples that share something, each as `[benchmark, id]`.

    `kind` is `question` if picture and words are the same, or, for questions without pictures, the
    words. It is `picture` if only a picture is. `picture` and `text` are similarities (1: the same
    file, the same words). `answers` are the right answers of both, if they differ.
    """

    kind: Literal["question", "picture"]
    a: tuple[str, str]
    b: tuple[str, str]
    picture: float | None = None
    text: float | None = None
    answers: tuple[str, str] | None = None


class Overlap(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What two benchmarks share, or, if `a` and `b` are the same, what a benchmark has several
    times.

    `questions` are pairs that ask the same about the same picture, `conflicting` those of them with
    different answers. `samples` is how many of a's samples are in such a pair. `same_pictures` and
    `near_pictures` are pairs of pictures. Within one benchmark only near pairs count, since many
    benchmarks ask several questions about a file. `with_pictures` is how many of a's samples show
    one of them. `same_words` are samples of a whose words occur again with another picture, which
    proves nothing.
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
    """A number of samples, and their share of the benchmark's."""

    n: int
    share: float


class FoundIn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What of one benchmark is in the corpus, as samples.

    `text_same`: the whole question is there as a line or a text of its own, with all choices.
    `text_near`: only most of its n-grams are. `picture_same` and `picture_near`: one of its
    pictures is. `both`: question and picture are in one row; questions that many samples share
    count too. `answered`: the right answer is next to them.
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
    """A sample, and a row of the corpus that contains something of it. `text` is the share of its
    n-grams there (1: the whole question), `picture` the similarity of the pictures."""

    benchmark: str
    sample: str
    where: str
    text: float | None = None
    picture: float | None = None
    answered: bool = False


class Corpus(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The amount of the corpus that was read, and what of each benchmark is in it."""

    files: int
    rows: int
    pictures: int
    found: list[FoundIn]


class Effect(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run's mean score on the samples that were `found` and on the others (`clean`), as a share
    of the best, and found minus clean."""

    by: Literal["text", "picture", "both"]
    found: MetricReport
    clean: MetricReport
    difference: MetricReport


class Contamination(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The document that `contamination` returns and `--json` prints."""

    format: int
    benchmarks: list[BenchmarkCounts]
    overlaps: list[Overlap]
    corpus: Corpus | None = None
    effects: list[Effect] = []
    notes: list[str] = []
    run: str | None = None
