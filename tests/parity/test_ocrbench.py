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
    found: list[dict[str, Any]] = json.loads((golden("ocrbench") / "annotations.json").read_bytes())
    return found


@cache
def made() -> Mapping[int, Mapping[int, Mapping[str, Any]]]:
    """By run, its replies and points by the question's place in the authors' file."""
    lines = (golden("ocrbench") / "differential.jsonl").read_text(encoding="utf-8").split("\n")
    runs: dict[int, dict[int, Mapping[str, Any]]] = {}
    for row in (json.loads(line) for line in lines if line):
        runs.setdefault(row["run"], {})[row["annotation_index"]] = row
    return runs


def scored(replies: Mapping[int, str | int], order: Sequence[int]) -> dict[str, Any]:
    """What `snellen.score` gives for the authors' file of results."""
    rows = [{**questions()[place], "predict": replies.get(place, 0)} for place in order]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_text(json.dumps(rows), encoding="utf-8")
        result = score(path, "ocrbench", golden("ocrbench") / "annotations.json")
    metrics = result.report.scorings["official"].metrics
    return {name.removeprefix("final_score/"): one.value for name, one in metrics.items()}


def counted(points: Mapping[int, int]) -> dict[str, int]:
    """The sums of the authors' table."""
    found = {kind: 0 for kind in {row["type"] for row in questions()}}
    for place, point in points.items():
        found[questions()[place]["type"]] += point
    found["Text Recognition"] = sum(found[kind] for kind in RECOGNITION)
    return found | {"Final Score": sum(points.values())}


@pytest.mark.parametrize("seed", range(1))
def test_rows_in_another_order_with_half_of_the_replies(seed: int) -> None:
    draw = random.Random(seed)
    rows = draw.choice([*made().values()])
    order = draw.sample(range(len(questions())), len(questions()))
    kept = set(draw.sample(sorted(rows), len(rows) // 2))
    found = scored({place: rows[place]["prediction"] for place in kept}, order)
    # A question without a reply is passed over, and has no point.
    wanted = counted({place: rows[place]["official"] for place in kept})
    assert {name: found["final_score" if name == "Final Score" else name] for name in wanted} == {
        name: pytest.approx(value, abs=1e-9) for name, value in wanted.items()
    }


@pytest.mark.parametrize("seed", range(1))
def test_replies_of_all_runs_mixed(seed: int) -> None:
    draw = random.Random(seed)
    rows = {
        place: draw.choice([run[place] for run in made().values() if place in run])
        for place in sorted({place for run in made().values() for place in run})
    }
    found = scored({place: row["prediction"] for place, row in rows.items()}, sorted(rows))
    wanted = counted({place: row["official"] for place, row in rows.items()})
    assert found["final_score"] == pytest.approx(wanted["Final Score"], abs=1e-9)
