"""Point-Bench's files, and the quirks of its scorers. Values are those of the authors' code, in the
README of the golden pack, or worked out by hand."""

from pathlib import Path

import numpy as np
import pytest

from snellen.benchmarks import pointbench as file
from snellen.benchmarks.families.masks import encoded
from snellen.benchmarks.pointbench import pointbench
from snellen.core import Reply, Sample
from snellen.core.scoring import total_score

BUNDLED = Path(file.__file__).parent / "rows" / "pointbench"
MASK = np.zeros((20, 40), dtype=bool)
MASK[5:10, 10:20] = True
"""A mask of 40 x 20 pixels: x from 10 to 19, y from 5 to 9."""
IN = '<point x="30.0" y="30.0">'
OUT = '<point x="90.0" y="90.0">'


def question(category: str = "spatial", count: int = 1) -> Sample:
    data = {"mask": encoded(MASK), "count": count, "size": [40, 20]}
    return Sample(id="1", question="?", target="?", tags={"category": category}, data=data)


def score(scoring: str, reply: str, sample: Sample) -> float | None:
    rule = pointbench().scorings[scoring]
    return total_score(rule.score(rule.parse(Reply(text=reply), sample), sample))


@pytest.mark.parametrize(
    ("reply", "category", "count", "value"),
    [
        (IN, "spatial", 1, 1),
        (f"{IN} {OUT}", "spatial", 1, 1),  # only the first
        (f"{IN} {OUT}", "counting", 2, 0),
        (f"{IN} {IN}", "counting", 2, 1),
        (f"{IN} {IN}", "counting", 1, 0),  # the number must be right
        (f"{IN} {IN}", "spatial", 1, 1),
        ("Click(30.0, 30.0)", "counting", 1, 0),  # two forms match: two points
        ("Click(30.0, 30.0)", "counting", 2, 1),
        ("(30.0 30.0)", "spatial", 1, 1),
        ("(30.00, 30.00)", "spatial", 1, 0),  # one digit after the point
        ("p=300, 300", "spatial", 1, 1),
        ("1 = 300,300", "spatial", 1, 1),
        ("(130.0, 30.0) (30.0, 30.0)", "spatial", 1, 1),  # over 100 percent is no point
        ("(100.0, 30.0)", "spatial", 1, 0),  # outside the picture
        ("[[12, 6]]", "spatial", 1, 1),  # pixels
        ('[{"point_2d": [12, 6]}]', "spatial", 1, 1),
        ('[{"point": ["12", "6"]}]', "spatial", 1, 1),
        ("[[12.9, 9.9]]", "spatial", 1, 1),  # truncated
        ("[[12 , 6 ]]", "spatial", 1, 1),  # not the pattern, but JSON
        ("[12, 6, 30]", "spatial", 1, 1),  # numbers in pairs; the third has no partner
        ("[(0.300, 0.300)]", "spatial", 1, 0),  # neither a form of Molmo's nor JSON
        ("] [", "spatial", 1, 0),
        ("", "spatial", 1, 0),
        ("[" * 3000, "spatial", 1, 0),
    ],
)
def test_the_authors_rule(reply: str, category: str, count: int, value: float) -> None:
    assert score("official", reply, question(category, count)) == value


@pytest.mark.parametrize(
    ("scoring", "reply", "category", "value"),
    [
        ("lmms-eval", "(0.3, 0.3) (0.9, 0.9)", "spatial", 0.5),
        ("lmms-eval-binary", "(0.3, 0.3) (0.9, 0.9)", "spatial", 1),  # only the first
        ("lmms-eval-binary", "(0.3, 0.3) (0.9, 0.9)", "counting", 0),
        ("lmms-eval-binary", "(0.3, 0.3) (0.3, 0.3)", "counting", 1),
        ("lmms-eval-binary", "(0.3, 0.3)", "counting", 0),
        ("lmms-eval", "(300, 300)", "spatial", 1),
        ("lmms-eval", "(.3, .3)", "spatial", 1),
        ("lmms-eval", "( 0.3, 0.3 )", "spatial", 0),
        ("lmms-eval", "(1, 0)", "spatial", 0),
        ("lmms-eval", "(0.2375, 0.3)", "spatial", 1),  # 9.5 is rounded to 10, the even number
        ("lmms-eval", "(0.4875, 0.3)", "spatial", 0),  # 19.5 is rounded to 20
        ("lmms-eval", f"({'9' * 12}, 1)", "spatial", 0),
        ("lmms-eval-json", '[{"point_2d": [300, 300]}]', "spatial", 1),
        ("lmms-eval-json", "[12, 6]", "spatial", 0),  # thousandths
        ("lmms-eval-json", "[0.49, 0.49]", "spatial", 1),  # truncated
        ("lmms-eval-json-binary", "[0.49, 0.49] [900, 900]", "spatial", 1),
    ],
)
def test_the_rules_of_lmms_eval(scoring: str, reply: str, category: str, value: float) -> None:
    assert score(scoring, reply, question(category, 2)) == pytest.approx(value)


def test_a_point_is_in_the_folder_of_its_category() -> None:
    benchmark = pointbench(data=BUNDLED)
    samples = [benchmark.read(row) for row in benchmark.data]
    assert len(samples) == 8
    assert {sample.media[0].size for sample in samples} == {(160, 120)}
    counting = next(sample for sample in samples if sample.tags["category"] == "counting")
    assert (counting.target or "").count("<point") == 2


def test_the_prompts() -> None:
    sample = question("counting")
    texts = [pointbench(name).prompt(sample, ())[0].text for name in ("molmo", "lmms-eval-json")]
    assert texts == [
        "pointing: ?",
        "pointing: ?, You should point to all the objects in the image that are mentioned in the "
        "question.\nReturn points in JSON format and normalized to the range [0, 1000].",
    ]
