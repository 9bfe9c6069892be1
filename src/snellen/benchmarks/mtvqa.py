"""MTVQA: questions about text in pictures, in nine languages.

Paper    Tang et al. 2024, MTVQA: Benchmarking Multilingual Text-Centric Visual Question Answering,
         https://arxiv.org/abs/2405.11985 (ACL Findings 2025).
Data     VLMEvalKit's MTVQA_TEST.tsv has the questions of the test split, one in each row. In
         ByteDance/MTVQA on the Hugging Face hub, a row is a picture with all its questions,
         `qa_pairs` (pass the parquet file of the test split).
         In a TSV, the id is the row's index. In parquet, an id consists of the row's id and the
         number of the question, from 0, as in lmms-eval.
Prompt   The authors published no prompt. The prompts of VLMEvalKit and lmms-eval are the same:
         open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/
         image_vqa.py#L2139-L2147. The picture comes first.
Scoring  `official`: bytedance/MTVQA@efc6a78a701516a76649430e1100c98e2904a7d8:scripts/acc.py#L6-L29.
         A reply is right if it contains the answer. Full stops are removed from the reply but not
         from the answer, so no reply is right if the answer has a full stop. `average` is the mean
         over languages.
         `vlmevalkit`: full stops are removed from both, image_vqa.py#L2109-L2137. `accuracy` is the
         mean over questions. The rule in lmms-eval is the same.
         `robust`: Snellen's own rule. The phrase that a reply settles on must contain the answer,
         as whole words in languages that separate words.
Proof    For 700 generated pairs of a reply and an answer, every verdict and the average equal those
         of the authors' code (tests/test_benchmarks/test_mtvqa.py). No model outputs are published.
         `vlmevalkit` and `robust` are checked on examples worked out by hand.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from snellen.benchmarks.families import authors_files, pins
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.questions import WRONG, Unfolded
from snellen.benchmarks.families.tasks import parse_phrase, parse_verbatim
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Reading,
    Sample,
    Scoring,
)
from snellen.data import Row, find
from snellen.errors import DataError
from snellen.media.content import user
from snellen.metrics import Metric, macro_average, mean
from snellen.text.literals import literal

SOURCE = "bytedance/MTVQA@efc6a78a701516a76649430e1100c98e2904a7d8:scripts/acc.py#L6-L29"
KIND = "words"
LANGUAGES = ("ar", "de", "fr", "it", "ja", "ko", "ru", "th", "vi")
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = None
ALIASES: dict[str, dict[str, str]] = {"MTVQA_TEST": {}}
SHEET = own_sheet("MTVQA_TEST", md5="d87c17dbab934b7cd89c0a3c1c5657f4")
FILES_PUBLISHED = (SHEET,)
ASK = "Answer the question using a word or phrase in the language of the question."
WITHOUT_SPACES = ("JA", "KO", "TH")
"""The languages that do not separate all words with spaces."""


def mtvqa(data: Path | None = None) -> Benchmark:
    data_file = find(data, "mtvqa", [SHEET.name], FILES_PUBLISHED)
    table, file = authors_files.table(data_file, authors_files.objects)
    official = Scoring(
        version=1,
        source=SOURCE,
        parse=parse_verbatim,
        score=lambda reading, sample: contains(reading, sample, keep_stops=True),
        metrics={"average": Metric(macro_average("language"), better="higher"), "accuracy": mean},
        missing="wrong",
    )
    kit = replace(
        official,
        source=f"{pins.VLMEVALKIT}:vlmeval/dataset/image_vqa.py#L2109-L2137",
        score=lambda reading, sample: contains(reading, sample, keep_stops=False),
        metrics={"accuracy": mean},
    )
    return Benchmark(
        name="mtvqa",
        asks=1,
        data=Unfolded(table, questions),
        sample=lambda _, row: to_sample(row),
        prompt=lambda sample, _: (user(*sample.media, f"{sample.question}\n{ASK}"),),
        scorings={
            "official": official,
            "vlmevalkit": kit,
            "robust": replace(
                kit, source="ours", parse=parse_phrase, score=robust_score, missing="excluded"
            ),
        },
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: WRONG,
            # One of the two French answers has a full stop: (8 + 1/2) / 9.
            expect={
                "official": {**PERFECT, "oracle": 17 / 18},
                "vlmevalkit": PERFECT,
                "robust": PERFECT,
            },
        ),
        presentation=Presentation(
            break_down_by=("language",),
            capabilities=Capabilities(
                tag="", leaves={"": "OCR/text"}, source="https://arxiv.org/abs/2405.11985, abstract"
            ),
        ),
        interop=Interop(files=file),
    )


def questions(row: Row) -> Iterator[Mapping[str, Any]]:
    """Yield the questions of a row of the hub, or the row itself if it has only one."""
    if "qa_pairs" not in row:
        yield row
        return
    try:
        pairs: Any = literal(row["qa_pairs"])
        for number, pair in enumerate(pairs):
            yield {**row, **pair, "index": f"{row['id']}_{number}", "category": row["lang"]}
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"mtvqa: row {row.position + 1} cannot be read: {error!r}. Its fields must be id, "
            "lang, and qa_pairs, a list of questions and answers as text. Check that it is the "
            "data set."
        ) from error


def to_sample(row: Row) -> Sample:
    image = authors_files.picture(row)
    return Sample(
        id=str(row["index"]),
        question=row["question"],
        media=(image,),
        target=str(row["answer"]),
        tags={"language": row["category"]},
        data={"image": authors_files.picture_key(image)},
    )


# -- scoring


def contains(reading: Reading, sample: Sample, *, keep_stops: bool) -> float:
    """1 if the reply contains the answer, in any case, else 0."""
    reply = str(reading.answer or "").strip().lower().replace(".", "")
    answer = (sample.target or "").strip().lower()
    return float((answer if keep_stops else answer.replace(".", "")) in reply)


def robust_score(reading: Reading, sample: Sample) -> float:
    if reading.answer is None:
        return 0.0
    reply, answer = (
        " ".join(text.casefold().replace(".", "").split())
        for text in (str(reading.answer), sample.target or "")
    )
    if sample.tags["language"] in WITHOUT_SPACES:
        return float(answer in reply)
    return float(re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", reply) is not None)
