"""CG-Bench: its two kinds of tasks, and how the authors read choices and intervals."""

from pathlib import Path

import pytest

from snellen.benchmarks import cg_bench as file
from snellen.benchmarks.cg_bench import Task, cg_bench
from snellen.benchmarks.families import clues
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.media.content import Video

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
