"""How VSI-Bench's authors, lmms-eval, and VLMEvalKit parse and score numbers and letters."""

import math
import re

import numpy as np

from snellen.answers.value import final_value
from snellen.benchmarks.families import pins
from snellen.benchmarks.families.spatial_letters import settled_letter
from snellen.benchmarks.families.tasks import parse_letter
from snellen.core import Reading, Reply, Sample
from snellen.text.literals import literal

AUTHORS = (
    "vision-x-nyu/thinking-in-space@51e089c3ae69b9435e9489058610f5b3964c56a8:"
    "lmms_eval/tasks/vsibench/utils.py#L81-L185"
)
LMMS = f"{pins.LMMS_EVAL}:lmms_eval/tasks/vsibench/utils.py#L168-L310"
KIT = (
    f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/spatial_bench/matching_func.py, "
    "cal_scores.py#L17-L125"
)
# As in the authors' code, where 0.45 / 0.05 + 2 is 10.99999... binary floats decide whether an
# error of 0.05, 0.1, ... reaches a threshold.
ERRORS = 1 - np.linspace(0.5, 0.95, int((0.95 - 0.5) / 0.05 + 2))
"""The largest relative errors that reach the ten thresholds."""

# fmt: off
SMALL = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
         "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
         "nineteen", "twenty"]
TENS = ["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
# fmt: on
WORDS = {
    **{word: number for number, word in enumerate(SMALL)},
    **{word: 10 * number for number, word in enumerate(TENS, 3)},
    "hundred": 100,
    "thousand": 1000,
}
PLAIN = re.compile(r"-?\d+(?:\.\d+)?")
NUMBER = re.compile(r"[-+]?(?:\d*\.\d+|\d+)(?:[eE][-+]?\d+)?")
TAGGED = re.compile(
    rf"<\s*answer\b[^>]*>\s*({NUMBER.pattern})(?:[^\d<][^<]*)?<\s*/\s*answer\s*>", re.IGNORECASE
)
THOUGHT = [re.compile(rf"<{end}\s*think\s*>", re.IGNORECASE) for end in (r"/", "")]
SMALL_WORD = re.compile(rf"\b({'|'.join(SMALL)})\b", re.IGNORECASE)
INVISIBLE = re.compile("[\u200b\u200c\u200d\ufeff]")


# -- scores


def relative_accuracy(number: float, target: float) -> float:
    """The share of the ten thresholds that a number reaches. For a target of 0, by which the
    authors' code divides, the error is the absolute one, as in VLMEvalKit."""
    error = abs(number - target) / (abs(target) or 1.0)
    return float((error <= ERRORS).mean())


def score(reading: Reading, sample: Sample) -> float:
    if sample.choices:
        return float(reading.answer == sample.target)
    if not isinstance(reading.answer, float):
        return 0.0
    return relative_accuracy(reading.answer, float(sample.target or 0))


# -- parsing


def number(text: str | None, rule: str) -> Reading:
    """The reading of a number. Texts that are no finite number, such as "nan", have no answer."""
    try:
        value = float(text or "")
    except ValueError:
        return Reading(answer=None, rule="no number")
    if not math.isfinite(value):
        return Reading(answer=None, rule="not a finite number")
    return Reading(answer=value, rule=rule)


def token(text: str) -> str:
    """The text before the first blank, without periods at its end. A line break is no blank."""
    return text.split(" ")[0].rstrip(".").strip()


def official(reply: Reply, sample: Sample) -> Reading:
    """Parse the first token, which must be a number or a letter and nothing else."""
    text = token(reply.text)
    if not sample.choices:
        return number(text, "first token")
    return Reading(answer=text.upper() or None, rule="first token" if text else "nothing said")


def lmms_eval(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter by the official rule, or the first number in digits or words."""
    if sample.choices:
        return official(reply, sample)
    text = reply.text.strip().lower()
    digits = PLAIN.search(text)
    words = [match for match in re.finditer("[a-z]+", text)]
    first = next((n for n, match in enumerate(words) if match[0] in WORDS), None)
    if digits and (first is None or digits.start() < words[first].start()):
        return number(digits[0], "first digits")
    if first is None:
        return Reading(answer=None, rule="no number")
    return Reading(answer=in_words([match[0] for match in words[first:]]), rule="first words")


def in_words(words: list[str]) -> float:
    """The value of the number words at the beginning of a list. "and" is skipped."""
    total = current = 0
    for word in words:
        if word == "and":
            continue
        if word not in WORDS:
            break
        value = WORDS[word]
        if value == 1000:
            total, current = total + max(current, 1) * 1000, 0
        else:
            current = max(current, 1) * 100 if value == 100 else current + value
    return float(total + current)


def vlmevalkit(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter or the last number by VLMEvalKit's rules."""
    if sample.choices:
        return settled_letter(reply, sample)
    text = reply.text
    if text.strip().startswith("[") and text.strip().endswith("]"):
        try:
            items = literal(text)
        except ValueError:
            return Reading(answer=None, rule="not a list")
        text = str(items[0]) if isinstance(items, list) and items else text
    text = INVISIBLE.sub("", text.strip())
    text = SMALL_WORD.sub(lambda match: str(SMALL.index(match[0].lower())), text)
    if match := TAGGED.search(text):
        return number(match[1], "in the tag")
    for part, rule in ((after_thought(text), "last number"), (text, "last number of the reply")):
        if numbers := NUMBER.findall(part):
            return number(numbers[-1], rule)
    return Reading(answer=None, rule="no number")


def after_thought(text: str) -> str:
    """The text after the last end of tagged reasoning, or else after its last beginning."""
    for tag in THOUGHT:
        if ends := [match.end() for match in tag.finditer(text)]:
            return text[ends[-1] :].strip()
    return text


def robust(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter or the number that a reply settles on."""
    if sample.choices:
        return parse_letter(reply, sample)
    value = final_value(reply.text)
    match = re.match(PLAIN, (value.answer or "").replace(",", ""))
    return number(match[0] if match else None, value.rule)
