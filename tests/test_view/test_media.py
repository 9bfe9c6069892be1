"""Pictures that a model was shown, had again from where they lay."""

from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.core.model import Reply, Request
from snellen.media.content import ToolCall
from snellen.registry import benchmark
from snellen.store import Run
from snellen.view.media import Media
from snellen.view.runs import Runs
from tests.tiny import Says, run


@pytest.mark.parametrize(
    "probe", [{}, {"blind": "blank"}, {"blind": "other"}, {"permute_options": 2}]
)
def test_the_picture_that_was_sent_is_shown_under_a_probe_too(
    tmp_path: Path, probe: dict[str, Any]
) -> None:
    result = snellen.evaluate(
        "eyechart:tasks=positions,n=6", "baseline/reader", out=tmp_path / "runs", **probe
    )
    (listed,) = Runs(tmp_path / "runs").all()
    assert result.run is not None
    media = Media()
    questions = list(Run(result.run).questions())
    assert len(questions) >= 6
    for question in questions:
        assert media.image(listed, question, 0, None).digest == question.media[0].digest


TOOLS = "zoom,rotate,grid,image_zoom_in_tool"
VIEWS = (
    ToolCall(id="1", name="zoom", arguments='{"box": [0, 0, 600, 600]}'),
    ToolCall(id="2", name="rotate", arguments='{"degrees": 90, "picture": 2}'),
    ToolCall(id="3", name="grid", arguments='{"picture": 3}'),
)
SCALED_UP = tuple(
    ToolCall(
        id=f"{number}",
        name="image_zoom_in_tool",
        arguments=f'{{"bbox_2d": {box}, "label": "letter", "img_idx": 0}}',
    )
    for number, box in enumerate(
        ([0, 0, 600, 600], [100, 200, 433, 351.5], [990, 0, 1000, 1000]), start=1
    )
)


@pytest.mark.parametrize("calls", [VIEWS, SCALED_UP], ids=["views", "scaled up"])
def test_the_pictures_that_tools_showed_are_shown_again(
    tmp_path: Path, calls: tuple[ToolCall, ...]
) -> None:
    def say(request: Request) -> Reply:
        is_first = request.messages[-1].role == "user"
        return Reply(tool_calls=calls) if is_first else Reply(text="A")

    model = Says(say)
    model.takes_tools = model.takes_pictures_in_results = True  # type: ignore[attr-defined]
    chart = benchmark("eyechart:tasks=positions,n=2")
    finished = run(tmp_path / "runs", model, chart, tools=(TOOLS,))
    (listed,) = Runs(tmp_path / "runs").all()
    media = Media()

    questions = [question for question in Run(finished.run).questions() if question.key.step]

    assert questions
    for question in questions:
        assert len(question.media) == 4
        for number, shown in enumerate(question.media):
            assert media.image(listed, question, number, None).digest == shown.digest
