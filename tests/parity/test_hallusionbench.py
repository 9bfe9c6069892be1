"""HallusionBench's official figures of made verdicts."""

import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import snellen
from tests.golden_data import golden
from tests.parity.engine import score

SEEDS = range(1)
RIGHT, WRONG, UNSURE = "1", "0", "2"


def questions() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(
        (golden("hallusionbench") / "annotations.json").read_bytes()
    )
    return rows


def judged(rows: Sequence[Mapping[str, Any]], path: Path) -> dict[str, tuple[float | None, int]]:
    """The figures of rows that have a verdict, put into a file as evaluation.py writes it."""
    path.write_text(json.dumps(rows), encoding="utf-8")
    result = score(path, "hallusionbench", golden("hallusionbench"), scorings=["official"])
    metrics = result.report.scorings["official"].metrics
    return {name: (metric.value, metric.n) for name, metric in metrics.items()}


def with_verdicts(verdicts: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {**row, "model_prediction": "so it is", "gpt4v_output_gpt_check": verdict}
        for row, verdict in zip(questions(), verdicts, strict=True)
    ]


def drawn(draw: random.Random, right: int) -> list[dict[str, Any]]:
    """Verdicts of which about `right` of `right` + 3 are that a reply is right."""
    kinds = (*[RIGHT] * right, WRONG, WRONG, UNSURE)
    return with_verdicts([draw.choice(kinds) for _ in questions()])


def test_the_sample_of_results_is_read_and_waits_for_its_judge() -> None:
    path = golden("hallusionbench") / "outputs" / "HallusionBench_result_sample.json"
    report = snellen.score(path, "hallusionbench", data=golden("hallusionbench")).report
    assert report.replies == {"ok": 254, "absent": 875}
    assert report.scorings["official"].readings["not-judged"] == 254
    assert report.scorings["robust"].readings["answered"] >= 225


def by_formula(rows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """The page's definitions, worked out again: who is right, in which groups, who is to blame."""

    def right(row: Mapping[str, Any]) -> bool:
        check = row["gpt4v_output_gpt_check"]
        return bool(check == "1" or (check == "2" and row["visual_input"] == "0"))

    def all_right(keys: Sequence[str], inputs: str) -> float:
        verdicts = defaultdict(list)
        for row in rows:
            if row["visual_input"] in inputs:
                verdicts[tuple(row[key] for key in keys)].append(right(row))
        return sum(map(all, verdicts.values())) / len(verdicts)

    of = ("category", "subcategory", "set_id")
    before = {
        tuple(row[key] for key in (*of, "question_id")): row["gpt4v_output_gpt_check"]
        for row in rows
        if row["figure_id"] == "0"
    }
    blame = {"lh": 0, "vi": 0, "mixed": 0}
    for row in rows:
        check, same = row["gpt4v_output_gpt_check"], row.get("same", "1") == "1"
        first = before[tuple(row[key] for key in (*of, "question_id"))]
        if check == "1":
            continue
        if row["category"] == "VD":
            mixed = row["figure_id"] != "0" and first == "1" and check == "0" and same
            blame["mixed" if mixed else "vi"] += 1
        elif row["figure_id"] == "0":
            blame["lh"] += check == "0"
        elif first == "0":
            blame["lh" if check == "0" and same else "mixed"] += 1
        elif first == "1" and check == "0" and row["visual_input"] == "2" and same:
            blame["lh"] += 1
        else:
            blame["vi"] += 1
    n = sum(blame.values())
    return {
        "aacc": sum(map(right, rows)) / len(rows),
        "facc": all_right((*of, "figure_id"), "12"),
        "qacc": all_right((*of, "question_id"), "012"),
        "easy_aacc": all_right((*of, "question_id"), "01"),
        "hard_aacc": all_right((*of, "question_id"), "2"),
        **{kind: count / n for kind, count in blame.items()},
    }


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_shuffled_halved_and_mixed_verdicts_score_as_the_script_would(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    rows = drawn(draw, right=4)
    shuffled = draw.sample(rows, len(rows))
    sets = sorted({(row["category"], row["subcategory"], row["set_id"]) for row in rows})
    kept = set(draw.sample(sets, len(sets) // 2))
    halved = [
        row for row in shuffled if (row["category"], row["subcategory"], row["set_id"]) in kept
    ]
    other = drawn(draw, right=12)
    mixed = [
        {**draw.choice(pair), "same": draw.choice("01")} for pair in zip(rows, other, strict=True)
    ]
    for number, changed in enumerate((shuffled, halved, mixed)):
        figures = judged(changed, tmp_path / f"{number}.json")
        for metric, value in by_formula(changed).items():
            assert figures[metric][0] == pytest.approx(value, abs=1e-9), (number, metric)


def test_figures_that_the_official_script_cannot_give_are_those_of_a_model_without_a_fault(
    tmp_path: Path,
) -> None:
    """Of replies that are all right it ends in ZeroDivisionError."""
    figures = judged(with_verdicts([RIGHT for _ in questions()]), tmp_path / "right.json")
    shares = {"yes_fp": None, "lh": None, "vi": None, "mixed": None}
    faults = {"figure_inconsistent": 0.0, "figure_wrong": 0.0, "yes_diff": 0.0}
    for metric in ("aacc", "facc", "qacc", "easy_aacc", "hard_aacc", "figure_score"):
        assert figures[metric][0] == 1.0, metric
    for metric, value in (shares | faults).items():
        assert figures[metric][0] == value, metric
