"""ScreenSpot's files, prompts, and the quirks of three scorers. Values are those of their code, in
the README of the golden pack, or worked out by hand."""

import json
from pathlib import Path

import pytest

from snellen.benchmarks import screenspot as file
from snellen.benchmarks.screenspot import Version, screenspot
from snellen.core import Benchmark, PointAnswer, Reply, Sample
from snellen.core.scoring import total_score
from snellen.errors import DataError
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "screenspot"


def element(box: list[float], size: tuple[int, int] = (1000, 1000)) -> Sample:
    """A sample with the box x, y, width, height in a picture of this size."""
    left, top, width, height = box
    corners = [left, top, left + width, top + height]
    return Sample(id="1", question="open", target="?", data={"box": corners, "size": [*size]})


def score(scoring: str, reply: str, sample: Sample, version: Version = "v1") -> float | None:
    rule = screenspot(version=version).scorings[scoring]
    return total_score(rule.score(rule.parse(Reply(text=reply), sample), sample))


@pytest.mark.parametrize(
    ("reply", "box", "size", "official", "vlmevalkit", "lmms_eval"),
    [
        ("(0.12,0.92)", [828, 148, 112, 156], (1000, 1000), 0, 0, 0),
        (
            "<ref>element</ref><box>(153,313),(198,353)</box>",
            [294, 338, 86, 43],
            (1920, 1080),
            *(1, 0, 0),
        ),
        ("pyautogui.click(x=292, y=953)", [197, 842, 76, 95], (1000, 1000), 0, 0, 0),
    ],
)
def test_the_pairs_of_the_readme(
    reply: str,
    box: list[float],
    size: tuple[int, int],
    official: float,
    vlmevalkit: float,
    lmms_eval: float,
) -> None:
    sample = element(box, size)
    assert score("official", reply, sample) == official
    assert score("vlmevalkit", reply, sample) == vlmevalkit
    assert score("lmms-eval", reply, sample, "v2") == lmms_eval


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("(0.15, 0.25)", 1.0),  # on the right and lower edge
        ("(0.1501, 0.25)", 0.0),
        ("the inbox is at (0.12, 0.22)", 0.0),  # "box" in any word requires a <box>
        ("<box>(110,210),(130,230)</box>", 1.0),
        ("<box>(110, 210),(130, 230)</box>", 0.0),  # no blanks
        ("<box>(900,900),(990,990)</box> <box>(110,210),(130,230)</box>", 0.0),  # the first
        ("120, 220", 0.0),  # neither pixels nor thousandths outside of a <box>
        ("0.11 0.21 0.13 0.23", 1.0),
        ("0.12 0.22 0.9", 0.0),
        (".12, .22", 0.0),  # the numbers 12 and 22
        (f"<box>({'9' * 5000},1),(1,1)</box>", 0.0),
        (f"<box>({'9' * 4000},1),(1,1)</box>", 0.0),
    ],
)
def test_the_authors_rule(reply: str, value: float) -> None:
    assert score("official", reply, element([100, 200, 50, 50])) == value


@pytest.mark.parametrize(
    ("reply", "box", "value"),
    [
        ("no click", [0, 0, 50, 50], 1.0),  # a click at (0, 0)
        ("no click", [1, 0, 50, 50], 0.0),
        ("x=0.1.2, y=0.2", [0, 0, 50, 50], 0.0),
        ("x=0.149, y=0.249", [100, 200, 50, 50], 1.0),
        ("x=0.15, y=0.25", [100, 200, 50, 50], 0.0),  # one pixel less at the right and below
        ("x=120, y=220", [100, 200, 50, 50], 1.0),
        ("x=120,y=220", [100, 200, 50, 50], 0.0),
        ("x=-120, y=220", [100, 200, 50, 50], 0.0),
        ("x=0, y=0", [-1, -1, 50, 50], 1.0),  # an edge at -1 is 0
    ],
)
def test_the_rule_of_vlmevalkit(reply: str, box: list[float], value: float) -> None:
    assert score("vlmevalkit", reply, element(box)) == value


def test_only_a_click_that_is_no_number_is_a_format_error() -> None:
    rule = screenspot().scorings["vlmevalkit"]
    sample = element([0, 0, 50, 50])
    assert rule.parse(Reply(text="x=1.2.3, y=1"), sample).answer is None
    assert rule.parse(Reply(text="nothing"), sample).answer == PointAnswer(x=0, y=0)


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("<bbox id='1'>0.11, 0.21, 0.13, 0.23</bbox> (0.9, 0.9)", 1.0),
        ("[0.12 0.22]", 1.0),
        ("(12%, 22%)", 1.0),
        ('{"x": 0.12, "note": "here", "y": 0.22}', 1.0),
        ("rect 0.11 0.21 0.13 0.23", 1.0),
        ("from 0.11 0.21 to 0.9 0.9", 1.0),  # the first two numbers
        ("120 and 220", 1.0),
        ("(120, 0.22)", 0.0),  # both are divided
        ("nothing", 0.0),
    ],
)
def test_the_point_of_lmms_eval(reply: str, value: float) -> None:
    assert score("lmms-eval", reply, element([100, 200, 50, 50]), "v2") == value


def test_lmms_eval_takes_a_wide_box_for_corners() -> None:
    sample = element([10, 10, 100, 100])
    assert score("lmms-eval-xywh", "(0.105, 0.105)", sample, "v2") == 0.0
    assert score("lmms-eval", "(0.105, 0.105)", sample, "v2") == 1.0
    assert score("lmms-eval-xywh", "(0.245, 0.245)", element([200, 200, 50, 50]), "v2") == 1.0


def test_the_box_of_lmms_eval_is_scored_by_iou_and_by_its_center() -> None:
    sample = element([0, 0, 100, 100])
    assert score("lmms-eval", "[0, 0, 0.05, 0.1]", sample) == pytest.approx(0.5)
    assert score("lmms-eval", "(0, 0, 50, 100)", sample) == pytest.approx(0.5)  # thousandths
    assert score("lmms-eval", "(0.05, 0.05)", sample) == 0.0
    assert score("lmms-eval-center", "(0.9, 0.9)", sample) == 1.0  # no box: (0, 0)


def test_a_point_is_in_pixels_of_the_picture() -> None:
    rule = screenspot().scorings["official"]
    reading = rule.parse(Reply(text="(0.5, 0.25)"), element([0, 0, 1, 1], (640, 480)))
    assert reading.answer == PointAnswer(x=320, y=120)


def test_a_picture_without_a_size_is_an_error_and_not_a_score() -> None:
    picture = Image(Path("missing.png"), label="missing.png")
    sample = Sample(id="7", question="open", media=(picture,), data={"box": [0, 0, 1, 1]})
    with pytest.raises(DataError, match=r"sample 7: .*has the picture missing\.png"):
        screenspot().scorings["official"].parse(Reply(text="(0.5, 0.5)"), sample)


# -- data


def rows(benchmark: Benchmark) -> list[Sample]:
    return [benchmark.read(row) for row in benchmark.data]


def test_the_parts_are_one_benchmark() -> None:
    samples = rows(screenspot(data=BUNDLED))
    assert [sample.id for sample in samples[::4]] == ["mobile-0", "desktop-0", "web-0"]
    assert samples[0].target == "[6, 6, 40, 22]"
    assert samples[1].tags["cell"] == "mobile icon"
    assert len(rows(screenspot(part="web", data=BUNDLED))) == 4


def test_version_2_has_its_own_files(tmp_path: Path) -> None:
    row = {"img_filename": "a.png", "bbox": [1, 2, 3, 4], "instruction": "open"}
    row |= {"data_type": "text", "data_source": "macos"}
    (tmp_path / "screenspot_desktop_v2.json").write_text(json.dumps([row]))
    (sample,) = (
        benchmark.sample(0, row)
        for benchmark in [screenspot(version="v2", part="desktop", data=tmp_path)]
        for row in benchmark.data
    )
    (picture,) = sample.media
    assert isinstance(picture, Image) and picture.label == "screenspotv2_image/a.png"
    assert sample.data["box"] == [1, 2, 4, 6]


def test_a_box_of_three_numbers_is_refused(tmp_path: Path) -> None:
    row = {"img_filename": "a.png", "bbox": [1, 2, 3], "instruction": "open"}
    row |= {"data_type": "text", "data_source": "macos"}
    (tmp_path / "screenspot_web.json").write_text(json.dumps([row]))
    with pytest.raises(DataError, match="bbox must be a list of 4 numbers"):
        rows(screenspot(part="web", data=tmp_path))
