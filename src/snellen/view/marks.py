"""What the viewer draws over pictures: the right answer and the parsed answers, as layers of paths.

Answers are in pixels of the original picture, and so are the paths. A page scales both together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from msgspec.structs import replace

from snellen import registry
from snellen.core.answer import (
    Answer,
    BoxAnswer,
    IntervalAnswer,
    NamedAnswers,
    PointAnswer,
    PolygonAnswer,
    SeveralAnswers,
    answer_words,
)
from snellen.core.benchmark import Benchmark
from snellen.errors import SnellenError
from snellen.metrics.iou import iou
from snellen.scoring.replies import sample_of
from snellen.store import Question
from snellen.view._text import excerpt
from snellen.view.runs import Listed
from snellen.view.samples import SampleMedium, Story

Shape = BoxAnswer | PointAnswer | PolygonAnswer | IntervalAnswer
SHAPES = 200
"""The maximum number of shapes of an answer that are drawn."""
DEPTH = 8
"""The maximum depth of an answer within answers whose shapes are drawn."""
WORDS = 200
"""The maximum number of an answer's characters in a legend."""
RIGHT, KINDS = "right", "abcd"
"""The kinds of strokes: that of the right answer, and those of other answers in turn."""


class ParsedAnswer(NamedTuple):
    """An answer that a scoring parsed."""

    title: str
    """What the legend calls it: the scoring, or the model."""
    answer: Answer | None
    """The answer; None if there is none."""
    is_on: bool = True
    """Whether its layer is shown at first."""


@dataclass(frozen=True, kw_only=True)
class MarkLayer:
    """The shapes of one answer, which are shown and hidden together."""

    number: int
    """The layer's number on the page, from 1: the key that shows and hides it."""
    title: str
    """What the legend calls it: `right`, or names of scorings or models."""
    words: str
    """The answer as text."""
    agreement: str
    """How the answer agrees with the right one, such as `IoU 0.83`; empty for the right answer, and
    if the two cannot be compared."""
    is_on: bool
    """Whether the layer is shown at first."""
    shapes: tuple[Shape, ...]
    """The shapes. `medium` is the index of the picture or video on the page."""
    kind: str
    """The kind of stroke: `right` for the right answer, or `a` to `d`."""

    def paths(self, medium: int) -> list[str]:
        """The SVG paths over the picture with this index, in pixels of the original picture."""
        return [path(shape) for shape in self.shapes if shape.medium == medium and path(shape)]

    def intervals(self, medium: int) -> list[IntervalAnswer]:
        """The intervals of the video with this index."""
        return [
            shape
            for shape in self.shapes
            if isinstance(shape, IntervalAnswer) and shape.medium == medium
        ]

    def is_outside(self, medium: int, size: tuple[int, int] | None) -> bool:
        """Whether the layer has shapes over a picture of this size, and none of them touches it."""
        corners = [
            _bounds(shape)
            for shape in self.shapes
            if shape.medium == medium and not isinstance(shape, IntervalAnswer)
        ]
        if size is None or not corners:
            return False
        return all(
            right < 0 or bottom < 0 or left > size[0] or top > size[1]
            for left, top, right, bottom in corners
        )


def has_marks(drawn: Sequence[MarkLayer], medium: int) -> bool:
    """Whether a layer has a path over the picture with this index."""
    return any(layer.paths(medium) for layer in drawn)


class IntervalLines(NamedTuple):
    """The intervals of a video, a line for each answer."""

    start: float
    """The time at the left end of the lines, in seconds."""
    end: float
    """The time at their right end, in seconds."""
    lines: list[MarkLayer]
    """The answers that have intervals of this video."""

    def x(self, time: float) -> str:
        """The position of a time on a line, from 0 to 1000. Times outside are at an end."""
        share = (time - self.start) / (self.end - self.start)
        return _n(1000 * min(1.0, max(0.0, share)))


def right_answer(
    manifest: Mapping[str, Any], question: Question, benchmarks: Sequence[str | Benchmark] = ()
) -> Answer | None:
    """The right answer to a question as an object; None if the benchmark does not state it, or
    cannot be loaded without running code that only the run names."""
    try:
        benchmark = registry.supplied(benchmarks, manifest)
        if benchmark is None:
            if registry.runs_a_program(manifest):
                return None
            benchmark = registry.of_run(manifest)
        target = benchmark.presentation.target_answer
        return None if target is None else target(sample_of(question))
    except (SnellenError, LookupError, TypeError, ValueError, AttributeError):
        return None


def layers(
    question: Question, right: Answer | None, answers: Sequence[ParsedAnswer]
) -> list[MarkLayer]:
    """The layers of the right answer and of the parsed answers, for answers that have shapes. Equal
    answers share a layer."""
    on_page = _positions(question)
    shared: dict[Answer, list[ParsedAnswer]] = {}
    for parsed in answers:
        if parsed.answer is not None and any(shapes_of(parsed.answer)):
            shared.setdefault(parsed.answer, []).append(parsed)
    titled = [(RIGHT, right, True)] if right is not None else []
    for answer, group in shared.items():
        title = ", ".join(parsed.title for parsed in group)
        titled.append((title, answer, any(parsed.is_on for parsed in group)))
    drawn: list[MarkLayer] = []
    for position, (title, answer, is_on) in enumerate(titled):
        is_right = position == 0 and right is not None
        if shapes := tuple(_moved(shapes_of(answer), on_page)):
            drawn.append(
                MarkLayer(
                    number=len(drawn) + 1,
                    title=title,
                    words=excerpt(answer_words(answer), WORDS),
                    agreement="" if is_right else agreement(answer, right),
                    is_on=is_on,
                    shapes=shapes,
                    kind=RIGHT if is_right else KINDS[len(drawn) % len(KINDS)],
                )
            )
    return drawn


def sample_layers(
    run: Listed, story: Story, scoring: str, benchmarks: Sequence[str | Benchmark] = ()
) -> list[MarkLayer]:
    """The layers on the page of a sample: answers, and the parts that tools showed. At first, the
    answers of other scorings are hidden."""
    answers = [
        ParsedAnswer(result.scoring, result.typed, result.scoring == scoring)
        for result in story.results
    ]
    drawn = _with_right(run, story, answers, benchmarks)
    return drawn if story.question is None else [*drawn, *_excerpts(story.question, len(drawn))]


def _excerpts(question: Question, before: int) -> Iterator[MarkLayer]:
    """A layer for each picture that shows a part of another picture of the question: the box of the
    part. `before` is the number of other layers."""
    digests = [medium.digest for medium in question.media]
    for number, medium in enumerate(question.media):
        part = medium.excerpt
        if part is None or part.of not in digests:
            continue
        left, top, right, bottom = part.box
        before += 1
        yield MarkLayer(
            number=before,
            title=f"picture {number + 1}",
            words=f"shows {left}, {top} to {right}, {bottom}",
            agreement="",
            is_on=True,
            shapes=(
                BoxAnswer(
                    left=left, top=top, right=right, bottom=bottom, medium=digests.index(part.of)
                ),
            ),
            kind=KINDS[(before - 1) % len(KINDS)],
        )


def side_layers(
    runs: Sequence[Listed],
    stories: Sequence[Story | None],
    scoring: str,
    alike: bool,
    benchmarks: Sequence[str | Benchmark] = (),
) -> list[list[MarkLayer]]:
    """The layers for each of several runs side by side. If all of them were shown the same media
    (`alike`), each has the answers of all."""
    own = [
        [
            ParsedAnswer(run.model, result.typed)
            for result in (story.results if story else ())
            if result.scoring == scoring
        ]
        for run, story in zip(runs, stories, strict=True)
    ]
    every = [parsed for answers in own for parsed in answers]
    return [
        _with_right(run, story, every if alike else answers, benchmarks) if story else []
        for run, story, answers in zip(runs, stories, own, strict=True)
    ]


def _with_right(
    run: Listed,
    story: Story,
    answers: Sequence[ParsedAnswer],
    benchmarks: Sequence[str | Benchmark],
) -> list[MarkLayer]:
    if story.question is None:
        return []
    return layers(story.question, right_answer(run.manifest, story.question, benchmarks), answers)


def shapes_of(answer: Answer) -> list[Shape]:
    """The boxes, points, polygons, and intervals in an answer, at most `SHAPES`."""
    return [shape for shape, _ in zip(_shapes(answer, DEPTH), range(SHAPES), strict=False)]


def _shapes(answer: Answer, depth: int) -> Iterator[Shape]:
    match answer:
        case BoxAnswer() | PointAnswer() | IntervalAnswer():
            yield answer
        case PolygonAnswer(points=points) if points:
            yield answer
        case SeveralAnswers(answers=parts) if depth:
            for part in parts:
                yield from _shapes(part, depth - 1)
        case NamedAnswers(answers=parts_by_name) if depth:
            for part in parts_by_name.values():
                yield from _shapes(part, depth - 1)


def _positions(question: Question) -> dict[int, int]:
    """The index of each medium of the sample among the media on the page. They differ if the
    messages show other media too, such as those of examples. A sample without media of its own,
    such as one whose prompt draws the picture, has those of its messages."""
    if not question.sample_media:
        return {number: number for number in range(max(1, len(question.media)))}
    digests = [medium.digest for medium in question.media]
    return {
        number: digests.index(medium.digest)
        for number, medium in enumerate(question.sample_media)
        if medium.digest is not None and medium.digest in digests
    }


def _moved(shapes: Sequence[Shape], on_page: Mapping[int, int]) -> Iterator[Shape]:
    for shape in shapes:
        if shape.medium in on_page:
            yield replace(shape, medium=on_page[shape.medium])


def path(shape: Shape) -> str:
    """The path of a shape in SVG; empty for an interval. A point is a line without length, which
    has round ends.

    >>> path(BoxAnswer(left=1, top=2, right=3.5, bottom=4))
    'M1 2H3.5V4H1Z'
    """
    match shape:
        case BoxAnswer(left=left, top=top, right=right, bottom=bottom):
            return f"M{_n(left)} {_n(top)}H{_n(right)}V{_n(bottom)}H{_n(left)}Z"
        case PointAnswer(x=x, y=y):
            return f"M{_n(x)} {_n(y)}h0"
        case PolygonAnswer(points=points):
            return f"M{'L'.join(f'{_n(x)} {_n(y)}' for x, y in points)}Z"
    return ""


def _n(value: float) -> str:
    return f"{value:.8g}"


def agreement(answer: Answer, right: Answer | None) -> str:
    """How a single shape agrees with the right one: the IoU of boxes or intervals, whether a point
    is inside, or how far away it is. Empty if the two cannot be compared."""
    pair = shapes_of(answer), [] if right is None else shapes_of(right)
    if (len(pair[0]), len(pair[1])) != (1, 1):
        return ""
    mine, target = pair[0][0], pair[1][0]
    if mine.medium != target.medium:
        return "in another picture or video"
    match mine, target:
        case BoxAnswer(), BoxAnswer():
            return f"IoU {_or_zero(iou(_corners(mine), _corners(target))):.2f}"
        case IntervalAnswer(), IntervalAnswer():
            spans = (mine.start, 0.0, mine.end, 1.0), (target.start, 0.0, target.end, 1.0)
            return f"IoU {_or_zero(iou(*spans)):.2f}"
        case PointAnswer(x=x, y=y), PointAnswer(x=right_x, y=right_y):
            return f"{math.hypot(x - right_x, y - right_y):.1f} pixels away"
        case PointAnswer(x=x, y=y), BoxAnswer():
            left, top, right_edge, bottom = _corners(target)
            return "inside" if left <= x <= right_edge and top <= y <= bottom else "outside"
        case PointAnswer(x=x, y=y), PolygonAnswer(points=points):
            return "inside" if _is_inside(x, y, points) else "outside"
    return ""


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def _corners(box: BoxAnswer) -> tuple[float, float, float, float]:
    return box.left, box.top, box.right, box.bottom


def _is_inside(x: float, y: float, points: Sequence[tuple[float, float]]) -> bool:
    """Whether a point is in a polygon by the rule of even and odd crossings."""
    inside = False
    for (ax, ay), (bx, by) in zip(points, [*points[1:], points[0]], strict=True):
        if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
            inside = not inside
    return inside


def timeline(drawn: Sequence[MarkLayer], shown: SampleMedium) -> IntervalLines | None:
    """The intervals of a video; None if there are none."""
    lines = [layer for layer in drawn if layer.intervals(shown.number)]
    start = shown.medium.start or 0.0
    ends = [span.end for layer in lines for span in layer.intervals(shown.number)]
    end = shown.medium.end
    if end is None:
        end = max([*ends, *shown.frames[-1:]], default=start)
    return IntervalLines(start, end, lines) if lines and end > start else None


def _bounds(shape: Shape) -> tuple[float, float, float, float]:
    match shape:
        case BoxAnswer(left=left, top=top, right=right, bottom=bottom):
            return min(left, right), min(top, bottom), max(left, right), max(top, bottom)
        case PointAnswer(x=x, y=y):
            return x, y, x, y
        case PolygonAnswer(points=points):
            xs, ys = zip(*points, strict=True)
            return min(xs), min(ys), max(xs), max(ys)
    return 0.0, 0.0, 0.0, 0.0
