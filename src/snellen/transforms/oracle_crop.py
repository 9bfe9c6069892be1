"""Asks questions with the part of the picture that they are about, in addition to the picture: the
score that a model could reach if it always zoomed into the right part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from snellen.core.benchmark import Benchmark, vary, with_note
from snellen.core.sample import Sample
from snellen.errors import MediaError, UsageError
from snellen.media import images
from snellen.media.content import Image, Message
from snellen.media.views import MAX_PIXELS
from snellen.tools.zoom import SMALLEST

Box = tuple[int, int, int, int]
CAPTION = "The last picture shows the part of the first picture that the question is about."
MARGIN = 0.25
"""The margin around the target, as a share of the shorter side of its box."""
NOTE = "oracle crop: each question also shows the part of the picture that it is about"


def checked_oracle_crop(benchmark: Benchmark) -> Benchmark:
    """Apply `oracle_crop` to a benchmark whose data have boxes, and add a note for the report.

    Raises:
        UsageError: no question has a box.
    """
    target_box = benchmark.presentation.target_box
    samples = () if target_box is None else map(benchmark.read, benchmark.data)
    boxes = [target_box and target_box(sample) for sample in samples]
    without = sum(box is None for box in boxes)
    if without == len(boxes):
        raise UsageError(
            f"--oracle-crop: {benchmark.data.where} has no boxes that show where to look. Leave "
            "out --oracle-crop."
        )
    note = NOTE
    if without:
        note += f"; {without:,} of {len(boxes):,} rows have no box, and are asked unchanged"
    return with_note(oracle_crop(benchmark), note)


def oracle_crop(benchmark: Benchmark) -> Benchmark:
    """Return the benchmark with the crop of the target's box at the end of each question."""
    return vary(
        benchmark,
        prompt=lambda sample, history: _with_crop(
            benchmark, sample, benchmark.messages(sample, history)
        ),
        probe={"oracle_crop": True},
    )


def _with_crop(
    benchmark: Benchmark, sample: Sample, messages: Sequence[Message]
) -> tuple[Message, ...]:
    """Add the crop to the first message that shows a picture. If the picture cannot be read, the
    messages stay unchanged, and the request reports the error when it reads the picture again."""
    target_box = benchmark.presentation.target_box
    box = None if target_box is None else target_box(sample)
    changed = [*messages]
    for number, message in enumerate(messages):
        if box is None or not message.images:
            continue
        try:
            crop = _crop(message.images[0], box)
        except MediaError:
            break
        changed[number] = replace(message, content=(*message.content, CAPTION, crop))
        break
    return tuple(changed)


def _crop(image: Image, target: tuple[float, float, float, float]) -> Image:
    """The pixels of the original around a box, at least 28 x 28 if the picture has them."""
    source = images.load(image)
    width, height = images.upright_size(source)
    left, top, right, bottom = target
    margin = MARGIN * min(right - left, bottom - top)
    x1, x2 = _range(left - margin, right + margin, width)
    y1, y2 = _range(top - margin, bottom + margin, height)
    return images.part(source, (x1, y1, x2, y2), 0, max_pixels=MAX_PIXELS)


def _range(start: float, end: float, length: int) -> tuple[int, int]:
    """A range of pixels from 0 to `length` that contains an interval, and is not too short."""
    missing = max(0.0, SMALLEST - (end - start)) / 2
    first = min(max(0, int(start - missing)), length - 1)
    last = max(min(length, -int(-(end + missing) // 1)), first + 1)
    return first, last
