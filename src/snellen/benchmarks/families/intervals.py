"""Shared by benchmarks whose answers are intervals of a video: parsing, and shares of overlap."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from snellen.answers.reply import final_text
from snellen.core import IntervalAnswer, Reading, Reply, Sample
from snellen.metrics import Columns, Metric, mean, metric
from snellen.stats import Estimate

Pair = tuple[float, float]


def reading(pairs: Sequence[Pair], rule: str) -> Reading:
    """The reading of the first pair of times, which may be reversed."""
    if not pairs:
        return Reading(answer=None, rule="no interval")
    start, end = sorted(pairs[0])
    if not math.isfinite(end):
        return Reading(answer=None, rule="not a finite time")
    return Reading(answer=IntervalAnswer(start=start, end=end), rule=rule)


def overlap(answer: IntervalAnswer, target: Pair) -> float:
    """The intersection of two intervals divided by the length of their hull, as in TALL (Gao et al.
    2017). For intervals that overlap, this is the intersection over union."""
    hull = max(answer.end, target[1]) - min(answer.start, target[0])
    shared = min(answer.end, target[1]) - max(answer.start, target[0])
    return 0.0 if hull <= 0 else max(shared, 0.0) / hull


@metric(better="higher", unit="fraction", averages_scores=True)
def mean_of_scored(columns: Columns) -> Estimate:
    """The mean over the replies that have a score. In [0, 1]; higher is better. There is no value
    if no reply has one."""
    if columns.score is None:
        return Estimate(value=None, n=0, reason="no reply has a score")
    return mean(columns)


def reaching(*least: float) -> Metric:
    """The share of scores that are at least `least`, or the mean of these shares if there are
    several. In [0, 1]; higher is better."""

    def share(columns: Columns) -> Estimate:
        if columns.score is None:
            return mean_of_scored(columns)
        reached = np.mean([columns.score >= threshold for threshold in least], axis=0)
        return mean(replace(columns, score=reached))

    return Metric(share, better="higher", unit="fraction", name=f"reaching {least}")


# -- the rules of lmms-eval

_EXAMPLE = "a specific example is : 20.8 - 30.0 seconds"
_SENTENCE = re.compile(r"[!?\n]")
_CLOCK = r"\b(\d{1,2}:\d{2}(?::\d{2})?)"
_CLOCKS = re.compile(rf"{_CLOCK}\s*[\u2013-]\s*{_CLOCK[2:]}\b")
# The lookbehind and "++" only keep long numbers from taking long.
_RANGE = re.compile(r"(?<!\d)(\d++(?:\.\d+)?)\s*+[\u2013-]\s*(\d+(?:\.\d+)?)")
_RANGE_OF_SECONDS = re.compile(r"(?<!\d)(\d++(?:\.\d+)?)\s*+s?\s*+[\u2013-]\s*(\d+(?:\.\d+)?)\s*s?")
_TIME = re.compile(rf"{_CLOCK}\b")
_LONG_TIME = re.compile(r"\b(\d{1,2}:\d{2}:\d{2})\b")
_NUMBER = re.compile(r"\b(\d+(?:\.\d+)?)\b")


def sentences_of(text: str) -> tuple[list[str], list[str]]:
    """All sentences of a reply, in which "-" replaces "to", and those about a start, an end, or
    what happens."""
    text = text.lower().replace(_EXAMPLE, "").replace("to", "-")
    sentences = _SENTENCE.split(text)
    words = ("start", "end", "happen")
    return sentences, [part for part in sentences if any(word in part for word in words)]


def by_lmms_eval(reply: Reply, _: Sample) -> Reading:
    """Parse the interval by the rules of lmms-eval's task."""
    sentences, about = sentences_of(reply.text)
    candidates = about or sentences
    for ranges, rule in ((_CLOCKS, "range of clock times"), (_RANGE, "range")):
        if pairs := first_ranges(candidates, ranges):
            return reading(pairs, rule)
    clocks = [seconds(time) for part in candidates for time in _TIME.findall(part)]
    if pairs := in_pairs(clocks):
        return reading(pairs, "clock times")
    if pairs := in_pairs(first_numbers(candidates)):
        return reading(pairs, "first numbers of sentences")
    return reading(first_ranges(candidates, _RANGE_OF_SECONDS), "range of seconds")


def by_script(reply: Reply, _: Sample) -> Reading:
    """Parse the interval by the rules of lmms-eval's older script, which reads only sentences about
    a start, an end, or what happens."""
    candidates = sentences_of(reply.text)[1]
    if pairs := first_ranges(candidates, _RANGE):
        return reading(pairs, "range")
    if pairs := in_pairs(first_numbers(candidates)):
        return reading(pairs, "first numbers of sentences")
    times = (_LONG_TIME.search(part) for part in candidates)
    if pairs := in_pairs([seconds(time[1]) for time in times if time]):
        return reading(pairs, "clock times")
    return reading(first_ranges(candidates, _RANGE_OF_SECONDS), "range of seconds")


def first_ranges(sentences: Sequence[str], form: re.Pattern[str]) -> list[Pair]:
    """The ranges in the first sentence that has one."""
    for sentence in sentences:
        if matches := form.findall(sentence):
            return [(seconds(start), seconds(end)) for start, end in matches]
    return []


def first_numbers(sentences: Sequence[str]) -> list[float]:
    return [float(match[1]) for part in sentences if (match := _NUMBER.search(part))]


def in_pairs(times: Sequence[float]) -> list[Pair]:
    """Consecutive pairs of times. A last time without a partner is dropped."""
    return [*zip(times[::2], times[1::2], strict=False)]


def seconds(time: str) -> float:
    """The seconds of a number, mm:ss, or hh:mm:ss."""
    total = 0.0
    for part in time.split(":"):
        total = 60 * total + float(part)
    return total


# -- Snellen's rule

_POINT = r"(\d{1,2}(?::\d{2}){1,2}(?:\.\d++)?|\d++(?:\.\d++)?)"
_JOINED = re.compile(
    rf"(?<![\d.:]){_POINT}\s*+(?:sec(?:ond)?s?|s)?\s*+(?:[-\u2013,]|to|and|until|through)\s*+"
    rf"{_POINT}(?![\d:]|\.\d)",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"(?<![\d.:]){_POINT}(?![\d:]|\.\d)")


def settled(reply: Reply, _: Sample) -> Reading:
    """Parse the only interval of a reply, such as "3 to 9 s", "[00:03, 00:09]", or, if there are
    only two times, "starts at 3 and ends at 9". Several different intervals are no answer."""
    text = final_text(reply.text)
    ranges = {(seconds(match[1]), seconds(match[2])) for match in _JOINED.finditer(text)}
    if ranges:
        only = [*ranges] if len(ranges) == 1 else []
        return reading(only, "only range") if only else Reading(answer=None, rule="several ranges")
    times = [seconds(match[1]) for match in _ALONE.finditer(text)]
    return reading(in_pairs(times) if len(times) == 2 else [], "only times")
