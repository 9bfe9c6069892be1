"""The coordinates of a model in runs: servers in every maker's format that see the picture of each
request and answer in each convention, with pictures scaled down and up.

The servers find the red box in the picture that they get. They are told the size of the picture
that the processor shows, and the size of the original, which a model cannot see.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import PIL.Image
import pytest

import snellen
from snellen import registry
from snellen.analysis.result import Result
from snellen.benchmarks.eyechart import eyechart
from snellen.core.coordinates import Convention
from snellen.core.profile import ImageLimits, Profile
from snellen.errors import UsageError
from snellen.store import ReplyRecord, Run
from tests.red_boxes import ORIGINALS, Box, Size, red_box, shares, write_rows, written
from tests.servers import Answer, ReceivedRequest, completion, serving
from tests.vendors import OPENAI, VENDORS, Vendor

CONVENTIONS = (*get_args(Convention), "pixels-shown:qwen2.5-vl")
LIMITS = {
    "as it is": ImageLimits(),
    "scaled down": ImageLimits(max_side=160),
    "scaled up": ImageLimits(min_pixels=640 * 480),
}
# transformers 5.23.0, smart_resize: factor 28, 3,136 to 12,845,056 pixels.
RESIZED = {
    (320, 240): (308, 252),
    (160, 120): (168, 112),
    (640, 480): (644, 476),
    (321, 239): (308, 252),
    (160, 119): (168, 112),
    (643, 479): (644, 476),
    (168, 168): (168, 168),
    (336, 336): (336, 336),
    (555, 555): (560, 560),
}


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A folder of Ref-L4 with two drawn pictures, each with a red box to refer to."""
    return write_rows(tmp_path)


def shown_size(convention: str, sent: Size) -> Size:
    """The size of the picture that a model with this convention is shown."""
    return sent if convention == "pixels-shown" else RESIZED[sent]


def oracle(vendor: Vendor, convention: str) -> Callable[[ReceivedRequest], Answer]:
    """Answers with the box in the picture of each request, in one convention."""

    def answer(request: ReceivedRequest) -> Answer:
        parts = [part for _, turn in vendor.turns(request) for part in turn]
        (data,) = (part for part in parts if isinstance(part, bytes))
        words = " ".join(part for part in parts if isinstance(part, str))
        original, _ = ORIGINALS["even" if "even" in words else "odd"]
        picture = PIL.Image.open(io.BytesIO(data)).convert("RGB")
        relative = shares(red_box(picture), picture.size)
        shown = shown_size(convention, picture.size)
        return vendor.answered(written(relative, convention, original=original, shown=shown))

    return answer


def evaluated(
    rows: Path,
    vendor: Vendor,
    speaks: str,
    stated: str | None,
    images: ImageLimits = LIMITS["as it is"],
    **options: Any,
) -> Result:
    """A run of a server that speaks in one convention, and whose profile states another."""
    with serving(oracle(vendor, speaks)) as server:
        profile = Profile(base_url=server.url, images=images, coordinates=stated)
        return snellen.evaluate(
            "ref-l4:split=val",
            f"{vendor.kind}/m",
            data=rows,
            profile=profile,
            out=rows.parent / "runs",
            **options,
        )


def metric(result: Result, name: str) -> float | None:
    return result.report.scorings["robust"].metrics[name].value


def robust_boxes(result: Result) -> dict[str, Box]:
    assert result.run is not None
    lines = (result.run / "scores.jsonl").read_text().splitlines()
    scores = [json.loads(line) for line in lines]
    return {
        row["sample"]: tuple(row["answer"][side] for side in ("left", "top", "right", "bottom"))
        for row in scores
        if row["scoring"] == "robust" and row["answer"] is not None
    }


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "key")


@pytest.mark.parametrize(
    ("vendor", "scaling"),
    [
        (OPENAI, "as it is"),
        *((vendor, scaling) for vendor in VENDORS for scaling in ("scaled down", "scaled up")),
    ],
    ids=lambda value: value if isinstance(value, str) else value.kind,
)
def test_a_server_that_sees_the_picture_gets_every_box_in_every_convention(
    vendor: Vendor, scaling: str, rows: Path
) -> None:
    for convention in CONVENTIONS:
        result = evaluated(rows, vendor, convention, convention, LIMITS[scaling])

        boxes = robust_boxes(result)
        assert boxes["even"] == pytest.approx(ORIGINALS["even"][1], abs=1e-4), convention
        (width, _), box = ORIGINALS["odd"]
        shown = {"as it is": 321, "scaled down": 160, "scaled up": 643}[scaling]
        assert boxes["odd"] == pytest.approx(box, abs=width / shown + 1e-4), convention
        assert metric(result, "accuracy") == 1.0
        if scaling == "as it is":
            assert metric(result, "iou") == pytest.approx(1, abs=1e-5)


def test_stored_replies_are_read_in_the_run_s_coordinates(rows: Path) -> None:
    result = evaluated(rows, OPENAI, "pixels-shown", "pixels-shown", LIMITS["scaled down"])
    assert result.run is not None
    (result.run / "scores.jsonl").unlink()
    (result.run / "report.json").unlink()

    again = snellen.score(result.run)

    assert metric(again, "iou") == metric(result, "iou")
    assert again.report.identity["coordinates"] == "pixels-shown"
    records = [record for record in Run(result.run).replies() if isinstance(record, ReplyRecord)]
    assert {record.as_reply().sizes for record in records} == {((160, 120),), ((160, 119),)}


def test_other_coordinates_are_another_run_which_can_take_the_same_replies(rows: Path) -> None:
    wrong = evaluated(rows, OPENAI, "0-1000", "pixels-original")
    assert wrong.run is not None
    assert metric(wrong, "accuracy") == 0.0

    right = evaluated(rows, OPENAI, "never asked", "0-1000", reuse=[wrong.run])

    assert right.run != wrong.run
    assert metric(right, "accuracy") == 1.0


def test_replies_that_are_taken_from_another_run_keep_the_sizes_of_their_pictures(
    rows: Path,
) -> None:
    down = LIMITS["scaled down"]
    first = evaluated(rows, OPENAI, "pixels-shown", "0-1", down)
    assert first.run is not None

    second = evaluated(rows, OPENAI, "never asked", "pixels-shown", down, reuse=[first.run])

    assert metric(second, "accuracy") == 1.0


@pytest.mark.parametrize(
    ("coordinates", "note"),
    [
        (
            None,
            "the model's coordinates are not set, so `robust` reads boxes and points as "
            "pixels-original (pixels of the original picture), as the prompt demands. Set them "
            "with --coordinates",
        ),
        (
            "0-1000",
            "`robust` reads boxes and points as 0-1000 (thousandths of the picture's width and "
            "height), as set for the model. The prompt demands pixels-original",
        ),
        (
            "pixels-shown",
            "`robust` reads boxes and points as pixels-shown (pixels of the picture as it was "
            "sent, before any resizing by the processor), as set for the model. The prompt demands "
            "pixels-original",
        ),
        (
            "0-1",
            "2 of 2 replies have numbers that cannot be 0-1, and are unparsed in `robust`. Check "
            "the model's coordinates (--coordinates)",
        ),
    ],
)
def test_the_result_says_how_places_were_read(
    coordinates: str | None, note: str, rows: Path
) -> None:
    result = evaluated(rows, OPENAI, "0-1000", coordinates)
    assert note in result.report.notes


def test_coordinates_are_in_the_identity_only_of_benchmarks_that_read_them(rows: Path) -> None:
    def identity(result: Result) -> Mapping[str, Any]:
        assert result.run is not None
        read: Mapping[str, Any] = Run(result.run).manifest()["identity"]
        return read

    assert "coordinates" not in identity(evaluated(rows, OPENAI, "0-1", None))
    assert identity(evaluated(rows, OPENAI, "0-1", "0-1"))["coordinates"] == "0-1"
    for tasks, is_stated in [("letters", False), ("box", True)]:
        eye = snellen.evaluate(
            f"eyechart:tasks={tasks}",
            "baseline/reader",
            limit=1,
            coordinates="0-1",
            out=rows.parent / "runs",
        )
        assert ("coordinates" in identity(eye)) == is_stated


def test_coordinates_that_no_scoring_reads_are_noted(tmp_path: Path) -> None:
    # The scorings of TreeBench read pixels of the original picture, as its authors do.
    note = (
        "--coordinates 0-1000 has no effect, because no scoring of treebench reads boxes or points "
        "in the model's coordinates"
    )

    def notes(benchmark: str, **options: Any) -> Sequence[str]:
        data = "synthetic" if benchmark == "treebench" else None
        options = {"data": data, "limit": 1, "out": tmp_path, **options}
        return snellen.evaluate(benchmark, "baseline/most-frequent", **options).report.notes

    assert notes("treebench", coordinates="0-1000").count(note) == 1
    of_profile = notes("treebench", profile=Profile(coordinates="0-1000"), seed=1)
    assert not any("no effect" in text for text in of_profile)
    read = notes("eyechart:tasks=box", coordinates="0-1000")
    assert not any("no effect" in text for text in read)

    file = tmp_path / "predictions.jsonl"
    treebench = registry.benchmark("treebench", data=Path("synthetic"))
    sample = treebench.read(next(iter(treebench.data)))
    file.write_text(json.dumps({"id": sample.id, "prediction": "A"}) + "\n")
    scored = snellen.score(file, "treebench", data="synthetic", coordinates="0-1000")
    assert note in scored.report.notes


def test_an_option_takes_precedence_over_the_profile(rows: Path) -> None:
    result = evaluated(rows, OPENAI, "0-1", "0-1000", coordinates="0-1")
    assert result.run is not None
    manifest = Run(result.run).manifest()
    assert manifest["identity"]["coordinates"] == "0-1"
    assert manifest["origins"]["coordinates"] == "argument"
    assert metric(result, "accuracy") == 1.0


def test_a_wrong_option_is_refused_before_anything_is_sent(rows: Path) -> None:
    with pytest.raises(UsageError, match=r"coordinates.*'0-100' is none of 0-1, 0-999"):
        snellen.evaluate("ref-l4:split=val", "openai/m", data=rows, coordinates="0-100")


# -- the eye chart, whose pictures are drawn by its prompt

CHART = "eyechart:tasks=point+box,n=2"
ZOOM = '<tool_call>{"name": "zoom", "arguments": {"box": [0, 0, 250, 500]}}</tool_call>'


def chart_oracle(convention: str) -> Callable[[ReceivedRequest], Answer]:
    """Answers with the place that a question asks for, in one convention."""
    chart = eyechart(tasks="point+box", n=2)
    samples = [chart.sample(row.position, row) for row in chart.data]
    targets = {sample.question: json.loads(sample.target or "") for sample in samples}

    def answer(request: ReceivedRequest) -> Answer:
        (_, parts), *_ = OPENAI.turns(request)
        (data,) = (part for part in parts if isinstance(part, bytes))
        words = " ".join(part for part in parts if isinstance(part, str))
        (target,) = (target for question, target in targets.items() if question in words)
        shown = shown_size(convention, PIL.Image.open(io.BytesIO(data)).size)
        side = (336, 336)
        return completion(written(shares(target, side), convention, original=side, shown=shown))

    return answer


@pytest.mark.parametrize(
    "images",
    [LIMITS["as it is"], ImageLimits(max_side=168), LIMITS["scaled up"]],
    ids=["as it is", "scaled down", "scaled up"],
)
def test_places_of_the_eye_chart_are_read_in_every_convention(
    images: ImageLimits, tmp_path: Path
) -> None:
    for convention in CONVENTIONS:
        with serving(chart_oracle(convention)) as server:
            profile = Profile(base_url=server.url, images=images, coordinates=convention)
            result = snellen.evaluate(CHART, "openai/m", profile=profile, out=tmp_path)

        metrics = result.report.scorings["official"].metrics
        assert metrics["accuracy"].value == pytest.approx(1, abs=1e-5), convention
        for name in ("localization", "box_localization"):
            assert metrics[name].value == pytest.approx(0, abs=1e-3), (convention, name)


def test_a_picture_that_a_tool_returned_is_not_that_of_the_question(tmp_path: Path) -> None:
    """A reply in pixels of the question's picture, which was sent with 168 x 168 pixels, after a
    zoom whose picture has 84 x 168."""
    says = chart_oracle("pixels-shown")

    def answer(request: ReceivedRequest) -> Answer:
        return says(request) if "Picture 2" in json.dumps(request.json) else completion(ZOOM)

    with serving(answer) as server:
        profile = Profile(
            base_url=server.url, images=ImageLimits(max_side=168), coordinates="pixels-shown"
        )
        result = snellen.evaluate(
            *(CHART, "openai/m"),
            profile=profile,
            tools=("zoom",),
            tool_form="text",
            out=tmp_path,
        )

    assert result.headline.value == pytest.approx(1, abs=1e-5)


# -- files of predictions


def test_a_file_of_predictions_is_read_in_the_coordinates_that_are_passed(rows: Path) -> None:
    file = rows.parent / "predictions.jsonl"
    replies = {
        name: written(shares(box, size), "0-1000", original=size, shown=size)
        for name, (size, box) in ORIGINALS.items()
    }
    file.write_text(
        "".join(
            json.dumps({"id": name, "prediction": text}) + "\n" for name, text in replies.items()
        )
    )

    unset = snellen.score(file, "ref-l4:split=val", data=rows)
    read = snellen.score(file, "ref-l4:split=val", data=rows, coordinates="0-1000")
    (story,) = snellen.api.explain(
        file, "even", "ref-l4:split=val", data=rows, coordinates="0-1000"
    )

    assert (metric(unset, "accuracy"), metric(read, "accuracy")) == (0.0, 1.0)
    assert "coordinates" not in unset.report.identity
    assert read.report.identity["coordinates"] == "0-1000"
    assert [reading.score for reading in story.readings if reading.scoring == "robust"] == [
        pytest.approx(1, abs=1e-5)
    ]


def test_a_run_is_not_scored_in_other_coordinates(rows: Path) -> None:
    result = evaluated(rows, OPENAI, "0-1", "0-1")
    assert result.run is not None
    with pytest.raises(UsageError, match=r"stores the coordinates.*--coordinates 0-999 --reuse"):
        snellen.score(result.run, coordinates="0-999")
