"""TreeBench: small objects in crowded photographs, with boxes of what a question is about.

Paper    Wang et al. 2025, Traceable Evidence Enhanced Visual Grounded Reasoning: Evaluation and
         Methodology, https://arxiv.org/abs/2507.07999.
Data     HaochenWang/TreeBench on the Hugging Face hub: TreeBench.tsv with 405 questions and their
         pictures, which are from SA-1B. `target_instances` has the boxes, in pixels. They are what
         `--oracle-crop` shows: the smallest box around all of them. No license is stated.
Prompt   `official`: a system message that asks for boxes in the thoughts, then picture, question,
         choices, and the form of the answer, Haochen-Wang409/
         TreeVGR@4823ad8860f13b5eac360bba592f7c3442c6e04c:inference_treebench.py#L77-L106. 1,024
         tokens. The authors also begin the reply with <think>, which is not sent here.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_mcq.py#L2892-L2926. 2,048 tokens. The authors' README says that the paper's
         figures are mainly from VLMEvalKit.
Scoring  `official`: #L146-L148, #L203. The text in <answer>, or else the reply itself, must be the
         letter, in any case.
         `boxes`: #L15-L74. For each box of the question, the largest intersection over union with
         a box in the reply, such as <box>[1,2,3,4]</box>; the mean over them. A box with blanks or
         decimals is not read. Boxes must be in pixels of the picture.
         `vlmevalkit`: image_mcq.py#L2930-L2982, the first capital letter A to E.
         `vlmevalkit-boxes`: #L2984-L3062, like boxes, but only those in <think>, if there is one.
         `robust`: the letter that the reply settles on.
         With the prompt vlmevalkit, the scoring vlmevalkit is the headline.
Proof    Prompts, letters, and overlaps equal those of the authors' and VLMEvalKit's code on 720
         generated replies (tests/parity). No outputs are published.
"""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import choice_sets, pins
from snellen.benchmarks.families.capital_letters import (
    BARE,
    MORE_PHRASES,
    PHRASES,
    first_capital,
    in_tags,
)
from snellen.benchmarks.families.tree_boxes import (
    boxes_in_cell,
    boxes_of,
    kit_overlap,
    mean_overlap,
    overlap,
    target_box,
    thoughts,
)
from snellen.core import Benchmark, Interop, Reading, Reply, Sample
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.media.content import Message, system, user

AUTHORS = "Haochen-Wang409/TreeVGR@4823ad8860f13b5eac360bba592f7c3442c6e04c:inference_treebench.py"
KIT = f"{pins.VLMEVALKIT}:vlmeval/dataset/image_mcq.py"
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 405
ALIASES = {"TreeBench": {"prompt": "vlmevalkit"}}
SHEET = File(
    name="TreeBench.tsv",
    url="https://huggingface.co/datasets/HaochenWang/TreeBench/resolve/main/TreeBench.tsv",
)
LEAVES = {
    **dict.fromkeys(
        ("Perception/Attributes", "Perception/Material", "Perception/Physical State"),
        "perception/attribute",
    ),
    "Perception/Object Retrieval": "perception/object",
    "Perception/OCR": "OCR/text",
    **dict.fromkeys(
        (
            *("Reasoning/Perspective Transform", "Reasoning/Ordering"),
            *("Reasoning/Contact and Occlusion", "Reasoning/Spatial Containment"),
        ),
        "perception/spatial",
    ),
    "Reasoning/Comparison": "reasoning/logic",
}
SYSTEM = (
    "A conversation between user and assistant. The user asks a question, and the Assistant solves "
    "it. The assistant MUST first think about the reasoning process in the mind and then provide "
    "the user with the answer. The reasoning process and answer are enclosed within <think> "
    "</think> and <answer> </answer> tags, respectively. When referring to particular objects in "
    "the reasoning process, the assistant MUST localize the object with bounding box coordinates "
    "between <box> and </box>. You MUST strictly follow the format."
)
ASK = (
    "{question} Options:\n{listed}\nSelect the best answer to the above multiple-choice question "
    "based on the image. After the reasoning process, respond with only the letter of the correct "
    "option between <answer> and </answer>."
)
DIRECT = choice_sets.LISTED + "Answer with the correct option's letter directly. \n"
Preset = Literal["official", "vlmevalkit"]


def treebench(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    data_file = find(data, "treebench", (SHEET.name,), (SHEET,))
    table, file = choice_sets.table_of(data_file)
    scorings = choice_sets.headline(choice_sets.scorings(RULES), prompt)
    # "A B" and silence are read as A, which is right in two of the eight bundled rows.
    check = choice_sets.check(scorings, silent={"vlmevalkit": 0.25}, vlmevalkit=0.25)
    return Benchmark(
        name="treebench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=official_prompt
        if prompt == "official"
        else lambda sample, _: choice_sets.message(sample, DIRECT),
        scorings=scorings,
        max_answer_tokens=1024 if prompt == "official" else 2048,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=replace(check, says=says),
        presentation=replace(
            choice_sets.presentation(LEAVES, f"{AUTHORS}#L189-L192", "category", by=("category",)),
            target_box=target_box,
        ),
        interop=Interop(files=file),
    )


def published(**_: object) -> tuple[File, ...]:
    """The authors' TSV file, which includes the pictures."""
    return (SHEET,)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    boxes = boxes_in_cell(row["target_instances"])
    sample = choice_sets.sample_of(row, data_file, tags=("category",))
    listed = row.get("multi-choice options") or ""
    return replace(sample, data={**sample.data, "listed": listed, "boxes": boxes})


def official_prompt(sample: Sample, _: object) -> tuple[Message, ...]:
    text = ASK.format(question=sample.question, listed=sample.data["listed"])
    return system(SYSTEM), user(*sample.media, text)


def says(sample: Sample, answer: str) -> str:
    """A reply with a letter and, if the letter is right, with the right boxes."""
    right = boxes_of(sample) if answer == sample.target else []
    boxes = "".join(f"<box>{list(map(int, box))}</box>".replace(" ", "") for box in right)
    return f"<think>{boxes}</think><answer>{answer}</answer>"


# -- scoring


def official_letter(reply: Reply, sample: Sample) -> Reading:
    text = in_tags(reply.text)
    if text.upper() in [*"ABCDEFGH"[: len(sample.choices)]]:
        return Reading(answer=text.upper(), rule="only the letter")
    return Reading(answer=None, rule="not only the letter")


RULES = {
    "official": choice_sets.rule(f"{AUTHORS}#L146-L203", official_letter),
    "boxes": overlap(f"{AUTHORS}#L15-L74", str, mean_overlap),
    "vlmevalkit": choice_sets.rule(
        f"{KIT}#L2930-L2982",
        lambda reply, _: first_capital(in_tags(reply.text), (*PHRASES, *MORE_PHRASES), BARE),
    ),
    "vlmevalkit-boxes": overlap(f"{KIT}#L2984-L3062", thoughts, kit_overlap),
}
