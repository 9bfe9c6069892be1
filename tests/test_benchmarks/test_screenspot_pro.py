"""ScreenSpot-Pro's files, and the quirks of its scorers. Values are those of their code, in the
README of the golden pack, or worked out by hand."""

import json
from pathlib import Path

import pytest

from snellen.benchmarks import screenspot_pro as file
from snellen.benchmarks.screenspot_pro import screenspot_pro
from snellen.core import Reply, Sample
from snellen.core.scoring import total_score

QWEN = "<|box_start|>({}),({})<|box_end|>"
BUNDLED = Path(file.__file__).parent / "rows" / "screenspot_pro"


def element(box: list[float], size: tuple[int, int] = (1000, 1000)) -> Sample:
    return Sample(id="1", question="open", target="?", data={"box": box, "size": [*size]})


def score(scoring: str, reply: str, sample: Sample) -> float | None:
    rule = screenspot_pro().scorings[scoring]
    return total_score(rule.score(rule.parse(Reply(text=reply), sample), sample))


@pytest.mark.parametrize(
    ("reply", "box", "size", "values"),
    [
        ("[[0.320,0.974]]", [1215, 2700, 1640, 2806], (5120, 2880), (1, 0, 0, 1, 1)),
        (
            "<|object_ref_start|>button<|object_ref_end|><|box_start|>(520,637),(697,802)"
            "<|box_end|><|im_end|>",
            *([2028, 1405, 2635, 1733], (3840, 2160), (0, 1, 0, 0, 0)),
        ),
        ("Answer: 0.646, 0.303", [2367, 451, 2526, 723], (3840, 2160), (0, 0, 0, 1, 1)),
    ],
)
def test_the_pairs_of_the_readme(
    reply: str, box: list[float], size: tuple[int, int], values: tuple[float, ...]
) -> None:
    names = ("official", "qwen2vl", "vlmevalkit", "lmms-eval", "evalscope")
    sample = element(box, size)
    assert tuple(score(name, reply, sample) for name in names) == values


@pytest.mark.parametrize(
    ("scoring", "reply", "value"),
    [
        ("official", "[[0.12,0.22]]", 1),
        ("official", "[[0.12, 0.22]]", 0),  # no blanks
        ("official", "[[0.8,0.8,0.9,0.9]] [[0.12,0.22]]", 1),  # a point before a box
        ("official", "[[0.11,0.21,0.13,0.23]]", 1),
        ("official", "[[120,220]]", 0),  # not scaled
        ("official", "Not found [[0.12,0.22]]", 0),
        ("qwen2vl", QWEN.format("1,1", "2,2") + QWEN.format("110,210", "130,230"), 1),
        ("qwen2vl", "<|box_start|>(120, 220)<|box_end|>", 0),  # both marks, and another form
        ("qwen2vl", "(120, 220)", 1),
        ("qwen2vl", "at 110 210 130 230", 1),
        ("qwen2vl", "1. (120, 220)", 0),  # three numbers
        ("internvl", "[[120,220]]", 1),
        ("internvl", "[[120,220]] [[110,210,130,230]]", 0),
        ("minicpmv", "<box>110 210 130 230</box>", 1),
        ("minicpmv", "2 of them, 120 220", 1),
        ("minicpmv", "120, 220", 0),
        ("kimivl", "◁think▷ x=0.9, y=0.9 ◁/think▷ x=0.12, y=0.22", 1),
        ("kimivl", "◁think▷ x=0.12, y=0.22", 0),
        ("kimivl", "x=0.12, y=0.22 ◁/think▷ x=0.12, y=0.22", 0),
        ("kimivl", "x=120, y=220", 0),
        ("evalscope", "(0.9, 0.9)\nFinal answer:\n\n120, 220\n(0, 0)", 1),
        ("evalscope", "Answer: x=0.12, y=0.22", 1),
        ("evalscope", "x=0.12, y=0.22", 0),  # only in the line of the answer
        ("evalscope", "回答 answer：(12%, 22%)", 1),
        ("evalscope", "Answer: none, but (0.12, 0.22)? No.\nSo (0.9, 0.9)", 1),
        ("evalscope", "(0.9, 0.9) then (0.12, 0.22)", 1),  # the last
        ("evalscope", "<bbox>110 210 130 230</bbox> (0.9, 0.9)", 1),
        ("evalscope", "Answer: [0.1999999, 0.22]", 0),  # rounded to 0.2
    ],
)  # fmt: skip
def test_the_rules(scoring: str, reply: str, value: float) -> None:
    right = 150 if "0.1999999" not in reply else 199.99999
    assert score(scoring, reply, element([100, 200, right, 250])) == value


def test_the_edge_is_that_of_the_box_in_all_toolkits() -> None:
    sample = element([100, 200, 150, 250])
    assert score("vlmevalkit", "x=150, y=250", sample) == 1
    assert score("lmms-eval", "(150, 250)", sample) == 1


def test_all_files_of_annotations_are_read_or_only_one() -> None:
    benchmark = screenspot_pro(data=BUNDLED)
    samples = [benchmark.read(row) for row in benchmark.data]
    assert [sample.tags["group"] for sample in samples] == ["Dev"] * 3 + ["CAD"] * 3
    assert samples[1].tags["group_ui_type"] == "Dev icon"
    assert len([*screenspot_pro(data=BUNDLED / "annotations/autocad_windows.json").data]) == 3
    (row, *_) = screenspot_pro(group="Development", data=BUNDLED).data
    assert row["id"] == "android_studio_macos_0"


def test_a_size_in_the_row_is_used(tmp_path: Path) -> None:
    row = json.loads((BUNDLED / "annotations/autocad_windows.json").read_text())[0]
    path = tmp_path / "annotations/android_studio_macos.json"
    path.parent.mkdir()
    path.write_text(json.dumps([row | {"img_size": [10, 20]}]))
    benchmark = screenspot_pro(data=tmp_path)
    assert [benchmark.read(row).data["size"] for row in benchmark.data] == [[10, 20]]
