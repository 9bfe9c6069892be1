"""How CG-Bench's authors read a choice, or how much intervals overlap with a question's clues.

CG-Bench/CG-Bench@f826608752443a13b21f214c2d9c4156c526f030:run/utils.py#L103-L156 and #L400-L452
"""

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from snellen.core import Reading, Reply, Sample

OPEN, CLOSE = "```json", "```"
NO_RESULT = object()
BARE = re.compile(r"(?<=:\s)([A-Za-z_]\w*)")
LETTER = re.compile(r"\b[A-H]\b")
NUMBER = re.compile(r"-?\d+\.?\d*")


def block(text: str) -> str:
    """The content between the first "```json" and the next "```"; "" if one of them is missing."""
    _, opened, rest = text.partition(OPEN)
    content, closed, _ = rest.partition(CLOSE)
    return content.strip() if opened and closed else ""


def result_in(content: str) -> Any:
    """The value of "result" in an object of JSON. `NO_RESULT` for any other text."""
    try:
        return json.loads(content)["result"]
    # The content is no JSON, no object, has no result, or is nested too deeply.
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return NO_RESULT


def choice(reply: Reply, _: Sample) -> Reading:
    """Parse the letter in the JSON, or all letters of the reply, of which one must be right. A
    reply without a letter has no answer."""
    value = result_in(BARE.sub(r'"\1"', block(reply.text)))
    if value is not NO_RESULT:
        return Reading(answer=value if isinstance(value, str) else json.dumps(value), rule="JSON")
    letters = tuple(LETTER.findall(reply.text))
    return Reading(answer=letters or None, rule="letters" if letters else "no letter")


def choice_score(reading: Reading, sample: Sample) -> float | None:
    """None for a reply without an answer, which the authors leave out of all means."""
    if reading.answer is None:
        return None
    right = reading.answer if isinstance(reading.answer, tuple) else (reading.answer,)
    return float(sample.target in right)


def clue_overlap(reply: Reply, sample: Sample) -> Reading:
    """Parse intervals, and compute their overlap with the clues. A reply with an odd number of
    numbers, or with intervals at which the authors' code fails, has no answer."""
    if not reply.text:
        return Reading(answer=None, rule="nothing said")
    clues = sample.data["clues"]
    assert isinstance(clues, list)
    value = result_in(block(reply.text))
    if value is not NO_RESULT:
        try:
            return of_overlap(intersection_over_union(value, clues), "JSON")
        # The value is no list of pairs of numbers. The authors' code then reads all numbers.
        except (TypeError, ValueError, AttributeError, LookupError, OverflowError):
            pass
    numbers = [float(number) for number in NUMBER.findall(reply.text)]
    if len(numbers) % 2:
        return Reading(answer=None, rule="an odd number of numbers")
    pairs = [*zip(numbers[::2], numbers[1::2], strict=True)]
    ordered = sorted(pairs, key=lambda pair: pair[0])
    merged_end = -math.inf
    for start, end in ordered:
        if start <= merged_end:
            return Reading(answer=None, rule="overlapping pairs of numbers")
        merged_end = end
    return of_overlap(intersection_over_union(ordered, clues), "all numbers in pairs")


def of_overlap(value: float, rule: str) -> Reading:
    if not math.isfinite(value):
        return Reading(answer=None, rule="not a finite overlap")
    return Reading(answer=float(value), rule=rule)


def overlap_score(reading: Reading, _: Sample) -> float | None:
    return reading.answer if isinstance(reading.answer, float) else None


def intersection_over_union(first: Any, second: Sequence[Sequence[float]]) -> float:
    """The overlap of two lists of intervals. The length of a reversed interval is negative.

    Raises:
        TypeError, ValueError, AttributeError, LookupError, OverflowError: `first` is not a list of
            pairs of numbers.
    """
    merged = [united(first), united([[*pair] for pair in second])]
    lengths = [sum(end - start for start, end in intervals) for intervals in merged]
    shared = sum(
        max(0, min(ours[1], theirs[1]) - max(ours[0], theirs[0]))
        for ours in merged[0]
        for theirs in merged[1]
    )
    union = sum(lengths) - shared
    return shared / union if union > 0 else 0.0


def united(intervals: Any) -> list[Any]:
    """The intervals in order of their starts, with those that overlap or touch joined."""
    if not intervals:
        return []
    intervals.sort(key=lambda interval: interval[0])
    joined = [intervals[0]]
    for interval in intervals[1:]:
        last = joined[-1]
        if interval[0] <= last[1]:
            last[1] = max(last[1], interval[1])
        else:
            joined.append(interval)
    return joined
