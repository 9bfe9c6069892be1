"""The eye chart as video: the same everywhere, drawn when it is asked, and read strictly."""

import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.analysis.result import Result
from snellen.benchmarks.eyechart_video import CHANCE, eyechart_video
from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError, UsageError, install
from snellen.media import video
from snellen.media.content import Video
from snellen.media.drawing import CLIP_KINDS, clip_script
from snellen.media.drawing.clip import Kind
from snellen.metrics import Category, Columns
from snellen.metrics.acuity import threshold
from snellen.stats import Estimate

OFFICIAL = eyechart_video().scorings["official"]
KINDS: Mapping[str, Kind] = {kind: kind for kind in CLIP_KINDS}
LENGTHS = ("0.1 seconds", "0.2 seconds", "0.4 seconds", "0.8 seconds", "1.6 seconds")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def samples(benchmark: Benchmark) -> list[Sample]:
    return [benchmark.read(row) for row in benchmark.data]


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def clip(benchmark: Benchmark, sample: Sample) -> Video:
    """The video of a sample's request."""
    request = benchmark.request(sample)
    assert request is not None
    (videos,) = request.messages[0].videos
    return videos


# -- rows


def test_the_clips_are_the_same_on_every_machine() -> None:
    assert eyechart_video().data.facts().digest == "d7e1a2d613f58f4bf7f7f171f85d099a"


def test_another_seed_asks_about_other_clips() -> None:
    item, other = ([str(s.data) for s in samples(eyechart_video(seed=seed))] for seed in (0, 1))
    assert not set(item) & set(other)


def test_fewer_clips_are_the_first_of_more() -> None:
    few = samples(eyechart_video(clips=6))
    assert few == samples(eyechart_video(clips=12))[: len(few)]


def test_a_task_by_itself_has_the_same_samples_as_among_others() -> None:
    together = [sample for sample in samples(eyechart_video()) if sample.tags["task"] == "order"]
    assert samples(eyechart_video(clips=12, tasks="order")) == together


def test_every_task_has_equally_many_clips_and_every_length_a_flash_in_each() -> None:
    benchmark = eyechart_video()
    assert benchmark.cluster_by is not None and benchmark.procedure.group_by is not None
    of = {benchmark.cluster_by(sample): sample.tags["task"] for sample in samples(benchmark)}
    assert of == {
        benchmark.procedure.group_by(sample): sample.tags["task"] for sample in samples(benchmark)
    }
    assert Counter(of.values()) == dict.fromkeys(CLIP_KINDS, 12)
    lengths = Counter(sample.tags["flash"] for sample in samples(benchmark) if sample.tags["flash"])
    assert lengths == dict.fromkeys(LENGTHS, 12)


def test_results_are_broken_down_by_the_ladder_if_it_was_asked() -> None:
    benchmark = eyechart_video(tasks="letter+count")
    assert (benchmark.presentation.break_down_by, list(benchmark.scorings["official"].metrics)) == (
        ("task",),
        ["accuracy"],
    )
    assert eyechart_video().presentation.break_down_by == ("task", "flash")


def test_who_always_says_one_is_right_about_every_fourth_count() -> None:
    benchmark = eyechart_video(clips=300, tasks="count")
    targets = Counter(sample.target for sample in samples(benchmark))
    assert targets.most_common(1)[0][0] == "1"
    assert targets["1"] / targets.total() == pytest.approx(1 / 4, abs=0.03)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tasks": "letter+smell"}, "'letter\\+smell'"),
        ({"tasks": "flash+flash"}, "without repetition"),
        ({"tasks": ""}, "one or more of letter\\+count\\+order\\+flash"),
        ({"clips": 0}, "at least 1"),
        ({"data": "folder"}, "reads no data"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        eyechart_video(**options)  # type: ignore[arg-type]


# -- clips


def test_a_clip_is_drawn_when_it_is_first_asked_about_and_kept(home: Path) -> None:
    benchmark = eyechart_video(clips=4)
    first, second, *_ = samples(benchmark)
    assert not files(home)

    clip(benchmark, first)
    (drawn,) = files(home)
    before = drawn.stat()
    clip(benchmark, second)
    assert [(path, path.stat().st_ino) for path in files(home)] == [(drawn, before.st_ino)]


def test_a_clip_of_another_seed_is_another_file(home: Path) -> None:
    for seed in (0, 1):
        benchmark = eyechart_video(seed=seed, clips=1)
        clip(benchmark, samples(benchmark)[0])
    assert len({path.read_bytes() for path in files(home)}) == 2


def test_two_processes_may_draw_a_clip_at_once(home: Path) -> None:
    code = (
        "from snellen.benchmarks.eyechart_video import eyechart_video\n"
        "made = eyechart_video(clips=2)\n"
        "for row in made.data: made.request(made.read(row))\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", code], env={**os.environ}) for _ in range(2)]
    assert [side.wait() for side in both] == [0, 0]
    assert {path.name for path in files(home)} == {"letter-0.mp4", "count-0.mp4"}
    benchmark = eyechart_video(clips=2)
    for sample in samples(benchmark):
        assert video.shown(clip(benchmark, sample)).frames


def test_no_frame_is_shown_from_after_the_question() -> None:
    changed = vary(eyechart_video(clips=4), frames="every")
    for sample in samples(changed)[::3]:
        kind, number, words = sample.id.split("-")
        question = clip_script(KINDS[kind], f"0 {number}").questions[int(words)]
        frames = video.shown(clip(changed, sample)).frames
        # The question lies half-way between the last frame and the next one.
        assert [frame.time for frame in frames] == pytest.approx(
            [k / 10 for k in range(len(frames))]
        )
        assert frames[-1].time == pytest.approx(question.time - 0.05)


def test_without_the_extra_it_says_which_one_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    benchmark = eyechart_video(clips=1)
    with pytest.raises(UsageError, match=re.escape(install("video"))):
        benchmark.request(samples(benchmark)[0])


def test_a_place_where_no_clip_can_be_kept_is_named(home: Path) -> None:
    home.write_text("a file")
    benchmark = eyechart_video(clips=1)
    with pytest.raises(DataError, match=r"eyechart-video: .*home.* SNELLEN_HOME"):
        benchmark.request(samples(benchmark)[0])


# -- scoring


@pytest.mark.parametrize(
    ("task", "target", "reply", "answer", "score"),
    [
        ("letter", "K", "K", "K", 1.0),
        ("letter", "K", "k.", "K", 1.0),
        ("letter", "K", "Answer: **K**", "K", 1.0),
        ("letter", "K", "H", "H", 0.0),
        ("letter", "K", "X", "X", 0.0),
        ("letter", "K", "The letter K", None, 0.0),
        ("order", "K", "K, H", None, 0.0),
        ("flash", "K", "?", None, 0.0),
        ("flash", "K", "", None, 0.0),
        ("flash", "K", "7", None, 0.0),
        ("count", "3", "3", "3", 1.0),
        ("count", "3", "`03`.", "3", 1.0),
        ("count", "3", "13", "13", 0.0),
        ("count", "0", "0", "0", 1.0),
        ("count", "3", "three", None, 0.0),
        ("count", "3", "3 times", None, 0.0),
        ("count", "3", "K", None, 0.0),
        ("count", "3", "9" * 5000, None, 0.0),
    ],
)
def test_replies_are_read_strictly(
    task: str, target: str, reply: str, answer: str | None, score: float
) -> None:
    sample = replace(samples(eyechart_video(clips=1, tasks=task))[0], target=target)
    reading = OFFICIAL.parse(Reply(text=reply), sample)
    assert reading.answer == answer
    assert OFFICIAL.score(reading, sample) == score


# -- temporal acuity


def watched(seed: int, rate: int, clips: int = 12) -> Estimate:
    """The temporal acuity of who reads all that `rate` frames a second show of so many clips."""
    scores, lengths, cluster = [], [], []
    for number in range(clips):
        script = clip_script("flash", f"{seed} {number}")
        text = ""
        for item, question in zip(script.shown, script.questions, strict=True):
            frame = -(-item.first * rate // 10)  # the first one that is no earlier than the flash
            text = item.letter if frame * 10 < item.end * rate else text
            scores.append(float(text == question.target))
            lengths.append(LENGTHS.index(question.tags["flash"]))
            cluster.append(number)
    empty = np.empty(len(scores), dtype=object)
    flash = Category(codes=np.array(lengths, dtype=np.int32), names=LENGTHS)
    columns = Columns(
        score=np.array(scores), cluster=np.array(cluster, dtype=np.int32), tags={"flash": flash},
        answer=empty, target=empty, references=empty, state=flash,
    )  # fmt: skip
    metric = threshold("flash", unit="seconds", trials=1, guess=CHANCE, harder="lower")
    return metric(columns)


@pytest.mark.parametrize("rate", [1, 2])
def test_who_reads_every_frame_needs_half_the_time_between_frames(rate: int) -> None:
    actual = [watched(seed, rate) for seed in range(40)]
    held = [
        low <= 1 / (2 * rate) <= high for item in actual if item.ci95 for low, high in [item.ci95]
    ]
    assert len(held) >= 38
    # 95 % of 40, and 3.3 standard errors.
    assert sum(held) / len(held) >= 0.95 - 3.3 * (0.95 * 0.05 / 40) ** 0.5
    middle = np.mean([math.log2(item.value) for item in actual if item.value is not None])
    assert 2**middle == pytest.approx(1 / (2 * rate), rel=0.15)


def by_length(result: Result) -> Mapping[str, float | None]:
    return {name: item.value for name, item in result.by("flash").items()}


def test_fewer_frames_lose_short_flashes(tmp_path: Path) -> None:
    actual = {
        frames: snellen.evaluate(
            "eyechart-video:tasks=flash,clips=4", "baseline/reader", out=tmp_path, frames=frames
        )
        for frames in ("fps:10", "fps:1", "uniform:8")
    }
    assert set(by_length(actual["fps:10"]).values()) == {1.0}
    assert actual["fps:10"].scoring().metrics["temporal_acuity"].reason == (
        "accuracy is 100 % at the hardest level, 0.1 seconds"
    )
    once_a_second = by_length(actual["fps:1"])
    assert once_a_second["1.6 seconds"] == 1.0
    assert (once_a_second["0.1 seconds"] or 0) + (once_a_second["0.2 seconds"] or 0) < 1.0
    values = [actual[frames].headline.value or 0 for frames in ("fps:10", "fps:1", "uniform:8")]
    assert values == sorted(values, reverse=True)
    assert values[0] > values[1] + 0.2


def test_streamed_to_a_window_over_everything_it_is_read_as_offline(tmp_path: Path) -> None:
    accuracies = []
    for mode, adapter in (("polled", "window:all"), ("offline", None)):
        spec = f"eyechart-video:clips=8,mode={mode}"
        result = snellen.evaluate(spec, "baseline/reader", out=tmp_path, adapter=adapter)
        metrics = result.report.scorings["official"].metrics
        accuracies.append((result.report.n, metrics["accuracy"].value))
    assert accuracies[0] == accuracies[1]
    assert accuracies[0][0] > 20
