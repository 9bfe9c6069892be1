"""GQA against LAVIS's and mmpretrain's verdicts on made pairs, and the answers LLaVA published."""

import gzip
import json
import random
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from snellen.benchmarks.gqa import gqa
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.interop import predictions
from tests.golden_data import golden
from tests.parity.engine import score

SCORINGS = ("lavis", "mmpretrain")


@cache
def pairs() -> Sequence[Mapping[str, Any]]:
    lines = (golden("gqa") / "differential.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def scored(
    replies: Mapping[str, str], of: Sequence[Mapping[str, Any]] = ()
) -> dict[str, tuple[float | None, int]]:
    """What `snellen.score` gives for replies in the authors' form, to questions in LAVIS's list."""
    rows = [
        {"question_id": pair["id"], "image": "a.jpg", "question": "?", "answer": pair["answer"]}
        for pair in of or pairs()
        if pair["answer"]
    ]
    sent = [{"questionId": name, "prediction": reply} for name, reply in replies.items()]
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "testdev_balanced_questions.json").write_text(json.dumps(rows), encoding="utf-8")
        path = folder / "testdev_balanced_predictions.json"
        path.write_text(json.dumps(sent), encoding="utf-8")
        report = score(path, "gqa:split=testdev_balanced", folder).report
    metrics = {
        name: scoring_report.metrics["accuracy"] for name, scoring_report in report.scorings.items()
    }
    return {name: (metric.value, metric.n) for name, metric in metrics.items()}


def official(scoring: str, kept: Collection[str] | None = None) -> tuple[Any, int]:
    """The mean of their verdicts on these pairs."""
    verdicts = [
        pair[f"{scoring}_gqa"]
        for pair in pairs()
        if pair["answer"] and (kept is None or str(pair["id"]) in kept)
    ]
    return pytest.approx(sum(verdicts) / len(verdicts), abs=1e-9), len(verdicts)


def stored_replies() -> dict[str, str]:
    return {str(pair["id"]): pair["prediction"] for pair in pairs()}


def published() -> Mapping[str, str]:
    path = golden("gqa") / "outputs_unscored" / "llava-v1.5-13b.jsonl.gz"
    return predictions.read(path).replies


@pytest.mark.parametrize("scoring", SCORINGS)
def test_every_pair_has_their_verdict(scoring: str) -> None:
    rules = gqa().scorings[scoring]
    differences = []
    for pair in pairs():
        sample = Sample(id=str(pair["id"]), question="?", target=pair["answer"])
        reading = rules.parse(Reply(text=pair["prediction"]), sample)
        written = (reading.answer or "", rules.score(reading, sample))
        if written != (pair["norm_prediction"], pair[f"{scoring}_gqa"]):
            differences.append((pair, reading))
    assert differences == []


@pytest.mark.parametrize("seed", range(1))
def test_rows_in_another_order_with_half_of_the_replies(seed: int) -> None:
    """Both score the questions that have a reply; the authors' own script takes no such file."""
    draw = random.Random(seed)
    order = draw.sample(pairs(), len(pairs()))
    kept = {str(pair["id"]) for pair in draw.sample(order, len(order) // 2)}
    figures = scored(
        {name: reply for name, reply in stored_replies().items() if name in kept}, order
    )
    for scoring in SCORINGS:
        assert figures[scoring] == official(scoring, kept)


@pytest.mark.parametrize("seed", range(1))
def test_replies_to_other_questions_score_as_the_rules_written_out_say(seed: int) -> None:
    draw = random.Random(seed)
    targets = [pair["answer"] for pair in pairs() if pair["answer"]]
    replies = {name: draw.choice(targets) for name in stored_replies()}
    replies |= {str(pair["id"]): pair["answer"] for pair in draw.sample(pairs(), len(pairs()) // 2)}
    figures = scored(replies)
    answered_pairs = [
        (replies[str(pair["id"])], pair["answer"]) for pair in pairs() if pair["answer"]
    ]
    exact = sum(reply == right for reply, right in answered_pairs) / len(answered_pairs)
    llava = sum(
        reply.strip().rstrip(".").lower() == right for reply, right in answered_pairs
    ) / len(answered_pairs)
    assert figures["official"][0] == pytest.approx(exact, abs=1e-9)
    assert figures["llava"][0] == pytest.approx(llava, abs=1e-9)


def test_llavas_published_answers_are_read_whole_and_to_its_prompt() -> None:
    """12,578 answers to as many questions, each to the words that our prompt has."""
    path = golden("gqa") / "outputs_unscored" / "llava-v1.5-13b.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).split(b"\n") if line]
    assert published() == {row["question_id"]: row["text"] for row in rows}
    assert len(rows) == len(published()) == 12_578
    benchmark = gqa()
    for row in rows:
        question = row["prompt"].partition("\n")[0]
        (message,) = benchmark.prompt(Sample(id=row["question_id"], question=question), ())
        assert message.text == row["prompt"]
