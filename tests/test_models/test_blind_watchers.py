"""Blind watchers of OVO-Bench's forward tasks on a real clip, against what follows by hand."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from snellen import api, registry
from snellen.analysis.result import Result
from snellen.core.model import Streams
from snellen.errors import UsageError
from snellen.media.content import Frame, Image
from snellen.testing import check_streams
from tests import videos

# A clue at 20 s; points as the authors have them: two before it, three from it on.
CLUE = {
    "id": 1,
    "task": "CRR",
    "video": "a.mp4",
    "question": "What does the baker do with the dough?",
    "answer": "He folds it.",
    "ask_time": 10,
    "clue_time": 20,
    "test_info": [
        {"realtime": 10, "type": 0},
        {"realtime": 15, "type": 0},
        {"realtime": 22, "type": 1},
        {"realtime": 30, "type": 1},
        {"realtime": 50, "type": 1},
    ],
}
STEPS = {
    "id": 2,
    "task": "SSR",
    "video": "a.mp4",
    "tutorial": "Salad",
    "all_steps": ["wash the leaves", "cut the tomatoes"],
    "start_time": [4, 20],
    "end_time": [12, 30],
    "test_info": [
        {"realtime": 6, "step": "wash the leaves", "type": 1},
        {"realtime": 12, "step": "wash the leaves", "type": 1},
        {"realtime": 15, "step": "cut the tomatoes", "type": 0},
        {"realtime": 22, "step": "cut the tomatoes", "type": 1},
    ],
}
TOTAL = {
    "id": 3,
    "task": "REC",
    "video": "a.mp4",
    "activity": "clap",
    "start_times": [2, 8],
    "end_times": [5, 9],
    "test_info": [
        {"realtime": 3, "count": 0},
        {"realtime": 5, "count": 1},
        {"realtime": 7, "count": 1},
        {"realtime": 14, "count": 2},
    ],
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ovo")
    (folder / "src_videos").mkdir()
    videos.cfr(folder / "src_videos" / "a.mp4", n=120, fps=2)
    (folder / "ovo_bench_new.json").write_text(json.dumps([CLUE, STEPS, TOTAL]))
    return folder


def run(data: Path, out: Path, model: str, options: str) -> Result:
    benchmark = registry.benchmark(f"ovo-bench:{options}", data=data)
    plan = api.Plan(benchmarks=[benchmark], models=[registry.model(model)], out=out)
    (finished,) = api.run_plan(plan)
    assert finished.result is not None
    return finished.result


def metrics(result: Result) -> Mapping[str, float | None]:
    (first, *_) = result.report.scorings.values()
    return {name: estimate.value for name, estimate in first.metrics.items()}


# -- polled


@pytest.mark.parametrize(
    ("memory", "accuracy"),
    [
        # It hears of the question five times: no, no, yes, yes, yes.
        ("keep", 1.0),
        # It hears of it once in each fork: no to all five, two of which are to be answered so.
        ("fork", 0.4),
    ],
)
def test_what_remembers_its_polls_knows_all_but_in_forks(
    data: Path, tmp_path: Path, memory: str, accuracy: float
) -> None:
    options = f"mode=polled,task=CRR,memory={memory},scope=question"
    result = run(data, tmp_path, "baseline/blind-history", options)
    assert metrics(result)["accuracy"] == accuracy
    assert result.report.replies == {"ok": 5}


@pytest.mark.parametrize(
    ("model", "crr", "ssr", "rec"),
    [("silent", 0.0, 0.0, 0.0), ("eager", 3 / 5, 3 / 4, 2 / 4), ("after:5", 3 / 5, 3 / 4, 2 / 4)],
)
def test_a_constant_reply_is_right_as_often_as_that_is_right(
    data: Path, tmp_path: Path, model: str, crr: float, ssr: float, rec: float
) -> None:
    values = metrics(run(data, tmp_path, f"baseline/{model}", "mode=polled,task=forward"))
    assert [values[f"accuracy/{task}"] for task in ("CRR", "SSR", "REC")] == [crr, ssr, rec]


# -- standing questions

# CRR's window is [20, 50], asked at 10; SSR's [4, 12] and [20, 30], REC's [5, 9] and [9, 14], asked
# at 0. `projected` is what had been said by each point.
WATCHED: Mapping[tuple[str, str], Mapping[str, float | None]] = {
    ("silent", "CRR"): {"answered_in_span": 0, "silent": 1, "precision": None, "projected": 2 / 5},
    ("eager", "CRR"): {"answered_in_span": 0, "early": 1, "precision": 0, "projected": 3 / 5},
    # Said at 15.
    ("after:5", "CRR"): {"answered_in_span": 0, "early": 1, "precision": 0, "projected": 4 / 5},
    # Said at 27: not yet at the point of 22.
    ("after:17", "CRR"): {"answered_in_span": 1, "delay_mean": 7, "precision": 1, "projected": 0.8},
    ("silent", "SSR"): {"answered_in_span": 0, "silent": 1, "projected": 1 / 4},
    ("eager", "SSR"): {"answered_in_span": 0, "early": 1, "projected": 3 / 4},
    # Both numbers at 5: the first step begins at 4, the second later.
    ("after:5", "SSR"): {"answered_in_span": 0.5, "early": 0.5, "delay_mean": 1, "precision": 0.5},
    ("silent", "REC"): {"answered_in_span": 0, "count_skill": 0, "projected": 1 / 4},
    # "1" before anything was done, and never 2.
    ("eager", "REC"): {"answered_in_span": 0, "early": 0.5, "silent": 0.5, "projected": 2 / 4},
    # "1" at 5.
    ("after:5", "REC"): {"answered_in_span": 0.5, "delay_mean": 0, "projected": 0.75},
    ("blind-history", "CRR"): {"answered_in_span": 0, "silent": 1},
}  # fmt: skip


@pytest.mark.parametrize(("model", "task"), WATCHED)
def test_what_is_said_blindly_is_scored_as_by_hand(
    data: Path, tmp_path: Path, model: str, task: str
) -> None:
    result = run(data, tmp_path, f"baseline/{model}", f"mode=proactive,task={task}")
    values = metrics(result)
    for name, expected in WATCHED[model, task].items():
        assert values[name] == (None if expected is None else pytest.approx(expected)), name


def test_questions_that_stand_in_one_session_are_answered_by_name(
    data: Path, tmp_path: Path
) -> None:
    together = run(data, tmp_path, "baseline/after:5", "mode=proactive,task=forward,scope=video")
    values = metrics(together)
    # Of five windows SSR's first and REC's first are hit.
    assert values["answered_in_span"] == pytest.approx(2 / 5)
    assert values["ambiguous"] == 0
    assert together.run is not None
    lines = (together.run / "events.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    assert sum(event["ev"] == "open" for event in events) == 1


@pytest.mark.parametrize("name", ["eager", "after:5", "blind-history"])
def test_a_blind_watcher_keeps_the_contract(name: str) -> None:
    model = registry.model(f"baseline/{name}").model
    assert isinstance(model, Streams)
    check_streams(model, [Frame(time=0.0, image=Image(b"")), Frame(time=1.0, image=Image(b""))])


# -- names


@pytest.mark.parametrize("seconds", ["", ":", ":soon", ":-1", ":nan", ":inf"])
def test_after_no_number_of_seconds_is_turned_down(seconds: str) -> None:
    with pytest.raises(UsageError, match="baseline/after:5"):
        registry.model(f"baseline/after{seconds}")


def test_a_watcher_answers_no_ordinary_questions(tmp_path: Path) -> None:
    benchmark: Any = registry.benchmark("eyechart")
    plan = api.Plan(
        benchmarks=[benchmark], models=[registry.model("baseline/silent")], out=tmp_path
    )
    with pytest.raises(UsageError, match="needs a model with `generate`"):
        api.run_plan(plan)
