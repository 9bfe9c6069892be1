"""OCR-VQA: questions about a book cover, such as the title, the author, or the genre.

Paper    Mishra et al. 2019, OCR-VQA: Visual Question Answering by Reading Text in Images (ICDAR),
         https://ocr-vqa.github.io.
Data     The authors' page has dataset.json, a JSON object that maps ids to covers with their
         questions and answers. The page also has a script that downloads the covers from the online
         bookstore's URLs as images/<id>.<extension>. No license is stated.
         In the file, split 1 is train, 2 is val, and 3 is test. `test` has 20,797 covers and about
         100,000 questions.
         The dataset howard-hou/OCR-VQA on the Hugging Face hub has the same data (parquet, with a
         row for each cover; pass the file).
         VLMEvalKit's OCRVQA_TEST.tsv is test. `testcore` is VLMEvalKit's OCRVQA_TESTCORE.tsv, with
         96 questions for each of 32 genres, open-compass/
         VLMEvalKit@c090051e984a19954909952d1abcdc6967c854e6:results/VQA.md.
         Questions have no ids. An id here consists of the cover's id and the question's number
         (counted from 0), joined by _. For a TSV, the id is the row's index.
Prompt   The authors prescribe no prompt. The picture comes first in all prompts.
         `llava`: haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:docs/
         Evaluation.md#L13-L18.
         `vlmevalkit`, with the same text: open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/image_vqa.py#L64-L69.
         `qwen-vl`: QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:eval_mm/
         evaluate_vqa.py#L281.
         Replies are limited to 128 tokens, as in LLaVA's llava/eval/model_vqa_loader.py#L141.
         Qwen-VL used 100 tokens.
Scoring  A question without a reply is wrong under all scorings.
         `official`: accuracy by exact equality. The authors released no scorer, and their paper
         does not specify the treatment of case and spaces. Snellen uses the rule of
         google-research/
         pix2struct@945f27e936c9464d9d7c133f1bd1f4f383be9e99:pix2struct/metrics.py#L135-L138.
         `vlmevalkit`: ignores case and surrounding spaces. Qwen-VL's rule, with a published score
         of 75.7, also ignores case and surrounding spaces (evaluate_vqa.py#L168-L179).
         `robust`: Snellen's own rule, which takes the phrase that a reply settles on, normalized as
         in VQA's evaluation.
         With the prompts vlmevalkit and qwen-vl, vlmevalkit is the headline scoring.
         A cover has several questions, so confidence intervals are clustered by cover.
Proof    All scorings are checked on examples worked out by hand. No model outputs are published
         together with the answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, pins
from snellen.benchmarks.families import questions as _questions
from snellen.benchmarks.families.tasks import parse_verbatim
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Procedure,
    Reading,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, Table, find
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import user
from snellen.metrics import mean

SOURCE = (
    "google-research/pix2struct@945f27e936c9464d9d7c133f1bd1f4f383be9e99:"
    "pix2struct/metrics.py#L135-L138"
)
KIND = "words"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "by hand"
SIZE = None
OTHER_SIZES = {"split=testcore": 3072}
ALIASES = {
    "OCRVQA_TEST": {"split": "test", "prompt": "vlmevalkit"},
    "OCRVQA_TESTCORE": {"split": "testcore", "prompt": "vlmevalkit"},
    "ocrvqa": {"split": "test"},
}
HOST = "https://opencompass.openxlab.space/utils/VLMEval"
MD5 = {
    "OCRVQA_TEST.tsv": "ca46a6d74b403e9d6c0b670f6fc00db9",
    "OCRVQA_TESTCORE.tsv": "c5239fe77db8bdc1f2ad8e55e0d1fe97",
}

Split = Literal["test", "testcore", "val", "train"]
Preset = Literal["llava", "vlmevalkit", "qwen-vl"]
NUMBERS: Mapping[Split, int] = {"train": 1, "val": 2, "test": 3}
SHEETS: Mapping[Split, str] = {"test": "OCRVQA_TEST.tsv", "testcore": "OCRVQA_TESTCORE.tsv"}
PROMPTS: Mapping[Preset, str] = {
    "llava": _questions.SHORT,
    "vlmevalkit": _questions.SHORT,
    "qwen-vl": "{question} Answer:",
}


def ocr_vqa(split: Split = "test", prompt: Preset = "llava", data: Path | None = None) -> Benchmark:
    names = ["dataset.json", "annotations/dataset.json"] if split in NUMBERS else []
    names += [SHEETS[split]] if split in SHEETS else []
    data_file = find(data, "ocr-vqa", names, published(split), f"ocr-vqa:split={split}")
    table, files = table_of(data_file, split)
    scorings = {
        "official": Scoring(
            version=1,
            source=SOURCE,
            parse=parse_verbatim,
            score=is_answer,
            metrics={"accuracy": mean},
            missing="wrong",
        ),
        "vlmevalkit": Scoring(
            version=1,
            source=f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/vqa_eval.py#L279-L282",
            parse=parse_verbatim,
            score=is_answer_in_any_case,
            metrics={"accuracy": mean},
            missing="wrong",
        ),
        "robust": Scoring(
            version=1,
            source="ours",
            parse=_questions.phrase,
            score=is_phrase,
            metrics={"accuracy": mean},
            missing="wrong",
        ),
    }
    headline = "official" if prompt == "llava" else "vlmevalkit"
    return Benchmark(
        name="ocr-vqa",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (
            user(*sample.media, PROMPTS[prompt].format(question=sample.question)),
        ),
        scorings={headline: scorings.pop(headline), **scorings},
        max_answer_tokens=128,
        cluster_by=image_of,
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: _questions.WRONG,
            expect=dict.fromkeys(("official", "vlmevalkit", "robust"), PERFECT),
        ),
        procedure=Procedure(group_by=image_of),
        presentation=Presentation(
            break_down_by=("genre",),
            capabilities=Capabilities(
                tag="", leaves={"": "OCR/text"}, source="https://ocr-vqa.github.io"
            ),
        ),
        interop=Interop(files=files),
    )


def published(split: Split = "test", **_: object) -> tuple[File, ...]:
    """The published file: VLMEvalKit's TSV, which includes the covers. The authors' own file has no
    permanent URL."""
    name = SHEETS.get(split)
    return (File(name=name, url=f"{HOST}/{name}", md5=MD5[name]),) if name else ()


# -- rows


def table_of(data_file: DataFile, split: Split) -> tuple[Table, DataFile | None]:
    """A table with one row for each question, and the file from which the rows are read."""
    table, files = authors_files.table(data_file, lambda path: covers(path, split))
    sheet = ".tsv" in Path(table.where).suffixes
    return (table if sheet else _questions.Unfolded(table, questions_of)), files


def covers(path: Path, split: Split) -> Iterator[dict[str, Any]]:
    """Yield the covers of a split from the authors' JSON object, which maps ids to covers."""
    for name, cover in authors_files.of_json(path).items():
        if cover["split"] == NUMBERS[split]:
            yield {"image_id": name, **cover}


def questions_of(cover: Row) -> Iterator[dict[str, Any]]:
    questions, answers = cover["questions"], cover["answers"]
    if len(questions) != len(answers):
        raise DataError(
            f"cover {cover['image_id']} has {len(questions)} questions but {len(answers)} answers. "
            "Download the file again."
        )
    shared = {key: cover[key] for key in ("image_id", "genre", "imageURL", "image") if key in cover}
    for number, (question, answer) in enumerate(zip(questions, answers, strict=True)):
        name = f"{cover['image_id']}_{number}"
        yield {"id": name, "question": question, "answer": answer, **shared}


def to_sample(row: Row, data_file: DataFile) -> Sample:
    sheet = "index" in row
    # A title such as "[sic]" is not a list. But in a TSV, a cell that parses as a list is one.
    right = authors_files.texts(row["answer"]) if sheet else (str(row["answer"]),)
    ending = PurePosixPath(row.get("imageURL") or "").suffix or ".jpg"
    name = row.get("image_id", "")
    files = (f"images/{name}{ending}", f"images/{name}.jpg", f"{name}{ending}")
    image, shared = _questions.picture(row, data_file, files)
    return Sample(
        id=str(row["index"] if sheet else row["id"]),
        question=row["question"],
        media=(image,),
        target=right[0] if len(right) == 1 else None,
        references=right if len(right) > 1 else (),
        tags={"genre": str(row.get("genre") or row.get("category") or "")},
        data={"image": str(name) or shared},
    )


def image_of(sample: Sample) -> str:
    return str(sample.data["image"])


# -- scoring


def answers_of(sample: Sample) -> tuple[str, ...]:
    return sample.references or (sample.target or "",)


def is_answer(reading: Reading, sample: Sample) -> float:
    return float((reading.answer or "") in answers_of(sample))


def is_answer_in_any_case(reading: Reading, sample: Sample) -> float:
    answer = str(reading.answer or "").strip().lower()
    return float(any(answer == right.strip().lower() for right in answers_of(sample)))


def is_phrase(reading: Reading, sample: Sample) -> float:
    return float(any(reading.answer == _questions.plain(right) for right in answers_of(sample)))


# -- check

PERFECT = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
