"""The prompts of EMMA's and MathVerse's judges, and their verdicts, against the authors' code.

maths_judges.json.gz is written by scripts/maths_judges.py, which runs the authors' functions.
"""

import gzip
import json
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Judge, Scoring
from snellen.media.content import Message

JUDGES = ("emma judged", "mathverse official", "mathverse vlmevalkit")
"""Benchmarks with one of their scorings."""


@cache
def texts(name: str) -> dict[str, Any]:
    raw = Path(__file__).with_name("maths_judges.json.gz").read_bytes()
    content: dict[str, Any] = json.loads(gzip.decompress(raw))[name]
    return content


@cache
def scoring(name: str) -> Scoring:
    benchmark, _, scoring = name.partition(" ")
    return registry.benchmark(benchmark, data=Path("synthetic")).scorings[scoring]


def judge(name: str) -> Judge:
    judge = scoring(name).judge
    assert judge is not None
    return judge


def sample(answer: str, question: str = "") -> Sample:
    data = {"answer": answer, "for_eval": question}
    return Sample(id="1", question=question, target=answer, data=data)


def digest(messages: tuple[Message, ...]) -> str:
    (message,) = messages
    return sha256(message.text.encode()).hexdigest()


def test_emmas_judge_is_asked_in_the_authors_words() -> None:
    rows = texts("emma judged")["prompts"]
    assert len(rows) == 32
    for reply, answer, theirs in rows:
        assert digest(judge("emma judged").prompt(sample(answer), Reply(text=reply))) == theirs


@pytest.mark.parametrize("name", JUDGES[1:])
def test_both_stages_of_mathverse_are_in_the_words_of_the_code(name: str) -> None:
    for reply, theirs in texts(name)["extract"]:
        assert digest(judge(name).prompt(sample("B"), Reply(text=reply))) == theirs
    rows, then = texts(name)["compare"], judge(name).then
    assert len(rows) == 128
    assert then is not None
    for question, answer, words, theirs in rows:
        assert digest(then(sample(answer, question), Reply(text=""), words)) == theirs


@pytest.mark.parametrize("name", JUDGES)
def test_a_verdict_counts_as_the_code_counts_it(name: str) -> None:
    rows = texts(name)["verdicts"]
    assert len(rows) == 528
    for words, theirs in rows:
        reading = judge(name).parse(words, sample("B"))
        ours = None if reading.answer is None else scoring(name).score(reading, sample("B"))
        assert ours == theirs, words
