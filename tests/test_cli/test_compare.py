"""snellen compare, as a user calls it."""

import json
from pathlib import Path

import pytest

from snellen.cli import exit_code


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    words = ["run", "-b", "eyechart", "-m", "baseline/reader", "-m", "baseline/first"]
    assert exit_code([*words, "--limit", "40", "--out", str(out)]) == 0
    return out


def test_two_runs_are_compared(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["compare", str(runs / "eyechart/baseline__first"), str(runs)]) == 0
    said = capsys.readouterr().out
    assert "eyechart: baseline/reader (b) against baseline/first (a)" in said
    assert "above baseline/first in accuracy" in said and ": significant at 5 %" in said


def test_json_is_the_document_and_nothing_else(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(["compare", str(runs), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (one,) = document["comparisons"]
    assert document["format"] == 0 and document["tests"] == 1
    assert one["metrics"]["accuracy"]["difference"]["n"] == 40
    assert one["samples"] == 40


def test_a_file_is_of_the_format_that_its_name_ends_in(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, start in (("c.md", "## eyechart"), ("c.json", "{"), ("c.txt", "\neyechart: ")):
        assert exit_code(["compare", str(runs), "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_text().startswith(start)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere", "runs"], "there is no such file or folder"),
        (["runs/eyechart/baseline__first"], "there is only"),
        (["empty", "runs"], "there is no run in it"),
        (["runs", "--scoring", "none"], "has no scoring 'none'"),
        (["runs", "--data", "runs"], "data is for predictions, and these are runs"),
        (["runs", "torn.json", "-b", "eyechart"], "torn.json"),
    ],
)
def test_wrong_use_is_said_in_words(
    runs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    said: str,
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "torn.json").write_bytes(b'[{"id": "1", "rep\xff')
    (tmp_path / "runs").symlink_to(runs)
    monkeypatch.chdir(tmp_path)
    assert exit_code(["compare", *words]) == 2
    assert said in capsys.readouterr().err
