"""Video-MMMU: how letters and open answers are read, and the prompts of its tracks."""

from pathlib import Path

import pytest

from snellen.benchmarks import video_mmmu as file
from snellen.benchmarks.video_mmmu import Track, official, score, to_sample, video_mmmu
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import Row, find

BUNDLED = Path(file.__file__).parent / "rows" / "video_mmmu"
FOUR = ("up", "down", "a dog running", "left")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None), ("A. up. Or B: down", "B"), ("(A) or (C)", "C"), ("It is D", "D"),
        ("AVIVA is it", "A"), ("it is what I call a dog running here", "C"), ("none", None),
        ('{"answer": "D"}', None),
    ],
)  # fmt: skip
def test_the_letter_whose_last_mention_comes_last_wins(text: str, expected: str | None) -> None:
    sample = Sample(id="1", question="?", choices=FOUR, target="A")
    assert official(Reply(text=text), sample).answer == expected


@pytest.mark.parametrize(
    ("text", "right", "expected"),
    [
        ("So the result is 0.25.\nThus it holds", ("0.25",), 1),
        ("not 129", ("12",), 0),
        ("50%", ("50%", "5 m/s"), 1),
        ("It was counted as 1,200", ("1200",), 1),
        ("Step 1: 5\nStep 2: 8\nAnswer 1e3", ("f",), 0),
        ("", ("12",), 0),
    ],
)
def test_an_open_answer_is_in_the_last_words(
    text: str, right: tuple[str, ...], expected: float
) -> None:
    sample = Sample(id="1", question="?", references=right)
    assert score(official(Reply(text=text), sample), sample) == expected


@pytest.mark.parametrize(
    ("track", "begin", "end"),
    [
        ("perception", "What is shown in this video?\nA. Letters\nB. Dogs",
         "\nPlease ignore the Quiz question in last frame of the video."),
        ("adaptation", "You should watch and learn the video content. Then apply what you learned "
         "to answer the following open-ended question. The image", "How many letters come in all?"),
    ],
)  # fmt: skip
def test_the_prompts_of_the_tracks(track: Track, begin: str, end: str) -> None:
    benchmark = video_mmmu(track, data=BUNDLED)
    text = benchmark.prompt(next(map(benchmark.read, benchmark.data)), ())[0].text

    assert text.startswith(begin) and text.endswith(end)


def test_several_right_answers_to_an_open_question_are_references() -> None:
    row = {"id": "dev_Art_Theory_3", "question": "?", "options": [], "question_type": "open"}
    data_file = find(BUNDLED, "video-mmmu", ["Perception.jsonl"])
    several = to_sample(Row({**row, "answer": ["1", "one"]}, 0), data_file)
    single = to_sample(Row({**row, "answer": "1"}, 0), data_file)

    assert (several.target, several.references) == (None, ("1", "one"))
    assert (single.target, single.tags["discipline"]) == ("1", "Art")
