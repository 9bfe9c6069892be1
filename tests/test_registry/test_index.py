"""What is listed is read once, and again when a file changes."""

import json
import os
from pathlib import Path

import pytest

from snellen import registry
from snellen.registry.outlines import outlines


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def write(path: Path, text: str, modified: int) -> Path:
    path.write_text(text)
    os.utime(path, ns=(modified, modified))
    return path


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "bench.py", '"""One."""\nALIASES = {"A": {"n": 1}}\n', 10**18)
    [(_, first)] = outlines([path])
    write(path, '"""Two."""\ndef bench() -> "Benchmark": ...\n', 2 * 10**18)
    [(_, second)] = outlines([path])

    assert (first.docstring, first.constants) == ("One.", {"ALIASES": {"A": {"n": 1}}})
    assert (second.docstring, second.constants) == ("Two.", {})
    assert [*second.definitions] == ["bench"]


def test_the_index_lies_in_the_cache_folder_and_a_broken_one_is_made_anew(
    tmp_path: Path, home: Path
) -> None:
    path = write(tmp_path / "a.py", '"""A."""\n', 10**18)
    home.mkdir()
    (home / "outlines.json").write_text("{broken")
    assert [outline.docstring for _, outline in outlines([path])] == ["A."]
    stored = json.loads((home / "outlines.json").read_text())
    assert stored["files"][str(path)]["outline"]["docstring"] == "A."


def test_a_cache_folder_that_cannot_be_written_is_no_error(tmp_path: Path, home: Path) -> None:
    home.write_text("a file is in its place")
    path = write(tmp_path / "a.py", '"""A."""\n', 10**18)
    assert [outline.docstring for _, outline in outlines([path])] == ["A."]


@pytest.mark.parametrize("text", ["def broken(:", "x = '\\ud800'\n", ""])
def test_a_file_that_cannot_be_read_has_an_empty_outline(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "a.py", text, 10**18)
    [(_, outline)] = outlines([path, tmp_path / "gone.py"])
    assert (outline.docstring, outline.definitions) == ("", {})


def test_entries_say_what_can_be_known_without_importing() -> None:
    entries = {entry.name: entry for entry in registry.entries()}
    assert entries["pope"].title.startswith("POPE: ")
    assert entries["pope"].reads_data
    assert entries["pope"].bundled == registry.ROWS / "pope"
    assert not entries["eyechart"].reads_data
    assert entries["eyechart"].bundled is None
    assert entries["a-okvqa"].file() == registry.FOLDER / "a_okvqa.py"
