"""MM-MT-Bench: conversations about pictures, in which a judge rates each reply from 1 to 10.

Paper    Agrawal et al. 2024, Pixtral 12B, https://arxiv.org/abs/2410.07073, section 3.
Data     mistralai/MM-MT-Bench on the Hugging Face hub, a parquet file: 92 conversations with 121
         turns, each with a picture, a category, and reference answers (pass its folder).
Prompt   `official`: every turn is a request of its own. The earlier turns have the reference
         answers, not the model's replies, mistralai/mistral-evals@d61811fcd34b7802109538bacc28e70d
         8633f261:eval/tasks/mm_mt_bench.py#L180-L204. Replies are limited to 4,096 tokens (#L22).
Scoring  `official`: GPT-4o rates a reply (#L36-L156). The released code fills the prompt with the
         names of a message's fields instead of its content, so the judge reads "rolecontent" where
         the question should be, and the reference answers as Python prints them. It sees neither
         question nor picture (issue 8 there). The rating is the first number in double brackets,
         even 0 or 11. If there is none, the authors ask again without end; here, the reply stays
         unjudged. `micro_average_score` is the mean rating. `macro_average_score` is the mean of
         the means of all categories and of all turns, together (#L210-L233).
         `conversation` (on request): the same prompt, filled with the texts of the questions and of
         the reference answers, as the types of the authors' functions declare. No picture is sent.
Proof    Prompts, ratings, and averages of generated conversations equal those of the authors' code
         (tests/parity). No outputs are published.
"""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from snellen.benchmarks.families import authors_files
from snellen.benchmarks.families.judged import presentation
from snellen.benchmarks.families.mm_mt_judge import (
    TAGS,
    as_printed,
    as_texts,
    rated,
    shown,
    text_of,
)
from snellen.benchmarks.families.questions import Unfolded, picture
from snellen.core import UNMAPPED, Benchmark, Check, Interop, Sample
from snellen.data import DataFile, Row, find, jsonl, unreadable
from snellen.data.published import File
from snellen.media.content import Message, assistant, user

REVISION = "d61811fcd34b7802109538bacc28e70d8633f261"
SOURCE = f"mistralai/mistral-evals@{REVISION}:eval/tasks/mm_mt_bench.py#L36-L233"
HUB = "https://huggingface.co/datasets/mistralai/MM-MT-Bench/resolve/main"
NAME = "eval-00000-of-00001.parquet"
FILE = File(name=NAME, url=f"{HUB}/data/{NAME}")
KIND = "chat"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 92
ALIASES: dict[str, dict[str, str]] = {"MM-MT-Bench": {}}
RATED = {"oracle": 10.0, "wrong": 1.0, "silent": 1.0, "hedging": 1.0}


def mm_mt_bench(data: Path | None = None) -> Benchmark:
    data_file = find(data, "mm-mt-bench", [NAME, f"data/{NAME}", "eval.jsonl"], (FILE,))
    conversations, file = authors_files.table(data_file, lambda path: iter(jsonl(path)), REVISION)
    return Benchmark(
        name="mm-mt-bench",
        asks=1,
        data=Unfolded(conversations, turns),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: tuple(map(partial(to_message, sample), shown(sample)[:-1])),
        scorings={
            "official": rated(SOURCE, as_printed),
            "conversation": rated("ours", as_texts, on_request=True),
        },
        max_answer_tokens=4096,
        cluster_by=lambda sample: sample.id.partition("_")[0],
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "nothing of the kind",
            verdict=lambda sample, reply: f"[[{10 if reply.text == sample.target else 1}]]",
            expect=dict.fromkeys(("official", "conversation"), RATED),
        ),
        presentation=presentation(TAGS, UNMAPPED, "https://arxiv.org/abs/2410.07073, section 3"),
        interop=Interop(files=file),
    )


def published(**_: object) -> tuple[File, ...]:
    """The authors' parquet file, which includes the pictures."""
    return (FILE,)


def turns(row: Row) -> Iterator[dict[str, Any]]:
    """Yield the turns of a conversation, each with the messages up to its reference answer."""
    try:
        messages = json.loads(row["conversation"])
        roles = [message["role"] for message in messages]
        if not roles or roles != ["user", "assistant"] * (len(roles) // 2):
            raise ValueError(f"its messages are not pairs of user and assistant, but {roles}")
        for turn in range(len(roles) // 2):
            name = f"{row.position}_{turn}"
            yield {**row, "name": name, "turn": turn, "messages": messages[: 2 * turn + 2]}
    except (KeyError, TypeError, ValueError) as error:
        raise unreadable(f"row {row.position + 1}", row, error) from error


def to_sample(row: Row, data_file: DataFile) -> Sample:
    image, _ = picture(row, data_file, [str(row["image"])])
    *_, question, reference = row["messages"]
    return Sample(
        id=row["name"],
        question=text_of(question),
        media=(image,),
        target=text_of(reference),
        tags={"category": row["category"], "turn": str(row["turn"])},
        data={"messages": row["messages"]},
    )


def to_message(sample: Sample, message: Any) -> Message:
    role = user if message["role"] == "user" else assistant
    content = message["content"]
    if isinstance(content, str):
        return role(content)
    (image,) = sample.media
    return role(*(chunk["text"] if chunk["type"] == "text" else image for chunk in content))
