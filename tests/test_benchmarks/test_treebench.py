"""TreeBench: letters in <answer>, boxes in the thoughts, and the boxes that questions are about."""

from pathlib import Path
from typing import Any

import pytest

from snellen.benchmarks import treebench as file
from snellen.benchmarks.families.tree_boxes import target_box
from snellen.benchmarks.treebench import to_sample, treebench
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import DataFile, Row
from snellen.media import images
from snellen.media.content import Image
from snellen.transforms.oracle_crop import CAPTION, checked_oracle_crop

BUNDLED = Path(file.__file__).parent / "rows" / "treebench"
ROW = {
    "question": "Which?",
    "multi-choice options": "A. red\nB. blue",
    "A": "red",
    "B": "blue",
    "answer": "B",
    "category": "Perception/Attributes",
    "target_instances": "[[0, 0, 10, 10], [20, 20, 40, 40]]",
    "image": "",
}


def sample(**fields: Any) -> Sample:
    return to_sample(Row({**ROW, **fields}, 0), DataFile(Path("TreeBench.tsv"), "treebench", ()))


def scored(scoring: str, text: str, **fields: Any) -> float | None:
    rule = treebench(data=BUNDLED).scorings[scoring]
    item = sample(**fields)
    value = rule.score(rule.parse(Reply(text=text), item), item)
    assert value is None or isinstance(value, float)
    return value


@pytest.mark.parametrize(
    ("text", "official", "vlmevalkit"),
    [
        ("<answer> b\n</answer>", 1.0, 1.0),
        ("b", 1.0, 1.0),
        ("B ", 0.0, 1.0),
        ("<answer>B. blue</answer>", 0.0, 1.0),
        ("<answer>B", 0.0, 1.0),
        ("Best option: B", 0.0, 1.0),
        ("<answer>A</answer><answer>B</answer>", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_a_letter_counts_only_in_the_form_of_the_rule(
    text: str, official: float, vlmevalkit: float
) -> None:
    # TreeVGR@4823ad8:inference_treebench.py#L146-L148, #L203
    assert scored("official", text) == official
    assert scored("vlmevalkit", text) == vlmevalkit


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<box>[0,0,10,10]</box><box>[20,20,40,40]</box>", 1.0),
        ("<box>[0,0,10,10]</box>", 0.5),
        # The best of two boxes counts for each target: (1/2 + 1/4) / 2.
        ("<box>[0,0,10,5]</box><box>[30,30,40,40]</box><box>[0,0,1,1]</box>", 0.375),
        ("<box> [0,0,10,10] a dog</box>", 0.5),
        ("<box>[0, 0, 10, 10]</box>", 0.0),
        ("<box>[10,10,0,0]</box>", 0.0),
        ("[0,0,10,10]", 0.0),
        ("<box></box>[0,0,10,10]</box>", 0.0),
        (f"<box>[0,0,10,{'9' * 5000}]</box>", 0.0),
        ("", 0.0),
    ],
)
def test_boxes_get_the_mean_of_the_best_overlaps(text: str, value: float) -> None:
    # TreeVGR@4823ad8:inference_treebench.py#L15-L74
    assert scored("boxes", text) == value


def test_vlmevalkit_reads_boxes_in_the_thoughts_only() -> None:
    text = "<think>It is there.</think><box>[0,0,10,10]</box>"
    assert scored("boxes", text) == 0.5
    assert scored("vlmevalkit-boxes", text) == 0.0
    assert scored("vlmevalkit-boxes", text.replace("think", "thought")) == 0.5


def test_any_box_is_right_for_vlmevalkit_if_a_question_has_none() -> None:
    assert scored("vlmevalkit-boxes", "<box>[0,0,1,1]</box>", target_instances="[]") == 1.0
    assert scored("vlmevalkit-boxes", "", target_instances="[]") == 0.0
    assert scored("boxes", "<box>[0,0,1,1]</box>", target_instances="[]") == 0.0


def test_the_oracles_crop_is_around_all_boxes() -> None:
    assert target_box(sample()) == (0, 0, 40, 40)
    assert target_box(sample(target_instances="[]")) is None
    benchmark = checked_oracle_crop(treebench(data=BUNDLED))
    row = next(iter(benchmark.data))
    *_, caption, crop = benchmark.messages(benchmark.read(row))[-1].content
    assert caption == CAPTION
    assert isinstance(crop, Image)
    # The square is 20 x 20 pixels from (82, 12), and the margin a quarter of its side.
    assert crop.excerpt is not None
    assert crop.excerpt.box == (77, 7, 107, 37)
    assert images.pixels(crop)[15, 15].tolist() == [0x44, 0x77, 0xAA]


@pytest.mark.parametrize("cell", ["[[1, 2, 3]]", "boxes", '[["a", 1, 2, 3]]', "(1, 2, 3, 4)", "{"])
def test_boxes_that_cannot_be_read_are_refused(cell: str) -> None:
    with pytest.raises(ValueError, match=r"not a list of boxes|not a Python literal"):
        sample(target_instances=cell)
