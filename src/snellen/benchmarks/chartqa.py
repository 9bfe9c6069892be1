"""ChartQA: questions about charts, half written by people and half generated from chart summaries.

Paper    Masry et al. 2022, ChartQA: A Benchmark for Question Answering about Charts with Visual and
         Logical Reasoning, https://arxiv.org/abs/2203.10244 (Findings of ACL).
Data     The authors publish vis-nlp/ChartQA@3dab8e83b6ac559b847b7c6e2f24d1faa95a4507. The
         repository's folder "ChartQA Dataset/<split>" contains <split>_{human,augmented}.json and
         png/. The license is GPL-3.0. There are 1,250 human and 1,250 augmented questions in test,
         and 960 of each kind in val.
         VLMEvalKit's ChartQA_TEST.tsv has the same test split with its pictures in the rows. The
         parquet files of lmms-lab/ChartQA, HuggingFaceM4/ChartQA, and ahmed-masry/ChartQA on the
         Hugging Face hub can also be read (pass the file, or the folder of one split).
         An id consists of the question's kind and its position in the file of that kind, counted
         from 0. In a TSV, the id is the row's index; in parquet, it is the row's position.
Prompt   The authors prescribe no prompt. The picture comes first in all prompts.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_vqa.py#L64-L69.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/chartqa/chartqa.yaml#L28-L30.
         `qwen-vl`: QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:eval_mm/
         evaluate_vqa.py#L281.
         Replies are limited to 100 tokens, as in Qwen-VL (evaluate_vqa.py#L78). With
         prompt=lmms-eval, replies are limited to 16 tokens (chartqa.yaml#L11).
Scoring  The authors published no scorer. A question without a reply is wrong.
         `official`: Pix2Struct's rule, which published scores use, google-research/
         pix2struct@945f27e936c9464d9d7c133f1bd1f4f383be9e99:pix2struct/metrics.py#L81-L119. Replies
         are not changed before the rule is applied. The rule in lmms-eval is the same.
         `vlmevalkit`: Pix2Struct's rule, applied to stripped replies, as in Qwen-VL
         (evaluate_vqa.py#L155-L165). If the right answer is a list, a reply may match any of its
         elements (vlmeval/dataset/utils/vqa_eval.py#L253-L278).
         `robust`: Snellen's own rule, which takes the value or phrase that a reply settles on. The
         rule accepts thousands separators, percent signs, and currency signs, treats zero as a
         number, and compares years exactly.
Proof    Tests compare our scores with those from the code of Pix2Struct, lmms-eval, and VLMEvalKit
         for 1,500 generated pairs of a reply and a right answer (tests/parity).
         No model outputs are published.
         `robust` is checked on examples worked out by hand.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from snellen.answers.value import cleaned, number
from snellen.benchmarks.families import authors_files, pins
from snellen.benchmarks.families.tasks import parse_phrase, parse_value, parse_verbatim
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Procedure,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Filtered, Row, find
from snellen.data.published import File
from snellen.media.content import Image, user
from snellen.metrics import Metric, mean
from snellen.metrics.relaxed import relaxed_accuracy

REVISION = "3dab8e83b6ac559b847b7c6e2f24d1faa95a4507"
SOURCE = (
    "google-research/pix2struct@945f27e936c9464d9d7c133f1bd1f4f383be9e99:"
    "pix2struct/metrics.py#L81-L119"
)
KIND = "words"
LANGUAGES = ("en",)
LICENSE = "GPL-3.0"
PROOF = "toolkit's code"
SIZE = 2500
ALIASES = {"ChartQA_TEST": {"split": "test", "prompt": "vlmevalkit"}}
SHEET = own_sheet("ChartQA_TEST", md5="c902e0aa9be5582a7aad6dcf52734b42")

Split = Literal["test", "val"]
Questions = Literal["all", "human", "augmented"]
Preset = Literal["vlmevalkit", "lmms-eval", "qwen-vl"]
PROMPTS = {
    "vlmevalkit": "{question}\nAnswer the question using a single word or phrase.",
    "lmms-eval": "{question}\nAnswer the question with a single word.",
    "qwen-vl": "{question} Answer:",
}


def chartqa(
    split: Split = "test",
    questions: Questions = "all",
    prompt: Preset = "vlmevalkit",
    data: Path | None = None,
) -> Benchmark:
    files = published(split)
    kinds = ("human", "augmented") if questions == "all" else (questions,)
    names = [
        f"{folder}{split}_{kinds[0]}.json"
        for folder in (f"{split}/", f"ChartQA Dataset/{split}/", "")
    ]
    spec = f"chartqa:split={split}"
    data_file = find(data, "chartqa", [*names, *(file.name for file in files)], files, spec)
    table, file = authors_files.table(data_file, lambda path: charts(path, kinds), REVISION)
    perfect = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    return Benchmark(
        name="chartqa",
        asks=1,
        data=table
        if questions == "all"
        else Filtered(table, lambda row: kind_of(row) == questions),
        sample=lambda row_index, row: to_sample(row_index, row, data_file),
        prompt=lambda sample, _: (
            user(*sample.media, PROMPTS[prompt].format(question=sample.question)),
        ),
        scorings=scorings(),
        max_answer_tokens=16 if prompt == "lmms-eval" else 100,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "nothing of the kind",
            expect={"official": perfect, "vlmevalkit": perfect, "robust": perfect},
        ),
        procedure=Procedure(group_by=lambda sample: str(sample.data["image"])),
        presentation=Presentation(
            break_down_by=("questions",),
            capabilities=Capabilities(
                tag="",
                leaves={"": "OCR/table"},
                source="https://arxiv.org/abs/2203.10244, abstract",
            ),
        ),
        interop=Interop(files=file),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    metrics = {"relaxed_accuracy": Metric(mean, better="higher")}
    return {
        "official": Scoring(
            version=1,
            source=SOURCE,
            parse=parse_verbatim,
            score=official_score,
            metrics=metrics,
            missing="wrong",
        ),
        "vlmevalkit": Scoring(
            version=1,
            source=f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/vqa_eval.py#L253-L278",
            parse=parse_verbatim,
            score=kit_score,
            metrics=metrics,
            missing="wrong",
        ),
        "robust": Scoring(
            version=1,
            source="ours",
            parse=robust_answer,
            score=robust_score,
            metrics=metrics,
        ),
    }


def published(split: Split = "test", **_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file of the test split. The authors' own files cannot be downloaded as one
    archive."""
    return (SHEET,) if split == "test" else ()


def charts(path: Path, kinds: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the questions in the authors' files. There is one file for each kind of question."""
    stem = path.stem.removesuffix("_human").removesuffix("_augmented")
    for kind in kinds:
        of_kind = path.with_name(f"{stem}_{kind}.json")
        for index, row in enumerate(authors_files.of_json(of_kind)):
            yield {"id": f"{kind}-{index}", "type": kind, **row}


def kind_of(row: Row) -> str:
    """The kind of a question, human or augmented. The kind is in a field whose name depends on the
    file format."""
    origin = str(row.get("type", row.get("split", row.get("human_or_machine"))))
    if origin == "0" or "human" in origin:
        return "human"
    if origin == "1" or "augmented" in origin or "machine" in origin:
        return "augmented"
    raise ValueError(f"neither a human's question nor an augmented one: {origin!r}")


def to_sample(row_index: int, row: Row, data_file: DataFile) -> Sample:
    name = row.get("imgname", "")
    if name and "image" not in row:
        folder = data_file.path.parent
        image = Image(folder / "png" / name, label=f"png/{name}", within=folder)
    else:
        image = authors_files.picture(row)
    (label,) = as_list(row["label"] if "label" in row else row["answer"])
    return Sample(
        id=str(row.get("id", row.get("index", row_index))),
        question=row["query"] if "query" in row else row["question"],
        media=(image,),
        target=label,
        tags={"questions": kind_of(row)},
        data={"image": name or authors_files.picture_key(image)},
    )


def as_list(label: object) -> tuple[str, ...]:
    """The row's label or labels as a tuple. One copy of the data set stores each label in a
    list."""
    return tuple(map(str, label)) if isinstance(label, list) else (str(label),)


# -- scoring


def official_score(reading: Reading, sample: Sample) -> float:
    return relaxed_accuracy(str(reading.answer or ""), sample.target or "")


def kit_score(reading: Reading, sample: Sample) -> float:
    answer = str(reading.answer or "").strip()
    return max(
        (relaxed_accuracy(answer, right) for right in authors_files.texts(sample.target)),
        default=0.0,
    )


YEAR = re.compile(r"(?:19|20)\d\d")
ASKS_YEAR = re.compile(r"\b(?:years?|when)\b", re.IGNORECASE)
EDGES = re.compile(r"^(?:an?|the)\s+|[.,;:!?]+$", re.IGNORECASE)


def robust_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the value that a reply settles on if the right answer is a number. Otherwise, parse the
    phrase that the reply settles on."""
    if number(cleaned(sample.target or "")) is None:
        return parse_phrase(reply, sample)
    return parse_value(reply, sample)


def robust_score(reading: Reading, sample: Sample) -> float:
    """1 if the answer is right, else 0. A number may differ from the target by up to 5 %, a year
    must be exact, and any other answer must have the same words as the target."""
    if reading.answer is None:
        return 0.0
    answer, right = str(reading.answer), cleaned(sample.target or "")
    target, value = number(right), number(answer)
    if target is None or value is None:
        return float(words(answer) == words(sample.target or ""))
    if YEAR.fullmatch(right) and ASKS_YEAR.search(sample.question):
        return float(value == target)
    return float(abs(value - target) <= 0.05 * abs(target))


def words(text: str) -> str:
    return " ".join(EDGES.sub("", text.strip()).casefold().split())
