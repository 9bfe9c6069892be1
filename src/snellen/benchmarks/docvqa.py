"""DocVQA: questions about a page of a document, answered with words from the page.

Paper    Mathew et al. 2021, DocVQA: A Dataset for VQA on Document Images,
         https://arxiv.org/abs/2007.00398 (WACV). This benchmark is task 1, whose questions are
         about a single page.
Data     The organizers publish {val,test}_v1.0*.json and the pages after registration:
         https://rrc.cvc.uab.es/?ch=17.
         `val` has 5,349 questions on 1,286 pages. `test` has 5,188 questions, whose answers are
         hidden.
         VLMEvalKit's DocVQA_{VAL,TEST}.tsv and lmms-lab/DocVQA on the Hugging Face hub (parquet;
         pass the file or the folder of one split) have the same questions with their pages in the
         rows.
Prompt   The organizers prescribe no prompt. The picture comes first in all prompts.
         `vlmevalkit` (the default): open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/image_vqa.py#L64-L69.
         `lmms-eval`, with the same text: EvolvingLMMs-Lab/
         lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/docvqa/
         _default_template_docvqa_yaml#L13-L16.
         `qwen-vl`: QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:eval_mm/
         evaluate_vqa.py#L281.
         Replies are limited to 100 tokens, as in Qwen-VL (evaluate_vqa.py#L66).
Scoring  `official`: ANLS with the threshold 0.5, by the organizers' infographicsvqa_eval.py, which
         they provide for DocVQA and InfographicVQA. Qwen-VL has a copy, eval_mm/
         infographicsvqa_eval.py#L118-L166. The rules in VLMEvalKit and lmms-eval are the same. The
         organizers' script rejects a file that does not answer every question. Here, a question
         without a reply scores 0, like an empty answer.
         `pix2struct`: the rule of Pix2Struct's published scores, scaled to [0, 1] here.
         `mmpretrain`: mmpretrain's own rule.
         `m4c`: mmf's rule for M4C. This scoring also computes the accuracy that ST-VQA defines.
         The scorings above differ in how they treat spaces. A similarity of exactly 1/2 scores 1/2
         under all of them except pix2struct, under which it scores 0.
         `robust`: Snellen's own rule, which takes the phrase that a reply settles on and computes
         ANLS as in the paper.
         A page has several questions, so confidence intervals are clustered by page.
Proof    Tests compare our scores with those of five public scorers for 1,500 generated pairs of a
         reply and a right answer (tests/parity). The scorers are those of lmms-eval and VLMEvalKit
         for `official`, and those of mmpretrain, Pix2Struct, and M4C.
         No model outputs are published.
         The results by question type, and `robust`, are checked on examples worked out by hand.
"""

from pathlib import Path

from snellen.benchmarks.families import authors_files, documents
from snellen.benchmarks.families.documents import Preset, Split
from snellen.core import UNMAPPED, Benchmark, Capabilities, Interop, Presentation, Procedure, Sample
from snellen.data import DataFile, Row, find
from snellen.data.published import File

KIND = "words"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "toolkit's code"
SIZE = 5349
OTHER_SIZES = {"split=test": 5188}
ALIASES = {
    "DocVQA_VAL": {"split": "val", "prompt": "vlmevalkit"},
    "DocVQA_TEST": {"split": "test", "prompt": "vlmevalkit"},
    "docvqa_val": {"split": "val", "prompt": "lmms-eval"},
    "docvqa_test": {"split": "test", "prompt": "lmms-eval"},
}
HOST = "https://opencompass.openxlab.space/utils/VLMEval"
MD5 = {"val": "d5ee77e1926ff10690d469c56b73eabf", "test": "6a2f28cac26ef2d3447374e8c6f6c8e9"}
NAMES = {"val": ("val_v1.0_withQT.json", "val_v1.0.json"), "test": ("test_v1.0.json",)}
TYPES = (
    *("handwritten", "form", "layout", "table/list", "free_text", "figure/diagram"),
    *("Image/Photo", "Yes/No", "others"),
)
LEAVES = {
    **dict.fromkeys(("handwritten", "form", "free_text", "figure/diagram"), "OCR/document"),
    "table/list": "OCR/table",
    "layout": "perception/spatial",
    "Image/Photo": "perception/object",
    "Yes/No": UNMAPPED,
    "others": UNMAPPED,
}
"""The capability of each question type. A question with several types gets the capability of its
last type."""


def docvqa(
    split: Split = "val", prompt: Preset = "vlmevalkit", data: Path | None = None
) -> Benchmark:
    files = published(split)
    folders = ("", "spdocvqa_qas/", f"{split}/")
    names = [f"{folder}{name}" for folder in folders for name in NAMES[split]]
    spec = f"docvqa:split={split}"
    data_file = find(data, "docvqa", [*names, *(file.name for file in files)], files, spec)
    table, file = authors_files.table(data_file, documents.questions)
    return Benchmark(
        name="docvqa",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file, split),
        prompt=lambda sample, _: documents.message(sample, prompt),
        scorings=documents.scorings(),
        max_answer_tokens=100,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=documents.check(),
        procedure=Procedure(group_by=lambda sample: str(sample.data["image"])),
        presentation=Presentation(
            break_down_by=(*TYPES, "unlisted"),
            capabilities=Capabilities(
                tag="last", leaves=LEAVES, source="https://arxiv.org/abs/2007.00398, section 3.2"
            ),
        ),
        interop=Interop(
            files=file,
            submission=documents.submission(f"docvqa_{split}.json"),
        ),
    )


def published(split: Split = "val", **_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file, which can be downloaded without registration."""
    name = f"DocVQA_{split.upper()}.tsv"
    return (File(name=name, url=f"{HOST}/{name}", md5=MD5[split]),)


def to_sample(row: Row, data_file: DataFile, split: Split) -> Sample:
    name = row["image"] if isinstance(row["image"], str) else ""
    folders = ("documents/", f"{split}/documents/", "spdocvqa_images/")
    image, shared = documents.picture_of(row, data_file, name, folders)
    page = row.get("ucsf_document_page_no", "") if not name else ""
    return Sample(
        id=documents.id_of(row),
        question=row["question"],
        media=(image,),
        references=documents.answers_of(row),
        tags=documents.kinds(row.get("question_types") or (), {name: name for name in TYPES}),
        data={
            "questionId": str(row.get("questionId") or documents.id_of(row)),
            "image": f"{shared}_{page}" if page else shared,
        },
    )
