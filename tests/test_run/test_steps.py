"""Questions with tools, asked of real servers that call rightly and wrongly: what is asked, stored,
and scored step by step."""

import base64
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as pillow

import snellen
from snellen.api import Finished, Plan, run_plan
from snellen.cli import exit_code
from snellen.core.profile import ImageLimits, Profile
from snellen.errors import SnellenError
from snellen.registry import benchmark
from snellen.store import Key, Question, ReplyRecord, Run
from snellen.transforms.probes import probed
from tests import killed_steps
from tests.servers import Answer, ReceivedRequest, completion, serving, status

N = 3
WIDTH, HEIGHT = 320, 160
ZOOM = '<tool_call>{"name": "zoom", "arguments": {"box": [0, 0, 500, 500]}}</tool_call>'
QUICK = {"backoff": 0.01, "longest_wait": 0.02, "attempts": 2}


def picture(number: int) -> Any:
    return np.random.default_rng(number).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    lines = []
    for number in range(N):
        pillow.fromarray(picture(number)).save(tmp_path / f"{number}.png")
        row = {"id": f"q{number}", "question": f"[q{number}] Which?", "image": f"{number}.png"}
        lines.append({**row, "A": "x", "B": "y", "answer": "A"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def plan(rows: Path, url: str, out: Path, **options: Any) -> Plan:
    profile = Profile(base_url=url)
    return Plan(
        models=["openai/m"],
        out=out,
        **{
            "benchmarks": [benchmark(str(rows))],
            "profile": profile,
            "concurrency": 4,
            "retry": QUICK,
            **options,
        },
    )


def ask(rows: Path, url: str, out: Path, **options: Any) -> Finished:
    """A run with the tool zoom as text, unless `options` say otherwise."""
    options = {"tools": ("zoom",), **options}
    if options["tools"]:
        options = {"tool_form": "text", **options}
    return run_plan(plan(rows, url, out, **options))[0]


def step(request: ReceivedRequest) -> tuple[str, int]:
    """The question of a request, and its step."""
    messages = request.json["messages"]
    text = json.dumps(messages[0])
    name = text.partition("[q")[2].partition("]")[0]
    return f"q{name}", sum(message["role"] == "assistant" for message in messages)


def says(*texts: str | Answer) -> Callable[[ReceivedRequest], Answer]:
    """A server that answers each question with these texts in turn, and then with the last."""

    def decide(request: ReceivedRequest) -> Answer:
        answer = texts[min(step(request)[1], len(texts) - 1)]
        return answer if isinstance(answer, Answer) else completion(answer)

    return decide


def records(finished: Finished) -> list[ReplyRecord]:
    return [record for record in Run(finished.run).replies() if isinstance(record, ReplyRecord)]


def last_texts(request: ReceivedRequest) -> list[str]:
    content = request.json["messages"][-1]["content"]
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return [part["text"] for part in parts if part["type"] == "text"]


@dataclass(frozen=True)
class Utterance:
    """What a model says: a text, and calls as (name, arguments)."""

    text: str = ""
    calls: Sequence[tuple[str, str]] = ()
    stop: str = "stop"

    def as_text(self) -> Answer:
        marks = [
            f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'
            for name, arguments in self.calls
        ]
        return completion("\n".join([*filter(None, [self.text]), *marks]), stop=self.stop)

    def natively(self) -> Answer:
        if not self.calls:
            return completion(self.text, stop=self.stop)
        calls = [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(self.calls)
        ]
        return completion(self.text or None, stop="tool_calls", tool_calls=calls)


BOX = ("zoom", '{"box": [0, 0, 500, 500]}')
LOOKS = Utterance(calls=[BOX])
ANSWERS = Utterance("A")
SHOWN = "Picture 2 (160 x 80 pixels):"
CASES: dict[str, tuple[Sequence[Utterance], str, int, float, str]] = {
    # what the model says: how the question ends, its steps, its score, words of the last request
    "an answer at once": ([ANSWERS], "answered", 1, 1.0, "[q"),
    "a call, then an answer": ([LOOKS, ANSWERS], "answered", 2, 1.0, SHOWN),
    "an unknown tool": (
        [Utterance(calls=[("crop", "{}")]), ANSWERS],
        "answered",
        2,
        1.0,
        "Tools: zoom",
    ),
    "bad JSON": (
        [Utterance(calls=[("zoom", '{"box": [0, ')]), ANSWERS],
        "answered",
        2,
        1.0,
        "Error: ",
    ),
    "a box outside": (
        [Utterance(calls=[("zoom", '{"box": [0, 0, 5000, 500]}')]), ANSWERS],
        *("answered", 2, 1.0, "<= 1000"),
    ),
    "a hundred calls": (
        [Utterance(calls=[BOX] * 100), ANSWERS],
        "answered",
        2,
        1.0,
        "8 of 100 calls",
    ),
    "text and a call": ([Utterance("I look.", [BOX]), ANSWERS], "answered", 2, 1.0, SHOWN),
    "a call after the answer": ([Utterance("B", [BOX]), ANSWERS], "answered", 2, 1.0, SHOWN),
    "never ending": ([LOOKS], "steps", 4, 0.0, "No further calls are possible"),
    "never ending, with the answer": ([Utterance("A", [BOX])], "steps", 4, 1.0, "No further calls"),
    "only malformed calls": ([Utterance(calls=[("zoom", "here")])], "malformed", 3, 0.0, "Error: "),
    "nothing": ([Utterance("")], "answered", 1, 0.0, "[q"),
    "an answer cut at the limit": ([Utterance("A", stop="length")], "answered", 1, 1.0, "[q"),
}


@pytest.mark.parametrize("form", ["text", "native"])
@pytest.mark.parametrize("case", CASES)
def test_each_way_of_calling_ends_as_it_must(
    case: str, form: str, rows: Path, tmp_path: Path
) -> None:
    utterances, ending, steps, score, words = CASES[case]
    answers = [turn.as_text() if form == "text" else turn.natively() for turn in utterances]
    options: dict[str, Any] = {"max_steps": 4, "tool_form": form}
    with serving(says(*answers)) as server:
        finished = ask(rows, server.url, tmp_path / "runs", **options)
        requests = [*server.requests]
        ask(rows, server.url, tmp_path / "runs", **options)
        assert len(server.requests) == len(requests)

    assert finished.result is not None
    report = finished.result.report
    assert Counter(map(step, requests)) == {(f"q{i}", k): 1 for i in range(N) for k in range(steps)}
    assert sum(report.replies.values()) == N and "failed" not in report.replies
    assert finished.result.headline.value == score
    assert report.tools is not None
    assert report.tools.ended == {ending: N}
    assert report.tools.steps is not None and report.tools.steps.value == steps
    calls = sum(len(utterances[min(k, len(utterances) - 1)].calls) for k in range(steps))
    assert report.tools.calls is not None and report.tools.calls.value == calls
    refused = {"an unknown tool": 1, "bad JSON": 1, "a box outside": 1, "a hundred calls": 92}
    refused["only malformed calls"] = 2  # and the call of the last reply is not carried out
    assert report.tools.refused_calls == N * refused.get(case, 0)
    assert report.tools.unmade_calls == (N if ending != "answered" else 0)
    is_bad = case in ("bad JSON", "only malformed calls")
    assert report.tools.malformed == (N * calls if is_bad else 0)
    last = [request for request in requests if step(request)[1] == steps - 1]
    assert all(words in json.dumps(request.json["messages"]) for request in last)
    assert all(("tools" in request.json) == (form == "native") for request in requests)
    assert Counter(filter(None, (record.ended for record in records(finished)))) == {ending: N}
    assert {record.key for record in records(finished)} == {
        Key(f"q{i}", step=k) for i in range(N) for k in range(steps)
    }


def test_the_crop_that_is_sent_is_that_of_the_original(rows: Path, tmp_path: Path) -> None:
    small = Profile(images=ImageLimits(max_side=100))
    with serving(says(ZOOM, "A")) as server:
        for number, profile in enumerate((Profile(), small)):
            ask(
                *(rows, server.url, tmp_path / f"{number}"),
                profile=profile,
                base_url=server.url,
            )
            sent = {step(request)[0]: pictures(request) for request in server.requests[-N:]}

            for name, (first, crop) in sent.items():
                original = picture(int(name[1:]))
                if number == 0:
                    assert (first == original).all()
                    assert (crop == original[:80, :160]).all()
                else:  # a small picture of the crop, not a crop of a small picture
                    assert first.shape == (50, 100, 3)
                    assert crop.shape == (50, 100, 3)
                    by_hand = pillow.fromarray(original[:80, :160])
                    by_hand = by_hand.resize((100, 50), pillow.Resampling.LANCZOS)
                    assert (crop == np.asarray(by_hand)).all()


def pictures(request: ReceivedRequest) -> list[Any]:
    urls = [
        part["image_url"]["url"]
        for message in request.json["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]
    files = (BytesIO(base64.b64decode(url.partition(",")[2])) for url in urls)
    return [np.asarray(pillow.open(file)) for file in files]


def test_a_profile_that_limits_the_pictures_limits_the_calls(rows: Path, tmp_path: Path) -> None:
    profile = Profile(images=ImageLimits(max_images=2))
    with serving(says(ZOOM * 2, "A")) as server:
        finished = ask(rows, server.url, tmp_path, profile=profile, base_url=server.url)
        second = [request for request in server.requests if step(request)[1]]

    assert finished.result is not None and finished.result.report.replies == {"ok": N}
    assert all(len(pictures(request)) == 2 for request in second)
    assert all("only 0 more can be shown" in last_texts(request)[-1] for request in second)


def test_a_blind_model_zooms_into_gray(rows: Path, tmp_path: Path) -> None:
    with serving(says(ZOOM, "A")) as server:
        ask(rows, server.url, tmp_path, benchmarks=[probed(benchmark(str(rows)), blind="blank")])
        sent = [pictures(request) for request in server.requests if step(request)[1]]

    assert [[shown.shape for shown in several] for several in sent] == [
        [(HEIGHT, WIDTH), (80, 160)]
    ] * N
    assert all((shown == 128).all() for several in sent for shown in several)


def test_the_token_budget_of_a_question_ends_it(rows: Path, tmp_path: Path) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 40}
    with serving(completion("A\n" + ZOOM, usage=usage)) as server:
        finished = ask(rows, server.url, tmp_path, question_tokens=100)
        assert len(server.requests) == 3 * N  # 40, 80, and 120 tokens

    assert finished.result is not None and finished.result.report.tools is not None
    tools = finished.result.report.tools
    assert tools.ended == {"budget": N}
    assert tools.tokens is not None and tools.tokens.value == 120
    assert finished.result.headline.value == 1.0
    assert any("used up the tokens" in note for note in finished.result.report.notes)


def test_a_reply_without_a_token_count_counts_as_long_as_it_may_be(
    rows: Path, tmp_path: Path
) -> None:
    with serving(completion(ZOOM, usage=None)) as server:
        ask(rows, server.url, tmp_path, question_tokens=100, max_tokens=60)
        assert len(server.requests) == 2 * N


def test_a_step_that_fails_is_asked_again_alone(rows: Path, tmp_path: Path) -> None:
    with serving(says(ZOOM, status(500))) as server:
        finished = ask(rows, server.url, tmp_path)
        assert finished.result is not None
        assert finished.result.report.replies == {"failed": N}
        assert finished.result.headline.value is None

    with serving(says(ZOOM, "A")) as healed:
        again = ask(rows, healed.url, tmp_path)
        assert Counter(map(step, healed.requests)) == {(f"q{i}", 1): 1 for i in range(N)}
        assert {tuple(image.shape for image in pictures(r)) for r in healed.requests} == {
            ((HEIGHT, WIDTH, 3), (80, 160, 3))
        }

    assert again.result is not None
    assert again.result.report.replies == {"ok": N}
    assert again.result.headline.value == 1.0


def test_a_run_that_stops_between_steps_scores_only_what_has_ended(
    rows: Path, tmp_path: Path
) -> None:
    def decide(request: ReceivedRequest) -> Answer:
        is_over = step(request)[0] == "q0" or step(request)[1] == 2
        return completion("A" if is_over else ZOOM)

    with serving(decide) as server:
        stopped = ask(rows, server.url, tmp_path, max_requests=4, concurrency=1)
        assert len(server.requests) == 4
        assert stopped.result is not None
        assert stopped.result.report.replies == {"ok": 1}

        ended = ask(rows, server.url, tmp_path)

        assert len(server.requests) == 1 + 3 * (N - 1)
    assert ended.result is not None and ended.result.report.replies == {"ok": N}


def test_the_journal_tells_what_was_cut_out_of_what(rows: Path, tmp_path: Path) -> None:
    with serving(says(ZOOM, "A")) as server:
        finished = ask(rows, server.url, tmp_path)

    questions: list[Question] = [*Run(finished.run).questions()]
    first, second = questions[:2]
    assert (first.key, second.key) == (("q0", 0, 0), ("q0", 0, 0, 1))
    assert [tool.calls[0].name for tool in second.tools if tool.calls] == ["zoom"]
    original, crop = second.media
    assert crop.excerpt is not None
    assert crop.excerpt.of == original.digest
    assert crop.excerpt.box == (0, 0, 160, 80)
    (called, _) = [record for record in records(finished) if record.key[0] == "q0"]
    assert json.loads(called.continuation or "") == ZOOM
    assert called.reply == "" and called.tool_calls[0].arguments == '{"box":[0,0,500,500]}'


def test_what_the_model_wrote_is_sent_back_unchanged(rows: Path, tmp_path: Path) -> None:
    written = f"First,  this.\n{ZOOM} And then \n\n{ZOOM}"
    with serving(says(written, "A")) as server:
        ask(rows, server.url, tmp_path)
        second = [request for request in server.requests if step(request)[1] == 1]

    assert {request.json["messages"][1]["content"] for request in second} == {written}


def test_tools_and_their_limits_are_part_of_the_identity(rows: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN)
    settings: list[dict[str, Any]] = [
        {"tools": ()},
        {"tools": ("zoom",)},
        {"tools": ("zoom,grid",)},
        {"tools": (f"python:{own}:brightness",)},
        {"tools": ("zoom",), "max_steps": 2},
        {"tools": ("zoom",), "question_tokens": 1000},
    ]
    with serving(says("A")) as server:
        paths = {ask(rows, server.url, tmp_path / "runs", **fields).run for fields in settings}
        same = {"tools": ("zoom",), "tool_form": "text", "max_steps": 6}
        assert ask(rows, server.url, tmp_path / "runs", **same).run in paths
        own.write_text(OWN + "\n")
        paths.add(ask(rows, server.url, tmp_path / "runs", **settings[3]).run)

    assert len(paths) == len(settings) + 1
    identities = [Run(path).manifest()["identity"] for path in paths]
    assert sum("tools" in identity for identity in identities) == len(settings)


OWN = '''
from snellen.media.images import pixels
from snellen.tools import Shown, ToolError, rendered


def brightness(shown: Shown, *, picture: int = 1) -> str:
    """Measure the mean brightness of a picture, from 0 to 255."""
    if picture == 13:
        raise ToolError("13 is unlucky")
    if picture == 14:
        raise KeyError("my bug")
    return f"{pixels(rendered(shown.picture(picture), max_pixels=10**9)).mean():.1f}"
'''


def test_a_tool_of_ones_own_is_called(rows: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN)
    calls = '<tool_call>{"name": "brightness", "arguments": {"picture": 1}}</tool_call>'
    calls += calls.replace(": 1}", ": 13}")
    with serving(says(calls, "A")) as server:
        finished = ask(rows, server.url, tmp_path / "a", tools=(f"zoom,python:{own}:brightness",))
        second = next(request for request in server.requests if step(request) == ("q1", 1))

    assert finished.result is not None and finished.result.headline.value == 1.0
    mean = f"{picture(1).mean():.1f}"
    assert last_texts(second) == [
        f"Result of brightness:\n{mean}\nResult of brightness:\nError: 13 is unlucky."
    ]


def test_a_bug_in_ones_own_tool_fails_the_question_and_is_no_score(
    rows: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN)
    bad = '<tool_call>{"name": "brightness", "arguments": {"picture": 14}}</tool_call>'
    with serving(says(bad, "A")) as server:
        finished = ask(rows, server.url, tmp_path / "a", tools=(f"python:{own}:brightness",))
        assert len(server.requests) == N

    assert finished.result is not None
    assert finished.result.report.replies == {"failed": N}
    errors = {record.error.message for record in records(finished) if record.error}
    assert errors == {"the tool brightness failed: KeyError: 'my bug'"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tools": ("zoomm",)}, "there is no tool 'zoomm'. Did you mean zoom?"),
        ({"tools": ("zoom,zoom",)}, "--tools lists zoom twice"),
        ({"tools": (",",)}, "--tools lists no tool"),
        ({"tools": ("frame",)}, "it shows no video. Leave out frame"),
        ({"tools": ("zoom",), "shots": 1}, "--tools cannot be used"),
        ({"tools": ("zoom",), "retry_truncated": 9000}, "works only without --tools"),
        ({"tools": (), "max_steps": 3}, "--max-steps is for questions with tools"),
        ({"tools": (), "tool_form": "text"}, "--tool-form is for questions with tools"),
    ],
)
def test_what_does_not_go_together_is_refused_before_the_first_request(
    options: dict[str, Any], words: str, rows: Path, tmp_path: Path
) -> None:
    with serving(says("A")) as server:
        with pytest.raises(SnellenError) as caught:
            snellen.evaluate(
                str(rows), "openai/m", base_url=server.url, out=tmp_path / "runs", **options
            )
        assert server.requests == []
    assert words in str(caught.value)


def test_with_and_without_tools_are_compared_pair_by_pair(rows: Path, tmp_path: Path) -> None:
    def decide(request: ReceivedRequest) -> Answer:
        if "call tools" not in json.dumps(request.json["messages"][0]):
            return completion("B")
        return completion(ZOOM if step(request)[1] == 0 else "A")

    with serving(decide) as server:
        without = ask(rows, server.url, tmp_path, tools=())
        using = ask(rows, server.url, tmp_path)

    assert without.result is not None and using.result is not None
    assert without.result.report.tools is None
    words = str(snellen.compare(without.run, using.run))
    assert "openai/m (tools=zoom) is 100.00 pp above openai/m in accuracy" in words
    assert "only openai/m (tools=zoom) on 3, such as q0, q1, q2" in words


def test_calls_that_a_server_leaves_in_the_text_are_noted(rows: Path, tmp_path: Path) -> None:
    def decide(request: ReceivedRequest) -> Answer:
        return completion("A" if "tools" not in request.json or step(request)[0] == "q0" else ZOOM)

    with serving(decide) as server:
        without = ask(rows, server.url, tmp_path, tools=())
        using = ask(rows, server.url, tmp_path, tool_form="native")

    assert without.result is not None and using.result is not None
    note = (
        "2 of 3 questions ended with a tool call that the model wrote as text, so the call was not "
        "made. Start the server with a parser for the model's calls, or use --tool-form text"
    )
    assert note in using.result.report.notes
    assert not any("as text" in note for note in without.result.report.notes)
    assert note in str(snellen.compare(without.run, using.run))


def test_a_killed_run_asks_no_step_again_whose_reply_was_stored(tmp_path: Path) -> None:
    latency = 0.03
    rows = killed_steps.write_rows(tmp_path, 40)
    with serving(killed_steps.answer, latency=latency) as server:
        hits = killed_steps.kill_again_and_again(
            server, rows, tmp_path / "runs", n=40, kills=2, seed=1, latency=latency
        )
    assert hits


def test_each_turn_of_each_repeat_has_its_own_steps(tmp_path: Path) -> None:
    pillow.fromarray(picture(0)).save(tmp_path / "0.png")
    row = {"id": "q0", "image": "0.png", "turns": ["[q0] First?", "Second?"], "answers": ["A", "B"]}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n")

    def decide(request: ReceivedRequest) -> Answer:
        last = json.dumps(request.json["messages"][-1])
        turn = json.dumps(request.json["messages"]).count("Second?")
        return completion("AB"[turn] if "Result of zoom" in last else ZOOM)

    options: dict[str, Any] = {"repeats": 2, "max_requests": 3, "concurrency": 1}
    with serving(decide) as server:
        ask(path, server.url, tmp_path / "runs", **options)
        finished = ask(path, server.url, tmp_path / "runs", **{**options, "max_requests": None})
        assert len(server.requests) == 8
        second_turns = [
            request.json["messages"]
            for request in server.requests
            if "Second?" in json.dumps(request.json["messages"])
        ]

    assert {record.key for record in records(finished)} == {
        Key("q0", repeat, turn, step) for repeat in (0, 1) for turn in (0, 1) for step in (0, 1)
    }
    assert finished.result is not None
    report = finished.result.report
    assert finished.result.headline.value == 1.0
    assert report.tools is not None and report.tools.ended == {"answered": 4}
    assert report.tools.steps is not None and report.tools.steps.value == 2
    first = [m for m in second_turns if len(m) == 3]  # the first turn, its answer, the second turn
    assert len(first) == 2 and all(m[1]["content"] == "A" for m in first)


RECIPE = """
family = "My-VL"
checkpoints = ["me/My-VL"]
evidence = "maker-code"
source = "me/my-vl@0123abc:eval"

[prompts]
letter = "{{ images | join }}{{ question }}"

[[asks]]
data_sets = ["eyechart"]
prompt = "letter"
source = "ask.py#L10-L24"
generation = { max_new_tokens = 64, tools = ["zoom", "grid"], max_steps = 2 }
"""


def test_a_recipe_sets_tools_and_an_option_takes_precedence(tmp_path: Path) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_text(RECIPE)
    with serving(completion(ZOOM)) as server:
        for tools in ({}, {"tools": ["rotate"], "max_steps": 3}):
            snellen.evaluate(
                *("eyechart", "openai/m"),
                recipe=str(recipe),
                tool_form="text",
                base_url=server.url,
                out=tmp_path / "runs",
                limit=1,
                **tools,  # type: ignore[arg-type]
            )
        assert len(server.requests) == 2 + 3

    manifests = [Run(path).manifest() for path in (tmp_path / "runs").glob("*/*/*")]
    assert {
        (
            manifest["identity"]["tools"],
            manifest["identity"]["tool_use"]["max_steps"],
            manifest["origins"]["tools"],
        )
        for manifest in manifests
    } == {("zoom,grid", 2, "recipe"), ("rotate", 3, "argument")}


def test_a_plan_file_and_the_command_line_offer_tools(rows: Path, tmp_path: Path) -> None:
    with serving(says(ZOOM, "A")) as server:
        (tmp_path / "plan.toml").write_text(
            f'benchmarks = ["{rows}"]\nmodels = ["openai/m"]\nbase_url = "{server.url}"\n'
            f'out = "{tmp_path / "runs"}"\ntools = ["zoom", "rotate"]\n'
            'tool_form = "text"\nmax_steps = 5\n'
        )
        assert exit_code(["run", str(tmp_path / "plan.toml")]) == 0
        words = ["run", "-b", str(rows), "-m", "openai/m", "--base-url", server.url]
        words += ["--out", str(tmp_path / "runs"), "--tools", "zoom,rotate"]
        words += ["--tool-form", "text", "--max-steps", "5"]
        assert exit_code(words) == 0
        assert len(server.requests) == 2 * N
