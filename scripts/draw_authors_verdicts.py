"""Generate replies with the verdicts of other scripts: for MTVQA of its authors, and for VLMs are
blind of VLMEvalKit and lmms-eval, since its authors published none.

usage: python scripts/draw_authors_verdicts.py FOLDER

FOLDER has clones of bytedance/MTVQA@efc6a78, open-compass/VLMEvalKit@e8e78f0, and
EvolvingLMMs-Lab/lmms-eval@75571cf under their names. The script of MTVQA runs once with a file for
each reply, and once with a file for each language. Of the other two, only the class and the module
of this benchmark run.
"""

import ast
import json
import runpy
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

DATA = Path(__file__).parents[1] / "tests/data"
LANGUAGES = ("AR", "DE", "FR", "IT", "JA", "KO", "RU", "TH", "VI")
COUNT = 700
WORDS = (
    "Hafen",
    "port",
    "Été",
    "İzmir",
    "東京",
    "ที่",
    "7",
    "12.5",
    "B.V.",
    " Cam ",
    "straße",
    "no.",
)
FORMS = ("{word}", "{upper}", "{word}.", "It says {word}, I think.", "{other}", "{other} {lower}",
         "{joined}", "x{word}y", "", " . ", "{dots}")  # fmt: skip


def mtvqa_rows() -> Iterator[dict[str, Any]]:
    draws = Random(24)
    for number in range(COUNT):
        words = [draws.choice(WORDS) for _ in range(draws.choice((1, 1, 2)))]
        answer = " ".join(words)
        reply = draws.choice(FORMS).format(
            word=answer, upper=answer.upper(), lower=answer.lower(), other=draws.choice(WORDS),
            joined=answer.replace(" ", ""), dots=".".join(answer),
        )  # fmt: skip
        language = LANGUAGES[number % len(LANGUAGES)]
        yield {"id": number, "language": language, "annotation": answer, "answer": reply}


def mtvqa_accuracies(script: Path, files: dict[str, list[dict[str, Any]]]) -> dict[str, float]:
    """The accuracy that the authors' script prints for each file, and their `Average`."""
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in files.items():
            (Path(folder) / f"{name}.json").write_text(json.dumps(rows))
        sys.argv = [str(script), "--model_result_path", folder]
        output = StringIO()
        with redirect_stdout(output):
            runpy.run_path(str(script), run_name="__main__")
    lines = (line.partition(" acc: ") for line in output.getvalue().splitlines())
    return {name: float(value) for name, _, value in lines}


def mtvqa(script: Path) -> None:
    rows = [*mtvqa_rows()]
    verdicts = mtvqa_accuracies(script, {str(row["id"]): [row] for row in rows})
    languages = {
        language: [row for row in rows if row["language"] == language] for language in LANGUAGES
    }
    average = mtvqa_accuracies(script, languages)["Average"]
    lines = [{**row, "score": verdicts[str(row["id"])]} for row in rows]
    written(DATA / "mtvqa_replies.jsonl", [*lines, {"average": average}])


# -- VLMs are blind

BLIND_COUNT = 900
TASKS = {
    "Circled Letter": ("o", "s", "x", "T"),
    "Counting Grid - Blank Grids": ("3,4", "12,5"),
    "Counting Grid - Word Grids": ("6,5", "3,3"),
    "Line Plot Intersections": ("0", "1", "2"),
    "Nested Squares": ("3", "5"),
    "Olympic Counting - Circles": ("5", "8"),
    "Olympic Counting - Pentagons": ("6", "9"),
    "Subway Connections": ("1", "2"),
    "Touching Circles": ("Yes", "No"),
}
ALL_FORMS = (
    "{{{a}}}", "{a}", "{upper}", " {lower}. ", "I see {a}.", "{{{b}}} or {{{a}}}",
    "{{{a}}} {{{b}}}",
    "", "{{ {a} }}", "1{a}", "none", "{{\n{a}}}", "x{{}}{{{a}}}",
)  # fmt: skip
GRID_FORMS = (
    "rows={{{a}}} columns={{{b}}}", "Rows: {{{a}}}, columns: {{{b}}}", "({a},{b})",
    "columns={{{b}}} row={{{a}}}", "({a}, {b})", "({a} , {b})",
    "{{{a}}}{{{b}}}", "{{{a}}} {{{b}}}", "{a},{b}",
    "rows=0{a}", "rows={{0{a}}} and columns={{{b}}}", "rows={{{a}}} (7, 8)", "({b}, {a})",
    "(0{a},{b})",
    "rows={{{a}}}\ncolumns={{{b}}}", "rows {{x}} {{{a}}} columns {{{b}}}",
)  # fmt: skip


def blind_rows() -> Iterator[dict[str, Any]]:
    draws = Random(24)
    for number in range(BLIND_COUNT):
        task = [*TASKS][number % len(TASKS)]
        answer = draws.choice(TASKS[task])
        first, second = answer.split(",") if "," in answer else (answer, draws.choice(TASKS[task]))
        form = draws.choice(GRID_FORMS if "," in answer and draws.random() < 0.9 else ALL_FORMS)
        reply = form.format(a=first, b=second, upper=first.upper(), lower=first.lower())
        yield {"id": number, "task": task, "answer": answer, "reply": reply}


@cache
def kit_class(source: Path) -> ast.Module:
    tree = ast.parse((source / "vlmeval/dataset/image_mcq.py").read_text("utf-8"))
    tree.body = [node for node in tree.body if getattr(node, "name", "") == "VLMBlind"]
    return tree


def kit_accuracies(source: Path, rows: list[dict[str, Any]]) -> dict[str, list[float]]:
    """The accuracies by task that VLMEvalKit's class gives, without the rest of VLMEvalKit."""
    data = [
        (row["id"], {"task": row["task"], "answers": row["answer"], "prediction": row["reply"]})
        for row in rows
    ]
    names: dict[str, Any] = {
        "ImageMCQDataset": object,
        "load": lambda _: SimpleNamespace(iterrows=lambda: data),
        "pd": SimpleNamespace(DataFrame=dict),
        "get_intermediate_file_path": lambda *_: None,
        "dump": lambda *_: None,
    }
    path = str(source / "vlmeval/dataset/image_mcq.py")
    exec(compile(kit_class(source), path, "exec"), names)
    return dict(names["VLMBlind"]().evaluate(""))


def blind(kit: Path, lmms: Path) -> None:
    names: dict[str, Any] = {}
    path = lmms / "lmms_eval/tasks/vlmsareblind/utils.py"
    exec(compile(path.read_text("utf-8"), str(path), "exec"), names)
    lines, results = [], []
    for row in blind_rows():
        (accuracy,) = kit_accuracies(kit, [row]).values()
        document = {"task": row["task"], "groundtruth": row["answer"]}
        result = names["vlmsareblind_process_results"](document, [row["reply"]])
        results.append(result["accuracy_by_task"])
        lines.append({**row, "vlmevalkit": accuracy[0], "lmms-eval": result["accuracy"]})
    averages = names["vlmsareblind_aggregate_by_task"](results)
    by_task = {task: of for task, (of,) in kit_accuracies(kit, lines).items()}
    last = {"vlmevalkit": by_task, "lmms-eval": averages}
    written(DATA / "vlms_are_blind_replies.jsonl", [*lines, last])


def written(path: Path, rows: list[dict[str, Any]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    clones = Path(sys.argv[1])
    mtvqa(clones / "MTVQA/scripts/acc.py")
    blind(clones / "VLMEvalKit", clones / "lmms-eval")
