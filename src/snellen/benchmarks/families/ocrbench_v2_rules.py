"""The rules of OCRBench v2's 30 tasks.

Yuliang-Liu/MultimodalOCR@794c36d6423cf1d5764081128bcaeb46b240def6:OCRBench_v2/eval_scripts. Line
numbers are those of eval.py, unless a file is stated. Where the authors' script stops at a reply,
the reply has the score 0 here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

from snellen.benchmarks.families.edit_distance import plain_similarity
from snellen.benchmarks.families.html_tables import page_of, teds
from snellen.benchmarks.families.ocrbench_v2_boxes import last_box, overlap, spotted
from snellen.benchmarks.families.ocrbench_v2_trees import (
    chart_table,
    markdown_as_html,
    page_similarity,
    table_similarity,
    with_tags,
)
from snellen.benchmarks.families.text_overlap import agreement
from snellen.core import Reading, Sample
from snellen.errors import DataError
from snellen.text.literals import literal

Tool = Literal["official", "vlmevalkit", "lmms-eval", "evalscope"]
Fields = Mapping[str, Any]
"""What the data has for a question: `type`, `question`, `answers`, `eval`, `bbox`, `content`."""

FENCE = re.compile(r"```(?:python|json)?\n(.*?)\n```", re.DOTALL | re.IGNORECASE)
KEY = re.compile(r"[\"']?([\w\s]++)(?:[\"']?\s*+[:=]\s*[\"']?([^\n,\"'{}]+)[\"']?)?")
SEPARATORS = ("", ".", ". ", ",", ", ", "、", ";", "; ", " ", "和")
SHORT_ANSWER = "简答"
"""What the question says if a handwritten answer is a text, and not letters of choices."""


def score(reading: Reading, sample: Sample, tool: Tool = "official") -> float:
    fields: Fields = sample.data
    return float(RULES[fields["type"]](str(reading.answer or ""), fields, tool))


def is_scored(fields: Fields, lacking: bool) -> bool:
    """Whether the authors score a question. `lacking` means that packages for texts are missing."""
    kind = fields["type"]
    if kind == "table parsing en":
        return wants_html(fields["question"]) or "markdown" in fields["question"].lower()
    if kind == "text translation cn" and not only_answer(fields):
        return False
    is_text = RULES[kind] is full_text or (
        RULES[kind] is handwriting and SHORT_ANSWER in fields["question"]
    )
    return not (lacking and is_text)


def without_answer(sample: Sample) -> Sample:
    return replace(sample, references=())


def texts_of(answers: object) -> list[str]:
    return [str(answer) for answer in answers] if isinstance(answers, list) else [str(answers)]


def only_answer(fields: Fields) -> Any:
    answers = fields["answers"]
    return answers[0] if isinstance(answers, list) else answers


# -- questions: vqa_metric.py

OF_PLAIN_TEXT: Mapping[Tool, Mapping[str, str]] = {
    "official": {"case": "short", "chinese": "short", "": "long"},
    "vlmevalkit": {"case": "short", "chinese": "stops", "": "short"},
    "lmms-eval": {"case": "short", "chinese": "short", "": "short"},
    "evalscope": {"case": "long", "chinese": "long", "": "long"},
}
"""Which answers are compared by edit distance if they are a plain text, not a list. By mistakes in
the indentation, it is often the short ones, and the long ones have 0."""


def question(text: str, fields: Fields, tool: Tool) -> float:
    """A question whose answer is a word, a letter, or a text (#L49-L90)."""
    kind = fields.get("eval") or ""
    if kind == "multiple choice":
        return float("".join(filter(str.isalpha, text)) == only_answer(fields))
    if kind not in ("", "case sensitive"):
        raise DataError(f"{kind!r} is not a way to compare answers. Check the column `eval`.")
    if kind:
        return closest(text, fields["answers"], "case", tool)
    return closest(text, fields["answers"], "chinese" if is_chinese(fields) else "", tool)


def is_chinese(fields: Fields) -> bool:
    return str(fields["type"]).endswith(" cn")


def closest(text: str, answers: object, kind: str, tool: Tool) -> float:
    """1 if the reply contains a short answer. For longer answers, the edit similarity if it is at
    least 0.5. The best over all answers (vqa_metric.py#L25-L149)."""

    def even(part: str) -> str:
        part = (part if kind == "case" else part.lower()).strip().replace("\n", " ")
        return part.replace(" ", "") if kind == "chinese" else part

    def is_short(answer: str) -> bool:
        return len(answer.split(",")) < 4 if kind == "chinese" else len(answer.split()) < 5

    text, compared = even(text), OF_PLAIN_TEXT[tool][kind]
    if isinstance(answers, list):
        compared = "long"
    elif compared == "stops":
        raise stops_at_plain_text(tool)
    best = 0.0
    for answer in map(even, texts_of(answers)):
        short = is_short(answer)
        if short and answer in text:
            return 1.0
        if short == (compared == "short"):
            similarity = plain_similarity(text, answer)
            best = max(best, similarity if similarity >= 0.5 else 0.0)
    return best


def stops_at_plain_text(tool: Tool) -> DataError:
    return DataError(
        f"The code of {tool} stops at answers that are a plain text instead of a list. Use the "
        "scoring `official`."
    )


def count(text: str, fields: Fields, tool: Tool) -> float:
    """A number, contained in the reply or close to its first number (vqa_metric.py#L152-L222)."""
    answers, exact = fields["answers"], fields.get("eval") == "exact match"
    lowered = text.lower().strip().replace("\n", " ")
    match = re.search(r"\d+", lowered)
    number = int(match[0][:400]) if match else 0
    if tool == "vlmevalkit" and not isinstance(answers, list):
        if exact or number:
            raise stops_at_plain_text(tool)
        return 0.0
    if exact:
        kept = isinstance(answers, list) and tool != "evalscope"
        rights = (answer.lower().strip().replace("\n", " ") for answer in texts_of(answers))
        return float(any(right in (text if kept else lowered) for right in rights))
    return max((near(number, int(answer)) for answer in texts_of(answers)), default=0.0)


def near(number: int, right: int) -> float:
    if not 0 < number < 2 * right:
        return 0.0
    closeness = 1 - abs(number - right) / right
    return closeness if closeness > 0.5 else 0.0


def formula(text: str, fields: Fields, _: Tool) -> float:
    """Whether the reply contains the formula, without blanks (vqa_metric.py#L225-L273)."""
    if is_chinese(fields) and text.lower() == "nan":
        return 0.0

    def even(part: str) -> str:
        if is_chinese(fields):
            part = re.sub(r"\\text\{([^{}]*)\}", r"\1", part)
        return part.strip().replace("\n", " ").replace(" ", "")

    return float(any(even(answer) in even(text) for answer in texts_of(fields["answers"])))


# -- texts


def full_text(text: str, fields: Fields, _: Tool) -> float:
    """The agreement of texts (#L284-L327). An empty reply has 0."""
    return agreement(text, str(only_answer(fields))) if text else 0.0


def handwriting(text: str, fields: Fields, tool: Tool) -> float:
    """The agreement with a text, or whether the reply contains the letters of the right choices
    (#L92-L133)."""
    if SHORT_ANSWER in fields["question"]:
        return full_text(text, fields, tool)
    letters = str(only_answer(fields))
    return float(any(separator.join(letters) in text for separator in SEPARATORS))


# -- tables, charts, and pages


def table(text: str, fields: Fields, _: Tool) -> float:
    """TEDS of a table in HTML or Markdown (#L147-L212). The question says which in English."""
    right = str(only_answer(fields))
    if not is_chinese(fields) and not wants_html(fields["question"]):
        return table_similarity(markdown_as_html(text), markdown_as_html(right))
    text = text.replace("\n", "")
    start = text.find("<body") if "<body" in text else text.find("<table")
    return table_similarity(with_tags(text[start:]), with_tags(right)) if start >= 0 else 0.0


def wants_html(text: str) -> bool:
    return "html" in text.lower()


def chart(text: str, fields: Fields, _: Tool) -> float:
    """TEDS of a chart's data as a table of keys and values (#L214-L226 and TEDS_metric.py
    #L278-L336)."""
    parts = fenced(text)
    text = max(parts, key=len) if parts else text.strip()
    text = re.sub(r"#.*", "", re.sub(r"^\s*\w+\s*=\s*", "", text.strip(), count=1))
    try:
        value = literal(text[: text.rfind("}") + 1] or text)
    except ValueError:
        return 0.0
    right = only_answer(fields)
    right = parsed(right) if isinstance(right, str) else right
    if not isinstance(value, dict) or not value or not isinstance(right, dict):
        return 0.0
    return teds(page_of(chart_table(value)), page_of(chart_table(right)))


def page(text: str, fields: Fields, _: Tool) -> float:
    return page_similarity(text, str(only_answer(fields)))


# -- key information


def key_information(text: str, fields: Fields, _: Tool) -> float:
    """The share of right values over the keys of the reply and of the reference (#L236-L275 and
    TEDS_metric.py#L339-L442)."""
    rights = rights_of(only_answer(fields), split_text=not is_chinese(fields))
    if not rights or not all(rights.values()):
        return 0.0
    values = {key: even_value(value) for key, value in pairs_of(text).items()}
    hits = 0
    keys = {*values, *rights}
    for key in [*keys]:
        if key not in values and None in rights.get(key, ()):
            keys.remove(key)
        elif key in values and values[key] in rights.get(key, ()):
            hits += 1
    return hits / len(keys) if keys else 0.0


def even_value(value: object) -> str:
    return str(value).lower().strip().replace("\n", " ").replace(" ", "")


def rights_of(answer: object, split_text: bool) -> dict[str, list[str | None]]:
    """The possible values of each key. In English, a text that is a value of an object, and not of
    a text with an object, stands for its characters."""
    split = split_text and isinstance(answer, dict)
    if isinstance(answer, str):
        answer = parsed(answer.strip('"'))
        answer = parsed(answer) if isinstance(answer, str) else answer
    if not isinstance(answer, dict):
        return {}
    lists = {
        key: [*value] if isinstance(value, list) or (split and isinstance(value, str)) else [value]
        for key, value in answer.items()
    }
    return {
        key: [None if value is None else even_value(value) for value in values]
        for key, values in lists.items()
    }


def fenced(text: str) -> list[str]:
    """The contents of fences of backticks."""
    # A fence that opens after the last end never ends. Looking for its end would take quadratic
    # time.
    return FENCE.findall(text, 0, text.rfind("\n```") + 4)


def parsed(text: str) -> object:
    """The value of JSON or of a Python literal. None if the text is neither."""
    for read in (json.loads, literal):
        with suppress(ValueError, RecursionError):
            return read(text)
    return None


def pairs_of(text: str) -> dict[str, str]:
    """The keys and values in a reply: JSON, a Python literal, or else text such as `key: value`
    (TEDS_metric.py#L220-L275)."""
    parts = fenced(text)
    text = parts[0] if parts else text.strip()
    data: object
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        try:
            data = literal(text)
        except ValueError:
            data = {match[1].strip(): match[2] for match in KEY.finditer(text) if match[2]}
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        return {}
    return {key.strip(): str(value).strip() for key, value in data.items()}


# -- boxes


def grounding(text: str, fields: Fields, _: Tool) -> float:
    box = last_box(text)
    return overlap(box, fields["answers"]) if box else 0.0


def question_and_box(text: str, fields: Fields, tool: Tool) -> float:
    pairs, content, iou = pairs_of(text), 0.0, 0.0
    if "answer" in pairs:
        content = closest(pairs["answer"], fields["answers"], "", tool)
    if "bbox" in pairs:
        with suppress(ValueError, TypeError):
            box = literal(pairs["bbox"])
            iou = overlap(box, fields["bbox"]) if isinstance(box, list | tuple) else 0.0
    return (content + iou) / 2


def spotting(text: str, fields: Fields, _: Tool) -> float:
    return spotted(text, fields["bbox"] or (), fields["content"] or ())


ABILITIES: Mapping[str, Mapping[str, Callable[[str, Fields, Tool], float]]] = {
    "text recognition (en)": {
        "text recognition en": question,
        "fine-grained text recognition en": full_text,
        "full-page OCR en": full_text,
    },
    "text detection (en)": {
        "text grounding en": grounding,
        "VQA with position en": question_and_box,
    },
    "text spotting (en)": {"text spotting en": spotting},
    "relationship extraction (en)": dict.fromkeys(
        ("key information extraction en", "key information mapping en"), key_information
    ),
    "element parsing (en)": {
        "document parsing en": page,
        "chart parsing en": chart,
        "table parsing en": table,
        "formula recognition en": formula,
    },
    "mathematical calculation (en)": {"math QA en": question, "text counting en": count},
    "visual text understanding (en)": dict.fromkeys(
        ("document classification en", "cognition VQA en", "diagram QA en"), question
    ),
    "knowledge reasoning (en)": dict.fromkeys(
        ("reasoning VQA en", "science QA en", "APP agent en", "ASCII art classification en"),
        question,
    ),
    "text recognition (cn)": {"full-page OCR cn": full_text},
    "relationship extraction (cn)": {
        "key information extraction cn": key_information,
        "handwritten answer extraction cn": handwriting,
    },
    "element parsing (cn)": {
        "document parsing cn": page,
        "table parsing cn": table,
        "formula recognition cn": formula,
    },
    "visual text understanding (cn)": {"cognition VQA cn": question},
    "knowledge reasoning (cn)": {"reasoning VQA cn": question, "text translation cn": full_text},
}
"""The rules of the types of questions, by ability (get_score.py#L35-L83)."""
RULES = {name: rule for types in ABILITIES.values() for name, rule in types.items()}
ABILITY_OF = {name: ability for ability, types in ABILITIES.items() for name in types}
