"""MMVU: questions of experts in 27 subjects about videos, with five choices or open.

Paper    Zhao et al. 2025, MMVU: Measuring Expert-Level Multi-Discipline Video Understanding,
         https://arxiv.org/abs/2501.12380 (CVPR).
Data     yale-nlp/MMVU on the Hugging Face hub and in the authors' repository: data/validation.json
         with 1,000 questions, and videos/{subject}/{number}.mp4, whose address is in `video`.
Prompt   `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/mmvu/utils.py#L82-L101, the authors' prompt for direct answers. Replies are limited
         to 1,024 tokens. Frames are uniform:32.
         `cot`, `direct`: the authors' prompts, yale-nlp/MMVU@4d54223d912f498707c105ab645a921abce6e3
         9a:utils/constant.py#L7-L41. Their main results have `cot`, at temperature 1.
Scoring  `official` (on request, or with the authors' prompts): gpt-4o judges all replies,
         utils/eval_utils.py#L8-L102, and returns JSON with the extracted answer and whether it is
         correct. A text of another form counts as wrong for the authors; here, it stays unjudged.
         `graded` is a judge with Snellen's prompt, on request.
         `lmms-eval`: lmms_eval/tasks/mmvu/utils.py#L163-L274, which lmms-eval uses before its
         judge. A choice is right if its letter stands alone anywhere ("A or B" is right for both),
         if its text is in the reply, or if its letter, even in a word, and one of its words are. An
         open answer is right if it contains the right answer or is contained in it: **an empty
         reply is right for every open question.**
         `robust`: Snellen's own rule. An empty reply is wrong.
Proof    For 380 generated replies, every verdict equals that of lmms-eval's code. 240 generated
         prompts of the judge and of questions equal the authors' (tests/parity).
         `robust` is checked on examples worked out by hand.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from string import punctuation
from typing import Literal

from snellen.answers.phrase import final_phrase
from snellen.benchmarks.families import authors_files, choice_sets, mmvu_judge, pins
from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families.judges import PERFECT, graded, perfect_grade
from snellen.benchmarks.families.tasks import parse_letter, plain_words, wrong_letter
from snellen.core import Benchmark, Capabilities, Check, Presentation, Reading, Reply, Sample
from snellen.data import DataFile, Row, find

KIND = "mixed"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "toolkit's code"
SIZE = 1000
ALIASES: dict[str, dict[str, object]] = {"mmvu_val": {}}
RAISED = str.maketrans({sign: f"^{digit}" for digit, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})
ORDER = re.compile(r"o\s*\([^)]+\)")
NUMBER = re.compile(r"\d++\.?\d*+")
TEXTS = (
    "Visual Information: processed video\nDo not generate any intermediate reasoning process. ",
    "Answer directly with the option letter from the\ngiven choices.\n",
    "Directly output the final answer.\n",
)


Preset = Literal["lmms-eval", "cot", "direct"]


def mmvu(prompt: Preset = "lmms-eval", data: Path | None = None) -> Benchmark:
    data_file = find(data, "mmvu", ("data/validation.json", "validation.json"))
    rule = choice_sets.rule(f"{pins.LMMS_EVAL}:lmms_eval/tasks/mmvu/utils.py#L163-L274", lmms_eval)
    by_judge = {"official": mmvu_judge.scoring(on_request=prompt == "lmms-eval")}
    by_rule = {"lmms-eval": rule, "robust": choice_sets.rule("ours", robust)}
    first = "lmms-eval" if prompt == "lmms-eval" else "official"
    scorings = choice_sets.headline({**by_rule, **by_judge, **graded()}, first)
    return videos.choice_benchmark(
        "mmvu",
        authors_files.table(data_file, authors_files.objects),
        lambda row: to_sample(row, data_file),
        lambda sample: text_of(sample, prompt),
        scorings,
        Check(
            says=lambda _, answer: answer,
            wrong=lambda sample: wrong_letter(sample) if sample.choices else "zzz",
            verdict=perfect_grade,
            # "A B C D E" has each letter alone.
            expect={
                "lmms-eval": {**PERFECT, "hedging": 1.0},
                "robust": PERFECT,
                "official": PERFECT,
                "graded": PERFECT,
            },
        ),
        max_answer_tokens=1024,
        presentation=Presentation(
            break_down_by=("subject", "question_type"),
            capabilities=Capabilities(
                tag="", leaves={"": "knowledge/domain"}, source="https://arxiv.org/abs/2501.12380"
            ),
        ),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    choices = [text for text in (row.get("choices") or {}).values() if text]
    is_open = row["question_type"] == "open-ended"
    name = "/".join(PurePosixPath(row["video"]).parts[-2:])
    subject = (row.get("metadata") or {}).get("subject")
    return videos.question(
        videos.clip(data_file, name),
        str(row["id"]),
        row["question"],
        () if is_open else choices,
        str(row["answer"]) if is_open else choice_sets.target_of(row["answer"], choices),
        {"subject": subject, "question_type": row["question_type"]},
    )


def text_of(sample: Sample, prompt: Preset) -> str:
    if prompt != "lmms-eval":
        return mmvu_judge.question_text(sample, prompt)
    pairs = zip("ABCDE", sample.choices, strict=False)
    listed = "".join(f"{letter}: {choice}\n" for letter, choice in pairs)
    return f"\nQuestion:{sample.question}\n{listed}{TEXTS[0]}{TEXTS[1 if listed else 2]}"


# -- scoring: a reading has the right answer, or none


def lmms_eval(reply: Reply, sample: Sample) -> Reading:
    of = choice_rules if sample.choices else open_rules
    rule = next((name for name, fits in of(reply.text.strip(), sample) if fits), None)
    return Reading(answer=sample.target if rule else None, rule=rule or "no rule fits")


def choice_rules(text: str, sample: Sample) -> Iterator[tuple[str, bool]]:
    letter = str(sample.target)
    choice = sample.choices["ABCDE".index(letter)].strip().lower()
    words = [word.strip(punctuation) for word in choice.split()]
    low = text.lower()
    yield "letter", re.search(rf"\b{letter}\b", text, re.IGNORECASE) is not None
    yield "text", choice in low
    yield (
        "letter and word",
        letter in text.upper() and any(len(word) > 2 and word in low for word in words),
    )


def open_rules(text: str, sample: Sample) -> Iterator[tuple[str, bool]]:
    low, right = (part.lower().translate(RAISED) for part in (text, str(sample.target).strip()))
    ours, theirs = (" ".join(part.split()) for part in (low, right))
    yield "contains the answer", theirs in ours
    yield "is contained", ours in theirs
    numbers = [NUMBER.search(part) for part in (low, right)]
    values = [float(match[0]) for match in numbers if match]
    yield "number", len(values) == 2 and abs(values[0] - values[1]) < 0.01
    words = [[word.strip(punctuation) for word in part.split()] for part in (ours, theirs)]
    wanted = [word for word in words[1] if word]
    long = [word for word in wanted if len(word) > 2]
    yield "words", 2 <= len(wanted) <= 5 and all(word in words[0] for word in long)
    orders = [ORDER.search(part) for part in (ours, theirs)]
    yield "order", all(orders) and len({match[0] for match in orders if match}) == 1


def robust(reply: Reply, sample: Sample) -> Reading:
    if sample.choices:
        return parse_letter(reply, sample)
    phrase = final_phrase(reply.text)
    right = plain_words(phrase.answer or "") == plain_words(str(sample.target))
    return Reading(answer=sample.target if right and phrase.answer else None, rule=phrase.rule)
