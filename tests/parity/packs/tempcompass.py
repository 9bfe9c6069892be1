"""TempCompass: published replies and verdicts of four tasks, and made replies to the rules."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from snellen import registry
from tests.parity.engine import (
    Case,
    Expected,
    Figure,
    Item,
    Pack,
    Scores,
    expected_of,
    items_of,
    of_json,
    of_json_lines,
    write_json,
)

TASKS = ("multi-choice", "yes_no", "caption_matching", "captioning")
VERDICT = ("chatgpt-response", "chatgpt-answer")


def pack(folder: Path, scratch: Path) -> Pack:
    known, items = expected_of(folder), items_of(folder)
    annotations = folder / "annotations"
    cases = [
        case
        for kind, cases_of in (("predictions", predictions), ("auto_eval_results", verdicts))
        for path in sorted((folder / "outputs" / kind).glob("*/*.json*"))
        for case in cases_of(path, annotations, known, items, scratch)
    ]
    cases += rule_cases(of_json_lines(folder / "differential.jsonl"), scratch / "made")
    there = {(case.model.split(",")[0], task_of(case.replies)) for case in cases}
    missing = [f"{model} {task}" for model in known for task in known[model]
               if (model, task) not in there]  # fmt: skip
    return Pack(cases=cases, without_output=missing)


def task_of(path: Path) -> str:
    return path.name.split(".")[0]


def case(path: Path, data: Path, expected: Mapping[str, Expected], **fields: Any) -> Case:
    task = task_of(path)
    return Case(
        replies=path,
        benchmark=f"tempcompass:task={task}",
        heading="tempcompass",
        data=data,
        expected=expected,
        **fields,
    )


def figures(known: Mapping[str, Any], way: str, n: int | None, task: str) -> dict[str, Figure]:
    """The figures of one way of scoring, by the name of our metric."""
    if way not in known:
        return {}
    of, printed = known[way], known.get("published", {})
    label = {"rules_only": "rules", "with_stored_judge": "judge's replies"}.get(way)
    reason = "" if printed else "the paper has no table with these figures"

    def figure(value: float, published: float | None, name: str, count: int | None) -> Figure:
        return Figure(
            official=value / 100,
            n=count,
            published=None if published is None or label else published / 100,
            reason=reason,
            label=f"{name}, {task}" + (f" ({label})" if label else ""),
        )

    result = {}
    for part in ("aspect", "fine"):
        for name, value in of[part].items():
            ours = "accuracy" if name == "avg" else f"accuracy/{name}"
            there = printed.get(part, {}).get(name)
            result[ours] = figure(value, there, ours, n if name == "avg" else None)
    share, there = of["match_success_percent"], printed.get("match_success_percent")
    result["matched"] = figure(share, there, "matched", n)
    return result


def predictions(
    path: Path, data: Path, known: Mapping[str, Any], items: Mapping[str, Any], _: Path
) -> Iterator[Case]:
    """A file of replies: the rules without the judge, or the cleaned captions."""
    model, task = path.parent.name, task_of(path)
    of = known.get(model, {}).get(task, {})
    rows = items.get(model, {}).get(task, {})
    if task == "captioning":
        captions = {
            f"{task}|{name}": [Item(answer=row[0])]
            for name, row in rows.items()
            if row[0] is not None
        }
        expected = Expected(items=captions)
        yield case(path, data, {"captions": expected}, model=f"{model}, captions", page="",
                   ours=cleaned_captions)  # fmt: skip
        return
    expected = Expected(
        figures=figures(of, "rules_only", of.get("n"), task),
        items={f"{task}|{name}": [Item(score=row[1])] for name, row in rows.items()},
    )
    yield case(path, data, {"rules": expected}, model=f"{model}, rules", page=model)


def cleaned_captions(case: Case) -> Scores:
    layout = registry.benchmark(case.benchmark, data=case.data).interop.layout
    published = None if layout is None else layout(case.replies)
    assert published is not None
    items = {name: [Item(answer=text)] for name, text in published.replies.items()}
    return Scores(figures={"captions": {}}, items={"captions": items})


def verdicts(
    path: Path, data: Path, known: Mapping[str, Any], items: Mapping[str, Any], scratch: Path
) -> Iterator[Case]:
    """A file of results, with its stored ratings, and then with the judge's replies alone."""
    model, task = path.parent.name, task_of(path)
    of = known.get(model, {}).get(task, {})
    rows = items.get(model, {}).get(task, {})
    stored = Expected(
        figures=figures(of, "stored", of.get("n"), task),
        items={f"{task}|{name}": [Item(score=row[-1])] for name, row in rows.items()},
    )
    yield case(path, data, {"official": stored}, model=f"{model}, stored", page=model)
    unrated = write_json(scratch / model / f"{task}.json", without_ratings(of_json(path)))
    judged = Expected(
        figures=figures(of, "with_stored_judge", of.get("n"), task),
        items={
            f"{task}|{name}": [Item(score=row[-2])]
            for name, row in rows.items()
            if row[-2] is not None
        },
    )
    yield case(unrated, data, {"official": judged}, model=f"{model}, judge's replies", page=model)


def without_ratings(content: Mapping[str, Any]) -> dict[str, Any]:
    """The results without the rating of each reply that the judge decided."""

    def unrated(row: Mapping[str, Any]) -> dict[str, Any]:
        text = next((row[key] for key in VERDICT if row.get(key)), None)
        judged = text is not None and ("chatgpt-answer" in row or "orrect" in text)
        return {key: value for key, value in row.items() if key != "rating" or not judged}

    return {
        video: {aspect: [unrated(row) for row in rows] for aspect, rows in aspects.items()}
        for video, aspects in content.items()
    }


def rule_cases(rows: list[dict[str, Any]], scratch: Path) -> Iterator[Case]:
    """The made replies, on a data set that consists of their questions."""
    if not rows:
        return
    for task in TASKS:
        of_task = {str(number): row for number, row in enumerate(rows) if row["task"] == task}
        content = {
            name: {"order": [{key: row[key] for key in ("question", "answer")}]}
            for name, row in of_task.items()
        }
        write_json(scratch / "questions" / f"{task}.json", content)
    write_json(scratch / "meta_info.json", {str(n): {"eval_dim": {}} for n in range(len(rows))})
    for task in sorted({row["task"] for row in rows}):
        of_task = {str(number): row for number, row in enumerate(rows) if row["task"] == task}
        replies = {
            name: {"order": [{"prediction": row["prediction"]}]} for name, row in of_task.items()
        }
        expected = Expected(
            figures={
                "matched": Figure(
                    official=sum(row["rule_decides"] for row in of_task.values()) / len(of_task),
                    n=len(of_task),
                    label="",
                )
            },
            items={
                f"{task}|{name}|order|0": [Item(score=float(row["rating"] or 0))]
                for name, row in of_task.items()
            },
        )
        yield case(
            write_json(scratch / "replies" / f"{task}.json", replies),
            scratch,
            {"rules": expected},
            model=f"made replies, {task}",
            page="",
            proof="generated pairs",
        )
