"""RefSpatial-Bench's files, and the quirks of its parsers. Values are those of the authors' code,
in the README of the golden pack, or worked out by hand."""

from pathlib import Path

import numpy as np
import pytest

from snellen.benchmarks import refspatial as file
from snellen.benchmarks.families.masks import a_point_of, decoded, encoded
from snellen.benchmarks.refspatial import refspatial
from snellen.core import BoxAnswer, Reply, Sample, SeveralAnswers
from snellen.core.scoring import total_score
from snellen.metrics import Category, Columns

BUNDLED = Path(file.__file__).parent / "rows" / "refspatial"
GRAY = np.zeros((20, 40), dtype=np.uint8)
GRAY[5:10, 10:20] = 255
GRAY[19, 39] = 1
"""A mask of 40 x 20 pixels. Its last pixel is almost black."""
MASK = Sample(
    id="1",
    question="?",
    target="?",
    data={"mask": encoded(GRAY > 0), "bright": encoded(GRAY > 127)},
)


def score(scoring: str, reply: str) -> float | str | None:
    """The score, or the rule of a reply that is left out."""
    rule = refspatial().scorings[scoring]
    reading = rule.parse(Reply(text=reply), MASK)
    return reading.rule if reading.answer is None else total_score(rule.score(reading, MASK))


FAILS, STOPS = "the parser fails", "the authors' code stops"


@pytest.mark.parametrize(
    ("scoring", "reply", "value"),
    [
        ("official", "[(0.3, 0.3), (0.9, 0.9)]", 0.5),
        ("official", "(12, 6)", 1),  # two integers are pixels
        ("official", "(1, 0)", 0),
        ("official", "(0.3, 6)", 0),  # one share makes the other a share, too
        ("official", "( 0.3, 0.3 )", 0),  # no blanks at the ends
        ("official", "(.3, .3)", 0),
        ("official", "(0.25, 0.25, 0.5, 0.5)", 1),
        ("official", "(0.25, 0.25, 0.5, 1)", 1 / 3),  # 50 of 150 pixels; 1 is relative
        ("official", "(0.5, 0.5, 0.25, 0.25)", FAILS),
        ("official", "(0.3, 0.3, 0.3, 0.3)", 0),  # an empty box adds nothing
        ("official", "(0.3, 0.3, 0.3)", 0),
        ("official", "(39, 19)", 1),  # any gray value
        ("official", "nothing", 0),
        ("official", f"({'9' * 5000}, 1)", FAILS),
        ("official", f"({'9' * 400}.0, 1)", FAILS),
        ("absolute", "(12, 6)", 1),
        ("absolute", "(12.0, 6)", STOPS),
        ("absolute", "(10, 5, 20, 10)", 1),
        ("absolute", "(10.0, 5, 20, 10)", FAILS),
        ("molmo", '<points x1="30" y1="30" x2="90" y2="90">', 0.5),
        ("molmo", '<point x="30" y="30">', 0),  # a digit is required
        ("gemini", '```json\n[{"point": [300, 300]}]\n```', 1),  # y and x
        ("gemini", '```json\n[{"point": [250, 450]}]\n```', 1),
        ("gemini", '```json\n[{"point": [450, 250]}]\n```', 1),
        ("gemini", '```json\n[{"point": [900, 250]}]\n```', 0),
        ("gemini", '[{"point": [300, 300]}]', 0),  # no fence
        ("gemini", '```json\n[{"point": [300,\n```', 0),
        ("gemini", '```json\n{"point": [300, 300]}\n```', FAILS),
        ("gemini", '```json\n{"x": [300, 300]}\n```', 0),
        ("gemini", "```json\n7\n```", FAILS),
        ("gemini", '```json\n[{"point": ["a", 300]}]\n```', FAILS),
        ("lmms-eval", "(0.3, 0.3)", 1),
        ("lmms-eval", "(12, 6)", 0),  # integers are relative, too
        ("lmms-eval", "(0.99, 0.99)", 0),  # gray values up to 127 are outside
        ("lmms-eval-0-999", "(300, 300)", 1),
        ("lmms-eval-json", '[{"point_2d": [300, 300]}]', 1),
        ("lmms-eval-json", "[0.3, 0.3] ( 300 , 300 )", 1),
        ("vlmevalkit", '```json\n[{"point_2d": [300, 300]}]\n```', 1),
        ("vlmevalkit", "{'point': ('300', '300')}", 1),
        ("vlmevalkit", '[{"point_2d": [1200, 6]}]', 0),  # pixels, moved to the edge
        ("vlmevalkit", '[{"point_2d": [4000, 4000]}]', 1),  # moved to the last pixel
        ("vlmevalkit", 'See: [{"point_2d": [300, 300]}]', 0),  # text around the JSON
        ("vlmevalkit", "See: (12, 6) and (0.3, 0.3)", 1),
        ("vlmevalkit", "(20, 10, 10, 5)", 1),  # corners are swapped
        ("vlmevalkit", "(39, 19, 41, 21)", 1),  # all four pixels move to the last
        ("vlmevalkit", "(-2, 5, 2, 10)", 0),
        ("vlmevalkit", '[{"point_2d": [NaN, 1]}]', 0),
    ],
)
def test_the_rules(scoring: str, reply: str, value: float | str) -> None:
    actual = score(scoring, reply)
    assert actual == (value if isinstance(value, str) else pytest.approx(value))


def test_a_large_box_is_one_answer() -> None:
    rule = refspatial().scorings["absolute"]
    reading = rule.parse(Reply(text="(0, 0, 900000000, 900000000)"), MASK)
    box = BoxAnswer(left=0, top=0, right=9e8, bottom=9e8)
    assert reading.answer == SeveralAnswers(answers=(box,))
    assert rule.score(reading, MASK) == pytest.approx(51 / 81e16)


def test_replies_at_which_the_parser_fails_are_not_in_the_mean() -> None:
    answers = np.empty(3, dtype=object)
    answers[:2] = [SeveralAnswers(answers=())] * 2
    kinds = Category(codes=np.zeros(3, dtype=np.int32), names=("a",))
    columns = Columns(
        score=np.array([1.0, 0.0, 0.0]),
        cluster=np.arange(3, dtype=np.int32),
        tags={},
        answer=answers,
        target=answers,
        references=answers,
        state=kinds,
    )
    metrics = refspatial().scorings["official"].metrics
    estimates = {name: metric(columns) for name, metric in metrics.items()}
    assert (estimates["accuracy"].value, estimates["accuracy"].n) == (0.5, 2)
    assert estimates["unparsed"].value == pytest.approx(1 / 3)


def test_a_mask_is_stored_as_runs() -> None:
    for mask in (GRAY > 0, GRAY >= 0, GRAY > 255, ~(GRAY > 0)):
        assert (decoded(encoded(mask)) == mask).all()
    assert a_point_of(encoded(GRAY > 0)) == (15, 5)
    with pytest.raises(ValueError, match="the mask is empty"):
        a_point_of(encoded(GRAY > 255))


def test_the_parts_have_files_of_their_own() -> None:
    benchmark = refspatial(data=BUNDLED)
    samples = [benchmark.read(row) for row in benchmark.data]
    assert [sample.id for sample in samples][::3] == ["location-0", "placement-0", "unseen-1"]
    assert len([*refspatial(part="unseen", data=BUNDLED).data]) == 2
    (message,) = benchmark.prompt(samples[0], ())
    text = message.content[1]
    assert isinstance(text, str) and text.startswith("Please point to the disc to the left")
