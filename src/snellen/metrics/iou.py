"""Intersection over union (IoU) of boxes, and accuracies at thresholds of the score.

A box is (left, top, right, bottom). The functions neither clip boxes nor swap reversed corners, as
in the scorers that published results use: a box whose corners are both reversed has a positive
area, and its overlap with any box is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from snellen.metrics._columns import Columns
from snellen.metrics._mean import mean
from snellen.metrics._metric import Compute, Metric
from snellen.stats import Estimate

Box = Sequence[float]


def iou(box: Box, other: Box) -> float:
    """Return the IoU of two boxes in double precision, or NaN if the union is 0.

    >>> iou((0, 0, 2, 2), (1, 0, 3, 2))
    0.3333333333333333
    """
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    overlap = max(0.0, width) * max(0.0, height)
    union = area(box) + area(other) - overlap
    return overlap / union if union else float("nan")


def iou32(box: Box, other: Box, least_union: float | None = None) -> float:
    """Return the IoU of two boxes as torch computes it in single precision. A value that is 0.5 in
    real numbers can be less or more than 0.5 in single precision.

    `least_union` is the lower bound that mmdetection sets for the union.

    >>> iou32((0, 0, 3, 1), (0, 0, 1, 1))
    0.3333333432674408
    """
    import numpy as np

    first, second = np.array(box, dtype=np.float32), np.array(other, dtype=np.float32)
    sides = np.minimum(first[2:], second[2:]) - np.maximum(first[:2], second[:2])
    with np.errstate(all="ignore"):
        overlap = np.prod(np.maximum(sides, np.float32(0)))
        union = np.prod(first[2:] - first[:2]) + np.prod(second[2:] - second[:2]) - overlap
        if least_union is not None:
            union = np.maximum(union, np.float32(least_union))
        return float(overlap / union)


def area(box: Box) -> float:
    """Return the area of a box. It is negative if only one side is reversed."""
    return (box[2] - box[0]) * (box[3] - box[1])


def share_at(*thresholds: float, average: Compute = mean, strict: bool = False) -> Metric:
    """The share of scores that reach a threshold, such as an IoU of 0.5. With `strict`, a score
    must exceed the threshold. With several thresholds, the share is the mean over all of them.
    `average` computes the share, for example as a mean over categories.

    Two of three scores are at least 0.5:

    >>> import numpy as np
    >>> from snellen.metrics import Category
    >>> none, codes = np.empty(3, dtype=object), np.zeros(3, dtype=np.int32)
    >>> columns = Columns(score=np.array([0.5, 0.9, 0.1]), cluster=np.arange(3), tags={},
    ...     answer=none, target=none, references=none, state=Category(codes=codes, names=("a",)))
    >>> round(share_at(0.5)(columns).value, 4), round(share_at(0.5, strict=True)(columns).value, 4)
    (0.6667, 0.3333)
    >>> share_at(0.5, 0.7, strict=True)(columns).n
    3

    Raises:
        ValueError: Raised by the metric if the scoring does not give each sample a score.
    """

    def share(columns: Columns) -> Estimate:
        import numpy as np

        if columns.score is None:
            raise ValueError("share_at needs a score for each sample, but this scoring has none")
        scores = columns.score[:, np.newaxis]
        hits = scores > thresholds if strict else scores >= thresholds
        return average(replace(columns, score=hits.mean(axis=1)))

    return Metric(share, better="higher", unit="fraction", name="share_at")


def shares_at(*thresholds: float) -> dict[str, Metric]:
    """`share_at` for several thresholds, keyed by names such as `accuracy@0.5`."""
    return {f"accuracy@{threshold}": share_at(threshold) for threshold in thresholds}
