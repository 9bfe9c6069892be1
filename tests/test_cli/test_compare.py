"""snellen compare, as a user calls it."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

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
    out = capsys.readouterr().out
    assert "eyechart: baseline/reader (b) against baseline/first (a)" in out
    assert "above baseline/first in accuracy" in out and ": significant at 5 %" in out


def test_json_is_the_document_and_nothing_else(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(["compare", str(runs), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (comparison,) = document["comparisons"]
    assert document["format"] == 0 and document["tests"] == 1
    assert comparison["metrics"]["accuracy"]["difference"]["n"] == 40
    assert comparison["samples"] == 40


@pytest.mark.parametrize("verb", ["compare", "report"])
def test_an_ending_that_nothing_is_written_as_is_refused(
    verb: str, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "c.docx"
    assert exit_code([verb, str(runs), "-o", str(output)]) == 2
    assert "unknown extension .docx. Use .md" in capsys.readouterr().err
    assert not output.exists()


def test_a_run_that_cannot_be_read_is_named_where_nothing_else_can_be_compared(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The damaged run is the only one with another's questions."""
    mine = str(shutil.copytree(runs, tmp_path / "runs"))
    video = ["run", "-b", "eyechart-video", "-m", "baseline/first", "--limit", "2", "--out", mine]
    assert exit_code(video) == 0
    [manifest] = Path(mine).glob("eyechart/baseline__reader/*/manifest.json")
    manifest.write_text("{")
    capsys.readouterr()
    assert exit_code(["compare", mine]) == 2
    err = capsys.readouterr().err
    assert "Replies to different questions cannot be compared" in err
    assert f"left out: {manifest} is not a manifest" in err


def test_a_file_is_of_the_format_that_its_name_ends_in(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, start in (("c.md", "## eyechart"), ("c.json", "{"), ("c.txt", "\neyechart: ")):
        assert exit_code(["compare", str(runs), "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_text().startswith(start)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere", "runs"], "there is no such file or folder"),
        (["runs/eyechart/baseline__first"], "there is only"),
        (["empty", "runs"], "there is no run in this folder"),
        (["runs", "--scoring", "none"], "has no scoring 'none'"),
        (["runs", "--data", "runs"], "`data` applies only to predictions, but all paths are runs"),
        (["runs", "torn.json", "-b", "eyechart"], "torn.json"),
    ],
)
def test_wrong_use_is_said_in_words(
    runs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "torn.json").write_bytes(b'[{"id": "1", "rep\xff')
    (tmp_path / "runs").symlink_to(runs)
    monkeypatch.chdir(tmp_path)
    assert exit_code(["compare", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_later_side_that_is_worse_fails_and_the_checks_are_junit_xml(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader, first = (str(runs / f"eyechart/baseline__{name}") for name in ("reader", "first"))
    xml = tmp_path / "junit.xml"
    gate = ["--fail-if-worse", "0.02", "--junit", str(xml)]

    assert exit_code(["compare", first, reader, *gate]) == 0
    assert "worse" not in capsys.readouterr().err
    root = ElementTree.parse(xml).getroot()
    assert (root.get("tests"), root.get("failures")) == ("1", "0")

    assert exit_code(["compare", reader, first, *gate]) == 1
    assert "eyechart: worse by more than 0.02: baseline/first is " in capsys.readouterr().err
    root = ElementTree.parse(xml).getroot()
    [case] = root.iter("testcase")
    assert case.get("classname") == "eyechart"
    assert case.get("name") == "baseline/first against baseline/reader: accuracy"
    assert len(case.findall("failure")) == 1


def test_a_difference_within_the_margin_passes(runs: Path) -> None:
    reader, first = (str(runs / f"eyechart/baseline__{name}") for name in ("reader", "first"))
    assert exit_code(["compare", reader, first, "--fail-if-worse", "0.95"]) == 0


def test_junit_without_a_check_is_refused(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(["compare", str(runs), "--junit", str(tmp_path / "junit.xml")]) == 2
    assert "--fail-if-worse" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def started_at(runs: Path, times: dict[str, str]) -> None:
    """Set the time at which the run of each model started."""
    for model, time in times.items():
        [path] = runs.glob(f"eyechart/baseline__{model}/*/manifest.json")
        manifest = json.loads(path.read_text())
        manifest["sessions"][0]["started"] = time
        path.write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("older", "newer", "code"), [("reader", "first", 1), ("first", "reader", 0)]
)
def test_the_runs_of_a_folder_are_in_the_order_in_which_they_started(
    runs: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    older: str,
    newer: str,
    code: int,
) -> None:
    """`first` reads far worse than `reader`, and is the first name in the alphabet."""
    folder = shutil.copytree(runs, tmp_path / "runs")
    started_at(folder, {older: "2026-01-01T09:00:00.000Z", newer: "2026-01-01T10:00:00.000Z"})
    assert exit_code(["compare", str(folder), "--fail-if-worse", "0"]) == code
    out = capsys.readouterr().out
    assert f"eyechart: baseline/{newer} (b) against baseline/{older} (a)" in out
    assert f"in the order in which they started; the oldest is baseline/{older}" in out


def with_last(runs: Path, folder: Path) -> Path:
    """The runs in a folder of their own, with a third model: the best one is the oldest, and the
    two others are equal."""
    copied = shutil.copytree(runs, folder)
    words = ["run", "-b", "eyechart", "-m", "baseline/random", "--limit", "40"]
    assert exit_code([*words, "--out", str(copied)]) == 0
    times = {"reader": "2026-01-01", "first": "2026-01-03", "random": "2026-01-02"}
    started_at(copied, times)
    return copied


def test_each_side_is_checked_against_the_first_one_only(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, xml = with_last(runs, tmp_path / "runs"), tmp_path / "junit.xml"
    assert exit_code(["compare", str(folder), "--fail-if-worse", "0", "--junit", str(xml)]) == 1
    assert [case.get("name") for case in ElementTree.parse(xml).getroot().iter("testcase")] == [
        "baseline/random against baseline/reader: accuracy",
        "baseline/first against baseline/reader: accuracy",
    ]
    assert capsys.readouterr().err.count("worse by more than 0") == 2


def test_a_run_that_cannot_be_read_does_not_pass(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = with_last(runs, tmp_path / "runs")
    [manifest] = folder.glob("eyechart/baseline__reader/*/manifest.json")
    manifest.write_text("{")
    capsys.readouterr()
    assert exit_code(["compare", str(folder), "--fail-if-worse", "0.9"]) == 1
    assert f"{manifest.parent}: no comparison: it cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(("margin", "hint"), [("1", "write 0.01."), ("50", "write 0.5.")])
def test_a_margin_that_no_side_can_exceed_is_refused(
    runs: Path, capsys: pytest.CaptureFixture[str], margin: str, hint: str
) -> None:
    assert exit_code(["compare", str(runs), "--fail-if-worse", margin]) == 2
    out, err = capsys.readouterr()
    assert hint in err and "lies between 0 and 1" in err
    assert not out
