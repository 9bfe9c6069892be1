"""TIR-Bench's scores, and the messages to its judge, against the authors' code.

tir_verdicts.json.gz is written by scripts/tir_verdicts.py, which runs the authors' scripts.
"""

import gzip
import json
import shutil
from collections import defaultdict
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import tir_bench as file
from snellen.benchmarks.tir_bench import to_sample
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Judge, Reading, Scoring
from snellen.data import DataFile, Row
from tests.parity.lines import Line

BUNDLED = Path(file.__file__).with_name("rows") / "tir_bench"
FILE = DataFile(BUNDLED / "TIR-Bench.json", "tir-bench", ())


@cache
def content() -> dict[str, Any]:
    raw = Path(__file__).with_name("tir_verdicts.json.gz").read_bytes()
    texts: dict[str, Any] = json.loads(gzip.decompress(raw))
    return texts


@cache
def benchmark() -> Benchmark:
    return registry.benchmark("tir-bench", data=Path("synthetic"))


def official() -> tuple[Scoring, Judge]:
    scoring = benchmark().scorings["official"]
    assert scoring.judge is not None
    return scoring, scoring.judge


def sample(row: dict[str, Any]) -> Sample:
    return to_sample(Row(row, row["id"]), FILE)


def reply(row: dict[str, Any]) -> str:
    text = row["model_response"]
    return str(text[0] if isinstance(text, list) else text)


def scores() -> list[float]:
    scoring, judge = official()
    values = []
    for row in content()["rows"]:
        item = sample(row)
        reading = scoring.parse(Reply(text=reply(row)), item)
        assert judge.when(reading) is (row["task"] != "ocr")
        if judge.when(reading):
            # Without an extraction, the authors' code compares an empty text.
            empty = Reading(answer="", rule="no extraction")
            reading = judge.parse(row["words"], item) if row["words"] else empty
        value = scoring.score(reading, item)
        assert isinstance(value, float)
        values.append(value)
    return values


def test_every_score_is_that_of_the_authors_code() -> None:
    rows = content()["rows"]
    assert len(rows) == 1215
    different = [
        (row["task"], row["answer"], row["words"], row["score"], ours)
        for row, ours in zip(rows, scores(), strict=True)
        if ours != pytest.approx(row["score"], abs=1e-12)
    ]
    assert different == []


def test_every_task_has_right_wrong_and_partly_right_answers() -> None:
    values = defaultdict(set)
    for row in content()["rows"]:
        values[row["task"]].add(row["score"])
    assert len(values) == 13
    assert all({0.0, 1.0} <= of_task for of_task in values.values())
    assert all(len(values[task]) > 3 for task in ("jigsaw", "spot_difference"))


def test_the_judge_gets_the_authors_messages() -> None:
    _, judge = official()
    messages = defaultdict(list)
    for row in content()["rows"]:
        if row["task"] != "ocr":
            sent = judge.prompt(sample(row), Reply(text=reply(row)))
            messages[row["task"]].append([[part.role, part.text] for part in sent])
    digests = {
        task: sha256(json.dumps(parts).encode()).hexdigest() for task, parts in messages.items()
    }
    assert digests == content()["prompts"]


def test_the_authors_results_get_their_accuracies(tmp_path: Path) -> None:
    """The rows are in a data set of our own, with few pictures."""
    rows = [
        {**row, "image_1": row["image_1"] if row["task"] == "ocr" else "data/any.png"}
        for row in content()["rows"]
    ]
    for name in {row["image_1"] for row in rows}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(BUNDLED / "data/ruler.png", tmp_path / name)
    (tmp_path / "TIR-Bench.json").write_text(json.dumps(rows))
    results = tmp_path / "model.json"
    judged = [{**row, "extracted_answer": row.get("words")} for row in rows]
    results.write_text(json.dumps({str(row["id"]): row for row in judged}))
    metrics = (
        snellen.score(results, registry.benchmark("tir-bench", data=tmp_path)).scoring().metrics
    )
    theirs = {
        "accuracy" if task == "all" else f"accuracy/{task}": value
        for task, value in content()["accuracies"].items()
    }
    assert {name: metric.value for name, metric in metrics.items()} == pytest.approx(
        theirs, abs=1e-9
    )


def parity() -> list[Line]:
    """The line of docs/parity.md."""
    values = scores()
    return [
        Line(
            benchmark="tir-bench",
            model="made replies",
            metric="accuracy",
            n=len(values),
            published=None,
            official=content()["accuracies"]["all"],
            ours=sum(values) / len(values),
            proof="generated pairs",
            reason="no model's outputs are published; the replies are generated",
        )
    ]
