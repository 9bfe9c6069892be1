"""The prompts of judges, and what is read from their texts, against the code of the authors.

judge_texts.json.gz is written by scripts/judge_texts.py, which runs the authors' functions.
"""

import gzip
import json
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.benchmarks.families.judged import prompts
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Judge
from snellen.scoring.judge import judge_of

NAMES = {
    "vibe-eval": "vibe-eval",
    "simplevqa": "simplevqa",
    "charxiv reasoning": "charxiv:questions=reasoning",
    "charxiv descriptive": "charxiv:questions=descriptive",
    "worldvqa": "worldvqa",
    "babyvision": "babyvision",
}
ANY = Sample(id="1", question="q", target="a")


@cache
def texts() -> dict[str, Any]:
    raw = Path(__file__).with_name("judge_texts.json.gz").read_bytes()
    content: dict[str, Any] = json.loads(gzip.decompress(raw))
    return content


@cache
def benchmark(name: str) -> Benchmark:
    return registry.benchmark(NAMES[name], data=Path("synthetic"))


def judge(name: str) -> Judge:
    return judge_of(benchmark(name), "official")


def sample(question: str, answer: str, **data: object) -> Sample:
    return Sample(id="1", question=question, target=answer, data=data)


def prompt(name: str, row: list[Any]) -> str:
    """The text of our judge's prompt on a row of the fixture."""
    reader = judge(name)
    if name == "charxiv descriptive":
        qid, pairs = row
        overarching = prompts("charxiv")["overarching_questions"][f"{qid}"]
        assert reader.batches is not None
        replies = [
            (sample(overarching, answer, qid=qid), Reply(text=reply)) for answer, reply in pairs
        ]
        return reader.batches.prompt(replies)[0].text
    *kind, question, answer, reply = row
    data = {"qid": None, "inst_category": kind[0]} if kind else {"choices": None}
    return reader.prompt(sample(question, answer, **data), Reply(text=reply))[0].text


@pytest.mark.parametrize("name", NAMES)
def test_a_judges_prompt_is_the_authors_byte_for_byte(name: str) -> None:
    rows = texts()[name]["prompts"]
    assert len(rows) >= 50
    different = [
        row for *row, digest in rows if sha256(prompt(name, row).encode()).hexdigest() != digest
    ]
    assert not different


def test_a_question_of_simplevqa_is_in_the_authors_words() -> None:
    of = benchmark("simplevqa")
    for language, question, digest in texts()["simplevqa"]["questions"]:
        text = of.prompt(Sample(id="1", question=question, tags={"language": language}), ())[0].text
        assert sha256(text.encode()).hexdigest() == digest


ANSWERS: dict[str, Callable[[Any], object]] = {
    "vibe-eval": lambda rating: None if rating is None else float(rating),
    "simplevqa": lambda label: label,
    "charxiv reasoning": lambda score: score,
    "worldvqa": lambda label: label.replace("un", "not "),
    "babyvision": lambda is_right: "true" if is_right else "false",
}
"""Our answer for what the authors' code reads; None if it reads nothing."""


@pytest.mark.parametrize("name", ANSWERS)
def test_a_judges_text_is_read_as_the_authors_read_it(name: str) -> None:
    rows = texts()[name]["verdicts"]
    reader = judge(name)
    assert len(rows) >= 200
    assert [[words, reader.parse(words, ANY).answer] for words, _ in rows] == [
        [words, ANSWERS[name](result)] for words, result in rows
    ]


def test_a_text_about_several_replies_is_read_as_the_authors_read_it() -> None:
    rows = texts()["charxiv descriptive"]["verdicts"]
    reader = judge("charxiv descriptive")
    assert reader.batches is not None
    assert len(rows) >= 200
    for words, n, result in rows:
        parts = reader.batches.split(words, n)
        assert [reader.parse(part, ANY).answer for part in parts] == (result or []), words
