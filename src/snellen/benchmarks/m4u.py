"""M4U: questions from 64 disciplines of three fields, in English, Chinese, and German.

Paper    Wang et al. 2024, M4U: Evaluating Multilingual Understanding and Reasoning for Large
         Multimodal Models, https://arxiv.org/abs/2405.15638.
Data     M4U-Benchmark/M4U on the Hugging Face hub has parquet files for each field and language:
         data/{science,engineering,healthcare}_{en,zh,de}-*.parquet, with 1,085, 853, and 1,039 rows
         in each language, under the MIT license. The authors' result files
         (result/M4U/gpt4o/FIELD_LANGUAGE.json, without pictures) can also be read.
         The rows have no ids. An id consists of the file's name and the row's position in it.
Prompt   M4U-Benchmark/M4U@65b97e0fa0598d8fceae361956961e770068b248f58:utils.py#L8-L12. Each mark
         such as <image_1> stands for the next picture, whatever its number, and after the last
         picture for that one again: evaluate_gpt4o.py#L55-L76 and #L116-L122. Replies are limited
         to 1,024 tokens (#L33).
Scoring  `official`: utils.py#L42-L128. In the authors' result files, the choices are a text, "['a
         cat', 'a dog']". The parser takes its characters for the choices, so letters run from A to
         Z, [, and on. The published figures have this quirk. A reply without a letter is wrong.
         `list`: the same rules for the choices themselves. The authors' scripts would use them with
         the hub's rows, in which the choices are a list today.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
         `average` is the mean of the accuracies by field and language (#L131-L139, not rounded).
         The authors store a failed request as "error" (evaluate_gpt4o.py#L126-L127), which is wrong
         by their rules. Here, it is a question without a reply.
Proof    For GPT-4o's published outputs, all letters and verdicts equal the authors', and so do the
         letters for 1,040 generated replies, with the choices as a text and as a list
         (tests/parity). The averages by language in the authors' README do not follow from these
         outputs. `robust` is checked on examples worked out by hand.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files
from snellen.benchmarks.families.mmmu import by_letter, last_stated
from snellen.benchmarks.families.parts import (
    INDEX,
    PART,
    PartsTable,
    find_parts,
    published_replies,
)
from snellen.benchmarks.families.tasks import is_target, parse_letter, wrong_letter
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
from snellen.core.prompts import interleaved, lettered
from snellen.data import DataFile, Row
from snellen.errors import MediaError
from snellen.media.content import Message, Part
from snellen.metrics import Metric, macro_average, mean

KIND = "choice"
LANGUAGES = ("en", "zh", "de")
LICENSE = "MIT"
PROOF = "published outputs"
SIZE = 8931
OTHER_SIZES = {"language=en": 2977, "language=zh": 2977, "language=de": 2977}
AUTHORS = "M4U-Benchmark/M4U@65b97e0fa0598d8fceae361956961e770068b248f58"
Field = Literal["all", "science", "engineering", "healthcare"]
Language = Literal["all", "en", "zh", "de"]
FIELDS, LANGUAGES = ("science", "engineering", "healthcare"), ("en", "zh", "de")
ASK = {
    "en": "Answer with the option's letter from the given choices directly.",
    "zh": "直接用给定选项的字母回答.",
    "de": "Antworten Sie direkt mit dem Buchstaben der gegebenen Optionen.",
}
MARK = re.compile(r"<image(_\d+)?>")
FORMS = ("{}.", " {} ", "**{}**")


def m4u(field: Field = "all", language: Language = "all", data: Path | None = None) -> Benchmark:
    fields = FIELDS if field == "all" else (field,)
    languages = LANGUAGES if language == "all" else (language,)
    parts = [f"{name}_{code}" for code in languages for name in fields]
    data_file = find_parts(data, "m4u", parts, (), f"m4u:field={field},language={language}")
    metrics = {"accuracy": mean, "average": Metric(macro_average("part"), better="higher")}
    official = Scoring(
        version=1,
        source=f"{AUTHORS}:utils.py#L42-L139",
        parse=official_answer,
        score=official_score,
        metrics=metrics,
        missing="wrong",
    )
    perfect = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0}
    return Benchmark(
        name="m4u",
        asks=1,
        data=PartsTable(data_file, parts),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (Message("user", prompt(sample)),),
        scorings={
            "official": official,
            "list": replace(official, parse=list_answer),
            "robust": replace(
                official, source="ours", parse=parse_letter, score=is_target, missing="excluded"
            ),
        },
        max_answer_tokens=1024,
        check=Check(
            says=lambda _, answer: answer,
            wrong=wrong_letter,
            expect={
                # From "A B C D", the authors' rules take D, which is right for 3 of 18 rows.
                "official": {**perfect, "hedging": 1 / 6},
                "list": {**perfect, "hedging": 1 / 6},
                "robust": {**perfect, "hedging": 0.0},
            },
        ),
        presentation=Presentation(
            break_down_by=("part", "field", "language", "subfield", "discipline", "cross_lingual"),
            capabilities=Capabilities(
                tag="field",
                leaves=dict.fromkeys(FIELDS, "knowledge/domain"),
                source=f"{AUTHORS}:README.md#L59",
            ),
        ),
        interop=Interop(layout=lambda path: published_replies(path, PARTS, id_of, reply_of)),
    )


PARTS = tuple(f"{name}_{code}" for code in LANGUAGES for name in FIELDS)


def id_of(row: Mapping[str, Any]) -> str:
    return f"{row[PART]}-{row[INDEX]}"


def reply_of(row: Mapping[str, Any]) -> str | None:
    return None if row["predict"] == "error" else row["predict"]


def to_sample(row: Row, data_file: DataFile) -> Sample:
    field, language = row[PART].split("_")
    options = row["options"] if isinstance(row["options"], str) else str(row["options"])
    pictures = row.get("image_files") or ()
    return Sample(
        id=id_of(row),
        question=row["question"],
        choices=authors_files.texts(options),
        media=tuple(data_file.image(p) if isinstance(p, str) else p for p in pictures),
        target=row["answer"] if "answer" in row else row["gt"],
        tags={
            "part": row[PART],
            "field": field,
            "language": language,
            "subfield": row.get("subfield", ""),
            "discipline": row["discipline"],
            "cross_lingual": str(row["cross_lingual"]),
        },
        data={"options": options},
    )


def prompt(sample: Sample) -> tuple[Part, ...]:
    """The prompt with the pictures at their marks, in order of the marks.

    Raises:
        MediaError: the row has no pictures.
    """
    if not sample.media:
        raise MediaError(
            f"{sample.id}: the row has no pictures. A file of results can be used to score "
            "replies, but not to ask questions. Download the data set itself."
        )
    pictures = iter(sample.media)
    last = sample.media[-1]
    ask = ASK[sample.tags["language"]]
    text = f"{sample.question}\n{lettered(sample.choices)}\n{ask}"
    return interleaved(text, MARK, lambda _: next(pictures, last))


# -- scoring


def official_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse a letter, where the choices are the characters of the choices' text: utils.py#L42-L47.
    The letter behind Z is [, and so on."""
    options = str(sample.data["options"])
    return answer_of(reply, {chr(65 + index): char for index, char in enumerate(options)})


def list_answer(reply: Reply, sample: Sample) -> Reading:
    return answer_of(reply, by_letter(sample))


def answer_of(reply: Reply, choices: Mapping[str, str]) -> Reading:
    """The authors write Z if there is no letter."""
    return last_stated(reply.text, choices, FORMS) or Reading(answer=None, rule="no letter")


def official_score(reading: Reading, sample: Sample) -> float:
    """1 if the letters are equal. Case does not matter, so the letter b of a character counts as
    B."""
    answer, target = str(reading.answer or ""), sample.target or ""
    return float(answer.strip().lower() == target.strip().lower())
