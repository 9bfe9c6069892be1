"""Reads what the contamination search compares: the words, the right answer, and the pictures of
each question."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from string import ascii_uppercase
from typing import TYPE_CHECKING

from snellen.analysis.contamination.pictures import SIDE
from snellen.analysis.contamination.texts import Words, words
from snellen.core.benchmark import Benchmark
from snellen.core.sample import Sample
from snellen.errors import DataError, MediaError
from snellen.media import images
from snellen.media.content import Image, Slice, Video
from snellen.scoring import common_answer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXAMPLES = 2
THREADS = min(8, os.cpu_count() or 1)
"""The number of threads that decode pictures. Threads are useful because Pillow releases the
interpreter's lock while decoding."""
AT_ONCE = 256


@dataclass(frozen=True, kw_only=True)
class SampleContent:
    """The words and pictures of a sample."""

    id: str
    """The sample's id."""
    question: Words
    """The words of the question."""
    prompt: Words
    """The words of the prompt, with the question and the instructions; () if there is no
    question."""
    choices: frozenset[Words]
    """The words of each choice."""
    answer: Words
    """The words of the right answer; () if the answer is hidden."""
    letter: Words
    """The letter of the right choice; () if the answer is not a letter."""
    pictures: tuple[int, ...]
    """The indices of the sample's pictures in `Pictures`."""
    shows: bool
    """Whether the sample has pictures or a video, even unreadable ones."""
    cluster: str
    """The cluster of the sample."""
    together: str | None
    """The group of samples that repeat one question on purpose, with the choices in another order;
    None if the benchmark has no such groups."""


@dataclass(frozen=True, kw_only=True)
class BenchmarkContent:
    """The samples that were read from a benchmark."""

    name: str
    """The benchmark's name."""
    samples: list[SampleContent]
    """The samples."""
    videos: int
    """The number of samples with a video."""


class Troubles:
    """Collects counts and examples of unreadable data. The search continues without these data."""

    def __init__(self) -> None:
        self._n: dict[str, int] = {}
        self._examples: dict[str, list[str]] = {}

    def add(self, what: str, example: str) -> None:
        self._n[what] = self._n.get(what, 0) + 1
        examples = self._examples.setdefault(what, [])
        if len(examples) < EXAMPLES:
            examples.append(writable(example))

    def notes(self) -> list[str]:
        """`pictures that cannot be read: 3, such as ...`"""
        return [
            f"{what}: {n:,}, such as {'; '.join(self._examples[what])}"
            for what, n in self._n.items()
        ]


def writable(text: str) -> str:
    """Replace characters that UTF-8 cannot encode with `?`, since file names may contain any
    bytes."""
    return text.encode("utf-8", "replace").decode()


@dataclass
class Pictures:
    """All pictures, each stored once."""

    numbers: dict[str, int] = field(default_factory=dict)
    """Maps the digest of a picture's bytes to the picture's number."""
    _grays: list[NDArray[np.uint8]] = field(default_factory=list)

    def add(self, digest: str, gray: NDArray[np.uint8]) -> int:
        number = self.numbers.setdefault(digest, len(self.numbers))
        if number == len(self._grays):
            self._grays.append(gray)
        return number

    def grays(self) -> NDArray[np.uint8]:
        """The gray pixels of all pictures: (n, SIDE, SIDE)."""
        import numpy as np

        return np.stack(self._grays) if self._grays else np.zeros((0, SIDE, SIDE), np.uint8)


Thumbnail = tuple[str, "NDArray[np.uint8]"]
"""The digest of a picture, and its gray pixels (SIDE, SIDE)."""


def thumbnails(pictures: Iterable[Image], troubles: Troubles) -> Iterator[Thumbnail | None]:
    """Yield the thumbnails of pictures in order, or None for a picture that cannot be read."""
    with ThreadPoolExecutor(THREADS) as pool:
        left = iter(pictures)
        while block := list(islice(left, AT_ONCE)):
            for thumbnail in pool.map(_thumbnail, block):
                if isinstance(thumbnail, MediaError):
                    troubles.add("pictures that cannot be read", str(thumbnail))
                    yield None
                else:
                    yield thumbnail


def _thumbnail(image: Image) -> Thumbnail | MediaError:
    try:
        loaded = images.load(image)
        assert loaded.digest is not None
        return loaded.digest, images.gray(loaded, SIDE)
    except MediaError as error:
        return error


def read(
    benchmark: Benchmark,
    pictures: Pictures,
    troubles: Troubles,
    limit: int | None,
    say: Callable[[str], None],
) -> BenchmarkContent:
    """Read at most `limit` samples of a benchmark, and add their pictures to `pictures`.

    Raises:
        DataError: the benchmark has no rows, or a row cannot be read.
    """
    known: dict[object, int | None] = {}
    samples: list[SampleContent] = []
    videos = 0
    rows = map(benchmark.read, islice(iter(benchmark.data), limit))
    while block := [(sample, _media(benchmark, sample)) for sample in islice(rows, AT_ONCE)]:
        new = {
            _reference(item): item
            for _, media in block
            for item in media
            if isinstance(item, Image) and _reference(item) not in known
        }
        for reference, thumbnail in zip(new, thumbnails(new.values(), troubles), strict=True):
            known[reference] = None if thumbnail is None else pictures.add(*thumbnail)
        for sample, media in block:
            numbers = (known[_reference(item)] for item in media if isinstance(item, Image))
            videos += any(not isinstance(item, Image) for item in media)
            shown = tuple(dict.fromkeys(n for n in numbers if n is not None))
            prompt = _prompt(benchmark, sample, troubles)
            samples.append(_content_of(benchmark, sample, prompt, shown, shows=bool(media)))
        say(f"reading {benchmark.name}: {len(samples):,} samples")
        for reference in [key for key in new if isinstance(key, bytes)]:
            del known[reference]  # no need to keep bytes: equal pictures have equal digests
    if not samples:
        raise DataError(f"{benchmark.name}: {benchmark.data.where} has no rows.")
    return BenchmarkContent(name=benchmark.name, samples=samples, videos=videos)


def _reference(image: Image) -> object:
    source = image.source
    return (source.path, source.offset) if isinstance(source, Slice) else source


def _media(benchmark: Benchmark, sample: Sample) -> tuple[Image | Video, ...]:
    """The pictures and videos of a sample, including pictures that only the prompt contains."""
    if sample.media:
        return sample.media
    return tuple(image for message in benchmark.messages(sample) for image in message.images)


def _prompt(benchmark: Benchmark, sample: Sample, troubles: Troubles) -> Words:
    """The words of the last message of the sample's first request."""
    if not words(sample.question):
        return ()
    try:
        return words(benchmark.messages(sample)[-1].text)
    except MediaError as error:
        troubles.add("prompts that cannot be built, and were not searched for", str(error))
        return ()


def _content_of(
    benchmark: Benchmark,
    sample: Sample,
    prompt: Words,
    pictures: tuple[int, ...],
    *,
    shows: bool,
) -> SampleContent:
    answer, letter = _answer(sample)
    return SampleContent(
        id=sample.id,
        question=words(sample.question),
        prompt=prompt,
        choices=frozenset(filter(None, map(words, sample.choices))),
        answer=answer,
        letter=letter,
        pictures=pictures,
        shows=shows,
        cluster=benchmark.cluster_by(sample) if benchmark.cluster_by else sample.id,
        together=benchmark.procedure.together(sample) if benchmark.procedure.together else None,
    )


def _answer(sample: Sample) -> tuple[Words, Words]:
    """The words of the right answer, and its letter. If the answer is the letter of a choice, the
    words are the words of this choice."""
    right = common_answer(sample.target, sample.references)
    if right is None:
        return (), ()
    index = ascii_uppercase.find(right) if len(right) == 1 else -1
    if right not in sample.choices and 0 <= index < len(sample.choices):
        return words(sample.choices[index]), words(right)
    return words(right), ()
