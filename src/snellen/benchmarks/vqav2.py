"""VQAv2: short questions about a photograph, each answered by ten people.

Paper    Goyal et al. 2017, Making the V in VQA Matter: Elevating the Role of Image Understanding in
         Visual Question Answering, https://arxiv.org/abs/1612.00837 (CVPR).
Data     The files are at https://visualqa.org/download.html, under CC BY 4.0:
         v2_OpenEnded_mscoco_{val2014,test-dev2015,test2015}_questions.json and
         v2_mscoco_val2014_annotations.json. The pictures are COCO's val2014 and test2015.
         `val` has 214,354 questions on 40,504 pictures. `test` has 447,793 questions with hidden
         answers, of which 107,394 form test-dev.
         BLIP's lists, vqa_val.json and vqa_test.json, have the same questions without types. The
         dataset lmms-lab/VQAv2 on the Hugging Face hub has these questions too (parquet; pass the
         file).
Prompt   The authors prescribe no prompt. The picture comes first in all prompts.
         `llava`: haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:docs/
         Evaluation.md#L13-L18. lmms-eval uses the same prompt, EvolvingLMMs-Lab/
         lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/vqav2/
         _default_template_vqav2_yaml#L12-L15.
         `blip2`: salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7:lavis/projects/blip2/
         eval/vqav2_zeroshot_flant5xl_eval.yaml#L43.
         `qwen-vl`: QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:eval_mm/
         evaluate_vqa.py#L281.
         Replies are limited to 128 tokens, as in LLaVA's llava/eval/model_vqa_loader.py#L141. The
         other tools limit replies to between 10 and 16 tokens.
Scoring  `official`: GT-Vision-Lab/VQA@a013f0043c1e2cdc995922dfe257f7149aa9af06:
         PythonEvaluationTools/vqaEvaluation/vqaEval.py#L86-L172 under Python 3, over all questions,
         by answer type, and by question type. The authors' script rejects files that lack a
         question. Here, a missing question is wrong, as in LLaVA's uploads, which contain "" for
         each missing question.
         `lavis`: the rule of BLIP-2's published scores.
         `mmpretrain`, `lmms-eval`: the tools' own rules.
         `robust`: Snellen's own rule, which takes the phrase that a reply settles on and always
         normalizes it.
         A picture has several questions, so confidence intervals are clustered by picture.
Proof    Tests compare our scores with those of the authors' code, LAVIS, and mmpretrain for 1,500
         generated pairs of a reply and a right answer (tests/parity).
         No model outputs are published together with the answers.
         The results by type, `lmms-eval`, and `robust` are checked on examples worked out by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import pins, vqa
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Procedure,
    Sample,
    Submission,
)
from snellen.data import Row, find
from snellen.data.published import File
from snellen.media.content import user
from snellen.metrics.vqa import (
    vqa_accuracy,
    vqa_accuracy_always,
    vqa_accuracy_lavis,
    vqa_accuracy_mmpretrain,
)

SOURCE = (
    "GT-Vision-Lab/VQA@a013f0043c1e2cdc995922dfe257f7149aa9af06:"
    "PythonEvaluationTools/vqaEvaluation/vqaEval.py#L86-L172"
)
LAVIS = "salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7"
MMPRETRAIN = "open-mmlab/mmpretrain@ee7f2e88501f61aa95c742dd5f429f039935ee90"
KIND = "words"
LANGUAGES = ("en",)
LICENSE = "CC-BY-4.0"
PROOF = "authors' code"
SIZE = 214_354
OTHER_SIZES = {"split=test-dev": 107_394, "split=test": 447_793}
ALIASES = {
    "vqav2_val": {"split": "val"},
    "vqav2_test": {"split": "test"},
}
HOST = "https://s3.amazonaws.com/cvmlp/vqa/mscoco/vqa"
COCO = "http://images.cocodataset.org/zips"

Split = Literal["val", "test-dev", "test"]
Preset = Literal["llava", "blip2", "qwen-vl"]
LISTS: Mapping[Split, tuple[str, ...]] = {
    "val": ("vqa_val.json", "vqa_val_eval.json"),
    "test-dev": (),
    "test": ("vqa_test.json",),
}
"""The file names of BLIP's and LAVIS's lists of questions, keyed by split."""
SUBSETS: Mapping[Split, str] = {
    "val": "val2014",
    "test-dev": "test-dev2015",
    "test": "test2015",
}
LEAVES = {
    "number": "perception/counting",
    "yes/no": "perception/object",
    "other": "perception/attribute",
}
"""The capability that most questions of an answer type need, keyed by answer type. The data set
does not state which capability a single question needs."""


def vqav2(split: Split = "val", prompt: Preset = "llava", data: Path | None = None) -> Benchmark:
    subset = SUBSETS[split]
    questions = f"v2_OpenEnded_mscoco_{subset}_questions.json"
    data_file = find(
        data,
        "vqav2",
        (questions, f"Questions/{questions}", *LISTS[split]),
        published(split),
        f"vqav2:split={split}",
    )
    annotations = f"v2_mscoco_{subset}_annotations.json" if split == "val" else None
    folder = "val2014" if split == "val" else "test2015"
    pictures = vqa.SplitPictures(data_file, vqa.folders(folder), f"COCO_{folder}")
    return Benchmark(
        name="vqav2",
        asks=1,
        data=vqa.table(data_file, annotations),
        sample=lambda _, row: to_sample(row, pictures),
        prompt=lambda sample, _: (user(*sample.media, PROMPTS[prompt](sample.question)),),
        scorings={
            "official": vqa.scoring(SOURCE, vqa_accuracy, missing="wrong"),
            "lavis": vqa.scoring(
                f"{LAVIS}:lavis/common/vqa_tools/vqa_eval.py#L210-L231",
                vqa_accuracy_lavis,
                missing="wrong",
            ),
            "mmpretrain": vqa.scoring(
                f"{MMPRETRAIN}:mmpretrain/evaluation/metrics/vqa.py#L242-L268",
                vqa_accuracy_mmpretrain,
            ),
            "lmms-eval": vqa.scoring(
                f"{pins.LMMS_EVAL}:lmms_eval/tasks/vqav2/utils.py#L15-L50", vqa_accuracy_always
            ),
            "robust": vqa.robust(vqa_accuracy_always),
        },
        max_answer_tokens=128,
        cluster_by=vqa.picture_of,
        check=Check(says=lambda _, answer: answer, wrong=vqa.wrong_answer, expect=EXPECT),
        procedure=Procedure(group_by=vqa.picture_of),
        presentation=Presentation(
            break_down_by=("answer_type", "question_type"),
            capabilities=Capabilities(
                tag="answer_type",
                leaves=LEAVES,
                source="https://arxiv.org/abs/1505.00468, section 4",
            ),
        ),
        interop=Interop(
            files=data_file,
            submission=Submission(
                name=f"v2_OpenEnded_mscoco_{subset}_results.json",
                columns=("question_id", "answer"),
                row=submitted,
            ),
        ),
    )


def published(split: Split = "val", **_: object) -> tuple[File, ...]:
    """The published files with a split's questions, pictures, and, if public, answers. No digests
    of these files are published."""
    if split != "val":
        return (
            File(
                name="v2_Questions_Test_mscoco.zip",
                url=f"{HOST}/v2_Questions_Test_mscoco.zip",
                unpack=True,
            ),
            File(name="test2015.zip", url=f"{COCO}/test2015.zip", unpack=True, note="12 GB"),
        )
    parts = ("v2_Questions_Val_mscoco.zip", "v2_Annotations_Val_mscoco.zip")
    return (
        *(File(name=part, url=f"{HOST}/{part}", unpack=True) for part in parts),
        File(name="val2014.zip", url=f"{COCO}/val2014.zip", unpack=True, note="6 GB"),
    )


def to_sample(row: Row, pictures: vqa.SplitPictures) -> Sample:
    image, shared = pictures.of(row)
    return Sample(
        id=str(row["question_id"]),
        question=row["question"],
        media=(image,),
        references=vqa.answers_of(row),
        tags={
            "answer_type": row["answer_type"] or "",
            "question_type": row["question_type"] or "",
        },
        data={"image": shared},
    )


def submitted(sample: Sample, reply: str) -> Sequence[object]:
    return int(sample.id), reply.strip()


PROMPTS: Mapping[Preset, Callable[[str], str]] = {
    "llava": lambda question: f"{question}\n{vqa.SHORT}",
    "blip2": lambda question: f"Question: {vqa.blip_question(question)} Short answer:",
    "qwen-vl": lambda question: f"{question} Answer:",
}

# -- check

NOTHING = {"wrong": 0.0, "silent": 0.0, "hedging": 0.0}
# In one of twelve rows, three of ten people gave the most common answer, which scores 0.9. In
# another, two of ten said "the", which normalization turns into "", so an empty reply scores 0.6.
EXPECT: Mapping[str, Mapping[str, float]] = {
    "official": {**NOTHING, "oracle": 11.9 / 12, "silent": 0.6 / 12},
    # "two", which ten people gave, can never be matched. Of the five people who meant "grass",
    # three said "the grass".
    "lavis": {**NOTHING, "oracle": (9 + 0.9 + 0.6) / 12},
    "mmpretrain": {**NOTHING, "oracle": 1.0, "silent": 2 / 3 / 12},
    "lmms-eval": {**NOTHING, "oracle": 11.9 / 12, "silent": 0.6 / 12},
    "robust": {**NOTHING, "oracle": 11.9 / 12},
}
