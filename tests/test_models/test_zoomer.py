"""baseline/zoomer on the eye chart's task far: small letters become readable with a zoom, and gray
pictures give chance."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import snellen
from snellen.benchmarks.eyechart import eyechart
from snellen.core.sample import Sample
from snellen.media import images
from snellen.media.content import Image
from snellen.store import ReplyRecord, Run

N = 72
FAR = f"eyechart:tasks=far,n={N}"


def run(out: Path, **options: Any) -> Any:
    return snellen.evaluate(FAR, "baseline/zoomer", image_size=336, out=out, **options)


def samples(n: int = 24) -> list[Sample]:
    chart = eyechart(n=n, tasks="far")
    return [chart.read(row) for row in chart.data]


def test_the_default_chart_has_no_far_letters() -> None:
    default = eyechart()
    assert "far_acuity" not in default.scorings["official"].metrics
    assert all("far" not in default.read(row).tags for row in default.data)


def test_the_letters_fill_their_box_in_a_picture_of_four_times_the_side() -> None:
    chart = eyechart(n=24, tasks="far")
    for sample in samples():
        request = chart.request(sample)
        assert request is not None
        shown = request.messages[0].content[0]
        assert isinstance(shown, Image)
        pixels = images.pixels(Image(shown.source))
        assert pixels.shape == (1344, 1344, 3)
        rows, columns = np.nonzero(pixels[:, :, 1] < 250)
        ink = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        height = int(sample.tags["far"].split()[0])
        box: Any = sample.data["box"]
        assert box[3] - box[1] == height and box[2] - box[0] == 9 * height
        # Some letters are narrower than their squares.
        assert ink == pytest.approx(box, abs=1.5 + height / 4)


def test_the_levels_take_turns_and_a_far_task_beside_others_keeps_their_tags() -> None:
    levels = [sample.tags["far"] for sample in samples()]
    assert len(set(levels[:12])) == 12 and levels[12:] == levels[:12]
    mixed = eyechart(n=4, tasks="letters+far")
    tags = [mixed.read(row).tags for row in mixed.data]
    assert [bool(tag["far"]) for tag in tags] == [False, True, False, True]
    assert [bool(tag["letters"]) for tag in tags] == [True, False, True, False]


def test_a_zoom_lets_it_read_smaller_letters_and_gray_pictures_give_chance(tmp_path: Path) -> None:
    plain, zoomed = run(tmp_path), run(tmp_path, tools=["zoom"])
    blind = run(tmp_path, tools=["zoom"], blind="blank")
    crop = run(tmp_path, oracle_crop=True)

    def metric(result: Any, name: str) -> Any:
        return result.report.scorings["official"].metrics[name]

    assert metric(zoomed, "far_acuity").value < metric(plain, "far_acuity").value / 2
    assert metric(zoomed, "far_acuity").ci95[1] < metric(plain, "far_acuity").ci95[0]
    # The zoomer zooms into the right part, so it reads as much as with the crop of the right part.
    assert metric(crop, "accuracy").value == pytest.approx(
        metric(zoomed, "accuracy").value, abs=0.03
    )
    # The same letter five times is right one time in ten.
    low, high = metric(blind, "accuracy").ci95
    assert low <= 0.1 <= high
    pair = snellen.compare(plain.run, zoomed.run).first
    assert pair.metrics["accuracy"].difference.ci95[0] > 0.2  # type: ignore[index]
    records = [r for r in Run(blind.run).replies() if isinstance(r, ReplyRecord)]
    assert len(records) == 2 * N  # each question has one zoom into gray


def test_the_same_run_gives_the_same_replies(tmp_path: Path) -> None:
    first, second = (run(tmp_path / name, tools=["zoom"], limit=12) for name in "ab")
    texts = [
        {
            (r.key.sample, r.key.step): r.reply
            for r in Run(result.run).replies()
            if isinstance(r, ReplyRecord)
        }
        for result in (first, second)
    ]
    assert texts[0] == texts[1]
