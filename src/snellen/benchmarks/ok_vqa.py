"""OK-VQA: questions about photographs; the answers require outside knowledge.

Paper    Marino et al. 2019, OK-VQA: A Visual Question Answering Benchmark Requiring External
         Knowledge, https://arxiv.org/abs/1906.00067 (CVPR).
Data     The files are at https://okvqa.allenai.org/download.html:
         OpenEnded_mscoco_val2014_questions.json and mscoco_val2014_annotations.json. The pictures
         are COCO's val2014.
         These files are the test set, with 5,046 questions on 5,033 pictures.
         In release 1.0, the answers are word stems ("surf"). In release 1.1, the answers are not
         stemmed. When you report scores, state the release.
         BLIP's list, okvqa_val_eval.json, has the same questions without types. The dataset
         lmms-lab/OK-VQA on the Hugging Face hub has these questions too (parquet; pass the file).
Prompt   The authors prescribe no prompt. The picture comes first in all prompts.
         `llava`: LLaVA's prompt for the short answers of other data sets, haotian-liu/
         LLaVA@c121f0432da27facab705978f83c4ada465e46fd:docs/Evaluation.md#L13-L18.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/ok_vqa/_default_template_vqa_yaml#L20-L22. This prompt has a sentence about
         unanswerable questions, although the data set has no such questions.
         `blip2`: salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7:lavis/projects/blip2/
         eval/okvqa_zeroshot_flant5xl_eval.yaml#L41.
         `qwen-vl`: QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:eval_mm/
         evaluate_vqa.py#L281.
         Replies are limited to 128 tokens, as in LLaVA's llava/eval/model_vqa_loader.py#L141.
Scoring  `official`: VQA's evaluation, GT-Vision-Lab/VQA@a013f0043c1e2cdc995922dfe257f7149aa9af06:
         PythonEvaluationTools/vqaEvaluation/vqaEval.py#L86-L172, by category of knowledge. The
         authors' script rejects files that lack a question. Here, a missing question is wrong.
         `lmms-eval`: uses mmf's normalization.
         `robust`: Snellen's own rule, which takes the phrase that a reply settles on and always
         normalizes it.
         For BLIP-2's published score of 41.22, a spaCy model lemmatized each reply first. Snellen
         does not lemmatize replies.
Proof    The official rule is the same as for VQAv2, and the tests of VQAv2 cover it.
         No model outputs are published with this data.
         The results by category, `lmms-eval`, and `robust` are checked on examples worked out by
         hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import pins, vqa
from snellen.core import Benchmark, Capabilities, Check, Interop, Presentation, Procedure, Sample
from snellen.data import Row, find
from snellen.data.published import File
from snellen.media.content import user
from snellen.metrics.vqa import textvqa_accuracy, vqa_accuracy, vqa_accuracy_always

SOURCE = (
    "GT-Vision-Lab/VQA@a013f0043c1e2cdc995922dfe257f7149aa9af06:"
    "PythonEvaluationTools/vqaEvaluation/vqaEval.py#L86-L172"
)
KIND = "words"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 5046
ALIASES: dict[str, dict[str, str]] = {
    "ok_vqa_val2014": {"prompt": "lmms-eval"},
    "OKVQA": {},
}
QUESTIONS = "OpenEnded_mscoco_val2014_questions.json"
ANNOTATIONS = "mscoco_val2014_annotations.json"
HOST = "https://okvqa.allenai.org/static/data"
FILES = (QUESTIONS, "okvqa_val_eval.json", "vqa_val_eval.json")
FILES_PUBLISHED = (
    File(name=f"{QUESTIONS}.zip", url=f"{HOST}/{QUESTIONS}.zip", unpack=True),
    File(name=f"{ANNOTATIONS}.zip", url=f"{HOST}/{ANNOTATIONS}.zip", unpack=True),
    File(
        name="val2014.zip",
        url="http://images.cocodataset.org/zips/val2014.zip",
        unpack=True,
        note="6 GB, of which 5,033 pictures are needed",
    ),
)
CATEGORIES = {
    "one": "Vehicles and Transportation",
    "two": "Brands, Companies and Products",
    "three": "Objects, Material and Clothing",
    "four": "Sports and Recreation",
    "five": "Cooking and Food",
    "six": "Geography, History, Language and Culture",
    "seven": "People and Everyday life",
    "eight": "Plants and Animals",
    "nine": "Science and Technology",
    "ten": "Weather and Climate",
    "other": "Other",
}
"""The category of knowledge for each value of the field `question_types` in the file of answers."""
LEAVES = {
    **dict.fromkeys(CATEGORIES.values(), "knowledge/world"),
    "Geography, History, Language and Culture": "knowledge/cultural",
    "Science and Technology": "knowledge/domain",
}
UNANSWERABLE = "When the provided information is insufficient, respond with 'Unanswerable'."

Preset = Literal["llava", "lmms-eval", "blip2", "qwen-vl"]


def ok_vqa(prompt: Preset = "llava", data: Path | None = None) -> Benchmark:
    data_file = find(data, "ok-vqa", FILES, FILES_PUBLISHED)
    pictures = vqa.SplitPictures(data_file, vqa.folders("val2014"), "COCO_val2014")
    return Benchmark(
        name="ok-vqa",
        asks=1,
        data=vqa.table(data_file, ANNOTATIONS),
        sample=lambda _, row: to_sample(row, pictures),
        prompt=lambda sample, _: (user(*sample.media, PROMPTS[prompt](sample.question)),),
        scorings={
            "official": vqa.scoring(SOURCE, vqa_accuracy, missing="wrong"),
            "lmms-eval": vqa.scoring(
                f"{pins.LMMS_EVAL}:lmms_eval/tasks/ok_vqa/utils.py#L13-L41", textvqa_accuracy
            ),
            "robust": vqa.robust(vqa_accuracy_always),
        },
        max_answer_tokens=128,
        cluster_by=vqa.picture_of,
        check=Check(says=lambda _, answer: answer, wrong=vqa.wrong_answer, expect=EXPECT),
        procedure=Procedure(group_by=vqa.picture_of),
        presentation=Presentation(
            break_down_by=("category",),
            capabilities=Capabilities(
                tag="category", leaves=LEAVES, source="https://arxiv.org/abs/1906.00067, section 3"
            ),
        ),
        interop=Interop(files=data_file),
    )


def to_sample(row: Row, pictures: vqa.SplitPictures) -> Sample:
    image, shared = pictures.of(row)
    category = row["question_type"]
    return Sample(
        id=str(row["question_id"]),
        question=row["question"],
        media=(image,),
        references=vqa.answers_of(row),
        tags={"category": CATEGORIES.get(category, category)},
        data={"image": shared},
    )


PROMPTS: Mapping[Preset, Callable[[str], str]] = {
    "llava": lambda question: f"{question}\n{vqa.SHORT}",
    "lmms-eval": lambda question: f"{question}\n{UNANSWERABLE}\n{vqa.SHORT}",
    "blip2": lambda question: f"Question: {vqa.blip_question(question)} Short answer:",
    "qwen-vl": lambda question: f"{question} Answer:",
}


# -- check

# In one of the eleven rows, at most two of ten people gave the same answer.
SHARE = {"oracle": 10.6 / 11, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
EXPECT = {"official": SHARE, "lmms-eval": SHARE, "robust": SHARE}
