"""The steps of a model that calls tools itself, in the viewer."""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image as pillow

import snellen
from snellen.core.model import Reply, Request, Step, Usage
from snellen.core.tools import ToolResult
from snellen.errors import MediaError
from snellen.media.content import Image, ToolCall
from snellen.store import Key, Question, Run, reply_record, with_steps
from snellen.tools import full_view, rendered
from snellen.view.media import Media
from snellen.view.pages import Pages
from snellen.view.query import Wanted
from snellen.view.runs import Runs
from tests.tiny import Says

BOX = (250, 250, 750, 750)


def png() -> bytes:
    data = BytesIO()
    pillow.new("L", (30, 20)).save(data, "PNG")
    return data.getvalue()


def agent(request: Request) -> Reply:
    """Zooms into the middle, makes a picture of its own, and answers."""
    (picture,) = request.messages[-1].images
    crop = rendered(full_view(picture).part(*BOX))
    zoom = ToolCall(id="1", name="zoom", arguments=json.dumps({"box": BOX}))
    edges = ToolCall(id="1", name="edges", arguments="{}")
    own = Image(png(), label="the edges")
    return Reply(
        text="ABCDE",
        steps=(
            Step(text="Closer.", results=(ToolResult(call=zoom, parts=("Here:", crop)),)),
            Step(results=(ToolResult(call=edges, parts=(own,)),), usage=Usage(output=17)),
        ),
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    result = snellen.evaluate("eyechart:tasks=letters,n=2", Says(agent), out=out)
    assert result.run is not None
    return result.run


def test_the_page_of_a_sample_shows_calls_results_and_the_box_on_the_parent(run: Path) -> None:
    out = run.parents[2]
    html = Pages(out).sample(str(run.relative_to(out)), Key("letters-0", 0, 0, 0), Wanted())
    html = re.sub(r"\s+", " ", html)
    for text in ("Closer.", "<bdi>zoom</bdi>", "<bdi>edges</bdi>", "Here:", "step 2: 17 output"):
        assert text in html, text
    assert html.count("M84 84H252V252H84Z") == 2  # a halo and a line
    svg = html[html.index('<svg class="marks"') :]
    assert svg.index('viewBox="0 0 336 336"') < svg.index("M84 84H252")
    assert html.index("Closer.") < html.index("<bdi>zoom</bdi>") < html.index("Here:")


def test_a_crop_is_shown_again_and_a_picture_of_its_own_has_a_reason(run: Path) -> None:
    (listed,) = Runs(run.parents[2]).all()
    stored = Run(run)
    stored.load()
    question = next(iter(stored.questions()))
    joined = with_steps(question, stored.final(question.key))
    assert [medium.kind for medium in joined.media] == ["image"] * 3
    assert Media().image(listed, joined, 1, None).digest == joined.media[1].digest
    with pytest.raises(MediaError, match=r"^the edges was made by a tool or by the model"):
        Media().image(listed, joined, 2, None)


def test_results_belong_to_their_calls_even_if_ids_repeat(run: Path) -> None:
    stored = Run(run)
    stored.load()
    question = next(iter(stored.questions()))
    joined = with_steps(question, stored.final(question.key))
    assert [role for role, _ in joined.messages] == [
        "user", "assistant", "tool", "assistant", "tool",
    ]  # fmt: skip
    calls = [call.id for fields in joined.tools for call in fields.calls]
    results = [fields.call_id for fields in joined.tools if fields.call_id is not None]
    assert calls == results == ["1", "step-2-call-1"]


def test_an_id_that_is_replaced_does_not_become_that_of_another_call() -> None:
    call = ToolCall(id="step-2-call-1", name="look", arguments="{}")
    steps = tuple(Step(results=(ToolResult(call=call, parts=(text,)),)) for text in "abc")
    record = reply_record(Key("a"), "digest", "now", reply=Reply(text="A", steps=steps))
    question = Question(format=0, key=Key("a"), place=0, row="", question="?", messages=[])
    joined = with_steps(question, record)
    calls = [call.id for fields in joined.tools for call in fields.calls]
    assert calls == [fields.call_id for fields in joined.tools if fields.call_id is not None]
    assert calls == ["step-2-call-1", "step-2-call-2", "step-3-call-1"]
