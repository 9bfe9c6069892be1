"""Records of Every Eval Ever pass its own validator, which needs Python 3.12."""

from collections.abc import Callable
from pathlib import Path

import pytest
from every_eval_ever.validator.validation_core import validate_file

from snellen.report.export import export
from tests.exchanged import choice_run, conversation_run


def repeated(folder: Path) -> Path:
    return choice_run(folder, repeats=3)


@pytest.mark.parametrize("run_of", [choice_run, repeated, conversation_run])
def test_aggregate_and_lines_are_valid(tmp_path: Path, run_of: Callable[[Path], Path]) -> None:
    path, _ = export(run_of(tmp_path), "every-eval-ever", tmp_path)

    for file in (path, path.with_name(f"{path.stem}_samples.jsonl")):
        report = validate_file(file)
        assert report.valid, report.errors
        assert report.warnings == []
