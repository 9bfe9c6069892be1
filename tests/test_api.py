"""Snellen from Python."""

import asyncio
import functools
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.analysis.result import Result
from snellen.api import Plan, run_async, run_plan
from snellen.core.model import Reply, Request
from snellen.core.profile import Profile
from snellen.core.sample import Sample
from snellen.data import Facts, Row
from snellen.errors import CatalogError, DataError, StoreError, UsageError, install
from snellen.media.content import Image
from snellen.media.drawing import Canvas
from snellen.models.scripted import Scripted
from snellen.registry import models
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
    assert snellen.__all__ == [
        "Profile", "SnellenError", "ask", "card", "compare", "evaluate", "load_run", "score"
    ]  # fmt: skip
    assert all(callable(getattr(snellen, name)) for name in snellen.__all__)


def test_importing_costs_no_other_package() -> None:
    heavy = "{'numpy', 'aiohttp', 'PIL', 'click'}"
    script = f"import sys, snellen; print(sorted({heavy} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


class Unread:
    """Rows that nobody may read."""

    where = "rows"
    revision: str | None = None

    def __iter__(self) -> Iterator[Row]:
        raise AssertionError("they were read")

    def facts(self) -> Facts:
        raise AssertionError("they were read")


def test_a_package_that_a_model_lacks_is_said_before_any_row_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(models, "EXTRAS", {"hf": ("hf", ("torch_that_is_nowhere",))})
    plan = Plan(benchmarks=[replace(benchmark(), data=Unread())], models=["hf/mine"], out=tmp_path)
    with pytest.raises(UsageError, match=re.escape(f"torch_that_is_nowhere: {install('hf')}")):
        run_plan(plan)


def test_only_what_changes_replies_makes_another_run() -> None:
    profile = Profile(extra={"dtype": "float16", "batch_size": 3}, trust_remote_code=True)
    assert profile.changes_answers(but=("batch_size",)) == {
        "extra": {"dtype": "float16"},
        "trust_remote_code": True,
    }


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

    with pytest.raises(KeyError, match=r"not broken down by tag 'subject'\. Tags: category"):
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

    with pytest.raises(UsageError, match=r"has not been scored\. Score it: `snellen score"):
        snellen.load_run(result.run)


def test_what_is_no_run_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a run folder"):
        snellen.load_run(tmp_path)


def test_a_misspelt_benchmark_is_met_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"no benchmark 'mathvison'\. Did you mean"):
        snellen.evaluate("mathvison", AlwaysA(), out=tmp_path)


def test_an_unknown_option_is_met_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no option 'spilt'\. Options: split, prompt"):
        snellen.evaluate("mathvision:spilt=test", AlwaysA(), out=tmp_path)


def test_a_value_that_an_option_does_not_take_is_met_with_those_it_does(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="split must be one of test, testmini, not 'dev'"):
        snellen.evaluate("mathvision:split=dev", AlwaysA(), out=tmp_path)


def test_another_toolkits_name_is_known() -> None:

    benchmark = registry.benchmark("MathVision_MINI")
    assert (benchmark.name, benchmark.provenance.options["split"]) == ("mathvision", "testmini")


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
    reply = snellen.ask(AlwaysA(), Image(Canvas(8, 8).png()), "Which?")

    assert reply.text == "A"


def test_a_limit_gives_a_partial_result_that_says_so(rows: Path, tmp_path: Path) -> None:
    result = snellen.evaluate(str(rows), AlwaysA(), out=tmp_path / "runs", limit=2)

    assert result.report.asked_of == 3
    assert "partial: 2 of 3" in result.report.notes


def test_bundled_rows_say_in_every_result_that_they_are_no_result(tmp_path: Path) -> None:
    result = snellen.evaluate("mathvision", AlwaysA(), data="synthetic", out=tmp_path)

    assert any("so the score is not a result" in note for note in result.report.notes)


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

    def late(row_index: int, row: Row) -> Sample:
        if next(first, False):
            run(tmp_path, Says(lambda request: "yes"), benchmark(sample=late))
        return sample_of(row_index, row)

    model = Says(lambda request: "yes")
    finished = run(tmp_path, model, benchmark(sample=late))

    assert model.requests == []
    assert len(Run(finished.run).manifest()["sessions"]) == 2


def test_wrong_rows_are_said_where_another_process_has_the_folder(tmp_path: Path) -> None:
    def wrong(row_index: int, row: Row) -> Sample:
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


def test_a_model_of_ours_that_has_no_revision_leaves_it_out(tmp_path: Path) -> None:
    result = snellen.evaluate(benchmark(), Scripted("yes"), out=tmp_path)

    assert result.report.identity["model_revision"] is None


def test_an_objects_revision_is_the_runs(tmp_path: Path) -> None:
    model = Says(lambda request: "yes")
    outcomes = []
    for step in ("step-1000", "step-2000", "step-1000"):
        model.revision = step  # type: ignore[attr-defined]
        result = snellen.evaluate(benchmark(), model, out=tmp_path)
        outcomes.append((result.report.identity["model_revision"], len(model.requests)))

    assert outcomes == [("step-1000", 10), ("step-2000", 20), ("step-1000", 20)]


def test_objects_of_one_name_but_other_source_are_two_runs(tmp_path: Path) -> None:
    class Yes:
        name = "z"

        def generate(self, messages: Any) -> str:
            return "yes"

    class No:
        name = "z"

        def generate(self, messages: Any) -> str:
            return "no"

    first, second = (snellen.evaluate(benchmark(), m, out=tmp_path) for m in (Yes(), No()))

    assert (first.headline.value, second.headline.value) == (1.0, 0.0)


def test_a_function_that_is_built_in_has_no_revision(tmp_path: Path) -> None:
    result = snellen.evaluate(benchmark(), [].count, out=tmp_path)

    assert result.report.identity["model_revision"] is None


def test_replies_that_are_kept_of_an_object_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    snellen.evaluate(benchmark(), Says(lambda request: "yes", "z"), out=tmp_path)
    assert capsys.readouterr().err == ""

    result = snellen.evaluate(benchmark(), Says(lambda request: "no", "z"), out=tmp_path)

    assert capsys.readouterr().err == (
        f"kept 10 replies of z from {result.run}; if the model has changed, give it a new "
        "`revision`\n"
    )


def test_replies_that_are_kept_of_a_named_model_are_not(
    rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        snellen.evaluate(str(rows), "baseline/first", out=tmp_path / "runs")

    assert capsys.readouterr().err == ""


def test_a_limit_below_what_a_run_has_already_is_met_with_a_note(
    rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = [
        snellen.evaluate(str(rows), "baseline/first", out=tmp_path / "runs", limit=limit)
        for limit in (None, 2)
    ]

    assert [result.report.n for result in results] == [3, 3]
    assert capsys.readouterr().err == (
        f"{results[0].report.benchmark} × baseline/first: the run already had 3 replies; the "
        "report covers all 3 questions asked so far, not just the 2 selected now\n"
    )


def test_a_profile_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "profile.toml"
    path.write_text('revision = "of-the-file"\n')
    results = [
        snellen.evaluate(benchmark(), Scripted("yes"), profile=profile, out=tmp_path)
        for profile in (path, str(path), snellen.Profile(revision="of-the-file"))
    ]

    revisions = [result.report.identity["model_revision"] for result in results]
    assert revisions == ["of-the-file"] * 3


# -- what is given


def says_yes(messages: Any) -> str:
    return "yes"


async def says_yes_later(messages: Any) -> str:
    return "yes"


class SaysYes:
    def generate(self, messages: Any) -> str:
        return "yes"


class RepliesYes:
    async def generate(self, r: Request) -> Reply:
        return Reply(text="yes" if r.messages else "no", stop="stop")


class CallsYes:
    def __call__(self, messages: Any) -> str:
        return "yes"


class SaysYesToMany:
    name = "many"

    def generate_batch(self, conversations: list[Any]) -> list[str]:
        return ["yes"] * len(conversations)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (says_yes, "says_yes"),
        (says_yes_later, "says_yes_later"),
        (functools.partial(says_yes), "says_yes"),
        (SaysYes(), "SaysYes"),
        (SaysYes().generate, "generate"),
        (SaysYes, "SaysYes"),
        (RepliesYes(), "RepliesYes"),
        (CallsYes(), "CallsYes"),
        (SaysYesToMany(), "many"),
    ],
)
def test_what_a_file_may_hold_may_be_given(tmp_path: Path, model: object, name: str) -> None:
    result = snellen.evaluate(benchmark(), model, out=tmp_path)

    assert (result.report.model, result.report.replies) == (name, {"ok": 10})
    assert result.headline.value == 1.0
    assert snellen.ask(model, "Is it?").text == "yes"


@pytest.mark.parametrize("kind", ["sync", "async", "protocol"])
def test_what_is_raised_fails_its_question_alone(tmp_path: Path, kind: str) -> None:
    def say(text: str) -> str:
        if text == "question 3":
            raise ValueError("not this one")
        return "yes"

    async def later(messages: Any) -> str:
        return say(messages[-1].text)

    models: dict[str, object] = {
        "sync": lambda messages: say(messages[-1].text),
        "async": later,
        "protocol": Says(lambda request: say(request.messages[-1].text)),
    }
    result = snellen.evaluate(benchmark(), models[kind], out=tmp_path)

    assert result.report.replies == {"failed": 1, "ok": 9}
    assert any("ValueError: not this one" in note for note in result.report.notes)


def test_a_sync_function_gets_as_many_threads_as_are_asked_for(tmp_path: Path) -> None:
    together = threading.Barrier(2)

    def meets(messages: Any) -> str:
        together.wait(10)
        return "yes"

    result = snellen.evaluate(benchmark(), meets, concurrency=2, out=tmp_path)

    assert result.report.replies == {"ok": 10}


@pytest.mark.parametrize("model", [3, None, object()])
def test_what_is_no_model_is_said_to_be_none(tmp_path: Path, model: object) -> None:
    with pytest.raises(
        UsageError, match=r"is not a model. A model is a function, or has a method `generate`"
    ):
        snellen.evaluate(benchmark(), model, out=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ({"concurrency": 0}, "concurrency must be a whole number of at least 1, or auto, not 0"),
        ({"concurrency": -2}, "concurrency must be a whole number of at least 1, or auto, not -2"),
        ({"limit": -1}, "limit must be a whole number of at least 1, not -1"),
        ({"limit": 0}, "limit must be a whole number of at least 1, not 0"),
        ({"limit": 2.5}, "limit must be a whole number of at least 1, not 2.5"),
        ({"limit": True}, "limit must be a whole number of at least 1, not True"),
        ({"sample": 0}, "sample must be a whole number of at least 1, not 0"),
        ({"repeats": 0}, "repeats must be a whole number of at least 1, not 0"),
        ({"repeats": None}, "repeats must be a whole number of at least 1, not None"),
        ({"max_tokens": 0}, "max_tokens must be a whole number of at least 1, not 0"),
        ({"temperature": -3}, "temperature must be a number of at least 0, or default, not -3"),
        (
            {"temperature": float("nan")},
            "temperature must be a number of at least 0, or default, not nan",
        ),
        ({"seed": "one"}, "seed must be a whole number, not 'one'"),
        ({"missing": "foo"}, "missing must be wrong or excluded, not 'foo'"),
        ({"profile": 3}, "profile must be a Profile or the path of a TOML file, not 3"),
        ({"benchmark": ["mine.jsonl"]}, r"one Benchmark, not \['mine.jsonl'\]"),
    ],
)
def test_an_argument_that_makes_no_sense_is_named_with_what_it_may_be(
    tmp_path: Path, override: dict[str, Any], message: str
) -> None:
    arguments = {"benchmark": benchmark(), "model": says_yes, "out": tmp_path, **override}
    with pytest.raises(UsageError, match=message):
        snellen.evaluate(**arguments)
    assert list(tmp_path.iterdir()) == []


def test_scoring_takes_no_other_word_for_what_is_missing_either(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="missing must be wrong or excluded, not 'foo'"):
        snellen.score(tmp_path, missing="foo")  # type: ignore[arg-type]


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
from snellen.core.model import Reply

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
    before, total, replies = json.loads(out.splitlines()[-1])
    assert 0 < before < 30
    assert "stopping: waiting for the replies in flight" in err
    assert (total, replies) == (30, {"ok": 30}), "nothing is asked twice"


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

    with pytest.raises(CatalogError, match=r"'tiny' was a Python object.*score\(run, benchmark\)"):
        snellen.score(finished.run)


@pytest.mark.parametrize(("field", "value"), [("name", "other"), ("asks", 2)])
def test_a_run_is_not_scored_as_one_of_other_questions(
    tmp_path: Path, field: str, value: Any
) -> None:
    finished = run(tmp_path, Says(lambda request: "yes"))

    with pytest.raises(UsageError, match=r"is a run of tiny \(asks 1\), not of"):
        snellen.score(finished.run, benchmark(**{field: value}))


def test_a_file_of_a_hundred_thousand_rows_is_scored_and_says_what_nobody_asked(
    tmp_path: Path,
) -> None:
    rows = tmp_path / "mine.jsonl"
    rows.write_text(
        "".join(
            f'{{"id": "{n}", "question": "Which?", "A": "x", "B": "y", "answer": "A"}}\n'
            for n in range(3)
        )
    )
    file = tmp_path / "said.jsonl"
    with file.open("w") as lines:
        lines.writelines(f'{{"id": "{n}", "reply": "A"}}\n' for n in range(100_000))
    report = snellen.score(file, str(rows)).report
    assert (report.n, report.scorings["default"].metrics["accuracy"].value) == (3, 1.0)
    assert any(note.startswith("99,997 replies of said.jsonl") for note in report.notes)


def test_a_run_may_have_as_many_open_files_as_the_system_allows() -> None:
    script = """
import os, resource
from snellen.registry import models
from snellen.run.lifecycle import run_async
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (32, most))
async def many():
    return len([os.dup(0) for _ in range(100)])
print(run_async(many()))
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout == "100\n"


def test_results_are_compared_as_their_runs_are(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first, other = (
        snellen.evaluate(str(rows), model=f"baseline/{n}") for n in ("first", "longest")
    )
    assert first.run is not None and other.run is not None

    comparisons = snellen.compare(first, other).comparisons

    assert comparisons == snellen.compare(first.run, str(other.run)).comparisons


def test_what_cannot_be_compared_is_said_in_words(rows: Path, tmp_path: Path) -> None:
    run = snellen.evaluate(str(rows), model="baseline/first", out=tmp_path)
    for other, message in (
        (3, "got a int as argument 2"),
        ([run], "got a list as argument 2"),
        (None, "got a NoneType as argument 2"),
        (Result(run.report), "the result of baseline/first on mine has no run folder"),
        (run, "was passed twice"),
    ):
        with pytest.raises(snellen.SnellenError, match=re.escape(message)):
            snellen.compare(run, other)  # type: ignore[arg-type]


def test_samples_are_records_with_the_question_the_reply_and_the_score(tmp_path: Path) -> None:
    result = snellen.evaluate("eyechart:n=10", "baseline/reader", out=tmp_path)
    records = result.samples()

    assert len(records) == 10
    first = records[0]
    assert (first["sample"], first["repeat"], first["scoring"]) == ("letters-0", 0, "official")
    assert first["question"] and first["reply_state"] == "ok" and first["tag.task"] == "letters"
    mean = sum(record["score"] for record in records) / 10
    assert mean == pytest.approx(result.headline.value)
    for record in records:
        assert (record["reply"].strip() == record["target"]) <= (record["score"] == 1.0)
    with pytest.raises(UsageError, match=r"no scoring 'robust'\. Scorings: official; or all"):
        result.samples("robust")
    with pytest.raises(UsageError, match=r"Unknown form 'excel'\. Forms: records, pandas, polars"):
        result.samples(form="excel")


def test_a_result_is_text_a_dictionary_and_html(tmp_path: Path) -> None:
    result = snellen.evaluate("eyechart:n=10", "baseline/reader", out=tmp_path)
    assert json.loads(result.json()) == result.asdict()
    html = result._repr_html_()
    assert "<th>metric</th>" in html and "<td>accuracy</td>" in html
    other = snellen.evaluate("eyechart:n=10", "baseline/first", out=tmp_path)
    compared = snellen.compare(result, other)
    assert json.loads(compared.json()) == compared.asdict()


def test_progress_is_shown_where_it_is_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    snellen.evaluate("eyechart:n=10", "baseline/reader", out=tmp_path / "a", show=True)
    assert "eyechart × baseline/reader  10/10" in capsys.readouterr().err
    snellen.evaluate("eyechart:n=10", "baseline/reader", out=tmp_path / "b")
    assert "10/10" not in capsys.readouterr().err
