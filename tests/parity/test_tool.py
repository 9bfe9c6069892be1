"""scripts/parity.py --golden on a small folder with models that no test knows."""

import gzip
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.golden_data import golden
from tests.parity.engine import of_json, of_json_lines
from tests.parity.test_page import ROOT, script

PICKED = 60
"""Rows of the visible model that the invented one has."""
CHANGED = 12
"""Rows of these whose replies and verdicts are others."""


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


class Invented:
    """A pack of MATH-Vision with one invented model: another one's file under another name, some
    of its replies replaced by the right answer and some by nonsense."""

    def __init__(self, folder: Path) -> None:
        source = golden("mathvision")
        self.folder = folder
        self.pack = folder / "mathvision"
        self.pack.mkdir(parents=True)
        annotations = (source / "annotations.jsonl").read_bytes()
        (self.pack / "annotations.jsonl").write_bytes(annotations)
        answers = {row["id"]: row["answer"] for row in of_json_lines(source / "annotations.jsonl")}
        rows = of_json_lines(source / "outputs" / "Random-Chance.jsonl")[:PICKED]
        verdicts: Mapping[str, Any] = of_json(source / "expected_items.json.gz")["Random-Chance"]
        self.items = {row["id"]: list(verdicts[row["id"]]) for row in rows}
        for number, row in enumerate(rows[:CHANGED]):
            right = number % 2 == 0
            row["response"] = f"\\boxed{{{answers[row['id']]}}}" if right else "no idea at all"
            self.items[row["id"]] = [answers[row["id"]].lower(), 1] if right else ["noideaatall", 0]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        path = self.pack / "outputs" / "some-lab" / "Invented-9B.jsonl.gz"
        path.parent.mkdir(parents=True)
        path.write_bytes(gzip.compress(text.encode()))
        self.right = sum(right for _, right in self.items.values())

    def write(self, *, correct: int | None = None) -> Path:
        """Write what is expected; `correct` is another number of right answers than there are."""
        right = self.right if correct is None else correct
        part = {"correct": right, "total": PICKED, "percent": 100 * right / PICKED}
        entry = {"file": "some-lab/Invented-9B.jsonl", "scores": {"-all": part}, "published": {}}
        absent: dict[str, Any] = {"file": None, "published": {}}
        write(self.pack / "expected.json", {"Invented-9B": entry, "Absent-1B": absent})
        raw = json.dumps({"Invented-9B": self.items}).encode()
        (self.pack / "expected_items.json.gz").write_bytes(gzip.compress(raw))
        return self.folder


@pytest.fixture
def invented(tmp_path: Path) -> Invented:
    return Invented(tmp_path / "golden")


def compare(folder: Path, *packs: str) -> int:
    status: int = script().compare(folder, packs)
    return status


def test_a_model_that_nobody_listed_is_scored_and_compared(
    invented: Invented, capsys: pytest.CaptureFixture[str]
) -> None:
    status = compare(invented.write())

    printed = capsys.readouterr().out
    assert status == 0, printed
    assert "  Invented-9B: mathvision: figures 1 of 1, official items 60 of 60, " in printed
    assert "  Absent-1B: no output here" in printed
    assert "1 packs: 1 of 1 figures and 60 of 60 items and rows are equal" in printed


def test_a_wrong_figure_is_named_and_the_exit_status_is_1(
    invented: Invented, capsys: pytest.CaptureFixture[str]
) -> None:
    status = compare(invented.write(correct=invented.right + 3))

    printed = capsys.readouterr().out
    assert status == 1
    assert "figures 0 of 1, official items 60 of 60, largest difference 0.05" in printed
    theirs, ours = (invented.right + 3) / PICKED, invented.right / PICKED
    assert f"official accuracy: {theirs:.10g} by the authors, {ours:.10g} here" in printed


def test_a_wrong_item_is_named_and_the_exit_status_is_1(
    invented: Invented, capsys: pytest.CaptureFixture[str]
) -> None:
    name = next(iter(invented.items))
    answer, score = invented.items[name]
    invented.items[name] = [answer, 1 - score]
    status = compare(invented.write())

    printed = capsys.readouterr().out
    assert status == 1
    assert "figures 1 of 1, official items 59 of 60" in printed
    assert f"official item {name}: {1 - score} {answer!r} by the authors" in printed


def test_an_output_without_figures_is_scored_and_is_no_difference(
    invented: Invented, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = invented.write()
    write(invented.pack / "expected.json", {})
    status = compare(folder)

    printed = capsys.readouterr().out
    assert status == 0
    value = f"{invented.right / PICKED:.6g}"
    assert (
        f"Invented-9B: no figure to compare with; here mathvision official accuracy {value} (n 60)"
        in printed
    )


def test_a_file_that_cannot_be_scored_is_a_difference(
    invented: Invented, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = invented.write()
    path = next((invented.pack / "outputs").rglob("*.jsonl.gz"))
    path.write_bytes(gzip.compress(b"not a row\n"))
    status = compare(folder)

    assert status == 1
    assert "figures 0 of 1, official items 0 of 60" in (out := capsys.readouterr().out)
    assert "cannot be scored:" in out


def test_rows_of_made_replies_are_taken_from_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"id": 7, "prediction": "21", "answer": "20", "pix2struct_relaxed": True},
        {"id": 9, "prediction": " cat", "answer": "Cat", "pix2struct_relaxed": False},
        {"id": 11, "prediction": "30%", "answer": "0.3", "pix2struct_relaxed": True},
    ]
    stripped = [True, True, True]
    path = tmp_path / "golden" / "chartqa" / "differential.jsonl"
    path.parent.mkdir(parents=True)
    lines = (
        json.dumps({**row, "vlmevalkit_relaxed": relaxed})
        for row, relaxed in zip(rows, stripped, strict=True)
    )
    path.write_text("\n".join(lines))

    assert compare(tmp_path / "golden") == 0
    assert (
        "chartqa: figures 2 of 2, official rows 3 of 3, vlmevalkit rows 3 of 3"
        in capsys.readouterr().out
    )


def test_a_pack_without_a_benchmark_is_listed_and_what_is_no_pack_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "of-tomorrow" / "expected.json", {"a": {"acc": 0.5}})
    (tmp_path / "notes").mkdir()

    assert compare(tmp_path) == 0
    assert capsys.readouterr().out == (
        "of-tomorrow: no benchmark yet\n"
        "0 packs: 0 of 0 figures and 0 of 0 items and rows are equal\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--golden", "no-such-folder"], "no-such-folder is not a folder."),
        (["--golden", ".", "no-such-pack"], "has no pack 'no-such-pack'."),
        (["mathvision"], "Name the folder of the packs: --golden DIR."),
        (["--golden", ".", "--check"], "leave it out with --golden."),
    ],
)
def test_wrong_usage_exits_with_2_and_says_what_is_wrong(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    command = [sys.executable, str(ROOT / "scripts/parity.py"), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 2
    assert message in ended.stderr


def test_the_command_exits_with_1_on_a_difference(invented: Invented) -> None:
    folder = invented.write(correct=0 if invented.right else 1)
    command = [sys.executable, str(ROOT / "scripts/parity.py"), "--golden", str(folder)]
    ended = subprocess.run([*command, "mathvision"], capture_output=True, text=True)
    assert ended.returncode == 1, ended.stderr
    assert "official accuracy:" in ended.stdout
