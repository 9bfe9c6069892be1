"""OSWorld-G's files, and the quirks of two toolkits' scorers. Values are those of their code, in
the README of the golden pack, or worked out by hand."""

from pathlib import Path

import pytest

from snellen.benchmarks import osworld_g as file
from snellen.benchmarks.osworld_g import in_polygon, osworld_g
from snellen.core import Reply, Sample
from snellen.core.scoring import total_score
from snellen.data import Row
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "osworld_g"
TRIANGLE = [457, 456, 618, 456, 537.5, 497]


def target(kind: str, values: list[float], size: tuple[int, int] = (1000, 1000)) -> Sample:
    fields = {"id": 1, "instruction": "click", "box_type": kind, "box_coordinates": values}
    row = Row({**fields, "image_size": [*size], "image": Image(b"x", "image")}, 0)
    return osworld_g(data=BUNDLED).sample(0, row)


def score(scoring: str, reply: str, sample: Sample) -> float | None:
    rule = osworld_g().scorings[scoring]
    return total_score(rule.score(rule.parse(Reply(text=reply), sample), sample))


@pytest.mark.parametrize(
    ("reply", "kind", "values", "value"),
    [
        ("[579, 282]", "refusal", [-1] * 4, 0),
        ("[-1, -1]", "refusal", [-1] * 4, 1),
        ("[-0.1, -0.5]", "refusal", [-1] * 4, 1),
        ("pyautogui.click(x=-1, y=-1)", "refusal", [-1] * 4, 1),
        ("[-1, 5]", "refusal", [-1] * 4, 0),  # both must be negative
        ("The target does not exist.", "refusal", [-1] * 4, 0),  # a refusal in words
        ("[-1, -1]", "bbox", [0.0, 147.0, 184.0, 180.0], 0),
        ("[-1, -1]", "polygon", TRIANGLE, 0),
        ("[537, 470]", "polygon", TRIANGLE, 1),
        ("[460, 490]", "polygon", TRIANGLE, 0),
        ("[0.537, 0.47]", "polygon", TRIANGLE, 1),
        ("[0.537, 470]", "polygon", TRIANGLE, 0),  # one is over 1: both are pixels
        ("[15, 15]", "polygon", [20, 20, 10, 10], 1),  # a rectangle with reversed corners
        ("[15, 15]", "polygon", [10, 10, 20, 10, 20], 0),  # an odd number
        ("[15, 15]", "polygon", [10, 10], 0),
        ("[184, 327]", "bbox", [0.0, 147.0, 184.0, 180.0], 1),  # edges are in the box
        ("[1, 1]", "bbox", [999, 999, 1, 1], 1),  # relative
        ("no idea", "bbox", [0, 0, 9, 9], 0),
    ],
)
def test_the_rule_of_lmms_eval(reply: str, kind: str, values: list[float], value: float) -> None:
    assert score("lmms-eval", reply, target(kind, values)) == value


def test_left_edges_are_in_a_polygon_and_right_edges_are_not() -> None:
    square = [0.0, 0, 10, 0, 10, 10, 0, 10]
    assert in_polygon(0, 5, square)
    assert not in_polygon(10, 5, square)
    hollow = [*square, 0.0, 0, 2, 2, 2, 8, 8, 8, 8, 2, 2, 2]
    assert in_polygon(1, 5, hollow)
    assert not in_polygon(5, 5, hollow)


@pytest.mark.parametrize(
    ("reply", "kind", "values", "value"),
    [
        ("x=500, y=500", "bbox", [960, 540, 1, 1], 1),  # thousandths
        ("x=960, y=540", "bbox", [960, 540, 1, 1], 0),
        ("x=0.5, y=0.5", "bbox", [960, 540, 1, 1], 0),
        ("nothing", "bbox", [0, 0, 5, 5], 1),  # a click at (0, 0)
        ("[-1, -1]", "bbox", [-5, -5, 4, 4], 1),  # left + width is -1, which becomes 0
        ("x=1.2.3, y=1", "bbox", [0, 0, 5, 5], 0),
        ("x=0, y=0", "refusal", [-1] * 4, 0),
    ],
)
def test_the_rule_of_vlmevalkit(reply: str, kind: str, values: list[float], value: float) -> None:
    assert score("vlmevalkit", reply, target(kind, values, (1920, 1080))) == value


def test_the_targets_of_the_bundled_rows() -> None:
    benchmark = osworld_g(data=BUNDLED)
    samples = [benchmark.read(row) for row in benchmark.data]
    assert [sample.tags["box_type"] for sample in samples].count("refusal") == 2
    assert samples[0].target == "[100, 70, 150, 92]"
    assert samples[-1].target == "refusal"


def test_a_row_of_the_toolkits_sheet_has_a_box() -> None:
    fields = {"index": "7", "question": "save", "bbox": "[1, 2, 3, 4]", "image": Image(b"x", "i")}
    sample = osworld_g(data=BUNDLED).sample(0, Row(fields, 0))
    assert (sample.id, sample.target) == ("7", "[1, 2, 4, 6]")
