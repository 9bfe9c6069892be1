"""A run's replies in other tools' files."""

import csv
import json
from pathlib import Path

import pytest

from snellen.registry import bundled
from tests.test_cli.conftest import Snellen

FAILING = """
def answer(messages):
    if "picture" in messages[-1].text:
        raise ConnectionError("cut off")
    return "A" if "volume" in messages[-1].text else ""
"""


def run_of(snellen: Snellen, bench: str, *more: str, model: str = "baseline/first") -> Path:
    done = snellen("run", "-m", model, "-b", bench, *more, "--json")
    return Path(done.json["run"])


def failing(folder: Path) -> str:
    """A model that fails where a question speaks of a picture."""
    (folder / "failing.py").write_text(FAILING)
    return "python:failing.py:answer"


def accuracy(document: dict[str, dict[str, dict[str, dict[str, dict[str, float]]]]]) -> float:
    return document["scorings"]["official"]["metrics"]["accuracy"]["value"]


@pytest.mark.parametrize("to", ["vlmevalkit", "csv", "tsv", "xlsx", "jsonl"])
def test_what_is_exported_scores_as_the_run_does(snellen: Snellen, tmp_path: Path, to: str) -> None:
    if to in ("vlmevalkit", "xlsx"):
        pytest.importorskip("xlsxwriter", reason="needs the extra xlsx")
    data = str(bundled("mathvision"))
    run = run_of(snellen, "mathvision:split=testmini", "--data", data, model=failing(tmp_path))
    scored = json.loads((run / "report.json").read_bytes())

    file = snellen("export", run, "--to", to).out.strip()
    again = snellen("score", file, "-b", "mathvision:split=testmini", "--data", data, "--json")

    assert accuracy(again.json) == accuracy(scored)
    assert scored["replies"] == {"ok": 2, "empty": 4, "failed": 2}
    assert again.json["replies"] == {"ok": 2, "empty": 4, "absent": 2}


def test_vlmevalkits_file_has_its_name_and_lmms_evals_its_places(
    snellen: Snellen, tmp_path: Path
) -> None:
    run = run_of(snellen, "mathvision:split=testmini", "--data", "synthetic")

    path = snellen("export", run, "--to", "vlmevalkit", "-o", tmp_path / "x.tsv").out.strip()
    usual = snellen("export", run, "--to", "lmms-eval", "--json").json["file"]

    assert path == str(tmp_path / "x.tsv")
    assert usual.endswith("_samples_mathvision_testmini.jsonl")
    rows = [json.loads(line) for line in Path(usual).read_text().splitlines()]
    assert [row["doc_id"] for row in rows] == list(range(len(rows)))


@pytest.mark.parametrize(
    ("bench", "stem"),
    [
        ("mathvision:split=test", "mathvision"),
        ("mathvision:split=testmini", "mathvision"),
        ("mmbench:split=dev,lang=en", "mmbench"),
        ("scienceqa:split=test,images=all", "scienceqa"),
    ],
)
def test_a_file_as_lmms_eval_names_it_is_scored_by_its_name_alone(
    snellen: Snellen, bench: str, stem: str
) -> None:
    data = str(bundled(stem))
    run = run_of(snellen, bench, "--data", data)
    scored = json.loads((run / "report.json").read_bytes())

    file = snellen("export", run, "--to", "lmms-eval").out.strip()
    again = snellen("score", file, "--data", data, "--json")

    assert again.code == 0, again.err
    assert again.json["replies"] == scored["replies"]
    assert (again.json["n"], again.json["benchmark"]) == (scored["n"], stem)


@pytest.mark.parametrize("to", ["vlmevalkit", "lmms-eval", "csv", "jsonl"])
def test_a_run_of_a_model_with_a_long_name_is_exported(
    snellen: Snellen, tmp_path: Path, to: str
) -> None:
    if to == "vlmevalkit":
        pytest.importorskip("xlsxwriter", reason="needs the extra xlsx")
    deep = tmp_path / ("a" * 100) / ("b" * 100) / ("c" * 100)
    deep.mkdir(parents=True)
    model = failing(deep).replace("failing.py", str(deep / "failing.py"))
    run = run_of(snellen, "mathvision:split=testmini", "--data", "synthetic", model=model)

    file = Path(snellen("export", run, "--to", to).out.strip())

    assert file.is_file()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--to", "submission"), "has no submission format for a test server"),
        (("--to", "csv", "-o", "x.pdf"), "unknown extension. Use .csv, .tsv, .xlsx, .jsonl"),
        (("--to", "pdf"), "is not one of"),
    ],
)
def test_what_cannot_be_exported_is_said(
    snellen: Snellen, more: tuple[str, ...], message: str
) -> None:
    run = run_of(snellen, "mathvision:split=testmini", "--data", "synthetic")

    wrong = snellen("export", run, *more)

    assert wrong.code == 2
    assert message in wrong.err


def test_a_submission_has_the_columns_that_the_server_took(snellen: Snellen) -> None:
    pytest.importorskip("xlsxwriter", reason="needs the extra xlsx")
    openpyxl = pytest.importorskip("openpyxl", reason="reads what was written")
    run = run_of(snellen, "mmbench", "--data", "synthetic")

    file = snellen("export", run, "--to", "submission").out.strip()
    sheet = openpyxl.load_workbook(file).active
    header, *rows = sheet.iter_rows(values_only=True)

    assert header == (
        *("question", "A", "B", "C", "D", "prediction", "category", "l2_category", "index"),
    )
    assert len(rows) == json.loads((run / "report.json").read_bytes())["n"]
    by_index = {row[-1]: row for row in rows}
    assert by_index[3][5:8] == ("A", "image_topic", "coarse_perception")


def test_what_of_a_run_is_not_in_the_file_is_said(snellen: Snellen, tmp_path: Path) -> None:
    model = failing(tmp_path)
    run = run_of(
        snellen, "mathvision:split=testmini", "--data", "synthetic", "--limit", "5", model=model
    )

    warnings = snellen("export", run, "--to", "csv").err.splitlines()

    assert warnings == [
        "partial: 5 of 8 questions are in the file",
        "incomplete: 1 of 5 have no reply; run the same command to ask them again",
    ]


def test_a_submission_says_what_its_server_will_count_as_wrong(
    snellen: Snellen, tmp_path: Path
) -> None:
    pytest.importorskip("xlsxwriter", reason="needs the extra xlsx")
    model = failing(tmp_path)
    run = run_of(snellen, "mmbench", "--data", "synthetic", "--limit", "8", model=model)
    report = json.loads((run / "report.json").read_bytes())

    notes = snellen("export", run, "--to", "submission", "--json").json["notes"]

    n, failed, of = report["n"], report["replies"]["failed"], report["asked_of"]
    assert notes == [
        "the data are the few bundled rows, so the score is not a result",
        f"partial: {n} of {of} questions are in the file, and a test server counts the others as "
        "wrong",
        f"incomplete: {failed} of {n} have no reply, are empty in it, and a test server counts "
        "them as wrong; run the same command to ask them again",
    ]


def test_replies_whose_questions_are_lost_are_counted(snellen: Snellen) -> None:
    run = run_of(snellen, "mathvision:split=testmini", "--data", "synthetic")
    questions = run / "questions.jsonl"
    questions.write_text("".join(questions.read_text().splitlines(keepends=True)[:-1]))

    err = snellen("export", run, "--to", "jsonl").err

    assert "partial: 7 of 8 questions are in the file" in err
    assert "1 reply is missing from the file, because its row of questions.jsonl is lost" in err


def test_a_whole_run_is_exported_without_a_word(snellen: Snellen) -> None:
    run = run_of(snellen, "mathvision:split=testmini", "--data", "synthetic")

    assert snellen("export", run, "--to", "jsonl").err == ""


def test_a_spreadsheet_that_cannot_be_written_is_named(snellen: Snellen) -> None:
    pytest.importorskip("xlsxwriter", reason="needs the extra xlsx")
    run = run_of(snellen, "mathvision:split=testmini", "--data", "synthetic")

    done = snellen("export", run, "--to", "xlsx", "-o", "none/x.xlsx")

    assert done.code == 2
    assert "none/x.xlsx cannot be written: " in done.err


@pytest.mark.parametrize(
    ("bench", "tags"),
    [
        ("ovo-bench", ["group", "task"]),
        ("ovo-bench:mode=proactive", ["task"]),
        ("mme", ["task"]),
    ],
)
def test_tags_that_metrics_alone_read_are_not_in_vlmevalkits_file(
    snellen: Snellen, tmp_path: Path, bench: str, tags: list[str]
) -> None:
    """`question` would be there twice."""
    model = "baseline/silent" if "proactive" in bench else "baseline/first"
    run = run_of(snellen, bench, "--data", "synthetic", model=model)

    done = snellen("export", run, "--to", "vlmevalkit", "-o", tmp_path / "x.tsv")

    assert done.code == 0, done.err
    with (tmp_path / "x.tsv").open(newline="") as file:
        columns = next(csv.reader(file, delimiter="\t"))
    letters = [name for name in columns if len(name) == 1]
    assert columns == ["index", "question", *letters, "answer", *tags, "prediction"]


FORMULAS = """
SAID = ["=1+1", "'=1", "+5", "-A cat", "@A", "A"]
def answer(messages):
    number = int(messages[-1].text.partition("[")[2].partition("]")[0])
    return SAID[number]
"""


@pytest.mark.parametrize("to", ["csv", "tsv"])
def test_a_formula_in_a_table_is_harmless_and_scores_as_in_the_run(
    snellen: Snellen, tmp_path: Path, to: str
) -> None:
    (tmp_path / "formulas.py").write_text(FORMULAS)
    targets = ["=1+1", "'=1", "+5", "-A cat", "@A", "A"]
    lines = [
        {"id": f"-{i}", "question": f"[{i}] =What?", "answer": target}
        for i, target in enumerate(targets)
    ]
    Path("mine.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    mine = ("-b", "mine.jsonl", "--task", "vqa")
    done = snellen("run", "-m", "python:formulas.py:answer", *mine, "--json")
    run = Path(done.json["run"])
    scored = json.loads((run / "report.json").read_bytes())

    export = snellen("export", run, "--to", to)
    file = Path(export.out.strip())
    with file.open(newline="") as table:
        cells = list(csv.DictReader(table, delimiter="," if to == "csv" else "\t"))
    assert [row["reply"] for row in cells] == ["'=1+1", "''=1", "+5", "'-A cat", "'@A", "A"]
    assert "now begin with an apostrophe" in export.err

    again = snellen("score", file, "-b", "mine.jsonl", "--json").json
    for name, scoring in scored["scorings"].items():
        for metric, estimate in scoring["metrics"].items():
            assert again["scorings"][name]["metrics"][metric]["value"] == estimate["value"]
    assert again["n"] == 6


def test_vlmevalkits_tsv_keeps_its_cells_and_says_so(snellen: Snellen, tmp_path: Path) -> None:
    (tmp_path / "formulas.py").write_text(FORMULAS)
    row = {"id": "1", "question": "[0] What?", "A": "x", "B": "y", "answer": "A"}
    Path("mine.jsonl").write_text(json.dumps(row))
    run = run_of(snellen, "mine.jsonl", model="python:formulas.py:answer")
    done = snellen("export", run, "--to", "vlmevalkit", "-o", "x.tsv")
    assert "=1+1" in Path("x.tsv").read_text()
    assert "Do not open it in a spreadsheet program" in done.err
