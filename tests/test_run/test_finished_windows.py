"""Sessions that speak on their own and are interrupted: what was said in finished windows stays,
and the session goes on from there."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark
from snellen.core.model import Emission, Query, SessionSpec
from snellen.errors import Rejected
from snellen.media.content import Frame
from tests import videos
from tests.test_run.test_online import FPS, asking, events, run, seen_in

ENDS = (4.0, 8.0)


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12 seconds, of which frame k is shown from k / 10 s on."""
    return videos.cfr(tmp_path_factory.mktemp("clips") / "clip.mp4", n=120, fps=FPS).path


def standing(clip: Path, *times: float, **streaming: Any) -> Benchmark:
    """A question at each of these times, by default at 0 s. Each has two windows, which end at 4
    and at 8 s, and may be answered until 11 s."""
    names = {f"q{time:g}": time for time in times or (0.0,)}
    return asking(clip, names, "fps:1", until=11.0, windows=lambda sample: ENDS, **streaming)


class Counting:
    """Says the number of the frame at every second frame, and which session says it. The sessions
    named in `breaks` fail at a time."""

    name = "spy"

    def __init__(
        self, *breaks: float, replays: bool = False, watch: Callable[[Frame], float] = seen_in
    ) -> None:
        self.breaks = breaks
        self.watch = watch
        """What is noted of a frame."""
        self.replays = replays
        self.fed: list[list[float]] = []
        """For each session, the frames that `feed` got."""
        self.replayed: list[list[tuple[object, list[str]]]] = []
        """For each session, what `replay` got."""
        self.names: list[str] = []

    async def open(self, spec: SessionSpec) -> "CountingSession":
        number = len(self.fed)
        self.fed.append([])
        self.replayed.append([])
        kind = ReplayingSession if self.replays else CountingSession
        return kind(self, number)


class CountingSession:
    def __init__(self, model: Counting, number: int) -> None:
        self.model = model
        self.number = number
        self.query = ""

    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]:
        (frame,) = frames
        if [frame.time] == [*self.model.breaks[self.number : self.number + 1]]:
            raise Rejected("out of memory")
        self.model.fed[self.number].append(self.model.watch(frame))
        if frame.time % 2:
            return []
        return [Emission(text=f"{frame.time:g} in {self.number}", query=self.query)]

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]:
        assert not must_answer
        self.query = query.id
        self.model.names.append(query.id)
        return []

    async def close(self) -> None:
        pass


class ReplayingSession(CountingSession):
    async def replay(self, event: Frame | Query, messages: Sequence[Emission]) -> None:
        if isinstance(event, Query):
            self.query = event.id
        shown = self.model.watch(event) if isinstance(event, Frame) else "question"
        assert all(message.query == self.query for message in messages)
        texts = [message.text for message in messages]
        self.model.replayed[self.number].append((shown, texts))


def journal(result: Result) -> list[dict[str, Any]]:
    assert result.run is not None
    text = (result.run / "replies.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def windows(result: Result) -> list[dict[str, Any]]:
    return [line for line in journal(result) if line["kind"] == "window"]


def spoken_texts(result: Result, sample: str = "q0") -> list[str]:
    """What counts as said in the end, for a question."""
    (line,) = (
        line for line in journal(result) if line["key"][0] == sample and line.get("state") == "ok"
    )
    return [message["text"] for message in json.loads(line["reply"])["messages"]]


def test_each_window_is_stored_when_it_is_over_with_what_was_said_since(
    clip: Path, tmp_path: Path
) -> None:
    result = run(standing(clip), Counting(), tmp_path)
    first, second = windows(result)
    assert [line["key"] for line in (first, second)] == [["q0", 0, 0, 1], ["q0", 0, 0, 2]]
    assert [line["until"] for line in (first, second)] == [4.0, 8.0]
    assert first["calls"][0] == {"at": 0.0, "query": "q0"}
    assert [call["frame"] for call in first["calls"][1:]] == [0, 10, 20, 30, 40]
    assert [call["frame"] for call in second["calls"]] == [50, 60, 70, 80]
    assert second["before"] == len(first["calls"]) == 6
    assert second["calls"][1] == {
        "at": 6.0, "frame": 60, "messages": [{"text": "6 in 0", "query": "q0"}],
    }  # fmt: skip


def test_an_interrupted_session_goes_on_after_its_last_finished_window(
    clip: Path, tmp_path: Path
) -> None:
    model = Counting(6.0)
    first = run(standing(clip), model, tmp_path)
    assert first.report.replies == {"failed": 1}
    second = run(standing(clip), model, tmp_path)
    assert second.report.replies == {"ok": 1}
    # What the first session said after 4 s was in no finished window.
    assert spoken_texts(second) == ["0 in 0", "2 in 0", "4 in 0", "6 in 1", "8 in 1", "10 in 1"]
    assert [line["key"][3] for line in windows(second)] == [1, 2]
    # It has no method `replay`, so it gets the frames once more.
    assert model.fed[1] == [*range(0, 101, 10)]


def test_a_session_that_can_replay_gets_what_was_said_and_is_not_asked_again(
    clip: Path, tmp_path: Path
) -> None:
    model = Counting(6.0, 10.0, replays=True)
    for _ in range(2):
        assert run(standing(clip), model, tmp_path).report.replies == {"failed": 1}
    result = run(standing(clip), model, tmp_path)
    assert model.fed == [[0, 10, 20, 30, 40, 50], [50, 60, 70, 80, 90], [90, 100]]
    assert model.replayed[1] == [
        ("question", []),
        (0, ["0 in 0"]),
        (10, []),
        (20, ["2 in 0"]),
        (30, []),
        (40, ["4 in 0"]),
    ]
    assert [texts for _, texts in model.replayed[2] if texts] == [
        ["0 in 0"], ["2 in 0"], ["4 in 0"], ["6 in 1"], ["8 in 1"],
    ]  # fmt: skip
    assert spoken_texts(result) == ["0 in 0", "2 in 0", "4 in 0", "6 in 1", "8 in 1", "10 in 2"]
    assert [line["key"][3] for line in windows(result)] == [1, 2]


def test_the_log_says_what_was_replayed_and_how_much_the_model_did_not_repeat(
    clip: Path, tmp_path: Path
) -> None:
    model = Counting(6.0)
    run(standing(clip), model, tmp_path)
    result = run(standing(clip), model, tmp_path)
    (resume,) = events(result, "resume")
    what = {name: resume["data"][name] for name in ("until", "calls", "differing", "frames")}
    assert what == {"until": 4.0, "calls": 6, "differing": 3, "frames": 5}
    again = [event for event in events(result) if event["data"].get("replayed")]
    assert [event["data"].get("k") for event in again] == [None, 0, 10, 20, 30, 40]
    assert {event["session"] for event in again} == {resume["session"]}
    assert any("3 of 6 earlier calls" in note for note in result.report.notes)


def test_after_an_interruption_all_finished_windows_count_for_the_speed_of_the_model(
    clip: Path, tmp_path: Path
) -> None:
    model = Counting(6.0, 10.0)
    for _ in range(2):
        run(standing(clip), model, tmp_path)
    report = run(standing(clip), model, tmp_path).report
    assert report.streaming is not None and report.spent is not None
    # The frames at 0, 1, ..., 10 s; until 11 s, the question may be answered.
    assert report.streaming.sessions == 1
    assert (report.streaming.frames, report.streaming.media_seconds) == (11, 10.0)
    assert report.spent.seconds > 0


def test_without_the_figures_before_the_interruption_the_report_says_what_the_figures_cover(
    clip: Path, tmp_path: Path
) -> None:
    """As in runs that were interrupted before these figures were stored."""

    def change(lines: list[bytes]) -> list[bytes]:
        records = [json.loads(line) for line in lines]
        return [
            json.dumps({k: v for k, v in record.items() if k != "streamed"}).encode() + b"\n"
            for record in records
        ]

    model = Counting(6.0)
    change_lines(run(standing(clip), model, tmp_path), change)
    report = run(standing(clip), model, tmp_path).report
    assert report.streaming is not None
    assert (report.streaming.frames, report.streaming.media_seconds) == (6, 6.0)
    assert any("cover only what came after it" in note for note in report.notes)


def test_questions_that_share_a_session_go_on_together(clip: Path, tmp_path: Path) -> None:
    model = Counting(7.0, replays=True)
    benchmark = standing(clip, 0.0, 2.5)
    run(benchmark, model, tmp_path)
    result = run(benchmark, model, tmp_path)
    assert result.report.replies == {"ok": 2}
    assert [shown for shown, _ in model.replayed[1]].count("question") == 2
    assert sorted(line["key"] for line in windows(result)) == [
        [name, 0, 0, number] for name in ("q0", "q2.5") for number in (1, 2)
    ]
    assert len(set(model.names)) == 2, "names of the second session are given by `replay`"


@pytest.mark.parametrize("scope", ["auto", "question", "video"])
def test_a_question_of_ovo_bench_goes_on_after_its_last_finished_window_in_each_scope(
    tmp_path: Path, scope: str
) -> None:
    """The windows end at 10, 14, 17, 22, and 24 s."""
    spec = f"ovo-bench:mode=proactive,task=REC,scope={scope}"
    benchmark = registry.benchmark(spec, data=Path(registry.SYNTHETIC))
    model = Counting(15.0, replays=True, watch=lambda frame: round(frame.time))
    assert run(benchmark, model, tmp_path).report.replies == {"failed": 1}
    assert run(benchmark, model, tmp_path).report.replies == {"ok": 1}
    assert [event for event, _ in model.replayed[1]] == ["question", *range(15)]
    assert model.fed[1][0] == 15


def test_another_set_of_questions_is_another_session(clip: Path, tmp_path: Path) -> None:
    """What was said then was said by a session that did not know the second question."""
    model = Counting(6.0, replays=True)
    benchmark = standing(clip, 0.0, 2.5)
    run(benchmark, model, tmp_path, limit=1)
    result = run(benchmark, model, tmp_path)
    assert model.replayed[1] == []
    assert all(text.endswith("in 1") for text in spoken_texts(result, "q2.5"))


def test_each_repeat_goes_on_by_itself(clip: Path, tmp_path: Path) -> None:
    model = Counting(99.0, 6.0, replays=True)
    run(standing(clip), model, tmp_path, repeats=2)
    result = run(standing(clip), model, tmp_path, repeats=2)
    assert result.report.replies == {"ok": 2}
    assert [len(events) for events in model.replayed] == [0, 0, 6]
    assert sorted(line["key"][1:] for line in windows(result)) == [
        [repeat, 0, number] for repeat in (0, 1) for number in (1, 2)
    ]


@pytest.mark.parametrize("drop", ["none", "latest"])
def test_on_a_simulated_clock_it_goes_on_at_the_time_of_the_interrupted_session(
    clip: Path, tmp_path: Path, drop: str
) -> None:
    """With a second and a half for each frame, of which one comes each second."""
    costs = {"feed": 1.5, "ask": 0.0}
    benchmark = standing(clip, clock="simulated", drop=drop, costs=costs)
    unbroken, model = Counting(replays=True), Counting(7.0, replays=True)
    expected = run(benchmark, unbroken, tmp_path / "unbroken")
    run(benchmark, model, tmp_path / "broken")
    result = run(benchmark, model, tmp_path / "broken")

    def times(of: Result) -> list[tuple[float, str]]:
        (line,) = (line for line in journal(of) if line.get("state") == "ok")
        messages = json.loads(line["reply"])["messages"]
        return [(message["onset"], message["text"].partition(" ")[0]) for message in messages]

    assert model.replayed[1]
    assert times(result) == times(expected)
    assert result.report.streaming == expected.report.streaming


# -- what is wrong in the journal


def change_lines(result: Result, change: Any) -> None:
    assert result.run is not None
    path = result.run / "replies.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(change(lines)))


def test_after_a_damaged_record_it_goes_on_from_the_one_before(clip: Path, tmp_path: Path) -> None:
    model = Counting(10.0, replays=True)
    first = run(standing(clip), model, tmp_path)
    change_lines(first, lambda lines: [lines[0], b"{}\n", *lines[2:]])
    result = run(standing(clip), model, tmp_path)
    assert len(model.replayed[1]) == 6
    assert model.fed[1][0] == 50
    assert [line["key"][3] for line in journal(result) if line.get("kind") == "window"] == [1, 2]


def test_without_its_first_record_a_session_starts_again(clip: Path, tmp_path: Path) -> None:
    model = Counting(10.0, 99.0, replays=True)
    first = run(standing(clip), model, tmp_path)
    change_lines(first, lambda lines: lines[1:])
    result = run(standing(clip), model, tmp_path)
    assert (model.replayed[1], model.fed[1][0]) == ([], 0)
    assert all(text.endswith("in 1") for text in spoken_texts(result))


@pytest.mark.parametrize("frame", [3, 10**6])
def test_a_record_of_frames_that_are_not_streamed_is_not_used(
    clip: Path, tmp_path: Path, frame: int
) -> None:
    def change(lines: list[bytes]) -> list[bytes]:
        first = json.loads(lines[0])
        first["calls"][1]["frame"] = frame
        return [json.dumps(first).encode() + b"\n", *lines[1:]]

    model = Counting(6.0, 99.0, replays=True)
    change_lines(run(standing(clip), model, tmp_path), change)
    result = run(standing(clip), model, tmp_path)
    assert (model.replayed[1], result.report.replies) == ([], {"ok": 1})
