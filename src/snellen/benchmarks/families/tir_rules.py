"""TIR-Bench's rules: how an answer is compared with the right one, by the task and by the form of
the right answer.

Line numbers without a file are those of agents-x-project/TIR-Bench@f79c7562b59e4f8142b0437fc725eb3
ee1aec76c:tools.py.
"""

import re
from collections.abc import Callable
from typing import Literal

from snellen.answers.choice import option_letter
from snellen.answers.reply import final_text
from snellen.answers.statement import stated_phrase
from snellen.answers.value import final_value, same_value
from snellen.benchmarks.families.tasks import as_reading, if_stated
from snellen.benchmarks.families.worker_process import Uncompared, WorkerProcess
from snellen.core import Reading, Reply, Sample

Form = Literal["letters", "integer", "decimal", "other"]
LETTERS = "ABCDEFGHIJ"
PREFIX = "Extracted answer:"
"""The end of the judge's prompt, which some judges repeat."""
NO_NUMBER = re.compile(r"[A-Za-z*:\s]+")
INTEGERS = re.compile(r"\d+")
SEVERAL = re.compile(r"[\d\s,，]+")
PAIR = re.compile(r"\b(\d+)\s*,\s*(\d+)\b")
MATH_VERIFY = WorkerProcess(
    f"{__package__}.math_verify_worker", "TIR-Bench's numbers are compared with math-verify"
)
LIST = re.compile(r"(?<!\d)\d+(?:\s*[,，]\s*\d+)+|(?<=\[)\s*\d+\s*(?=\])")


def form_of(right: str) -> Form:
    """The form of a right answer (#L80-L93). Any word is `letters`, also a Chinese one."""
    if right.isalpha():
        return "letters"
    for form, convert in CONVERTS.items():
        try:
            convert(right)
        except ValueError:
            continue
        return form
    return "other"


CONVERTS: dict[Form, Callable[[str], float]] = {"integer": int, "decimal": float}


# -- the authors' rules


def score(answer: str, sample: Sample) -> float | None:
    """Score an extracted answer, or the reply in the task `ocr` (calculate_score.py#L85-L160).

    If the right answer has a form that no rule covers, such as "1/2", every answer is wrong. None
    if math-verify could not compare the numbers within the limits of its process.

    Raises:
        UsageError: math-verify is needed and cannot be used.
    """
    right, task = sample.target or "", sample.tags["task"]
    form = form_of(right)
    try:
        if task == "ocr":
            return float(right in answer)
        if task == "word_search" and form != "integer":
            return float(first_pair(answer) == first_pair(right) is not None)
        if task == "spot_difference" and form != "integer":
            return overlap(integers(answer), integers(right))
        if task == "jigsaw":
            return share_in_order(answer, right, sample)
    except ValueError:  # int() refuses numbers of more than 4,300 digits
        return 0.0
    if form == "letters":
        return float(is_choice(answer, right, sample.question))
    convert = CONVERTS.get(form)
    try:
        return float(convert is not None and is_value(answer, right, convert))
    except Uncompared:
        return None


def is_value(answer: str, right: str, convert: Callable[[str], float]) -> bool:
    """Whether an answer is a number (#L108-L151). The letters, colons, and blanks in it are removed
    first, so "3 of 10" is 310. If the rest is not the right number, math-verify decides.

    Raises:
        Uncompared: math-verify takes too long or needs too much memory.
        UsageError: math-verify cannot be used.
    """
    rest = NO_NUMBER.sub("", answer.replace(PREFIX, ""))
    try:
        if convert(rest) == convert(right):
            return True
    except ValueError:
        pass
    return MATH_VERIFY.same(answer=answer, right=right)


def is_choice(answer: str, right: str, question: str) -> bool:
    """Whether an answer is the right letter or the right letters (#L154-L178).

    An answer that is no letter becomes the last letter that stands before it in the question, with
    a period, a blank, or nothing in between. Each letter that is put in its place is looked for in
    turn. Of an answer that is still no letter, the first letter of the alphabet in it counts, or
    else A: the answer with the smallest edit distance.
    """
    if len(right) > 1:
        return sorted(answer) == sorted(right)
    letter = answer.replace(PREFIX, "").strip()
    if letter not in [*LETTERS]:
        for option in f"{LETTERS}H":  # the authors' list has H twice
            if any(f"{option}{mark}{letter}" in question for mark in (". ", ".", " ", "")):
                letter = option
        letter = next((option for option in LETTERS if option in letter), "A")
    return letter == right


def first_pair(text: str) -> tuple[int, int] | None:
    """The first two numbers with a comma in between (#L62-L69)."""
    pair = PAIR.search(text)
    return (int(pair[1]), int(pair[2])) if pair else None


def integers(text: str) -> set[int]:
    """All numbers in a text (#L57-L60)."""
    return {int(digits) for digits in INTEGERS.findall(text)}


def overlap(answer: set[int], right: set[int]) -> float:
    """The intersection over the union; 1 if both are empty (#L71-L78)."""
    return len(answer & right) / len(answer | right) if answer | right else 1.0


def share_in_order(answer: str, right: str, sample: Sample) -> float:
    """The share of the pieces of a jigsaw that are in the right place (#L26-L55)."""
    size = int(str(sample.data["difficulty"])) ** 2
    places, wanted = in_order(answer, size), in_order(right, size)
    if not places or not wanted:
        return 0.0
    return sum(map(int.__eq__, places, wanted)) / size


def in_order(text: str, size: int) -> list[int] | None:
    """The numbers of the first stretch of digits, blanks, and commas with this many numbers."""
    stretches = (INTEGERS.findall(stretch) for stretch in SEVERAL.findall(text))
    numbers = next((numbers for numbers in stretches if len(numbers) == size), None)
    return numbers and [*map(int, numbers)]


# -- our own rules, which need no judge


def robust_answer(reply: Reply, sample: Sample) -> Reading:
    """Read the answer in the form of the right one: text, a list, letters, or a value."""
    text, right, task = final_text(reply.text), sample.target or "", sample.tags["task"]
    form = form_of(right)
    if task == "ocr":
        return Reading(answer=text or None, rule="whole reply" if text else "nothing said")
    if form == "letters" and len(right) == 1:
        return if_stated(as_reading(option_letter(reply.text, LETTERS)), reply)
    if form == "letters":
        phrase = stated_phrase(reply.text)
        letters = re.sub(r"[\s,;&]|\band\b", "", phrase.answer or "").upper()
        return Reading(answer=letters if letters.isalpha() else None, rule=phrase.rule)
    if form == "other":
        lists = LIST.findall(text)
        return Reading(
            answer=lists[-1] if lists else None, rule="last list" if lists else "no list"
        )
    return as_reading(final_value(reply.text))


def robust_score(reading: Reading, sample: Sample) -> float | None:
    """Score what `robust_answer` reads. Lists get the authors' partial credit."""
    answer, right, task = reading.answer, sample.target or "", sample.tags["task"]
    if not isinstance(answer, str):
        return 0.0
    form = form_of(right)
    if task == "ocr":
        words = ("".join(text.split()).casefold() for text in (right, answer))
        return float(next(words) in next(words))
    if form == "letters":
        return float(sorted({*answer}) == sorted({*right.upper()}))
    if form == "other":
        return score(answer, sample)
    return float(same_value(answer, right))
