"""TableVQA-Bench: questions about pictures of tables, in four parts.

Paper    Kim et al. 2024, TableVQA-Bench: A Visual Question Answering Benchmark on Multiple Table
         Domains, https://arxiv.org/abs/2404.19205.
Data     terryoo/TableVQA-Bench on the Hugging Face hub has a parquet file for each part:
         data/{vwtq,vwtq_syn,vtabfact,fintabnetqa}-*.parquet, with 750, 250, 250, and 250 rows. The
         card's license is CC BY 4.0. VLMEvalKit's TableVQABench.tsv and the authors' result files
         (outputs/gpt4v/PART.json, without pictures) can also be read.
         An id consists of the part and the row's qa_id. In a TSV, the id is the row's index.
Prompt   `official`: naver-ai/tablevqabench@87d38e7907e268ea18c7d9c318e95e3a43009cea:src/
         example_prompts.py#L8-L45. The authors do not state where the picture is. Here, it is
         first.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/utils/tablevqabench.py#L13-L51, with "True or False" instead of "true or false".
Scoring  `official`: src/evaluate_tablevqa_dataset.py#L45-L228 and text/tables.py. Fintabnetqa
         has the relieved accuracy, in which a unit may be missing. `average` is the authors' figure
         (#L38-L43): the accuracy of each part, rounded to eight decimals, weighted by size.
         `exact`: the same, but fintabnetqa requires the unit (#L127).
         `vlmevalkit`: `official` after "Answer: " at the start of a reply is removed, vlmeval/
         dataset/image_vqa.py#L2377-L2379.
         `robust`: `official` for the phrase that a reply settles on, without commas in numbers.
         A statement is right or wrong by the choice between True and False that the reply makes.
Proof    For GPT-4V's published outputs, all verdicts and averages equal the authors', and so do the
         scores of 1,624 generated pairs of a reply and a right answer (tests/parity).
         `vlmevalkit` and `robust` are checked on examples worked out by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from snellen.answers.reply import final_text
from snellen.benchmarks.families import authors_files, pins
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.parts import PART, PartsTable, find_parts, published_replies
from snellen.benchmarks.families.tasks import parse_phrase, parse_verbatim, parse_yes_no
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Filtered, Row, vlmevalkit_tsv
from snellen.data.published import File
from snellen.media.content import user
from snellen.metrics import mean
from snellen.metrics.by_category import by_category
from snellen.text.tables import same_amount, same_amount_and_unit, same_denotation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AUTHORS = "naver-ai/tablevqabench@87d38e7907e268ea18c7d9c318e95e3a43009cea"
SOURCE = f"{AUTHORS}:src/evaluate_tablevqa_dataset.py"
KIND = "words"
LANGUAGES = ("en",)
LICENSE = "CC-BY-4.0"
PROOF = "published outputs"
SIZE = 1500
OTHER_SIZES = {
    "part=vwtq": 750,
    "part=vwtq_syn": 250,
    "part=vtabfact": 250,
    "part=fintabnetqa": 250,
}
ALIASES = {"TableVQABench": {"prompt": "vlmevalkit"}}
HUB = "hf://datasets/terryoo/TableVQA-Bench@bde91518c3c5559db9c2b73c13218e3314d12514/data"
SHEET = File(
    name="TableVQABench.tsv",
    url="https://pai-aigc-photog.oss-cn-hangzhou.aliyuncs.com/mentor-vil/datasets/tablevqa-bench.tsv",
    md5="2550adc61bdc82d8e62f3b003de7c62d",
)
Part = Literal["all", "vwtq", "vwtq_syn", "vtabfact", "fintabnetqa"]
Preset = Literal["official", "vlmevalkit"]
FILES: dict[str, str] = {
    "vwtq": "vwtq-00000-of-00001-764eb826ab450a91.parquet",
    "vwtq_syn": "vwtq_syn-00000-of-00001-2daaa7285aca2c1d.parquet",
    "vtabfact": "vtabfact-00000-of-00001-ecd1dbae37761ddd.parquet",
    "fintabnetqa": "fintabnetqa-00000-of-00001-c337fe9eb7a70460.parquet",
}
"""The name of each part's file on the hub."""
STATEMENT = (
    "You are asked to answer whether the statement is True or False based on given image\n"
    "You should only answer {choices}.\nExample: \n"
    "Statement: the milwaukee buck win 6 game in the 2010 - 11 season\nAnswer: True\n"
    "Statement: only the top team score above the average of 8.8\nAnswer: False\n\n"
    "Statement: {question}\nAnswer:"
)
SINGLE_WORD = (
    "You are asked to answer questions asked on an image.\n"
    "You should answer the question with a single word.\nExample: \n"
    "Question: what was the only year mr. wu competed in the olympic games?\nAnswer: 2004\n"
    "Question: which township in pope county, arkansas has the least amount of water area?\n"
    "Answer: Freeman\nIf you have multiple answers, please separate them with || marks. "
    "Example: Apple||Banana||Tomato\n\nQuestion: {question}\nAnswer:"
)
WITH_UNITS = (
    "You are asked to answer questions asked on a image.\n"
    "You should answer the question within a single word or few words.\n"
    "If units can be known, the answer should include units such as $, %, million and etc.\n"
    "Example: \nQuestion: What were the total financing originations for the fiscal year ended "
    "October 31, 2004?\nAnswer: $3,852 million\n"
    "Question: What is the time period represented in the table?\nAnswer: October 31\n"
    "Question: What was the percentage of net sales for selling, general and administrative "
    "expenses in 2006?\nAnswer: 34.2%\nQuestion: {question}\nAnswer:"
)


def tablevqa_bench(
    part: Part = "all", prompt: Preset = "official", data: Path | None = None
) -> Benchmark:
    parts = tuple(FILES) if part == "all" else (part,)
    files = published(part)
    spec = f"tablevqa-bench:part={part}"
    data_file = find_parts(data, "tablevqa-bench", parts, (*files, SHEET), spec)
    is_sheet = str(data_file).endswith(".tsv")
    sheet = Filtered(vlmevalkit_tsv(data_file), lambda row: row["split"] in parts)
    return Benchmark(
        name="tablevqa-bench",
        asks=1,
        data=sheet if is_sheet else PartsTable(data_file, parts),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, text(sample, prompt)),),
        scorings=scorings(),
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda sample: WRONG.get(sample.target or "", "nothing of the kind"),
            expect=dict.fromkeys(("official", "exact", "vlmevalkit", "robust"), PERFECT),
        ),
        presentation=Presentation(
            break_down_by=("part",),
            capabilities=Capabilities(
                tag="",
                leaves={"": "OCR/table"},
                source="https://arxiv.org/abs/2404.19205, abstract",
            ),
        ),
        interop=Interop(
            files=data_file if is_sheet else None,
            layout=lambda path: published_replies(
                path, tuple(FILES), id_of, lambda row: row["pred"]
            ),
        ),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    official = Scoring(
        version=1,
        source=f"{SOURCE}#L17-L228",
        parse=official_answer,
        score=relieved_score,
        metrics={
            "accuracy": mean,
            "average": by_category("part", rounded_average, "average"),
        },
        missing="wrong",
    )
    kit = f"{pins.VLMEVALKIT}:vlmeval/dataset/image_vqa.py#L2367-L2398"
    robust = replace(official, source="ours", parse=robust_answer, score=robust_score)
    return {
        "official": official,
        "exact": replace(official, source=f"{SOURCE}#L120-L153", score=exact_score),
        "vlmevalkit": replace(official, source=kit, parse=kit_answer, metrics={"accuracy": mean}),
        "robust": replace(robust, metrics={"accuracy": mean}, missing="excluded"),
    }


def published(part: Part = "all", **_: object) -> tuple[File, ...]:
    """The files on the hub. No digests are published."""
    names = FILES if part == "all" else (part,)
    return tuple(File(name=f"data/{FILES[name]}", url=f"{HUB}/{FILES[name]}") for name in names)


# -- rows and prompts

VERDICTS = {"1": "true", "0": "false"}
WRONG = {"true": "false", "false": "true"}


def id_of(row: Mapping[str, Any]) -> str:
    return str(row["index"]) if "index" in row else f"{row[PART]}-{row['qa_id']}"


def to_sample(row: Row, data_file: DataFile) -> Sample:
    name, part = id_of(row), row[PART] if PART in row else row["split"]
    right = str(row["gt"] if "gt" in row else row["answer"])
    image = row.get("image", f"images/{name}.png")
    return Sample(
        id=name,
        question=row["question"],
        media=(data_file.image(image) if isinstance(image, str) else authors_files.picture(row),),
        target=VERDICTS[right] if part == "vtabfact" else right,
        tags={"part": part},
    )


def text(sample: Sample, preset: Preset) -> str:
    part = sample.tags["part"]
    if part == "vtabfact":
        choices = "true or false" if preset == "official" else "True or False"
        return STATEMENT.format(question=sample.question, choices=choices)
    template = WITH_UNITS if part == "fintabnetqa" else SINGLE_WORD
    return template.format(question=sample.question)


# -- scoring


def official_answer(reply: Reply, sample: Sample) -> Reading:
    """Return the full reply or, for a statement, the word true or false that the reply contains. A
    reply that contains both words is wrong (#L56-L58)."""
    if sample.tags["part"] != "vtabfact":
        return parse_verbatim(reply, sample)
    words = tuple(word for word in WRONG if word in reply.text.lower())
    if len(words) == 1:
        return Reading(answer=words[0], rule="contains it")
    return Reading(answer=None, rule="both words" if words else "neither word", candidates=words)


def kit_answer(reply: Reply, sample: Sample) -> Reading:
    return official_answer(replace(reply, text=reply.text.removeprefix("Answer: ")), sample)


def score_by(units: Callable[[str, str], bool], reading: Reading, sample: Sample) -> float:
    answer, target, part = str(reading.answer or ""), sample.target or "", sample.tags["part"]
    if part == "vtabfact":
        return float(answer == target)
    if part == "fintabnetqa":
        return float(units(answer, target))
    return float(same_denotation(target, answer.replace("||", "|")))


def relieved_score(reading: Reading, sample: Sample) -> float:
    return score_by(same_amount, reading, sample)


def exact_score(reading: Reading, sample: Sample) -> float:
    return score_by(same_amount_and_unit, reading, sample)


def rounded_average(score: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The accuracy of each part, rounded to eight decimals, weighted by the part's number of
    rows."""
    rounded = ((score + 1e-9) / (rows + 1e-9)).round(8)
    average: NDArray[np.float64] = (rounded * rows).sum(axis=1) / rows.sum(axis=1)
    return average


# -- scoring, robust

COMMA = re.compile(r"(?<=\d),(?=\d{3}\b)")


def robust_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the phrase that a reply settles on or, for a statement, its verdict."""
    if sample.tags["part"] != "vtabfact":
        return parse_phrase(reply, sample)
    reading = parse_yes_no(reply, sample)
    if reading.answer is not None:
        return replace(reading, answer="true" if reading.answer == "yes" else "false")
    words = set(re.findall(r"\b(?:true|false|not)\b|n't\b", final_text(reply.text).lower()))
    if len(words) == 1 and words <= WRONG.keys():
        return Reading(answer=words.pop(), rule="only verdict")
    return replace(reading, candidates=tuple(sorted(words)))


def robust_score(reading: Reading, sample: Sample) -> float:
    plain = replace(sample, target=COMMA.sub("", sample.target or ""))
    answer = COMMA.sub("", str(reading.answer or ""))
    return relieved_score(replace(reading, answer=answer), plain)
