"""snellen run, score and report, end to end on own rows."""

import json
import re
import signal
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest

from snellen.media.drawing import Canvas
from snellen.registry import bundled
from snellen.run.options import GROUPS
from tests.servers import Answer, ReceivedRequest, completion, serving, status
from tests.test_cli.conftest import Snellen, written

FIRST = ("run", "-m", "baseline/first", "-b", "mine.jsonl")


def test_a_run_prints_its_report_and_says_where_it_lies(snellen: Snellen, rows: Path) -> None:
    done = snellen(*FIRST)

    assert done.code == 0
    assert re.search(r"accuracy +66\.67 %", done.out)
    run = Path(re.findall(r"^run +(\S+)$", done.out, re.MULTILINE)[0])
    assert {"manifest.json", "report.json", "report.md"} <= {path.name for path in run.iterdir()}
    assert "66.67 %" in (run / "report.md").read_text()


def test_standard_output_is_one_json_document_and_progress_is_elsewhere(
    snellen: Snellen, rows: Path
) -> None:
    done = snellen(*FIRST, "--json")

    assert done.json["scorings"]["default"]["metrics"]["accuracy"]["value"] == pytest.approx(2 / 3)
    assert json.loads((Path(done.json["run"]) / "report.json").read_text())["n"] == 3
    assert "mine × baseline/first  3/3" in done.err


def test_several_runs_are_a_list_in_the_order_given(snellen: Snellen, rows: Path) -> None:
    written(rows.with_name("other.jsonl"), "BB")
    done = snellen(
        *FIRST, "-b", "other.jsonl", "-m", "baseline/longest", "-b", "mine.jsonl", "--json"
    )

    assert [(result["model"], result["benchmark"]) for result in done.json] == [
        ("baseline/first", "mine"),
        ("baseline/first", "other"),
        ("baseline/longest", "mine"),
        ("baseline/longest", "other"),
    ]


def test_what_the_rows_are_taken_for_is_said_before_anything_is_asked(
    snellen: Snellen, rows: Path
) -> None:
    err = snellen(*FIRST).err

    assert err.index("asked as --task mcq, guessed from") < err.index("3/3")


def test_the_same_command_asks_nothing_again(snellen: Snellen, rows: Path) -> None:
    with serving(completion("A")) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "-b", "mine.jsonl")
        first, second = snellen(*ask, "--json"), snellen(*ask, "--json")

    assert len(server.requests) == 3
    assert "3 kept" in second.err
    assert first.json == second.json


def test_what_failed_is_counted_said_and_asked_again(snellen: Snellen, rows: Path) -> None:
    broken = True

    def answer(request: ReceivedRequest) -> Answer:
        return status(400, "too long") if broken and b"Which 1" in request.body else completion("A")

    with serving(answer) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "-b", "mine.jsonl")
        first = snellen(*ask)
        broken = False
        second = snellen(*ask)

    assert first.code == 1
    assert "mine × openai/m: 1 question without a reply" in first.err
    assert "the same command resumes" in first.err
    assert "2 ok, 1 failed" in first.out
    assert second.code == 0
    assert "3 (3 ok)" in second.out
    assert len(server.requests) == 4


def test_a_turn_that_is_not_scored_and_failed_is_said_and_asked_again(
    snellen: Snellen, tmp_path: Path
) -> None:
    turns = [{"question": "What is it?", "answer": "a cat"}, {"question": "Why?"}]
    (tmp_path / "mine.jsonl").write_text(json.dumps({"turns": turns}))

    def fails_at_why(request: ReceivedRequest) -> Answer:
        return status(400) if b"Why?" in request.body else completion("a cat")

    ask = ("run", "-m", "openai/m", "-b", "mine.jsonl", "--base-url")
    with serving(fails_at_why) as server:
        first = snellen(*ask, server.url)
    with serving(completion("Its ears.")) as server:
        second = snellen(*ask, server.url)
        assert len(server.requests) == 1

    assert first.code == 1
    assert "mine × openai/m: 1 question without a reply" in first.err
    assert second.code == 0


def test_a_spent_budget_exits_130_says_so_and_the_rest_is_asked_later(
    snellen: Snellen, rows: Path
) -> None:
    first = snellen(*FIRST, "--max-requests", "2", "--concurrency", "1", "--json")
    second = snellen(*FIRST, "--json")

    assert (first.code, second.code) == (130, 0)
    assert (first.json["n"], second.json["n"]) == (2, 3)
    assert first.json["stopped"] == "the budget of 2 requests is used up"
    assert "stopped: the budget of 2 requests is used up" in first.err
    assert "the same command resumes" in first.err


@pytest.mark.parametrize(
    ("floor", "code"), [("accuracy=0.66", 0), ("accuracy=0.67", 1), ("accuracy/nothing=0", 2)]
)
def test_a_metric_below_its_floor_exits_1_and_one_that_is_none_2(
    snellen: Snellen, rows: Path, floor: str, code: int
) -> None:
    done = snellen(*FIRST, "--fail-under", floor)

    assert done.code == code
    assert ("mine × baseline/first: " in done.err) == bool(code)


def test_each_of_several_models_below_a_floor_is_named(snellen: Snellen, rows: Path) -> None:
    done = snellen(*FIRST, "-m", "baseline/longest", "--fail-under", "accuracy=0.67")

    assert "mine × baseline/first: accuracy is 0.666667; at least 0.67 is required\n" in done.err
    assert "mine × baseline/longest: accuracy is 0.666667; at least 0.67 is required\n" in done.err


def test_a_floor_for_a_category_that_is_not_there_is_met_with_those_that_are(
    snellen: Snellen, rows: Path
) -> None:
    done = snellen(*FIRST, "--fail-under", "accuracy/nothing=0")

    assert "no metric accuracy/nothing to compare with 0. Metrics: accuracy\n" in done.err


def test_a_run_that_needs_a_judge_says_so_before_and_how_after(
    snellen: Snellen, tmp_path: Path
) -> None:
    (tmp_path / "plan.toml").write_text(
        'benchmarks = ["mathvista"]\nmodels = ["baseline/first"]\ndata = "synthetic"\n'
    )
    for ask in (["-b", "mathvista", "-m", "baseline/first", "--data", "synthetic"], ["plan.toml"]):
        err = snellen("run", *ask).err
        before, _, after = err.partition("16/16")
        assert "mathvista: the headline scoring needs a judge" in before
        (command,) = re.findall(r"8 replies wait for a judge; run `snellen (.+)`", after)
    verb, run, *rest = command.split()
    assert (verb, rest) == ("judge", ["--judge", "MODEL"])
    assert (Path(run) / "manifest.json").exists()
    assert "needs a judge" not in snellen(*FIRST[:-1], "eyechart:tasks=letters,n=12").err


def test_a_package_that_videos_may_need_is_named_before_anything_is_asked(
    snellen: Snellen, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = ("run", "-b", "video-mme", "-m", "baseline/first", "--data", "synthetic", "--limit", "2")
    assert "extra `video`" not in snellen(*ask).err
    monkeypatch.setitem(sys.modules, "av", None)
    before, _, after = snellen(*ask).err.partition("2/2")
    assert "video-mme: models that are shown frames of videos need the extra `video`" in before
    assert after


def test_pictures_that_are_missing_are_one_reason(snellen: Snellen, rows: Path) -> None:
    lines = [
        {
            "id": f"q{n}",
            "image": f"pics/p{n}.png",
            "question": "?",
            "A": "x",
            "B": "y",
            "answer": "A",
        }
        for n in range(5)
    ]
    lines.append({**lines[0], "id": "r", "image": "text.png"})
    (rows.parent / "text.png").write_text("no picture")
    rows.write_text("".join(json.dumps(row) + "\n" for row in lines))
    notes = snellen(*FIRST, "--json").json["notes"]

    missing, other = (note for note in notes if note.startswith("failed"))
    assert missing.startswith("failed 5, such as q0: pics/p0.png is missing: there is no file ")
    assert other.startswith("failed 1, such as r: text.png is not an image")


def test_a_floor_above_1_that_only_the_result_can_refuse_loses_nothing(
    snellen: Snellen, rows: Path
) -> None:
    lines = [json.loads(line) for line in rows.read_text().splitlines()]
    del lines[0]["answer"]  # the first question says nothing about the metric
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines))

    done = snellen(*FIRST, "--fail-under", "accuracy=99", "--json")

    assert done.code == 2
    assert "accuracy lies between 0 and 1; for 99 % write 0.99" in done.err
    assert done.json["n"] == 3


def test_a_floor_of_a_metric_in_another_unit_may_be_above_1(snellen: Snellen) -> None:
    ask = ("run", "-m", "baseline/first", "-b", "eyechart:tasks=clutter", "--limit", "10")
    done = snellen(*ask, "--fail-under", "clutter=5")

    assert done.code == 1
    assert "clutter has no value; at least 5 is required" in done.err


def test_a_metric_where_lower_is_better_has_no_floor(snellen: Snellen) -> None:
    ask = ("run", "-m", "baseline/first", "-b", "eyechart:tasks=letters", "--limit", "10")
    done = snellen(*ask, "--fail-under", "acuity=5")

    assert done.code == 2
    assert "lower is better for acuity, so a value below 5 is not a failure" in done.err
    assert "Use --fail-over for it" in done.err
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("limit", "code", "words"),
    [
        ("localization=0.5", 0, ""),
        ("localization=0.1", 1, "; at most 0.1 is required\n"),
        ("accuracy=0.5", 2, "higher is better for accuracy, so a value above 0.5 is not a failure"),
        ("acuity=3", 2, "--fail-over: no such metric 'acuity'"),
        ("localization=wide", 2, "'--fail-over': 'wide' is not a number"),
    ],
)
def test_a_metric_where_lower_is_better_has_a_ceiling(
    snellen: Snellen, limit: str, code: int, words: str
) -> None:
    ask = ("run", "-m", "baseline/reader", "-b", "eyechart:tasks=point", "--limit", "12")
    done = snellen(*ask, "--fail-over", limit)

    assert done.code == code
    assert words in done.err


def test_a_metric_without_a_value_is_over_its_ceiling(snellen: Snellen) -> None:
    ask = ("run", "-m", "baseline/first", "-b", "eyechart:tasks=point", "--limit", "12")
    done = snellen(*ask, "--fail-over", "localization=100", "--fail-under", "accuracy=0")

    assert done.code == 1
    assert "localization has no value; at most 100 is required" in done.err


def test_a_part_of_what_a_run_already_has_is_reported_with_the_rest_and_that_is_said(
    snellen: Snellen, rows: Path
) -> None:
    full = snellen(*FIRST)
    part = snellen(*FIRST, "--limit", "1", "--json")

    assert part.json["n"] == 3
    assert "already had 3 replies; the report covers all 3 questions asked so far" in part.err
    assert "not just the 1 selected now" in part.err
    assert "already had" not in full.err


def test_replies_that_came_now_are_not_among_those_that_a_run_had(
    snellen: Snellen, tmp_path: Path
) -> None:
    file = written(tmp_path / "mine.jsonl", "A" * 30)
    ask = ("run", "-m", "baseline/first", "-b", file.name, "--json")
    first = snellen(*ask, "--sample", "10")
    second = snellen(*ask, "--sample", "10", "--sample-seed", "1")

    assert "already had" not in first.err
    assert second.json["n"] > 10
    assert f"already had 10 replies; the report covers all {second.json['n']} " in second.err


def test_why_a_question_failed_is_said_in_words(snellen: Snellen, rows: Path) -> None:
    with serving(status(400, "too long")) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "-b", "mine.jsonl")
        done = snellen(*ask, "--json")

    reasons = [note for note in done.json["notes"] if note.startswith("failed")]
    assert reasons == [f"failed 3, such as q0: {server.url}: 400: too long"]


def test_without_a_score_the_replies_are_kept_for_later(snellen: Snellen, rows: Path) -> None:
    done = snellen(*FIRST, "--no-score", "--json")
    run = Path(done.json[0]["run"])
    assert "report.json" not in {path.name for path in run.iterdir()}
    assert f"not scored; run `snellen score {run}`" in done.err

    scored = snellen("score", run, "--json")

    assert scored.json["scorings"]["default"]["metrics"]["accuracy"]["value"] == pytest.approx(
        2 / 3
    )
    assert "66.67 %" in (run / "report.md").read_text()


def test_flags_reach_the_server_and_go_before_the_profile(snellen: Snellen, rows: Path) -> None:
    with serving(completion("A")) as server:
        Path("model.toml").write_text(
            f'base_url = "{server.url}"\nmax_tokens = 9\ntemperature = 0.9\ntop_p = 0.5\n'
        )
        flags = ("--max-tokens", "7", "--temperature", "0.5", "--seed", "3", "--repeats", "2")
        done = snellen(
            "run", "-m", "openai/m", "-b", "mine.jsonl", "--profile", "model.toml", *flags
        )

    assert done.code == 0
    sent = [request.json for request in server.requests]
    assert {body["max_tokens"] for body in sent} == {7}
    assert {body["temperature"] for body in sent} == {0.5}
    assert {body["top_p"] for body in sent} == {0.5}
    assert sorted(body["seed"] for body in sent) == [3, 3, 3, 4, 4, 4]


def test_a_time_out_is_taken_from_the_flag(snellen: Snellen, rows: Path) -> None:
    with serving(completion("A", delay=1.0)) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "-b", "mine.jsonl")
        done = snellen(*ask, "--timeout", "first=0.1,total=0.2", "--max-requests", "3", "--json")

    assert done.json["replies"] == {"failed": 3}


def test_columns_and_the_task_can_be_named(snellen: Snellen, tmp_path: Path) -> None:
    (tmp_path / "theirs.csv").write_text("nr,ask,gold\n1,Which?,A\n")
    done = snellen(
        "run", "-m", "baseline/first", "-b", "theirs.csv", "--task", "vqa", "--json",
        "--map", "nr=id", "--map", "ask=question", "--map", "gold=answer",
    )  # fmt: skip

    assert done.code == 0
    assert done.json["identity"]["options"]["task"] == "vqa"


def test_a_model_is_opened_once_for_all_benchmarks(snellen: Snellen, rows: Path) -> None:
    written(rows.with_name("other.jsonl"), "BB")
    Path("model.py").write_text(
        "from pathlib import Path\n"
        "class Mine:\n"
        "    def __init__(self):\n"
        "        with Path('opened').open('a') as file:\n"
        "            file.write('once ')\n"
        "    def generate(self, messages):\n"
        "        return 'A'\n"
    )
    ask = ("run", "-m", "python:model.py:Mine", "-b", "mine.jsonl", "-b", "other.jsonl", "--json")

    assert [result["replies"] for result in snellen(*ask).json] == [{"ok": 3}, {"ok": 2}]
    assert Path("opened").read_text() == "once "


def test_the_most_frequent_answer_is_each_benchmarks_own(snellen: Snellen, rows: Path) -> None:
    written(rows.with_name("other.jsonl"), "BBA")
    done = snellen(
        "run", "-m", "baseline/most-frequent", "-b", "mine.jsonl", "-b", "other.jsonl", "--json"
    )

    values = [result["scorings"]["default"]["metrics"]["accuracy"]["value"] for result in done.json]
    assert values == [pytest.approx(2 / 3)] * 2


def test_the_flag_says_how_many_threads_call_a_function_of_ones_own(
    snellen: Snellen, rows: Path
) -> None:
    Path("meets.py").write_text(
        "import threading\n"
        "together = threading.Barrier(3)\n"
        "def answer(messages):\n"
        "    together.wait(5)\n"
        "    return 'A'\n"
    )
    ask = ("run", "-m", "python:meets.py:answer", "-b", "mine.jsonl", "--concurrency", "3")

    assert snellen(*ask, "--json").json["replies"] == {"ok": 3}


def test_a_prompt_preset_and_the_bundled_rows_are_marked(snellen: Snellen) -> None:
    done = snellen(
        "run", "-m", "baseline/first", "-b", "mathvision:split=testmini", "--prompt", "cot",
        "--data", "synthetic", "--limit", "2", "--json",
    )  # fmt: skip

    assert done.code == 0
    assert done.json["identity"]["options"] == {"split": "testmini", "prompt": "cot"}
    assert done.json["n"] == 2
    assert any("so the score is not a result" in note for note in done.json["notes"])


# -- interrupted

SLOW = """
import asyncio

class Slow:
    name = "slow"

    async def generate(self, request):
        from snellen.core.model import Reply
        await asyncio.sleep(0.2)
        return Reply(text="A", stop="stop")
"""


def test_ctrl_c_keeps_what_came_exits_130_and_the_same_command_goes_on(tmp_path: Path) -> None:
    written(tmp_path / "mine.jsonl", "A" * 30)
    (tmp_path / "slow.py").write_text(SLOW)
    ask = [sys.executable, "-m", "snellen", "run", "-m", "python:slow.py:Slow", "-b", "mine.jsonl"]
    ask += ["--concurrency", "2", "--json"]
    with subprocess.Popen(
        ask, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        assert any("/30" in text for text in running.stderr), "there is a line of progress"
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=20)

    assert running.returncode == 130
    first = json.loads(out)
    assert 0 < first["n"] < 30
    assert first["stopped"] == "interrupted"
    assert "stopping: waiting for the replies in flight" in err
    assert "Traceback" not in err

    again = subprocess.run(
        [*ask, "--limit", str(first["n"] + 1)], cwd=tmp_path, capture_output=True, text=True
    )
    assert again.returncode == 0
    assert json.loads(again.stdout)["replies"] == {"ok": first["n"] + 1}
    assert f"{first['n']} kept" in again.stderr


# -- predictions, reports


def predictions(path: Path) -> Path:
    """What somebody's model said to two of the bundled rows: one right, one in too many words."""
    responses = {"1": "\\frac{3}{8}", "2": "The answer is surely 5, not 4."}
    lines = [{"id": name, "response": text} for name, text in responses.items()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_file_of_predictions_is_scored_under_every_scoring(
    snellen: Snellen, tmp_path: Path
) -> None:
    file = predictions(tmp_path / "theirs.jsonl")
    done = snellen("score", file, "-b", "mathvision", "--data", "synthetic", "--json")

    assert done.code == 0
    assert list(done.json["scorings"]) == ["official", "robust"]
    assert done.json["model"] == "theirs.jsonl"
    assert done.json["replies"]["ok"] == 2


def test_one_scoring_can_be_chosen_and_what_is_missing_can_be_left_out(
    snellen: Snellen, tmp_path: Path
) -> None:
    file = predictions(tmp_path / "theirs.jsonl")
    flags = ("--scoring", "robust", "--missing", "excluded", "--json")
    done = snellen("score", file, "-b", "mathvision", "--data", "synthetic", *flags)

    assert list(done.json["scorings"]) == ["robust"]
    assert done.json["scorings"]["robust"]["metrics"]["accuracy"]["n"] == 2


def test_all_scorings_can_be_asked_for_by_that_word(snellen: Snellen, tmp_path: Path) -> None:
    file = predictions(tmp_path / "theirs.jsonl")
    done = snellen(
        "score", file, "-b", "mathvision", "--data", "synthetic", "--scoring", "all", "--json"
    )

    assert list(done.json["scorings"]) == ["official", "robust"]


@pytest.fixture
def run(snellen: Snellen, rows: Path) -> Path:
    """A finished run."""
    return Path(snellen(*FIRST, "--json").json["run"])


def test_a_stored_result_is_shown_again(snellen: Snellen, run: Path) -> None:
    assert re.search(r"accuracy +66\.67 %", snellen("report", run).out)


@pytest.mark.parametrize(
    ("flags", "beginning"),
    [
        (("--format", "md"), "## mine × baseline/first\n"),
        (("--format", "csv"), "benchmark,model,scoring,"),
        (("--format", "json"), '{"format":'),
        (("--json",), '{"format":'),
    ],
)
def test_a_stored_result_has_several_formats(
    snellen: Snellen, run: Path, flags: tuple[str, ...], beginning: str
) -> None:
    done = snellen("report", run, *flags)

    assert done.code == 0
    assert done.out.startswith(beginning)
    assert done.out.endswith("\n")


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("all.md", "## 2 runs\n"),
        ("all.csv", "benchmark,model,"),
        ("all.json", "[{"),
        ("all.txt", "\n2 runs\n"),
    ],
)
def test_the_name_of_a_file_chooses_its_format(
    snellen: Snellen, run: Path, name: str, beginning: str
) -> None:
    done = snellen("report", run, run, "-o", name)

    assert (done.code, done.out) == (0, "")
    assert Path(name).read_text().startswith(beginning)


def test_a_report_is_found_by_its_file_too(snellen: Snellen, run: Path) -> None:
    assert snellen("report", run / "report.json", "--json").json["n"] == 3


def test_data_is_for_the_benchmarks_that_read_some(snellen: Snellen, rows: Path) -> None:
    ask = ("run", "-m", "baseline/first", "--limit", "2", "--json")

    both = snellen(*ask, "-b", "eyechart", "-b", rows.name, "--data", ".")
    alone = snellen(*ask, "-b", "eyechart", "--data", ".")

    assert [result["n"] for result in both.json] == [2, 2]
    assert alone.code == 2
    assert "reads no data" in alone.err


def test_all_runs_in_a_folder_are_reported(snellen: Snellen, rows: Path) -> None:
    for model in ("baseline/first", "baseline/longest"):
        snellen("run", "-m", model, "-b", rows.name)

    shown = snellen("report", "runs", "--json")

    assert sorted(result["model"] for result in shown.json) == [
        "baseline/first",
        "baseline/longest",
    ]


def test_all_runs_in_a_folder_are_a_table_with_the_way_to_each(
    snellen: Snellen, rows: Path
) -> None:
    for model in ("baseline/first", "baseline/longest"):
        snellen("run", "-m", model, "-b", rows.name, "--limit", "2")

    out = snellen("report", "runs").out

    lines = re.findall(r"^ mine +(\S+) +2 +accuracy +100\.00 % ", out, re.MULTILINE)
    assert lines == ["baseline/first", "baseline/longest"]
    path = re.findall(r"RUN is its folder, such as (\S+)", out)[0]
    assert snellen("report", path, "--json").json["model"] == "baseline/first"


def test_the_runs_of_a_folder_are_scored_and_checked_as_a_run_is(
    snellen: Snellen, rows: Path
) -> None:
    for model in ("baseline/first", "baseline/longest"):
        snellen(*FIRST, "-m", model)

    below = snellen("score", "runs", "--fail-under", "accuracy=0.67", "--json")
    assert below.code == 1
    assert [result["model"] for result in below.json] == ["baseline/first", "baseline/longest"]
    for model in ("baseline/first", "baseline/longest"):
        assert f"mine × {model}: accuracy is 0.666667; at least 0.67 is required" in below.err
    assert snellen("score", "runs", "--fail-under", "accuracy=0.66").code == 0
    for words, message in (
        ("--fail-under f1=0.5", "no such metric 'f1'. Metrics: accuracy"),
        ("--fail-under accuracy=66", "accuracy lies between 0 and 1; for 66 % write 0.66"),
        ("--fail-over accuracy=0.5", "higher is better for accuracy"),
    ):
        done = snellen("score", "runs", *words.split())
        assert done.code == 2 and message in done.err


def test_a_floor_is_not_kept_while_replies_wait_for_a_judge(
    snellen: Snellen, tmp_path: Path
) -> None:
    model = tmp_path / "half.py"
    model.write_text(
        "from itertools import count\n"
        "numbers = count()\n\n\n"
        "def half(messages):\n"
        "    return 'A' if next(numbers) % 2 else 'There are many things here.'\n"
    )
    ask = ("-b", "visulogic", "--data", "synthetic", "-m", f"python:{model}:half")

    done = snellen("run", *ask, "--out", "runs", "--fail-under", "accuracy=0", "--json")

    assert done.code == 1
    assert "so far: 4 replies wait for a judge; at least 0 is required" in done.err
    assert snellen("score", "runs", "--fail-under", "accuracy=0").code == 1
    assert snellen("score", "runs").code == 0


def test_a_run_of_a_folder_that_cannot_be_scored_is_left_out(snellen: Snellen, rows: Path) -> None:
    for model in ("baseline/first", "baseline/longest"):
        snellen(*FIRST, "-m", model)
    (broken,) = Path("runs").glob("*/*longest/*/manifest.json")
    broken.write_text("{")

    done = snellen("score", "runs", "--json")
    assert (done.code, [result["model"] for result in [done.json]]) == (1, ["baseline/first"])
    assert "left out: " in done.err
    assert snellen("score", broken.parent).code == 2


def test_a_misspelt_task_is_put_right(snellen: Snellen, rows: Path) -> None:
    done = snellen("run", "-m", "baseline/first", "-b", rows.name, "--task", "mqc")

    assert done.code == 2
    assert "Did you mean 'mcq'?" in done.err


# -- other people's files


def test_a_file_of_vlmevalkits_needs_no_benchmark(snellen: Snellen, tmp_path: Path) -> None:
    file = predictions(tmp_path / "some.jsonl")
    responses = [json.loads(line) for line in file.read_text().splitlines()]
    lines = [
        "index\tprediction",
        *(f"{response['id']}\t{response['response']}" for response in responses),
    ]
    (tmp_path / "my_model_MathVision_MINI.tsv").write_text("\n".join(lines) + "\n")

    done = snellen("score", "my_model_MathVision_MINI.tsv", "--json")
    data = snellen(
        "score", "my_model_MathVision_MINI.tsv", "--data", str(bundled("mathvision")), "--json"
    )

    assert done.code == 2, "there is no data"
    assert data.json["model"] == "my_model"
    assert any("because of the file's name" in note for note in data.json["notes"])


def test_a_folder_of_two_models_files_is_refused_and_one_of_them_can_be_named(
    snellen: Snellen, tmp_path: Path, rows: Path
) -> None:
    (tmp_path / "theirs").mkdir()
    for model, reply in (("A", "B"), ("B", "A")):
        lines = "".join(f"q{number}\t{reply}\n" for number in range(3))
        (tmp_path / "theirs" / f"{model}_mine.tsv").write_text(f"index\tprediction\n{lines}")

    mixed = snellen("score", "theirs", "-b", rows.name)
    single = snellen("score", "theirs/B_mine.tsv", "-b", rows.name, "--json")

    assert mixed.code == 2
    assert "3 questions, such as 'q0', have a reply in more than one file" in mixed.err
    assert "A_mine.tsv, B_mine.tsv" in mixed.err
    assert single.json["replies"] == {"ok": 3}


def test_rows_of_lmms_eval_are_taken_by_place_only_where_their_targets_agree(
    snellen: Snellen, tmp_path: Path, rows: Path
) -> None:
    def written_with(targets: str) -> Path:
        lines = [
            {"doc_id": number, "target": target, "filtered_resps": ["A"]}
            for number, target in enumerate(targets)
        ]
        file = tmp_path / "samples.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return file

    agreed = snellen("score", written_with("AAB"), "-b", rows.name, "--json")
    other = snellen("score", written_with("ABB"), "-b", rows.name)

    accuracy = agreed.json["scorings"]["default"]["metrics"]["accuracy"]
    assert accuracy["value"] == pytest.approx(2 / 3)
    assert other.code == 2
    assert "doc_id 1 has the target 'B', but the data set's row 2 has 'A'" in other.err


def test_columns_of_a_file_can_be_named(snellen: Snellen, tmp_path: Path, rows: Path) -> None:
    (tmp_path / "odd.csv").write_text("name,words\nq0,A\nq1,A\nq2,A\n")

    done = snellen(
        "score", "odd.csv", "-b", rows.name, "--ids", "name", "--replies", "words", "--json"
    )

    assert done.json["replies"] == {"ok": 3}


# -- rows of other kinds


def png(path: Path, side: int) -> bytes:
    raw = Canvas(side, side).png()
    path.write_bytes(raw)
    return raw


def test_a_tsv_with_pictures_in_it_is_asked_about_those_very_bytes(
    snellen: Snellen, tmp_path: Path
) -> None:
    first, second = png(tmp_path / "1.png", 9), png(tmp_path / "2.png", 11)
    cells = [b64encode(first).decode(), "0", b64encode(second).decode()]
    lines = ["index\timage\tquestion\tA\tB\tanswer\tcategory"]
    lines += [f"{n}\t{cell}\tWhich?\tNone\tyes\tA\tx" for n, cell in enumerate(cells)]
    (tmp_path / "kit.tsv").write_text("\n".join(lines) + "\n")
    got: list[bytes] = []

    def answer(request: ReceivedRequest) -> Answer:
        got.append(request.body)
        return completion("A")

    with serving(answer) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "--concurrency", "1", "--json")
        done = snellen(*ask, "-b", "kit.tsv")

    assert done.json["replies"] == {"ok": 3}
    expected = [b64encode(picture) for picture in (first, first, second)]
    assert all(picture in body for picture, body in zip(expected, got, strict=True))
    assert any("3 cells such as 'None' in A" in note for note in done.json["notes"])


def test_a_folder_of_pictures_is_asked_for_captions(snellen: Snellen, tmp_path: Path) -> None:
    (tmp_path / "photos/cats").mkdir(parents=True)
    png(tmp_path / "photos/cats/1.png", 8)
    png(tmp_path / "photos/2.png", 8)

    with serving(lambda request: completion("A square.")) as server:
        done = snellen("run", "-m", "openai/m", "--base-url", server.url, "-b", "photos/", "--json")

    assert done.json["replies"] == {"ok": 2}
    assert snellen("score", done.json["run"], "--json").json["replies"] == {"ok": 2}


def test_rows_of_parquet_have_their_pictures_in_them(snellen: Snellen, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    picture = png(tmp_path / "1.png", 9)
    columns = {
        "image": [{"bytes": picture, "path": "1.png"}],
        "question": ["Which?"],
        "A": ["x"],
        "B": ["y"],
        "answer": ["B"],
    }
    pq.write_table(pa.table(columns), tmp_path / "mine.parquet")
    got: list[bytes] = []

    def answer(request: ReceivedRequest) -> Answer:
        got.append(request.body)
        return completion("B")

    with serving(answer) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "--json")
        done = snellen(*ask, "-b", "mine.parquet")

    assert done.json["replies"] == {"ok": 1}
    assert b64encode(picture) in got[0]
    assert snellen("score", done.json["run"], "--json").json["replies"] == {"ok": 1}


def test_a_run_is_not_taken_for_predictions(snellen: Snellen, rows: Path) -> None:
    run = snellen("run", "-m", "baseline/first", "-b", rows.name, "--json").json["run"]

    wrong = snellen("score", run, "-b", rows.name)

    assert wrong.code == 2
    assert "is a run, which stores the name of its benchmark" in wrong.err


def test_other_pictures_under_the_same_names_are_another_run(
    snellen: Snellen, tmp_path: Path
) -> None:
    row = {"id": "1", "image": "a.png", "question": "?", "A": "x", "B": "y", "answer": "A"}
    for folder, side in (("one", 8), ("two", 9)):
        (tmp_path / folder).mkdir()
        png(tmp_path / folder / "a.png", side)
        (tmp_path / folder / "rows.jsonl").write_text(json.dumps(row) + "\n")
    ask = ("run", "-m", "baseline/first", "--json")

    first = snellen(*ask, "-b", "one/rows.jsonl")
    again = snellen(*ask, "-b", "one/rows.jsonl")
    other = snellen(*ask, "-b", "two/rows.jsonl")

    assert (first.code, again.code, other.code) == (0, 0, 2)
    assert "the pictures of row 1 of two/rows.jsonl differ from" in other.err
    manifest = json.loads((Path(first.json["run"]) / "manifest.json").read_bytes())
    assert len(manifest["sessions"]) == 2, "what was refused has left no trace"


def test_wrong_data_for_predictions_is_told_without_a_traceback(
    snellen: Snellen, tmp_path: Path
) -> None:
    (tmp_path / "bad.jsonl").write_text('{"id": "1", "wrong": 2}\n')
    (tmp_path / "said.jsonl").write_text('{"id": "1", "response": "A"}\n')

    wrong = snellen("score", "said.jsonl", "-b", "mathvision", "--data", "bad.jsonl")

    assert wrong.code == 2
    assert "row 1 of bad.jsonl cannot be read: no field 'level'" in wrong.err


def test_doubled_ids_of_the_data_are_an_error_for_predictions_too(
    snellen: Snellen, tmp_path: Path
) -> None:
    row = {"id": "a", "question": "?", "A": "x", "B": "y", "answer": "A"}
    (tmp_path / "dup.jsonl").write_text((json.dumps(row) + "\n") * 2)
    (tmp_path / "said.jsonl").write_text('{"id": "a", "response": "A"}\n')

    wrong = snellen("score", "said.jsonl", "-b", "dup.jsonl")

    assert wrong.code == 2
    assert "it is unclear which row a reply to 'a' belongs to" in wrong.err


def test_rows_slow_to_their_first_are_still_rows(
    snellen: Snellen, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("snellen.run.selection.CHECK_SECONDS", -1.0)

    assert snellen("run", "-m", "baseline/first", "-b", rows.name, "--json").json["n"] == 3


@pytest.mark.parametrize(
    ("flags", "sent"),
    [((), 0.0), (("--temperature", "0.7"), 0.7), (("--temperature", "default"), None)],
)
def test_a_benchmark_is_asked_at_temperature_0_unless_another_is_given(
    snellen: Snellen, rows: Path, flags: tuple[str, ...], sent: float | None
) -> None:
    with serving(completion("A")) as server:
        snellen(
            "run", "-m", "openai/m", "-b", "mine.jsonl", "--base-url", f"{server.url}/v1", *flags
        )
        assert [request.json.get("temperature") for request in server.requests] == [sent] * 3


def test_help_lists_every_option_under_a_group_after_examples(snellen: Snellen) -> None:
    text = snellen("run", "--help").out

    headings = re.findall(r"^([A-Z][^:\n]*):$", text, re.MULTILINE)
    assert headings == ["Examples", *(group.title for group in GROUPS), "Other"]
    other = text.partition("\nOther:\n")[2]
    assert re.findall(r"^  (-\S+)", other, re.MULTILINE) == ["--json", "-h,"]


def test_a_quiet_run_shows_the_result_and_no_progress(snellen: Snellen) -> None:
    run = ("run", "-b", "eyechart:n=10", "-m", "baseline/reader")
    loud = snellen(*run, "--out", "loud")
    quiet = snellen(*run, "--out", "quiet", "-q")

    assert "10/10" in loud.err
    assert (quiet.code, quiet.err) == (0, "")
    assert "accuracy" in quiet.out


def test_a_run_of_several_ends_with_a_table_of_all(snellen: Snellen) -> None:
    models = ("-m", "baseline/reader", "-m", "baseline/first")
    text = snellen("run", "-b", "eyechart:n=10", *models, "-q").out

    table = text.partition("\n2 runs\n")[2]
    rows = [line.split()[:3] for line in table.splitlines()[2:4]]
    assert rows == [["eyechart", "baseline/reader", "10"], ["eyechart", "baseline/first", "10"]]
