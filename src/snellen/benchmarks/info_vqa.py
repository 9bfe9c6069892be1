"""InfographicVQA: questions about one infographic; some need counting, sorting, or arithmetic.

Paper    Mathew et al. 2022, InfographicVQA, https://arxiv.org/abs/2104.12756 (WACV).
Data     The organizers publish infographicsVQA_val_v1.0_withQT.json,
         infographicsVQA_test_v1.0.json, and the pictures after registration:
         https://rrc.cvc.uab.es/?ch=17 (Task 3).
         `val` has 2,801 questions. `test` has 3,288 questions, whose answers are hidden.
         VLMEvalKit's InfoVQA_{VAL,TEST}.tsv and lmms-lab/DocVQA (InfographicVQA) on the Hugging
         Face hub (parquet; pass the file or the folder of one split) have the same questions with
         their pictures in the rows.
Prompt   The organizers prescribe no prompt. The picture comes first in all prompts.
         `vlmevalkit` (the default): open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/image_vqa.py#L64-L69.
         `lmms-eval`, with the same text: EvolvingLMMs-Lab/
         lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/infovqa/
         _default_template_infovqa_yaml#L12-L15.
         `qwen-vl`: QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:eval_mm/
         evaluate_vqa.py#L281.
         Replies are limited to 100 tokens, as for DocVQA (Qwen-VL's evaluate_vqa.py#L66).
Scoring  `official`: ANLS with the threshold 0.5, by the organizers' infographicsvqa_eval.py.
         Qwen-VL has a copy, eval_mm/infographicsvqa_eval.py#L80-L194. Results are broken down by
         the source of the answer, by the evidence, and by the operation, with the names in #L9-L11
         of the script.
         A question may be of several kinds. A question that lists a kind twice counts once for that
         kind here, and twice in the script.
         The organizers' script rejects a file that does not answer every question. Here, a question
         without a reply scores 0.
         `pix2struct`, `mmpretrain`, and `m4c` are the same scorings as for DocVQA. Pix2Struct's
         published scores use `pix2struct`.
         `robust`: Snellen's own rule, which takes the phrase that a reply settles on and computes
         ANLS as in the paper.
Proof    Tests compare our scores with those of five public scorers for 1,500 generated pairs of a
         reply and a right answer (tests/parity). The scorers are those of lmms-eval and VLMEvalKit
         for `official`, and those of mmpretrain, Pix2Struct, and M4C.
         No model outputs are published.
         The results by kind of question, and `robust`, are checked on examples worked out by hand.
"""

from pathlib import Path

from snellen.benchmarks.families import authors_files, documents
from snellen.benchmarks.families.documents import Preset, Split
from snellen.core import Benchmark, Capabilities, Interop, Presentation, Procedure, Sample
from snellen.data import DataFile, Row, find
from snellen.data.published import File

KIND = "words"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "toolkit's code"
SIZE = 2801
OTHER_SIZES = {"split=test": 3288}
ALIASES = {
    "InfoVQA_VAL": {"split": "val", "prompt": "vlmevalkit"},
    "InfoVQA_TEST": {"split": "test", "prompt": "vlmevalkit"},
    "infovqa_val": {"split": "val", "prompt": "lmms-eval"},
    "infovqa_test": {"split": "test", "prompt": "lmms-eval"},
    "infovqa": {"split": "val", "prompt": "lmms-eval"},
}
HOST = "https://opencompass.openxlab.space/utils/VLMEval"
MD5 = {"val": "2342e9c225222f0ef4dec545ebb126fe", "test": "df535bf51b88dc9718252c34131a6227"}
NAMES = {
    "val": ("infographicsVQA_val_v1.0_withQT.json", "infographicsVQA_val_v1.0.json"),
    "test": ("infographicsVQA_test_v1.0.json",),
}
KINDS = {
    "image span": "Image-Span",
    "question span": "Question-Span",
    "multiple spans": "Multi-Span",
    "non span": "None span",
    "table/list": "Table/list",
    "textual": "Text",
    "photo/pciture/visual_objects": "Visual/Layout",
    "figure": "Figure",
    "map": "Map",
    "comparison": "Sorting",
    "arithmetic": "Arithmetic",
    "counting": "Counting",
}
"""The names of the kinds of questions in published scores, keyed by their names in the data set.
The typo is in the data set."""
LEAVES = {
    "Text": "OCR/document",
    "Table/list": "OCR/table",
    **dict.fromkeys(("Visual/Layout", "Figure", "Map"), "perception/spatial"),
    "Counting": "perception/counting",
    **dict.fromkeys(("Arithmetic", "Sorting"), "reasoning/mathematical"),
}
"""The capability that a question needs, keyed by the question's operation or, without an operation,
by its evidence. If the data set states only the form of the answer, such as Image-Span, the
question has no capability."""


def info_vqa(
    split: Split = "val", prompt: Preset = "vlmevalkit", data: Path | None = None
) -> Benchmark:
    files = published(split)
    names = [f"{folder}{name}" for folder in ("", "infographicsvqa_qas/") for name in NAMES[split]]
    spec = f"info-vqa:split={split}"
    data_file = find(data, "info-vqa", [*names, *(file.name for file in files)], files, spec)
    table, file = authors_files.table(data_file, documents.questions)
    return Benchmark(
        name="info-vqa",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: documents.message(sample, prompt),
        scorings=documents.scorings(),
        max_answer_tokens=100,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=documents.check(),
        procedure=Procedure(group_by=lambda sample: str(sample.data["image"])),
        presentation=Presentation(
            break_down_by=(*KINDS.values(), "unlisted"),
            capabilities=Capabilities(
                tag="last", leaves=LEAVES, source="https://arxiv.org/abs/2104.12756, section 3"
            ),
        ),
        interop=Interop(
            files=file,
            submission=documents.submission(f"infographicvqa_{split}.json"),
        ),
    )


def published(split: Split = "val", **_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file, which can be downloaded without registration."""
    name = f"InfoVQA_{split.upper()}.tsv"
    return (File(name=name, url=f"{HOST}/{name}", md5=MD5[split]),)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    folders = ("infographicsvqa_images/", "images/")
    name = row.get("image_local_name", "")
    image, shared = documents.picture_of(row, data_file, name, folders)
    kinds = [
        kind
        for column in ("answer_type", "evidence", "operation/reasoning")
        for kind in row.get(column) or ()
    ]
    return Sample(
        id=documents.id_of(row),
        question=row["question"],
        media=(image,),
        references=documents.answers_of(row),
        tags=documents.kinds(kinds, KINDS),
        data={
            "questionId": str(row.get("questionId") or documents.id_of(row)),
            "image": shared,
        },
    )
