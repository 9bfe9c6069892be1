"""Tool calls in Inspect's logs, also those that cannot be parsed."""

import json
import zipfile
from pathlib import Path
from typing import Any

import snellen
from snellen.core.model import Reply, Request, Step
from snellen.core.tools import ToolResult
from snellen.media.content import ToolCall
from snellen.report.export import export
from snellen.tools import full_view, rendered


class Caller:
    """A model that calls wrongly, then rightly, and never answers."""

    name = "caller"
    takes_tools = True
    takes_pictures_in_results = True

    async def generate(self, request: Request) -> Reply:
        step = sum(message.role == "assistant" for message in request.messages)
        arguments = "[0, 0" if step == 0 else '{"box": [0, 0, 500, 500]}'
        return Reply(
            text="",
            stop="tool_calls",
            tool_calls=(ToolCall(id=f"c{step}", name="zoom", arguments=arguments),),
        )


def exported(tmp_path: Path, **options: Any) -> dict[str, Any]:
    result = snellen.evaluate(
        "eyechart:tasks=far,n=1", Caller(), out=tmp_path / "runs", max_steps=3, **options
    )
    assert result.run is not None
    path, _ = export(result.run, "inspect", tmp_path / "log.eval")
    with zipfile.ZipFile(path) as log:
        (name,) = [name for name in log.namelist() if name.startswith("samples/")]
        sample: dict[str, Any] = json.loads(log.read(name))
    return sample


def test_each_call_with_a_result_is_an_event_and_a_malformed_call_has_an_error(
    tmp_path: Path,
) -> None:
    sample = exported(tmp_path, tools=["zoom"])
    wrong, right = sample["events"]
    assert (wrong["id"], wrong["function"], wrong["arguments"]) == ("c0", "zoom", {})
    assert wrong["error"]["type"] == "parsing" and "[0, 0" in wrong["error"]["message"]
    assert wrong["result"].startswith("Error: ")
    assert right["arguments"] == {"box": [0, 0, 500, 500]} and "error" not in right
    assert "<image: sha256:" in right["result"]


def test_the_call_of_a_last_reply_has_no_event(tmp_path: Path) -> None:
    sample = exported(tmp_path, tools=["zoom"])
    roles = [message["role"] for message in sample["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    calls = [message["tool_calls"][0]["id"] for message in sample["messages"][1::2]]
    assert calls == ["c0", "c1", "c2"]
    assert [message["tool_call_id"] for message in sample["messages"][2::2]] == ["c0", "c1"]
    assert "parse_error" in sample["messages"][1]["tool_calls"][0]


class Agent:
    """A model that calls tools itself, with the same id each time."""

    name = "agent"

    async def generate(self, request: Request) -> Reply:
        steps = tuple(
            Step(
                text=f"Step {number}.",
                results=(
                    ToolResult(
                        call=ToolCall(id="0", name="zoom", arguments=f'{{"number": {number}}}'),
                        parts=(
                            f"result {number}",
                            rendered(full_view(request.messages[0].images[0])),
                        ),
                    ),
                ),
            )
            for number in (1, 2)
        )
        return Reply(text="ABCDE", stop="stop", steps=steps)


def test_the_steps_that_a_model_hands_over_are_messages_and_events(tmp_path: Path) -> None:
    result = snellen.evaluate("eyechart:tasks=far,n=1", Agent(), out=tmp_path / "runs")
    assert result.run is not None
    path, _ = export(result.run, "inspect", tmp_path / "log.eval")
    with zipfile.ZipFile(path) as log:
        (name,) = [name for name in log.namelist() if name.startswith("samples/")]
        sample = json.loads(log.read(name))
    roles = [message["role"] for message in sample["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert [event["arguments"] for event in sample["events"]] == [{"number": 1}, {"number": 2}]
    for number, event in enumerate(sample["events"], start=1):
        assert event["result"].startswith(f"result {number}\n<image: sha256:")
        call, answer = sample["messages"][2 * number - 1 : 2 * number + 1]
        assert call["content"] == f"Step {number}."
        assert call["tool_calls"][0]["id"] == answer["tool_call_id"] == event["id"]
        assert answer["function"] == "zoom"
    assert sample["output"]["completion"] == "ABCDE"
