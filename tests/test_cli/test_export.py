"""A run's replies in other tools' files."""

import json
from pathlib import Path

import pytest

from snellen.catalog import bundled
from tests.test_cli.conftest import Snellen


def run_of(snellen: Snellen, bench: str, *more: str) -> Path:
    done = snellen("run", "-m", "baseline/first", "-b", bench, *more, "--json")
    return Path(done.json["run"])


def accuracy(document: dict[str, dict[str, dict[str, dict[str, dict[str, float]]]]]) -> float:
    return document["scorings"]["official"]["metrics"]["accuracy"]["value"]


@pytest.mark.parametrize("to", ["vlmevalkit", "csv", "tsv", "xlsx", "jsonl"])
def test_what_is_exported_scores_as_the_run_does(snellen: Snellen, to: str) -> None:
    if to in ("vlmevalkit", "xlsx"):
        pytest.importorskip("xlsxwriter", reason="needs the extra xlsx")
    data = str(bundled("mathvision"))
    run = run_of(snellen, "mathvision:split=testmini", "--data", data)
    scored = json.loads((run / "report.json").read_bytes())

    file = snellen("export", run, "--to", to).out.strip()
    again = snellen("score", file, "-b", "mathvision:split=testmini", "--data", data, "--json")

    assert accuracy(again.json) == accuracy(scored)
    assert again.json["replies"] == scored["replies"]


def test_vlmevalkits_file_has_its_name_and_lmms_evals_its_places(
    snellen: Snellen, tmp_path: Path
) -> None:
    run = run_of(snellen, "mathvision:split=testmini", "--data", "synthetic")

    named = snellen("export", run, "--to", "vlmevalkit", "-o", tmp_path / "x.tsv").out.strip()
    usual = snellen("export", run, "--to", "lmms-eval", "--json").json["file"]

    assert named == str(tmp_path / "x.tsv")
    assert usual.endswith("_samples_mathvision.jsonl")
    rows = [json.loads(line) for line in Path(usual).read_text().splitlines()]
    assert [row["doc_id"] for row in rows] == list(range(len(rows)))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--to", "submission"), "there is no form in which a test server takes it"),
        (("--to", "csv", "-o", "x.pdf"), "exports end in .csv, .tsv, .xlsx, .jsonl"),
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
