"""MMStar against its authors' rule, on made replies to made questions with choices."""

import base64
import csv
import json
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from snellen.scoring import MetricReport
from tests.golden_data import golden
from tests.parity.engine import score

# Bytes that nobody opens here.
PICTURE = base64.b64encode(bytes(range(60))).decode()


@cache
def stored_rows() -> Sequence[Mapping[str, Any]]:
    lines = (golden("mcq_parsing") / "differential.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def scored(
    rows: Sequence[Mapping[str, Any]], kept: Sequence[Mapping[str, Any]], benchmark: str
) -> MetricReport:
    """What `snellen.score` gives for the replies in `kept` on a sheet of these rows."""
    columns = ("index", "image", "question", "answer", "A", "B", "C", "D")
    with TemporaryDirectory() as folder:
        with (Path(folder) / "MMStar.tsv").open("w", encoding="utf-8", newline="") as opened:
            writer = csv.DictWriter(opened, columns, restval="", delimiter="\t")
            writer.writeheader()
            for row in rows:
                question_fields = {
                    "index": row["id"],
                    "question": "Which?",
                    "answer": row["answer"],
                }
                # One picture for all: a short cell is the index of the row that has it.
                image = PICTURE if row is rows[0] else rows[0]["id"]
                writer.writerow({**question_fields, "image": image, **row["options"]})
        predictions = [{"index": row["id"], "prediction": row["prediction"]} for row in kept]
        (Path(folder) / "said.json").write_text(json.dumps(predictions), encoding="utf-8")
        result = score(Path(folder) / "said.json", benchmark, Path(folder))
    return result.report.scorings["official"].metrics["accuracy"]


def share(kept: Sequence[Mapping[str, Any]]) -> float:
    """The authors' final score: what is right by all rows."""
    return sum(int(row["mmstar_correct"]) for row in kept) / len(stored_rows())


@pytest.mark.parametrize("benchmark", ["mmstar", "vlmevalkit:name=MMStar"])
def test_rows_in_another_order_with_half_of_the_replies(benchmark: str) -> None:
    order = random.Random(0).sample(stored_rows(), len(stored_rows()))
    kept = order[: len(order) // 2]
    metric = scored(order, kept[::-1], benchmark)
    assert metric.value == pytest.approx(share(kept), abs=1e-9)
    assert metric.n == len(stored_rows())
