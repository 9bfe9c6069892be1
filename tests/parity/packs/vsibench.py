"""VSI-Bench: made replies as three tools score them, and the tools' means."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.parity.engine import (
    Case,
    Expected,
    Figure,
    Item,
    Pack,
    expected_of,
    of_json_lines,
)
from tests.parity.packs.image_mcq import write_lines

NO_OUTPUTS = "no model's outputs are published; the replies are generated"
SUFFIXES = ("_accuracy", "_MRA:.5:.95:.05")
Row = Mapping[str, Any]


def pack(folder: Path, scratch: Path) -> Pack:
    rows, known = of_json_lines(folder / "differential.jsonl"), expected_of(folder)
    if not rows:
        return Pack(cases=[])
    write_lines(scratch / "test.jsonl", rows, question)
    replies = write_lines(
        scratch / "replies.jsonl", rows, lambda row: {"id": row["id"], "output": row["prediction"]}
    )
    rounded = known.get("lmms_eval_overall")
    expected = {
        "official": Expected(figures=figures(rows, known.get("official", {})),
                             items=items(rows, "official")),
        "lmms-eval": Expected(figures=overall(rounded), items=items(rows, "lmms_eval")),
        "vlmevalkit": Expected(figures=figures(rows, known.get("vlmevalkit", {}), "vlmevalkit"),
                               items=items(rows, "vlmevalkit")),
    }  # fmt: skip
    return Pack(
        cases=[
            Case(
                model="made replies",
                replies=replies,
                benchmark="vsi-bench",
                data=scratch / "test.jsonl",
                expected=expected,
                proof="generated pairs",
            )
        ]
    )


def question(row: Row) -> Row:
    """The question of a row as on the hub. A letter is the right answer to a choice."""
    options = [f"{letter}. x" for letter in "ABCD"] if row["ground_truth"].isalpha() else None
    return {
        **{key: row[key] for key in ("id", "question_type", "ground_truth")},
        "dataset": "scannet",
        "scene_name": "1",
        "question": "Which?",
        "options": options,
    }


def figures(rows: Sequence[Row], known: Row, scoring: str = "official") -> dict[str, Figure]:
    counts = Counter(row["question_type"] for row in rows)
    result = {}
    for theirs, value in known.items():
        if isinstance(value, str):
            continue
        kind = theirs
        for suffix in SUFFIXES:
            kind = kind.removesuffix(suffix)
        ours = f"overall/{kind}" if kind in counts else kind
        label = ours if scoring == "official" else f"{ours} ({scoring})"
        result[ours] = Figure(
            official=value / 100, n=counts.get(kind), reason=NO_OUTPUTS, label=label
        )
    return result


def overall(rounded: float | None) -> dict[str, Figure]:
    """lmms-eval rounds the figure to six digits."""
    if rounded is None:
        return {}
    bounds = (rounded - 5e-7, rounded + 5e-7)
    return {"overall": Figure(official=None, bounds=bounds, label="")}


def items(rows: Sequence[Row], column: str) -> dict[str, list[Item]]:
    return {
        str(row["id"]): [Item(score=float(row[column]), answer=extracted(row, column))]
        for row in rows
    }


def extracted(row: Row, column: str) -> object:
    """The answer that a tool extracts; "" for none. A 0 is compared by its score alone, since it
    cannot be told from no answer here."""
    name = f"{column}_extracted"
    value = row.get(name)
    if name not in row or (isinstance(value, float) and value == 0):
        return None
    return value or ""
