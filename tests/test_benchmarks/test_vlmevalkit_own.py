"""The data sets of an installed VLMEvalKit: its own prompts, its own evaluate. The package is a
stand-in; `scripts/check_vlmevalkit.py` compares the figures of the real one."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from snellen import registry
from snellen.api import Plan, load_benchmarks, run_plan
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.errors import UsageError
from snellen.media.content import Video
from snellen.scoring import Scored, Tally
from snellen.scoring.document import MetricReport, Report
from snellen.store import ReplyRecord, Run
from tests.servers import Answer, ReceivedRequest, completion, serving, status
from tests.tiny import QUICK
from tests.vlmevalkit_standin import importable

FAILURE = "Failed to obtain answer via API."


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with importable(tmp_path, monkeypatch) as folder:
        yield folder


def own(spec: str) -> Benchmark:
    with registry.toolkit_code():
        return registry.benchmark(spec)


def metrics(benchmark: Benchmark, replies: Iterable[str | None]) -> dict[str, MetricReport]:
    """Score one reply to each sample; None for a failed request."""
    tally = Tally(benchmark)
    samples = [benchmark.read(row) for row in benchmark.data]
    turns = [turn for sample in samples for turn in benchmark.turn_samples(sample)]
    tally.add(
        Scored(
            turn,
            0,
            "ok" if text is not None else "failed",
            text if text is None else Reply(text=text),
        )
        for turn, text in zip(turns, replies, strict=True)
    )
    return dict(tally.report(model="m", identity={}).scorings["evaluate"].metrics)


def sheet(site: Path) -> list[dict[str, object]]:
    """The rows that evaluate read."""
    path, rows = json.loads((site / "sheet.json").read_text())
    assert not Path(path).exists()
    return list(rows)


# -- the flag, and names


@pytest.mark.parametrize("spec", ["vlmevalkit:MMStar", "vlmevalkit:MMDU:judge=gpt-4o"])
def test_vlmevalkits_code_runs_only_with_the_flag(site: Path, spec: str) -> None:
    with pytest.raises(UsageError, match="If you trust this code, pass --run-toolkit-code"):
        registry.benchmark(spec)


def test_the_benchmark_with_our_rules_keeps_its_name(site: Path) -> None:
    assert registry.benchmark("vlmevalkit:name=MMStar", data=Path("synthetic")).name == "vlmevalkit"


def test_a_run_of_vlmevalkits_code_is_rebuilt_only_with_the_flag(site: Path) -> None:
    benchmark = own("vlmevalkit:MMDU:judge=gpt-4o")
    manifest = {
        "benchmark": benchmark.name,
        "identity": {"options": json.loads(json.dumps(benchmark.provenance.options))},
    }
    assert registry.runs_a_program(manifest)
    with pytest.raises(UsageError, match="pass --run-toolkit-code"):
        registry.of_run(manifest)
    with registry.toolkit_code():
        again = registry.of_run(manifest)
    assert again.provenance.options == benchmark.provenance.options


def test_a_benchmark_says_who_scores_it(site: Path) -> None:
    benchmark = own("vlmevalkit:MMStar")
    assert benchmark.name == "MMStar-vlmevalkit"
    assert "scored by VLMEvalKit's own code, unproven" in benchmark.notes
    assert "evaluate had no judge (exact_matching)" in benchmark.notes
    assert benchmark.provenance.called == "MMStar"
    assert benchmark.provenance.options["version"] == "0.2rc1"


def test_another_text_of_the_class_is_another_benchmark(site: Path) -> None:
    before = own("vlmevalkit:MMStar").provenance.options
    file = site / "vlmeval" / "dataset" / "__init__.py"
    file.write_text(file.read_text() + "\n# changed\n")
    assert own("vlmevalkit:MMStar").provenance.options != before


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("vlmevalkit:MMStarr", "has no data set 'MMStarr'.* Did you mean MMStar"),
        ("vlmevalkit:MMStar:split=dev", "has no option 'split'. Options: judge"),
        ("vlmevalkit:Video-MME_pack", "asks all questions about a video in one prompt"),
    ],
)
def test_a_data_set_that_cannot_be_asked_says_why(site: Path, spec: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        own(spec)


def test_a_missing_package_says_where_it_is(site: Path) -> None:
    (site / "vlmeval/dataset/__init__.py").write_text("import no_such_package\n")
    with pytest.raises(UsageError, match=r"not installed .*no_such_package.* Clone https://github"):
        own("vlmevalkit:MMStar")


# -- prompts


def test_pictures_and_questions_are_those_of_build_prompt(site: Path) -> None:
    benchmark = own("vlmevalkit:MMStar")
    request = benchmark.request(benchmark.read(next(iter(benchmark.data))))
    assert request is not None
    (message,) = request.messages
    assert message.text == "Question: Which 0?"
    assert [image.source for image in message.images] == [site / "a.png"]


def test_a_conversation_has_the_models_replies_instead_of_the_right_answers(site: Path) -> None:
    benchmark = own("vlmevalkit:MMDU")
    sample = benchmark.read(next(iter(benchmark.data)))
    first = benchmark.request(sample)
    assert first is not None
    history = ((first.messages, Reply(text="mine")),)
    second = benchmark.request(sample, history)
    assert second is not None
    assert [message.role for message in second.messages] == ["user", "assistant", "user"]
    assert [message.text for message in second.messages] == ["What is 0?", "mine", "And 0?"]
    assert [len(message.images) for message in second.messages] == [1, 0, 1]
    assert benchmark.request(sample, (*history, (second.messages, Reply(text="b")))) is None
    turns = benchmark.turn_samples(sample)
    assert [(turn.id, turn.question) for turn in turns] == [
        ("0#1", "What is 0?"),
        ("0#2", "And 0?"),
    ]


def test_a_video_is_frames_or_a_file_as_the_class_wants(site: Path) -> None:
    frames, file = own("vlmevalkit:Video-MME_2frame"), own("vlmevalkit:Video-MME")
    as_frames = frames.read(next(iter(frames.data)))
    as_file = file.read(next(iter(file.data)))

    assert len(as_frames.media) == 2 and frames.procedure.frames is None
    assert [type(medium) for medium in as_file.media] == [Video]
    assert file.procedure.frames is not None


def test_system_parts_come_first_and_all_others_are_the_users(site: Path) -> None:
    benchmark = own("vlmevalkit:Video-MME_2frame")
    request = benchmark.request(benchmark.read(next(iter(benchmark.data))))
    assert request is not None
    assert [(message.role, message.text) for message in request.messages] == [
        ("system", "Watch."),
        ("user", "When 0?\nBest option:("),
    ]


# -- scores. Of the four right answers, the replies have the given number; the stand-in's figure is
# 100 times the share of the rows in the sheet.


def test_evaluate_scores_the_replies(site: Path) -> None:
    actual = metrics(own("vlmevalkit:MMStar"), ["A", "B", "A", "A"])
    assert {name: metric.value for name, metric in actual.items()} == {
        "primary": 75.0,
        "n": 4.0,
        "Overall": 75.0,
    }
    assert [row["prediction"] for row in sheet(site)] == ["A", "B", "A", "A"]


@pytest.mark.parametrize("failed", [None, FAILURE, f"{FAILURE} 500 Internal Server Error"])
def test_a_failed_request_is_not_given_to_evaluate(site: Path, failed: str | None) -> None:
    actual = metrics(own("vlmevalkit:MMStar"), ["A", failed, "A", "A"])
    assert not (site / "sheet.json").exists()
    assert (list(actual), actual["primary"].value) == (["primary"], None)
    assert "not every question has a reply (1 missing)" in (actual["primary"].reason or "")


def test_a_conversation_is_one_list_of_replies(site: Path) -> None:
    actual = metrics(own("vlmevalkit:MMDU"), ["a", "b", "a", "it's", "a", "c"])
    assert [row["prediction"] for row in sheet(site)] == [
        "['a', 'b']",
        "['a', \"it's\"]",
        "['a', 'c']",
    ]
    assert actual["primary"].value == pytest.approx(400 / 6)  # four of the six turns are right


def test_a_conversation_with_a_failed_turn_is_not_given_to_evaluate(site: Path) -> None:
    actual = metrics(own("vlmevalkit:MMDU"), ["a", "b", "a", None, "a", "c"])
    assert not (site / "sheet.json").exists()
    assert actual["primary"].value is None


def test_random_guesses_are_counted_and_repeatable(site: Path) -> None:
    benchmark = own("vlmevalkit:Unsure")
    first = metrics(benchmark, ["A", "no idea", "B", "?"])
    assert first["guessed at random"].value == 2.0
    assert "2 answers are random guesses of evaluate" in (first["primary"].reason or "")
    assert metrics(own("vlmevalkit:Unsure"), ["A", "no idea", "B", "?"]) == first
    assert "guessed at random" not in metrics(benchmark, ["A", "B", "B", "A"])


def test_the_judge_is_passed_on(site: Path) -> None:
    metrics(own("vlmevalkit:MMDU:judge=gpt-4o"), "ababab")
    assert (site / "judged.txt").read_text() == "gpt-4o: 7"


def test_a_failed_judge_gives_no_score(site: Path) -> None:
    actual = metrics(own("vlmevalkit:MMDU:judge=broken"), "ababab")
    assert actual["primary"].value is None
    assert "1 of the 3 requests to evaluate's judge failed" in (actual["primary"].reason or "")


# -- failures, on a real server


def answer(request: ReceivedRequest) -> Answer:
    """A right answer, with which the server waits a little."""
    number = int(re.findall(rb"Which (\d)", request.body)[0])
    return replace(completion("AB"[number % 2]), delay=0.05)


def failing(request: ReceivedRequest) -> Answer:
    return status(500) if b"Which 2" in request.body else answer(request)


def command(site: Path, url: str) -> tuple[list[str], dict[str, str]]:
    """The words and the environment of a run on the command line."""
    words = [sys.executable, "-m", "snellen", "run", "-b", "vlmevalkit:MMStar", "-m", "openai/m"]
    words += ["--run-toolkit-code", "--concurrency", "1", "--out", f"{site / 'runs'}", "--json"]
    paths = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    return [*words, "--base-url", url], {**os.environ, "PYTHONPATH": paths}


def report(site: Path, url: str) -> Report:
    plan = Plan(
        benchmarks=load_benchmarks(["vlmevalkit:MMStar"], run_toolkit_code=True),
        models=["openai/m"],
        base_url=url,
        out=site / "runs",
        retry=QUICK,
    )
    result = run_plan(plan)[0].result
    assert result is not None
    return result.report


def test_500s_are_failures_that_are_asked_again(site: Path) -> None:
    with serving(failing) as server:
        first = report(site, server.url)
    assert first.replies == {"ok": 3, "failed": 1}
    assert first.scorings["evaluate"].metrics["primary"].value is None
    assert not (site / "sheet.json").exists()
    with serving(answer) as server:
        again = report(site, server.url)
        assert len(server.requests) == 1
    assert again.scorings["evaluate"].metrics["primary"].value == 100.0


def test_a_killed_run_goes_on_and_gives_the_same_figure(site: Path) -> None:
    with serving(answer) as server:
        words, environment = command(site, server.url)
        process = subprocess.Popen(words, env=environment, cwd=site, stdout=subprocess.DEVNULL)
        while len(server.requests) < 2 and process.poll() is None:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        again = subprocess.run(words, env=environment, cwd=site, capture_output=True, check=False)
    assert again.returncode == 0, again.stderr.decode()
    document = json.loads(again.stdout)
    assert document["scorings"]["evaluate"]["metrics"]["primary"]["value"] == 100.0
    [folder] = (site / "runs").glob("*/*/*")
    finals = Counter(r.key for r in Run(folder).replies() if isinstance(r, ReplyRecord))
    assert (len(finals), {*finals.values()}) == (4, {1})
