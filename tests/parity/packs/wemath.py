"""We-Math: made replies to problems, with the answers, kinds, and rates of the authors' code."""

from collections.abc import Iterator, Mapping, Sequence
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
    write_json,
)

OPTION = "; ".join(f"{letter}. choice {letter}" for letter in "ABCDEFGH")
KINDS = ("IK", "IG", "CM_strict", "CM_loose", "RM_strict", "RM_loose")
PROBLEMS = 525
"""The number by which the authors' code divides."""
COUNTS = {
    "ik": "InsufficientKnowledge",
    "ig": "InadequateGeneralization",
    "cm_strict": "CompleteMastery_strict",
    "cm_loose": "CompleteMastery_loose",
    "rm_strict": "RoteMemorization_strict",
    "rm_loose": "RoteMemorization_loose",
}
NO_OUTPUTS = "no model's outputs are published; the replies are generated"
Problems = Sequence[Mapping[str, Any]]


def pack(folder: Path, scratch: Path) -> Pack:
    problems, expected = of_json_lines(folder / "differential.jsonl"), expected_of(folder)
    if not problems:
        return Pack(cases=[])
    counts = expected.get("counts")
    everything = Expected(
        figures=dict(figures(counts, expected, len(problems))) if counts else {},
        items={
            row["name"]: [Item(score=float(row["right"]), answer=row["processed"])]
            for problem in problems
            for row in parts(problem)
        },
    )
    by_kinds: dict[tuple[int, ...], list[Mapping[str, Any]]] = {}
    for problem in problems:
        by_kinds.setdefault(tuple(problem[kind] for kind in KINDS), []).append(problem)
    return Pack(
        cases=[
            case(problems, everything, scratch / "all"),
            *(
                case(group, Expected(figures=dict(alone(kinds, len(group)))), scratch / str(number))
                for number, (kinds, group) in enumerate(sorted(by_kinds.items()))
            ),
        ]
    )


def case(problems: Problems, expected: Expected, folder: Path) -> Case:
    """A case with these problems alone. Only that of all problems is on docs/parity.md."""
    rows = [row for problem in problems for row in parts(problem)]
    questions = [{name: row[name] for name in row if name != "response"} for row in rows]
    write_json(folder / "testmini.json", questions)
    return Case(
        model="made replies",
        replies=write_json(folder / "results/model.json", rows),
        benchmark="wemath",
        data=folder,
        expected={"official": expected},
        proof="generated pairs",
        page=None if expected.items else "",
    )


def parts(problem: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The questions of a problem, as rows of the authors' file of results."""
    name = f"{problem['steps']}steps_{problem['id']}"
    for row in problem["parts"]:
        part = row["key"].rpartition("_")[2]
        yield {
            **row,
            "name": f"{name}_{part}",
            "processed": "" if row["processed"] in (None, "nan", "None") else row["processed"],
            "ID": name,
            "question": "Which?",
            "option": OPTION,
            "knowledge concept": "Area of Circles",
            "image_path": "image.png",
        }


def figures(
    counts: Mapping[str, int], expected: Mapping[str, Any], n: int
) -> Iterator[tuple[str, Figure]]:
    """The rates in full precision. The authors print two decimals of them."""
    printed = {f"{COUNTS[name]}_rate": name for name in COUNTS}
    values: dict[str, float | None] = {}
    for name, column in COUNTS.items():
        kind, _, version = name.partition("_")
        total = counts[column] + counts[f"CompleteMastery_{version}"] if kind == "rm" else PROBLEMS
        values[name] = counts[column] / total if total else None
    for version in ("strict", "loose"):
        lost: float = counts["InsufficientKnowledge"] + counts[f"RoteMemorization_{version}"]
        lost += 0.5 * counts["InadequateGeneralization"]
        values[f"score_{version}"] = (PROBLEMS - lost) / PROBLEMS
        printed[f"Score ({version.capitalize()})"] = f"score_{version}"
    for column, text in {**expected.get("rates", {}), **expected.get("row", {})}.items():
        value = values.get(printed.get(column, ""))
        assert value is None or f"{value:.2%}" == text, f"{column} is {text}, not {value:.2%}"
    for name, value in values.items():
        yield name, Figure(official=value, n=n, reason=NO_OUTPUTS)


def alone(kinds: Sequence[int], n: int) -> Iterator[tuple[str, Figure]]:
    """The figures of problems that are all of the same kind, so that every problem's is proven."""
    by_name = dict(zip(KINDS, kinds, strict=True))
    for kind, value in by_name.items():
        of_right = kind.startswith("RM") and not (by_name["CM_loose"] or by_name["RM_loose"])
        yield kind.lower(), Figure(official=None if of_right else float(value), n=n)
