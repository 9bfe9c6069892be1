"""Made replies to questions with choices, as the scripts of six image benchmarks read them."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from snellen.answers.others import lmms_eval_letter
from tests.parity.engine import (
    Case,
    Expected,
    Figure,
    Item,
    Pack,
    Scores,
    expected_of,
    of_json_lines,
    write_json,
)
from tests.parity.packs.mcq_parsing import PICTURE

NO_OUTPUTS = "no model's outputs are published; the replies are generated"
Row = Mapping[str, Any]
Rows = Sequence[Row]
Text = Callable[[Row], str]


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    expected = expected_of(folder)
    if not rows:
        return Pack(cases=[])
    replies = write_lines(
        scratch / "replies.jsonl", rows, lambda row: {"id": row["id"], "output": row["prediction"]}
    )
    return Pack(
        cases=[
            mme_realworld(rows, expected, scratch / "mme"),
            visulogic(rows, expected, scratch / "visulogic"),
            case(
                "vstar",
                replies,
                write_sheet(scratch / "vstar" / "VStarBench.tsv", rows),
                {"lmms-eval": letters(rows, expected, "vstar_lmms")},
            ),
            mmvp(rows, expected, replies, scratch / "mmvp"),
            case(
                "muirbench",
                replies,
                write_sheet(scratch / "muirbench" / "MUIRBench.tsv", rows),
                {
                    "lmms-eval-unfiltered": Expected(
                        figures=figure(
                            expected.get("muirbench_overall"), len(rows), "lmms-eval-unfiltered"
                        ),
                        items=items(rows, lambda row: Item(score=row["muirbench_lmms_correct"])),
                    )
                },
            ),
            *erqa(rows, expected, replies, scratch / "erqa" / "ERQA.tsv"),
        ]
    )


def case(
    benchmark: str, replies: Path, data: Path, expected: Mapping[str, Expected], *notes: str
) -> Case:
    return Case(
        model="made replies",
        replies=replies,
        benchmark=benchmark,
        data=data,
        expected=expected,
        proof="generated pairs",
        notes=notes,
    )


# -- what the scripts gave


def items(rows: Rows, item: Callable[[Row], Item]) -> dict[str, list[Item]]:
    return {str(row["id"]): [item(row)] for row in rows}


def figure(value: float | None, n: int, scoring: str = "lmms-eval") -> dict[str, Figure]:
    """The accuracy of a scoring; nothing where it is not known."""
    if value is None:
        return {}
    label = None if scoring == "official" else f"accuracy ({scoring})"
    return {"accuracy": Figure(official=value, n=n, reason=NO_OUTPUTS, label=label)}


def letters(rows: Rows, expected: Row, column: str, none: str = "") -> Expected:
    """The letters of a column, their scores, and the number that is right. `none` is our answer
    where the column has no letter."""
    right = expected.get(f"{column}_correct")
    scoring = "official" if column.endswith("official") else "lmms-eval"
    return Expected(
        figures=figure(None if right is None else right / len(rows), len(rows), scoring),
        items=items(
            rows,
            lambda row: Item(
                score=float(row[column] == row["answer"]),
                answer=none if row[column] in ("", "GPT", None) else row[column],
            ),
        ),
    )


def mme_realworld(rows: Rows, expected: Row, folder: Path) -> Case:
    official = letters(rows, expected, "mme_realworld_official")
    report = dict(reported(expected.get("mme_realworld_report", ())))
    results = [
        {
            "Question_id": str(row["id"]),
            "Image": "a.jpg",
            "Text": "Which?",
            "Answer choices": [
                f"({letter}) {option}"
                for letter, option in zip(ascii_uppercase, row["options"], strict=False)
            ],
            "Ground truth": row["answer"],
            **{name: row[name] for name in ("Task", "Subtask", "Category")},
            "Output": row["prediction"],
        }
        for row in rows
    ]
    path = write_json(folder / "MME_RealWorld.json", results)
    return case(
        "mme-realworld",
        path,
        path,
        {
            "official": Expected(figures={**report, **official.figures}, items=official.items),
            "lmms-eval": letters(rows, expected, "mme_realworld_lmms"),
        },
        "the report has accuracies with four decimals",
    )


LINE = re.compile(
    r"[-+*]+\s*(?P<overall>Overall )?Acc (?P<acc>[\d.]+)(?:\s+E choice (?P<e>\d+))?"
    r"(?:\s+(?P<name>.*) \((?P<n>\d+) items\))?"
)


def reported(lines: Sequence[str]) -> Iterator[tuple[str, Figure]]:
    """The figures of the authors' report. It prints four decimals."""
    task = domain = ""
    for line in lines:
        if start := re.match(r"[*+]+(.*) \((Task|Subtask) Start\)", line):
            task, domain = (start[1], "") if start[2] == "Task" else (task, start[1])
            continue
        match = LINE.fullmatch(line)
        assert match, line
        n = None if match["n"] is None else int(match["n"])
        if n == 0:
            continue
        name = match["name"]
        parts = {"-": [task, domain, str(name).lower()], "+": [task, domain], "*": [task]}
        slash = "" if match["overall"] else "/" + "/".join(parts[line[0]])
        yield f"accuracy{slash}", printed(float(match["acc"]), n)
        if match["e"] is not None and n:
            yield f"e_share{slash}", Figure(official=int(match["e"]) / n, n=n, label="")


def printed(value: float, n: int | None) -> Figure:
    """A figure that the script prints with four decimals."""
    return Figure(official=None, bounds=(value - 5e-5, value + 5e-5), n=n, label="")


def visulogic(rows: Rows, expected: Row, folder: Path) -> Case:
    """The authors' file of results, with N as the answer of the judge, which was not asked."""
    official = letters(rows, expected, "visulogic_official", none="N")
    percent = expected.get("visulogic_official", {}).get("overall_if_gpt_answers_N")
    # All rows have one tag, so its accuracy is the overall one, which the script rounds.
    rounded = {} if percent is None else {"accuracy/Other": printed(percent / 100, len(rows))}
    path = write_lines(
        folder / "data.jsonl",
        rows,
        lambda row: {
            "id": str(row["id"]),
            "image_path": "a.png",
            "question": "Which?",
            "label": row["answer"],
            "tag": "Other",
            "model_response": row["prediction"],
            "extractor": row["visulogic_official_by"],
            "extracted_answer": "N"
            if row["visulogic_official"] == "GPT"
            else row["visulogic_official"],
        },
    )
    return case(
        "visulogic",
        path,
        path,
        {
            "official": replace(official, figures={**official.figures, **rounded}),
            "lmms-eval": letters(rows, expected, "visulogic_lmms"),
        },
        "the answer to each reply that the rules leave to the judge is N",
    )


def erqa(rows: Rows, expected: Row, replies: Path, path: Path) -> Iterator[Case]:
    """The shared rule of lmms-eval's tasks with the letters A to E, and ERQA's, which uses A to D.
    The two give the same letter unless the first gives E."""
    data = write_sheet(path, rows, in_question)
    shared = letters(rows, expected, "shared_lmms_abcde")
    others = {str(row["id"]) for row in rows if row["shared_lmms_abcde"] != "E"}
    items = {name: of for name, of in shared.items.items() if name in others}
    yield case("erqa", replies, data, {"lmms-eval": Expected(items=items)}, "letters other than E")
    note = "lmms-eval's shared rule with the letters A to E; ERQA itself uses A to D"
    five = case("erqa", replies, data, {"lmms-eval": shared}, note)
    yield replace(five, ours=lambda _: with_five_letters(rows))


def with_five_letters(rows: Rows) -> Scores:
    items: dict[str, list[Item]] = {}
    for row in rows:
        letter = lmms_eval_letter(row["prediction"] or "", "ABCDE").answer
        score = float(letter == row["answer"])
        items[str(row["id"])] = [Item(score=score, answer=letter or "")]
    right = sum(item.score or 0.0 for of in items.values() for item in of)
    figures = {"accuracy": (right / len(rows), len(rows))}
    return Scores(figures={"lmms-eval": figures}, items={"lmms-eval": items})


def mmvp(rows: Rows, expected: Row, replies: Path, folder: Path) -> Case:
    figures = expected.get("mmvp", {})
    folder.mkdir(parents=True)
    with (folder / "Questions.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Index", "Question", "Options", "Correct Answer"])
        writer.writerows(
            [row["id"], "Which?", "(a) up (b) down", row["mmvp_answer"]] for row in rows
        )
    lmms = Expected(
        figures={
            name: Figure(
                official=figures[name], n=n, reason=NO_OUTPUTS, label=f"{name} (lmms-eval)"
            )
            for name, n in (("pair_accuracy", len(rows) // 2), ("accuracy", len(rows)))
            if name in figures
        },
        items=items(
            rows,
            lambda row: Item(
                score=float(row["mmvp_lmms"].lower() == row["mmvp_answer"][1]),
                answer=row["mmvp_lmms"],
            ),
        ),
    )
    return case("mmvp", replies, folder, {"lmms-eval": lmms})


# -- the questions in each benchmark's format


def write_lines(path: Path, rows: Rows, line: Callable[[Row], Row]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line(row)) + "\n" for row in rows), encoding="utf-8")
    return path


def in_question(row: Row) -> str:
    pairs = zip(ascii_uppercase, row["options"], strict=False)
    return f"Which? Choices: {' '.join(f'{letter}. x.' for letter, _ in pairs)}"


def write_sheet(path: Path, rows: Rows, question: Text = lambda _: "Which?") -> Path:
    """The rows as VLMEvalKit publishes questions, with one picture for all of them."""
    path.parent.mkdir(parents=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t")
        writer.writerow(["index", "image", "question", "answer", "category", *"ABCDE"])
        for row in rows:
            # A short cell is the index of the row that has the picture.
            image = PICTURE if row is rows[0] else rows[0]["id"]
            right, kind = row["answer"], row["task"]
            writer.writerow([row["id"], image, question(row), right, kind, *row["options"]])
    return path
