"""MedXpertQA MM: questions of medical specialty boards, with clinical pictures and five choices.

Paper    Zuo et al. 2025, MedXpertQA: Benchmarking Expert-Level Medical Reasoning and Understanding,
         https://arxiv.org/abs/2501.18362 (ICML).
Data     TsinghuaC3I/MedXpertQA@f21247d3ccf3b14826ff2aa7fa06e1a46d64058c:eval/data/medxpertqa/input/
         medxpertqa_mm_input.jsonl, or MM/test.jsonl of TsinghuaC3I/MedXpertQA on the Hugging Face
         hub, with the pictures of its images.zip in images/; MIT. There are 2,000 questions.
         VLMEvalKit's MedXpertQA_MM_test.tsv has the pictures in the rows.
Prompt   `official`: eval/config/prompt_templates.py#L5-L42, eval/main.py#L74-L121. The model first
         thinks step by step, and is then asked for the letter. The pictures come last.
         `answer-only`: eval/main.py#L28-L71, in a single turn.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_mcq.py#L212-L249.
         Replies are limited to 2,048 tokens (eval/model/api_agent.py#L22).
Scoring  `official`: eval/utils.py#L33-L102. The answer is the first letter from A to E that stands
         alone after the words that ask for it, or after " answer is ", or in the whole reply.
         `vlmevalkit`: VLMEvalKit's rule, without its judge.
         `robust`: Snellen's own rule, which takes the letter or choice that a reply settles on.
Proof    For 1,200 generated replies, the letters of `official` equal those of the authors' code
         (tests/parity). No model outputs are published.
"""

import re
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import authors_files, choice_sets
from snellen.core import (
    Benchmark,
    Capabilities,
    Interop,
    Presentation,
    Procedure,
    Reading,
    Reply,
    Sample,
)
from snellen.core.benchmark import History
from snellen.core.procedure import Conversation
from snellen.core.prompts import lettered
from snellen.data import DataFile, Row, Table, find, jsonl
from snellen.data.published import File
from snellen.media.content import Message, assistant, system, user

SOURCE = "TsinghuaC3I/MedXpertQA@f21247d3ccf3b14826ff2aa7fa06e1a46d64058c:eval/utils.py#L33-L102"
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "MIT"
PROOF = "authors' code"
SIZE = 2000
ALIASES = {"MedXpertQA_MM_test": {"prompt": "vlmevalkit"}}
FILES = ("medxpertqa_mm_input.jsonl", "MM/test.jsonl", "test.jsonl", "MedXpertQA_MM_test.tsv")
TAGS = ("question_type", "medical_task", "body_system")
LETTERS = "Among A through E, the answer is"
THEREFORE = "Therefore, among A through E, the answer is"
ROLES = {
    "official": ("You are a helpful medical assistant.", "Let's think step by step."),
    "answer-only": ("Please answer only.", LETTERS),
}
UNWANTED = re.compile("I understand|A through J|A through E|A through D")
Preset = Literal["official", "answer-only", "vlmevalkit"]


def medxpertqa_mm(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    data_file = find(data, "medxpertqa-mm", FILES, published())
    table: Table = jsonl(data_file)
    file: DataFile | None = data_file
    if not str(data_file).endswith(".jsonl"):
        table, file = authors_files.table(data_file, authors_files.objects)
    first = {"official": choice_sets.rule(SOURCE, lambda reply, _: official_answer(reply, prompt))}
    scorings = choice_sets.scorings(first)
    return Benchmark(
        name="medxpertqa-mm",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, history: messages(sample, history, prompt),
        scorings=scorings,
        max_answer_tokens=2048,
        # "A B C D" begins with A, which is right in one of five bundled rows.
        check=choice_sets.check(scorings, official=0.2),
        procedure=Procedure(conversation=Conversation(turns=2 if prompt == "official" else 1)),
        presentation=Presentation(
            break_down_by=TAGS,
            capabilities=Capabilities(
                tag="", leaves={"": "knowledge/domain"}, source="https://arxiv.org/abs/2501.18362"
            ),
        ),
        interop=Interop(files=file),
    )


def published(**_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file."""
    return (choice_sets.sheet("MedXpertQA_MM_test"),)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    options = row.get("options")
    if isinstance(options, list):
        choices = [option["content"] for option in options]
    else:  # the hub's file, or VLMEvalKit's
        choices = list(options.values() if options else choice_sets.lettered_cells(row))
    names = [
        name if isinstance(name, str) else name["image_path"] for name in row.get("images", ())
    ]
    label = row.get("label", row.get("answer"))
    return choice_sets.sample_of(
        Row({**row, "images": [f"images/{name}" for name in names]}, row.position),
        data_file,
        tags=TAGS,
        choices=choices,
        letter=label[0] if isinstance(label, list) else label,
    )


def messages(sample: Sample, history: History, prompt: Preset) -> tuple[Message, ...]:
    if prompt == "vlmevalkit":
        return choice_sets.message(sample, choice_sets.PROMPTS["vlmevalkit"])
    if history:
        (sent, reply) = history[-1]
        return (*sent, assistant(reply.text.strip()), user(THEREFORE))
    question = sample.question.strip()
    if "\nAnswer Choices:" not in question:  # as in the authors' rows
        listed = lettered(sample.choices, "({letter}) {choice}").replace("\n", " ")
        question += f"\nAnswer Choices: {listed}"
    role, ending = ROLES[prompt]
    return (system(role), user(f"Q: {question}\nA: {ending}", *sample.media))


def official_answer(reply: Reply, prompt: Preset) -> Reading:
    text = reply.text.strip()
    for words in (THEREFORE if prompt == "official" else LETTERS, " answer is "):
        if words in text:
            text = text.split(words)[1].strip()
            break
    letter = re.search(r"\b[A-E]\b", UNWANTED.sub("", text))
    return Reading(answer=letter and letter[0], rule="first letter")
