"""Videos streamed to sessions: the clock, forks, what is lost, and that nothing comes early."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from snellen import api, registry
from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Emission, Query, Reply, Request, SessionSpec
from snellen.core.procedure import Procedure
from snellen.core.profile import Profile, Timeouts
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring
from snellen.core.streaming import Streaming
from snellen.data import Drawn, Row
from snellen.errors import DataError, Overloaded, Rejected, UsageError
from snellen.media.content import Frame, Video, user
from snellen.metrics import mean
from snellen.models.scripted import Scripted
from snellen.models.sliding_window import SlidingWindow
from snellen.run import streamed_session
from tests import videos
from tests.servers_download import Served, serving_files
from tests.videos import index_of

FPS = 10


def seen_in(frame: Frame) -> int:
    assert isinstance(frame.image.source, bytes)
    return index_of(np.asarray(PIL.Image.open(BytesIO(frame.image.source)).convert("RGB")))


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12 seconds, of which frame k is shown from k / 10 s on."""
    return videos.cfr(tmp_path_factory.mktemp("clips") / "clip.mp4", n=120, fps=FPS).path


def asking(
    clip: Path,
    times: Mapping[str, float],
    frames: str = "fps:1,latest",
    until: float | None = None,
    **streaming: Any,
) -> Benchmark:
    """A question at each time; right is what is said of everything up to then."""

    def sample(row_index: int, row: Row) -> Sample:
        return Sample(
            id=row["id"],
            question=f"question {row['id']}",
            target="yes",
            media=(Video(clip, end=row["time"], label="clip.mp4", within=clip.parent),),
            data={"time": row["time"]},
        )

    return Benchmark(
        name="streamed",
        asks=1,
        data=Drawn(
            "streamed", lambda: ({"id": name, "time": time} for name, time in times.items())
        ),
        sample=sample,
        prompt=lambda sample, history: (user(*sample.media, sample.question),),
        scorings={
            "official": Scoring(
                version=1,
                source="ours",
                parse=lambda reply, sample: Reading(answer=reply.text, rule="whole"),
                score=lambda reading, sample: float(reading.answer == "yes"),
                metrics={"accuracy": mean},
                reads="session",
            )
        },
        procedure=Procedure(
            kind="session",
            frames=frames,
            group_by=lambda sample: "clip",
            streaming=Streaming(
                when=lambda sample: float(str(sample.data["time"])),
                session=lambda sample: "clip",
                until=None if until is None else lambda sample: until,
                **streaming,
            ),
        ),
    )


class Spy:
    """Keeps all that its sessions are handed; says what it has seen, if it is asked."""

    name = "spy"

    def __init__(
        self,
        *,
        slow: float = 0.0,
        speaks: Callable[[Frame], str | None] = lambda _: None,
        fails: Callable[[str], bool] = lambda _: False,
        forks: bool = True,
    ) -> None:
        self.slow = slow
        self.speaks = speaks
        self.fails = fails
        self.handed: list[object] = []
        self.seen_by_question: dict[str, list[int]] = {}
        self.forks = forks

    async def open(self, spec: SessionSpec) -> "SpySession | SpyFork":
        self.handed.append(spec)
        return SpyFork(self, []) if self.forks else SpySession(self, [])


class SpySession:
    def __init__(self, spy: Spy, seen: list[int]) -> None:
        self._spy = spy
        self._seen = seen

    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]:
        self._spy.handed += frames
        self._seen += map(seen_in, frames)
        await asyncio.sleep(self._spy.slow)
        texts = [self._spy.speaks(frame) for frame in frames]
        return [Emission(text=text) for text in texts if text is not None]

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]:
        self._spy.handed.append(query)
        name = query.text.removeprefix("question ")
        if self._spy.fails(name):
            raise Overloaded("busy")
        self._spy.seen_by_question[name] = [*self._seen]
        self._seen.append(-1)
        return [Emission(text=json.dumps(self._seen[:-1]), query=query.id)] if must_answer else []

    async def close(self) -> None:
        pass


class SpyFork(SpySession):
    async def fork(self) -> "SpyFork":
        return SpyFork(self._spy, [*self._seen])


def run(benchmark: Benchmark, model: object, out: Path, **options: Any) -> Result:
    opened = registry.Opened(model=model, name="spy", server="spy", concurrency=4)  # type: ignore[arg-type]
    plan = api.Plan(benchmarks=[benchmark], models=[opened], out=out, **options)
    (finished,) = api.run_plan(plan)
    assert finished.result is not None
    return finished.result


def events(result: Result, kind: str = "") -> list[dict[str, Any]]:
    assert result.run is not None
    text = (result.run / "events.jsonl").read_text(encoding="utf-8")
    every = [json.loads(line) for line in text.splitlines()]
    return [event for event in every if not kind or event["ev"] == kind]


# -- what is seen


def test_a_question_sees_the_grid_and_the_newest_frame_before_it(
    clip: Path, tmp_path: Path
) -> None:
    spy = Spy()
    run(asking(clip, {"a": 0.5, "b": 3.25, "c": 3.0, "d": 100.0}), spy, tmp_path)
    assert spy.seen_by_question["a"] == [0, 4]
    assert spy.seen_by_question["b"] == [0, 10, 20, 30, 32]
    assert spy.seen_by_question["c"] == [0, 10, 20, 29]  # a frame at 3.0 s comes after it
    assert spy.seen_by_question["d"] == [*range(0, 120, 10), 119]


def test_without_latest_only_the_grid_is_seen(clip: Path, tmp_path: Path) -> None:
    spy = Spy()
    run(asking(clip, {"b": 3.25}, frames="fps:2"), spy, tmp_path)
    assert spy.seen_by_question["b"] == [0, 5, 10, 15, 20, 25, 30]


def test_a_question_leaves_no_trace_in_a_session_that_forks(clip: Path, tmp_path: Path) -> None:
    times = {f"q{second}": float(second) for second in range(1, 11)}
    spy = Spy()
    run(asking(clip, times), spy, tmp_path)
    assert all(-1 not in seen for seen in spy.seen_by_question.values())
    kept = Spy()
    run(asking(clip, times, memory="keep"), kept, tmp_path / "keep")
    assert kept.seen_by_question["q3"].count(-1) == 2


def test_a_session_that_cannot_fork_is_turned_down_with_what_to_do(
    clip: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="memory=keep"):
        run(asking(clip, {"a": 1.0, "b": 2.0}), Spy(forks=False), tmp_path)


def test_a_session_of_one_question_needs_no_fork(clip: Path, tmp_path: Path) -> None:
    spy = Spy(forks=False)
    benchmark = asking(clip, {"a": 1.0, "b": 2.0})
    assert benchmark.procedure.streaming is not None
    alone = vary(
        benchmark,
        streaming=replace(benchmark.procedure.streaming, session=lambda sample: sample.id),
    )
    assert run(alone, spy, tmp_path).report.replies == {"ok": 2}
    assert spy.seen_by_question == {"a": [0, 9], "b": [0, 10, 19]}


def test_a_picture_at_an_address_is_fetched_for_a_session_if_that_is_allowed(
    clip: Path, tmp_path: Path
) -> None:
    picture = BytesIO()
    PIL.Image.new("RGB", (8, 8)).save(picture, "PNG")
    with serving_files({"/a.png": Served(picture.getvalue())}) as server:
        address = f"{server.url}/a.png"
        benchmark = replace(
            asking(clip, {"a": 1.0}),
            prompt=lambda sample, history: (user(*sample.media, address, sample.question),),
        )
        with pytest.raises(DataError, match="--allow-urls"):
            run(benchmark, Spy(), tmp_path)
        result = run(benchmark, Spy(), tmp_path, allow_urls=True)
    assert result.report.replies == {"ok": 1}


# -- nothing comes early


def test_nothing_that_is_handed_over_is_later_than_the_clock_or_tells_of_the_file(
    clip: Path, tmp_path: Path
) -> None:
    spy = Spy()
    result = run(asking(clip, {"a": 2.0, "b": 7.5}), spy, tmp_path)
    clock = 0.0
    for event in events(result):
        data = event["data"]
        if event["ev"] == "frame":
            clock = max(clock, data.get("tau", clock))
            assert data["pts"] <= clock
        elif event["ev"] == "ask":
            clock = max(clock, data["at"])
    text = repr([thing for thing in spy.handed if not isinstance(thing, Frame)])
    frames = [thing for thing in spy.handed if isinstance(thing, Frame)]
    text += repr([replace(frame, image=replace(frame.image, source=b"")) for frame in frames])
    for word in ("clip.mp4", str(clip.parent), "12.0", "11.9", "path"):
        assert word not in text, word
    assert not re.search(r"\b120\b", text), "the number of frames"


def changed(clip: Path, folder: Path, change: Callable[[list[int]], list[int]]) -> Path:
    """The clip drawn again with other frames."""
    folder.mkdir()
    return videos.drawn(folder / "clip.mp4", change([*range(120)]), FPS).path


FUTURES: dict[str, Callable[[list[int]], list[int]]] = {
    "another future": lambda frames: frames[:60] + [1000 + k for k in range(60)],
    "no future": lambda frames: frames[:60],
    "a longer one": lambda frames: frames + [0] * 600,
    "another order": lambda frames: frames[:60] + frames[:59:-1],
}


@pytest.mark.parametrize("future", FUTURES)
def test_what_is_said_up_to_a_time_does_not_depend_on_what_follows(
    clip: Path, tmp_path: Path, future: str
) -> None:
    other = changed(clip, tmp_path / "other", FUTURES[future])
    times = {"a": 2.0, "b": 4.7, "c": 6.0}
    spies = [Spy(speaks=lambda frame: str(seen_in(frame))) for _ in range(2)]
    for path, spy, out in zip((clip, other), spies, ("one", "two"), strict=True):
        run(asking(path, times), spy, tmp_path / out)
    assert spies[0].seen_by_question == spies[1].seen_by_question
    assert len(spies[0].seen_by_question) == 3


# -- the same as offline


def offline(streamed: Benchmark) -> Benchmark:
    scoring = replace(streamed.scorings["official"], reads="generate")
    return vary(streamed, kind="generate", streaming=None, scorings={"official": scoring})


def shown_to(model: Scripted) -> dict[str, list[bytes]]:
    """For each question the pictures that it came with."""

    def pictures(request: Request) -> list[bytes]:
        (message,) = request.messages
        return [image.source for image in message.images if isinstance(image.source, bytes)]

    return {request.messages[0].text: pictures(request) for request in model.requests}


@pytest.mark.parametrize("frames", ["fps:1,latest", "fps:2", "fps:3,latest,side=160"])
def test_a_window_over_everything_sees_exactly_what_is_shown_offline(
    clip: Path, tmp_path: Path, frames: str
) -> None:
    streamed = asking(clip, {"a": 0.5, "b": 3.25, "c": 8.0, "d": 12.0}, frames=frames)
    online, offline_model = Scripted("yes"), Scripted("yes")
    run(streamed, SlidingWindow(online, None), tmp_path / "online")
    run(offline(streamed), offline_model, tmp_path / "offline")
    assert shown_to(online) == shown_to(offline_model)
    assert len(shown_to(offline_model)) == 4


def test_one_session_for_all_and_one_for_each_question_see_the_same(
    clip: Path, tmp_path: Path
) -> None:
    times = {f"q{number}": 0.7 * number + 0.3 for number in range(12)}
    spies = [Spy(), Spy()]
    together = asking(clip, times)
    assert together.procedure.streaming is not None
    alone = vary(
        together, streaming=replace(together.procedure.streaming, session=lambda sample: sample.id)
    )
    run(together, spies[0], tmp_path / "together")
    run(alone, spies[1], tmp_path / "alone")
    assert spies[0].seen_by_question == spies[1].seen_by_question


def test_a_window_keeps_the_newest_frames_alone(clip: Path, tmp_path: Path) -> None:
    model = Scripted("yes")
    run(asking(clip, {"a": 9.0}), SlidingWindow(model, 4), tmp_path)
    ((_, pictures),) = shown_to(model).items()
    frames = [
        seen_in(Frame(time=0.0, image=replace(image)))
        for image in model.requests[0].messages[0].images
    ]
    assert (len(pictures), frames) == (4, [60, 70, 80, 89])


# -- time


def test_a_model_that_takes_two_seconds_a_frame_at_two_a_second_has_a_factor_of_four(
    clip: Path, tmp_path: Path
) -> None:
    """On a simulated clock, on which its calls cost what they are said to."""
    benchmark = asking(
        clip,
        {"a": 12.0},
        frames="fps:2",
        memory="keep",
        clock="simulated",
        drop="none",
        costs={"feed": 2.0, "ask": 0.0},
    )
    result = run(benchmark, Spy(), tmp_path)
    streaming = result.report.streaming
    assert streaming is not None
    assert streaming.real_time_factor == pytest.approx(24 * 2.0 / 12.0)
    assert (streaming.frames, streaming.dropped) == (24, 0)
    # The last of 24 frames came at 11.5 s, and was done with at 48 s.
    assert streaming.most_lag == pytest.approx(48 - 11.5)
    assert any("a real-time factor of 4.00" in note for note in result.report.notes)


def test_frames_that_come_while_it_is_busy_are_lost_by_number(clip: Path, tmp_path: Path) -> None:
    spy = Spy()
    benchmark = asking(
        clip,
        {"a": 12.0},
        frames="fps:2",
        memory="keep",
        clock="simulated",
        drop="latest",
        costs={"feed": 2.0, "ask": 0.0},
    )
    result = run(benchmark, spy, tmp_path)
    # Frames come at 0, 0.5, ...; it is free at 0, 2, 4, ... and takes the newest there is, at 12 s
    # that of 11.5 s before the question.
    assert spy.seen_by_question["a"] == [0, 20, 40, 60, 80, 100, 115]
    assert result.report.streaming is not None
    assert result.report.streaming.dropped == 24 - 7
    lost = [
        event["data"]["k"] for event in events(result, "frame") if not event["data"]["delivered"]
    ]
    assert lost == [k for k in range(0, 120, 5) if k not in (0, 20, 40, 60, 80, 100, 115)]
    assert any(
        "17 of 24 frames arrived while the model was busy" in note for note in result.report.notes
    )


def test_of_more_than_256_that_wait_the_oldest_are_lost(tmp_path: Path) -> None:
    long = videos.cfr(tmp_path / "long.mp4", n=300, fps=FPS).path
    spy = Spy()
    benchmark = asking(
        long,
        {"a": 30.0},
        frames="fps:10",
        memory="keep",
        clock="simulated",
        drop="oldest",
        costs={"feed": 60.0, "ask": 0.0},
    )
    run(benchmark, spy, tmp_path / "run")
    # When it has seen the first, at 60 s, the other 299 wait, and the first 43 of these are lost.
    assert spy.seen_by_question["a"] == [0, *range(44, 300)]


def test_twice_the_speed_loses_fewer(clip: Path, tmp_path: Path) -> None:
    dropped = []
    for speed in (1.0, 2.0, 4.0):
        benchmark = asking(
            clip,
            {"a": 12.0},
            frames="fps:2",
            memory="keep",
            clock="simulated",
            drop="latest",
            speed=speed,
            costs={"feed": 2.0, "ask": 0.0},
        )
        streaming = run(benchmark, Spy(), tmp_path / str(speed)).report.streaming
        assert streaming is not None
        dropped.append(streaming.dropped)
    assert dropped == [17, 11, 0]


def test_on_the_real_clock_a_slow_session_loses_frames_too(tmp_path: Path) -> None:
    short = videos.cfr(tmp_path / "short.mp4", n=15, fps=FPS).path
    spy = Spy(slow=0.4)
    benchmark = asking(
        short, {"a": 1.5}, frames="fps:10", memory="keep", clock="real", drop="latest"
    )
    result = run(benchmark, spy, tmp_path / "run")
    streaming = result.report.streaming
    assert streaming is not None and streaming.real_time_factor is not None
    assert streaming.dropped >= 6 and streaming.frames == 15
    assert spy.seen_by_question["a"] == sorted(spy.seen_by_question["a"])


# -- failures


def test_a_fork_that_is_busy_is_repeated_and_the_others_are_not(clip: Path, tmp_path: Path) -> None:
    tries: list[str] = []

    def fails(query: str) -> bool:
        tries.append(query)
        return query == "b" and tries.count("b") < 3

    spy = Spy(fails=fails)
    result = run(
        asking(clip, {"a": 1.0, "b": 2.0, "c": 3.0}), spy, tmp_path, retry={"backoff": 0.001}
    )
    assert result.report.replies == {"ok": 3}
    assert (tries.count("a"), tries.count("b"), tries.count("c")) == (1, 3, 1)
    assert spy.seen_by_question["b"] == [0, 10, 19]


def test_a_question_that_stays_without_a_reply_is_failed_and_repeated_later(
    clip: Path, tmp_path: Path
) -> None:
    spy = Spy(fails=lambda query: query == "b")
    benchmark = asking(clip, {"a": 1.0, "b": 2.0, "c": 3.0})
    retry = {"backoff": 0.001, "attempts": 2}
    first = run(benchmark, spy, tmp_path, retry=retry)
    assert first.report.replies == {"ok": 2, "failed": 1}
    again = Spy()
    second = run(benchmark, again, tmp_path, retry=retry)
    assert second.report.replies == {"ok": 3}
    assert list(again.seen_by_question) == ["b"]
    assert again.seen_by_question["b"] == [0, 10, 19]


def test_a_session_that_breaks_fails_what_was_left_to_ask(clip: Path, tmp_path: Path) -> None:
    class Breaking(Spy):
        async def open(self, spec: SessionSpec) -> SpyFork:
            return BreakingSession(self, [])

    class BreakingSession(SpyFork):
        async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]:
            if frames[0].time > 4:
                raise Rejected("out of memory")
            return await super().feed(frames)

        async def fork(self) -> SpyFork:
            return SpyFork(self._spy, [*self._seen])

    result = run(asking(clip, {"a": 2.0, "b": 9.0}, memory="keep"), Breaking(), tmp_path)
    assert result.report.replies == {"ok": 1, "failed": 1}
    assert [event["data"]["reason"] for event in events(result, "end")] == [
        "Rejected: out of memory"
    ]
    assert result.report.streaming is None


def test_a_video_that_is_missing_fails_its_questions_by_name(tmp_path: Path) -> None:
    result = run(asking(tmp_path / "clip.mp4", {"a": 1.0}), Spy(), tmp_path / "run")
    assert result.report.replies == {"failed": 1}
    assert any("clip.mp4 is missing" in note for note in result.report.notes)


# -- sessions that speak by themselves


def test_what_is_said_while_a_question_stands_is_its_reply(clip: Path, tmp_path: Path) -> None:
    spy = Spy(speaks=lambda frame: f"at {frame.time:g}" if frame.time in (3.0, 7.0) else None)
    result = run(asking(clip, {"a": 2.0}, until=10.0), spy, tmp_path)
    assert result.run is not None
    record = json.loads((result.run / "replies.jsonl").read_text(encoding="utf-8"))
    assert json.loads(record["reply"]) == {
        "messages": [
            {"onset": 3.0, "done": 3.0, "text": "at 3", "query": None},
            {"onset": 7.0, "done": 7.0, "text": "at 7", "query": None},
        ],
        "silence": [],
        "until": 10.0,
    }


def test_an_ordinary_model_cannot_speak_by_itself(clip: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="replies only when it is asked"):
        run(asking(clip, {"a": 2.0}, until=10.0), SlidingWindow(Scripted("yes"), 4), tmp_path)
    assert not list(tmp_path.rglob("manifest.json"))


def test_frames_are_streamed_by_a_rate_alone(clip: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Use fps:R or fps:R,latest"):
        run(asking(clip, {"a": 2.0}, frames="uniform:64"), Spy(), tmp_path)


def test_a_reply_is_what_was_said(clip: Path, tmp_path: Path) -> None:
    model = Scripted(lambda request: Reply(text="yes", stop="length"))
    result = run(asking(clip, {"a": 2.0}), SlidingWindow(model, 4), tmp_path)
    assert result.report.replies == {"truncated": 1}
    assert result.report.scorings["official"].metrics["accuracy"].value == 1.0


# -- what a stopped, slow, broken or hostile session does


def test_no_more_is_asked_than_the_budget_has(clip: Path, tmp_path: Path) -> None:
    times = {f"q{number}": 0.3 * number + 0.3 for number in range(30)}
    for model, name in ((Spy(), "spy"), (SlidingWindow(Scripted("yes"), 2), "window")):
        result = run(asking(clip, times), model, tmp_path / name, max_requests=5)
        assert result.report.replies == {"ok": 5}, name
    kept = run(asking(clip, times, memory="keep"), Spy(), tmp_path / "kept", max_requests=5)
    assert kept.report.replies == {"ok": 5}


def test_an_error_of_ours_in_a_fork_ends_the_run_and_no_question_is_lost_in_silence(
    clip: Path, tmp_path: Path
) -> None:
    def say(request: Request) -> str:
        if "q2" in request.messages[-1].text:
            raise KeyError("a bug")
        return "yes"

    times = {f"q{number}": float(number + 1) for number in range(5)}
    with pytest.raises(KeyError, match="a bug"):
        run(asking(clip, times), SlidingWindow(Scripted(say), 2), tmp_path)


class Hanging(Spy):
    """Its sessions hang where they are told to."""

    def __init__(self, where: str) -> None:
        super().__init__(forks=False)
        self.where = where

    async def open(self, spec: SessionSpec) -> "HangingSession":
        if self.where == "open":
            await asyncio.sleep(3600)
        return HangingSession(self, [])


class HangingSession(SpySession):
    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]:
        if isinstance(self._spy, Hanging) and self._spy.where == "feed":
            await asyncio.sleep(3600)
        return await super().feed(frames)

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]:
        if isinstance(self._spy, Hanging) and self._spy.where == "ask":
            await asyncio.sleep(3600)
        return await super().ask(query, must_answer=must_answer)

    async def close(self) -> None:
        if isinstance(self._spy, Hanging) and self._spy.where == "close":
            await asyncio.sleep(3600)


@pytest.mark.parametrize("where", ["open", "feed", "ask"])
def test_a_session_that_hangs_fails_its_questions(clip: Path, tmp_path: Path, where: str) -> None:
    benchmark = asking(clip, {"a": 1.0, "b": 2.0}, memory="keep")
    profile = Profile(timeout=Timeouts(total=0.2))
    result = run(benchmark, Hanging(where), tmp_path, profile=profile, retry={"attempts": 1})
    assert result.report.replies == {"failed": 2}
    assert any("no answer of the session within 0.2 s" in note for note in result.report.notes)


def test_a_session_that_never_closes_is_let_go(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed_session, "CLOSING", 0.1)
    result = run(asking(clip, {"a": 1.0}, memory="keep"), Hanging("close"), tmp_path)
    assert result.report.replies == {"ok": 1}


def test_a_kept_session_that_is_busy_once_is_repeated(clip: Path, tmp_path: Path) -> None:
    tries: list[str] = []

    def fails(query: str) -> bool:
        tries.append(query)
        return tries == ["a"]

    benchmark = asking(clip, {"a": 1.0, "b": 2.0}, memory="keep")
    result = run(benchmark, Spy(fails=fails), tmp_path, retry={"backoff": 0.001})
    assert (result.report.replies, tries) == ({"ok": 2}, ["a", "a", "b"])


def test_a_question_before_the_first_frame_fails_and_of_one_frame_it_is_shown(
    clip: Path, tmp_path: Path
) -> None:
    spy = Spy()
    result = run(asking(clip, {"a": 0.0, "b": 1.0}), spy, tmp_path / "early")
    assert result.report.replies == {"ok": 1, "failed": 1}
    assert any("no frame before 0 s" in note for note in result.report.notes)
    single_frame = videos.cfr(tmp_path / "one.mp4", n=1, fps=FPS).path
    run(asking(single_frame, {"a": 5.0}), spy, tmp_path / "one")
    assert spy.seen_by_question["a"] == [0]


def test_the_newest_frame_of_a_question_is_not_fed_again(clip: Path, tmp_path: Path) -> None:
    spy = Spy()
    run(asking(clip, {"a": 0.75, "b": 3.0}, frames="fps:3,latest", memory="keep"), spy, tmp_path)
    frames = [index for index in spy.seen_by_question["b"] if index != -1]
    assert frames == sorted(set(frames))


def test_more_sessions_than_threads_and_slots_come_to_their_end(clip: Path, tmp_path: Path) -> None:
    """Each video is one session; what opens one waits for nobody who waits for it."""
    times = {f"q{number}": 8.0 + number / 10 for number in range(40)}
    benchmark = asking(clip, times)
    assert benchmark.procedure.streaming is not None
    apart = vary(
        benchmark,
        streaming=replace(benchmark.procedure.streaming, session=lambda sample: sample.id),
        group_by=lambda sample: sample.id,
    )
    model = Scripted("yes")
    assert run(apart, SlidingWindow(model, 2), tmp_path).report.replies == {"ok": 40}


def test_a_resumed_session_adds_its_time_to_that_of_the_first(clip: Path, tmp_path: Path) -> None:
    """Of ten seconds all questions but one were answered; it was at two."""
    retry = {"backoff": 0.001, "attempts": 1}
    benchmark = asking(clip, {"a": 2.0, "b": 10.0})
    first = run(benchmark, Spy(fails=lambda query: query == "a"), tmp_path, retry=retry)
    second = run(benchmark, Spy(), tmp_path, retry=retry)
    assert first.report.streaming is not None and second.report.streaming is not None
    assert (first.report.streaming.sessions, first.report.streaming.media_seconds) == (1, 10)
    assert (second.report.streaming.sessions, second.report.streaming.media_seconds) == (2, 12)
    assert any("1 session: 10 s of video" in note for note in first.report.notes)
    assert any("2 sessions: 12 s of video" in note for note in second.report.notes)


@pytest.mark.parametrize(("memory", "repeated"), [("fork", ["b"]), ("keep", ["a", "b"])])
def test_the_report_says_if_replies_of_an_interrupted_session_count_but_not_its_time(
    clip: Path, tmp_path: Path, memory: str, repeated: list[str]
) -> None:
    benchmark = asking(clip, {"a": 2.0, "b": 10.0}, memory=memory)
    run(benchmark, Spy(speaks=breaking_at(5.0)), tmp_path)
    spy = Spy()
    report = run(benchmark, spy, tmp_path).report
    assert [*spy.seen_by_question] == repeated
    assert report.streaming is not None and report.streaming.sessions == 1
    # A session that remembers its questions is asked all of them again.
    interrupted = any("1 session was interrupted" in note for note in report.notes)
    assert interrupted == (memory == "fork")


def breaking_at(time: float) -> Callable[[Frame], str | None]:
    def speak(frame: Frame) -> str | None:
        if frame.time >= time:
            raise Rejected("out of memory")
        return None

    return speak


def test_each_repeat_of_a_session_counts(clip: Path, tmp_path: Path) -> None:
    streaming = run(asking(clip, {"a": 2.0}), Spy(), tmp_path, repeats=3).report.streaming
    assert streaming is not None
    assert (streaming.sessions, streaming.media_seconds) == (3, 6)
