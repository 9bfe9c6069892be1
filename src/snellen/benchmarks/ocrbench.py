"""OCRBench: a thousand questions of ten kinds about text in pictures, one point each.

Paper    Liu et al. 2024, OCRBench: On the Hidden Mystery of OCR in Large Multimodal Models,
         https://arxiv.org/abs/2305.07895 (Science China Information Sciences).
Data     Yuliang-Liu/MultimodalOCR@794c36d6423cf1d5764081128bcaeb46b240def6:OCRBench/OCRBench/
         OCRBench.json has the questions, under the MIT license. The pictures, OCRBench_Images/, are
         on Google Drive.
         `split=full` is FullTest.json, the larger set of the paper's tables 1 and 2.
         VLMEvalKit's OCRBench.tsv and echo840/OCRBench on the Hugging Face hub (parquet; pass the
         file or its folder) have the pictures in the rows.
         An id consists of the data set's name and the row's own id. For a TSV, the id is the row's
         index. For parquet, the id is the row's position.
Prompt   `official`: the question as it is stored, then the picture,
         OCRBench/scripts/GPT4V.py#L66-L81.
         `monkey`: the picture, then the text of scripts/monkey.py#L58-L59 (also in example.py#L63).
         `llava`: the picture, then the text of scripts/LLaVA1_5.py#L68-L69.
         `vlmevalkit`, `lmms-eval`: the picture, then the question. In lmms-eval, the question is
         stripped: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/ocrbench/utils.py#L39-L44.
         Replies are limited to 500 tokens (GPT4V.py#L82). With prompt=lmms-eval, replies are
         limited to 128 tokens (ocrbench.yaml#L13).
Scoring  `official`: OCRBench/example.py#L120-L151. A reply gets a point if it contains an answer
         anywhere, even inside a word. Case and surrounding whitespace do not matter. For a formula
         (the data set HME100k), case matters, but spaces do not. The authors' script skips a
         question without a reply, which therefore gets no point. On the data set's questions,
         VLMEvalKit's rule gives the same results.
         `lmms-eval`: the same rule, after full-width characters are converted to ASCII,
         utils.py#L20-L79.
         `robust`: Snellen's own rule. The answer must occur as whole words in the phrase that a
         reply settles on. `final_score` is the number of points, at most 1,000. Text Recognition is
         the sum over six types of questions, #L158-L178.
Proof    For three generated replies to each of the authors' 1,000 questions, every point and every
         sum equals that of the authors' code (tests/parity).
         No model outputs are published.
         `robust` is checked on examples worked out by hand.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, pins
from snellen.benchmarks.families.results import of_json
from snellen.benchmarks.families.tasks import parse_phrase, parse_verbatim
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Image, Message, user
from snellen.metrics import mean
from snellen.metrics.points import points

REVISION = "794c36d6423cf1d5764081128bcaeb46b240def6"
SOURCE = f"Yuliang-Liu/MultimodalOCR@{REVISION}:OCRBench/example.py#L120-L151"
KIND = "words"
LANGUAGES = ("en",)
LICENSE = "MIT"
PROOF = "authors' code"
SIZE = 1000
ALIASES = {"OCRBench": {"split": "ocrbench", "prompt": "vlmevalkit"}}
SHEET = own_sheet("OCRBench", md5="e953d98a987cc6e26ef717b61260b778")
FULL = File(
    name="OCRBench/FullTest.json",
    url=f"https://raw.githubusercontent.com/Yuliang-Liu/MultimodalOCR/{REVISION}/OCRBench/OCRBench/FullTest.json",
    note="the questions alone: the pictures are on Google Drive",
)
NAMES = {"ocrbench": "OCRBench.json", "full": "FullTest.json"}
RECOGNITION = (
    *("Regular Text Recognition", "Irregular Text Recognition", "Artistic Text Recognition"),
    *("Handwriting Recognition", "Digit String Recognition", "Non-Semantic Text Recognition"),
)
FORMULA = "Handwritten Mathematical Expression Recognition"
FORMULAS = "HME100k"
LEAVES = {
    **dict.fromkeys((*RECOGNITION, "Scene Text-centric VQA"), "OCR/text"),
    **dict.fromkeys(("Doc-oriented VQA", "Key Information Extraction"), "OCR/document"),
    FORMULA: "OCR/formula",
}

Split = Literal["ocrbench", "full"]
Preset = Literal["official", "monkey", "llava", "vlmevalkit", "lmms-eval"]


def ocrbench(
    split: Split = "ocrbench", prompt: Preset = "official", data: Path | None = None
) -> Benchmark:
    files = published(split)
    names = [f"{folder}{NAMES[split]}" for folder in ("OCRBench/", "OCRBench/OCRBench/", "")]
    spec = f"ocrbench:split={split}"
    data_file = find(data, "ocrbench", [*names, *(file.name for file in files)], files, spec)
    table, file = authors_files.table(data_file, entries, REVISION)
    accuracy = {"accuracy": mean}
    metrics = accuracy if split == "full" else {"final_score": points, **accuracy}
    all_right = 1.0 if split == "full" else 11.0
    expect = {"oracle": all_right, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    return Benchmark(
        name="ocrbench",
        asks=1,
        data=table,
        sample=lambda row_index, row: to_sample(row_index, row, data_file),
        prompt=lambda sample, _: message(sample, prompt),
        scorings={
            "official": Scoring(
                version=1,
                source=SOURCE,
                parse=parse_verbatim,
                score=official_score,
                metrics=metrics,
                missing="wrong",
            ),
            "lmms-eval": Scoring(
                version=1,
                source=f"{pins.LMMS_EVAL}:lmms_eval/tasks/ocrbench/utils.py#L47-L79",
                parse=parse_verbatim,
                score=lmms_score,
                metrics=metrics,
                missing="wrong",
            ),
            "robust": Scoring(
                version=1,
                source="ours",
                parse=phrase,
                score=robust_score,
                metrics=metrics,
            ),
        },
        max_answer_tokens=128 if prompt == "lmms-eval" else 500,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "nothing of the kind",
            expect={"official": expect, "lmms-eval": expect, "robust": expect},
        ),
        presentation=Presentation(
            break_down_by=("type", "recognition", "dataset"),
            capabilities=Capabilities(tag="type", leaves=LEAVES, source=f"{SOURCE}, its ten types"),
        ),
        interop=Interop(
            files=file,
            layout=layout,
        ),
    )


def published(split: Split = "ocrbench", **_: object) -> tuple[File, ...]:
    """The published file: VLMEvalKit's TSV, which includes the pictures. With split=full, it is the
    authors' file, which has the questions but not the pictures."""
    return (SHEET,) if split == "ocrbench" else (FULL,)


def entries(path: Path) -> Iterator[dict[str, Any]]:
    for row in authors_files.of_json(path):
        yield {**row, "id": id_of(row)}


def id_of(row: dict[str, Any]) -> str:
    """The id of a question: the data set's name and the row's id. The row's id alone is not enough,
    since ids repeat across data sets."""
    return f"{row['dataset_name']}-{row['id']}"


def to_sample(row_index: int, row: Row, data_file: DataFile) -> Sample:
    kind = row.get("type") or row.get("question_type") or row.get("category") or ""
    dataset = row.get("dataset_name") or row.get("dataset") or ""
    if "image_path" in row and not row.get("image"):
        image = picture(data_file, row["image_path"])
    else:
        image = authors_files.picture(row)
    answers = row["answers"] if "answers" in row else row["answer"]
    return Sample(
        id=str(row.get("id", row.get("index", row_index))),
        question=row["question"],
        media=(image,),
        # A formula such as "[ 4 , 5 ]" is not a list. But in a TSV, a cell that parses as a list
        # is one.
        references=authors_files.texts(answers, written="index" in row),
        tags={
            "type": kind,
            "recognition": "Text Recognition" if kind in RECOGNITION else "",
            "dataset": dataset,
        },
        data={
            "image": row.get("image_path") or authors_files.picture_key(image),
            # VLMEvalKit's TSV has the kind of question, but not the name of the data set.
            "formula": dataset == FORMULAS if dataset else kind == FORMULA,
        },
    )


def picture(data_file: DataFile, name: str) -> Image:
    """A picture in the folder OCRBench_Images, which may be inside the folder of the questions or
    next to that folder."""
    folders = (data_file.folder, data_file.path.parent, data_file.path.parent.parent)
    folder = next(
        (candidate for candidate in folders if (candidate / "OCRBench_Images").is_dir()),
        data_file.folder,
    )
    return Image(folder / "OCRBench_Images" / name, label=name, within=folder)


# -- the authors' results


def layout(path: Path) -> Published | None:
    """Read the authors' file of a model's replies, in which each question has the reply in the
    field `predict`."""
    rows = of_json(path)
    if not isinstance(rows, list) or not any(
        isinstance(row, dict) and "predict" in row for row in rows
    ):
        return None
    replies: dict[str, str | None] = {}
    for number, row in enumerate(rows, 1):
        try:
            name, prediction = id_of(row), row.get("predict", 0)
        except (KeyError, TypeError) as error:
            raise DataError(
                f"{path.name}: row {number} has no {error}. Rows of OCRBench's results must have "
                "dataset_name, id, and predict."
            ) from error
        if name in replies:
            raise DataError(
                f"{path.name}: row {number} is a second row of {name}. Remove one of them."
            )
        if prediction is not None and prediction != 0 and not isinstance(prediction, str):
            what = type(prediction).__name__
            raise DataError(
                f"{path.name}: row {number} has a value of type {what} as predict. It must be text."
            )
        replies[name] = prediction if isinstance(prediction, str) else None
    return Published(replies=replies)


# -- prompts


def message(sample: Sample, preset: Preset) -> tuple[Message, ...]:
    question = sample.question
    if preset == "official":
        return (user(question, *sample.media),)
    text = {
        "monkey": f" {question} Answer: ",
        "llava": f"{question}\nAnswer the question using a single word or phrase.",
        "vlmevalkit": question,
        "lmms-eval": question.strip(),
    }[preset]
    return (user(*sample.media, text),)


# -- scoring

FULL_WIDTH = {0x3000: " ", **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}}


def official_score(reading: Reading, sample: Sample) -> float:
    even = without_blanks if sample.data["formula"] else in_small_letters
    response = even(str(reading.answer or ""))
    return float(any(even(answer) in response for answer in sample.references))


def lmms_score(reading: Reading, sample: Sample) -> float:
    if sample.data["formula"]:
        return official_score(reading, sample)
    response = in_small_letters(str(reading.answer or "").strip().translate(FULL_WIDTH))
    answers = (in_small_letters(answer.translate(FULL_WIDTH)) for answer in sample.references)
    return float(any(answer in response for answer in answers))


def in_small_letters(text: str) -> str:
    return text.lower().strip().replace("\n", " ")


def without_blanks(text: str) -> str:
    """Remove newlines and spaces. Tabs are removed only at the ends of the text."""
    return text.strip().replace("\n", " ").replace(" ", "")


def phrase(reply: Reply, sample: Sample) -> Reading:
    """Parse the phrase that a reply settles on. For a formula, take the whole reply, since formulas
    have no sentences."""
    if sample.data["formula"]:
        return parse_verbatim(reply, sample)
    return parse_phrase(reply, sample)


def robust_score(reading: Reading, sample: Sample) -> float:
    if reading.answer is None:
        return 0.0
    response = str(reading.answer)
    if sample.data["formula"]:
        return official_score(reading, sample)
    text = " ".join(response.casefold().split())
    wanted = (" ".join(answer.casefold().split()) for answer in sample.references)
    return float(any(stands_in(answer, text) for answer in wanted))


def stands_in(answer: str, text: str) -> bool:
    """Whether the text contains the answer as whole words, without a letter, digit, or underscore
    next to them."""
    return bool(answer and re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text))
