"""SEED-Bench against the results that the authors published of GPT-4V on all of version 1."""

import gzip
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.golden_data import golden
from tests.parity.engine import score

FILE = Path("outputs") / "SEED-Bench-1" / "GPT-4V.json.gz"
SEEDS = range(1)
PARTS = ("all", "image")


def records() -> list[dict[str, str]]:
    """The lines of the file, read apart from our reader."""
    lines = gzip.decompress((golden("seedbench") / FILE).read_bytes()).decode().splitlines()
    return [json.loads(line.rstrip().rstrip(",")) for line in lines if line.strip()]


def expected() -> dict[str, Any]:
    every = json.loads((golden("seedbench") / "expected.json").read_bytes())
    counts: dict[str, Any] = every["SEED-Bench-1/GPT-4V"]
    return counts


def counted(letters: Mapping[str, str], right: Mapping[str, str], part: str) -> tuple[int, int]:
    """The authors' rule written out: equal letters, over the questions of a part."""
    names = [name for name in right if part == "all" or not name.startswith("v")]
    return sum(letters.get(name) == right[name] for name in names), len(names)


def by_id() -> tuple[dict[str, str], dict[str, str]]:
    """Predictions and answers, of a question that comes again the last."""
    rows = records()
    return (
        {row["question_id"]: row["prediction"] for row in rows},
        {row["question_id"]: row["gt_answer"] for row in rows},
    )


def ours(path: Path, part: str, data: Path, ask: str = "generate") -> tuple[float | None, int]:
    name = "official" if ask == "rank" else "letters"
    spec = f"seed-bench:part={part},ask={ask}"
    report = score(path, spec, data, scorings=[name]).report
    assert report.headline == name
    metric = report.scorings[name].metrics["accuracy"]
    return metric.value, metric.n


def test_the_leaderboards_figure_for_pictures_is_reproduced() -> None:
    value, n = ours(golden("seedbench") / FILE, "image", golden("seedbench"))
    assert n == 14_232
    assert value is not None
    assert round(value * 100, 1) == 69.1


def test_the_lines_that_say_a_question_again_make_the_difference_to_the_count_by_lines() -> None:
    rows = records()
    once, n = counted(*by_id(), "all")
    last = {row["question_id"]: number for number, row in enumerate(rows)}
    more = [row for number, row in enumerate(rows) if last[row["question_id"]] != number]
    assert len(more) == 8
    lines = expected()
    assert n + len(more) == lines["n"]
    assert once + sum(row["prediction"] == row["gt_answer"] for row in more) == lines["correct"]


def test_a_published_file_scores_the_same_where_rankings_are_read() -> None:
    folder = golden("seedbench")
    assert ours(folder / FILE, "all", folder, "rank") == ours(folder / FILE, "all", folder)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("part", PARTS)
def test_rows_in_another_order_score_the_same(tmp_path: Path, seed: int, part: str) -> None:
    letters, right = by_id()
    names = random.Random(seed).sample(list(letters), len(letters))
    path = written(tmp_path, {name: letters[name] for name in names})
    check(path, part, counted(letters, right, part))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("part", PARTS)
def test_a_question_without_a_prediction_is_wrong(tmp_path: Path, seed: int, part: str) -> None:
    letters, right = by_id()
    kept = set(random.Random(seed).sample(list(letters), len(letters) // 2))
    half = {name: letter for name, letter in letters.items() if name in kept}
    path = written(tmp_path, half)
    check(path, part, counted(half, right, part))


def check(path: Path, part: str, wanted: tuple[int, int]) -> None:
    value, n = ours(path, part, golden("seedbench"))
    assert n == wanted[1]
    assert value == pytest.approx(wanted[0] / n, abs=1e-9)


def written(folder: Path, letters: Mapping[str, str]) -> Path:
    """Results as the authors write them, a comma behind each line."""
    path = folder / "results.json"
    rows = (json.dumps({"question_id": name, "prediction": letters[name]}) for name in letters)
    path.write_text("".join(f"{row},\n" for row in rows))
    return path
