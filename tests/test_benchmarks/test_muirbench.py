"""MuirBench: its rows in each published form, its prompts, and each rule of its scorings.

Expected letters are those of the authors' postprocess.py and of lmms-eval's utils.py at the commits
that the benchmark names.
"""

from pathlib import Path
from random import Random

import pytest

from snellen.benchmarks import muirbench as file
from snellen.benchmarks.muirbench import Preset, muirbench
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Line, Reading, ReplyTable
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "muirbench"
QUESTION = Sample(id="1", question="?", choices=("a cat", "red car", "left", "right"), target="B")


def read(scoring: str, reply: str) -> Reading:
    return muirbench(data=BUNDLED).scorings[scoring].parse(Reply(text=reply), QUESTION)


def samples(benchmark: Benchmark) -> list[Sample]:
    return [benchmark.read(row) for row in benchmark.data]


@pytest.mark.parametrize(
    ("reply", "unfiltered", "filtered"),
    [
        ("B", "B", "B"),
        (" b\n", "B", "B"),
        ("B.", None, "B"),
        (" B. red car", None, "B"),
        ("b.", None, None),
        ("AB", None, None),
        ("E", None, None),
        ("(B)", None, None),
        ("", None, None),
    ],
)
def test_lmms_eval_takes_the_letter_alone_or_in_its_filter_one_with_a_full_stop(
    reply: str, unfiltered: str | None, filtered: str | None
) -> None:
    assert read("lmms-eval-unfiltered", reply).answer == unfiltered
    assert read("lmms-eval", reply).answer == filtered


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("(A) or (C)", "C"),
        ("A or C", "C"),
        ("(A) or C", "A"),
        ("B.", "B"),
        ("The red car is to the right", "D"),
    ],
)
def test_the_authors_take_the_last_letter_or_choice(reply: str, answer: str) -> None:
    assert read("official", reply).answer == answer


@pytest.mark.parametrize("reply", ["", "red car", "Answer: B, or so", "b", "(b)"])
def test_the_authors_draw_a_letter_for_any_other_reply(reply: str) -> None:
    reading = read("official", reply)
    assert reading.undecided
    assert reading.candidates == ("A", "B", "C", "D")


def test_draws_follow_the_authors_seed_in_the_order_of_the_data() -> None:
    official = muirbench(data=BUNDLED).scorings["official"]
    assert official.resolve is not None
    lines = [
        Line(
            sample=Sample(id=f"{index}", question="?", choices=QUESTION.choices, target="A"),
            reading=official.parse(Reply(text=""), QUESTION),
            row_index=index,
        )
        for index in (2, 0, 1)
    ]
    drawn = official.resolve(ReplyTable(lines=lines, order="file"))
    draws = Random(42)
    assert [drawn.readings[name].answer for name in "012"] == [draws.choice("ABCD") for _ in "012"]
    assert "do not publish the order" in drawn.notes[0]


# -- data and prompts

HEAD = "Question: Which picture has the same shape as "
CHOICES = "None of the choices provided"
HINT = "Hint: Please provide the correct option letter, such as A, B, C, D, directly."
DIRECTLY = "Answer with the option's letter from the given choices directly."


@pytest.mark.parametrize(
    ("prompt", "parts"),
    [
        (
            "official",
            [
                HEAD,
                "*",
                "?\nChoices:\n(A) ",
                "*",
                "\n(B) ",
                "*",
                f"\n(C) {CHOICES}\n{HINT}\nAnswer:",
            ],
        ),
        (
            "vlmevalkit",
            [HEAD[10:], "*", "?\nA. ", "*", "\nB. ", "*", f"\nC. {CHOICES}\n{DIRECTLY}"],
        ),
        (
            "lmms-eval",
            [
                "*",
                "*",
                "*",
                f"{HEAD[10:]}<image>?\nA. <image>\nB. <image>\nC. {CHOICES}\n{DIRECTLY}",
            ],
        ),
    ],
)
def test_pictures_replace_their_marks_or_come_first(prompt: Preset, parts: list[str]) -> None:
    benchmark = muirbench(prompt, BUNDLED)
    content = benchmark.messages(samples(benchmark)[6])[0].content
    assert ["*" if isinstance(part, Image) else part for part in content] == parts


def test_parquet_has_a_list_of_pictures(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    row = {
        "idx": "7-0",
        "task": "Counting",
        "image_relation": "Independent",
        "image_type": "Slide",
        "question": "How many? <image><image>",
        "options": ["one", "two", "three", "four", "five"],
        "answer": "E",
        "image_list": [{"bytes": b"GIF89a", "path": None}, {"bytes": b"GIF87a", "path": None}],
    }
    parquet.write_table(arrow.Table.from_pylist([row]), tmp_path / "test-00000-of-00001.parquet")
    (sample,) = samples(muirbench(data=tmp_path))
    assert (sample.id, sample.target, len(sample.choices)) == ("7-0", "E", 5)
    assert len(sample.media) == 2
    assert sample.tags == {
        "task": "Counting",
        "image_relation": "Independent",
        "image_type": "Slide",
    }
