"""M3CoT: choices in science, commonsense, and mathematics that need several steps over a picture.

Paper    Chen et al. 2024, M3CoT: A Novel Benchmark for Multi-Domain Multi-step Multi-modal
         Chain-of-Thought, https://arxiv.org/abs/2405.16473 (ACL).
Data     LightChen2333/M3CoT on the Hugging Face hub, data/test-*.parquet, under CC BY-SA 4.0; or
         the authors' data/test.jsonl, whose field `image` names a file. `test` has 2,318 questions
         with two to six choices.
Prompt   As in LightChen233/M3CoT@ee50d5ac69661f81731d33647dd307d1f84eada5:experiment/zero-shot/.
         `direct`: the question alone. `cot`: with "Let's think step-by-step!". `dsp`: the model
         describes the picture first and answers in a second turn. The picture comes after the text,
         utils/gemini_request.py#L177. In the published runs, the marks that some questions had then
         (<QUESTION>, <CHOICE>, <CONTEXT>) repeat the choices. Today's data has no such marks.
Scoring  `official`: utils/metric.py#L15-L52. Comments in the code below describe the quirks. In a
         file of the authors' results, the last message counts, with the choices of the file's row.
         Only the questions in the file count, and of several lines for a question only the first,
         #L92-L160.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
Proof    For the published outputs, every letter and every accuracy equals the authors' (tests/
         parity), and so do all generated rows. The leaderboard's figures for social commonsense,
         and its totals, count A as right for social-commonsense-1274. The data set's key is B.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

from snellen.benchmarks.families import mmmu
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.tasks import is_target, parse_letter, wrong_letter
from snellen.core import (
    UNMAPPED,
    Benchmark,
    Capabilities,
    Check,
    History,
    Interop,
    Presentation,
    Procedure,
    Published,
    Reading,
    Sample,
    Scoring,
)
from snellen.core.procedure import Conversation
from snellen.core.prompts import lettered
from snellen.data import DataFile, Row, Table, jsonl
from snellen.errors import DataError
from snellen.media.content import Image, Message, assistant, user
from snellen.metrics import mean

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "CC-BY-SA-4.0"
PROOF = "published outputs"
SIZE = 2318
SOURCE = "LightChen233/M3CoT@ee50d5ac69661f81731d33647dd307d1f84eada5:utils/metric.py#L15-L52"
FILES = ("data/test.jsonl", "test.jsonl")
LEAVES = {
    **dict.fromkeys(("algebra", "geometry", "theory"), "reasoning/mathematical"),
    **dict.fromkeys(("physical-commonsense", "social-commonsense"), "reasoning/commonsense"),
    "temporal-commonsense": "reasoning/temporal",
    "natural-science": "knowledge/domain",
    "social-science": "knowledge/world",
    "language-science": UNMAPPED,
}
Preset = Literal["direct", "cot", "dsp"]
AFTER = {
    "direct": "",
    "cot": "\n\nLet's think step-by-step!",
    "dsp": "\n\nDescribe the image information relevant to the question. Do not answer the choice "
    "question directly.",
}
THEN = "Then, provide your answer. Note, you must choose one option."


def m3cot(prompt: Preset = "direct", data: Path | None = None) -> Benchmark:
    patterns = ("data/test-*.parquet", "test-*.parquet")
    data_file = mmmu.looked_for(data, "m3cot", patterns, FILES, (), "m3cot")
    return Benchmark(
        name="m3cot",
        asks=1,
        data=mmmu.Late(str(data_file), lambda: rows(data_file)),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, history: messages(sample, history, prompt),
        scorings={
            "official": Scoring(
                version=1,
                source=SOURCE,
                parse=lambda reply, sample: official_answer(reply.text, sample.choices),
                score=is_target,
                metrics={"accuracy": mean},
                missing="wrong",
            ),
            "robust": Scoring(
                version=1,
                source="ours",
                parse=parse_letter,
                score=is_target,
                metrics={"accuracy": mean},
            ),
        },
        max_answer_tokens=1024,
        check=Check(
            says=lambda _, answer: f"({answer})",
            wrong=wrong_letter,
            # From "A B C D", official takes the letter of the last choice.
            expect={"official": {**PERFECT, "hedging": LAST}, "robust": PERFECT},
        ),
        procedure=Procedure(conversation=Conversation(turns=2 if prompt == "dsp" else 1)),
        presentation=Presentation(
            break_down_by=("domain", "topic"),
            capabilities=Capabilities(
                tag="topic", leaves=LEAVES, source="https://arxiv.org/abs/2405.16473, section 3"
            ),
        ),
        interop=Interop(files=data_file, layout=layout),
    )


# -- rows


def rows(data_file: DataFile) -> Table:
    if data_file.path.suffix == ".parquet":
        return mmmu.of_parquet(data_file, mmmu.parquet_files(data_file))
    return jsonl(data_file)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    image = row.get("image")
    picture = data_file.image(image) if isinstance(image, str) else image
    return Sample(
        id=row["id"],
        question=row["question"],
        choices=tuple(row["choices"]),
        media=(picture,) if isinstance(picture, Image) else (),
        target=row["answer"],
        tags={"domain": row["domain"], "topic": row["topic"]},
        data={"context": row["context"]},
    )


def messages(sample: Sample, history: History, prompt: Preset) -> tuple[Message, ...]:
    if history:
        before, reply = history[-1]
        return (*before, assistant(reply.text), user(THEN))
    context = f"[Context]\n{sample.data['context']}\n" if sample.data["context"] else ""
    choices = lettered(sample.choices, "({letter}) {choice}")
    text = f"{context}[Question]\n{sample.question}\n[Choices]\n{choices}{AFTER[prompt]}"
    return (user(text, *sample.media),)


# -- scoring


def official_answer(text: str, choices: Sequence[str]) -> Reading:
    """Parse a letter by the authors' rules. The letter need not be that of a choice."""
    if "[Answer]" in text:
        text = text.rpartition("[Answer]")[2].partition("[Rationale]")[0].partition("[Context]")[0]
    if bracketed := re.findall(r"\(([A-Za-z])\)", text):
        return Reading(answer=bracketed[-1].upper(), rule="in brackets")
    letters = ascii_uppercase[: len(choices)]
    low = text.lower()
    # A short choice also matches within a word: "4" in "14". The last choice in the order of the
    # choices wins, not the last in the text.
    pairs = zip(letters, choices, strict=True)
    if matches := [letter for letter, choice in pairs if choice.lower() in low]:
        return Reading(answer=matches[-1], rule="choice", candidates=tuple(matches))
    # "B)" and "**B**" are no words here. "a dog" is A.
    words = re.sub(r"[\n.,!?]", " ", text).split(" ")
    for rule, spelled in (("capital letter", str.upper), ("small letter", str.lower)):
        if matches := [letter for letter in letters if spelled(letter) in words]:
            return Reading(answer=matches[-1], rule=rule, candidates=tuple(matches))
    return Reading(answer=None, rule="no letter")


# -- published results


def layout(path: Path) -> Published | None:
    """Read the authors' results: lines with an id and the messages of the conversation, the last of
    which is the model's. A line without choices has those of the data set."""
    if ".jsonl" not in path.suffixes:
        return None
    lines: dict[str, Mapping[str, Any]] = {}
    again = 0
    for number, row in enumerate(jsonl(path), 1):
        if "id" not in row or "messages" not in row:
            return None
        spoken = row["messages"]
        if not isinstance(spoken, list) or not spoken or not isinstance(spoken[-1], str):
            raise DataError(
                f"{path.name}: line {number} has no reply: `messages` must be a list of texts, and "
                "the last of them the model's reply."
            )
        again += row["id"] in lines
        lines.setdefault(row["id"], row)
    readings = {
        name: official_answer(row["messages"][-1], row["choices"])
        for name, row in lines.items()
        if row.get("choices")
    }
    return Published(
        replies={name: row["messages"][-1] for name, row in lines.items()},
        readings={"official": readings},
        only_these=True,
        notes=(f"{again:,} lines repeat a question and do not count",) if again else (),
    )


# -- check

LAST = 0.5
"""The share of the bundled rows in which the last choice is right."""
