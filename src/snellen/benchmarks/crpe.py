"""CRPE: the existence of objects, and the parts of relations between them, with rotated choices.

Paper    Wang et al. 2024, The All-Seeing Project V2: Towards General Relation Comprehension of the
         Open World, https://arxiv.org/abs/2402.19474 (ECCV), section 4.
Data     OpenGVLab/CRPE@a2bf6bc9e46d88688121f606b4b2d4b4ae67935b on the Hugging Face hub:
         crpe_relation.jsonl, crpe_exist.jsonl, and abnormal_images/, under Apache-2.0. The other
         pictures are COCO's. A picture's path is relative to the folder of the authors' data, in
         which the files are in eval/crpe/. VLMEvalKit's CRPE_RELATION.tsv and CRPE_EXIST.tsv have
         the pictures in the rows. Four rows in a row are one question with rotated choices. The id
         is `question_id` or, in a TSV, `index`.
Prompt   The picture, then the field `text`, which has the choices and asks for a letter: OpenGVLab/
         all-seeing@5cb8cea069286efb0bfba9e4926ad77f353c9214:all-seeing-v2/llava/eval/
         model_vqa_loader.py#L44-L54. VLMEvalKit's prompt is the same. 128 tokens, as in LLaVA.
Scoring  `official`: all-seeing-v2/llava/eval/eval_crpe.py#L5-L39. A row is right if the stripped
         reply is the letter, and nothing else: "B." and "b" are wrong. A question is right if its
         four rows are (`circular`). The paper's overall figure is over the relation questions.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/utils/crpe.py. The first character decides. A longer reply that does not begin with
         A to D must contain the cell `answer` from its fifth character on. If the cell is only a
         letter, any such reply is right. VLMEvalKit stops at an empty reply, which is wrong here.
         `robust`: the letter that the reply settles on.
Proof    For 800 generated replies, every verdict of `official` and `vlmevalkit` equals that of the
         authors' and VLMEvalKit's code, and so do the authors' accuracies by category (tests/
         parity/test_option_letters.py). No outputs are published. `robust` is checked by hand.
"""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import choice_sets, pins
from snellen.benchmarks.families.tasks import is_target, parse_verbatim
from snellen.core import (
    Benchmark,
    Capabilities,
    Interop,
    Presentation,
    Procedure,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.media.content import user
from snellen.metrics.circular import circular, vanilla

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "Apache-2.0"
PROOF = "authors' code"
AUTHORS = "OpenGVLab/all-seeing@5cb8cea069286efb0bfba9e4926ad77f353c9214:all-seeing-v2"
KIT = f"{pins.VLMEVALKIT}:vlmeval"
HUB = "https://huggingface.co/datasets/petter12321/crpe_vlmevalkit/resolve/main"
ALIASES = {"CRPE_RELATION": {"part": "relation"}, "CRPE_EXIST": {"part": "exist"}}
MD5 = {"relation": "bad7094cde0b572288f4b119c2d0c656", "exist": "315584e23ac1ff7f8719ed3b7ad90f08"}
LEAVES = {
    "exist": "perception/object",
    **dict.fromkeys(("subject", "predicate", "object"), "hallucination/relation"),
}
ROTATIONS = 4
METRICS = {"circular": circular("pass"), "vanilla": vanilla("pass")}

Part = Literal["relation", "exist"]


def crpe(part: Part = "relation", data: Path | None = None) -> Benchmark:
    files = published(part)
    names = (f"eval/crpe/crpe_{part}.jsonl", f"crpe_{part}.jsonl", files[0].name)
    data_file = find(data, "crpe", names, files, f"crpe:part={part}")
    table, file = choice_sets.table_of(data_file)
    rules = scorings()
    return Benchmark(
        name="crpe",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, sample.question),),
        scorings=rules,
        max_answer_tokens=128,
        cluster_by=question_of,
        check=choice_sets.check(rules),
        procedure=Procedure(together=question_of),
        presentation=Presentation(
            break_down_by=("category",),
            metric_tags=("pass",),
            capabilities=Capabilities(
                tag="category", leaves=LEAVES, source="https://arxiv.org/abs/2402.19474, section 4"
            ),
        ),
        interop=Interop(files=file),
    )


def published(part: Part = "relation", **_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file, which has the pictures."""
    name = f"CRPE_{part.upper()}.tsv"
    return (File(name=name, url=f"{HUB}/{name}", md5=MD5[part]),)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    text = row["text"] if "text" in row else row["question"]
    _, choices = choice_sets.split_choices(text, r"\n{letter}\. ")
    cell = str(row["correct_option"] if "correct_option" in row else row["answer"])
    sample = choice_sets.sample_of(
        row,
        data_file,
        tags=("category",),
        question=text,
        choices=[choice.partition("\n")[0] for choice in choices],
        letter=cell[:1],
    )
    question, rotation = divmod(row.position, ROTATIONS)
    return replace(
        sample,
        tags={**sample.tags, "pass": f"{rotation + 1} of {ROTATIONS}"},
        data={**sample.data, "answer": cell, "question": str(question)},
    )


def question_of(sample: Sample) -> str:
    return str(sample.data["question"])


def scorings() -> dict[str, Scoring]:
    vlmevalkit = Scoring(
        version=1,
        source=f"{KIT}/dataset/utils/crpe.py",
        parse=parse_verbatim,
        score=vlmevalkit_score,
        metrics=METRICS,
        missing="wrong",
    )
    official = Scoring(
        version=1,
        source=f"{AUTHORS}/llava/eval/eval_crpe.py#L5-L39",
        parse=only_sign,
        score=is_target,
        metrics=METRICS,
        missing="wrong",
    )
    return choice_sets.scorings({"official": official, "vlmevalkit": vlmevalkit}, METRICS)


def only_sign(reply: Reply, _: Sample) -> Reading:
    """Parse a reply that consists of a single character."""
    text = reply.text.strip()
    if len(text) == 1:
        return Reading(answer=text, rule="one character")
    return Reading(answer=None, rule="several characters" if text else "nothing said")


def vlmevalkit_score(reading: Reading, sample: Sample) -> float:
    text, cell = str(reading.answer or ""), str(sample.data["answer"])
    if len(text) <= 1 or text[0] in "ABCD":
        return float(text[:1] == cell[:1])
    return float(cell[4:].lower() in text.lower())
