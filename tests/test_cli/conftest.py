"""A command line that is called here and now, and rows to call it with."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from snellen import cli, registry


@dataclass(frozen=True)
class CommandResult:
    """What a command gave: its exit code, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON document."""
        return json.loads(self.out)


Snellen = Callable[..., CommandResult]


@pytest.fixture
def snellen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Snellen:
    """`snellen("list", "--json")`, in a folder of its own without data and keys."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "home"))
    for variable in registry.keys_set():
        monkeypatch.delenv(variable, raising=False)

    def call(*args: str | Path) -> CommandResult:
        code = cli.exit_code([str(arg) for arg in args])
        out, err = capfd.readouterr()
        return CommandResult(code, out, err)

    return call


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Three questions with two choices; the first one is right in two of them."""
    return written(tmp_path / "mine.jsonl", "AAB")


def copied_rows(folder: Path, *benchmarks: str) -> Path:
    """A folder with the bundled rows of these benchmarks, as a user's own data."""
    bundled = Path(registry.__file__).parents[1] / "benchmarks" / "rows"
    for name in benchmarks:
        shutil.copytree(bundled / name, folder, dirs_exist_ok=True)
    return folder


def written(path: Path, answers: str) -> Path:
    lines = [
        {"id": f"q{number}", "question": f"Which {number}?", "A": "x", "B": "y", "answer": answer}
        for number, answer in enumerate(answers)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
