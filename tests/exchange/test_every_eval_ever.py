"""Records of Every Eval Ever pass its own validator and its published JSON schemas.

The package's metadata name Python 3.12, but its validator also runs on 3.11.
"""

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest

from snellen.report.export import export
from tests.exchanged import choice_run, conversation_run, lines_of

pytestmark = pytest.mark.exchange


def repeated(folder: Path) -> Path:
    return choice_run(folder, repeats=3)


@pytest.fixture(params=[choice_run, repeated, conversation_run])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """The aggregate, and the file of lines."""
    run_of: Callable[[Path], Path] = request.param
    path, _ = export(run_of(tmp_path), "every-eval-ever", tmp_path)
    return path, path.with_name(f"{path.stem}_samples.jsonl")


def test_its_validator_accepts_the_aggregate_and_the_lines(files: tuple[Path, Path]) -> None:
    from every_eval_ever.validator.validation_core import validate_file

    for file in files:
        report = validate_file(file)
        assert report.valid, report.errors
        assert report.warnings == []


def test_the_aggregate_and_the_lines_match_its_schemas(files: tuple[Path, Path]) -> None:
    import jsonschema

    aggregate, lines = files
    documents = [("eval", json.loads(aggregate.read_bytes()))]
    documents += [("instance_level_eval", line) for line in lines_of(lines)]

    assert len(documents) > 1
    for name, document in documents:
        schema = resources.files("every_eval_ever") / "schemas" / f"{name}.schema.json"
        jsonschema.validate(document, json.loads(schema.read_text()))


def test_its_validator_refuses_a_line_without_a_score(files: tuple[Path, Path]) -> None:
    from every_eval_ever.validator.validation_core import validate_file

    line = lines_of(files[1])[0]
    del line["evaluation"]["score"]
    files[1].write_text(json.dumps(line) + "\n")

    assert not validate_file(files[1]).valid
