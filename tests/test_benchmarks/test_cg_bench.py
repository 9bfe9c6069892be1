"""CG-Bench: its two kinds of tasks, and how the authors read choices and intervals."""

import json
import shutil
from pathlib import Path

import pytest

from snellen import api, registry
from snellen.benchmarks import cg_bench as file
from snellen.benchmarks.cg_bench import Task, cg_bench
from snellen.benchmarks.families import clue_judge, clues
from snellen.core.model import Reply, Request
from snellen.core.sample import Sample
from snellen.media.content import Video
from snellen.models.scripted import Scripted
from snellen.testing import check_benchmark
from tests import videos

BUNDLED = Path(file.__file__).parent / "rows" / "cg_bench"


def choice(text: str, target: str) -> float | None:
    sample = Sample(id="1", question="?", target=target)
    return clues.choice_score(clues.choice(Reply(text=text), sample), sample)


def overlap(text: str, *spans: list[float]) -> float | None:
    sample = Sample(id="1", question="?", target="-", data={"clues": [*spans]})
    return clues.overlap_score(clues.clue_overlap(Reply(text=text), sample), sample)


def in_block(text: str) -> str:
    return f"```json\n{text}\n```"


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        (in_block('{"result": "H"}'), "H", 1), ('```json\n{"result": "H"}', "H", 1),
        (in_block('{"result": H}'), "H", 1), (in_block('{"result": "A. text"}'), "A", 0),
        (in_block('{"result": ["A"]}'), "A", 0), (in_block('{"result": null}'), "A", 0),
        ("A or C", "A", 1), ("A or C", "C", 1), ("A dog", "A", 1), ("b", "B", None),
        ("", "B", None), (in_block("B"), "B", 1), (in_block('["B"]'), "B", 1),
    ],
)  # fmt: skip
def test_a_choice_is_in_the_json_or_among_the_capitals(
    text: str, target: str, expected: float | None
) -> None:
    assert choice(text, target) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (in_block('{"result": [[21, 30]]}'), 9 / 16),
        (in_block('{"result": [[18, 25], [25, 34]]}'), 1.0),
        (in_block('{"result": []}'), 0.0),
        (in_block('{"result": null}'), 0.0),
        (in_block('{"result": [21, 30]}'), 9 / 16),
        (in_block('{"result": [["21", "30"]]}'), 9 / 16),
        ("21 to 30", 9 / 16),
        ("12-30", 0.0),
        ("none", 0.0),
        ("21 to 30 and 4", None),
        ("[[1, 5], [3, 9]]", None),
        ("[[1, 5], [5, 9]]", None),
        ("", None),
    ],
)
def test_intervals_are_in_the_json_or_all_numbers_in_pairs(
    text: str, expected: float | None
) -> None:
    assert overlap(text, [18, 34]) == expected


def test_a_reversed_interval_has_a_negative_length() -> None:
    """The lengths are -10 and 20 for the reply, and 16 for the clue, of which 14 are shared."""
    text = in_block('{"result": [[60, 50], [20, 40]]}')
    assert overlap(text, [18, 34]) == pytest.approx(14 / (-10 + 20 + 16 - 14))


@pytest.mark.parametrize(
    ("task", "begin"),
    [("long", "You will be provided with sampled frames from a video, along with a multiple-"),
     ("clue", "You will be provided with sampled frames from a video, along with a multiple-"),
     ("miou", "You will be provided with uniformly sampled frames from a video and their time")],
)  # fmt: skip
def test_the_prompts_end_with_the_question_and_its_choices(task: Task, begin: str) -> None:
    benchmark = cg_bench(task, data=BUNDLED)
    samples = [*map(benchmark.read, benchmark.data)]
    text = benchmark.prompt(samples[0], ())[0].text

    assert text.startswith(begin)
    assert text.endswith(
        "Question: What is shown in this video?\n\nA:Letters\nB:Dogs\nC:Houses\nD:Clouds\n\n"
    )


def test_clue_shows_the_video_from_the_first_to_the_last_clue() -> None:
    long, clue = (cg_bench(task, data=BUNDLED) for task in ("long", "clue"))
    windows = []
    for benchmark in (long, clue):
        sample = [*map(benchmark.read, benchmark.data)][1]
        (medium,) = sample.media
        assert isinstance(medium, Video)
        windows.append((medium.start, medium.end))

    assert windows == [(0.0, None), (9.7, 16.1)]


# -- free answers


def test_the_benchmarks_check_passes_for_free_answers() -> None:
    assert check_benchmark("cg-bench:task=open").passed


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (in_block('{"result": "a white dog"}'), "a white dog"),
        (in_block('{"result": ["a", "b"]}'), "['a', 'b']"), (in_block('{"result": true}'), "True"),
        (in_block('{"result": null}'), in_block('{"result": null}')),
        (in_block('{"result": dog}'), in_block('{"result": dog}')), ("a dog", "a dog"),
        (in_block('{"result": "\\ud800"}'), "?"),
    ],
)  # fmt: skip
def test_a_prediction_is_the_result_in_the_json_or_the_reply(reply: str, expected: str) -> None:
    assert clue_judge.prediction(reply) == expected


@pytest.mark.parametrize(
    ("words", "looks", "answer"),
    [
        (in_block('{"result": 0}'), False, "wrong"), (in_block('{"result": 1}'), False, "right"),
        (in_block('{"result": true}'), False, "right"), (in_block('{"result": 2}'), True, "wrong"),
        (in_block('{"result": "1"}'), True, "wrong"), (in_block('{"result": []}'), True, "wrong"),
        ("Result: 1", False, "right"), ("0 or 1", False, "wrong"), ("2, not 1", True, "right"),
        (in_block('{"result": null}'), False, None), ("yes", False, None), ("", False, None),
        (in_block('{"verdict": 1}'), False, "right"), ("10", False, "right"),
    ],
)  # fmt: skip
def test_a_verdict_is_in_the_json_or_the_first_digit(
    words: str, looks: bool, answer: str | None
) -> None:
    assert clue_judge.needs_frames(words) == looks
    assert clue_judge.verdict(words).answer == answer


def drawn_set(folder: Path) -> Path:
    """Two questions about a video of 20 s, whose clues are 1 s and 3 s long."""
    row = {
        "video_uid": "drawn", "question": "What?", "answer": "a cat", "choices": [],
        "clue_intervals": [[2, 3], [10, 13]],
    }  # fmt: skip
    rows = [{**row, "qid": number} for number in (1, 2)]
    (folder / "cgbench_mini.json").write_text(json.dumps(rows), encoding="utf-8")
    for name in ("cg_videos_720p", "cg_subtitles"):
        (folder / name).mkdir()
    shutil.copy(videos.cfr(folder / "drawn.mp4", n=20 * 10, fps=10).path, folder / "cg_videos_720p")
    lines = "1\n00:00:02,050 --> 00:00:02,350\nThe <i>first</i>\nline\n"
    (folder / "cg_subtitles/drawn.srt").write_text(lines, encoding="utf-8")
    return folder


def opened(say: object) -> registry.Opened:
    model = Scripted(say, name="m")  # type: ignore[arg-type]
    return registry.Opened(model=model, name="m", server="m", concurrency=2)


def test_the_judge_gets_the_frames_of_the_clues_if_words_do_not_decide(tmp_path: Path) -> None:
    """At 10 frames a second, 1 s and 3 s of 4 s have 8 and 24 of 32 frames."""
    folder = drawn_set(tmp_path)
    benchmark = cg_bench("open", data=folder)
    replies = iter(["a cat", "an animal"])
    plan = api.Plan(benchmarks=[benchmark], models=[opened(lambda _: next(replies))], out=tmp_path)
    run = api.run_plan(plan)[0].run

    def say(request: Request) -> str:
        (message,) = request.messages
        is_right = message.videos or message.text.endswith("prediction is 'a cat'\n\n")
        return in_block('{"result": 1}' if is_right else '{"result": 2}')

    judge = opened(say)
    plan = api.Plan(benchmarks=[], models=[judge])
    result, _ = api.judge_run(run, plan, benchmark=benchmark)

    assert result.headline.value == 1.0
    assert isinstance(judge.model, Scripted)
    assert len(judge.model.requests) == 3
    (looking,) = (
        message
        for request in judge.model.requests
        for message in request.messages
        if message.videos
    )
    shown = [[frame.time for frame in clip.frames] for clip in looking.videos]
    assert shown[0] == pytest.approx([2, 2.1, 2.3, 2.4, 2.5, 2.6, 2.8, 2.9])
    assert [len(times) for times in shown] == [8, 24]
    assert shown[1][0] == 10.0 and shown[1][-1] < 13
    text = looking.text
    assert text.endswith(
        ", 12.8, 12.9\n\nQuestion: What?\n\nThe model's prediction is 'an animal'\n\n"
    )
    assert (
        "as specified above.The subtitles of the video are as follows:\n\n"
        "[2.05, 2.35] The first line\n\nA total of 32 frames are sampled. Their corresponding "
        "timestamps are:\n\n2.0, 2.1, 2.3, 2.4, 2.5, 2.6, 2.8, 2.9, 10.0, "
    ) in text


def test_an_empty_reply_is_not_judged() -> None:
    scoring = cg_bench("open", data=BUNDLED).scorings["official"]
    reading = scoring.parse(Reply(text=""), Sample(id="1", question="?", target="a"))
    assert scoring.judge is not None
    assert not scoring.judge.when(reading)
    assert scoring.score(reading, Sample(id="1", question="?", target="a")) is None
