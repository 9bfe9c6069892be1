"""Benchmarks of videos against the code of authors and toolkits on generated replies and verdicts.

They, and what the code gives for them, are in video_answers.jsonl.gz
(scripts/draw_video_answers.py).
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from math import isnan
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.core import Published
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Judge
from snellen.media import video
from snellen.media.content import TimedText

FIXTURE = Path(__file__).parent / "video_answers.jsonl.gz"
SYNTHETIC = Path(registry.SYNTHETIC)
Row = Mapping[str, Any]


@cache
def rows(kind: str) -> Sequence[Row]:
    lines = gzip.decompress(FIXTURE.read_bytes()).decode().splitlines()
    return [row for row in map(json.loads, lines) if row["kind"] == kind]


def judge_of(benchmark: str, scoring: str) -> Judge:
    judge = registry.benchmark(benchmark, data=SYNTHETIC).scorings[scoring].judge
    assert judge is not None
    return judge


def returned(published: Published, _: Path) -> Published:
    return published


def digest(judge: Judge, sample: Sample, reply: str) -> str:
    texts = [
        part
        for message in judge.prompt(sample, Reply(text=reply))
        for part in message.content
        if isinstance(part, str)
    ]
    return sha256("\n".join(texts).encode()).hexdigest()


@pytest.mark.parametrize(
    ("benchmark", "scoring", "column"),
    [
        ("perceptiontest", "lmms-eval", "perceptiontest"),
        ("next-qa", "lmms-eval", "next_qa"),
        ("video-holmes", "official", "holmes"),
        ("video-holmes", "vlmevalkit", "holmes_kit"),
        ("video-holmes", "lmms-eval", "holmes_lmms"),
    ],
)
def test_letters_are_those_of_the_code(benchmark: str, scoring: str, column: str) -> None:
    rule = registry.benchmark(benchmark, data=SYNTHETIC).scorings[scoring]
    wrong = []
    for row in rows("letter"):
        sample = Sample(id=row["id"], question="Which?", choices=tuple(row["choices"]), target="A")
        reading = rule.parse(Reply(text=row["reply"]), sample)
        answer = "random" if reading.undecided else reading.answer or ""
        if answer != row[column]:
            wrong.append((row["reply"], row["choices"], row[column], answer))
    assert len(rows("letter")) == 720
    assert wrong == []


@pytest.mark.parametrize(
    ("scoring", "column"), [("video-chatgpt", "official"), ("lmms-eval", "lmms")]
)
def test_activitynet_qas_verdicts_are_asked_for_and_read_as_by_the_code(
    scoring: str, column: str
) -> None:
    judge = judge_of("activitynet-qa", scoring)
    assert len(rows("activitynet")) == 640
    for row in rows("activitynet"):
        sample = Sample(id="1", question=row["question"], target=row["answer"])
        answer = judge.parse(row["words"], sample).answer
        expected = row[column] and (row[column][0], str(row[column][1]))
        assert answer == expected, row
        assert digest(judge, sample, row["reply"]) == row["prompt"]


def test_mmbench_videos_ratings_are_asked_for_and_read_as_by_its_authors_code() -> None:
    judge = judge_of("mmbench-video", "official")
    assert len(rows("mmbench")) == 640
    for row in rows("mmbench"):
        sample = Sample(id="1", question=row["question"], target=row["answer"])
        answer = judge.parse(row["words"], sample).answer
        # Their code counts a rating above 3, which the judge is not asked for.
        assert answer == (row["rating"] if 0 <= row["rating"] <= 3 else None), row
        assert digest(judge, sample, row["prediction"]) == row["prompt"]


def test_mmbench_videos_means_are_those_of_its_authors_code(tmp_path: Path) -> None:
    compared = 0
    for number, item in enumerate(rows("mmbench means")):
        folder = tmp_path / str(number)
        folder.mkdir()
        header = "index\tvideo\tquestion\tanswer\tdimensions"
        lines = [f"{k}\tv\t?\tx\t{row['dimensions']}" for k, row in enumerate(item["rows"])]
        text = "\n".join([header, *lines, ""])
        (folder / "MMBench-Video.tsv").write_text(text, encoding="utf-8")
        benchmark = registry.benchmark("mmbench-video", data=folder)
        ratings = {str(k): [str(row["score"])] for k, row in enumerate(item["rows"])}
        published = Published(replies=dict.fromkeys(ratings, "x"), verdicts={"official": ratings})
        benchmark = replace(
            benchmark,
            check=None,
            interop=replace(benchmark.interop, layout=partial(returned, published)),
        )
        result = snellen.score(folder / "MMBench-Video.tsv", benchmark, scorings=["official"])
        metrics = result.report.scorings["official"].metrics
        for name, printed in item["means"].items():
            metric = metrics.get("score" if name == "Overall" else f"score/{name}")
            if printed == "nan":
                assert metric is None
                continue
            assert metric is not None
            assert metric.value == pytest.approx(float(printed), abs=0.005 + 1e-9)
            compared += 1
    assert compared > 6 * 10


@pytest.mark.parametrize("task", ["sub_scene", "summary"])
def test_mlvus_grades_are_asked_for_and_read_as_by_its_authors_code(task: str) -> None:
    judge = judge_of(f"mlvu:task={task}", "official")
    compared = [row for row in rows("mlvu") if row["task"] == task]
    assert len(compared) == 320
    for row in compared:
        sample = Sample(
            id="1",
            question=row["question"],
            target=row["answer"],
            data={"points": row["points"]},
        )
        # Their code averages nan, too.
        grades = row["grades"] if row["grades"] and not any(map(isnan, row["grades"])) else None
        answer = judge.parse(row["words"], sample).answer
        assert answer == (grades and tuple(map(str, grades))), row
        assert digest(judge, sample, row["reply"]) == row["prompt"]


def test_mmvus_prompts_are_those_of_its_authors_code() -> None:
    judge = judge_of("mmvu", "official")
    benchmarks = {
        preset: registry.benchmark(f"mmvu:prompt={preset}", data=SYNTHETIC)
        for preset in ("cot", "direct")
    }
    assert len(rows("mmvu")) == 240
    for row in rows("mmvu"):
        choices = tuple(row["choices"].values()) if row["question_type"] != "open-ended" else ()
        sample = Sample(id="1", question=row["question"], choices=choices, target=row["answer"])
        assert digest(judge, sample, row["reply"]) == row["prompt"]
        for preset, benchmark in benchmarks.items():
            (message,) = benchmark.prompt(sample, ())
            assert sha256(message.text.encode()).hexdigest() == row[preset]


def cg_bench(folder: Path) -> tuple[Benchmark, list[tuple[Sample, Row]]]:
    """CG-Bench's open questions of the fixture, in a folder with the authors' files."""
    (subtitles,) = rows("cg_bench subtitles")
    (folder / "cg_subtitles").mkdir()
    for name in ("v25", "v30"):
        (folder / "cg_subtitles" / f"{name}.srt").write_text(subtitles[name], encoding="utf-8")
    fields = ("video_uid", "question", "answer", "clue_intervals")
    items = [
        {"qid": number, "choices": [], **{name: row[name] for name in fields}}
        for number, row in enumerate(rows("cg_bench"))
    ]
    (folder / "cgbench_mini.json").write_text(json.dumps(items), encoding="utf-8")
    benchmark = registry.benchmark("cg-bench:task=open", data=folder)
    samples = [benchmark.read(row) for row in benchmark.data]
    return benchmark, [*zip(samples, rows("cg_bench"), strict=True)]


def steps_of(
    benchmark: Benchmark, sample: Sample, row: Row
) -> tuple[list[str | None], list[int] | None, str]:
    """The digests of the prompts of CG-Bench's three steps, the frames that the judge is shown, and
    its final words. None for what is not asked or shown."""
    scoring = benchmark.scorings["official"]
    judge, reply, words = scoring.judge, Reply(text=row["open"]), row["eval_open_step_1"]
    assert judge is not None and judge.then is not None and judge.then_when is not None
    (question,) = benchmark.prompt(sample, ())
    digests: list[str | None] = [sha256(str(question.content[-1]).encode()).hexdigest()]
    if not judge.when(scoring.parse(reply, sample)):
        return [*digests, None, None], None, ""
    digests.append(digest(judge, sample, row["open"]))
    if not judge.then_when(words):
        return [*digests, None], None, words
    (message,) = judge.then(sample, reply, words)
    *_, text = message.content
    assert isinstance(text, TimedText) and text.videos == message.videos
    times = [index / row["fps"] for index in range(int(60 * row["fps"]))]
    frames = [
        index
        for clip in message.videos
        for index in video.picked(video.policy(clip.policy or ""), times, clip.start, clip.end)
    ]
    written = text.write([index / row["fps"] for index in row["frames"]])
    return [*digests, sha256(written.encode()).hexdigest()], frames, row["eval_open_step_2"]


def test_cg_benchs_verdicts_are_asked_for_and_read_as_by_its_authors_code(tmp_path: Path) -> None:
    benchmark, samples = cg_bench(tmp_path)
    judge = benchmark.scorings["official"].judge
    assert judge is not None and len(samples) == 720
    n_looks = 0
    for sample, row in samples:
        prompts, frames, words = steps_of(benchmark, sample, row)
        assert prompts == row["prompts"], row
        assert frames is None or frames == row["frames"], row
        answer = judge.parse(words, sample).answer
        assert (None if answer is None else answer == "right") == row["is_right"], row
        n_looks += frames is not None
    assert n_looks == 150


def test_cg_benchs_mean_is_that_of_its_authors_code(tmp_path: Path) -> None:
    benchmark, samples = cg_bench(tmp_path)
    replies = {sample.id: row["open"] for sample, row in samples}
    verdicts = {sample.id: [steps_of(benchmark, sample, row)[2]] for sample, row in samples}
    published = Published(replies=replies, verdicts={"official": verdicts})
    benchmark = replace(
        benchmark,
        check=None,
        interop=replace(benchmark.interop, layout=partial(returned, published)),
    )
    result = snellen.score(tmp_path / "cgbench_mini.json", benchmark, scorings=["official"])
    metric = result.report.scorings["official"].metrics["accuracy"]
    (mean,) = rows("cg_bench mean")
    assert metric.value == pytest.approx(mean["accuracy"], abs=1e-9)
