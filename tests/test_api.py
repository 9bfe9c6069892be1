"""Snellen from Python."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

import snellen
from snellen.api import run_async
from snellen.content import Image
from snellen.errors import CatalogError, StoreError, UsageError
from snellen.model import Reply, Request

ROWS = [
    {"id": "a", "question": "One?", "A": "x", "B": "y", "answer": "A", "category": "odd"},
    {"id": "b", "question": "Two?", "A": "x", "B": "y", "answer": "B", "category": "even"},
    {"id": "c", "question": "Three?", "A": "x", "B": "y", "answer": "A", "category": "odd"},
]


class AlwaysA:
    name = "always-a"

    async def generate(self, request: Request) -> Reply:
        return Reply(text="A", stop="stop")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def test_what_is_promised_is_what_is_there() -> None:
    assert snellen.__all__ == ["ask", "evaluate", "load_run", "score"]
    assert all(callable(getattr(snellen, name)) for name in snellen.__all__)


def test_importing_costs_no_other_package() -> None:
    heavy = "{'numpy', 'aiohttp', 'PIL', 'click'}"
    script = f"import sys, snellen; print(sorted({heavy} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_model_of_ones_own_is_evaluated_on_ones_own_rows(rows: Path, tmp_path: Path) -> None:
    result = snellen.evaluate(str(rows), AlwaysA(), out=tmp_path / "runs")

    assert result.headline.value == pytest.approx(2 / 3)
    assert {name: metric.value for name, metric in result.by("category").items()} == {
        "even": 0.0,
        "odd": 1.0,
    }
    assert "66.67 %" in str(result)
    assert any("asked as --task mcq, guessed" in note for note in result.report.notes)


def test_a_tag_that_is_not_there_is_named_with_those_that_are(rows: Path, tmp_path: Path) -> None:
    result = snellen.evaluate(str(rows), AlwaysA(), out=tmp_path / "runs")

    with pytest.raises(KeyError, match="no tag 'subject'; there are category"):
        result.by("subject")


def test_a_run_is_scored_again_from_its_folder_alone(rows: Path, tmp_path: Path) -> None:
    first = snellen.evaluate(str(rows), AlwaysA(), out=tmp_path / "runs")
    assert first.run is not None
    (first.run / "report.json").unlink()
    (first.run / "scores.jsonl").unlink()
    rows.unlink()

    again = snellen.score(first.run)

    assert again.json() == first.json()
    assert snellen.load_run(first.run).json() == first.json()


def test_a_run_that_was_not_scored_says_how_to(rows: Path, tmp_path: Path) -> None:
    result = snellen.evaluate(str(rows), AlwaysA(), out=tmp_path / "runs")
    assert result.run is not None
    (result.run / "report.json").unlink()

    with pytest.raises(UsageError, match="has not been scored: `snellen score"):
        snellen.load_run(result.run)


def test_what_is_no_run_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is no run folder"):
        snellen.load_run(tmp_path)


def test_a_misspelt_benchmark_is_met_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="no benchmark 'mathvison'; did you mean"):
        snellen.evaluate("mathvison", AlwaysA(), out=tmp_path)


def test_an_unknown_option_is_met_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="mathvision has no option 'spilt'; it has split, prompt"):
        snellen.evaluate("mathvision:spilt=test", AlwaysA(), out=tmp_path)


def test_a_value_that_an_option_does_not_take_is_met_with_those_it_does(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="mathvision:split is one of test, testmini, not 'dev'"):
        snellen.evaluate("mathvision:split=dev", AlwaysA(), out=tmp_path)


def test_another_toolkits_name_is_known() -> None:
    from snellen import catalog

    benchmark = catalog.benchmark("MathVision_MINI")
    assert (benchmark.name, benchmark.options["split"]) == ("mathvision", "testmini")


def test_evaluating_works_where_an_event_loop_runs_already(rows: Path, tmp_path: Path) -> None:
    async def notebook() -> float | None:
        return snellen.evaluate(str(rows), AlwaysA(), out=tmp_path / "runs").headline.value

    assert asyncio.run(notebook()) == pytest.approx(2 / 3)


def test_an_error_in_a_running_loop_reaches_the_caller() -> None:
    async def fails() -> None:
        raise ZeroDivisionError("a bug")

    async def notebook() -> None:
        run_async(fails())

    with pytest.raises(ZeroDivisionError):
        asyncio.run(notebook())


def test_one_question_can_be_asked_without_a_run() -> None:
    reply = snellen.ask(AlwaysA(), Image(b"not looked at"), "Which?")

    assert reply.text == "A"


def test_a_limit_gives_a_partial_result_that_says_so(rows: Path, tmp_path: Path) -> None:
    result = snellen.evaluate(str(rows), AlwaysA(), out=tmp_path / "runs", limit=2)

    assert result.report.asked_of == 3
    assert "partial: 2 of 3" in result.report.notes


def test_bundled_rows_say_in_every_result_that_they_are_no_result(tmp_path: Path) -> None:
    result = snellen.evaluate("mathvision", AlwaysA(), data="synthetic", out=tmp_path)

    assert any("this is no result" in note for note in result.report.notes)
