"""MATH-Vision (MATH-V): competition mathematics with a picture, in five levels and 16 subjects.

Paper    Wang et al. 2024, Measuring Multimodal Mathematical Reasoning with MATH-Vision Dataset,
         https://arxiv.org/abs/2402.14804 (NeurIPS 2024, Datasets and Benchmarks).
Data     mathllm/MATH-V@a1f5cc3add200c0cd080fad463e500f44ef1fb41:data/test.jsonl has 3,040
         questions, and data/testmini.jsonl has 304 of them. The pictures are in images/. The
         license is MIT.
         1,532 questions have five choices, and 1,508 have none.
         The pictures of a question are merged into one picture, while the marks <image1>, ... stay
         in the text.
Prompt   `direct`: models/GPT4V.py#L22-L30. The picture comes after the text (#L51-L58).
         `cot`: models/Qwen-VL.py#L19-L28. The picture comes before the text (#L35-L41).
         `gemini`: models/Gemini.py#L181-L238. This prompt includes the choices even if they are
         only letters. The picture comes after the text (#L61).
         Replies are limited to 4,096 tokens (GPT4V.py#L68, Gemini.py#L187).
Scoring  `official`: evaluation/evaluate.py#L15-L48, utils.py#L42-L135 and #L226-L426. Numbers are
         compared to two decimals. A reply may give the value of a choice instead of its letter.
         Comments in the code below describe the quirks of this scoring. In a file of replies, every
         line counts, so a question with several lines counts several times.
         `robust`: Snellen's own rule, which takes the letter or value that a reply settles on.
Proof    For the published outputs of 8 models, every extracted answer, every verdict, and all
         accuracies by level and subject equal the authors' (tests/parity).
         `robust` is checked on examples worked out by hand.
"""

import re
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

from snellen.benchmarks.families.mathematics import is_float, robust, wrong_letter_or_value
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.core.prompts import lettered
from snellen.data import DataFile, Row, find, jsonl
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Message, user
from snellen.metrics import mean
from snellen.text.numbers import latex2sympy_value

REVISION = "a1f5cc3add200c0cd080fad463e500f44ef1fb41"
SOURCE = f"mathllm/MATH-V@{REVISION}:evaluation/evaluate.py#L15-L48"
KIND = "mixed"
LANGUAGES = ("en",)
LICENSE = "MIT"
PROOF = "published outputs"
SIZE = 3040
OTHER_SIZES = {"split=testmini": 304}
ALIASES = {
    "MathVision": {"split": "test"},
    "MathVision_MINI": {"split": "testmini"},
    "mathvision_test": {"split": "test"},
    "mathvision_testmini": {"split": "testmini"},
}
FILES = {
    "test": ("test.jsonl", "annotations.jsonl", "data/test.jsonl"),
    "testmini": ("testmini.jsonl", "data/testmini.jsonl"),
}
RAW = f"https://raw.githubusercontent.com/mathllm/MATH-V/{REVISION}"
FILES_PUBLISHED = (
    File(
        name="data/test.jsonl",
        url=f"{RAW}/data/test.jsonl",
        sha256="36608758db6205692f59423316ba281a4e2e5f23286452ae31739ed4278133a8",
        size=1_741_681,
    ),
    File(
        name="data/testmini.jsonl",
        url=f"{RAW}/data/testmini.jsonl",
        sha256="449e238b768f702e2659543495f2c87ee1f41a9e9c013d174daf12029756227a",
        size=131_218,
    ),
    # The repository has the pictures as single files. On the hub, they are one archive.
    File(
        name="images.zip",
        url="hf://datasets/MathLLMs/MathVision@08d26d67d45431e1e88ed7e70f4737615b519aad/images.zip",
        unpack=True,
        note="52.4 MB; the 3,040 pictures",
    ),
)

MATHEMATICS = (
    *("algebra", "analytic geometry", "arithmetic", "combinatorial geometry", "combinatorics"),
    *("counting", "descriptive geometry", "graph theory", "metric geometry - angle"),
    *("metric geometry - area", "metric geometry - length", "solid geometry", "statistics"),
    *("topology", "transformation geometry"),
)
LEAVES = {**dict.fromkeys(MATHEMATICS, "reasoning/mathematical"), "logic": "reasoning/logic"}

Preset = Literal["direct", "cot", "gemini"]
DIRECT = "Answer the question using a single word or phrase."
COT = (
    'Please solve the problem step by step and put your answer in one "\\boxed{}". '
    'If it is a multiple choice question, only one letter is allowed in the "\\boxed{}".\n'
)
GEMINI = (
    "Please first solve the problem step by step, then put your final answer or a single letter "
    '(if it is a multiple choice question) in one "\\boxed{}". \n'
)


def mathvision(
    split: Literal["test", "testmini"] = "test",
    prompt: Preset = "direct",
    data: Path | None = None,
) -> Benchmark:
    data_file = find(data, "mathvision", FILES[split], FILES_PUBLISHED)
    return Benchmark(
        name="mathvision",
        asks=1,
        data=jsonl(data_file, revision=REVISION),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: PROMPTS[prompt](sample),
        scorings={
            "official": Scoring(
                version=1,
                source=SOURCE,
                parse=official_answer,
                score=official_score,
                metrics={"accuracy": mean},
            ),
            "robust": robust(version=3),
        },
        max_answer_tokens=4096,
        check=Check(
            says=lambda _, answer: answer if prompt == "direct" else f"\\boxed{{{answer}}}",
            wrong=wrong_letter_or_value,
            # From hedging replies, official parses "abcde" and "123", which are wrong for all
            # bundled rows.
            expect={
                "official": {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0},
                "robust": {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0},
            },
        ),
        presentation=Presentation(
            break_down_by=("level", "subject", "subject_level"),
            capabilities=Capabilities(
                tag="subject", leaves=LEAVES, source="https://arxiv.org/abs/2402.14804, section 3"
            ),
        ),
        interop=Interop(
            files=data_file,
            layout=repeated_lines,
        ),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    level = f"level{row['level']}"
    return Sample(
        id=str(row["id"]),
        question=row["question"],
        choices=tuple(row["options"]),
        media=(data_file.image(row["image"]),),
        target=str(row["answer"]),
        tags={
            "level": level,
            "subject": row["subject"],
            "subject_level": f"{row['subject']}_{level}",
        },
    )


# -- prompts


def choice_lines(sample: Sample) -> str:
    return lettered(sample.choices, "({letter}) {choice}") + "\n" if sample.choices else ""


def choice_lines_with_text(sample: Sample) -> str:
    """The lines with the choices. Empty if the choices are only the letters A to E, since the
    picture then shows what the letters stand for."""
    return "" if "".join(sample.choices) == "ABCDE" else choice_lines(sample)


def direct(sample: Sample) -> tuple[Message, ...]:
    text = f"{sample.question}\n{choice_lines_with_text(sample)}\n{DIRECT}"
    return (user(text, *sample.media),)


def chain_of_thought(sample: Sample) -> tuple[Message, ...]:
    text = f"{COT}{sample.question}\n{choice_lines_with_text(sample)}"
    return (user(*sample.media, text),)


def gemini(sample: Sample) -> tuple[Message, ...]:
    return (user(f"{GEMINI}{sample.question}\n{choice_lines(sample)}", *sample.media),)


PROMPTS = {"direct": direct, "cot": chain_of_thought, "gemini": gemini}


# -- scoring, official

FLAGS = ("the final answer is", "the answer is", "the correct answer is", "the answer should be")
# Texts that are deleted or replaced, in this order, before fractions are repaired.
REPLACED = (
    (" ", ""), (r"\,", ""), ("∞", r"\infty"), (r"+\infty", r"\infty"), ("\\\\", "\\"), ("\n", ""),
    (r"\text", ""), (r"\mbox", ""), ("bmatrix", "pmatrix"), (r"\left", ""), (r"\right", ""),
    (r"^{\circ}", ""), (r"^\circ", ""), ("{m}^3", ""), ("m^3", ""), ("{units}", ""), ("units", ""),
    ("{km}", ""), ("km", ""), (r"\!", ""), ("\\\\", "\\"), ("tfrac", "frac"), ("dfrac", "frac"),
    (r"\left", ""), (r"\right", ""), (r"^{\circ}", ""), (r"^\circ", ""), (r"\$", ""), ("$", ""),
    (r"\%", ""), ("{.", "{0."),
)  # fmt: skip


def official_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the answer that the authors' extraction finds in a reply. If the extraction finds
    nothing, the reply is unparsed."""
    text, rule = reply.text.strip(), "whole reply"
    for letter in "ABCDE":
        ends = (f" {letter}.", f" ({letter}).")
        begins = (f"{letter}\n", f"({letter})\n", f"({letter}) {letter}\n")
        if text.endswith(ends) or text.startswith(begins):
            text, rule = letter, "letter at an end"
    _, separator, last = text.rpartition("is ")
    if is_float(last.rstrip(".")):
        text, rule = last.rstrip("."), "number at the end" if separator else rule
    if "oxed{" not in text:
        for flag in FLAGS:
            for phrase in (flag, flag.replace("the", "The")):
                _, separator, after = text.rpartition(phrase)
                text = after.strip()
                if separator:
                    # The sentence is cut at its end: "B because. No" becomes "B because".
                    text, rule = text.split("\n")[0].split(". ")[0], flag
    else:
        rule = "boxed"
        if text.count("oxed{") > 1:
            text = "\\boxed{" + text.rpartition("oxed{")[2]
    text = without_latex(text)
    for mark in "abcde":
        text = text.replace(f"({mark})", mark)
    for mark in "abcde":
        text = text.replace(f"{{{mark}}}", mark)
    text = text.rstrip(".").lstrip(":").strip()
    return Reading(answer=text or None, rule=rule)


def without_latex(text: str) -> str:
    """Extract the answer from a text, in lowercase and without the formatting that the authors'
    code removes."""
    text = text.lower().replace("{}", "")
    start, end = text.find("oxed{"), text.rfind("}")
    if start >= 0 and end >= start + 5:
        # The text from the first box to the last brace, even if that brace closes something else.
        text = text[start + 5 : end]
    closing, opening = text.find("}"), text.find("{")
    if closing != -1 and (opening == -1 or closing < opening):
        text = text[:closing]
    text = text.rpartition("=")[2].rpartition(r"\approx")[2]
    for old, new in REPLACED:
        text = text.replace(old, new)
    if text.startswith("."):
        text = "0" + text
    for sign in ("=", r"\approx"):
        # The replacements may have created a new sign.
        if text.count(sign) == 1:
            text = text.partition(sign)[2]
    if "sqrt" in text:
        # A cube root is broken here: \sqrt[3]{8} becomes \sqrt{[}3]{8}.
        text = re.sub(r"\\sqrt(?!\\sqrt)([^{])", r"\\sqrt{\1}", text, flags=re.DOTALL)
        # \frac12 is repaired only in a text with a root.
        text = with_braces(text)
    if text == "0.5":
        return r"\frac{1}{2}"
    # A trailing full stop prevents this match, since it is removed only later.
    if quotient := re.fullmatch(r"(0|-?[1-9][0-9]*)/(0|-?[1-9][0-9]*)", text, flags=re.ASCII):
        return f"\\frac{{{quotient[1]}}}{{{quotient[2]}}}"
    return text


def with_braces(text: str) -> str:
    r"""Add braces to fractions: \frac12 becomes \frac{1}{2}. The text stays unchanged if fewer than
    two characters follow any \frac."""
    first, *rest = text.split(r"\frac")
    if any(len(part) < 2 and part != "{" for part in rest):
        return text
    for index, part in enumerate(rest):
        if part[0] != "{":
            lower = part[1:] if part[1] == "{" else f"{{{part[1]}}}{part[2:]}"
            rest[index] = f"{{{part[0]}}}{lower}"
    return r"\frac".join([first, *rest])


def official_score(reading: Reading, sample: Sample) -> float:
    answer = str(reading.answer or "")
    target = sample.target or ""
    value = sample.choices[ascii_uppercase.index(target)] if sample.choices else ""
    return float(official_equal(target, answer) or official_equal(value, answer))


def official_equal(text: str, other: str) -> bool:
    """Whether two answers are the same text, the same tuple, or numbers that are equal to two
    decimals."""
    text, other = text.lower(), other.lower()
    if not text.replace(" ", "") or not other.replace(" ", ""):
        return False
    if text.strip() == other.strip():
        return True
    text, other = rounded_parts(text), rounded_parts(other)
    if text == other:
        return True
    left, right = rounded_value(text), rounded_value(other)
    return left is not None and left == right


def rounded_parts(text: str) -> str:
    r"""Convert the parts of a tuple to numbers. For example, "(\frac{6}{2},-4)" becomes "(3.0,-4)",
    not "(3,-4)"."""
    parts = text[1:-1].split(",")
    if len(parts) < 2 or text[0] + text[-1] not in ("()", "[]"):
        return text
    kept = []
    for part in parts:
        if "infty" not in part and part not in ("a", "-a"):
            value = rounded_value(part)
            if value is None:
                return text
            try:
                part = str(value)
            except ValueError:  # Python does not print integers of more than 4,300 digits
                return text
        kept.append(part)
    return text[0] + ",".join(kept) + text[-1]


def rounded_value(text: str) -> int | float | None:
    value = latex2sympy_value(text)
    return None if value is None else round(value, 2)


# -- published outputs


def repeated_lines(path: Path) -> Published | None:
    """Read a file in which some questions have several lines. The authors' script scores every
    line.

    Returns None for any other file, which the default reader then handles.
    """
    if ".jsonl" not in path.suffixes:
        return None
    try:
        rows = [(str(row["id"]), row["response"]) for row in jsonl(path)]
    except (DataError, KeyError):
        return None
    if not all(isinstance(response, str | None) for _, response in rows):
        return None
    replies: dict[str, str | None] = {}
    again: dict[str, list[str | None]] = {}
    for name, response in rows:
        if name in replies:
            again.setdefault(name, []).append(response)
        else:
            replies[name] = response
    if not again:
        return None
    note = (
        f"{len(again):,} questions are on more than one line ({len(rows):,} lines, "
        f"{len(replies):,} questions); every line counts, as in the authors' script"
    )
    return Published(replies=replies, again=again, notes=(note,))
