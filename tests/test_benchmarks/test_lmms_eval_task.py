"""`lmms-eval:TASK`: the task's own code asks and scores, and no failure becomes a score."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.analysis.result import Result
from snellen.api import Plan, load_benchmarks, run_plan
from snellen.benchmarks.families.stored_messages import messages_of
from snellen.core.model import Reply, Request
from snellen.errors import UsageError
from snellen.media.content import Image, Message, Video
from snellen.store import ReplyRecord, Run
from tests import lmms_eval_standin
from tests.lmms_eval_standin import N
from tests.servers import Answer, ReceivedRequest, completion, serving, status
from tests.test_cli.conftest import Snellen
from tests.test_cli.conftest import snellen as snellen_fixture
from tests.tiny import QUICK, Says
from tests.viewers import viewing

command_line = pytest.fixture(snellen_fixture.__wrapped__)  # type: ignore[attr-defined]
MARK = "scored by lmms-eval's own code, unproven"
RIGHT = ["red", "blue"] * (N // 2)


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "packages"
    with lmms_eval_standin.installed(folder):
        yield folder


def says(replies: list[str]) -> Says:
    def say(request: Request) -> Reply:
        return Reply(text=replies[number_of(request.messages[-1].text)], stop="stop")

    return Says(say)


def number_of(text: str) -> int:
    return int(re.findall(r"\[(\d+)\]", text)[0])


def done(replies: list[str], **options: Any) -> Result:
    return snellen.evaluate(
        "lmms-eval:colors", says(replies), run_toolkit_code=True, out=Path("runs"), **options
    )


def values(result: Result) -> dict[str, float | None]:
    metrics = result.report.scorings["lmms-eval"].metrics
    return {name: metric.value for name, metric in metrics.items()}


def processed() -> list[str]:
    return Path("processed.txt").read_text().splitlines()


def lines_of(result: Result, name: str) -> list[dict[str, Any]]:
    assert result.run is not None
    return [json.loads(line) for line in (result.run / name).read_text().splitlines()]


def test_the_code_runs_only_if_the_user_allows_it() -> None:
    with pytest.raises(UsageError, match=r"lmms-eval:colors runs the code .* --run-toolkit-code"):
        registry.benchmark("lmms-eval:colors")
    assert "lmms_eval" not in sys.modules


def test_questions_and_limits_are_the_tasks() -> None:
    with registry.toolkit_code():
        benchmark = registry.benchmark("lmms-eval:colors")
    sample = benchmark.read([*benchmark.data][1])
    request = benchmark.request(sample)

    assert (benchmark.name, benchmark.data.facts().rows) == ("lmms-eval-colors", N)
    assert (sample.id, sample.question, sample.target) == ("1", "[1] Which color?", "blue")
    assert request is not None and request.generation.max_tokens == 16
    [message] = request.messages
    picture, text = message.content
    assert text == "[1] Which color?"
    assert sample.media[0].size == (8, 6) and picture is not text


def test_figures_are_those_of_the_tasks_aggregations() -> None:
    result = done(["red", "blue", "red", "red", "blue", "blue"])

    # Four of six are right, and both questions of one pair of three.
    assert values(result) == {
        "acc": 4 / 6,
        "pairs": 1 / 3,
        "points": 4.0,
        "by_color": None,
        "by_color|blue": 2.0,
        "by_color|red": 2.0,
    }
    assert [line["score"] for line in lines_of(result, "scores.jsonl")] == [1, 1, 1, 0, 0, 1]
    assert MARK in result.report.notes


def test_an_aggregation_that_adds_to_a_global_counts_each_run_by_itself() -> None:
    assert values(done(RIGHT))["points"] == 6.0
    assert values(done(["red"] * N, temperature=0.5))["points"] == 3.0


def test_a_drawn_answer_counts_as_guessed_and_is_that_of_lmms_evals_seed() -> None:
    result = done(["guess", "blue", "guess", "guess", "red", "blue"])

    draws = random.Random(0)
    drawn = [draws.choice(["red", "blue"]) for _ in range(3)]
    hits = [drawn[0] == "red", True, drawn[1] == "red", drawn[2] == "blue", True, True]
    assert values(result)["acc"] == sum(hits) / N
    assert result.report.scorings["lmms-eval"].readings == {"answered": 3, "guessed": 3}
    assert any("3 replies, the task's code drew a random number" in n for n in result.report.notes)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("boom", "ValueError: no such color"),
        ("no judge", "All 5 attempts failed"),
        ("no review", "Failed to Get a Proper Review."),
    ],
)
def test_a_reply_that_the_code_cannot_score_has_no_score(reply: str, reason: str) -> None:
    result = done([*RIGHT[:-1], reply])

    metrics = result.report.scorings["lmms-eval"].metrics
    assert (metrics["acc"].value, metrics["acc"].n) == (1.0, N - 1)
    assert metrics["pairs"].value is None
    assert "1 replies are missing or have no score" in str(metrics["pairs"].reason)
    assert result.report.scorings["lmms-eval"].readings["unparsed"] == 1
    assert any("1 replies could not be scored" in n and reason in n for n in result.report.notes)


def test_an_empty_reply_is_scored_as_the_task_scores_it() -> None:
    assert values(done([*RIGHT[:-1], ""]))["acc"] == 5 / 6


def test_thoughts_are_removed_as_by_lmms_evals_command_line() -> None:
    assert values(done([f"<think>red? blue?</think>{text}" for text in RIGHT]))["acc"] == 1.0


def test_repeats_are_scored_one_after_the_other() -> None:
    result = done(RIGHT, repeats=2, temperature=1.0)
    assert values(result)["pairs"] == 1.0
    assert result.report.scorings["lmms-eval"].metrics["pairs"].n == 2 * N


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("just text", ["just text"]),
        (
            [
                {"type": "text", "text": "before"},
                {"type": "video", "url": {"url": "a.mp4", "video_start": 1, "video_end": 2.5}},
                {"type": "video", "url": "b.mp4"},
                {"type": "image", "url": "c.png"},
                {"type": "text", "text": "d.png"},
            ],
            [
                "before",
                Video(Path("a.mp4"), 1.0, 2.5),
                Video(Path("b.mp4"), label="b.mp4"),
                Image(Path("c.png"), label="c.png"),
                "d.png",
            ],
        ),
    ],
)
def test_messages_keep_the_order_and_the_kinds_of_their_parts(
    content: object, parts: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    [message] = messages(content, monkeypatch)
    assert [*message.content] == parts


def test_a_kind_that_models_do_not_get_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    content = [{"type": "audio", "url": "a.wav"}]
    with pytest.raises(UsageError, match=r"row 1 of lmms-eval:colors.* has the type 'audio'"):
        messages(content, monkeypatch)


def messages(content: object, monkeypatch: pytest.MonkeyPatch) -> tuple[Message, ...]:
    """The messages of the first question, if the task returns this content."""
    tasks = import_module("lmms_eval.tasks")
    turns = [{"role": "user", "content": content}]
    monkeypatch.setattr(tasks.Colors, "doc_to_messages", lambda self, doc: turns)
    with registry.toolkit_code():
        benchmark = registry.benchmark("lmms-eval:colors")
    return messages_of(benchmark.sample(0, next(iter(benchmark.data))))


# -- failures, on a real server


def answer(request: ReceivedRequest) -> Answer:
    *_, text = request.json["messages"][-1]["content"]
    return completion(RIGHT[number_of(text["text"])])


def failing(request: ReceivedRequest) -> Answer:
    return status(500) if b"[3]" in request.body else answer(request)


def ask(url: str) -> Result:
    plan = Plan(
        benchmarks=load_benchmarks(["lmms-eval:colors"], run_toolkit_code=True),
        models=["openai/m"],
        base_url=url,
        out=Path("runs"),
        retry=QUICK,
    )
    result = run_plan(plan)[0].result
    assert result is not None
    return result


def test_a_failed_request_is_not_passed_to_the_code_and_refuses_what_may_need_it() -> None:
    with serving(failing) as server:
        result = ask(server.url)
    metrics = result.report.scorings["lmms-eval"].metrics

    assert result.report.replies == {"ok": N - 1, "failed": 1}
    assert (metrics["acc"].value, metrics["acc"].n) == (1.0, N - 1)
    assert metrics["acc"].bounds == pytest.approx((5 / 6, 1.0))
    assert (metrics["pairs"].value, metrics["pairs"].bounds) == (None, None)
    assert "1 replies are missing" in str(metrics["pairs"].reason)
    assert sorted(processed()) == [f"{number} {RIGHT[number]}" for number in (0, 1, 2, 4, 5)]

    with serving(answer) as server:  # the same command asks only the failed question
        result = ask(server.url)
        assert len(server.requests) == 1
    assert values(result)["pairs"] == 1.0


def with_package(package: Path) -> str:
    """The value of PYTHONPATH with which other processes import the package, too."""
    return os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])


def test_a_killed_run_goes_on_and_gives_the_same_figures(package: Path) -> None:
    def slow(request: ReceivedRequest) -> Answer:
        return replace(answer(request), delay=0.05)

    words = [sys.executable, "-m", "snellen", "run", "-b", "lmms-eval:colors", "-m", "openai/m"]
    words += ["--run-toolkit-code", "--concurrency", "1", "--out", "runs", "--json"]
    with serving(slow) as server:
        command = [*words, "--base-url", server.url]
        environment = {**os.environ, "PYTHONPATH": with_package(package)}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        while len(server.requests) < 3 and process.poll() is None:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        again = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert again.returncode == 0, again.stderr.decode()
    metrics = json.loads(again.stdout)["scorings"]["lmms-eval"]["metrics"]
    assert (metrics["acc"]["value"], metrics["pairs"]["value"]) == (1.0, 1.0)
    [folder] = Path("runs").glob("*/*/*")
    finals = Counter(r.key for r in Run(folder).replies() if isinstance(r, ReplyRecord))
    assert (len(finals), set(finals.values())) == (N, {1})


# -- the command line


def test_a_run_is_scored_and_shown_again_with_the_same_option(command_line: Snellen) -> None:
    done(RIGHT)
    [folder] = Path("runs").glob("*/*/*")

    refused = command_line("score", folder)
    scored = command_line("score", folder, "--run-toolkit-code", "--json")

    assert refused.code == 2 and "--run-toolkit-code" in refused.err
    assert scored.json["scorings"]["lmms-eval"]["metrics"]["pairs"]["value"] == 1.0
    assert not [note for note in scored.json["notes"] if "as it is now" in note]
    shown = command_line("report", folder)
    assert MARK in " ".join(shown.out.split())
    exported = command_line("export", folder, "--to", "lmms-eval", "--run-toolkit-code")
    assert exported.code == 0, exported.err
    page = command_line("report", folder, "-o", "page.html")
    assert page.code == 0 and "own code, unproven" in Path("page.html").read_text()


def test_the_viewer_shows_the_pictures_only_if_the_benchmark_is_named(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", with_package(package))
    done(RIGHT)
    [folder] = Path("runs").glob("*/*/*")
    page = f"/media/{folder.relative_to('runs')}?s=1&n=0"

    with viewing(Path("runs")) as viewer:
        refused = viewer.get(page)
    options = ("-b", "lmms-eval:colors", "--run-toolkit-code")
    with viewing(Path("runs"), options=options) as viewer:
        shown = viewer.get(page)

    assert refused.status == 404 and "--run-toolkit-code" in refused.text
    assert shown.status == 200 and shown.body.startswith(b"\x89PNG")


def test_a_run_that_other_code_scores_says_so(command_line: Snellen, package: Path) -> None:
    done(RIGHT)
    [folder] = Path("runs").glob("*/*/*")
    tasks = package / "lmms_eval" / "tasks" / "__init__.py"
    tasks.write_text(tasks.read_text().replace('"acc": score', '"acc": 1 - score'))
    lmms_eval_standin.forget()

    scored = command_line("score", folder, "--run-toolkit-code", "--json")

    assert scored.json["scorings"]["lmms-eval"]["metrics"]["acc"]["value"] == 0.0
    assert [note for note in scored.json["notes"] if "lmms-eval's code as it is now" in note]


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("color", "no task 'color'. Did you mean colors"),
        ("all_colors", r"a tag of several tasks \(colors, ranked\). Name a single task"),
        ("ranked", "has the output type multiple_choice"),
        ("many", "scores 64 replies to each question together"),
        ("broken", "ConnectionError: the data are not in the cache"),
        ("mine.yaml", "there is no file"),
        ("colors:split=test", "has no option 'split'"),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_reason(task: str, message: str) -> None:
    with registry.toolkit_code(), pytest.raises(UsageError, match=message):
        registry.benchmark(f"lmms-eval:{task}")


def test_examples_are_the_tasks_business(command_line: Snellen) -> None:
    words = ("run", "-b", "lmms-eval:colors", "-m", "baseline/first", "--run-toolkit-code")
    refused = command_line(*words, "--shots", "2")
    assert refused.code == 2 and "Leave out --shots" in refused.err


def test_a_question_without_its_picture_is_asked_and_scored() -> None:
    assert values(done(RIGHT, blind="none"))["acc"] == 1.0


def test_a_missing_package_is_named(package: Path) -> None:
    (package / "lmms_eval-0.7.3.dist-info" / "METADATA").unlink()
    (package / "lmms_eval-0.7.3.dist-info").rmdir()
    if "lmms-eval" in sys.modules:
        pytest.skip("lmms-eval itself is installed")
    with registry.toolkit_code(), pytest.raises(UsageError, match="pip install lmms-eval"):
        registry.benchmark("lmms-eval:colors")
