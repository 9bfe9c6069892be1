"""Asks questions without their pictures: with no picture, with a gray picture of the same size, or
with another question's picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import islice
from random import Random

from snellen.core.benchmark import Benchmark, vary, with_note
from snellen.core.prompts import IMAGE_MARK
from snellen.core.sample import Sample
from snellen.data import Seekable, rows_at
from snellen.errors import DataError, MediaError, UsageError
from snellen.media import images
from snellen.media.content import Image, Message, Part, TimedText, Video

Medium = Image | Video
Shows = Callable[[Sample, Sequence[Message]], Sequence[Message]]

GRAY = (128, 128, 128)
LOOKED_AT = 100
"""If no sample has media of its own, the prompts of this many rows are checked for media."""
NOTES = {
    "none": "blind: asked without pictures; nothing replaces them",
    "blank": "blind: each picture is replaced by a gray picture of the same size",
    "other": "blind: each question is asked with the pictures of another question, which differ "
    "from its own (seed {seed})",
}
"""The note in reports, for each kind of blind run."""


def checked_blind(benchmark: Benchmark, kind: str, seed: int) -> Benchmark:
    """Apply `blinded` to a benchmark after checking that it allows the probe, and add a note for
    the report.

    Raises:
        UsageError: the benchmark has no media, or `kind` is `blank` and the benchmark shows videos.
    """
    if kind == "blank" and benchmark.procedure.frames is not None:
        raise UsageError(
            f"--blind blank is only for pictures, but {benchmark.name} shows videos. Use none or "
            "other."
        )
    rows = shown = 0
    for row in benchmark.data:
        rows += 1
        shown += bool(benchmark.read(row).media)
    if not shown and not _draws_something(benchmark):
        raise UsageError(
            f"--blind: {benchmark.data.where} has no pictures or videos to hide. Leave out --blind."
        )
    note = NOTES[kind].format(seed=seed)
    if 0 < shown < rows:
        note += f"; {rows - shown:,} of {rows:,} rows show nothing anyway, and are asked unchanged"
    return with_note(blinded(benchmark, kind, seed), note)


def _draws_something(benchmark: Benchmark) -> bool:
    """Return whether the prompts of the first rows contain media, although the samples have
    none."""
    samples = map(benchmark.read, islice(benchmark.data, LOOKED_AT))
    return any(any(map(_media, benchmark.messages(sample))) for sample in samples)


def blinded(benchmark: Benchmark, kind: str, seed: int) -> Benchmark:
    """Return the benchmark without its pictures. For the kind `other`, all rows are read when the
    first question is asked."""
    hides: Mapping[str, Shows] = {
        "none": _nothing,
        "blank": _gray,
        "other": _Others(benchmark, seed).instead,
    }
    return vary(
        benchmark,
        prompt=lambda sample, history: tuple(
            hides[kind](sample, benchmark.messages(sample, history))
        ),
        probe={"blind": kind, **({"seed": seed} if kind == "other" else {})},
    )


def _media(message: Message) -> list[Medium]:
    return [part for part in message.content if not isinstance(part, str)]


def _nothing(sample: Sample, messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages without media. Picture marks are also removed from the text, because
    servers expect a picture for each mark."""
    kept_messages = []
    for message in messages:
        parts = [
            part if isinstance(part, TimedText) else IMAGE_MARK.sub("", part)
            for part in message.content
            if isinstance(part, str)
        ]
        if _media(message) and not any(part.strip() for part in parts):
            raise DataError(
                f"--blind none leaves nothing to ask for sample {sample.id!r}, because one of its "
                "messages is only a picture. Use blank or other."
            )
        kept_messages.append(replace(message, content=tuple(filter(None, parts))))
    return kept_messages


def _gray(_: Sample, messages: Sequence[Message]) -> Sequence[Message]:
    def gray(medium: Medium) -> Medium:
        if isinstance(medium, Video):
            raise DataError(
                f"--blind blank is only for pictures, but {medium.label} is a video. Use none or "
                "other."
            )
        shown = images.load(medium)
        assert shown.width is not None and shown.height is not None
        return Image(_blank(shown.width, shown.height), label="a gray picture")

    return _instead(messages, lambda _, medium: gray(medium))


@lru_cache(maxsize=256)
def _blank(width: int, height: int) -> bytes:
    from snellen.media.drawing import Canvas  # imports numpy, which is slow

    return Canvas(width, height, GRAY).png()


def _instead(
    messages: Sequence[Message], medium: Callable[[int, Medium], Medium]
) -> Sequence[Message]:
    """Replace each picture or video in the messages with the result of the function `medium`. The
    function's arguments are the index of the picture or video among all media, and the picture or
    video itself. If a picture or video cannot be read, the messages stay unchanged, and the request
    reports the error when it reads the file again."""
    number = 0
    new_messages = []
    try:
        for message in messages:
            parts: list[Part] = []
            for part in message.content:
                if isinstance(part, str):
                    parts.append(part)
                else:
                    parts.append(medium(number, part))
                    number += 1
            new_messages.append(replace(message, content=tuple(parts)))
    except MediaError:
        return messages
    return new_messages


class _Others:
    """Chooses another question's media for each question. All distinct sets of media form a circle
    in random order. Each question gets the next set in the circle that has no picture or video in
    common with the question's own set."""

    def __init__(self, benchmark: Benchmark, seed: int) -> None:
        self._benchmark = benchmark
        self._seed = seed

    def instead(self, sample: Sample, messages: Sequence[Message]) -> Sequence[Message]:
        own = [medium for message in messages for medium in _media(message)]
        if not own or sample.id not in self._circle:
            return messages  # there is nothing to hide, or the request will report the bad picture
        other = self._sample(self._circle[sample.id])
        media = [
            medium for message in self._benchmark.messages(other) for medium in _media(message)
        ]

        def others(number: int, medium: Medium) -> Medium:
            alike = [candidate for candidate in media if isinstance(candidate, type(medium))]
            return alike[number % len(alike)]

        return _instead(messages, others)

    @cached_property
    def _circle(self) -> Mapping[str, int]:
        """Maps each sample id to the index of the row whose pictures replace the sample's own.

        Raises:
            DataError: for some row, no other row has suitable media.
        """
        benchmark = self._benchmark
        own: dict[str, frozenset[str]] = {}
        first: dict[frozenset[str], int] = {}
        for row in benchmark.data:
            sample = benchmark.read(row)
            try:
                shown = frozenset(map(_name, self._media_of(sample)))
            except MediaError:
                continue
            if shown:
                own[sample.id] = shown
                first.setdefault(shown, row.position)
        draw = Random(f"{self._seed} {benchmark.name}").random
        # Only random() is guaranteed to give the same numbers in all versions of Python.
        around = sorted(first, key=lambda _: draw())
        after: dict[frozenset[str], int] = {}
        for position, shown in enumerate(around):
            following = (around[position - back] for back in range(len(around) - 1, 0, -1))
            other = next(
                (candidate for candidate in following if may_stand_for(candidate, shown)), None
            )
            if other is None:
                name = next(name for name, media in own.items() if media == shown)
                raise DataError(
                    f"--blind other: no other row of {benchmark.data.where} has media that can "
                    f"replace those of sample {name!r}. The other row's media must be readable, of "
                    "the same kind (pictures or videos), and all different from the sample's own. "
                    "Use none or blank."
                )
            after[shown] = first[other]
        return {name: after[shown] for name, shown in own.items()}

    def _media_of(self, sample: Sample) -> Sequence[Medium]:
        if sample.media:
            return sample.media
        return [
            medium for message in self._benchmark.messages(sample) for medium in _media(message)
        ]

    def _sample(self, row_index: int) -> Sample:
        data = self._benchmark.data
        if isinstance(data, Seekable) and data.seeks:
            return self._benchmark.read(data.at(row_index))
        return self._kept[row_index]

    @cached_property
    def _kept(self) -> Mapping[int, Sample]:
        """The samples whose media replace the media of other samples. These samples are read only
        if the data does not support random access."""
        rows = rows_at(self._benchmark.data, self._circle.values())
        return {row.position: self._benchmark.read(row) for row in rows}


def may_stand_for(candidate: frozenset[str], shown: frozenset[str]) -> bool:
    """Return whether the media of `candidate` can replace those of `shown`. The two sets must be
    disjoint, and `candidate` must have all kinds of media that `shown` has."""
    kinds, wanted = ({name.partition(":")[0] for name in names} for names in (candidate, shown))
    return not candidate & shown and wanted <= kinds


def _name(medium: Medium) -> str:
    """Return a text that identifies a picture by its digest or a video by its path. Computing the
    digests of all videos would take as long as asking the questions."""
    if isinstance(medium, Video):
        return f"video:{medium.source}"
    return f"{images.load(medium).digest}"
