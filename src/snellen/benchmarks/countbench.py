"""CountBench: how many objects a photograph shows, from two to ten.

Paper    Paiss et al. 2023, Teaching CLIP to Count to Ten, https://arxiv.org/abs/2302.12066 (ICCV)
         has the pictures and their captions. Beyer et al. 2024, PaliGemma,
         https://arxiv.org/abs/2407.07726, has the questions (CountBenchQA), which model cards mean
         by CountBench.
Data     google-research/big_vision@0127fb6b337ee2a27bf4e54dea79cff176527356:big_vision/datasets/
         countbenchqa builds the 490 questions from captions whose pictures are still on the web.
         VLMEvalKit's CountBenchQA.tsv, or the parquet file of vikhyatk/CountBenchQA on the Hugging
         Face hub, in which the id is the row's position.
Prompt   PaliGemma's own prompt is for a model that was tuned for the task.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_vqa.py#L3289-L3298. 2,048 tokens.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/countbench/countbench.yaml. 16 tokens. The task countbenchqa of lmms-eval is another
         one: it sends the caption, which has the number in it.
Scoring  `official` (the headline): big_vision/evaluators/proj/paligemma/transfers/
         tallyqa.py#L70-L79, #L116-L144. The whole reply must be the number, in digits or as a word
         up to twenty, in any case. A blank or period too many is wrong.
         `vlmevalkit`: vlmeval/dataset/image_vqa.py#L3300-L3315. The number's digits must occur
         anywhere in the reply: "12" and "2 or 3" are right for 2, and "two" is wrong.
         `lmms-eval`: lmms_eval/tasks/countbench/utils.py#L27-L54, official on the stripped reply.
         `robust`: the one number in the reply.
Proof    All but `robust` equal the code of big_vision, VLMEvalKit, and lmms-eval on 612 generated
         replies (tests/parity/test_choice_rules.py). No model outputs are published.
"""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import choice_sets, pins, tasks
from snellen.benchmarks.families.judges import PERFECT
from snellen.core import Benchmark, Check, Interop, Reading, Sample, Scoring
from snellen.data import DataFile, Row, find
from snellen.data.published import File

OFFICIAL = (
    "google-research/big_vision@0127fb6b337ee2a27bf4e54dea79cff176527356:"
    "big_vision/evaluators/proj/paligemma/transfers/tallyqa.py#L70-L79"
)
KIT = f"{pins.VLMEVALKIT}:vlmeval/dataset/image_vqa.py#L3300-L3315"
LMMS_EVAL = f"{pins.LMMS_EVAL}:lmms_eval/tasks/countbench/utils.py#L27-L54"
KIND = "number"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 490
ALIASES = {"CountBenchQA": {"prompt": "vlmevalkit"}}
# fmt: off
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
         "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
         "nineteen", "twenty")
# fmt: on
DIGITS = {"none": "0", **{word: str(number) for number, word in enumerate(WORDS)}}

Preset = Literal["vlmevalkit", "lmms-eval"]
PROMPTS = {
    "vlmevalkit": "{question} Note that: answer with a number directly e.g. 3. Do not include any "
    "additional text.",
    "lmms-eval": "Look at the image carefully and count the objects. Answer with just a number, "
    "without any additional text. {question}",
}


def countbench(prompt: Preset = "vlmevalkit", data: Path | None = None) -> Benchmark:
    data_file = find(data, "countbench", ["CountBenchQA.tsv"], published())
    table, file = choice_sets.table_of(data_file)
    rules = scorings()
    return Benchmark(
        name="countbench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: choice_sets.message(sample, PROMPTS[prompt]),
        scorings=rules,
        max_answer_tokens=16 if prompt == "lmms-eval" else 2048,
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda sample: "1",
            # The reply "1 2 3" has the right numbers of two of the eight bundled rows in it.
            expect={**dict.fromkeys(rules, PERFECT), "vlmevalkit": {**PERFECT, "hedging": 2 / 8}},
        ),
        presentation=choice_sets.presentation(
            {"": "perception/counting"},
            "https://arxiv.org/abs/2302.12066, section 4",
            by=("number",),
        ),
        interop=Interop(files=file),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    kit = choice_sets.rule(KIT, tasks.parse_verbatim)
    robust = tasks.scorings("count")["default"]
    return {
        "official": choice_sets.rule(OFFICIAL, lambda reply, _: number(reply.text)),
        "vlmevalkit": replace(kit, score=occurs),
        "lmms-eval": choice_sets.rule(LMMS_EVAL, lambda reply, _: number(reply.text.strip())),
        "robust": robust,
    }


def published(**_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file."""
    return (choice_sets.sheet("CountBenchQA"),)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    """Make a sample. The number is in the field `number` of the hub's file, and in the field
    `answer` of a TSV."""
    target = str(int(row["number"] if "number" in row else row["answer"]))
    sample = choice_sets.sample_of(row, data_file, choices=(), letter="")
    question = sample.question.strip()
    return replace(sample, question=question, target=target, tags={"number": target})


def number(text: str) -> Reading:
    """Parse the whole reply as a number. A number word is replaced by its digits."""
    return Reading(answer=DIGITS.get(text.lower(), text) or None, rule="whole reply")


def occurs(reading: Reading, sample: Sample) -> float:
    return float((sample.target or "") in str(reading.answer or ""))
