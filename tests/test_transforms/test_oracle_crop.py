"""The probe oracle crop: the right part of the picture is shown too, with its own pixels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import snellen
from snellen.benchmarks.eyechart import eyechart
from snellen.core import Benchmark
from snellen.errors import UsageError
from snellen.media import images
from snellen.media.content import Image
from snellen.transforms.probes import again, probed

CHART = eyechart(n=12, tasks="far")


def pictures(benchmark: Benchmark) -> list[list[Image]]:
    return [
        [image for message in benchmark.messages(sample) for image in message.images]
        for sample in map(benchmark.read, benchmark.data)
    ]


def test_the_crop_has_the_pixels_of_the_original_around_the_letters() -> None:
    for (full, crop), sample in zip(
        pictures(probed(CHART, oracle_crop=True)), map(CHART.read, CHART.data), strict=True
    ):
        height = int(sample.tags["far"].split()[0])
        box: Any = sample.data["box"]
        left, top, right, bottom = box
        assert crop.excerpt is not None
        x1, y1, x2, y2 = crop.excerpt.box
        assert x1 <= left and y1 <= top and right <= x2 and bottom <= y2
        assert min(x2 - x1, y2 - y1) >= 28
        assert y2 - y1 <= max(30, 1.5 * height + 2)
        part = images.pixels(full)[y1:y2, x1:x2]
        assert np.array_equal(images.pixels(crop), part)


def test_the_question_keeps_its_picture_and_its_words() -> None:
    sample = CHART.read(next(iter(CHART.data)))
    (plain,), (message,) = (
        benchmark.messages(sample) for benchmark in (CHART, probed(CHART, oracle_crop=True))
    )
    assert message.content[: len(plain.content)] == plain.content
    assert len(message.content) == len(plain.content) + 2


def test_rows_without_a_box_are_asked_unchanged_and_counted() -> None:
    mixed = probed(eyechart(n=6, tasks="colors+far"), oracle_crop=True)
    assert [len(shown) for shown in pictures(mixed)] == [1, 2, 1, 2, 1, 2]
    assert any("3 of 6 rows have no box" in note for note in mixed.provenance.notes)


def test_a_benchmark_without_boxes_is_refused() -> None:
    with pytest.raises(UsageError, match="no boxes that show where to look"):
        probed(eyechart(n=4, tasks="letters"), oracle_crop=True)


def test_it_is_the_only_probe_of_a_run() -> None:
    with pytest.raises(UsageError, match="--blind and --oracle-crop"):
        probed(CHART, oracle_crop=True, blind="blank")


def test_the_run_records_the_probe_and_is_scored_again_with_it(tmp_path: Path) -> None:
    result = snellen.evaluate(
        "eyechart:tasks=far,n=12", "baseline/zoomer", oracle_crop=True, image_size=336, out=tmp_path
    )
    assert result.report.identity["probe"] == {"oracle_crop": True}
    assert again(CHART, {"oracle_crop": True}).provenance.probe == {"oracle_crop": True}
    assert result.run is not None
    assert snellen.score(result.run).report.scorings == result.report.scorings
