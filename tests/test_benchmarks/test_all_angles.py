"""All-Angles Bench's rows with several pictures, its prompt, and its rule."""

from pathlib import Path

import pytest

from snellen.benchmarks.all_angles import all_angles
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.media.content import Image

BUNDLED = Path(all_angles.__code__.co_filename).parent / "rows" / "all_angles"


def test_all_pictures_come_before_the_question() -> None:
    benchmark = all_angles(data=BUNDLED)
    sample = benchmark.sample(0, next(iter(benchmark.data)))
    (message,) = benchmark.prompt(sample, ())
    *pictures, text = message.content
    assert [picture.label for picture in pictures if isinstance(picture, Image)] == [
        "images/00_discs/0.png",
        "images/00_discs/1.png",
    ]
    assert text == (
        "Question: How many discs are there in all views?\nOptions:\nA. 1\nB. 3\nC. 5\n"
        "Please select the correct answer from the options above. \n"
    )


def test_questions_about_a_scene_are_one_cluster() -> None:
    benchmark = all_angles(data=BUNDLED)
    sample = benchmark.sample(0, next(iter(benchmark.data)))
    assert benchmark.cluster_by is not None
    assert benchmark.cluster_by(sample) == "00_discs"


@pytest.mark.parametrize(
    ("reply", "official", "kit"),
    [
        ("A person stands there, I think", "A", None),  # the letter counts anywhere
        ("It is red", "B", "B"),
        ("red or blue", None, None),
    ],
)
def test_the_official_rule_is_the_older_one(
    reply: str, official: str | None, kit: str | None
) -> None:
    sample = Sample(id="0", question="?", choices=("green", "red", "blue"), target="B")
    scorings = all_angles().scorings
    answers = [scorings[name].parse(Reply(text=reply), sample).answer for name in scorings]
    assert answers[:2] == [official, kit]


def test_a_row_of_another_set_is_refused(tmp_path: Path) -> None:
    fields = {"index": 1, "question": "?", "A": "x", "answer": "A", "folder": "", "image_path": []}
    with pytest.raises(ValueError, match="no folder of a scene"):
        all_angles(data=tmp_path).sample(0, Row(fields, 0))
