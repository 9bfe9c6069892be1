"""ZeroBench: 100 questions about pictures, each with many steps, and their 334 sub-questions.

Paper    Roberts et al. 2025, ZeroBench: An Impossible Visual Benchmark for Contemporary Large
         Multimodal Models, https://arxiv.org/abs/2502.09696.
Data     jonathan-roberts1/zerobench on the Hugging Face hub: the parquet file of the split
         zerobench or zerobench_subquestions. VLMEvalKit's zerobench.tsv and zerobench_sub.tsv have
         the same rows. A question has up to three pictures. No license is stated.
Prompt   The authors' code is in no public copy that we know, and copies of its prompt differ in
         blanks, line ends, and signs.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_vqa.py#L3270-L3278, which asks for steps and {the answer} in braces. 2,048
         tokens.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/zerobench/{utils.py#L11-L18,_default_template_yaml}, which asks for the answer only.
         128 tokens.
Scoring  `vlmevalkit`: vlmeval/dataset/image_vqa.py#L3237-L3268. The text in the last pair of braces
         on a line must have the right answer in it, in any case: "11" is right for 1.
         `lmms-eval`: lmms_eval/tasks/zerobench/utils.py#L21-L60. The whole reply must be the right
         answer, without its case, quotes, and final period. Plain decimal numbers are compared as
         numbers. Braces are not removed.
         `robust`: the text in the last braces, or the phrase that the reply settles on, compared
         as a number or by its words.
         The scoring with the name of the prompt is the headline.
         The paper reports one greedy reply (accuracy), and five replies with temperature 0.7: at
         least one is right (pass@5), or all are (5/5). With `--repeats 5`, these are pass@5 in the
         part on repeats, which every benchmark has, and the metric k_of_k.
Proof    `lmms-eval` and `vlmevalkit` equal the toolkits' code on 640 generated replies (tests/
         parity/test_choice_rules.py), and `lmms-eval` on those of the golden pack
         short_open_answers (tests/parity).
         k_of_k is checked on examples worked out by hand.
"""

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Literal

from snellen.answers.phrase import final_phrase
from snellen.benchmarks.families import choice_sets, pins
from snellen.benchmarks.families.authors_files import picture_key
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.tasks import parse_verbatim, plain_words
from snellen.core import Benchmark, Check, Interop, Reading, Reply, Sample, Scoring
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.metrics import Metric, mean
from snellen.metrics.lowest import lowest_of_repeats

KIND = "words"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "by hand"
SIZE = 100
OTHER_SIZES = {"questions=sub": 334}
ALIASES = {
    "ZEROBench": {"questions": "main", "prompt": "vlmevalkit"},
    "ZEROBench_sub": {"questions": "sub", "prompt": "vlmevalkit"},
}
HOST = "https://opencompass.openxlab.space/utils/VLMEval"
SHEETS = {
    "main": ("zerobench.tsv", "600d5e89325f1dab5ad3fa2ea200cea6"),
    "sub": ("zerobench_sub.tsv", "2d2131bffb7f09ca099fdd0f3ad0392b"),
}
DECIMAL = re.compile(r"-?(?:\d+\.\d+|\d+|\.\d+)")

Questions = Literal["main", "sub"]
Preset = Literal["vlmevalkit", "lmms-eval"]
PROMPTS = {
    "vlmevalkit": "{question} \n\n\nLet's think step by step and give the final answer in curly "
    "braces,  like this: {{final answer}}",
    "lmms-eval": "{stripped}\nAnswer with only the final answer.",
}


def zerobench(
    questions: Questions = "main", prompt: Preset = "vlmevalkit", data: Path | None = None
) -> Benchmark:
    files = published(questions)
    names = [file.name for file in files]
    data_file = find(data, "zerobench", names, files, f"zerobench:questions={questions}")
    table, file = choice_sets.table_of(data_file)
    rules = scorings()
    says_braces = {"vlmevalkit": PERFECT, "lmms-eval": {**PERFECT, "oracle": 0.0}}
    says_nothing_else = {"vlmevalkit": {**PERFECT, "oracle": 0.0}, "lmms-eval": PERFECT}
    return Benchmark(
        name="zerobench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: choice_sets.message(sample, PROMPTS[prompt]),
        scorings=choice_sets.headline(rules, prompt),
        max_answer_tokens=2048 if prompt == "vlmevalkit" else 128,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            # Each prompt asks for another form, which the other rule does not read.
            says=lambda _, answer: f"{{{answer}}}" if prompt == "vlmevalkit" else answer,
            wrong=lambda _: "nothing of the kind",
            expect={
                **(says_braces if prompt == "vlmevalkit" else says_nothing_else),
                "robust": PERFECT,
            },
        ),
        presentation=replace(
            choice_sets.presentation({"": "reasoning/logic"}, "https://arxiv.org/abs/2502.09696"),
            metric_tags=("question",),
        ),
        interop=Interop(files=file),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name."""

    def scoring(source: str, parse: choice_sets.Parse, score: choice_sets.Score) -> Scoring:
        metrics = {
            "accuracy": Metric(mean, better="higher"),
            "k_of_k": lowest_of_repeats("question"),
        }
        return Scoring(
            version=1, source=source, parse=parse, score=score, metrics=metrics, missing="wrong"
        )

    kit = f"{pins.VLMEVALKIT}:vlmeval/dataset/image_vqa.py#L3237-L3268"
    lmms = f"{pins.LMMS_EVAL}:lmms_eval/tasks/zerobench/utils.py#L21-L60"
    return {
        "vlmevalkit": scoring(kit, in_braces, contains),
        "lmms-eval": scoring(lmms, parse_verbatim, is_exact),
        "robust": scoring("ours", robust_answer, robust_score),
    }


def published(questions: Questions = "main", **_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file of these questions."""
    name, md5 = SHEETS[questions]
    return (File(name=name, url=f"{HOST}/{name}", md5=md5),)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    """Make a sample from a row of the hub or of a TSV, whose fields have other names."""
    question = row["question_text"] if "question_text" in row else row["question"]
    answer = next(row[key] for key in ("question_answer", "answers", "answer") if key in row)
    if not str(answer).strip():
        raise ValueError("the right answer is empty")
    shown = row["image"] if "image" in row else row["question_images_decoded"]
    media = choice_sets.pictures(shown, data_file)
    name = choice_sets.id_of(row)
    key = " ".join(map(picture_key, media))
    return Sample(
        id=name,
        question=question,
        media=media,
        target=str(answer),
        tags={"question": name},
        data={"image": key, "hint": ""},
    )


def in_braces(reply: Reply, _: Sample) -> Reading:
    """Parse the text in the last pair of braces. VLMEvalKit lowercases the reply first."""
    texts = braces(reply.text.strip().lower())
    return Reading(answer=(texts[-1] or None) if texts else None, rule="last braces")


def braces(text: str) -> list[str]:
    """The texts in braces, each within a line. `\\{(.*?)\\}` finds the same in quadratic time."""
    texts = []
    for line in text.split("\n"):
        begin = line.find("{")
        while begin >= 0 and (end := line.find("}", begin)) >= 0:
            texts.append(line[begin + 1 : end])
            begin = line.find("{", end)
    return texts


def contains(reading: Reading, sample: Sample) -> float:
    return float((sample.target or "").strip().lower() in str(reading.answer or ""))


def is_exact(reading: Reading, sample: Sample) -> float:
    return float(same(str(reading.answer or "").strip(), (sample.target or "").strip()))


def same(text: str, other: str) -> bool:
    """Whether two texts are the same number, or else the same text in lmms-eval's form."""
    left, right = normalized(text), normalized(other)
    numbers = [value.strip().replace(",", "") for value in (left, right)]
    if all(map(DECIMAL.fullmatch, numbers)):
        return Decimal(numbers[0]) == Decimal(numbers[1])
    return left == right


def normalized(text: str) -> str:
    """Lowercase a text, and remove quotes around it, repeated blanks, and one final period."""
    text = re.sub(r"\s+", " ", text.strip().lower().strip("\"'`"))
    return text[:-1].rstrip() if text.endswith(".") else text


def robust_answer(reply: Reply, _: Sample) -> Reading:
    if texts := braces(reply.text):
        return Reading(answer=texts[-1].strip() or None, rule="last braces")
    phrase = final_phrase(reply.text)
    return Reading(answer=phrase.answer, rule=phrase.rule)


def robust_score(reading: Reading, sample: Sample) -> float:
    answer, target = str(reading.answer or ""), sample.target or ""
    return float(same(answer, target) or plain_words(answer) == plain_words(target))
