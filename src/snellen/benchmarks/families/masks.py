"""Shared by benchmarks whose targets are masks: masks in samples, and shares of points in them.

A sample stores a mask as its width and the lengths of runs: first the pixels outside, then those
inside, and so on, row by row. A reading has points, and boxes that stand for all their pixels. In
the scoring `robust`, a box stands for its center.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from snellen.answers.places import final_places
from snellen.benchmarks.families.grounding import PIXELS, center, in_pixels
from snellen.core import Answer, BoxAnswer, PointAnswer, Reading, Reply, Sample, SeveralAnswers
from snellen.core.coordinates import Coordinates
from snellen.media.content import Image
from snellen.media.images import pixels
from snellen.metrics import Columns, mean, metric
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Point = tuple[float, float]
STOPS = "the authors' code stops"
OUTSIDE = -1.0
"""A coordinate of a point that is in no picture."""
_TEXTS = re.compile(r"\(([-+]?\d+\.?\d*(?:,\s*[-+]?\d+\.?\d*)*?)\)")
_PAIR = re.compile(r"[\[(]\s*([-+]?\d+\.?\d*)\s*,\s*([-+]?\d+\.?\d*)\s*[\])]")


# -- masks


def encoded(inside: NDArray[np.bool_]) -> dict[str, Any]:
    """Encode a mask as values that JSON can represent."""
    import numpy as np

    flat = inside.ravel()
    changes = np.flatnonzero(np.diff(flat)) + 1
    ends = np.concatenate([[0] * bool(flat[0]), changes, [flat.size]])
    return {"width": inside.shape[1], "runs": np.diff(ends, prepend=0).tolist()}


def decoded(mask: Any) -> NDArray[np.bool_]:
    """Decode a mask that `encoded` returned."""
    import numpy as np

    values = np.arange(len(mask["runs"])) % 2 == 1
    return np.repeat(values, mask["runs"]).reshape(-1, mask["width"])


def brightness(image: Image) -> NDArray[np.uint8]:
    """The red channel of a picture, which is the gray value of a gray picture."""
    return pixels(image)[:, :, 0]


def mask_size(sample: Sample, name: str = "mask") -> tuple[int, int]:
    """The width and height of a sample's mask."""
    mask: Any = sample.data[name]
    return mask["width"], sum(mask["runs"]) // mask["width"]


def a_point_of(sample_mask: Any) -> tuple[int, int]:
    """A pixel in a mask: the middle of the mask's longest run.

    Raises:
        ValueError: no pixel is in the mask.
    """
    runs = sample_mask["runs"]
    if len(runs) < 2:
        raise ValueError("the mask is empty")
    longest = max(range(1, len(runs), 2), key=runs.__getitem__)
    y, x = divmod(sum(runs[:longest]) + runs[longest] // 2, sample_mask["width"])
    return x, y


# -- readings


def texts_in_parentheses(text: str) -> list[list[str]]:
    """The numbers in each pair of parentheses that has nothing but numbers in it."""
    return [match.split(",") for match in _TEXTS.findall(text)]


def several(answers: Iterable[Answer], rule: str = "points") -> Reading:
    """Create the reading of points and boxes. It has an answer even if there are none."""
    points = tuple(answers)
    return Reading(answer=SeveralAnswers(answers=points), rule=rule if points else "no point")


def at(x: float, y: float) -> PointAnswer:
    """A point in pixels. A point that is not finite becomes a point outside of all pictures."""
    if math.isfinite(x) and math.isfinite(y):
        return PointAnswer(x=x, y=y)
    return PointAnswer(x=OUTSIDE, y=OUTSIDE)


def json_pairs(text: str, width: int, height: int) -> Reading:
    """Parse all pairs in brackets as lmms-eval does (_task_utils/point_format.py#L14-L31). If a
    number of a pair has a point, the pair is relative; otherwise, it is in thousandths."""
    points = []
    for first, second in _PAIR.findall(text):
        scale = 1 if "." in first or "." in second else 1000
        try:
            x, y = int(float(first) / scale * width), int(float(second) / scale * height)
        except (OverflowError, ValueError):
            return Reading(answer=None, rule=STOPS)
        points.append(at(float(x), float(y)))
    return several(points)


def robust_points(reply: Reply, sample: Sample, coordinates: Coordinates = PIXELS) -> Reading:
    """Parse all points of a reply, in any maker's form. A box stands for its center. The numbers
    are in the given coordinates."""
    result = final_places(reply.text)
    if not result.answers:
        return Reading(answer=None, rule=result.rule)
    converted, fault = in_pixels(result, reply, sample, coordinates, mask_size(sample))
    if fault:
        return Reading(answer=None, rule=f"{result.rule}: {fault}")
    points = (center(values) if len(values) == 4 else values for values in converted)
    return several((at(x, y) for x, y in points), result.rule)


def points_of(reading: Reading) -> Sequence[Answer]:
    return reading.answer.answers if isinstance(reading.answer, SeveralAnswers) else ()


# -- scores


def share_inside(reading: Reading, mask: Any, *, clip: bool = False) -> float:
    """The share of points in a mask. A box counts as all its pixels. A point outside the picture
    is a miss or, with `clip`, moves to the closest pixel. Without points, the share is 0."""
    inside = decoded(mask)
    hits, total = 0.0, 0
    for answer in points_of(reading):
        if isinstance(answer, BoxAnswer):
            columns = _counts(answer.left, answer.right, inside.shape[1], clip)
            rows = _counts(answer.top, answer.bottom, inside.shape[0], clip)
            total += int(answer.right - answer.left) * int(answer.bottom - answer.top)
            hits += float(rows @ inside @ columns)
        elif isinstance(answer, PointAnswer):
            total += 1
            hits += is_inside(answer, inside)
    return hits / total if total else 0.0


def is_inside(point: PointAnswer, inside: NDArray[np.bool_]) -> bool:
    """Whether the pixel of a point is in a mask."""
    x, y = int(point.x), int(point.y)
    height, width = inside.shape
    return 0 <= x < width and 0 <= y < height and bool(inside[y, x])


def _counts(start: float, end: float, length: int, clip: bool) -> NDArray[np.float64]:
    """How many of the pixels from `start` to `end` are at each position in the picture."""
    import numpy as np

    counts = np.zeros(length)
    counts[max(0, int(start)) : max(0, int(end))] = 1
    if clip:
        counts[0] += max(0, min(int(end), 0) - int(start))
        counts[-1] += max(0, int(end) - max(int(start), length))
    return counts


@metric(better="higher", unit="fraction")
def mean_of_parsed(columns: Columns) -> Estimate:
    """The mean score of the replies that were parsed. Use this metric where the authors' code
    leaves out replies at which its parser fails."""
    import numpy as np

    return mean(columns.where(np.array([answer is not None for answer in columns.answer], bool)))
