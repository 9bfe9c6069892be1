"""Questions with tools through the whole runner, in the formats of four services, plain and
streamed: servers that call rightly and wrongly."""

import base64
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as pillow

from snellen.api import Finished, Plan, explain, run_plan
from snellen.core.profile import Profile
from snellen.registry import benchmark
from snellen.report import story as shown
from snellen.store import Key, ReplyRecord, Run
from tests.servers import Answer, ReceivedRequest, serving
from tests.vendor_tools import TOOL_VENDORS, Call, ToolVendor

N = 2
ZOOM = '{"box": [0, 0, 500, 500]}'
RIGHT: Call = ("call_a", "zoom", ZOOM)
Utterance = tuple[str, Sequence[Call]]
"""What a model says: a text, and calls."""
LOOKS: Utterance = ("", [RIGHT])
ANSWERS: Utterance = ("A", [])
CASES: dict[str, tuple[Sequence[Utterance], str, int, float, str]] = {
    # what the model says: how the question ends, its steps, its score, words of the last request
    "an answer at once": ([ANSWERS], "answered", 1, 1.0, "[q"),
    "a call, then an answer": ([LOOKS, ANSWERS], "answered", 2, 1.0, "Picture 2 (160 x 80 pixels)"),
    "an unknown tool": ([("", [("x", "crop", "{}")]), ANSWERS], "answered", 2, 1.0, "Tools: zoom"),
    "a box outside": (
        [("", [("x", "zoom", '{"box": [0, 0, 5000, 500]}')]), ANSWERS],
        *("answered", 2, 1.0, "<= 1000"),
    ),
    "a hundred calls": (
        [("", [(f"call_{i}", "zoom", ZOOM) for i in range(100)]), ANSWERS],
        *("answered", 2, 1.0, "8 of 100 calls"),
    ),
    "text and a call": ([("I look.", [RIGHT]), ANSWERS], "answered", 2, 1.0, "I look."),
    "a call after the answer": ([("B", [RIGHT]), ANSWERS], "answered", 2, 1.0, "Picture 2"),
    "never ending": ([LOOKS], "steps", 4, 0.0, "No further calls are possible"),
}
BAD_JSON: Utterance = ("", [("x", "zoom", '{"box": [0, 0')])

all_vendors = pytest.mark.parametrize("vendor", TOOL_VENDORS, ids=lambda it: it.vendor.kind)
plain_and_streamed = pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])


def picture(number: int) -> Any:
    return np.random.default_rng(number).integers(0, 256, (160, 320, 3), dtype=np.uint8)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    with path.open("w") as file:
        for number in range(N):
            pillow.fromarray(picture(number)).save(tmp_path / f"{number}.png")
            row = {"id": f"q{number}", "question": f"[q{number}] Which?", "A": "x", "B": "y"}
            file.write(json.dumps({**row, "image": f"{number}.png", "answer": "A"}) + "\n")
    return path


def question_of(request: ReceivedRequest) -> str:
    return f"q{json.dumps(request.json).partition('[q')[2].partition(']')[0]}"


def ask(
    vendor: ToolVendor, utterances: Sequence[Utterance], rows: Path, *, streamed: bool
) -> tuple[Finished, list[ReceivedRequest]]:
    """Ask the questions of a server that answers each with these utterances in turn, and then with
    the last. Returns the finished run and the requests. The run is repeated, which must send no
    request."""
    steps: Counter[str] = Counter()

    def decide(request: ReceivedRequest) -> Answer:
        question = question_of(request)
        text, calls = utterances[min(steps[question], len(utterances) - 1)]
        steps[question] += 1
        return vendor.replied(*calls, text=text, streamed=streamed)

    with serving(decide) as server:
        plan = Plan(
            benchmarks=[benchmark(str(rows))],
            models=[f"{vendor.vendor.kind}/m"],
            profile=Profile(base_url=server.url, stream=streamed),
            out=rows.parent / "runs",
            tools=("zoom",),
            max_steps=4,
            max_tokens=99,
        )
        (finished,) = run_plan(plan)
        requests = [*server.requests]
        run_plan(plan)
        assert len(server.requests) == len(requests)
    return finished, requests


def pictures(value: object) -> Iterator[Any]:
    """The pictures in a request, in whatever format, in order."""
    if isinstance(value, str) and value.startswith("data:image/png;base64,"):
        yield decoded(value.partition(",")[2])
    elif isinstance(value, dict) and value.keys() & {"mimeType", "media_type"}:
        yield decoded(value["data"])
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from pictures(part)


def decoded(data: str) -> Any:
    return np.asarray(pillow.open(BytesIO(base64.b64decode(data))))


@all_vendors
@plain_and_streamed
@pytest.mark.parametrize("case", CASES)
def test_each_way_of_calling_ends_as_it_must(
    vendor: ToolVendor, streamed: bool, case: str, rows: Path
) -> None:
    utterances, ending, steps, score, words = CASES[case]

    finished, requests = ask(vendor, utterances, rows, streamed=streamed)

    assert finished.result is not None
    report = finished.result.report
    assert Counter(map(question_of, requests)) == {f"q{i}": steps for i in range(N)}
    assert sum(report.replies.values()) == N and "failed" not in report.replies
    assert finished.result.headline.value == score
    assert report.tools is not None and report.tools.ended == {ending: N}
    assert report.tools.malformed == 0
    assert all(words in json.dumps(request.json) for request in requests[-1:])
    records = [r for r in Run(finished.run).replies() if isinstance(r, ReplyRecord)]
    assert {record.key for record in records} == {
        Key(f"q{i}", step=k) for i in range(N) for k in range(steps)
    }


@all_vendors
def test_the_calls_are_explained_with_the_sizes_of_their_results(
    vendor: ToolVendor, rows: Path
) -> None:
    wrong: Utterance = ("", [("call_a", "crop", "{}")])
    finished, _ = ask(vendor, [LOOKS, wrong, ANSWERS], rows, streamed=False)

    (story,) = explain(finished.run, "q0")
    first, second = story.calls
    assert (first.step, first.name, json.loads(first.arguments)) == (0, "zoom", json.loads(ZOOM))
    assert (first.pictures, second.pictures) == (1, 0)
    assert first.characters and second.characters
    assert (second.step, second.name) == (1, "crop")
    assert [role for role, _ in story.messages].count("user") < 3
    assert re.search(r"call 1 +\(step 1\) zoom \{.+\}: \d+ characters, 1 picture\n", shown(story))


@all_vendors
@plain_and_streamed
def test_the_crop_that_is_sent_is_that_of_the_original(
    vendor: ToolVendor, streamed: bool, rows: Path
) -> None:
    _, requests = ask(vendor, [LOOKS, ANSWERS], rows, streamed=streamed)

    sent = {question_of(request): [*pictures(request.json)] for request in requests}  # the last
    assert sent.keys() == {"q0", "q1"}
    for question, (first, crop) in sent.items():
        original = picture(int(question[1:]))
        assert (first == original).all()
        assert (crop == original[:80, :160]).all()


@pytest.mark.parametrize(
    ("kind", "streamed"),
    [
        ("openai", False),
        ("openai", True),
        ("openai-responses", False),
        ("openai-responses", True),
        ("anthropic", True),  # elsewhere, the services parse the arguments themselves
    ],
)
def test_arguments_that_are_no_json_are_malformed_calls(
    kind: str, streamed: bool, rows: Path
) -> None:
    vendor = next(vendor for vendor in TOOL_VENDORS if vendor.vendor.kind == kind)

    finished, _ = ask(vendor, [BAD_JSON, ANSWERS], rows, streamed=streamed)

    assert finished.result is not None and finished.result.report.tools is not None
    tools = finished.result.report.tools
    assert (tools.malformed, tools.ended) == (N, {"answered": N})
