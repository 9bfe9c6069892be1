"""CRPE and MMT-Bench against the code of their authors and of VLMEvalKit on generated replies.

The replies, and what the code gives for them, are in option_letters.jsonl.gz
(scripts/draw_option_letters.py).
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from tests.parity.engine import mean, score
from tests.parity.lines import Line

LINES = gzip.decompress(Path(__file__).with_name("option_letters.jsonl.gz").read_bytes())
*ROWS, FIGURES = (json.loads(line) for line in LINES.decode().splitlines())
SYNTHETIC = Path(registry.SYNTHETIC)
SCORINGS = (("official", "crpe"), ("vlmevalkit", "crpe kit"))


def sample(row: dict[str, Any]) -> Sample:
    return Sample(
        id=f"{row['id']}",
        question="Which?",
        choices=tuple(row["choices"]),
        target=row["answer"],
        data={"answer": row["cell"]},
    )


def crpe(scoring: str, column: str) -> list[tuple[dict[str, Any], float]]:
    """The rows that the code scores, with our scores."""
    rule = registry.benchmark("crpe", data=SYNTHETIC).scorings[scoring]
    compared = []
    for row in ROWS:
        if row[column] is not None:
            item = sample(row)
            value = total_score(rule.score(rule.parse(Reply(text=row["reply"]), item), item))
            assert value is not None
            compared.append((row, value))
    return compared


@pytest.mark.parametrize(("scoring", "column"), SCORINGS)
def test_crpes_replies_are_right_if_they_are_for_the_code(scoring: str, column: str) -> None:
    compared = crpe(scoring, column)
    assert len(compared) > 700
    assert {row[column] for row, _ in compared} == {0.0, 1.0}
    assert [row for row, value in compared if value != row[column]] == []


def accuracies(folder: Path) -> dict[str, tuple[float, float]]:
    """CRPE's accuracy by category: that of the authors' code, and ours."""
    questions = [
        {
            "question_id": row["id"],
            "image": "a.png",
            "text": "Which?" + "".join(f"\n{n}. x" for n in "ABCD"),
            "category": row["category"],
            "correct_option": row["answer"],
        }
        for row in ROWS
    ]
    file = folder / "crpe_relation.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in questions), encoding="utf-8")
    (folder / "a.png").write_bytes(bytes(range(60)))
    replies = [{"question_id": row["id"], "text": row["reply"]} for row in ROWS]
    path = folder / "answers.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in replies), encoding="utf-8")
    ours = score(path, "crpe", folder).by("category")
    return {
        name: (float(theirs) / 100, ours[name].value or 0.0)
        for name, theirs in FIGURES["accuracies"].items()
    }


def test_crpes_accuracies_are_those_that_its_script_prints(tmp_path: Path) -> None:
    pairs = accuracies(tmp_path)
    assert {*pairs} == {"subject", "predicate", "object"}
    for theirs, ours in pairs.values():
        assert ours == pytest.approx(theirs, abs=5e-5)  # printed with two decimals of a percentage


def test_mmt_benchs_letters_are_those_of_its_authors_code() -> None:
    rule = registry.benchmark("mmt-bench", data=SYNTHETIC).scorings["official"]
    pairs = [(rule.parse(Reply(text=row["reply"]), sample(row)).answer, row) for row in ROWS]
    assert len(pairs) == 800
    assert [(ours, row) for ours, row in pairs if letter(ours) != letter(row["mmt"])] == []


def letter(answer: object) -> object:
    """Z, which is never right, is no letter."""
    return None if answer == "Z" else answer


def parity() -> list[Line]:
    """The lines of docs/parity.md."""
    lines = []
    for scoring, column in SCORINGS:
        compared = crpe(scoring, column)
        lines.append(
            Line(
                benchmark="crpe" if scoring == "official" else f"crpe:{scoring}",
                model="made replies",
                metric="vanilla",
                n=len(compared),
                published=None,
                official=mean([row[column] for row, _ in compared]),
                ours=mean([value for _, value in compared]),
                proof="generated pairs",
                reason="no model's outputs are published; the replies are generated",
            )
        )
    return lines
