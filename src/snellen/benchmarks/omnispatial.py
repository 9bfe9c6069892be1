"""OmniSpatial: questions about space that take reasoning, in 50 tasks of four kinds.

Paper    Jia et al. 2025, OmniSpatial: Towards Comprehensive Spatial Reasoning Benchmark for Vision
         Language Models, https://arxiv.org/abs/2506.03135.
Data     qizekun/OmniSpatial on the Hugging Face hub: OmniSpatial-test.zip, which has data.json and
         a folder of pictures for each kind. A question has two to four choices.
         The id is the kind and the authors' id, as in their uid (api_eval.py#L27).
Prompt   qizekun/OmniSpatial@208bac258d8671c6857b3be2834997936ba7fc51:system_prompts.py#L5-L92 and
         api_eval.py#L33-L37. The system message has the task and the form of the answer. The
         question comes before the picture (utils.py#L76-L88). 4,096 tokens; the authors set no
         limit.
         `manual-cot` (the authors' default), `zeroshot-cot`, and `default` end with "Answer: X".
         `direct` asks for the letter only, with the system message of `default`.
Scoring  `official`: api_eval.py#L57-L60. The last letter A to D after "Answer:", which may be
         lowercase in the reply but then never equals the right letter. Without one, the answer is
         A, which counts as guessed here.
         With the prompt direct, official is api_eval.py#L61-L63: the first character of the
         stripped reply, in upper case.
         `robust`: the letter that the reply settles on.
         The authors ask each question five times and report the mean (`--repeats 5`).
Proof    Both rules equal the authors' code on 720 generated replies (tests/parity/
         test_choice_rules.py). The system messages are the authors', byte by byte. No model outputs
         are published.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import choice_sets
from snellen.core import Benchmark, Interop, Reading, Reply, Sample, Scoring
from snellen.data import DataFile, Row, find
from snellen.media.content import Message, system, user

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = None
SOURCE = "qizekun/OmniSpatial@208bac258d8671c6857b3be2834997936ba7fc51:api_eval.py"
LEAVES = {
    "Dynamic_Reasoning": "reasoning/temporal",
    "Spatial_Interaction": "perception/spatial",
    "Complex_Logic": "reasoning/logic",
    "Perspective_Taking": "perception/spatial",
}
TASK = (
    "\nYou are a spatial-reasoning assistant.\n\nTask\n-----\nYou will receive  \n"
    "1. **Image** - a single RGB frame depicting a scene.{blanks}\n"
    "2. **Question** - a natural-language query about spatial relationships between objects in the "
    "image.{blanks}\n"
    "3. **Options** - ≥2 answer candidates, each tagged by a capital letter (A, B, C, D…).\n\n"
)
ENDING = (
    "Always ground your answer in the visual evidence; do not hallucinate unseen objects.\n"
    "If uncertain, pick the most plausible option—never refuse or reply “insufficient "
    "information.”\n"
)
GUIDELINES = (
    "Guidelines\n----------\n"
    "Please follow these steps to analyze the image and answer the question:\n"
    "1. First, carefully observe the image and identify all relevant objects and their spatial "
    "relationships.\n"
    "2. Next, break down the question into key components that need to be addressed.\n"
    "3. Think through the spatial reasoning step-by-step to arrive at your answer. It may be "
    "necessary to transfer perspective to better understand the scene.\n"
    "4. Finally, select the most appropriate option (A, B, C, or D) based on your analysis.\n\n"
)
PLAIN = "Based on the image and question, provide your answer.\n"
LAST_LINE = (
    "\n\nEnd your answer with a separate line formatted exactly as:\n\nAnswer: X\n"
    "where X ∈ {A, B, C, D}.\n"
)
LETTER = (
    "\n\nNote: You only need to respond with A, B, C, or D without providing any additional "
    "information.\n"
)
SYSTEM = {
    "manual-cot": TASK.format(blanks="  ") + GUIDELINES + ENDING + LAST_LINE,
    "zeroshot-cot": TASK.format(blanks="")
    + "Think step by step and provide the answer.\n"
    + ENDING
    + LAST_LINE,
    "default": TASK.format(blanks="  ") + PLAIN + ENDING + LAST_LINE,
    "direct": TASK.format(blanks="  ") + PLAIN + ENDING + LETTER,
}

Preset = Literal["manual-cot", "zeroshot-cot", "default", "direct"]


def omnispatial(prompt: Preset = "manual-cot", data: Path | None = None) -> Benchmark:
    data_file = find(data, "omnispatial", ["data.json", "OmniSpatial-test/data.json"])
    table, file = choice_sets.table_of(data_file)
    rules = scorings(prompt)
    # A reply that the rule does not read is A, the right answer of two of the eight bundled rows.
    # With the prompt direct, only "A B C D" is read as A.
    silent = {} if prompt == "direct" else {"official": 2 / 8}
    check = choice_sets.check(rules, silent=silent, official=2 / 8)
    if prompt != "direct":
        check = replace(check, says=lambda _, answer: f"Answer: {answer}" if answer else "")
    return Benchmark(
        name="omnispatial",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: messages(sample, prompt),
        scorings=rules,
        max_answer_tokens=4096,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=check,
        presentation=choice_sets.presentation(
            LEAVES,
            "https://arxiv.org/abs/2506.03135, section 3",
            "task_type",
            by=("task_type", "sub_task_type"),
        ),
        interop=Interop(files=file),
    )


def scorings(prompt: Preset) -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    parse, lines = (after_answer, "#L57-L60") if prompt != "direct" else (first_sign, "#L61-L63")
    return {
        "official": choice_sets.rule(f"{SOURCE}{lines}", parse),
        "robust": choice_sets.scorings()["robust"],
    }


def to_sample(row: Row, data_file: DataFile) -> Sample:
    """Make a sample. The name of its picture is the first part of the authors' id."""
    kind, number = row["task_type"], str(row["id"])
    choices = choice_sets.choices_of(row)
    fields = {**row, "image": f"{kind}/{number.split('_')[0]}.png"}
    return choice_sets.sample_of(
        Row(fields, row.position, row.digest),
        data_file,
        sample_id=f"{kind}_{number}",
        tags=("task_type", "sub_task_type"),
        choices=choices,
        letter=choice_sets.letter_at(row["answer"], choices),
    )


def messages(sample: Sample, prompt: Preset) -> tuple[Message, ...]:
    """The system message, and the question with its choices before the picture."""
    text = f"{sample.question}\n{choice_sets.choice_lines(sample.choices)}"
    return (system(SYSTEM[prompt]), user(text, *sample.media))


def after_answer(reply: Reply, _: Sample) -> Reading:
    letters = re.findall(r"Answer\s*:\s*([A-D])\b", reply.text, re.IGNORECASE)
    if not letters:
        return Reading(answer="A", rule="no answer: A", guessed=True)
    # The authors compare a lowercase letter with the right one, which is a capital.
    return Reading(answer=letters[-1], rule="last answer")


def first_sign(reply: Reply, _: Sample) -> Reading:
    return Reading(answer=reply.text.strip().upper()[:1] or None, rule="first character")
