"""Finds and counts the duplicates between benchmarks, and within each benchmark."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from snellen.analysis.contamination._document import Duplicate, Overlap
from snellen.analysis.contamination._read import BenchmarkContent, SampleContent
from snellen.analysis.contamination.pictures import PictureIndex
from snellen.analysis.contamination.texts import Grams, Words, alike

EXAMPLES = 5
MANY = 10_000
"""The maximum number of sample pairs that are compared for one picture. If there are more pairs,
only samples with identical words are compared."""

At = tuple[int, int]
"""The position of a sample: the number of its benchmark, and its number within the benchmark."""


def overlaps(
    reads: Sequence[BenchmarkContent], index: PictureIndex
) -> tuple[list[Overlap], list[Duplicate]]:
    """Compute an overlap for each benchmark and for each pair of benchmarks, and list all
    duplicates. If many pairs of samples have the same two pictures, only one of these pairs is
    listed."""
    showing: dict[int, list[At]] = defaultdict(list)
    for number, read in enumerate(reads):
        for sample_number, sample in enumerate(read.samples):
            for picture in sample.pictures:
                showing[picture].append((number, sample_number))
    counter = _OverlapCounter(reads)
    for p in showing:
        counter.compare(showing[p], showing[p], 1.0, same=True)
    for p, q, how in index.pairs():
        counter.compare(showing[p], showing[q], how, same=False)
    for first, second, how in _without_pictures(reads):
        counter.question(first, second, None, how)
    return counter.overlaps(), counter.duplicates


@dataclass
class _OverlapCounter:
    """Collects duplicates, and counts them for each pair of benchmarks."""

    reads: Sequence[BenchmarkContent]
    duplicates: list[Duplicate] = field(default_factory=list)
    _questions: dict[tuple[int, int], dict[tuple[At, At], Duplicate]] = field(default_factory=dict)
    _pictures: dict[tuple[int, int], Counter[bool]] = field(default_factory=dict)
    _showing: dict[tuple[int, int], set[At]] = field(default_factory=dict)
    _examples: dict[tuple[int, int], list[Duplicate]] = field(default_factory=dict)

    def compare(self, ours: Sequence[At], theirs: Sequence[At], how: float, *, same: bool) -> None:
        """Compare all samples that have one picture (`ours`) with all samples that have another
        picture, or the same picture (`theirs`)."""
        counted: set[tuple[int, int]] = set()
        for first, second in self._candidates(ours, theirs):
            if first == second:
                continue
            first, second = sorted((first, second))
            a, b = self._sample(first), self._sample(second)
            benchmarks = first[0], second[0]
            if a.together is not None and first[0] == second[0] and a.together == b.together:
                continue
            if text := _same_question(a, b):
                self.question(first, second, how, text)
            if same and first[0] == second[0]:
                continue  # in many benchmarks, several questions share a picture file
            self._showing.setdefault(benchmarks, set()).update((first, second))
            if benchmarks not in counted:
                counted.add(benchmarks)
                self._pictures.setdefault(benchmarks, Counter())[same] += 1
                if not text:
                    self._add(benchmarks, self._duplicate("picture", first, second, how, None))

    def question(self, first: At, second: At, picture: float | None, text: float) -> None:
        """Count two samples that ask the same thing. Each pair is counted once."""
        benchmarks = first[0], second[0]
        pairs = self._questions.setdefault(benchmarks, {})
        if (first, second) in pairs:
            return
        pairs[first, second] = self._duplicate("question", first, second, picture, text)
        self._add(benchmarks, pairs[first, second])

    def _add(self, benchmarks: tuple[int, int], duplicate: Duplicate) -> None:
        self.duplicates.append(duplicate)
        self._examples.setdefault(benchmarks, []).append(duplicate)

    def _duplicate(
        self, kind: str, first: At, second: At, picture: float | None, text: float | None
    ) -> Duplicate:
        a, b = self._sample(first), self._sample(second)
        conflicting = kind == "question" and a.answer and b.answer and a.answer != b.answer
        return Duplicate(
            kind="question" if kind == "question" else "picture",
            a=(self.reads[first[0]].name, a.id),
            b=(self.reads[second[0]].name, b.id),
            picture=picture if picture is None else round(picture, 4),
            text=text if text is None else round(text, 4),
            answers=(" ".join(a.answer), " ".join(b.answer)) if conflicting else None,
        )

    def _sample(self, at: At) -> SampleContent:
        return self.reads[at[0]].samples[at[1]]

    def _candidates(self, ours: Sequence[At], theirs: Sequence[At]) -> Iterator[tuple[At, At]]:
        if len(ours) * len(theirs) <= MANY:
            yield from product(ours, theirs)
            return
        yield ours[0], theirs[-1]
        by_words: dict[Words, list[At]] = defaultdict(list)
        for at in theirs:
            by_words[self._sample(at).question].append(at)
        for at in ours:
            for other in by_words[self._sample(at).question][:EXAMPLES]:
                yield at, other

    def overlaps(self) -> list[Overlap]:
        counted = [
            Counter((sample.question, sample.choices) for sample in read.samples)
            for read in self.reads
        ]
        return [
            self._overlap(i, j, counted)
            for i in range(len(self.reads))
            for j in range(i, len(self.reads))
        ]

    def _overlap(
        self, i: int, j: int, counted: Sequence[Counter[tuple[Words, frozenset[Words]]]]
    ) -> Overlap:
        pairs = self._questions.get((i, j), {})
        files = self._pictures.get((i, j), Counter())
        least = 1 if i == j else 0
        examples = self._examples.get((i, j), [])
        # Conflicts come first, the most similar pictures at the top, since they should be checked.
        examples = sorted(
            examples,
            key=lambda duplicate: (
                duplicate.answers is None,
                duplicate.kind == "picture",
                -(duplicate.picture or 1),
            ),
        )
        return Overlap(
            a=self.reads[i].name,
            b=self.reads[j].name,
            questions=len(pairs),
            conflicting=sum(duplicate.answers is not None for duplicate in pairs.values()),
            samples=len({at for pair in pairs for at in pair if at[0] == i}),
            same_pictures=files[True],
            near_pictures=files[False],
            with_pictures=sum(at[0] == i for at in self._showing.get((i, j), ())),
            same_words=sum(
                counted[j][sample.question, sample.choices] > least
                for sample in self.reads[i].samples
            ),
            examples=examples[:EXAMPLES],
        )


def _same_question(a: SampleContent, b: SampleContent) -> float:
    """The similarity of the words of two samples that ask the same thing; 0 if the samples ask
    different things. The order of the choices does not matter."""
    if a.choices and b.choices and a.choices != b.choices:
        return 0.0
    return alike(a.question, b.question)


def _without_pictures(reads: Sequence[BenchmarkContent]) -> Iterator[tuple[At, At, float]]:
    """Yield the pairs of samples without pictures that ask the same thing, with the similarity of
    their words. Two samples are compared only if their words, or most of their n-grams, are the
    same."""
    positions = [
        (number, sample_number)
        for number, read in enumerate(reads)
        for sample_number, sample in enumerate(read.samples)
        if not sample.shows and sample.question
    ]
    samples = [reads[number].samples[sample_number] for number, sample_number in positions]
    by_words: dict[Words, list[int]] = defaultdict(list)
    candidates: set[tuple[int, int]] = set()
    for at, sample in enumerate(samples):
        earlier = by_words[sample.question]
        candidates.update((first, at) for first in earlier[:EXAMPLES])
        earlier.append(at)
    texts = [sample.question for sample in samples]
    candidates.update(
        (min(text, second), max(text, second))
        for text, second, _ in Grams(texts).near(texts)
        if text != second
    )
    for first, second in sorted(candidates):
        a, b = samples[first], samples[second]
        same_benchmark = positions[first][0] == positions[second][0]
        if same_benchmark and a.together is not None and a.together == b.together:
            continue
        if how := _same_question(a, b):
            yield positions[first], positions[second], how
