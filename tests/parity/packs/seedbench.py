"""SEED-Bench: the authors' results, in which the right answers stand too."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.parity.engine import Case, Expected, Figure, Item, Pack, expected_of
from tests.parity.packs.mathvision import in_order

AGAIN = "8 of the file's lines repeat a question; here only the last line of a question counts"
REASONS = {
    "all": f"no figure for all questions is published; {AGAIN} (if every line counts, 67.2834)",
    "image": "published with one decimal (VLMEvalKit's results/SEEDBench_IMG.md quotes the "
    f"leaderboard); {AGAIN} (if every line counts, 69.0730)",
}
LEADERBOARD = {("SEED-Bench-1/GPT-4V", "image"): 0.691}


def pack(folder: Path, scratch: Path) -> Pack:
    expected = expected_of(folder)
    root = folder / "outputs"
    files = {
        str(path.relative_to(root)).partition(".json")[0]: path
        for path in sorted(root.rglob("*.json*"))
    }
    return Pack(
        cases=[
            case(model, part, path, expected.get(model))
            for model, path in in_order(files, expected)
            for part in REASONS
        ],
        without_output=[name for name in expected if name not in files],
    )


def case(model: str, part: str, path: Path, known: Mapping[str, Any] | None) -> Case:
    version = "2" if model.startswith("SEED-Bench-2/") else "1"
    rows = [row for row in records(path) if part == "all" or is_image(row, version)]
    once = {row["question_id"]: row for row in rows}  # the last line of a question
    right = {name: float(row["prediction"] == row["gt_answer"]) for name, row in once.items()}
    figure = Figure(
        official=sum(right.values()) / len(right),
        n=len(right),
        published=LEADERBOARD.get((model, part)),
        reason=REASONS[part],
    )
    if known is not None and part == "all" and "dedup_by_question_id" in known:
        figure = Figure(
            official=known["dedup_by_question_id"]["acc"] / 100,
            n=known["dedup_by_question_id"]["n"],
            reason=REASONS[part],
        )
    name = model.rpartition("/")[2]
    return Case(
        model=name if version == "1" else model,
        replies=path,
        benchmark=f"seed-bench:part={part}" + ("" if version == "1" else f",version={version}"),
        data=path,
        expected={}
        if known is None
        else {
            "letters": Expected(
                figures={"accuracy": figure},
                items={name: [Item(score=score)] for name, score in right.items()},
            )
        },
    )


def records(path: Path) -> Sequence[dict[str, str]]:
    """The lines of a file of results, each of which ends with a comma."""
    import gzip
    import json

    raw = path.read_bytes()
    raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
    lines = (line.strip().rstrip(",") for line in raw.decode().splitlines())
    return [json.loads(line) for line in lines if line]


def is_image(row: Mapping[str, str], version: str) -> bool:
    return not row["question_id"].startswith("v")
