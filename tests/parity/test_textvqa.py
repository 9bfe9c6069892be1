"""TextVQA against mmf's evaluator and VLMEvalKit's rule, on made pairs of a reply and answers."""

import gzip
import json
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from snellen.analysis.result import Result
from snellen.text.vqa import normalize_textvqa
from tests.golden_data import golden
from tests.parity.engine import score
from tests.parity.test_vqav2 import signs, words

VAL = "TextVQA_0.5.1_val.json"


@cache
def pairs(pack: str = "textvqa") -> Sequence[Mapping[str, Any]]:
    lines = (golden(pack) / "differential.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def scored(replies: Mapping[int, str], questions: Sequence[Mapping[str, Any]]) -> Result:
    """What `snellen.score` gives for replies by id, the questions in the authors' form."""
    data = [
        {
            "question_id": pair["id"],
            "question": "?",
            "image_id": f"{pair['id']:016x}",
            "answers": pair["answers"],
        }
        for pair in questions
    ]
    rows = [{"question_id": name, "answer": reply} for name, reply in replies.items()]
    with TemporaryDirectory() as folder:
        (Path(folder) / VAL).write_text(json.dumps({"data": data}), encoding="utf-8")
        (Path(folder) / "results.json").write_text(json.dumps(rows), encoding="utf-8")
        return score(Path(folder) / "results.json", "textvqa", Path(folder))


def accuracy(result: Result, scoring: str = "official") -> tuple[float | None, int]:
    metric = result.report.scorings[scoring].metrics["accuracy"]
    return metric.value, metric.n


def mean(scores: Sequence[float]) -> float:
    return sum(scores) / len(scores)


def test_every_text_is_normalized_as_by_the_evaluator() -> None:
    for pair in pairs():
        assert normalize_textvqa(pair["prediction"]) == pair["norm_prediction"]
        assert [*map(normalize_textvqa, pair["answers"])] == pair["norm_answers"]


@pytest.mark.parametrize("seed", range(1))
def test_rows_in_another_order_with_half_of_the_replies(seed: int) -> None:
    draw = random.Random(seed)
    order = draw.sample(pairs(), len(pairs()))
    kept = draw.sample(order, len(order) // 2)
    # The evaluator goes over the rows of the file of answers.
    official = mean([pair["m4c_acc"] for pair in kept])
    value, n = accuracy(scored({pair["id"]: pair["prediction"] for pair in kept}, order))
    assert value == pytest.approx(official, abs=1e-9)
    assert n == len(kept)


@pytest.mark.parametrize("seed", range(1))
def test_replies_to_other_questions_score_as_the_formula_written_out_says(seed: int) -> None:
    others = random.Random(seed).sample([pair["prediction"] for pair in pairs()], len(pairs()))
    replies = {pair["id"]: other for pair, other in zip(pairs(), others, strict=True)}
    official = mean([written_out(replies[pair["id"]], pair["answers"]) for pair in pairs()])
    value, _ = accuracy(scored(replies, pairs()))
    assert value == pytest.approx(official, abs=1e-9)


def written_out(reply: str, answers: Sequence[str]) -> float:
    prediction, *people = (mmf(text) for text in (reply, *answers))
    left_out = [
        min(1, sum(other == prediction for other in people[:number] + people[number + 1 :]) / 3)
        for number in range(len(people))
    ]
    return mean(left_out)


def mmf(text: str) -> str:
    for old, new in ((",", ""), ("?", ""), ("'s", " 's")):
        text = text.lower().replace(old, new)
    return words(signs(text.strip().replace("\n", " ").replace("\t", " ").strip()))


def test_llavas_published_file_is_read_by_picture_and_question() -> None:
    """All 5,000 rows; the questions are taken from the file itself, the answers made."""
    path = golden("textvqa") / "outputs_unscored/llava-v1.5-13b.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    data = [
        {
            "question_id": 34602 + number,
            "question": row["prompt"].split("\n")[0].lower(),
            "image_id": row["question_id"],
            "answers": [row["text"] if number % 2 else "something else"] * 10,
        }
        for number, row in enumerate(rows)
    ]
    with TemporaryDirectory() as folder:
        (Path(folder) / VAL).write_text(json.dumps({"data": data}), encoding="utf-8")
        result = score(path, "textvqa", Path(folder))
    assert accuracy(result) == (0.5, 5000)
