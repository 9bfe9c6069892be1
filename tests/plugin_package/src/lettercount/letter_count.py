"""letter-count: how often is a letter in a word?

Paper    none
Data     12 words, bundled, CC0
Prompt   ours: the picture of a ruler, the question
Scoring  official: the reply is the number
Proof    by hand
"""

from pathlib import Path
from typing import Literal

from snellen.core import (
    Benchmark,
    Check,
    Image,
    Presentation,
    Reading,
    Reply,
    Row,
    Sample,
    Scoring,
    user,
)
from snellen.data import jsonl
from snellen.metrics import mean

ALIASES = {"LetterCount": {"words": "long"}}
LICENSE = "CC0"
SIZE = 12
WORDS = {"short": "How many", "long": "Please say how many"}


def letter_count(data: Path | None = None, words: Literal["short", "long"] = "short") -> Benchmark:
    folder = data or Path("letter-count")

    def sample(_: int, row: Row) -> Sample:
        return Sample(
            id=row["id"],
            question=f"{WORDS[words]} letters {row['letter']} are in {row['word']}?",
            target=str(row["n"]),
            tags={"letter": row["letter"]},
            media=(Image(folder / "ruler.png"),),
        )

    return Benchmark(
        name="letter-count",
        asks=1,
        data=jsonl(folder / "words.jsonl"),
        sample=sample,
        prompt=lambda sample, history: (user(*sample.media, sample.question),),
        scorings={
            "official": Scoring(
                version=1, source="ours", parse=parse, score=score, metrics={"accuracy": mean}
            )
        },
        presentation=Presentation(break_down_by=("letter",)),
        check=Check(
            says=lambda sample, answer: answer,
            wrong=lambda sample: "99",
            expect={
                "official": {
                    "oracle": 1.0,
                    "wrong": 0.0,
                    "silent": 0.0,
                    "hedging": 0.0,
                }
            },
        ),
    )


def parse(reply: Reply, sample: Sample) -> Reading:
    text = reply.text.strip()
    return Reading(answer=text if text.isdigit() else None, rule="digits" if text else "none")


def score(reading: Reading, sample: Sample) -> float:
    return float(reading.answer == sample.target)
