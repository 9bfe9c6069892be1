"""Searches a corpus for samples of benchmarks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from snellen.analysis.contamination._corpus import CorpusRow, Passage, rows
from snellen.analysis.contamination._document import Corpus, FoundIn, Hit, Share
from snellen.analysis.contamination._read import (
    BenchmarkContent,
    Pictures,
    SampleContent,
    Troubles,
    thumbnails,
)
from snellen.analysis.contamination.pictures import PictureIndex
from snellen.analysis.contamination.texts import (
    NEARLY,
    TEMPLATE,
    Grams,
    Words,
    contains_question,
    has,
    words,
)
from snellen.errors import DataError
from snellen.media.content import Image

ROWS, WORDS, PICTURES = 1_000, 300_000, 256
"""The maximum number of rows, of words, and of pictures that are looked up in one step."""
HITS = 3
"""The maximum number of rows that are listed per sample."""
EVERY = 1_000
REMEMBERED = 200_000
"""The maximum number of corpus pictures whose matches are cached. Several rows often share a
picture."""


@dataclass
class SampleMatch:
    """The best matches of one sample in the whole corpus."""

    text: float = 0.0
    """The largest share of the question's n-grams that one row contains, which is 1 for the
    complete question."""
    picture: float = 0.0
    """The largest similarity of one of the sample's pictures to a picture of the corpus, which is 1
    for identical files."""
    both: bool = False
    """Whether one row contains both the text and the picture."""
    answered: bool = False
    """Whether the right answer is next to the question in some row."""


@dataclass
class Search:
    """Searches a corpus for the samples of several benchmarks."""

    reads: Sequence[BenchmarkContent]
    """The benchmarks' samples."""
    pictures: Pictures
    """The pictures of all samples."""
    index: PictureIndex
    """The index that finds pictures of samples that are similar to a given picture."""
    troubles: Troubles
    """Collects counts and examples of unreadable data."""
    say: Callable[[str], None]
    """A function that is called with each line about the progress of the search."""
    matches: dict[tuple[int, int], SampleMatch] = field(default_factory=dict)
    """The best matches of each sample. Each key consists of the benchmark's number and the sample's
    number."""
    hits: dict[tuple[int, int], list[Hit]] = field(default_factory=dict)
    """The first rows that match each sample. The keys are the same as in `matches`."""
    files: int = 0
    """The number of files read."""
    rows: int = 0
    """The number of rows read."""
    texts: int = 0
    """The number of texts read."""
    n_pictures: int = 0
    """The number of pictures read."""

    def __post_init__(self) -> None:
        self._positions = [
            (number, sample_number)
            for number, read in enumerate(self.reads)
            for sample_number in range(len(read.samples))
        ]
        self._by_words: dict[Words, list[int]] = {}
        self._showing: dict[int, list[int]] = {}
        questions = []
        for at, (number, sample_number) in enumerate(self._positions):
            sample = self.reads[number].samples[sample_number]
            questions.append(sample.question)
            for text in filter(None, dict.fromkeys((sample.question, sample.prompt))):
                self._by_words.setdefault(text, []).append(at)
            for picture in sample.pictures:
                self._showing.setdefault(picture, []).append(at)
        self._grams = Grams(questions)
        self._known: dict[Path, tuple[tuple[int, float], ...]] = {}

    def run(self, paths: Sequence[Path], folder: Path | None = None) -> Corpus:
        """Look up every row of a corpus. Pictures that rows refer to are looked up in `folder`, or
        next to the rows by default.

        Raises:
            UsageError: a path does not exist.
            DataError: nothing in the corpus could be read.
        """
        held: list[CorpusRow] = []
        size = shown = 0
        for row in rows(paths, folder, self.troubles):
            if row is None:
                self.files += 1
                continue
            if self.rows % EVERY == 0:
                self.say(f"looking up row {self.rows + 1:,} of the corpus, {row.where}")
            self.rows += 1
            held.append(row)
            self.texts += len(row.passages)
            size += sum(len(passage.text) for passage in row.passages) // 5
            shown += len(row.pictures)
            if len(held) >= ROWS or size >= WORDS or shown >= PICTURES:
                self._look_up(held)
                held, size, shown = [], 0, 0
        self._look_up(held)
        if not (self.texts or self.n_pictures):
            why = "; ".join(note.rstrip(".") for note in self.troubles.notes())
            raise DataError(
                f"The corpus has no readable text or picture, so nothing was compared ({why}). A "
                "corpus may be JSONL, JSON, TSV, CSV, Parquet, text, pictures, or a folder of such "
                "files."
            )
        return Corpus(
            files=self.files,
            rows=self.rows,
            pictures=self.n_pictures,
            found=[self._matches_in(number) for number in range(len(self.reads))],
        )

    def _look_up(self, held: Sequence[CorpusRow]) -> None:
        shown = self._of_pictures(held)
        read = [[words(passage.text) for passage in row.passages] for row in held]
        of = [(r, p) for r, texts in enumerate(read) for p in range(len(texts))]
        near: dict[int, dict[int, tuple[float, int]]] = defaultdict(dict)
        for text, at, share in self._grams.near([read[r][p] for r, p in of]):
            r, p = of[text]
            near[r][at] = max(near[r].get(at, (0.0, p)), (share, p))
        for r, row in enumerate(held):
            self._look_up_row(row, read[r], shown[r], near.get(r, {}))

    def _look_up_row(
        self,
        row: CorpusRow,
        texts: Sequence[Words],
        shown: dict[int, float],
        near: dict[int, tuple[float, int]],
    ) -> None:
        """Record the matches of one row. `shown` maps the indices of samples to the similarity of
        their pictures. `near` maps the index of a sample to two values: the largest share of the
        question's n-grams that a passage of the row contains, and the index of this passage."""
        questions = self._full_questions(row, texts)
        everything: Words | None = None
        # If many samples share a question, it counts only along with a matching picture.
        asking = [at for question in questions for at in self._asking(question, shown)]
        for at in dict.fromkeys((*asking, *near, *shown)):
            sample = self._sample(at)
            text, passage = near.get(at, (0.0, 0))
            wording = sample.question
            contained = _contained(sample, row, questions, is_shown=at in shown)
            if contained is not None:
                wording, passage = contained
            if contained is not None or (text and has(texts[passage], sample.question)):
                if everything is None:
                    everything = tuple(word for passage_words in texts for word in passage_words)
                there = all(has(everything, choice) for choice in sample.choices)
                text = 1.0 if there else NEARLY
            picture = shown.get(at, 0.0)
            if text or picture:
                answered = bool(text) and _answered(sample, row.passages[passage])
                is_template = len(self._by_words.get(wording, ())) > TEMPLATE
                hit = Hit(
                    benchmark=self.reads[self._positions[at][0]].name,
                    sample=sample.id,
                    where=row.where,
                    text=text or None,
                    picture=picture or None,
                    answered=answered,
                )
                self._take(at, hit, is_template=is_template)

    def _full_questions(self, row: CorpusRow, texts: Sequence[Words]) -> dict[Words, int]:
        """Find the questions and prompts that have the same words as a passage of the row, or as
        one of its lines. Map each of these texts to the index of the passage."""
        questions: dict[Words, int] = {}
        for number, (passage, text) in enumerate(zip(row.passages, texts, strict=True)):
            if text in self._by_words:
                questions[text] = number
            if "\n" in passage.text:
                for line in passage.text.splitlines():
                    if (part := words(line)) in self._by_words:
                        questions[part] = number
        return questions

    def _asking(self, question: Words, shown: dict[int, float]) -> Iterator[int]:
        every = self._by_words[question]
        if len(every) <= TEMPLATE:
            yield from every
        else:
            yield from (at for at in shown if question in _texts(self._sample(at)))

    def _take(self, at: int, hit: Hit, *, is_template: bool) -> None:
        """Record a match. Words of a template count only if the row also has the picture."""
        position = self._positions[at]
        match = self.matches.setdefault(position, SampleMatch())
        text, picture = hit.text or 0.0, hit.picture or 0.0
        match.both |= bool(text and picture)
        match.picture = max(match.picture, picture)
        if not is_template or picture:
            match.text = max(match.text, 0.0 if is_template else text)
            match.answered |= hit.answered
        hits = self.hits.setdefault(position, [])
        if len(hits) < HITS:
            hits.append(
                replace(hit, text=round(text, 4) or None, picture=round(picture, 4) or None)
            )

    def _of_pictures(self, held: Sequence[CorpusRow]) -> list[dict[int, float]]:
        """For each row, a mapping from the indices of samples to the similarity between the row's
        and the sample's pictures."""
        import numpy as np

        if len(self._known) > REMEMBERED:
            self._known.clear()
        new: dict[object, Image] = {}
        for row in held:
            for image in row.pictures:
                if not (isinstance(image.source, Path) and image.source in self._known):
                    new.setdefault(_key(image), image)
        looked_up: dict[object, tuple[tuple[int, float], ...]] = {}
        keys, grays = [], []
        for key, thumbnail in zip(new, thumbnails(new.values(), self.troubles), strict=True):
            looked_up[key] = ()
            if thumbnail is not None:
                self.n_pictures += 1
                same = self.pictures.numbers.get(thumbnail[0])
                if same is not None:
                    looked_up[key] = ((same, 1.0),)
                keys.append(key)
                grays.append(thumbnail[1])
        if grays:
            for number, picture, how in self.index.near(np.stack(grays)):
                known = dict(looked_up[keys[number]])
                known.setdefault(picture, how)
                looked_up[keys[number]] = tuple(known.items())
        self._known.update(
            (key, similar) for key, similar in looked_up.items() if isinstance(key, Path)
        )
        return [self._samples_of(row, looked_up) for row in held]

    def _samples_of(
        self, row: CorpusRow, looked_up: dict[object, tuple[tuple[int, float], ...]]
    ) -> dict[int, float]:
        similarities: dict[int, float] = {}
        for image in row.pictures:
            key = _key(image)
            known = looked_up.get(key, ())
            if not known and isinstance(key, Path):
                known = self._known.get(key, ())
            for picture, how in known:
                for at in self._showing[picture]:
                    similarities[at] = max(similarities.get(at, 0.0), how)
        return similarities

    def _sample(self, at: int) -> SampleContent:
        number, sample_number = self._positions[at]
        return self.reads[number].samples[sample_number]

    def _matches_in(self, number: int) -> FoundIn:
        read = self.reads[number]
        matches = [match for (of, _), match in self.matches.items() if of == number]

        def share(n: int) -> Share:
            return Share(n=n, share=n / len(read.samples))

        return FoundIn(
            benchmark=read.name,
            samples=len(read.samples),
            text_same=share(sum(match.text == 1 for match in matches)),
            text_near=share(sum(0 < match.text < 1 for match in matches)),
            picture_same=share(sum(match.picture == 1 for match in matches)),
            picture_near=share(sum(0 < match.picture < 1 for match in matches)),
            both=share(sum(match.both for match in matches)),
            answered=share(sum(match.answered for match in matches)),
        )


def _key(image: Image) -> object:
    return image.source if isinstance(image.source, Path) else id(image)


def _texts(sample: SampleContent) -> tuple[Words, Words]:
    """The texts that a row may contain: a sample's prompt, and its question."""
    return sample.prompt, sample.question


def _contained(
    sample: SampleContent, row: CorpusRow, questions: Mapping[Words, int], *, is_shown: bool
) -> tuple[Words, int] | None:
    """Find a sample's question or prompt in a row, and return the words with the index of the
    passage that contains them. The passage must have exactly the same words (see `questions`). If
    the row shows the sample's picture, the passage may be longer."""
    for text in _texts(sample):
        if text in questions:
            return text, questions[text]
    for number, passage in enumerate(row.passages if is_shown else ()):
        for text in _texts(sample):
            if contains_question(passage.text, text):
                return text, number
    return None


def _answered(sample: SampleContent, passage: Passage) -> bool:
    """Whether the right answer is next to the question. An answer of one or two words must be at
    the start of a text, since words like `yes` occur in many sentences. A letter must be the
    complete text, or must be followed by the words of the choice."""
    answer, letter = sample.answer, sample.letter
    for text in passage.neighbors if answer else ():
        text_words = words(text)
        if letter and text_words[:1] == letter:
            text_words = text_words[1:]
            if not text_words:
                return True
        if text_words[: len(answer)] == answer or (len(answer) > 2 and has(text_words, answer)):
            return True
    return False
