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

import numpy as np
import pytest

from snellen import registry
from snellen.benchmarks.families.judged import prompts
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Judge
from snellen.data import Row
from snellen.media.content import Image
from snellen.metrics import Category, Columns
from snellen.scoring.judge import judge_of

NAMES = {
    "vibe-eval": "vibe-eval",
    "simplevqa": "simplevqa",
    "charxiv reasoning": "charxiv:questions=reasoning",
    "charxiv descriptive": "charxiv:questions=descriptive",
    "worldvqa": "worldvqa",
    "babyvision": "babyvision",
    "hle": "hle",
    "mm-mt-bench": "mm-mt-bench",
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


@pytest.mark.parametrize("name", [name for name in NAMES if name != "mm-mt-bench"])
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


@pytest.mark.parametrize(("scoring", "column"), [("official", 2), ("conversation", 3)])
def test_a_prompt_on_a_conversation_is_the_authors_byte_for_byte(scoring: str, column: int) -> None:
    rows = texts()["mm-mt-bench"]["prompts"]
    reader = judge_of(benchmark("mm-mt-bench"), scoring)
    assert len(rows) >= 50
    for row in rows:
        messages, reply = row[:2]
        prompts_sent = reader.prompt(sample("q", "a", messages=messages), Reply(text=reply))
        assert [message.role for message in prompts_sent] == ["system", "user"]
        text = "".join(message.text for message in prompts_sent)
        assert sha256(text.encode()).hexdigest() == row[column], row


def test_an_exam_question_is_asked_in_the_authors_messages() -> None:
    of = benchmark("hle")
    for question, url, messages in texts()["hle"]["questions"]:
        fields = {"id": "1", "question": question, "image": url, "answer": "a"}
        item = of.read(Row({**fields, "answer_type": "exactMatch", "category": "Math"}, 0))
        system, user = of.prompt(item, ())
        parts = [
            {"type": "image_url", "image_url": {"url": url}}
            if isinstance(part, Image)
            else {"type": "text", "text": part}
            for part in user.content
        ]
        assert [
            {"role": system.role, "content": system.text},
            {"role": user.role, "content": parts},
        ] == messages


ANSWERS: dict[str, Callable[[Any], object]] = {
    "vibe-eval": lambda rating: None if rating is None else float(rating),
    "simplevqa": lambda label: label,
    "charxiv reasoning": lambda score: score,
    "worldvqa": lambda label: label.replace("un", "not "),
    "babyvision": lambda is_right: "true" if is_right else "false",
    "hle": lambda fields: fields and tuple(fields),
    "mm-mt-bench": lambda rating: rating,
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


def columns(scores: list[float], answers: list[Any], **tags: list[str]) -> Columns:
    n = len(scores)
    answer = np.empty(n, dtype=object)
    answer[:] = answers
    none = np.empty(n, dtype=object)
    categories = {}
    for tag, values in tags.items():
        names, codes = np.unique(values, return_inverse=True)
        categories[tag] = Category(codes=codes.astype(np.int32), names=tuple(names.tolist()))
    return Columns(
        score=np.array(scores, dtype=float),
        answer=answer,
        target=none,
        references=none,
        state=Category(codes=np.zeros(n, dtype=np.int32), names=("answered",)),
        tags=categories,
        cluster=np.arange(n, dtype=np.int32),
    )


@pytest.mark.parametrize("index", range(3))
def test_ratings_are_averaged_as_in_the_authors_code(index: int) -> None:
    row = texts()["mm-mt-bench"]["averages"][index]
    categories, turns, ratings = zip(*row["ratings"], strict=True)
    table = columns([*ratings], [*ratings], category=[*categories], turn=[*turns])
    metrics = benchmark("mm-mt-bench").scorings["official"].metrics
    expected = row["averages"]
    for name in ("micro_average_score", "macro_average_score"):
        assert metrics[name](table).value == pytest.approx(expected.pop(name), abs=1e-9)
    assert len(expected) == len({*categories}) + len({*turns})
    for name, value in expected.items():
        name = name.removesuffix("_average")
        part = table.tagged("turn" if name.isdigit() else "category", [name])
        average = metrics["micro_average_score"](part).value
        assert average == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("index", range(8))
def test_a_calibration_error_is_the_authors(index: int) -> None:
    row = texts()["hle"]["figures"][index]
    answers = [
        ("yes" if is_right else "no", str(percent))
        for percent, is_right in zip(row["confidence"], row["right"], strict=True)
    ]
    table = columns([float(is_right) for is_right in row["right"]], answers)
    metric = benchmark("hle").scorings["official"].metrics["calibration_error"]
    assert metric(table).value == pytest.approx(row["calibration_error"], abs=1e-9)
