"""TextVQA: questions about photographs that are answered by reading text in the photograph.

Paper    Singh et al. 2019, Towards VQA Models That Can Read, https://arxiv.org/abs/1904.08920
         (CVPR).
Data     The files are at https://textvqa.org/dataset, under CC BY 4.0:
         TextVQA_0.5.1_{val,test}.json, with the pictures of val in train_images/ and those of test
         in test_images/.
         `val` has 5,000 questions on 3,166 pictures. `test` has 5,734 questions with hidden
         answers.
         `ocr=rosetta` reads an OCR system's tokens from TextVQA_Rosetta_OCR_v0.2_{val,test}.json in
         the same folder.
         VLMEvalKit's TextVQA_VAL.tsv and lmms-lab/textvqa on the Hugging Face hub (parquet, with
         the tokens; pass the file) have the same questions.
Prompt   The authors prescribe no prompt. The picture comes first in all prompts.
         `llava`: the prompts in LLaVA's published answers (haotian-liu/
         LLaVA@32cebc3809441cc40d8ac7b2855d148308741f2a, by an outside contributor). With
         ocr=rosetta, these prompts include the tokens. Without tokens, the prompt in lmms-eval is
         the same: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/textvqa/utils.py#L43-L54.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_vqa.py#L64-L69.
         `qwen-vl`: QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:eval_mm/
         evaluate_vqa.py#L281.
         Replies are limited to 128 tokens, as in LLaVA's llava/eval/model_vqa_loader.py#L141.
Scoring  `official`: mmf's evaluator, in the copy that LLaVA's published scores used, haotian-liu/
         LLaVA@c121f0432da27facab705978f83c4ada465e46fd:llava/eval/m4c_evaluator.py#L181-L257, and
         only for the rows in the file of replies, eval_textvqa.py#L35-L51. The rule in lmms-eval is
         the same.
         `vlmevalkit`: uses VLMEvalKit's normalization.
         `robust`: Snellen's own rule, which takes the phrase that a reply settles on.
         A picture has several questions, so confidence intervals are clustered by picture.
Proof    Tests compare our scores with those of the authors' evaluator for 1,500 generated pairs of
         a reply and a right answer, and with VLMEvalKit's scores for 1,500 others (tests/parity).
         LLaVA-1.5's answers are published, but the questions and right answers are not published
         with them.
         `robust` is checked on examples worked out by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import orjson

from snellen.benchmarks.families import authors_files, pins, vqa
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Procedure,
    Published,
    Sample,
    Submission,
)
from snellen.data import (
    DataFile,
    Drawn,
    Row,
    Table,
    file_content,
    find,
    jsonl,
    parquet,
    vlmevalkit_tsv,
)
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Image, user
from snellen.metrics.vqa import textvqa_accuracy, textvqa_accuracy_vlmevalkit

SOURCE = f"{vqa.LLAVA}:llava/eval/m4c_evaluator.py#L181-L257"
KIND = "words"
LANGUAGES = ("en",)
LICENSE = "CC-BY-4.0"
PROOF = "authors' code"
SIZE = 5000
OTHER_SIZES = {"split=test": 5734}
ALIASES = {
    "TextVQA_VAL": {"split": "val", "prompt": "vlmevalkit"},
    "textvqa_val": {"split": "val", "prompt": "llava"},
    "textvqa_test": {"split": "test", "prompt": "llava"},
}
HOST = "https://dl.fbaipublicfiles.com/textvqa"
SHEET = own_sheet("TextVQA_VAL", md5="b233b31f551bbf4056f2f955da3a92cd")
ARCHIVES = {"val": "train_val_images.zip", "test": "test_images.zip"}
FOLDERS = {"val": "train_images", "test": "test_images"}

Split = Literal["val", "test"]
Preset = Literal["llava", "vlmevalkit", "qwen-vl"]
Ocr = Literal["none", "rosetta"]


def textvqa(
    split: Split = "val", prompt: Preset = "llava", ocr: Ocr = "none", data: Path | None = None
) -> Benchmark:
    names = [f"TextVQA_0.5.1_{split}.json", *([SHEET.name] if split == "val" else [])]
    data_file = find(data, "textvqa", names, (*published(split), SHEET), f"textvqa:split={split}")
    tokens = cache(lambda: rosetta(data_file, split))
    table = rows(data_file)
    return Benchmark(
        name="textvqa",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(
            row, data_file, split, tokens if ocr == "rosetta" else None
        ),
        prompt=lambda sample, _: (user(*sample.media, text(sample, prompt)),),
        scorings={
            "official": vqa.scoring(SOURCE, textvqa_accuracy),
            "vlmevalkit": vqa.scoring(
                f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/vqa_eval.py#L242-L270",
                textvqa_accuracy_vlmevalkit,
                missing="wrong",
            ),
            "robust": vqa.robust(textvqa_accuracy),
        },
        max_answer_tokens=128,
        cluster_by=vqa.picture_of,
        check=Check(says=lambda _, answer: answer, wrong=vqa.wrong_answer, expect=EXPECT),
        procedure=Procedure(group_by=vqa.picture_of),
        presentation=Presentation(
            capabilities=Capabilities(
                tag="", leaves={"": "OCR/text"}, source="https://arxiv.org/abs/1904.08920, abstract"
            )
        ),
        interop=Interop(
            files=data_file,
            layout=lambda path: llava_answers(path, table),
            submission=Submission(
                name=f"textvqa_{split}.json", columns=("question_id", "answer"), row=submitted
            ),
        ),
    )


def published(split: Split = "val", **_: object) -> tuple[File, ...]:
    """The published files with a split's questions, OCR tokens, and pictures. No digests of these
    files are published."""
    archive = ARCHIVES[split]
    size = {"val": "6.6 GB", "test": "926 MB"}[split]
    return (
        *(
            File(name=f"{name}_{split}.json", url=f"{HOST}/data/{name}_{split}.json")
            for name in ("TextVQA_0.5.1", "TextVQA_Rosetta_OCR_v0.2")
        ),
        File(name=archive, url=f"{HOST}/images/{archive}", unpack=True, note=size),
    )


# -- rows


def rows(data_file: DataFile) -> Table:
    """The table of questions. The file's extension determines whether the file is read as the
    authors' JSON, VLMEvalKit's TSV, or parquet."""
    kind = Path(str(data_file)).suffix
    if kind == ".tsv":
        return vlmevalkit_tsv(data_file)
    if kind == ".parquet":
        return parquet(data_file)
    return Drawn(str(data_file), lambda: listed(data_file.path))


def listed(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the entries of the list `data` in the authors' files."""
    try:
        content = orjson.loads(file_content(path))
    except orjson.JSONDecodeError as error:
        raise DataError(
            f"{path} is not complete, valid JSON: {error}. Download it again."
        ) from error
    entries = content.get("data") if isinstance(content, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise DataError(
            f"{path} is not a JSON object with a list of objects, `data`. Use the authors' file, "
            "such as TextVQA_0.5.1_val.json."
        )
    yield from entries


def rosetta(data_file: DataFile, split: Split) -> Mapping[str, Sequence[str]]:
    """The tokens that the authors' OCR system found in each picture, keyed by the picture's id."""
    path = data_file.folder / f"TextVQA_Rosetta_OCR_v0.2_{split}.json"
    if not path.is_file():
        raise DataError(
            f"textvqa:ocr=rosetta needs {path.name}, which is not in {path.parent}. Get it with "
            f"`snellen data get textvqa:split={split}`."
        )
    return {entry["image_id"]: entry["ocr_tokens"] for entry in listed(path)}


def to_sample(
    row: Row,
    data_file: DataFile,
    split: Split,
    tokens: Callable[[], Mapping[str, Sequence[str]]] | None,
) -> Sample:
    image, shared = picture(row, data_file, split)
    seen = None
    if tokens is not None:
        seen = list(row["ocr_tokens"] if "ocr_tokens" in row else tokens()[row["image_id"]])
    return Sample(
        id=id_of(row),
        question=row["question"],
        media=(image,),
        references=answers_of(row),
        data={
            "image": shared,
            "question_id": str(row.get("question_id", "")),
            "image_id": str(row.get("image_id", "")),
            "ocr_tokens": seen,
        },
    )


def id_of(row: Row) -> str:
    """The row's id. VLMEvalKit's `index` has priority over `question_id`, since VLMEvalKit's files
    of predictions have no other id."""
    return str(row["index"] if "index" in row else row["question_id"])


def picture(row: Row, data_file: DataFile, split: Split) -> tuple[Image, str]:
    """The picture of a row, and the picture's key."""
    image = row.get("image")
    if isinstance(image, tuple):
        (image,) = image
    if not isinstance(image, Image):
        name = row["image_id"]
        return data_file.image(f"{FOLDERS[split]}/{name}.jpg"), name
    return image, str(row.get("image_id") or authors_files.picture_key(image))


def answers_of(row: Row) -> tuple[str, ...]:
    """The people's answers, or an empty tuple if the answers are hidden. The data on the Hugging
    Face hub has ten empty texts in place of hidden answers."""
    answers = authors_files.texts(row["answer"] if "answer" in row else row.get("answers"))
    return answers if any(answers) else ()


# -- the layout of LLaVA's published answers


def llava_answers(path: Path, table: Table) -> Published | None:
    """Read LLaVA's answers. Each line has the prompt and, as `question_id`, the picture's id. The
    prompt and the picture's id identify the question. Returns None for any other file, and if no
    row has the picture id of the first line.

    Raises:
        DataError: no row has this question about this picture.
    """
    if not path.is_file() or ".jsonl" not in path.suffixes:
        return None
    answers = jsonl(path)
    first = next(iter(answers))
    if not {"question_id", "prompt", "text"} <= set(first):
        return None
    ids = {(row.get("image_id"), row["question"].lower()): id_of(row) for row in table}
    if not any(image == first["question_id"] for image, _ in ids):
        return None
    replies = {}
    for answer in answers:
        key = answer["question_id"], question_of(answer["prompt"])
        if key not in ids:
            raise DataError(
                f"row {answer.position + 1} of {path} asks {key[1]!r} about the picture "
                f"{key[0]!r}, which {table.where} does not. Use the data of the same split."
            )
        replies[ids[key]] = answer["text"]
    return Published(replies=replies)


def question_of(prompt: str) -> str | None:
    """The question, in lowercase, from a prompt in one of LLaVA's three forms. None for other
    prompts.

    haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:llava/eval/eval_textvqa.py#L17-L32.
    """
    lines = prompt.split("\n")
    if prompt.startswith("OCR tokens: "):
        match = re.search(r"Question: (.*?) Short answer:", prompt, re.DOTALL)
        return match[1].lower() if match else None
    if len(lines) == 3 and "Reference OCR token: " in prompt:
        return lines[1 if prompt.startswith("Reference OCR token:") else 0].lower()
    return lines[0].lower() if len(lines) == 2 else None


# -- prompts


def text(sample: Sample, preset: Preset) -> str:
    question, tokens = sample.question, sample.data["ocr_tokens"]
    seen = ""
    if isinstance(tokens, list):
        seen = f"\nReference OCR token: {', '.join(tokens)}"
    match preset:
        case "llava":
            # `capitalize` also lowercases names, but these are lowercase in the data too.
            return f"{question.capitalize()}{seen}\n{vqa.SHORT}"
        case "vlmevalkit":
            return f"{question}{seen}\n{vqa.SHORT}"
        case "qwen-vl":
            return f"{question}{seen} Answer:"


def submitted(sample: Sample, reply: str) -> Sequence[object]:
    number = str(sample.data["question_id"])
    if not number:
        raise DataError(
            f"textvqa: the rows do not have the server's id for question {sample.id}. Ask the "
            "questions in the authors' file, TextVQA_0.5.1_*.json."
        )
    return int(number), reply.strip()


# -- check

# In one of eight rows, three of ten people gave the most common answer, which scores 0.9. In
# another, two of ten said "a", which normalization turns into "", so an empty reply scores 0.6.
SHARE = {"oracle": 7.9 / 8, "wrong": 0.0, "silent": 0.6 / 8, "hedging": 0.0}
EXPECT = {"official": SHARE, "vlmevalkit": SHARE, "robust": {**SHARE, "silent": 0.0}}
