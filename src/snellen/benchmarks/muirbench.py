"""MuirBench: multiple-choice questions about several pictures, half of which have no answer.

Paper    Wang et al. 2024, MuirBench: A Comprehensive Benchmark for Robust Multi-image
         Understanding, https://arxiv.org/abs/2406.09411 (ICLR 2025).
Data     MUIRBENCH/MUIRBENCH on the Hugging Face hub: 2,600 questions about 11,264 pictures, as
         parquet (pass the file or its folder). VLMEvalKit's MUIRBench.tsv has the same questions.
Prompt   `official`: muirbench/MuirBench@840b85fe960ab6160cd566fe8360bfa80f9164db:eval/utils/
         preprocess.py#L6-L33. The authors' code does not say where the pictures are. Here, they
         replace the marks `<image>` in the text, as in VLMEvalKit.
         `vlmevalkit`, with the pictures in the text: open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/image_mcq.py#L676-L737.
         Replies are limited to 2,048 tokens.
         `lmms-eval`, with the pictures first and the marks in the text: EvolvingLMMs-Lab/
         lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/muirbench/
         utils.py#L6-L18. Replies are limited to 16 tokens.
Scoring  `official`: eval/utils/postprocess.py#L13-L64, MMMU's older rule: the last letter in
         parentheses or between spaces, or the last choice that a longer reply contains, or a random
         letter. The authors seed their draws with 42 and do not publish the loop over the replies.
         Here, the draws are in the order of the data set.
         `lmms-eval`: a letter with a full stop at the start of the reply, or else the whole reply,
         muirbench.yaml#L23-L30 and utils.py#L25-L113.
         `lmms-eval-unfiltered`: the whole reply only, utils.py#L25-L68: "B." is wrong.
         `vlmevalkit`: vlmeval/utils/matching_util.py#L18-L127, without VLMEvalKit's judge.
         `robust`: the letter that the reply settles on.
Proof    For 600 generated replies, the letters of `official`, except drawn ones, and the scores of
         both scorings of lmms-eval equal those of the others' code (tests/parity).
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import choice_sets, draws, mmmu, pins
from snellen.core import Benchmark, Capabilities, Interop, Presentation, Reading, Reply, Sample
from snellen.core.prompts import lettered
from snellen.data import DataFile, Row, find
from snellen.media.content import Message

AUTHORS = "muirbench/MuirBench@840b85fe960ab6160cd566fe8360bfa80f9164db"
LMMS = f"{pins.LMMS_EVAL}:lmms_eval/tasks"
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 2600
ALIASES = {"MUIRBench": {"prompt": "vlmevalkit"}}
FILES_PUBLISHED = (choice_sets.sheet("MUIRBench"),)
LEAVES = {
    "Action Understanding": "reasoning/temporal",
    "Attribute Similarity": "perception/attribute",
    "Cartoon Understanding": "reasoning/commonsense",
    "Counting": "perception/counting",
    "Diagram Understanding": "OCR/table",
    "Difference Spotting": "perception/attribute",
    "Geographic Understanding": "perception/spatial",
    "Image-Text Matching": "perception/scene",
    "Ordering": "reasoning/temporal",
    "Scene Understanding": "perception/scene",
    "Visual Grounding": "perception/object",
    "Visual Retrieval": "perception/object",
}
LIMITS = {"official": 512, "vlmevalkit": 2048, "lmms-eval": 16}
HINT = "Hint: Please provide the correct option letter, such as A, B, C, D, directly."
UNKNOWN_ORDER = "The authors do not publish the order in which they draw."

Preset = Literal["official", "vlmevalkit", "lmms-eval"]


def muirbench(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    data_file = find(data, "muirbench", ("MUIRBench.tsv",), FILES_PUBLISHED)
    table, file = choice_sets.table_of(data_file)
    scorings = choice_sets.scorings(RULES)
    return Benchmark(
        name="muirbench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: message(sample, prompt),
        scorings=scorings,
        max_answer_tokens=LIMITS[prompt],
        # Of the letters that are drawn for silence, two are right. The last letter of "A B C D" is
        # right in two of the eight bundled rows.
        check=choice_sets.check(scorings, silent={"official": 0.25}, official=0.25),
        presentation=Presentation(
            break_down_by=("task", "image_relation", "image_type"),
            capabilities=Capabilities(
                tag="task", leaves=LEAVES, source="https://arxiv.org/abs/2406.09411, section 2.1"
            ),
        ),
        interop=Interop(files=file),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    fields = {
        **row,
        "image": row["image_list"] if "image_list" in row else row["image"],
        "task": row.get("task") or row.get("category"),
    }
    tags = ("task", "image_relation", "image_type")
    return choice_sets.sample_of(Row(fields, row.position), data_file, tags=tags)


def message(sample: Sample, prompt: Preset) -> tuple[Message, ...]:
    if prompt == "lmms-eval":
        return choice_sets.message(sample, choice_sets.PROMPTS["lmms-eval"])
    if prompt == "vlmevalkit":
        text = choice_sets.filled(choice_sets.PROMPTS["lmms-eval"], sample)
    else:
        choices = lettered(sample.choices, "({letter}) {choice}")
        text = f"Question: {sample.question}\nChoices:\n{choices}\n{HINT}\nAnswer:".strip()
    return choice_sets.in_text(sample, text)


def lmms_answer(reply: Reply, sample: Sample) -> Reading:
    match = re.match(r"\s*([A-Z])\.", reply.text)
    return choice_sets.only_letter(match[1] if match else reply.text, sample)


RULES = {
    "official": replace(
        choice_sets.rule(
            f"{AUTHORS}:eval/utils/postprocess.py#L13-L64",
            lambda reply, sample: mmmu.last_letter(reply.text, sample, (" {} ",)),
        ),
        resolve=draws.in_sequence(42, lambda line: f"{line.row_index:09}", UNKNOWN_ORDER),
    ),
    "lmms-eval": choice_sets.rule(f"{LMMS}/muirbench/utils.py#L25-L113", lmms_answer),
    "lmms-eval-unfiltered": choice_sets.rule(
        f"{LMMS}/muirbench/utils.py#L25-L68",
        lambda reply, sample: choice_sets.only_letter(reply.text, sample),
    ),
}
