"""RefCOCO's files, and the quirks of six scorers. Values are those of their code, in the README of
the golden pack, or worked out by hand."""

import math
from pathlib import Path
from typing import Any

import pytest

from snellen.benchmarks import refcoco as file
from snellen.benchmarks.refcoco import refcoco
from snellen.core import BoxAnswer, Reply, Sample
from snellen.core.scoring import total_score
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "refcoco"
SCORINGS = ("internvl", "qwen-vl", "vlmevalkit", "lmms-eval", "evalscope")


def phrase(box: list[float], size: tuple[int, int] = (1000, 1000)) -> Sample:
    return Sample(id="1", question="cat", target="?", data={"box": box, "size": [*size]})


def score(scoring: str, reply: str, sample: Sample) -> float | None:
    rule = refcoco().scorings[scoring]
    return total_score(rule.score(rule.parse(Reply(text=reply), sample), sample))


@pytest.mark.parametrize(
    ("reply", "size", "box", "values"),
    [
        (
            'woman "holding" umbrella[[149, 768, 439, 886]]',
            (200, 1500),
            [57.17, 735.56, 91.93, 1288.19],
            (0.1649, 0, 0.1649, 0, 0),
        ),
        (
            "[276, 24, 614, 137]",
            (1024, 427),
            [276.13, 23.6, 952.61, 136.8],
            (0.1488, 0, 0.1488, 0, 0.4972),
        ),
        (
            "Answer: (160,110),(460,410)</box>",
            (1000, 1000),
            [60.0, 110.0, 360.0, 410.0],
            (0, 0.4984, 0.5, 0, 0),
        ),
    ],
)
def test_the_pairs_of_the_readme(
    reply: str, size: tuple[int, int], box: list[float], values: tuple[float, ...]
) -> None:
    sample = phrase(box, size)
    assert [score(name, reply, sample) for name in SCORINGS] == pytest.approx(values, abs=5e-5)


@pytest.mark.parametrize(
    ("scoring", "reply", "value"),
    [
        ("internvl", "[[100, 200, 300, 400]]", 1),
        ("internvl", "[0.1, 0.2, 0.3, 0.4]", 1),  # the sum is less than 4
        ("internvl", "[[+100, 2_00, \uff13\uff10\uff10, 400 ]]", 1),  # what float() reads
        ("internvl", "[1] cats, see [[100, 200, 300, 400]]", 0),  # the first bracket
        ("internvl", "[1]\n[[100, 200, 300, 400]]", 1),  # a line ends the group
        ("internvl", "[[100, 200, 300, nan]]", 0),
        ("internvl", "[[100, 200, 300, inf]]", 0),
        ("internvl", "[[300, 400, 100, 200]]", 0),  # reversed
        ("internvl", "[[100, 200, 300]]", 0),
        ("qwen-vl", "(99.9,199.8),(299.7,399.6)", 1),  # parts of 999
        ("qwen-vl", "(100,200), (300,400)", 0),  # no blank
        ("qwen-vl", "(about 30%) (100,200),(300,400)", 0),  # an earlier parenthesis
        ("qwen-vl", "(100,200,1),(300,400)", 0),
        ("qwen-vl", "(100),(300,400)", 0),
        ("vlmevalkit", "[300 400 100 200]", 1),  # blanks, and corners are swapped
        ("vlmevalkit", "x1=100 y1=200 x2=300 y2=400", 0),  # the numbers 1, 100, 1, 200
        ("vlmevalkit", "[.1, .2, 3e-1, +0.4]", 1),
        ("vlmevalkit", "[100, 200, 300]", 0),
        ("lmms-eval", "[0.1, 0.2, 0.3, 0.4]", 1),
        ("lmms-eval", "[100, 200, 300, 400]", 0),  # nothing is scaled
        ("lmms-eval", "[.1, .2, .3, .4]", 0),
        ("evalscope", "[100, 200, 300, 400]", 1),  # pixels
        ("evalscope", "[0.1, 0.2, 0.3, 0.4]", 1),
        ("evalscope", "[[0.1, 0.2, 0.3, 0.4]]", 1),
        ("lmms-eval-grounding", '```json\n[{"bbox_2d": [100, 200, 300, 400]}]\n```', 1),
        ("lmms-eval-grounding", '{"box_2d": ["a", "b"], "x": [100, 200, 300, 400]}', 1),
        ("lmms-eval-grounding", '{"bbox": ["100", "200", "300", "400"]}', 1),
        ("lmms-eval-grounding", "[[0, 0, 9, 9], [100, 200, 300, 400]]", 1),  # the best of all
        ("lmms-eval-grounding", "0 0 9 9 100 200 300 400", 1),
        ("lmms-eval-grounding", "[0.1, 0.2, 0.3, 0.4]", 0),
        ("lmms-eval-grounding", f"[{'[' * 5000}", 0),
        ("lmms-eval-grounding", f"[1{'0' * 400}, 1, 2, 3]", 0),
    ],
)
def test_the_rules(scoring: str, reply: str, value: float) -> None:
    overlap = score(scoring, reply, phrase([100, 200, 300, 400]))
    assert overlap == pytest.approx(value, abs=1e-6)


def test_an_iou_of_half_is_a_hit_or_a_miss_in_single_precision() -> None:
    """In real numbers, the IoU is 1/2 in both."""
    values = [
        score("internvl", f"[[0, 0, {width}, 1000]]", phrase([0, 0, right, 1000]))
        for width, right in ((500, 1000), (50, 100))
    ]
    assert [value is not None and value >= 0.5 for value in values] == [True, True]
    sample = phrase([7.1, 3.3, 14.2, 10.4], (10, 10))
    reply = "[[0.71, 0.33, 1.065, 1.04]]"
    single, double = score("internvl", reply, sample), score("vlmevalkit", reply, sample)
    assert single == pytest.approx(0.5, abs=1e-6) and single != double


def test_the_centers_of_lmms_eval_and_evalscope_are_of_different_boxes() -> None:
    sample = phrase([100, 100, 300, 300])
    small = "[0.12, 0.12, 0.14, 0.14]"
    assert score("lmms-eval-center", small, sample) == 1  # the box's center is in the reference
    assert score("evalscope-center", small, sample) == 0  # the reference's center is not in the box
    assert score("lmms-eval-center", "no box", phrase([0, 0, 9, 9])) == 1  # the center is (0, 0)


def test_a_long_reply_takes_no_longer() -> None:
    """The authors' lazy patterns take cubic time and more on such replies."""
    sample = phrase([0, 0, 1, 1])
    for reply in ("[" + "1," * 2000, "(" + "),(" * 2000, "[" * 2000, "1 " * 2000):
        assert all(math.isfinite(score(name, reply, sample) or 0) for name in SCORINGS)


def test_a_box_is_in_pixels() -> None:
    rule = refcoco().scorings["internvl"]
    reading = rule.parse(Reply(text="[[250, 500, 750, 1000]]"), phrase([0, 0, 1, 1], (400, 200)))
    assert reading.answer == BoxAnswer(left=100, top=100, right=300, bottom=200)


def test_the_eight_files_are_one_benchmark() -> None:
    benchmark = refcoco(data=BUNDLED)
    samples = [benchmark.read(row) for row in benchmark.data]
    assert len(samples) == 16
    assert samples[0].id == "refcoco_val-0"
    assert samples[-1].tags == {"split": "refcocog_test"}
    (picture,) = samples[0].media
    assert isinstance(picture, Image) and picture.size == (160, 120)


def test_the_folders_of_qwen_vl_are_read(tmp_path: Path) -> None:
    for name in ("refcoco_val", "refcocog_val"):
        folder = tmp_path / name.partition("_")[0]
        folder.mkdir()
        (folder / f"{name}.jsonl").write_text((BUNDLED / f"{name}.jsonl").read_text())
    rows = [*refcoco(split="refcocog_val", data=tmp_path / "refcocog").data]
    assert [row["id"] for row in rows] == ["refcocog_val-0", "refcocog_val-1"]


def test_a_row_of_parquet_has_several_phrases(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    picture = (BUNDLED / "train2014/COCO_train2014_table.png").read_bytes()
    row: dict[str, Any] = {
        "question_id": "7",
        "answer": ["cat", "the cat"],
        "bbox": [10.0, 20.0, 30.0, 40.0],
    }
    row["image"] = {"bytes": picture, "path": "a.png"}
    path = tmp_path / "val.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    benchmark = refcoco(split="refcoco_val", data=path)
    samples = [benchmark.read(row) for row in benchmark.data]
    assert [(sample.id, sample.question) for sample in samples] == [
        ("7-0", "cat"),
        ("7-1", "the cat"),
    ]
    assert samples[0].data["box"] == [10, 20, 40, 60]
    assert samples[0].media[0].size == (160, 120)
