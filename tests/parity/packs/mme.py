"""MME: a folder of texts for each model, and made replies with the official script's verdicts."""

from pathlib import Path
from typing import Any

from snellen.benchmarks.mme import TASKS
from tests.parity.engine import (
    Case,
    Expected,
    Figure,
    Item,
    Pack,
    expected_of,
    of_json_lines,
    write_json,
)
from tests.parity.packs.mathvision import in_order

SUMS = {"score": "total", "perception": "perception", "cognition": "cognition"}
"""Our name of a figure, and the script's."""
PARTS = ("score", "acc", "acc_plus", "precision", "recall")
DECIMALS = "published with one or two decimals"


def pack(folder: Path, scratch: Path) -> Pack:
    expected = expected_of(folder)
    differential = expected.pop("differential", {})
    # Outputs that had to be joined to the questions first lie in a folder of their own.
    files = {path.name: path for path in sorted(folder.glob("outputs*/*")) if path.is_dir()}
    cases = [
        Case(
            model=model,
            replies=path,
            benchmark="mme",
            data=folder,
            expected={"official": Expected(figures=figures(expected[model]))}
            if model in expected
            else {},
        )
        for model, path in in_order(files, expected)
    ]
    if rows := of_json_lines(folder / "differential.jsonl"):
        cases.append(synthetic_case(rows, differential, scratch))
    return Pack(cases=cases, without_output=[name for name in expected if name not in files])


def figures(model: dict[str, Any]) -> dict[str, Figure]:
    published = model.get("published") or {}
    figures_by_name = {
        ours: figure(model[theirs], model.get("n"), published.get(theirs), DECIMALS)
        for ours, theirs in SUMS.items()
    }
    for task in TASKS:
        if task in model:
            for part in PARTS:
                if model[task].get(part) is None:
                    continue
                printed = published.get(task) if part == "score" else None
                n, reason = model[task].get("n"), DECIMALS if part == "score" else ""
                figures_by_name[f"{part}/{task}"] = figure(model[task][part], n, printed, reason)
    return figures_by_name


def figure(official: float, n: int | None, published: float | None, reason: str) -> Figure:
    return Figure(
        official=official,
        page_n=n,  # questions, where ours counts pictures
        published=published,
        reason=reason or ("" if published is not None else "not published"),
    )


def synthetic_case(rows: list[dict[str, Any]], expected: dict[str, Any], scratch: Path) -> Case:
    """Made replies, also with a tab or a line's end, which the script's files cannot hold."""
    texts = dict.fromkeys(TASKS, "")
    replies: dict[str, str] = {}
    items: dict[str, list[Item]] = {}
    counts = dict.fromkeys(TASKS, 0)
    for row in rows:
        task = row["task"]
        texts[task] += f"{row['image']}\t{row['question']}\t{row['label']}\n"
        name = f"{task}/{row['image']}/{counts[task] % 2 + 1}"
        counts[task] += 1
        replies[name] = row["prediction"]
        parsed = row["official_parsed"]
        items[name] = [
            Item(score=float(parsed == row["label"]), answer="" if parsed == "other" else parsed)
        ]
    for task, text in texts.items():
        path = scratch / "Your_Results" / f"{task}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    known = {f"score/{task}": expected[task] for task in TASKS if task in expected}
    known |= {name: expected[name] for name in ("perception", "cognition") if name in expected}
    # The sums are of all rows that were made: where some are missing, there are none.
    complete = expected.get("n") == len(rows)
    return Case(
        model="made replies",
        replies=write_json(scratch / "replies.json", replies),
        benchmark="mme",
        data=scratch,
        expected={
            "official": Expected(
                figures={name: Figure(official=value) for name, value in known.items()}
                if complete
                else {},
                items=items,
            )
        },
        proof="generated pairs",
        page="",
    )
