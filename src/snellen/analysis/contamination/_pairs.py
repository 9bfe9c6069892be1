"""What benchmarks share with one another, and what one has several times."""

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
"""So many pairs of samples with one picture are compared; of more only those of the same words."""

At = tuple[int, int]
"""The number of a benchmark, and of a sample in it."""


def overlaps(
    reads: Sequence[BenchmarkContent], index: PictureIndex
) -> tuple[list[Overlap], list[Duplicate]]:
    """One overlap for each benchmark and each two, and every duplicate; of pictures that many
    samples show one pair of samples."""
    showing: dict[int, list[At]] = defaultdict(list)
    for number, read in enumerate(reads):
        for place, sample in enumerate(read.samples):
            for picture in sample.pictures:
                showing[picture].append((number, place))
    found = _Found(reads)
    for p in showing:
        found.compare(showing[p], showing[p], 1.0, same=True)
    for p, q, how in index.pairs():
        found.compare(showing[p], showing[q], how, same=False)
    for one, other, how in _without_pictures(reads):
        found.question(one, other, None, how)
    return found.overlaps(), found.duplicates


@dataclass
class _Found:
    """Duplicates, and what is counted of each two benchmarks."""

    reads: Sequence[BenchmarkContent]
    duplicates: list[Duplicate] = field(default_factory=list)
    _questions: dict[tuple[int, int], dict[tuple[At, At], Duplicate]] = field(default_factory=dict)
    _pictures: dict[tuple[int, int], Counter[bool]] = field(default_factory=dict)
    _showing: dict[tuple[int, int], set[At]] = field(default_factory=dict)
    _examples: dict[tuple[int, int], list[Duplicate]] = field(default_factory=dict)

    def compare(self, ours: Sequence[At], theirs: Sequence[At], how: float, *, same: bool) -> None:
        """All samples that show one picture with all that show another, or the same."""
        told: set[tuple[int, int]] = set()
        for one, other in self._candidates(ours, theirs):
            if one == other:
                continue
            one, other = sorted((one, other))
            a, b = self._sample(one), self._sample(other)
            benchmarks = one[0], other[0]
            if a.together is not None and one[0] == other[0] and a.together == b.together:
                continue
            if text := _same_question(a, b):
                self.question(one, other, how, text)
            if same and one[0] == other[0]:
                continue  # many ask several questions about one file
            self._showing.setdefault(benchmarks, set()).update((one, other))
            if benchmarks not in told:
                told.add(benchmarks)
                self._pictures.setdefault(benchmarks, Counter())[same] += 1
                if not text:
                    self._tell(benchmarks, self._duplicate("picture", one, other, how, None))

    def question(self, one: At, other: At, picture: float | None, text: float) -> None:
        """Take two samples that ask the same into account, once."""
        benchmarks = one[0], other[0]
        pairs = self._questions.setdefault(benchmarks, {})
        if (one, other) in pairs:
            return
        pairs[one, other] = self._duplicate("question", one, other, picture, text)
        self._tell(benchmarks, pairs[one, other])

    def _tell(self, benchmarks: tuple[int, int], duplicate: Duplicate) -> None:
        self.duplicates.append(duplicate)
        self._examples.setdefault(benchmarks, []).append(duplicate)

    def _duplicate(
        self, kind: str, one: At, other: At, picture: float | None, text: float | None
    ) -> Duplicate:
        a, b = self._sample(one), self._sample(other)
        conflicting = kind == "question" and a.answer and b.answer and a.answer != b.answer
        return Duplicate(
            kind="question" if kind == "question" else "picture",
            a=(self.reads[one[0]].name, a.id),
            b=(self.reads[other[0]].name, b.id),
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
        # Conflicts first, the surest of them before all: somebody should look at them.
        examples = sorted(
            examples,
            key=lambda one: (one.answers is None, one.kind == "picture", -(one.picture or 1)),
        )
        return Overlap(
            a=self.reads[i].name,
            b=self.reads[j].name,
            questions=len(pairs),
            conflicting=sum(one.answers is not None for one in pairs.values()),
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
    """How alike the words are of two samples that ask the same, in whatever order their choices
    are; 0 for others."""
    if a.choices and b.choices and a.choices != b.choices:
        return 0.0
    return alike(a.question, b.question)


def _without_pictures(reads: Sequence[BenchmarkContent]) -> Iterator[tuple[At, At, float]]:
    """The samples that show nothing and ask the same: by the same words, or by most n-grams."""
    places = [
        (number, place)
        for number, read in enumerate(reads)
        for place, sample in enumerate(read.samples)
        if not sample.shows and sample.question
    ]
    samples = [reads[number].samples[place] for number, place in places]
    by_words: dict[Words, list[int]] = defaultdict(list)
    candidates: set[tuple[int, int]] = set()
    for at, sample in enumerate(samples):
        earlier = by_words[sample.question]
        candidates.update((one, at) for one in earlier[:EXAMPLES])
        earlier.append(at)
    texts = [sample.question for sample in samples]
    candidates.update(
        (min(text, other), max(text, other))
        for text, other, _ in Grams(texts).near(texts)
        if text != other
    )
    for one, other in sorted(candidates):
        a, b = samples[one], samples[other]
        same_place = places[one][0] == places[other][0]
        if same_place and a.together is not None and a.together == b.together:
            continue
        if how := _same_question(a, b):
            yield places[one], places[other], how
