"""DocVQA and InfographicVQA against the organisers' rule and those of mmpretrain, Pix2Struct and
M4C, on made pairs of replies and answers."""

import json
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from snellen.analysis.result import Result
from tests.golden_data import golden
from tests.parity.engine import score

NAMES = {"docvqa": "val_v1.0.json", "info-vqa": "infographicsVQA_val_v1.0.json"}
FIGURES = {
    "anls": ("official", "anls", "lmms_eval_anls"),
    "mmpretrain anls": ("mmpretrain", "anls", "mmpretrain_anls"),
    "pix2struct anls": ("pix2struct", "anls", "pix2struct_anls"),
    "m4c anls": ("m4c", "anls", "m4c_stvqa_anls"),
    "m4c accuracy": ("m4c", "accuracy", "m4c_stvqa_acc"),
}
"""Scoring and metric of each figure, and the column that it is the mean of."""


@cache
def pairs() -> Sequence[Mapping[str, Any]]:
    lines = (golden("docvqa") / "differential.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def scored(
    benchmark: str, replies: Mapping[int, str], questions: Sequence[Mapping[str, Any]] = ()
) -> Result:
    """What `snellen.score` gives for replies by id, written as the server takes them."""
    data = [
        {
            "questionId": pair["id"],
            "question": "?",
            "image": "documents/a.png",
            "image_local_name": "a.jpeg",
            "answers": pair["answers"],
        }
        for pair in questions or pairs()
    ]
    with TemporaryDirectory() as folder:
        document = {"dataset_name": "docvqa", "dataset_split": "val", "data": data}
        (Path(folder) / NAMES[benchmark]).write_text(json.dumps(document), encoding="utf-8")
        sent = [{"questionId": name, "answer": reply} for name, reply in replies.items()]
        (Path(folder) / "sent.json").write_text(json.dumps(sent), encoding="utf-8")
        return score(Path(folder) / "sent.json", benchmark, Path(folder))


def mean(scores: Sequence[float]) -> float:
    return sum(scores) / len(scores)


@pytest.mark.parametrize("seed", range(1))
def test_rows_in_another_order_with_half_of_the_replies(seed: int) -> None:
    draw = random.Random(seed)
    order = draw.sample(pairs(), len(pairs()))
    kept = {pair["id"] for pair in draw.sample(order, len(order) // 2)}
    replies = {pair["id"]: pair["prediction"] for pair in order if pair["id"] in kept}
    scorings = scored("docvqa", replies, order).report.scorings
    for scoring, metric, column in FIGURES.values():
        # The organisers' and Pix2Struct's code divide by the number of questions, and one without
        # a reply has nothing; the others divide by the number of replies.
        counted = order if scoring in ("official", "pix2struct") else list(replies)
        total = sum(pair[column] for pair in pairs() if pair["id"] in kept)
        figure = scorings[scoring].metrics[metric]
        assert figure.value == pytest.approx(total / len(counted), abs=1e-9), column
        assert figure.n == len(counted)


@pytest.mark.parametrize("seed", range(1))
def test_replies_to_other_questions_score_as_the_formula_written_out_says(seed: int) -> None:
    others = random.Random(seed).sample([pair["prediction"] for pair in pairs()], len(pairs()))
    replies = {pair["id"]: other for pair, other in zip(pairs(), others, strict=True)}
    official = mean([written_out(replies[pair["id"]], pair["answers"]) for pair in pairs()])
    figure = scored("docvqa", replies).report.scorings["official"].metrics["anls"]
    assert figure.value == pytest.approx(official, abs=1e-9)


def written_out(reply: str, answers: Sequence[str]) -> float:
    distances = []
    for answer in answers:
        target, reply_text = (" ".join(text.strip().lower().split()) for text in (answer, reply))
        length = max(len(answer.upper()), len(reply.upper()))
        distances.append(edits(target, reply_text) / length if length else 0.0)
    return 0.0 if 1 - min(distances) < 0.5 else 1 - min(distances)


def edits(a_text: str, b_text: str) -> int:
    """The Levenshtein distance, by Wagner and Fischer's table."""
    row = list(range(len(b_text) + 1))
    for i, a in enumerate(a_text, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(b_text, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]
