"""Made replies to questions with choices about videos, as the code of ten benchmarks reads them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
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
from tests.parity.packs.image_mcq import write_lines

NO_OUTPUTS = "no model's outputs are published; the replies are generated"
NONE = ("", "API Error", "No Answere Found")
RANDOM = "RANDOM"
Row = Mapping[str, Any]
Rows = Sequence[Row]
COLUMNS = {
    "mvbench": {
        "official": "mvbench_official",
        "internvl": "mvbench_internvl",
        "vlmevalkit": "mvbench_vlmevalkit",
        "vlmevalkit-advanced": "mvbench_vlmevalkit_advanced",
        "lmms-eval": "mvbench_lmms",
    },
    "tvbench": {"official": "tvbench_official", "lmms-eval": "tvbench_lmms_letter"},
    "mlvu": {"official": "mlvu_official", "lmms-eval": "mlvu_lvbench_lmms_letter"},
    "lvbench": {"official": "lvbench_official_letter", "lmms-eval": "mlvu_lvbench_lmms_letter"},
    "longvideobench": {"lmms-eval": "longvideobench_lmms_letter"},
    "egoschema": {"lmms-eval": "egoschema_lmms_letter"},
    "tomato": {"rules": "tomato_official_pre", "lmms-eval": "tomato_lmms_letter"},
    "motionbench": {"lmms-eval": "motionbench_lmms_letter"},
    "cg-bench": {"lmms-eval": "cgbench_lmms_letter"},
    "video-mmmu": {"official": "videommmu_official_letter"},
}
"""The columns by benchmark and scoring."""


def pack(folder: Path, scratch: Path) -> Pack:
    rows, known = of_json_lines(folder / "differential.jsonl"), expected_of(folder)
    cases = []
    for benchmark, columns in COLUMNS.items():
        of_benchmark = [
            row for row in rows if all(row.get(name) is not None for name in columns.values())
        ]
        if of_benchmark:
            cases.append(case(benchmark, columns, of_benchmark, known, scratch / benchmark))
    return Pack(cases=cases)


def case(benchmark: str, columns: Mapping[str, str], rows: Rows, known: Row, scratch: Path) -> Case:
    data, name = QUESTIONS[benchmark](rows, scratch)
    return Case(
        model="made replies",
        replies=write_lines(
            scratch / "replies" / "replies.jsonl",
            rows,
            lambda row: {"id": name(row), "output": row["prediction"]},
        ),
        benchmark=benchmark,
        data=data,
        expected={
            scoring: Expected(
                figures=figure(known.get(column), rows, column, scoring),
                items={name(row): [item(row, column)] for row in rows},
            )
            for scoring, column in columns.items()
        },
        proof="generated pairs",
        notes=("random letters are drawn, and only their number is compared",),
    )


def figure(known: Row | None, rows: Rows, column: str, scoring: str) -> dict[str, Figure]:
    """The share of right replies. Random letters are wrong in the expected number, and may be right
    here."""
    if known is None or known["rows"] != len(rows):
        return {}
    n, drawn = len(rows), sum(row[column] == RANDOM for row in rows)
    low, high = known["correct"] / n, (known["correct"] + drawn) / n
    return {
        "accuracy": Figure(
            official=low,
            n=n,
            reason=NO_OUTPUTS,
            label="" if drawn else f"accuracy ({scoring})",
            bounds=(low, high) if drawn else None,
        )
    }


def item(row: Row, column: str) -> Item:
    """A verdict, or a letter. A letter that is no choice counts as none where the authors ask a
    judge then."""
    value = row[column]
    if value == RANDOM:
        return Item()
    if isinstance(value, bool | int):
        return Item(score=float(value))
    none = value in NONE or (
        column == "tomato_official_pre" and value not in ascii_uppercase[: len(row["options"])]
    )
    return Item(score=float(value == row["answer"]), answer="" if none else value)


# -- the questions in each benchmark's format

Name = Callable[[Row], str]


def position(row: Row) -> int:
    return ascii_uppercase.index(row["answer"])


def by_task(path: str, task: str) -> Callable[[Rows, Path], tuple[Path, Name]]:
    def written(rows: Rows, scratch: Path) -> tuple[Path, Name]:
        content = [
            {
                "id": row["id"],
                "video": "1.mp4",
                "question": "Which?",
                "candidates": row["options"],
                "answer": row["options"][position(row)],
            }
            for row in rows
        ]
        file = write_json(scratch / path, content)
        return file, lambda row: f"{task}|{row['id']}"

    return written


def by_id(row: Row) -> str:
    return str(row["id"])


def in_text(row: Row, form: str) -> str:
    pairs = zip(ascii_uppercase, row["options"], strict=False)
    return "\n".join(["Which?", *(form.format(letter, choice) for letter, choice in pairs)])


def lvbench(rows: Rows, scratch: Path) -> tuple[Path, Name]:
    entries = [
        {"uid": by_id(row), "question": in_text(row, "({}) {}"), "answer": row["answer"]}
        for row in rows
    ]
    video = {"key": "1", "type": "", "qa": entries}
    return write_lines(scratch / "video_info.meta.jsonl", [video], dict), by_id


def motionbench(rows: Rows, scratch: Path) -> tuple[Path, Name]:
    entries = [
        {"uid": by_id(row), "question": in_text(row, "{}. {}"), "answer": row["answer"]}
        for row in rows
    ]
    video = {"video_path": "1.mp4", "question_type": "", "qa": entries}
    return write_lines(scratch / "video_info.meta.jsonl", [video], dict), by_id


def longvideobench(rows: Rows, scratch: Path) -> tuple[Path, Name]:
    content = [
        {
            "id": by_id(row),
            "video_path": "1.mp4",
            "question": "Which?",
            "candidates": row["options"],
            "correct_choice": position(row),
        }
        for row in rows
    ]
    return write_json(scratch / "lvb_val.json", content), by_id


def egoschema(rows: Rows, scratch: Path) -> tuple[Path, Name]:
    content = [
        {
            "q_uid": by_id(row),
            "question": "Which?",
            **{f"option {number}": option for number, option in enumerate(row["options"])},
        }
        for row in rows
    ]
    write_json(scratch / "subset_answers.json", {by_id(row): position(row) for row in rows})
    return write_json(scratch / "questions.json", content), by_id


def tomato(rows: Rows, scratch: Path) -> tuple[Path, Name]:
    content = {
        by_id(row): {
            "question": "Which?",
            "options": row["options"],
            "answer": position(row),
            "key": "1",
            "demonstration_type": "human",
        }
        for row in rows
    }
    return write_json(scratch / "data" / "count.json", content), lambda row: f"count|{row['id']}"


def cg_bench(rows: Rows, scratch: Path) -> tuple[Path, Name]:
    content = [
        {
            "qid": row["id"],
            "video_uid": "1",
            "question": "Which?",
            "choices": row["options"],
            "right_answer": row["answer"],
            "clue_intervals": [],
        }
        for row in rows
    ]
    return write_json(scratch / "cgbench_mini.json", content), by_id


def video_mmmu(rows: Rows, scratch: Path) -> tuple[Path, Name]:
    def name(row: Row) -> str:
        return f"validation_Math_{row['id']}"

    path = write_lines(
        scratch / "Perception.jsonl",
        rows,
        lambda row: {
            "id": name(row),
            "question": "Which?",
            "options": row["options"],
            "answer": row["answer"],
            "question_type": "multiple-choice",
        },
    )
    return path, name


QUESTIONS: Mapping[str, Callable[[Rows, Path], tuple[Path, Name]]] = {
    "mvbench": by_task("json/action_sequence.json", "action_sequence"),
    "tvbench": by_task("json/action_count.json", "action_count"),
    "mlvu": by_task("json/4_count.json", "count"),
    "lvbench": lvbench,
    "longvideobench": longvideobench,
    "egoschema": egoschema,
    "tomato": tomato,
    "motionbench": motionbench,
    "cg-bench": cg_bench,
    "video-mmmu": video_mmmu,
}
