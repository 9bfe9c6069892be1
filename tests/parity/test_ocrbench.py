"""OCRBench against the authors' code, on three made replies to each of its questions."""

import json
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from snellen.benchmarks.ocrbench import RECOGNITION
from tests.golden_data import golden
from tests.parity.engine import score


@cache
def questions() -> Sequence[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((golden("ocrbench") / "annotations.json").read_bytes())
    return rows


@cache
def stored_runs() -> Mapping[int, Mapping[int, Mapping[str, Any]]]:
    """By run, its replies and points by the question's place in the authors' file."""
    lines = (golden("ocrbench") / "differential.jsonl").read_text(encoding="utf-8").split("\n")
    runs: dict[int, dict[int, Mapping[str, Any]]] = {}
    for row in (json.loads(line) for line in lines if line):
        runs.setdefault(row["run"], {})[row["annotation_index"]] = row
    return runs


def scored(replies: Mapping[int, str | int], order: Sequence[int]) -> dict[str, Any]:
    """What `snellen.score` gives for the authors' file of results."""
    rows = [{**questions()[number], "predict": replies.get(number, 0)} for number in order]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_text(json.dumps(rows), encoding="utf-8")
        result = score(path, "ocrbench", golden("ocrbench") / "annotations.json")
    metrics = result.report.scorings["official"].metrics
    return {name.removeprefix("final_score/"): metric.value for name, metric in metrics.items()}


def counted(points: Mapping[int, int]) -> dict[str, int]:
    """The sums of the authors' table."""
    sums = {kind: 0 for kind in {row["type"] for row in questions()}}
    for number, point in points.items():
        sums[questions()[number]["type"]] += point
    sums["Text Recognition"] = sum(sums[kind] for kind in RECOGNITION)
    return sums | {"Final Score": sum(points.values())}


@pytest.mark.parametrize("seed", range(1))
def test_rows_in_another_order_with_half_of_the_replies(seed: int) -> None:
    draw = random.Random(seed)
    rows = draw.choice([*stored_runs().values()])
    order = draw.sample(range(len(questions())), len(questions()))
    kept = set(draw.sample(sorted(rows), len(rows) // 2))
    figures_by_name = scored({number: rows[number]["prediction"] for number in kept}, order)
    # A question without a reply is passed over, and has no point.
    wanted = counted({number: rows[number]["official"] for number in kept})
    assert {
        name: figures_by_name["final_score" if name == "Final Score" else name] for name in wanted
    } == {name: pytest.approx(value, abs=1e-9) for name, value in wanted.items()}


@pytest.mark.parametrize("seed", range(1))
def test_replies_of_all_runs_mixed(seed: int) -> None:
    draw = random.Random(seed)
    rows = {
        number: draw.choice([run[number] for run in stored_runs().values() if number in run])
        for number in sorted({number for run in stored_runs().values() for number in run})
    }
    figures_by_name = scored(
        {number: row["prediction"] for number, row in rows.items()}, sorted(rows)
    )
    wanted = counted({number: row["official"] for number, row in rows.items()})
    assert figures_by_name["final_score"] == pytest.approx(wanted["Final Score"], abs=1e-9)
