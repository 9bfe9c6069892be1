"""ERQA: embodied reasoning about pictures of robots' work. The choices are in the question.

Paper    Abeyruwan et al. 2025, Gemini Robotics: Bringing AI into the Physical World,
         https://arxiv.org/abs/2503.20020 (section 2).
Data     embodiedreasoning/ERQA:data/erqa.tfrecord, 400 questions. TFRecord files are not read here.
         The parquet file of FlagEval/ERQA on the Hugging Face hub (pass the file or its folder) and
         the TSV files for VLMEvalKit, by lmms-lab-si and RunsenXu, have the same questions.
Prompt   The question, which asks for the letter only.
         `official`: each picture is inserted in the text at its index (`visual_indices`). Pictures
         come first if all indices are 0 or missing. Marks `<image>`, as in RunsenXu's TSV, are
         replaced by the pictures. Replies are limited to 300 tokens.
         `lmms-eval`: the pictures come first, EvolvingLMMs-Lab/
         lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/erqa/utils.py#L9-L24.
         Replies are limited to 1,024 tokens.
Scoring  `official`: the reply without full stops and outer spaces must be the letter, in any case.
         We could not read the authors' repository at a commit. Prompt, limit, and rule are those of
         its eval_harness.py in public copies, which agree.
         `lmms-eval`: lmms_eval/tasks/_task_utils/mcq_extract.py#L65-L158, with the letters A to D,
         so no reply is right if the right letter is E.
         `vlmevalkit`: the stripped reply must be the letter, in any case, open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/erqa.py#L133-L165.
         `robust`: the letter that the reply settles on.
Proof    For 1,200 generated replies, the letters of `lmms-eval` equal those of lmms-eval's code
         (tests/parity). The other scorings are checked on examples worked out by hand.
"""

import re
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

from snellen.answers.others import LMMS_EVAL, lmms_eval_letter
from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families.tasks import as_reading
from snellen.core import (
    UNMAPPED,
    Benchmark,
    Capabilities,
    Interop,
    Presentation,
    Sample,
)
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.media.content import Message, Part, user

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "by hand"
SIZE = 400
ALIASES = {"ERQA": {"prompt": "official"}}
FILES_PUBLISHED = (
    File(
        name="ERQA.tsv",
        url="https://huggingface.co/datasets/lmms-lab-si/EASI-Leaderboard-Data/resolve/main/ERQA.tsv",
        md5="40d45d4f0bb1852dbc68b28ee70d4ca5",
    ),
)
LEAVES = {
    "Action Reasoning": "reasoning/causal",
    "Multi-view Reasoning": "perception/spatial",
    "Other": UNMAPPED,
    "Pointing": "perception/spatial",
    "Spatial Reasoning": "perception/spatial",
    "State Estimation": "perception/attribute",
    "Task Reasoning": "reasoning/causal",
    "Trajectory Reasoning": "reasoning/temporal",
}
CHOICE = re.compile(r"(?:^|\s)([A-H])\.\s")


def erqa(
    prompt: Literal["official", "lmms-eval"] = "official", data: Path | None = None
) -> Benchmark:
    data_file = find(data, "erqa", ("ERQA.tsv",), FILES_PUBLISHED)
    table, file = choice_sets.table_of(data_file)
    scorings = choice_sets.scorings(RULES)
    return Benchmark(
        name="erqa",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (
            choice_sets.message(sample, "{question}") if prompt == "lmms-eval" else official(sample)
        ),
        scorings=scorings,
        max_answer_tokens=1024 if prompt == "lmms-eval" else 300,
        check=choice_sets.check(scorings, lmms_eval=0.25),
        presentation=Presentation(
            break_down_by=("question_type", "pictures"),
            capabilities=Capabilities(
                tag="question_type", leaves=LEAVES, source="https://arxiv.org/abs/2503.20020"
            ),
        ),
        interop=Interop(files=file),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    kind = row.get("question_type") or row.get("category") or ""
    sample = choice_sets.sample_of(row, data_file, choices=choices_of(row["question"]))
    indices = [int(index) for index in authors_files.texts(row.get("visual_indices"))]
    tags = {"question_type": kind, "pictures": "single" if len(sample.media) == 1 else "multiple"}
    return replace(sample, tags=tags, data={**sample.data, "indices": indices})


def choices_of(question: str) -> tuple[str, ...]:
    """The choices in a question such as "Where? Choices: A. Left. B. Right. Please answer ...". The
    letters A to D if the question has another form."""
    listed = question.rpartition("Choices:")[2].partition(" Please answer")[0]
    _, *parts = CHOICE.split(listed)
    letters, choices = parts[::2], parts[1::2]
    if len(letters) > 1 and "".join(letters) == ascii_uppercase[: len(letters)]:
        return tuple(choice.strip().removesuffix(".") for choice in choices)
    return ("A", "B", "C", "D")


def official(sample: Sample) -> tuple[Message, ...]:
    if "<image>" in sample.question:
        return choice_sets.in_text(sample, sample.question)
    indices, text, start = sample.data["indices"], sample.question, 0
    if not isinstance(indices, list) or len(indices) != len(sample.media):
        return choice_sets.message(sample, "{question}")
    parts: list[Part] = []
    for index, image in sorted(zip(indices, sample.media, strict=True), key=lambda pair: pair[0]):
        if index <= len(text):
            parts.append(text[start:index])
            start = index
        parts.append(image)
    return (user(*(part for part in (*parts, text[start:]) if part)),)


RULES = {
    "official": choice_sets.rule(
        "embodiedreasoning/ERQA@main:eval_harness.py",
        lambda reply, sample: choice_sets.only_letter(reply.text.replace(".", ""), sample),
    ),
    "lmms-eval": choice_sets.rule(
        LMMS_EVAL,
        # lmms-eval looks for A to D, even if a question has more choices.
        lambda reply, _: as_reading(lmms_eval_letter(reply.text, "ABCD")),
    ),
    "vlmevalkit": choice_sets.rule(
        f"{pins.VLMEVALKIT}:vlmeval/dataset/erqa.py#L133-L165",
        lambda reply, sample: choice_sets.only_letter(reply.text, sample),
    ),
}
