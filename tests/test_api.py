"""Snellen from Python."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.api import Plan, run_async
from snellen.content import Image
from snellen.datasets import Row
from snellen.drawing import Canvas
from snellen.errors import CatalogError, DataError, StoreError, UsageError
from snellen.model import Reply, Request
from snellen.models._profile import Profile
from snellen.sample import Sample
from snellen.store import Run
from tests.tiny import Says, benchmark, run, sample_of

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


# -- going on


def test_a_picture_that_was_missing_is_put_there_and_the_same_call_goes_on(tmp_path: Path) -> None:
    row = {"id": "1", "image": "a.png", "question": "?", "A": "x", "B": "y", "answer": "A"}
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(row) + "\n")

    first = snellen.evaluate(str(path), AlwaysA(), out=tmp_path / "runs")
    (tmp_path / "a.png").write_bytes(Canvas(8, 8).png())
    second = snellen.evaluate(str(path), AlwaysA(), out=tmp_path / "runs")

    assert first.report.replies == {"failed": 1}
    assert second.report.replies == {"ok": 1}
    assert second.run == first.run


def test_a_run_that_another_process_had_meanwhile_goes_on_from_there(tmp_path: Path) -> None:
    """The other one asks and ends while this one reads its rows, before it has the lock."""
    first = iter([True])

    def late(place: int, row: Row) -> Sample:
        if next(first, False):
            run(tmp_path, Says(lambda request: "yes"))
        return sample_of(place, row)

    model = Says(lambda request: "yes")
    finished = run(tmp_path, model, benchmark(sample=late))

    assert model.requests == []
    assert len(Run(finished.run).manifest()["sessions"]) == 2


def test_wrong_rows_are_said_where_another_process_has_the_folder(tmp_path: Path) -> None:
    def wrong(place: int, row: Row) -> Sample:
        for folder in tmp_path.glob("tiny/says/*"):
            (folder / "lock").touch()
        raise KeyError("q")

    with pytest.raises(DataError, match="no field 'q'"):
        run(tmp_path, Says(lambda request: "yes"), benchmark(sample=wrong))


def test_replies_of_other_weights_are_another_run(tmp_path: Path) -> None:
    model = Says(lambda request: "yes")

    for step in ("step-1000", "step-2000", "step-1000"):
        snellen.evaluate(benchmark(), model, profile=Profile(revision=step), out=tmp_path)

    assert len(model.requests) == 20


def test_without_a_revision_the_identity_has_none(tmp_path: Path) -> None:
    result = snellen.evaluate(benchmark(), Says(lambda request: "yes"), out=tmp_path)

    assert result.report.identity["model_revision"] is None


def test_a_profile_says_how_many_requests_an_object_gets_at_once(tmp_path: Path) -> None:
    model = Says(lambda request: "yes")

    snellen.evaluate(benchmark(), model, profile=Profile(concurrency=2), out=tmp_path)

    assert model.most == 2


def test_a_plans_concurrency_goes_before_a_profiles() -> None:
    profile = Profile(concurrency=64)

    assert Plan(benchmarks=[], models=[], profile=profile).profile_of("m") == profile
    plan = Plan(benchmarks=[], models=[], profile=profile, concurrency=3)
    assert plan.profile_of("m") == Profile(concurrency=3)


NOTEBOOK = """
import asyncio
import json

import snellen
from snellen.model import Reply

class Slow:
    name = "slow"
    seconds = 0.2
    asked = 0

    async def generate(self, request):
        self.asked += 1
        await asyncio.sleep(self.seconds)
        return Reply(text="A", stop="stop")

def show(progress):
    print(progress[0].done, flush=True)

async def cell():
    model = Slow()
    try:
        snellen.evaluate("mine.jsonl", model, concurrency=2, show=show)
    except KeyboardInterrupt:
        before = model.asked
    model.seconds = 0
    result = snellen.evaluate("mine.jsonl", model)
    print(json.dumps([before, model.asked, result.report.replies]))

# As in a notebook's kernel: asyncio.run has a way of its own with the first Ctrl-C.
loop = asyncio.new_event_loop()
loop.run_until_complete(cell())
loop.close()
"""


def test_a_run_in_a_notebook_is_interrupted_keeps_what_came_and_goes_on(tmp_path: Path) -> None:
    line = json.dumps({"question": "?", "A": "x", "B": "y", "answer": "A"}) + "\n"
    (tmp_path / "mine.jsonl").write_text(line * 30)
    with subprocess.Popen(
        [sys.executable, "-c", NOTEBOOK],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        assert any(int(done) for done in running.stdout), "there are replies"
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)

    assert running.returncode == 0, err
    before, asked, replies = json.loads(out.splitlines()[-1])
    assert 0 < before < 30
    assert "stopping: waiting for the replies under way" in err
    assert (asked, replies) == (30, {"ok": 30}), "nothing is asked twice"


# -- scoring again


def test_scoring_again_leaves_no_file_open(rows: Path, tmp_path: Path) -> None:
    result = snellen.evaluate(str(rows), AlwaysA(), out=tmp_path / "runs")
    assert result.run is not None
    before = len(os.listdir("/proc/self/fd"))

    for _ in range(3):
        snellen.score(result.run)

    assert len(os.listdir("/proc/self/fd")) == before


def test_a_run_of_a_benchmark_of_ones_own_is_scored_again_with_it(tmp_path: Path) -> None:
    finished = run(tmp_path, Says(lambda request: "yes"))
    assert finished.result is not None

    assert snellen.score(finished.run, benchmark()).json() == finished.result.json()


def test_without_it_one_is_told_to_give_it(tmp_path: Path) -> None:
    finished = run(tmp_path, Says(lambda request: "yes"))

    with pytest.raises(CatalogError, match=r"no benchmark 'tiny'.* score\(run, benchmark\)"):
        snellen.score(finished.run)


@pytest.mark.parametrize(("field", "value"), [("name", "other"), ("asks", 2)])
def test_a_run_is_not_scored_as_one_of_other_questions(
    tmp_path: Path, field: str, value: Any
) -> None:
    finished = run(tmp_path, Says(lambda request: "yes"))

    with pytest.raises(UsageError, match=r"is a run of tiny \(asks 1\), not of"):
        snellen.score(finished.run, benchmark(**{field: value}))
