"""ScienceQA: result files of GPT-3 and LLaVA as published, with the choices read in them."""

import re
from collections.abc import Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from tests.parity.engine import Case, Expected, Figure, Item, Pack, expected_of, of_json, write_json

PARTS = ("TXT", "IMG", "NO")
ANSWER = re.compile("The answer is ([A-Z]).")
"""tools/evaluate_acc.py and run_gpt3.py read a reply by it."""


def pack(folder: Path, scratch: Path) -> Pack:
    expected = expected_of(folder)
    entries = of_json(folder / "annotations" / "llava_test_CQM-A.json.gz")
    problems = {entry["id"]: problem(entry) for entry in entries}
    data = write_json(scratch / "problems.json", problems).parent
    cases, names = [], set()
    for path in sorted((folder / "outputs").rglob("*.json*")):
        content = of_json(path)
        model = next(
            (name for name, of in expected.items() if is_of(path, content, of, name)), None
        )
        known = {} if model is None else expected[model]
        names.add(model)
        scoring = "official" if "gpt3" in str(path.relative_to(folder)) else "llava"
        cases.append(
            Case(
                model=model or path.name,
                replies=path,
                benchmark="scienceqa",
                data=data,
                expected={
                    scoring: Expected(
                        figures=figures(known, drawn(content) if scoring == "official" else 0),
                        items=verdicts(content.get("results", {}), problems),
                    )
                }
                if known
                else {},
                page=None if "results" in content else "",  # the same replies in another form
            )
        )
    return Pack(cases=cases, without_output=[name for name in expected if name not in names])


def is_of(path: Path, content: Mapping[str, Any], known: Mapping[str, Any], model: str) -> bool:
    """Whether a file has the figure that was stored in a model's file, or no figure and the
    model's name."""
    if "results" not in content:
        return path.name.startswith(model)
    return bool(content.get("acc") == known.get("stored_acc", known["acc"]))


def drawn(content: Mapping[str, Any]) -> int:
    """The replies in which the authors' pattern matches not just once: they drew a choice."""
    return sum(len(ANSWER.findall(text)) != 1 for text in content["outputs"].values())


def figures(known: Mapping[str, Any], draws: int) -> dict[str, Figure]:
    published = known.get("published", {})
    parts = {"acc": known, **{name: known[name] for name in PARTS if name in known}}
    return {
        "accuracy" if name == "acc" else f"accuracy/{name}": Figure(
            official=part["acc"] / 100,
            n=part["n"],
            published=published[name] / 100 if name in published else None,
            reason=f"GPT-3's {draws} random draws are taken from its file" if draws else "",
        )
        for name, part in parts.items()
    }


def verdicts(
    results: Mapping[str, int], problems: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[Item]]:
    """The index of the choice that was read, -1 for none, against the right one."""
    return {
        name: [
            Item(
                score=float(index == problems[name]["answer"]),
                answer=ascii_uppercase[index] if index >= 0 else None,
            )
        ]
        for name, index in results.items()
    }


def problem(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A question as problems.json has it, of LLaVA's copy; subject, grade and topic are not there,
    and are made up."""
    question, answer = (turn["value"] for turn in entry["conversations"])
    text = question.removeprefix("<image>\n")
    return {
        "question": text[: text.rindex("\nA. ")],
        "choices": re.findall(r"^[A-E]\. (.*)$", text, re.MULTILINE),
        "answer": ascii_uppercase.index(answer),
        "hint": "a hint" if text.startswith("Context: ") else "",
        "image": "image.png" if "image" in entry else None,
        "grade": "grade1",
        "subject": "natural science",
        "topic": "physics",
        "split": "test",
    }
