"""Boxes and words in boxes, as OCRBench v2 reads and compares them.

Yuliang-Liu/MultimodalOCR@794c36d6423cf1d5764081128bcaeb46b240def6:OCRBench_v2/eval_scripts/
IoUscore_metric.py, spotting_metric.py, and spotting_eval/script.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from snellen.text.literals import literal

BOX = re.compile(r"[(\[]\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*[)\]]")
SPECIAL = "!?.:,*\"()·[]/'"


def overlap(box: Sequence[Any], other: Sequence[Any]) -> float:
    """The IoU of boxes with whole numbers, 0 if a number cannot be read.
    IoUscore_metric.py#L8-L30."""
    try:
        (x1, y1, x2, y2), (left, top, right, bottom) = (
            [int(number) for number in [*corners][:4]] for corners in (box, other)
        )
    except (TypeError, ValueError, OverflowError):
        return 0.0
    width, height = min(x2, right) - max(x1, left), min(y2, bottom) - max(y1, top)
    shared = max(0, width) * max(0, height)
    union = (x2 - x1) * (y2 - y1) + (right - left) * (bottom - top) - shared
    return shared / union if union else 0.0


Word = tuple[tuple[int, int, int, int], str]


def bounds(corners: Sequence[Any]) -> tuple[int, int, int, int]:
    xs, ys = [int(x) for x in corners[0::2]], [int(y) for y in corners[1::2]]
    return min(xs), min(ys), max(xs), max(ys)


def covered(box: Sequence[int], other: Sequence[int]) -> float:
    """The share of a box that is inside another one."""
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    return max(0, width) * max(0, height) / ((box[2] - box[0]) * (box[3] - box[1]))


def unquoted(word: str) -> str:
    """A word as ICDAR's files have it, without the double quotes around it."""
    word = word.replace("\r", "")
    match = re.fullmatch(r'\s*"(.*)"\s*', word)
    return match[1].replace("\\\\", "\\").replace('\\"', '"') if match else word


def same_word(right: str, word: str) -> bool:
    """Whether words are equal, with or without a special character at each end of the right one."""
    if not right:
        return not word
    start, end = right[0] in SPECIAL, right[-1] in SPECIAL
    return (
        word == right
        or (start and word == right[1:])
        or (end and word == right[:-1])
        or (start and end and word == right[1:-1])
    )


def words_of(text: str) -> list[Word]:
    """The boxes and texts of a reply, each once: a Python list, or else texts in brackets
    (spotting_metric.py#L12-L106)."""
    items: Sequence[Any]
    try:
        value = literal(text)
        items = value if isinstance(value, list | tuple) else ()
    except ValueError:
        groups = re.findall(r"[\[(]([^\[\]()]*)[\])]", text)
        items = [group.strip().split(",", 4) for group in groups]
    words: dict[Word, None] = {}
    for item in items:
        if not isinstance(item, list | tuple) or len(item) < 5:
            continue
        try:
            x1, y1, x2, y2 = (int(str(number).strip()) for number in item[:4])
        except ValueError:
            continue
        if all(0 <= number <= 1000 for number in (x1, y1, x2, y2)):
            word = str(item[4]).replace("\n", "").strip().strip('"').strip("'")
            words[(x1, y1, x2, y2), word] = None
    return [*words]


def last_box(text: str) -> list[int]:
    """The last box whose numbers are at most 1000. Empty if there is none."""
    boxes = [
        [int(number) for number in match.groups()]
        for match in BOX.finditer(text)
        if all(len(number) <= 100 and int(number) <= 1000 for number in match.groups())
    ]
    return boxes[-1] if boxes else []


def spotted(text: str, boxes: Sequence[Sequence[Any]], content: Sequence[object]) -> float:
    """ICDAR's end-to-end harmonic mean at an IoU above 0.5."""
    pairs = zip(boxes, content, strict=False)
    rights = [(bounds(corners), unquoted(str(word))) for corners, word in pairs]
    words = [
        (box, unquoted(word)) for box, word in words_of(text) if box[0] < box[2] and box[1] < box[3]
    ]
    ignored = [box for box, word in rights if word == "###"]
    free = [word for word in words if not any(covered(word[0], box) > 0.5 for box in ignored)]
    cared = [right for right in rights if right[1] != "###"]
    hits, rest = 0, [*free]
    for box, right in cared:
        match = next((word for word in rest if overlap(word[0], box) > 0.5), None)
        if match is not None:
            rest.remove(match)
            hits += same_word(right.upper(), match[1].upper())
    recall = hits / len(cared) if cared else 0.0
    precision = hits / len(free) if free else 0.0
    return 2 * precision * recall / (precision + recall) if hits else 0.0
