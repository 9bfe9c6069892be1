"""TreeBench's boxes: those of a question, those in a reply, and how much they overlap.

The rules are those of Haochen-Wang409/TreeVGR@4823ad8860f13b5eac360bba592f7c3442c6e04c:
inference_treebench.py#L15-L74, and of VLMEvalKit's copy, vlmeval/dataset/image_mcq.py#L2984-L3062.
"""

import re
from collections.abc import Callable, Iterator

from snellen.core import BoxAnswer, Reading, Sample, Scoring, SeveralAnswers
from snellen.metrics import Metric, mean
from snellen.metrics.iou import iou
from snellen.text.literals import literal

Edges = tuple[float, float, float, float]
EDGES = re.compile(r"\[(\d{1,300}),(\d{1,300}),(\d{1,300}),(\d{1,300})\]")


def boxes_in_cell(cell: object) -> list[Edges]:
    """The boxes of a question, from the data set's field.

    Raises:
        ValueError: the field does not contain a list of boxes.
    """
    boxes = literal(cell) if isinstance(cell, str) else cell
    if not isinstance(boxes, list) or not all(map(is_box, boxes)):
        raise ValueError(f"target_instances is {str(cell)[:80]!r}, not a list of boxes")
    return boxes


def is_box(value: object) -> bool:
    """Whether a value is a list of four numbers."""
    return (
        isinstance(value, list)
        and len(value) == 4
        and all(isinstance(edge, int | float) for edge in value)
    )


def boxes_of(sample: Sample) -> list[Edges]:
    """The boxes of what a question is about."""
    boxes = sample.data["boxes"]
    assert isinstance(boxes, list)
    return [(left, top, right, bottom) for left, top, right, bottom in boxes]


def target_box(sample: Sample) -> Edges | None:
    """The smallest box around all boxes of a question."""
    if not (boxes := boxes_of(sample)):
        return None
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def boxes_in(text: str) -> Reading:
    """The boxes in a text that have a positive width and height."""
    matches = (EDGES.match(inner.strip()) for inner in between(text, "<box>", "</box>"))
    numbers = [[*map(float, match.groups())] for match in matches if match]
    boxes = tuple(
        BoxAnswer(left=left, top=top, right=right, bottom=bottom)
        for left, top, right, bottom in numbers
        if left < right and top < bottom
    )
    return Reading(
        answer=SeveralAnswers(answers=boxes) if boxes else None,
        rule="boxes" if boxes else "no box",
    )


def between(text: str, opening: str, closing: str) -> Iterator[str]:
    """The parts of a text from a mark to the next closing mark."""
    end = 0
    while (start := text.find(opening, end)) >= 0:
        start += len(opening)
        end = text.find(closing, start)
        if end < 0:
            return
        yield text[start:end]
        end += len(closing)


def thoughts(text: str) -> str:
    """The first text in <think>, or the whole text."""
    return next(between(text, "<think>", "</think>"), text)


def mean_overlap(reading: Reading, sample: Sample) -> float:
    """The mean of the largest overlaps with the boxes of a question."""
    boxes = boxes_of(sample)
    if not isinstance(reading.answer, SeveralAnswers) or not boxes:
        return 0.0
    answers = [
        (box.left, box.top, box.right, box.bottom)
        for box in reading.answer.answers
        if isinstance(box, BoxAnswer)
    ]
    return sum(max(iou(box, answer) for answer in answers) for box in boxes) / len(boxes)


def kit_overlap(reading: Reading, sample: Sample) -> float:
    """Like `mean_overlap`, but any box is right if the question has none (#L3007-L3008)."""
    return mean_overlap(reading, sample) if boxes_of(sample) else float(reading.answer is not None)


def overlap(
    source: str, text: Callable[[str], str], score: Callable[[Reading, Sample], float]
) -> Scoring:
    """A scoring of the boxes in a part of the reply."""
    return Scoring(
        version=1,
        source=source,
        parse=lambda reply, _: boxes_in(text(reply.text)),
        score=score,
        metrics={"mean_iou": Metric(mean, better="higher")},
        missing="wrong",
        partial=True,
    )
