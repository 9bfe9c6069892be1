"""Questions without their pictures: no picture, a gray one of the same size, or another's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import islice
from random import Random
from typing import Literal

from snellen.core.benchmark import Benchmark, vary, with_note
from snellen.core.prompts import IMAGE_MARK
from snellen.core.sample import Sample
from snellen.data import Seekable, rows_at
from snellen.errors import DataError, MediaError, UsageError
from snellen.media import images
from snellen.media.content import Image, Message, Part, Video

Blind = Literal["none", "blank", "other"]
Medium = Image | Video
Shows = Callable[[Sample, Sequence[Message]], Sequence[Message]]

GRAY = (128, 128, 128)
LOOKED_AT = 100
"""First rows that are checked for media, if only the prompts draw them."""
NOTES = {
    "none": "blind: asked without pictures; nothing stands in their place",
    "blank": "blind: asked with a gray picture in the place of each, of the same size",
    "other": "blind: asked with another question's pictures, never the same, in the place of its "
    "own (seed {seed})",
}
"""What reports note, by kind."""
CHANGES = {
    "none": "without pictures",
    "blank": "with gray pictures",
    "other": "with other questions' pictures",
}
"""How the questions are asked, by kind. Used in comparisons and in the option's help."""


def checked_blind(benchmark: Benchmark, kind: str, seed: int) -> Benchmark:
    """`blinded`, after a check that the benchmark allows it, with a note for the report.

    Raises:
        UsageError: the benchmark has no media, or it shows videos and `kind` is blank.
    """
    if kind == "blank" and benchmark.procedure.frames is not None:
        raise UsageError(
            f"--blind blank is for pictures, and {benchmark.name} shows videos. Use none or other."
        )
    rows = shown = 0
    for row in benchmark.data:
        rows += 1
        shown += bool(benchmark.read(row).media)
    if not shown and not _draws_something(benchmark):
        raise UsageError(f"--blind: {benchmark.data.where} has nothing to look at.")
    note = NOTES[kind].format(seed=seed)
    if 0 < shown < rows:
        note += (
            f"; {rows - shown:,} of {rows:,} rows show nothing anyway, and are asked as they are"
        )
    return with_note(blinded(benchmark, kind, seed), note)


def _draws_something(benchmark: Benchmark) -> bool:
    """Whether prompts of the first rows have media although the samples have none."""
    samples = map(benchmark.read, islice(benchmark.data, LOOKED_AT))
    return any(any(map(_media, benchmark.messages(sample))) for sample in samples)


def blinded(benchmark: Benchmark, kind: str, seed: int) -> Benchmark:
    """The benchmark without its pictures. For `other`, the rows are read at the first question."""
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
    """The text alone. Picture marks are removed too, because servers count them."""
    kept_messages = []
    for message in messages:
        parts = [IMAGE_MARK.sub("", part) for part in message.content if isinstance(part, str)]
        if _media(message) and not any(part.strip() for part in parts):
            raise DataError(
                f"--blind none leaves nothing to ask of sample {sample.id!r}: a message is only a "
                "picture. Use blank or other."
            )
        kept_messages.append(replace(message, content=tuple(filter(None, parts))))
    return kept_messages


def _gray(_: Sample, messages: Sequence[Message]) -> Sequence[Message]:
    def gray(medium: Medium) -> Medium:
        if isinstance(medium, Video):
            raise DataError(f"--blind blank is for pictures, and {medium.label} is a video.")
        shown = images.load(medium)
        assert shown.width is not None and shown.height is not None
        return Image(_blank(shown.width, shown.height), label="a gray picture")

    return _instead(messages, lambda _, medium: gray(medium))


@lru_cache(maxsize=256)
def _blank(width: int, height: int) -> bytes:
    from snellen.media.drawing import Canvas  # it needs numpy, which takes a while to import

    return Canvas(width, height, GRAY).png()


def _instead(
    messages: Sequence[Message], medium: Callable[[int, Medium], Medium]
) -> Sequence[Message]:
    """The messages with each medium replaced, by its number among all media. If one cannot be read,
    the messages stay unchanged: the request then reads it again and reports the error."""
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
    """Chooses whose pictures each question is shown. All distinct sets of media form a circle. The
    seed draws its order. Each question is shown the next set that shares no medium with its own."""

    def __init__(self, benchmark: Benchmark, seed: int) -> None:
        self._benchmark = benchmark
        self._seed = seed

    def instead(self, sample: Sample, messages: Sequence[Message]) -> Sequence[Message]:
        own = [medium for message in messages for medium in _media(message)]
        if not own or sample.id not in self._circle:
            return messages  # nothing to hide, or unreadable, which the request reports
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
        """Maps each sample id to the index of the row whose pictures it is shown.

        Raises:
            DataError: no other row has suitable media for some row.
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
        # Of all methods of Random, only random() is guaranteed to be stable across Python versions.
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
                    f"--blind other: no other readable row of {benchmark.data.where} can stand in "
                    f"for sample {name!r}. Its media must be of the same kind (pictures or videos) "
                    "and all different. Use none or blank."
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
        """The samples whose media are shown, if the data has no random access."""
        rows = rows_at(self._benchmark.data, self._circle.values())
        return {row.position: self._benchmark.read(row) for row in rows}


def may_stand_for(candidate: frozenset[str], shown: frozenset[str]) -> bool:
    """Whether two sets of media are disjoint, and the candidate has all kinds of the shown one."""
    kinds, wanted = ({name.partition(":")[0] for name in names} for names in (candidate, shown))
    return not candidate & shown and wanted <= kinds


def _name(medium: Medium) -> str:
    """Identifies a medium: a picture by its digest, a video by its file. Digesting all videos would
    take as long as asking."""
    if isinstance(medium, Video):
        return f"video:{medium.source}"
    return f"{images.load(medium).digest}"
