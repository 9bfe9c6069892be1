"""Questions about videos: decoded once for all that share one, ahead of the model."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

import snellen
from snellen.benchmarks import video_mme as video_mme_file
from snellen.core.benchmark import Benchmark
from snellen.core.model import Generates, Reply, Request
from snellen.core.procedure import Conversation, Procedure
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring
from snellen.data import Drawn, Row
from snellen.errors import UsageError
from snellen.media import video as video_files
from snellen.media.content import Video, user
from snellen.metrics import mean
from snellen.run import (
    Budget,
    Job,
    Limiter,
    Progress,
    Scheduler,
    Settings,
    Stop,
    request_room,
    select,
)
from snellen.run import clips as clip_module
from snellen.run.option_text import folder_and_size
from snellen.run.progress_text import line
from snellen.store import ReplyRecord, Run
from tests import videos
from tests.tiny import Says
from tests.videos import index_of

VIDEO_MME = Path(video_mme_file.__file__).parent / "rows/video_mme"


def about(path: Path, questions: Sequence[tuple[str, str, float]], turns: int = 1) -> Benchmark:
    """Questions (id, video, end of what may be seen), asked with the newest of the frames."""

    def sample(row_index: int, row: Row) -> Sample:
        return Sample(
            id=row["id"],
            question=row["id"],
            target="yes",
            media=(Video(path / row["video"], end=row["end"], label=row["video"]),),
            data={"video": row["video"]},
        )

    return Benchmark(
        name="videos",
        asks=1,
        data=Drawn(
            "videos",
            lambda: ({"id": name, "video": file, "end": end} for name, file, end in questions),
        ),
        sample=sample,
        prompt=lambda sample, history: (user(*sample.media, f"{sample.id}.{len(history)}"),),
        scorings={
            "official": Scoring(
                version=1,
                source="ours",
                parse=lambda reply, sample: Reading(answer=reply.text, rule="whole"),
                score=lambda reading, sample: 1.0,
                metrics={"accuracy": mean},
            )
        },
        procedure=Procedure(
            conversation=Conversation(turns=turns),
            group_by=lambda sample: str(sample.data["video"]),
            frames="uniform:4",
        ),
    )


class Watching:
    """Keeps what it is shown: the indices and times of frames, by question."""

    name = "watching"

    def __init__(self, say: Callable[[str], str] = lambda _: "yes") -> None:
        self.shown: dict[str, list[int]] = {}
        self.times: dict[str, list[float]] = {}
        self._say = say

    async def generate(self, request: Request) -> Reply:
        (message,) = request.messages
        (video,) = message.videos
        self.shown[message.text] = [
            index_of(np.asarray(PIL.Image.open(BytesIO(frame.image.source))))  # type: ignore[arg-type]
            for frame in video.frames
        ]
        self.times[message.text] = [frame.time for frame in video.frames]
        await asyncio.sleep(0.001)
        return Reply(text=self._say(message.text), stop="stop")


def ask(
    benchmark: Benchmark,
    model: Generates,
    folder: Path,
    limit: int = 2,
    repeats: int = 1,
    progress: Progress | None = None,
) -> Run:
    async def work() -> Run:
        run = Run(folder)
        run.load()
        rows = benchmark.data.facts().rows
        job = Job(
            benchmark=benchmark,
            model=model,
            run=run,
            selection=select(benchmark, rows, limit=None, sample=None, seed=0),
            settings=Settings(repeats=repeats),
            limiter=Limiter(limit),
            budget=Budget(),
            stop=Stop(),
            progress=progress or Progress(name="videos"),
        )
        await Scheduler(job).ask_all()
        run.close()
        return run

    return asyncio.run(work())


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clips")
    for number in range(3):
        videos.cfr(folder / f"v{number}.mp4", n=120)
    return folder


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The videos that are decoded, each time that one is."""
    names: list[str] = []
    decoded = video_files.decoded

    def counted(video: Video, *how: Any) -> object:
        names.append(video.source.name)
        return decoded(video, *how)

    monkeypatch.setattr(video_files, "decoded", counted)
    return names


QUESTIONS = [(f"q{i}", f"v{i % 3}.mp4", 0.5 + 0.25 * i) for i in range(12)]


def test_each_video_is_decoded_once_for_all_its_questions(
    clips: Path, tmp_path: Path, opened: list[str]
) -> None:
    model = Watching()
    ask(about(clips, QUESTIONS), model, tmp_path)
    assert sorted(opened) == ["v0.mp4", "v1.mp4", "v2.mp4"]
    for name, _, end in QUESTIONS:
        last = round(end * 30) - 1 if (end * 30).is_integer() else int(end * 30)
        assert model.shown[f"{name}.0"] == np.linspace(0, last, 4, dtype=int).tolist(), name
        assert max(model.times[f"{name}.0"]) < end


def test_frame_times_and_policy_are_stored_with_the_reply(clips: Path, tmp_path: Path) -> None:
    run = ask(about(clips, [("q", "v0.mp4", 2.0)]), Watching(), tmp_path)
    run = Run(tmp_path)
    run.load()
    record = run.final(("q", 0, 0))
    assert record is not None
    assert record.media[0].frames == pytest.approx([0, 19 / 30, 39 / 30, 59 / 30])
    question = (tmp_path / "questions.jsonl").read_text(encoding="utf-8")
    assert '"policy":"uniform:4"' in question and '"end":2.0' in question
    assert record.media[0].digest in question
    run.close()


@pytest.mark.parametrize(("policy", "size"), [("uniform:4,side=32", (32, 19)), ("uniform:4", None)])
def test_the_size_of_a_video_and_of_the_frames_that_were_shown_are_stored(
    clips: Path, tmp_path: Path, policy: str, size: tuple[int, int] | None
) -> None:
    own = (320, 192)
    plain = about(clips, [("q", "v0.mp4", 2.0)])
    benchmark = replace(plain, procedure=replace(plain.procedure, frames=policy))
    run = ask(benchmark, Says(lambda request: "yes"), tmp_path)
    (question,) = run.questions()
    (record,) = run.replies()
    assert isinstance(record, ReplyRecord)
    assert (question.media[0].width, question.media[0].height) == own
    (seen,) = record.media
    assert (seen.width, seen.height, seen.original) == (*(size or own), own if size else None)


def test_a_broken_video_fails_its_questions_by_name_and_no_others(
    clips: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "v0.mp4").symlink_to(clips / "v0.mp4")
    videos.text(data / "v1.mp4")
    (tmp_path / "run").mkdir()
    ask(about(data, QUESTIONS), Watching(), tmp_path / "run")
    run = Run(tmp_path / "run")
    run.load()
    for name, file, _ in QUESTIONS:
        record = run.final((name, 0, 0))
        assert record is not None
        if file == "v0.mp4":
            assert record.state == "ok"
        else:
            assert record.state == "failed" and record.error is not None
            says = "is missing" if file == "v2.mp4" else "cannot be decoded"
            assert file in record.error.message and says in record.error.message
    run.close()


def test_what_is_answered_is_not_decoded_again(
    clips: Path, tmp_path: Path, opened: list[str]
) -> None:
    ask(about(clips, QUESTIONS[:2]), Watching(), tmp_path)
    opened.clear()
    model = Watching()
    ask(about(clips, QUESTIONS[:5]), model, tmp_path)
    assert sorted(opened) == ["v0.mp4", "v1.mp4", "v2.mp4"]
    assert sorted(model.shown) == ["q2.0", "q3.0", "q4.0"]
    opened.clear()
    ask(about(clips, QUESTIONS[:5]), Watching(), tmp_path)
    assert opened == []


def test_with_no_room_for_more_than_one_questions_frames_all_are_asked_in_turn(
    clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clip_module, "MOST_BYTES", 1)
    model = Watching()
    ask(about(clips, QUESTIONS), model, tmp_path, limit=8, repeats=2)
    assert len(model.shown) == 12


def test_every_turn_and_repeat_is_shown_the_frames(
    clips: Path, tmp_path: Path, opened: list[str]
) -> None:
    model = Watching()
    ask(about(clips, QUESTIONS[:3], turns=2), model, tmp_path, repeats=3)
    assert sorted(opened) == ["v0.mp4", "v1.mp4", "v2.mp4"]
    assert {len(frames) for frames in model.shown.values()} == {4}
    assert sorted(model.shown) == [f"q{i}.{turn}" for i in range(3) for turn in range(2)]


def test_a_sample_of_two_windows_does_not_wait_for_itself(
    clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clip_module, "MOST_BYTES", 1)
    base = about(clips, [("q0", "v0.mp4", 1.0), ("q1", "v0.mp4", 3.0)])
    videos_ = (Video(clips / "v0.mp4", end=1.0), Video(clips / "v0.mp4", end=2.0))
    seen: list[int] = []

    class Two(Watching):
        async def generate(self, request: Request) -> Reply:
            seen.append(sum(len(video.frames) for video in request.messages[0].videos))
            return Reply(text="yes", stop="stop")

    two = replace(
        base,
        sample=lambda row_index, row: replace(base.sample(row_index, row), media=videos_),
        prompt=lambda sample, history: (user(*sample.media, sample.id),),
    )
    ask(two, Two(), tmp_path)
    assert seen == [8, 8]


def test_a_video_of_the_prompt_alone_is_decoded_too(clips: Path, tmp_path: Path) -> None:
    base = about(clips, [("q0", "v0.mp4", 1.0)])
    example = Video(clips / "v1.mp4", end=1.0)
    model = Watching()
    shown = replace(
        base,
        sample=lambda row_index, row: replace(base.sample(row_index, row), media=()),
        prompt=lambda sample, history: (user(example, f"{sample.id}.{len(history)}"),),
    )
    ask(shown, model, tmp_path)
    assert model.shown == {"q0.0": [0, 9, 19, 29]}


def test_a_model_that_does_not_look_has_nothing_decoded(
    clips: Path, tmp_path: Path, opened: list[str]
) -> None:
    class Blind(Watching):
        wants_frames = False

        async def generate(self, request: Request) -> Reply:
            return Reply(text="yes", stop="stop")

    ask(about(clips, QUESTIONS), Blind(), tmp_path)
    assert opened == []


def test_frames_are_among_a_messages_images(clips: Path, tmp_path: Path) -> None:
    class Looking(Watching):
        async def generate(self, request: Request) -> Reply:
            return Reply(text=str(len(request.messages[0].images)), stop="stop")

    run = ask(about(clips, QUESTIONS[:1]), Looking(), tmp_path)
    run = Run(tmp_path)
    run.load()
    record = run.final(("q0", 0, 0))
    assert record is not None and record.reply == "4"
    run.close()


def test_progress_counts_videos_too(clips: Path, tmp_path: Path) -> None:
    progress = Progress(name="videos", total=12)
    ask(about(clips, QUESTIONS), Watching(), tmp_path, progress=progress)
    assert (progress.videos, progress.videos_total, progress.done) == (3, 3, 12)
    assert "12/12  3/3 videos" in line(progress)


# -- one bound of memory, and the cache


@pytest.mark.parametrize("turns", [1, 2])
def test_without_room_all_groups_are_asked_one_after_the_other(
    clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    monkeypatch.setattr(clip_module, "MOST_BYTES", 1)
    monkeypatch.setattr(request_room, "MOST_BYTES", 1)
    model = Watching()
    # The second turn asks about another video, while the first one's frames are still held.
    base = about(clips, QUESTIONS, turns=turns)
    other = Video(clips / "v1.mp4", end=1.5)
    benchmark = replace(
        base,
        prompt=lambda sample, history: (
            user(*([other] if history else sample.media), f"{sample.id}.{len(history)}"),
        ),
    )
    ask(benchmark, model, tmp_path, limit=8, repeats=2)
    assert len(model.shown) == 12 * turns


def test_a_samples_videos_from_several_files_do_not_wait_for_each_other(
    clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clip_module, "MOST_BYTES", 1)
    base = about(clips, [(f"q{number}", "v0.mp4", 1.0) for number in range(4)])
    videos_ = tuple(Video(clips / f"v{number}.mp4", end=2.0) for number in range(3))
    seen: list[int] = []

    class Several(Watching):
        async def generate(self, request: Request) -> Reply:
            seen.append(sum(len(video.frames) for video in request.messages[0].videos))
            return Reply(text="yes", stop="stop")

    several = replace(
        base,
        sample=lambda row_index, row: replace(base.sample(row_index, row), media=videos_),
        prompt=lambda sample, history: (user(*sample.media, sample.id),),
    )
    ask(several, Several(), tmp_path)
    assert seen == [12] * 4


def test_frames_in_flight_stay_within_the_room_for_requests(
    clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = [0, 0]

    class Slow(Watching):
        async def generate(self, request: Request) -> Reply:
            most[0] += 1
            most[1] = max(most)
            await asyncio.sleep(0.01)
            most[0] -= 1
            return Reply(text="yes", stop="stop")

    for name in "12":
        (tmp_path / name).mkdir()
    ask(about(clips, QUESTIONS), Slow(), tmp_path / "1", limit=8)
    assert most[1] > 2
    most[:] = [0, 0]
    monkeypatch.setattr(request_room, "MOST_BYTES", 1)
    ask(about(clips, QUESTIONS), Slow(), tmp_path / "2", limit=8)
    assert most[1] == 1


def test_with_a_cache_a_second_model_decodes_nothing_and_gets_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    opens = video_files._opened

    def counted(film: Video) -> object:
        opened.append(film.source.name)
        return opens(film)

    monkeypatch.setattr(video_files, "_opened", counted)
    results = []
    for name, cache in (("none", None), ("first", "1GB"), ("second", "1GB")):
        opened.clear()
        result = snellen.evaluate(
            "video-mme",
            Says(lambda request: "B", name=name),
            data=VIDEO_MME,
            frames="uniform:5,side=64",
            out=tmp_path / "runs",
            frame_cache=f"{tmp_path / 'cache'}:{cache}" if cache else None,
        )
        assert result.run is not None
        results.append((sorted(opened), (result.run / "replies.jsonl").read_text()))
        assert (tmp_path / "cache").exists() is (cache is not None)

    assert [names for names, _ in results] == [["letters-1.mp4", "letters_2.mp4"]] * 2 + [[]]
    media = [[json.loads(line)["media"] for line in text.splitlines()] for _, text in results]
    assert media[0] == media[1] == media[2]


def test_the_cache_is_not_in_the_identity(tmp_path: Path) -> None:
    model = Says(lambda request: "B", name="model")
    common: dict[str, Any] = {
        "data": VIDEO_MME,
        "frames": "uniform:2,side=64",
        "out": tmp_path / "runs",
    }
    first = snellen.evaluate("video-mme", model, **common)
    second = snellen.evaluate("video-mme", model, frame_cache=str(tmp_path / "cache"), **common)
    assert first.run == second.run


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (":5GB", "names no folder"),
        ("s3://bucket/frames", "is not a folder on this machine"),
        ("frames:0.5MB", "allows less than 1MB"),
        ("frames:abc", "does not end in a size"),
        ("~no-such-user/frames", "starts in the home folder of an unknown user"),
        ("frames:0", "does not end in a size"),
        ("frames:1kb", "does not end in a size"),
        ("frames:-1GB", "does not end in a size"),
        ("frames:", "does not end in a size"),
        ("frames:50gb:5GB", "does not end in a size"),
    ],
)
def test_a_cache_that_is_none_says_what_to_write(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UsageError, match=f"frame.cache.*{says}"):
        snellen.evaluate(
            "video-mme", Says(lambda request: "B"), out=tmp_path, data=VIDEO_MME, frame_cache=text
        )


def test_a_cache_folder_may_have_a_colon_in_its_name_if_it_exists(tmp_path: Path) -> None:
    folder = tmp_path / "a:b"
    with pytest.raises(ValueError, match="does not end in a size"):
        folder_and_size(f"{folder}")
    folder.mkdir()
    assert folder_and_size(f"{folder}") == (folder, 20_000_000_000)
    assert folder_and_size(f"{folder}:5GB") == (folder, 5_000_000_000)
    assert folder_and_size(f"{folder}/frames") == (folder / "frames", 20_000_000_000)
