"""DynaMath's scorings: the authors' rules, VLMEvalKit's, and Snellen's own.

`SOURCE` and `KIT` are the authors' and VLMEvalKit's code. The authors' scripts for closed models
differ from `SOURCE` for a reply whose JSON cannot be parsed: it is never right there.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace

from snellen import stats
from snellen.answers.choice import option_letter
from snellen.answers.value import cleaned, number
from snellen.benchmarks.families import pins
from snellen.benchmarks.families.tasks import as_reading, parse_phrase, parse_value, plain_words
from snellen.core import Reading, Reply, Sample, Scoring
from snellen.metrics import Columns, Metric, mean, metric
from snellen.metrics.groups import NONE_COMPLETE, groups, is_single_category, share_of_groups
from snellen.stats import Estimate

REVISION = "598c3c3d732422d29580e9ecf8f2a7928a068fdd"
SOURCE = f"DynaMath/DynaMath@{REVISION}:evaluation/opensource_json_eval.py#L26-L146"
KIT = f"{pins.VLMEVALKIT}:vlmeval/dataset/dynamath.py#L15-L106"
Parse = Callable[[Reply, Sample], Reading]
Score = Callable[[Reading, Sample], float | None]
VERDICT = "verdict in the file"
"""The rule of readings that are the authors' verdicts, `correct` or `fail`."""


def kind_of(sample: Sample) -> str:
    """float, multiple choice, or text."""
    return str(sample.data["answer_type"])


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    rules: dict[str, tuple[str, Parse, Score]] = {
        "official": (SOURCE, official_answer, official_score),
        "vlmevalkit": (KIT, kit_answer, kit_score),
        "robust": ("ours", robust_answer, robust_score),
    }
    metrics = {
        "average": Metric(mean, better="higher"),
        "worst_case": of_questions(share_of_groups("question", "variant", "all right")),
        "best_case": of_questions(share_of_groups("question", "variant", "any right")),
        "robustness": of_questions(robustness),
    }
    only_replies = {name: of_replies(average) for name, average in metrics.items()}
    return {
        name: Scoring(
            version=1,
            source=source,
            parse=parse,
            score=score,
            metrics=metrics if name == "official" else only_replies,
        )
        for name, (source, parse, score) in rules.items()
    }


# -- metrics


def of_replies(share: Metric) -> Metric:
    """The metric, without a value for a file that has verdicts and no replies."""

    def compute(columns: Columns) -> Estimate:
        if columns.score is None:
            return Estimate(value=None, n=0, reason="the file has no replies")
        return share(columns)

    return replace(share, compute=compute)


def of_questions(share: Metric) -> Metric:
    """The metric over the questions that have a score for each variant. If the rows have a single
    variant, there is no value."""

    def compute(columns: Columns) -> Estimate:
        import numpy as np

        if is_single_category(columns, "variant"):
            return Estimate(value=None, n=0, reason="the rows have a single variant")
        question, variant = columns.tags["question"].codes, columns.tags["variant"].codes
        pairs = np.unique(np.stack([question, variant]), axis=1)
        variants = np.bincount(pairs[0])[question]
        return share(columns.where(variants == len(np.unique(variant))))

    return replace(share, compute=compute)


@metric(better="higher", unit="fraction")
def robustness(columns: Columns) -> Estimate:
    """worst_case / average, in [0, 1]. The interval resamples questions."""
    import numpy as np

    questions = groups(columns, "question", "variant")
    n = len(questions.size)
    if not n:
        return Estimate(value=None, n=0, reason=NONE_COMPLETE)
    if not questions.right.any():
        return Estimate(value=None, n=n, reason="no reply is right")
    sums = np.stack([questions.all_right, questions.right], axis=1)
    return stats.bootstrap_sums(sums, stats.ratio, n=n, clusters=questions.cluster)


# -- official


def in_braces(text: str) -> str | None:
    """The text from the first `{` to the last `}`."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else None


def official_answer(reply: Reply, _: Sample) -> Reading:
    """Parse the short answer of a reply's JSON, from which all backslashes are deleted first, so
    that LaTeX loses them. A missing short answer is the text "None"."""
    part = in_braces(reply.text)
    text = reply.text if part is None else part.replace("\\", "")
    try:
        parsed = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return Reading(answer=text.split("\n")[-1][:-1] or None, rule="last line, cut")
    if not isinstance(parsed, dict):
        return Reading(answer=None, rule="no object")
    return Reading(answer=str(parsed.get("short answer")) or None, rule="short answer")


def official_score(reading: Reading, sample: Sample) -> float:
    if reading.rule == VERDICT:
        return float(reading.answer == "correct")
    if reading.answer is None:
        return 0.0
    answer, target = str(reading.answer), sample.target or ""
    if kind_of(sample) == "float":
        return float(close(answer, target))
    if kind_of(sample) == "multiple choice":
        return float(answer == target if len(answer) == 1 else target in answer[:3])
    return float(target in answer)


def value(text: str) -> float | None:
    """The number before the first space or π. The text after π is ignored."""
    digits, pi, _ = text.split(" ")[0].partition("π")
    try:
        return float(digits) * (math.pi if pi else 1)
    except ValueError:
        return None


def close(answer: str, target: str) -> bool:
    left, right = value(answer), value(target)
    return left is not None and right is not None and abs(left - right) <= 0.001


# -- vlmevalkit


def kit_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the short answer of a reply's JSON or, if that is not possible, the whole reply."""
    text = (in_braces(reply.text) or reply.text).replace("\\", "")
    try:
        stated = json.loads(text, strict=False)["short answer"]
    except (ValueError, RecursionError, KeyError, TypeError):
        stated = None
    # VLMEvalKit stops with an error if the answer to a question about a text is not a text.
    for rule, part in (("short answer", stated), ("whole reply", text)):
        if isinstance(part, str) and (answer := kit_short(part, kind_of(sample))) is not None:
            return Reading(answer=answer, rule=rule)
    return Reading(answer=None, rule="for the judge", candidates=(text[:3].upper(),))


def kit_short(text: str, kind: str) -> str | None:
    if kind == "float":
        return None if value(text) is None else text
    if kind != "multiple choice":
        return text
    letters = [text] if len(text) == 1 else [letter for letter in "ABCDE" if letter in text.upper()]
    return letters[0].upper() if len(letters) == 1 else None


def kit_score(reading: Reading, sample: Sample) -> float | None:
    if reading.rule == VERDICT:
        return None
    answer, target = reading.answer, sample.target or ""
    if kind_of(sample) == "float":
        return float(answer is not None and close(str(answer), target))
    if kind_of(sample) == "multiple choice":
        if answer is None:
            return float(target in str(reading.candidates[0]))
        return float(answer == target)
    # In this direction, so that an empty answer is right.
    return float(str(answer).lower() in target.lower())


# -- robust

CHOICE = re.compile(r"(?:\([A-J]\)|^[A-J][.:])\s*(.*?)\s*(?=\([A-J]\)|\n|$)", re.MULTILINE)
TAGGED = re.compile(r"<answer>([^<]*)</answer>")


def robust_answer(reply: Reply, sample: Sample) -> Reading:
    short = replace(reply, text=stated(reply.text) or reply.text)
    if kind_of(sample) == "multiple choice":
        return as_reading(option_letter(short.text, CHOICE.findall(sample.question)))
    return (parse_value if kind_of(sample) == "float" else parse_phrase)(short, sample)


def stated(text: str) -> str | None:
    """The short answer of a reply's JSON, or the text in the last answer tag."""
    try:
        short = json.loads(in_braces(text) or "", strict=False).get("short answer")
    except (ValueError, RecursionError):
        short = next(reversed(TAGGED.findall(text)), None)
    return None if short is None else str(short)


def robust_score(reading: Reading, sample: Sample) -> float | None:
    if reading.rule == VERDICT:
        return None
    if reading.answer is None:
        return 0.0
    answer, target = str(reading.answer), sample.target or ""
    if kind_of(sample) == "multiple choice":
        return float(answer == target)
    left, right = number(cleaned(answer)), number(cleaned(target))
    if left is None or right is None:
        return float(plain_words(answer) == plain_words(target))
    return float(abs(left - right) <= 0.001 * (1 + 1e-9))
