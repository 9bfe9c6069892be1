"""Ref-L4's files, and the quirks of its evaluator. Values are those of the authors' code, in the
README of the golden pack, or worked out by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks import ref_l4 as file
from snellen.benchmarks.ref_l4 import boxes, ref_l4
from snellen.core import Reply, Sample
from snellen.core.scoring import total_score
from snellen.errors import DataError

BUNDLED = Path(file.__file__).parent / "rows" / "ref_l4"


def score(reply: str, box: list[float]) -> float | None:
    rule = ref_l4().scorings["official"]
    sample = Sample(id="1", question="cat", target="?", data={"box": box})
    return total_score(rule.score(rule.parse(Reply(text=reply), sample), sample))


def scored(rows: list[tuple[list[float], list[float], str]], folder: Path) -> dict[str, float]:
    """The metrics of references (x, y, width, height), boxes (corners), and categories."""
    lines = [
        {"id": str(n), "caption": "?", "bbox": box, "file_name": "a.jpg", "ori_category_id": kind}
        for n, (box, _, kind) in enumerate(rows)
    ]
    (folder / "ref-l4-val.jsonl").write_text("\n".join(map(json.dumps, lines)))
    write(folder / "boxes.json", [entry(n, box) for n, (_, box, _) in enumerate(rows)])
    result = snellen.score(folder / "boxes.json", ref_l4(split="val", data=folder))
    metrics = result.report.scorings["official"].metrics
    return {name: metric.value for name, metric in metrics.items() if metric.value is not None}


def entry(name: object, box: Any, form: str = "xyxy") -> dict[str, Any]:
    return {"id": str(name), "pred_bbox": box, "format": form}


def write(path: Path, entries: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(entries))
    return path


@pytest.mark.parametrize(
    ("xywh", "reference", "value"),
    [
        ([276.7, 8.7, 314.712, 174.59], [276.7, 8.7, 393.39, 174.59], 0.8),
        ([59.67, 262.84, 179.2, 256.0], [59.67, 262.84, 256.0, 256.0], 0.7),
        ([290.097, 285.727, 47.395, 63.744784], [281.7, 284.77, 60.0, 60.0], 0.732006),
    ],
)
def test_the_boxes_of_the_readme(xywh: list[float], reference: list[float], value: float) -> None:
    left, top, width, height = reference
    box = [left, top, left + width, top + height]
    left, top, width, height = xywh
    reply = json.dumps([left, top, left + width, top + height])
    assert score(reply, box) == pytest.approx(value, abs=1e-6)


def test_an_iou_of_exactly_the_threshold_is_a_miss(tmp_path: Path) -> None:
    box = [0.0, 0.0, 100.0, 100.0]
    rows = [(box, [0.0, 0.0, 50.0, 100.0], "o365_1"), (box, [0.0, 0.0, 51.0, 100.0], "o365_1")]
    metrics = scored(rows, tmp_path)
    assert metrics["accuracy"] == 0.5
    assert metrics["macc"] == pytest.approx(0.05)  # one of two boxes at one of ten thresholds


def test_the_mean_over_classes_maps_the_categories_of_refcoco(tmp_path: Path) -> None:
    box, miss = [0.0, 0.0, 100.0, 100.0], [200.0, 200.0, 300.0, 300.0]
    hit = [0.0, 0.0, 100.0, 100.0]
    same_class = [(box, hit, "refcoco_6"), (box, miss, "refcoco_16"), (box, hit, "o365_56")]
    metrics = scored([*same_class, (box, miss, "o365_7")], tmp_path)
    assert metrics["class_accuracy"] == pytest.approx((2 / 3 + 0) / 2)


def test_the_size_is_that_of_the_reference(tmp_path: Path) -> None:
    hit = [0.0, 0.0, 1.0, 1.0]
    sides = {127.9: "small", 128.0: "medium", 256.0: "medium", 256.1: "large"}
    rows = [([0.0, 0.0, side, side], hit, "o365_1") for side in sides]
    scored(rows, tmp_path)
    benchmark = ref_l4(split="val", data=tmp_path)
    samples = [benchmark.read(row) for row in benchmark.data]
    assert [sample.tags["size"] for sample in samples] == [*sides.values()]


@pytest.mark.parametrize("reply", ["", "[1, 2, 3]", "(0, 0, 100, 100)", "[100, 100, 0, 0]"])
def test_a_reply_without_a_box_or_with_a_reversed_one_is_a_miss(reply: str) -> None:
    assert score(reply, [0, 0, 100, 100]) == 0


def test_a_degenerate_union_is_a_miss() -> None:
    assert score("[5, 5, 5, 5]", [5, 5, 5, 5]) == 0


def test_the_authors_files_of_boxes_are_read(tmp_path: Path) -> None:
    entries = [entry("a", [1, 2, 3, 4], "xywh"), entry("b", [1, 2, 3, 4], "cxcywh")]
    published = boxes(write(tmp_path / "boxes.json", entries))
    assert published is not None
    assert published.replies == {"a": "[1, 2, 4, 6]", "b": "[1, 2, 3, 4]"}
    assert boxes(tmp_path / "none.json") is None


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([entry("a", [1, 2, 3, 4])] * 2, "row 2 is a second box of a"),
        ([entry("a", [1, 2, 3])], "row 1: pred_bbox must be a list of 4 numbers"),
        ([entry("a", None)], "row 1: pred_bbox must be a list of 4 numbers"),
    ],
)
def test_damaged_files_of_boxes_are_refused(
    entries: list[dict[str, Any]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=message):
        boxes(write(tmp_path / "boxes.json", entries))


@pytest.mark.parametrize(("split", "n"), [("all", 6), ("val", 3), ("test", 3)])
def test_the_splits(split: file.Split, n: int) -> None:
    assert len([*ref_l4(split=split, data=BUNDLED).data]) == n
