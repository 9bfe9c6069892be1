"""A question with tools in the viewer: each step's calls, and the part that a call showed on its
parent picture."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import snellen
from snellen.store import Key, ReplyRecord, Run
from snellen.view.pages import Pages
from snellen.view.query import Wanted


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    result = snellen.evaluate(
        "eyechart:tasks=far,n=3",
        "baseline/zoomer",
        tools=["zoom"],
        image_size=336,
        out=tmp_path_factory.mktemp("runs"),
    )
    assert result.run is not None
    return result.run


def page(run: Path, step: int) -> str:
    out = run.parents[2]
    html = Pages(out).sample(str(run.relative_to(out)), Key("far-0", 0, 0, step), Wanted())
    return re.sub(r"\s+", " ", html)


def test_a_step_shows_the_call_that_its_reply_makes(run: Path) -> None:
    first = page(run, 0)
    assert "<bdi>zoom</bdi>" in first and "Empty reply" not in first
    assert first.count('class="faint">calls') == 1
    assert 'data-layer="1"' not in first  # nothing was shown yet


def test_the_next_step_draws_the_part_on_the_picture_it_comes_from(run: Path) -> None:
    (crop,) = (
        medium.excerpt
        for question in Run(run).questions()
        if question.key == Key("far-0", 0, 0, 1)
        for medium in question.media
        if medium.excerpt is not None
    )
    left, top, right, bottom = crop.box
    html = page(run, 1)
    path = f"M{left} {top}H{right}V{bottom}H{left}Z"
    # Once as the halo and once as the line, over the first picture with its own pixels.
    assert html.count(path) == 2
    svg = html[html.index('<svg class="marks"') :]
    assert svg.index('viewBox="0 0 1344 1344"') < svg.index(path) < svg.index("</svg>")
    assert "<strong><bdi>picture 2</bdi></strong>" in html
    assert html.count('class="faint">calls') == 1  # in the messages of the prompt
    assert "<img" in svg  # the picture of the result follows


def test_the_box_of_the_call_is_in_the_part_that_is_drawn(run: Path) -> None:
    (call,) = (
        record.tool_calls[0]
        for record in Run(run).replies()
        if isinstance(record, ReplyRecord)
        and record.key == Key("far-0", 0, 0, 0)
        and record.tool_calls
    )
    box = json.loads(call.arguments)["box"]
    (crop,) = (
        medium.excerpt
        for question in Run(run).questions()
        if question.key == Key("far-0", 0, 0, 1)
        for medium in question.media
        if medium.excerpt is not None
    )
    assert crop.box == pytest.approx([edge * 1344 / 1000 for edge in box], abs=1)
