"""Five tasks with our own rules, for a user's rows and for VLMEvalKit's data sets.

Each task has an instruction on the form of the answer, a parser, a score, and the scores that dummy
models must get in the self-check.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from string import ascii_uppercase
from typing import Literal, cast

from snellen.answers.choice import Letter, option_letter
from snellen.answers.others import vlmevalkit_2024_letter, vlmevalkit_letter
from snellen.answers.phrase import Phrase, final_phrase
from snellen.answers.reply import final_text
from snellen.answers.statement import FULL_REPLY, STATES, stated_phrase
from snellen.answers.value import Value, final_value
from snellen.answers.yes_no import YesNo, yes_or_no
from snellen.benchmarks.families.judges import PERFECT, grading, perfect_grade
from snellen.core import Reading, Reply, Sample, Scoring
from snellen.lazy import lazy_pattern
from snellen.metrics import Metric, mean

Task = Literal["mcq", "vqa", "yesno", "count", "caption"]

ASK: Mapping[Task, str] = {
    "mcq": "Answer with the option's letter from the given choices directly.",
    "vqa": "Answer the question using a single word or phrase.",
    "yesno": "Answer with yes or no.",
    "count": "Answer with one number.",
    "caption": "Describe the image in one sentence.",
}

# -- replies to answers

# fmt: off
_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
          "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
          "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
# fmt: on
_NUMBER = lazy_pattern(
    # int() accepts at most 4,300 digits, so longer numbers do not match.
    r"(?<![\w.,])(?P<digits>-?\d{1,3}(?:,\d{3}){1,1000}|-?\d{1,15})"
    r"(?P<rest>\.\d{1,15})?(?![\w%]|[.,]\d)"
    rf"|\b(?:(?P<tens>{'|'.join(_TENS)})(?:[ -](?P<after>{'|'.join(_UNITS[1:10])}))?"
    rf"|(?P<unit>{'|'.join(_UNITS)}))\b",
    re.IGNORECASE,
)
_SCALE = lazy_pattern(r"\b(hundred|thousand|million|billion|dozen|half)s?\b", re.IGNORECASE)
MENTIONS = frozenset({"letter and choice", "only letter", "begins with choice", "only choice"})
"""The rules of `option_letter` that take a letter or a choice which the reply mentions, without a
statement that it is the answer."""
MORE_WORDS = 3
"""A reply with at most this many words more than the longest right answer may be an answer. Longer
replies count as sentences."""
_WORD = lazy_pattern(r"(?:(?<!\w)-)?\d+(?:\.\d+)*(?!\w)|\w+")
_SAME = {"a": "", "an": "", "the": "", **{word: str(n) for n, word in enumerate(_UNITS[:11])}}


def parse_letter(reply: Reply, sample: Sample) -> Reading:
    return if_stated(as_reading(option_letter(reply.text, sample.choices)), reply)


def if_stated(reading: Reading, reply: Reply) -> Reading:
    """Reject an answer that a cut reply mentions but does not state. The reply may still have been
    weighing the choices when it was cut."""
    if reply.state != "truncated" or reading.answer is None or reading.rule not in MENTIONS:
        return reading
    return Reading(answer=None, rule=f"cut: {reading.rule}")


def parse_letter_as_vlmevalkit(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter by VLMEvalKit's rules (`answers.others.VLMEVALKIT`). The text is stripped
    first, because VLMEvalKit strips the replies of API models: vlmeval/api/gpt.py#L319."""
    return as_reading(vlmevalkit_letter(reply.text.strip(), sample.choices))


def parse_letter_as_vlmevalkit_2024(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter by VLMEvalKit's older rules (`answers.others.VLMEVALKIT_2024`), from the
    stripped reply that VLMEvalKit stores."""
    return as_reading(vlmevalkit_2024_letter(reply.text.strip(), sample.choices))


def as_reading(result: Letter | YesNo | Phrase | Value) -> Reading:
    return Reading(answer=result.answer, rule=result.rule, candidates=result.candidates)


def parse_verbatim(reply: Reply, _: Sample) -> Reading:
    """Return the full reply, including leading and trailing spaces."""
    return Reading(answer=reply.text or None, rule="whole reply" if reply.text else "nothing said")


def parse_phrase(reply: Reply, _: Sample) -> Reading:
    """Parse the phrase that a reply settles on."""
    return as_reading(final_phrase(reply.text))


def parse_value(reply: Reply, _: Sample) -> Reading:
    """Parse the value that a reply settles on."""
    return as_reading(final_value(reply.text))


def wrong_letter(sample: Sample) -> str:
    """Return the letter before the right one, or the last letter if A is right."""
    letters = ascii_uppercase[: len(sample.choices)]
    return letters[letters.index(sample.target or "A") - 1]


def parse_yes_no(reply: Reply, sample: Sample) -> Reading:
    return as_reading(yes_or_no(reply.text, sample.question))


def parse_count(reply: Reply, _: Sample) -> Reading:
    numbers = _numbers(final_text(reply.text))
    if numbers is None:
        return Reading(answer=None, rule="a number in words over 99")
    if len(numbers) == 1:
        return Reading(answer=numbers[0], rule="only number")
    rule = "several numbers" if numbers else "no number"
    return Reading(answer=None, rule=rule, candidates=tuple(numbers[:10]))


def _parse_plain(reply: Reply, _: Sample) -> Reading:
    text = plain_words(final_text(reply.text))
    return Reading(answer=text or None, rule="whole reply" if text else "nothing said")


def _parse_stated(reply: Reply, sample: Sample) -> Reading:
    """Parse the phrase that a reply states as its answer.

    The right answers are used only to decide whether a phrase that equals none of them is wrong or
    unparsed. A phrase is unparsed if it contains a right answer and more words ("4 cats" for "4",
    "not red" for "red"). A long sentence from which no rule extracts a phrase is also unparsed.
    """
    full = plain_words(final_text(reply.text))
    rights = [plain_words(answer) for answer in right_answers(sample)]
    if full in rights:
        return Reading(answer=full, rule=FULL_REPLY)
    phrase = stated_phrase(reply.text)
    if phrase.answer is None:
        return as_reading(phrase)
    text = plain_words(phrase.answer)
    if text not in rights:
        words = text.split()
        if any(f" {right} " in f" {text} " for right in rights):
            return Reading(answer=None, rule=f"right answer and more: {phrase.rule}")
        if rights and phrase.rule in (FULL_REPLY, STATES):
            longest = max(len(right.split()) for right in rights)
            if len(words) > longest + MORE_WORDS:
                return Reading(answer=None, rule="sentences without a stated answer")
    return Reading(answer=text, rule=phrase.rule)


def yes_no(answer: str) -> str | None:
    return answer.lower() if answer.lower() in ("yes", "no") else None


def _count(answer: str) -> str | None:
    numbers = _numbers(answer) or []
    return numbers[0] if len(numbers) == 1 else None


def _numbers(text: str) -> list[str] | None:
    """Return the distinct numbers in a text, in digits ("3" for "three"). Return None if the text
    has words for larger numbers or fractions, such as "hundred" or "half"."""
    if _SCALE.search(text):
        return None
    numbers: dict[str, None] = {}
    for match in _NUMBER.finditer(text):
        if digits := match["digits"]:
            fraction = (match["rest"] or "").rstrip("0").rstrip(".")
            numbers[f"{int(digits.replace(',', ''))}{fraction}"] = None
        elif unit := match["unit"]:
            numbers[str(_UNITS.index(unit.lower()))] = None
        else:
            after = (match["after"] or "zero").lower()
            numbers[str(20 + 10 * _TENS.index(match["tens"].lower()) + _UNITS.index(after))] = None
    return list(numbers)


def plain_words(text: str) -> str:
    """Convert a text to lowercase, remove punctuation and articles, and replace number words up to
    ten with digits.

    A text that would become empty is kept: "A" may be an answer.
    """
    text = re.sub(r"['\u2019`]|(?<=\d),(?=\d{3})", "", text.lower())
    words = (_SAME.get(word, word) for word in _WORD.findall(text))
    return " ".join(filter(None, words)) or text.strip()


# -- answers to scores


def right_answers(sample: Sample) -> tuple[str, ...]:
    """Return the right answers to an open question: the sample's references or, without references,
    the sample's target."""
    return sample.references or ((sample.target,) if sample.target is not None else ())


def is_target(reading: Reading, sample: Sample) -> float:
    return float(reading.answer is not None and reading.answer == sample.target)


def _agreement(reading: Reading, sample: Sample) -> float:
    """Return min(1, matches / 3) if there are three or more right answers. If there are fewer,
    return 1 if any of them matches, and 0 otherwise."""
    right = right_answers(sample)
    equal = sum(plain_words(answer) == reading.answer for answer in right)
    return min(1.0, equal / 3) if len(right) >= 3 else float(equal > 0)


def _of_captions(scoring: Callable[..., Scoring]) -> Scoring:
    """Create the scoring with coco-caption's metrics, which are computed from all replies
    together."""
    # Imported here, since importing the tokenizer takes longer than all other imports here.
    from snellen.metrics.captions import caption_metrics
    from snellen.text.ptb import tokens

    def parse(reply: Reply, _: Sample) -> Reading:
        text = tokens(final_text(reply.text).replace("\n", " "))
        return Reading(answer=text or None, rule="whole reply" if text else "nothing said")

    return scoring(parse, lambda *_: None, caption_metrics(tokens), 3)


def scorings(task: Task) -> Mapping[str, Scoring]:
    def scoring(
        parse: Callable[[Reply, Sample], Reading],
        score: Callable[[Reading, Sample], float | None] = is_target,
        metrics: Mapping[str, Metric] | None = None,
        version: int = 1,
    ) -> Scoring:
        return Scoring(
            version=version,
            source="ours",
            parse=parse,
            score=score,
            metrics=metrics or {"accuracy": mean},
        )

    judged = replace(
        scoring(_parse_plain, lambda reading, _: cast(float, reading.answer)),
        judge=grading(),
        partial=True,
    )
    if task == "vqa":
        return {
            # The first is the headline. docs/decisions/free-answers.md has the reasons.
            "robust": scoring(_parse_stated, _agreement, version=3),
            "default": scoring(_parse_plain, _agreement, version=2),
            "judged": judged,
        }
    if task == "caption":
        return {"default": _of_captions(scoring), "judged": judged}
    parse, version = {
        "mcq": (parse_letter, 3),
        "yesno": (parse_yes_no, 2),
        "count": (parse_count, 2),
    }[task]
    return {"default": scoring(parse, version=version)}


CHOICES: Mapping[Task, tuple[str, ...]] = {
    "vqa": (),
    "yesno": ("yes", "no"),
    "count": (),
    "caption": (),
}
TARGET: Mapping[Task, Callable[[str], str | None]] = {
    "yesno": yes_no,
    "count": _count,
    "vqa": str,
}
WRONG: Mapping[Task, Callable[[Sample], str]] = {
    "mcq": lambda sample: "B" if sample.target == "A" else "A",
    "vqa": lambda sample: "nothing of the kind",
    "yesno": lambda sample: "no" if sample.target == "yes" else "yes",
    "count": lambda sample: str(int(float(sample.target or 0)) + 1),
    "caption": lambda sample: "nothing of the kind",
}
EXPECT: Mapping[Task, Mapping[str, Mapping[str, float]]] = {
    "mcq": {"default": PERFECT},
    "vqa": {"default": PERFECT, "robust": PERFECT, "judged": PERFECT},
    "yesno": {"default": PERFECT},
    "count": {"default": PERFECT},
    "caption": {"judged": PERFECT},
}

verdict = perfect_grade
"""The reply of a perfect judge in the scoring `judged`."""
