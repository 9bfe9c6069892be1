"""Shared by benchmarks whose answers are boxes or points: coordinates, and other toolkits' rules.

Scorers of these benchmarks compare shares of the picture's width and height. A reading has pixels
of the original picture. `pixel` chooses pixels that give exactly the same share again, so that a
point on the edge of a box stays on the edge.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from snellen.answers.places import Places, single_answer
from snellen.benchmarks.families.authors_files import texts
from snellen.core import BoxAnswer, PointAnswer, Reading, Reply, Sample, Scoring
from snellen.core.coordinates import Convention, Coordinates, CoordinateUse
from snellen.core.coordinates import pixel as pixel
from snellen.errors import DataError
from snellen.media.content import Image, Message, system, user
from snellen.media.images import sized
from snellen.metrics import Columns, Metric, mean, metric
from snellen.metrics.iou import iou
from snellen.stats import Estimate
from snellen.text.literals import literal

Point = tuple[float, float]
Box = tuple[float, float, float, float]
Parse = Callable[[Reply, Sample], Reading]
Score = Callable[[Reading, Sample], float]

EVALSCOPE = "modelscope/evalscope@fde259d2:evalscope/benchmarks"
NO_BOX: Box = (0.0, 0.0, 0.0, 0.0)
"""The box of a reply without a box in toolkits that score it all the same."""
NO_POINT = "no point"
NOT_FINITE = "a number is not finite"
WRONG_FORMAT = "not a number"

_NUMBER = r"-?\d+(?:\.\d+)?%?"
_BOX_OPENED = re.compile(r"<\s*bbox[^>]*>", re.IGNORECASE)
_BOX_CLOSED = re.compile(r"<\s*/\s*bbox\s*>", re.IGNORECASE)
_PAIR = re.compile(rf"[\[(]\s*({_NUMBER})\s*[,\s]\s*({_NUMBER})\s*[\])]")
_X = re.compile(rf"x['\"]?\s*[:=]\s*({_NUMBER})", re.IGNORECASE)
_Y = re.compile(rf"y['\"]?\s*[:=]\s*({_NUMBER})", re.IGNORECASE)
_NEAR_X_AND_Y = re.compile(
    rf"x['\"]?\s*[:=]\s*({_NUMBER})[^\d-]*?['\"]?y['\"]?\s*[:=]\s*({_NUMBER})",
    re.IGNORECASE | re.DOTALL,
)
_CLICK = re.compile(r"x=([\d.]+), y=([\d.]+)")

CLICK_SYSTEM = (
    "You are a GUI agent. You are given a task and a screenshot of the screen. You need to perform "
    "pyautogui click/moveTo action to complete the task. The answer format is "
    "`pyautogui.click(x=?, y=?), x and y is necessary`"
)
CLICK = "Please complete the following tasks by clicking using `pyautogui.click`:\n{}"
RELATIVE_POINT = (
    "Identify the UI element for the instruction and output exactly one click point as [x, y] in "
    "normalized coordinates within [0, 1]. Do not output a bounding box.\nInstruction: {}"
)


def click_prompt(sample: Sample) -> tuple[Message, ...]:
    """VLMEvalKit's prompt for a click (GUI/screenspot.py#L36-L38, #L228-L252)."""
    return system(CLICK_SYSTEM), user(*sample.media, CLICK.format(sample.question))


# -- samples


def numbers(value: object, count: int, field: str) -> tuple[float, ...]:
    """Return the numbers in a cell that contains a list, or a text of a list, as in a TSV.

    Raises:
        ValueError: the cell does not contain this many numbers.
    """
    items: Any = value
    if isinstance(value, str):
        items = literal(value) if value.startswith(("[", "(")) else texts(value)
    is_list = isinstance(items, list | tuple) and len(items) == count
    if not is_list or not all(isinstance(item, int | float) for item in items):
        raise ValueError(f"{field} must be a list of {count} numbers, not {value!r}")
    return tuple(items)


def corners(box: Sequence[float]) -> Box:
    """Convert (left, top, width, height) to (left, top, right, bottom)."""
    left, top, width, height = box
    return left, top, left + width, top + height


def size_of(sample: Sample) -> tuple[int, int]:
    """Return the width and height of the sample's picture: `Sample.data["size"]`, or else the size
    in the picture's file.

    Raises:
        DataError: the size is not known, because the picture is missing or damaged.
    """
    size: Any = sample.data.get("size")
    if size is None:
        picture = sample.media[0]
        size = picture.size or (sized(picture).size if isinstance(picture, Image) else None)
    if size is None:
        raise DataError(
            f"sample {sample.id}: the size of its picture is unknown, so its coordinates cannot be "
            f"scored. Make sure that the data folder has the picture {sample.media[0].label}."
        )
    return size[0], size[1]


def box_of(sample: Sample) -> Box:
    """Return the reference box of a sample, in pixels."""
    box: Any = sample.data["box"]
    return box[0], box[1], box[2], box[3]


def target_box(sample: Sample) -> BoxAnswer:
    """Return the reference box as an answer, as `Presentation.target_answer` does."""
    left, top, right, bottom = box_of(sample)
    return BoxAnswer(left=left, top=top, right=right, bottom=bottom)


def of_size(box: Sequence[float], size: Sequence[int]) -> Box:
    """Convert a box from pixels to shares of the picture's width and height."""
    (left, top, right, bottom), (width, height) = box, size
    return left / width, top / height, right / width, bottom / height


# -- readings


def point(x: float, y: float, sample: Sample, rule: str) -> Reading:
    """Create the reading of a point whose coordinates are shares of the picture's size."""
    width, height = size_of(sample)
    return point_in_pixels(pixel(x, width), pixel(y, height), rule)


def point_in_pixels(x: float, y: float, rule: str) -> Reading:
    """Create the reading of a point in pixels."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return Reading(answer=None, rule=NOT_FINITE)
    return Reading(answer=PointAnswer(x=x, y=y), rule=rule)


def box(pixels: Sequence[float], rule: str) -> Reading:
    """Create the reading of a box in pixels."""
    if not all(map(math.isfinite, pixels)):
        return Reading(answer=None, rule=NOT_FINITE)
    left, top, right, bottom = map(float, pixels)
    return Reading(answer=BoxAnswer(left=left, top=top, right=right, bottom=bottom), rule=rule)


def shares(reading: Reading, sample: Sample) -> Point | None:
    """Return the point of a reading as shares of the picture's size."""
    if not isinstance(reading.answer, PointAnswer):
        return None
    width, height = size_of(sample)
    return reading.answer.x / width, reading.answer.y / height


def pixels_of(reading: Reading) -> Box | None:
    """Return the box of a reading in pixels."""
    answer = reading.answer
    if not isinstance(answer, BoxAnswer):
        return None
    return answer.left, answer.top, answer.right, answer.bottom


def inside(at: Point | None, area: Box) -> float:
    """Return 1.0 if a point is in a box or on its edge, and 0.0 otherwise."""
    return float(at is not None and area[0] <= at[0] <= area[2] and area[1] <= at[1] <= area[3])


def in_box(reading: Reading, sample: Sample) -> float:
    """Score a point by the sample's box. Both are compared as shares of the picture's size."""
    return inside(shares(reading, sample), of_size(box_of(sample), size_of(sample)))


# -- rules of other toolkits


def lmms_eval_point(text: str) -> tuple[Point, str] | None:
    """Parse a point as lmms-eval does in its tasks screenspot_v2, screenspot_pro, and osworld_g
    (screenspot_v2/utils.py#L30-L61). Return the numbers as they stand, and the rule's name."""
    tagged = next(_tagged_boxes(text), None)
    if tagged is not None and (middle := _center(re.findall(_NUMBER, tagged))):
        return middle, "center of tagged box"
    if pair := _PAIR.search(text):
        return (_value(pair[1]), _value(pair[2])), "pair in brackets"
    if (x := _X.search(text)) and (y := _Y.search(text, x.end())):
        return (_value(x[1]), _value(y[1])), "x and y"
    every = re.findall(_NUMBER, text)
    lower = text.lower()
    if any(word in lower for word in ("box", "rect")) and (middle := _center(every)):
        return middle, "center of four numbers"
    if len(every) >= 2:
        return (_value(every[0]), _value(every[1])), "first two numbers"
    return None


def evalscope_point(text: str, *, strict: bool = False) -> Point | None:
    """Parse the last point of a text as EvalScope does (screenspot_pro/utils.py#L68-L109). With
    `strict`, only a tagged box and a pair in brackets count."""
    tagged = [*_tagged_boxes(text)][-1:]
    if tagged and (middle := _center(re.findall(_NUMBER, tagged[0]))):
        return middle
    pairs = _PAIR.findall(text)
    if not pairs and not strict:
        pairs = _NEAR_X_AND_Y.findall(text) or [re.findall(_NUMBER, text)[-2:]]
    if not pairs or len(pairs[-1]) < 2:
        return None
    return _value(pairs[-1][0]), _value(pairs[-1][1])


def _tagged_boxes(text: str) -> Iterator[str]:
    """The contents of <bbox> tags up to their ends, in linear time: if a tag has no end, no later
    tag has one."""
    end, position = text.rfind(">") + 1, 0
    while opened := _BOX_OPENED.search(text, position, end):
        closed = _BOX_CLOSED.search(text, opened.end())
        if closed is None:
            return
        yield text[opened.end() : closed.start()]
        position = closed.end()


def parse_as_lmms_eval(reply: Reply, sample: Sample) -> Reading:
    """Parse lmms-eval's point. If a coordinate is over 1, both are pixels."""
    result = lmms_eval_point(reply.text)
    if result is None:
        return Reading(answer=None, rule=NO_POINT)
    (x, y), rule = result
    return point(*_shares_if_large(x, y, sample), sample, rule)


def parse_click(reply: Reply, sample: Sample) -> Reading:
    """Parse VLMEvalKit's click (GUI/screenspot.py#L44-L50, #L384-L387). If a coordinate is over 1,
    both are pixels."""
    return _click(reply, sample, partial(_shares_if_large, sample=sample))


def parse_click_in_thousandths(reply: Reply, sample: Sample) -> Reading:
    """Parse VLMEvalKit's click in thousandths (GUI/osworld_g.py#L341-L344)."""
    return _click(reply, sample, lambda x, y: (x / 1000, y / 1000))


def _click(reply: Reply, sample: Sample, scaled: Callable[[float, float], Point]) -> Reading:
    """Parse a click. A reply without a click is a click at (0, 0), which is right for a box in that
    corner."""
    click = _CLICK.search(reply.text)
    try:
        x, y = map(float, click.groups()) if click else (0.0, 0.0)
    except ValueError:
        return Reading(answer=None, rule=WRONG_FORMAT)
    return point(*scaled(x, y), sample, "click" if click else "no click, taken as (0, 0)")


def score_click(reading: Reading, sample: Sample, less: int = 1) -> float:
    """Score VLMEvalKit's click (GUI/screenspot.py#L357-L390). The right and bottom edges are `less`
    pixels less than those of the box, and an edge at -1 is moved to 0.

    VLMEvalKit stops at a box that is not within the picture. We score such a sample.
    """
    left, top, right, bottom = box_of(sample)
    edges = [0 if edge == -1 else edge for edge in (left, top, right - less, bottom - less)]
    return inside(shares(reading, sample), of_size(edges, size_of(sample)))


def _shares_if_large(x: float, y: float, sample: Sample) -> Point:
    """Divide pixels by the picture's size. If no coordinate is over 1, both are shares."""
    if x > 1 or y > 1:
        width, height = size_of(sample)
        return x / width, y / height
    return x, y


def _value(text: str) -> float:
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def _center(texts_of_numbers: Sequence[str]) -> Point | None:
    if len(texts_of_numbers) < 4:
        return None
    return center([*map(_value, texts_of_numbers[:4])])


# -- our own rule

PIXELS = Coordinates(convention="pixels-original")


def robust_target(reply: Reply, sample: Sample, coordinates: Coordinates = PIXELS) -> Reading:
    """Parse the only box or point of a reply, in any maker's form. Its numbers are in the given
    coordinates."""
    result = single_answer(reply.text)
    if not result.answers:
        return Reading(answer=None, rule=result.rule)
    converted, fault = in_pixels(result, reply, sample, coordinates)
    if fault:
        return Reading(answer=None, rule=f"{result.rule}: {fault}")
    (values,) = converted
    if len(values) == 4:
        return box(values, result.rule)
    return point_in_pixels(values[0], values[1], result.rule)


def in_pixels(
    result: Places,
    reply: Reply,
    sample: Sample,
    coordinates: Coordinates,
    size: tuple[int, int] | None = None,
) -> tuple[list[tuple[float, ...]], str]:
    """Convert the boxes and points in a reply to pixels of the original picture.

    Args:
        result: The boxes and points, whose numbers are in `coordinates`.
        reply: The reply, which has the size of the picture as it was sent.
        sample: The sample.
        coordinates: The coordinates of the numbers.
        size: The width and height of the original picture; None: those of the sample's picture.

    Returns:
        The boxes and points, and the reason why the numbers cannot be in these coordinates. If
        there is a reason, there are no boxes and points; otherwise, the reason is empty.

    Raises:
        DataError: the size of the picture is needed, and is not known. Pixels of the original
            picture are compared with its size only if the size is known.
    """
    has_size = size or "size" in sample.data or any(picture.size for picture in sample.media)
    if has_size or coordinates.convention != "pixels-original":
        original = size or size_of(sample)
        extent = coordinates.extent(original, sent_size(reply, sample) or original)
    else:
        original, extent = (1, 1), (math.inf, math.inf)
    converted = []
    for answer in result.answers:
        values = answer if result.states_axes else coordinates.ordered(answer)
        if fault := coordinates.fault(values, extent):
            return [], fault
        converted.append(coordinates.pixels(values, extent, original))
    return converted, ""


def sent_size(reply: Reply, sample: Sample) -> tuple[int, int] | None:
    """The width and height, in pixels, at which the sample's picture was sent; None if they are not
    known. The pictures of few-shot examples come before those of the sample. A sample without media
    has one picture, which its prompt draws."""
    n = len(sample.media) or 1
    scaled = reply.sizes[-n] if reply.sizes and len(reply.sizes) >= n else None
    return scaled or (sample.media[0].size if sample.media else None)


def robust_in_box(reading: Reading, sample: Sample) -> float:
    """Whether the point, or the center of the box, is in the sample's box or on its edge."""
    corners_of_box = pixels_of(reading)
    if corners_of_box is not None:
        return inside(center(corners_of_box), box_of(sample))
    if isinstance(reading.answer, PointAnswer):
        return inside((reading.answer.x, reading.answer.y), box_of(sample))
    return 0.0


def robust_iou(reading: Reading, sample: Sample) -> float:
    """The IoU of the box with the sample's box. A point has none."""
    overlap = iou(pixels_of(reading) or NO_BOX, box_of(sample))
    return 0.0 if math.isnan(overlap) else overlap


# -- scorings


@metric(better="lower", unit="fraction")
def wrong_format(columns: Columns) -> Estimate:
    """The share of replies from which no answer was parsed."""
    import numpy as np

    unparsed = np.array([answer is None for answer in columns.answer], dtype=np.float64)
    return mean(replace(columns, score=unparsed))


ACCURACY = {"accuracy": Metric(mean, better="higher")}


def places(source: str, parse: Parse, score: Score, **changes: Any) -> Scoring:
    """Create a scoring whose scores are 0 or 1, or shares."""
    settings: dict[str, Any] = {"version": 1, "metrics": ACCURACY, **changes}
    return Scoring(source=source, parse=parse, score=score, **settings)


def robust(
    score: Score = robust_in_box,
    *,
    demanded: Convention | None = None,
    parse: Callable[[Reply, Sample, Coordinates], Reading] = robust_target,
    **changes: Any,
) -> Scoring:
    """Our own scoring, which reads boxes and points in the model's coordinates.

    Args:
        score: The score of a reading.
        demanded: The coordinates that the benchmark's prompt demands, in which replies are read if
            the model's coordinates are not set. None: the prompt demands none. Numbers are then
            pixels of the original picture.
        parse: Parses a reply in the given coordinates.
        changes: Further fields of the scoring.
    """
    prompt = PIXELS if demanded is None else Coordinates(convention=demanded)
    use = CoordinateUse(parse=parse, of_prompt=prompt, is_demanded=demanded is not None)
    return places("ours", use.bound, score, version=2, coordinates=use, **changes)


def as_text(items: Iterable[float]) -> str:
    """Return coordinates as the text of a list, for targets."""
    return f"[{', '.join(f'{item:.10g}' for item in items)}]"


def relative(text: str, sample: Sample) -> Box:
    """Return a target that `as_text` wrote as shares of the picture's size."""
    return of_size(numbers(text, 4, "target"), size_of(sample))


def center(area: Sequence[float]) -> Point:
    """Return the center of a box."""
    left, top, right, bottom = area
    return (left + right) / 2, (top + bottom) / 2
