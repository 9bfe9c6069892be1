"""Tools in chat templates: what a template gets, what is parsed out of replies, and what a run of a
tiny model with such a template stores."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import PIL.Image
import pytest

from snellen.api import Finished
from snellen.core.model import Request
from snellen.media import images
from snellen.media.content import Image, Message, ToolCall, tool, user
from snellen.models.hf import in_training
from snellen.models.hf_forms.processor import for_replies
from snellen.models.hf_prompts import HfPrompts
from snellen.models.hf_settings import HfSettings
from snellen.registry import benchmark, toolbox
from snellen.registry.models import wrap
from snellen.store import ReplyRecord, Run
from tests.heavy.tiny_models import build
from tests.tiny import run

pytestmark = pytest.mark.heavy

HEAD = """\
{%- if tools %}system: You have tools.
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}A call looks like <tool_call>{"name": NAME, "arguments": OBJECT}</tool_call>.
{% endif %}"""
CALLS = """\
{%- for call in m['tool_calls'] or [] %}
<tool_call>
{"name": {{ call['function']['name'] | tojson }}, "arguments": \
{{ call['function']['arguments'] | tojson }}}
</tool_call>{% endfor %}"""
CONTENT = """\
{%- for c in m['content'] %}{% if c['type'] == 'image' %}\
<|vision_start|><|image_pad|><|vision_end|>\
{% elif c['type'] == 'video' %}<|vision_start|><|video_pad|><|vision_end|>\
{% else %}{{ c['text'] }}{% endif %}{% endfor %}"""
END = """
{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"""
ROLES = """\
{%- for m in messages %}\
{% if m['role'] == 'tool' %}user: <tool_response>{% else %}{{ m['role'] }}: {% endif %}"""
FULL = HEAD + ROLES + CONTENT + CALLS + END
"""Takes tools, and results as messages of their own."""
NO_ROLE = (
    HEAD
    + "{%- for m in messages %}{% if m['role'] == 'tool' %}"
    + "{{ raise_exception('no such role') }}{% endif %}{{ m['role'] }}: "
    + CONTENT
    + CALLS
    + END
)
"""Takes tools, but refuses the role of results."""
OTHER_CALLS = FULL.replace("<tool_call>", "[CALL]").replace("</tool_call>", "[/CALL]")
"""Writes calls in another form."""
ZOOM = toolbox(["zoom"]).specs
CALL = ToolCall(id="call-1", name="zoom", arguments='{"box":[0,0,500,500]}')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = {"max_position_embeddings": 16384}
    return build("qwen2_5_vl", tmp_path_factory.mktemp("model") / "qwen", text=text)


def processor_of(folder: Path, template: str) -> Any:
    from transformers import AutoProcessor

    processor = for_replies(AutoProcessor.from_pretrained(folder))
    processor.chat_template = template
    return processor


def prompts(folder: Path, template: str) -> HfPrompts:
    created = HfPrompts("hf/tiny", processor_of(folder, template), HfSettings())
    created.check()
    return created


def picture(side: int = 64) -> Image:
    file = BytesIO()
    PIL.Image.new("RGB", (side, side), "red").save(file, "PNG")
    return images.load(Image(file.getvalue()))


def request(*calls: ToolCall, continuation: str | None = None) -> Request:
    reply = Message("assistant", ("I look.",), tool_calls=calls, continuation=continuation)
    results = (tool(call.id, "the result", picture(32)) for call in calls)
    return Request(messages=(user(picture(), "what ?"), reply, *results), tools=ZOOM)


def rendered(of: HfPrompts, shown: Request) -> str:
    ids = of.prepared([shown]).inputs["input_ids"][0]
    return str(of.tokenizer.decode(ids))


# -- what a template gets


def test_a_template_renders_the_declaration_the_call_and_the_result(folder: Path) -> None:
    of = prompts(folder, FULL)
    assert (of.tools.takes_tools, of.tools.takes_results, of.tools.takes_pictures) == (
        True, True, True,
    )  # fmt: skip
    prompt = rendered(of, request(CALL))
    declared = next(line for line in prompt.splitlines() if '"zoom"' in line)
    assert json.loads(declared)["function"] == {
        "name": "zoom",
        "description": ZOOM[0].description,
        "parameters": json.loads(json.dumps(ZOOM[0].parameters)),
    }
    assert '{"name": "zoom", "arguments": {"box": [0, 0, 500, 500]}}' in prompt
    response = prompt[prompt.index("<tool_response>") :]
    assert "the result<|vision_start|><|image_pad|>" in response
    assert prompt.count("<|vision_start|>") == 2


def test_a_malformed_call_goes_back_as_the_model_wrote_it(folder: Path) -> None:
    wrong = ToolCall(id="call-1", name="", arguments="{zoom")
    raw = "I look.<tool_call>{zoom</tool_call>"
    prompt = rendered(prompts(folder, FULL), request(wrong, continuation=json.dumps(raw)))
    assert f"assistant: {raw}" in prompt


def test_a_template_without_the_role_of_results_gets_them_from_the_user(folder: Path) -> None:
    of = prompts(folder, NO_ROLE)
    assert (of.tools.takes_tools, of.tools.takes_results) == (True, False)
    prompt = rendered(of, request(CALL))
    assert "user:Result of zoom:the result<|vision_start|>" in prompt


@pytest.mark.parametrize(
    "template", [OTHER_CALLS, ROLES + CONTENT + END, HEAD + ROLES + CONTENT + END]
)
def test_other_templates_take_no_tools(folder: Path, template: str) -> None:
    assert not prompts(folder, template).tools.takes_tools


def test_a_request_without_tools_is_rendered_as_before(folder: Path) -> None:
    shown = Request(messages=(user(picture(), "what ?"),))
    assert rendered(prompts(folder, FULL), shown) == rendered(
        prompts(folder, ROLES + CONTENT + END), shown
    )


# -- a run


def scripted(folder: Path, template: str, say: Callable[[str], str]) -> Any:
    """The tiny model, whose replies come from a function of the rendered prompt."""
    import torch
    from transformers import Qwen2_5_VLForConditionalGeneration

    processor = processor_of(folder, template)
    tokenizer = processor.tokenizer

    class Scripted(Qwen2_5_VLForConditionalGeneration):  # type: ignore[misc]
        def generate(self, input_ids: Any, **more: Any) -> Any:
            texts = [say(tokenizer.decode(row)) + tokenizer.eos_token for row in input_ids]
            rows = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
            most = max(map(len, rows))
            padded = [row + [tokenizer.pad_token_id] * (most - len(row)) for row in rows]
            return torch.cat([input_ids, torch.tensor(padded)], dim=1)

    model = Scripted.from_pretrained(folder).eval()
    hf = in_training("hf/scripted", model, processor, "tiny", HfSettings())
    return wrap(hf, hf.name, hf.revision, 4).model


def zoom_run(out: Path, model: Any, **options: Any) -> Finished:
    chart = benchmark("eyechart:tasks=far,n=4")
    return run(out, model, chart, tools=("zoom",), image_size=128, max_tokens=200, **options)


def steps(finished: Finished) -> Mapping[str, list[ReplyRecord]]:
    records: dict[str, list[ReplyRecord]] = {}
    for record in Run(finished.run).replies():
        assert isinstance(record, ReplyRecord)
        records.setdefault(record.key.sample, []).append(record)
    return records


def test_a_run_zooms_by_the_template_and_counts_malformed_calls(
    folder: Path, tmp_path: Path
) -> None:
    prompts_seen: list[str] = []

    def say(prompt: str) -> str:
        prompts_seen.append(prompt)
        if "Picture 2" in prompt:
            return "ABCDE"
        if "Error" in prompt:
            return 'again <tool_call>{"name": "zoom", "arguments": {"box": [0, 0, 900, 900]}}'
        return "<tool_call>\n{zoom</tool_call>"

    finished = zoom_run(tmp_path, scripted(folder, FULL, say))

    identity = Run(finished.run).manifest()["identity"]["tool_use"]
    assert (identity["form"], identity["pictures"]) == ("native", "in results")
    assert "results" not in identity
    assert finished.result is not None
    report = finished.result.report
    assert report.replies == {"ok": 4}
    assert report.tools is not None and report.tools.steps is not None
    assert (report.tools.malformed, report.tools.steps.value) == (4, 3)
    for wrong, right, answer in steps(finished).values():
        assert (wrong.tool_calls[0].name, wrong.tool_calls[0].arguments) == ("", "{zoom")
        assert json.loads(right.tool_calls[0].arguments) == {"box": [0, 0, 900, 900]}
        assert (right.reply, answer.reply, answer.ended) == ("again", "ABCDE", "answered")
    last = next(prompt for prompt in prompts_seen if "Picture 2" in prompt)
    assert '"zoom"' in last and "<tool_response>" in last
    assert last.index("{zoom</tool_call>") < last.index("Error") < last.index("Picture 2")


def test_results_from_the_user_are_in_the_identity(folder: Path, tmp_path: Path) -> None:
    finished = zoom_run(tmp_path, scripted(folder, NO_ROLE, lambda prompt: "ABCDE"))
    identity = Run(finished.run).manifest()["identity"]["tool_use"]
    assert (identity["form"], identity["results"]) == ("native", "in user messages")


def test_a_model_whose_template_takes_no_tools_gets_them_as_text(
    folder: Path, tmp_path: Path
) -> None:
    seen: list[str] = []

    def say(prompt: str) -> str:
        seen.append(prompt)
        return "ABCDE"

    finished = zoom_run(tmp_path, scripted(folder, ROLES + CONTENT + END, say))
    identity = Run(finished.run).manifest()["identity"]["tool_use"]
    assert identity["form"] == "text" and "results" not in identity
    assert all("You can call tools before you answer." in prompt for prompt in seen)
