"""Models that call tools themselves, and hand over the steps before their replies."""

from __future__ import annotations

import json
import struct
from collections import deque
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as pillow

import snellen
from snellen.analysis.result import Result
from snellen.api import explain
from snellen.core.benchmark import History
from snellen.core.model import Reply, Request, Step, Times, Usage
from snellen.core.outputs import check_reply
from snellen.core.procedure import Conversation
from snellen.core.sample import Sample
from snellen.core.tools import ToolResult
from snellen.errors import Rejected
from snellen.media.content import Excerpt, Image, Message, ToolCall, user
from snellen.scoring.sections.tools import tools_facts
from snellen.store import ReplyRecord, Run
from snellen.tools import full_view, rendered
from tests.tiny import Says, benchmark, records, run

BOX = (250, 250, 750, 750)


def png(color: str = "red") -> bytes:
    data = BytesIO()
    pillow.new("RGB", (30, 20), color).save(data, "PNG")
    return data.getvalue()


def huge() -> bytes:
    """A picture that claims to have 20,000 x 20,000 pixels."""
    data = bytearray(png())
    data[16:24] = struct.pack(">II", 20_000, 20_000)
    return bytes(data)


def call(name: str = "look", call_id: str = "1", arguments: str = "{}") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


def agent(request: Request) -> Reply:
    """Looks at the middle of the picture, then answers."""
    (picture,) = request.messages[-1].images
    crop = rendered(full_view(picture).part(*BOX))
    look = call("zoom", arguments=json.dumps({"box": BOX}))
    return Reply(
        text="ABCDE",
        stop="stop",
        usage=Usage(input=300, output=50),
        times=Times(total=1.5),
        steps=(
            Step(
                text="I look closer.",
                results=(ToolResult(call=look, parts=("The middle:", crop)),),
                usage=Usage(input=100, output=20),
                times=Times(total=0.5),
            ),
            Step(results=(ToolResult(call=call(arguments="[1")),)),
        ),
    )


def evaluated(out: Path, say: Callable[[Request], Reply | str] = agent, **options: Any) -> Result:
    return snellen.evaluate("eyechart:tasks=letters,n=12", Says(say), out=out, **options)


def finals(result: Result) -> list[ReplyRecord]:
    assert result.run is not None
    with_steps = Run(result.run)
    return [record for record in with_steps.replies() if isinstance(record, ReplyRecord)]


# -- what is stored and reported


def test_the_steps_are_stored_with_the_digests_of_their_pictures(tmp_path: Path) -> None:
    result = evaluated(tmp_path)
    record = finals(result)[0]
    assert result.run is not None and record.steps is not None
    first, second = record.steps
    (result_of_zoom,) = first.results
    assert (first.text, result_of_zoom.parts) == ("I look closer.", ["The middle:", 0])
    assert first.usage is not None and first.usage.output == 20
    assert first.times is not None and first.times.total == 0.5
    (crop,) = first.media
    assert crop.excerpt is not None and crop.excerpt.box == (84, 84, 252, 252)
    assert (crop.width, crop.height) == (168, 168)
    question = next(iter(Run(result.run).questions()))
    assert crop.excerpt.of == question.media[0].digest
    assert second.results[0].call.arguments == "[1"
    journal = b"".join(path.read_bytes() for path in result.run.glob("replies*.jsonl"))
    assert len(journal) < 12 * 3_000  # no pixels


def test_the_steps_are_explained_with_the_sizes_of_their_results(tmp_path: Path) -> None:
    result = evaluated(tmp_path)
    assert result.run is not None
    (story,) = explain(result.run, "letters-0")
    zoom, look = story.calls
    assert (zoom.step, zoom.name, json.loads(zoom.arguments)) == (0, "zoom", {"box": [*BOX]})
    assert (zoom.characters, zoom.pictures) == (len("The middle:"), 1)
    assert (look.step, look.arguments, look.characters) == (1, "[1", 0)


def test_the_report_counts_the_steps_and_calls(tmp_path: Path) -> None:
    tools = evaluated(tmp_path).report.tools
    assert tools is not None
    assert tools.ended == {}  # only the model knows why it stopped
    assert tools.malformed == 12
    values = {"steps": 3, "calls": 2, "tokens": 50, "seconds": 1.5}
    for name, value in values.items():
        metric = getattr(tools, name)
        assert (metric.value, metric.n) == (value, 12), name


def test_a_model_that_answers_without_a_call_has_one_step(tmp_path: Path) -> None:
    tools = evaluated(tmp_path, lambda request: Reply(text="A", steps=())).report.tools
    assert tools is not None and tools.steps is not None and tools.calls is not None
    assert (tools.steps.value, tools.calls.value) == (1, 0)


def tools_facts_of(result: Result) -> dict[str, str]:
    return dict(tools_facts(result.report))


def test_results_that_begin_with_error_are_refused_calls(tmp_path: Path) -> None:
    def refuses(request: Request) -> Reply:
        texts = ("Error: no box.", "red", "")
        results = tuple(ToolResult(call=call(), parts=(text,)) for text in texts)
        return Reply(text="A", steps=(Step(results=results),))

    result = evaluated(tmp_path, refuses)
    assert result.report.tools is not None
    assert (result.report.tools.refused_calls, result.report.tools.unmade_calls) == (12, 0)
    assert tools_facts_of(result)["refused calls"] == "12 of 36"
    again = snellen.evaluate(
        "eyechart:tasks=letters,n=12", Says(lambda request: "A", "plain"), out=tmp_path
    )
    assert "refused calls: says 12 of 36" in str(snellen.compare(again, result))


def calling(per_call: int) -> Callable[[Request], Reply]:
    """Makes some calls at once to every third question, and none to the others."""

    def say(request: Request) -> Reply:
        assert request.origin is not None
        is_third = int(request.origin.sample.removeprefix("letters-")) % 3 == 0
        results = (ToolResult(call=call()),) * (per_call * is_third)
        return Reply(text="A", times=Times(total=0.5), steps=(Step(results=results),))

    return say


def test_the_interval_of_calls_scales_with_the_calls(tmp_path: Path) -> None:
    """One call or none is an amount, not a share of right answers."""
    single, threefold = (evaluated(tmp_path / f"{n}", calling(n)).report.tools for n in (1, 3))
    assert single is not None and single.calls is not None and single.calls.ci95 is not None
    assert threefold is not None and threefold.calls is not None
    # Without the limit at 0, both ends scale. The lower end of neither reaches it.
    assert threefold.calls.ci95 == pytest.approx([3 * end for end in single.calls.ci95])
    assert single.calls.ci95[0] > 0


def test_amounts_that_do_not_vary_have_no_interval(tmp_path: Path) -> None:
    tools = evaluated(tmp_path, lambda request: Reply(text="A", steps=())).report.tools
    assert tools is not None and tools.steps is not None
    assert (tools.steps.value, tools.steps.ci95) == (1, None)
    assert tools.steps.reason == "all clusters have the same mean"


def test_replies_that_hand_over_no_steps_are_not_counted(tmp_path: Path) -> None:
    def every_second(request: Request) -> Reply:
        assert request.origin is not None
        number = int(request.origin.sample.removeprefix("letters-"))
        return agent(request) if number % 2 else Reply(text="ABCDE")

    tools = evaluated(tmp_path, every_second).report.tools
    assert tools is not None and tools.steps is not None
    assert (tools.steps.value, tools.steps.n) == (3, 6)


def test_a_comparison_states_the_steps_of_each_side(tmp_path: Path) -> None:
    plain = snellen.evaluate(
        "eyechart:tasks=letters,n=12", Says(lambda request: "ABCDE", "plain"), out=tmp_path
    )
    comparison = snellen.compare(plain, evaluated(tmp_path))
    without, with_steps = comparison.comparisons.sides
    assert without.tools is None and with_steps.tools is not None
    assert "steps per question: says 3.00" in str(comparison)
    assert "calls per question: says 2.00" in str(comparison)


def test_a_run_whose_replies_have_no_steps_is_stored_as_before(tmp_path: Path) -> None:
    finished = run(tmp_path, Says(lambda request: "yes"), benchmark(2))
    (line, *_) = (finished.run / "replies.jsonl").read_text().splitlines()
    assert list(json.loads(line)) == ["format", "key", "kind", "request", "state", "at", "reply",
                                      "stop"]  # fmt: skip
    assert json.loads(line)["format"] == 0
    assert finished.result is not None and finished.result.report.tools is None


def test_a_finished_question_is_not_asked_again_and_its_steps_are_kept(tmp_path: Path) -> None:
    first = finals(evaluated(tmp_path))
    again = Says(agent)
    result = snellen.evaluate("eyechart:tasks=letters,n=12", again, out=tmp_path)
    assert again.requests == []
    assert finals(result) == first
    assert result.report.tools is not None


def test_a_reused_reply_and_a_recorded_one_keep_their_steps(tmp_path: Path) -> None:
    first = evaluated(tmp_path / "first")
    reused = snellen.evaluate(
        "eyechart:tasks=letters,n=12", Says(agent), out=tmp_path / "second", reuse=[f"{first.run}"]
    )
    recorded = snellen.evaluate(
        "eyechart:tasks=letters,n=12", f"recorded/{first.run}", out=tmp_path / "third"
    )
    steps = [record.steps for record in finals(first)]
    assert steps == [record.steps for record in finals(reused)]
    assert steps == [record.steps for record in finals(recorded)]


# -- steps that cannot be stored


def step(*parts: Any, **fields: Any) -> Step:
    return Step(results=(ToolResult(call=call(), parts=parts),), **fields)


WRONG: list[tuple[Any, str]] = [
    ("look", " is a str, not a list of Step."),
    (5, " is an int, not a list of Step."),
    (["look"], "[0] is a str, not a Step."),
    ([Step(text=5)], "[0].text is an int, not text."),  # type: ignore[arg-type]
    ([Step(results="look")], "[0].results is a str, not a list of ToolResult."),  # type: ignore[arg-type]
    ([Step(results=[call()])], "[0].results[0] is a ToolCall, not a ToolResult."),  # type: ignore[arg-type]
    ([step(), step(b"png")], "[1].results[0].parts[0] is a bytes, neither text nor"),
    ([step("a", Image(b"hello"))], "[0].results[0].parts[1] cannot be read as a picture: "),
    ([step(Image(png()[:-20]))], "[0].results[0].parts[0] cannot be read as a picture: "),
    ([step(Image(Path("gone.png")))], "[0].results[0].parts[0] cannot be read as a picture: "),
    ([step(Image(huge()))], "[0].results[0].parts[0] cannot be read as a picture: "),
    ([step(Image("a.png"))], "[0].results[0].parts[0].source is a str, neither bytes nor"),  # type: ignore[arg-type]
    (
        [step(Image(png(), excerpt=Excerpt(of="a", box=(5, 5, 5, 9))))],
        "[0].results[0].parts[0].excerpt.box is [5, 5, 5, 9], which has no pixels.",
    ),
    (
        [step(Image(png(), excerpt=Excerpt(of="a", box="left")))],  # type: ignore[arg-type]
        "[0].results[0].parts[0].excerpt needs a box of four whole numbers",
    ),
    ([step(usage=Usage(output=-1))], "[0].usage.output is not a number of tokens"),
    ([step(times=Times(total=float("nan")))], "[0].times.total is not a finite number."),
    ([Step()] * 1_001, " has 1,001 steps; at most 1,000 are stored."),
    ([step("a" * 10_000_001)], " has 10,000,008 characters; at most 10,000,000 are stored."),
    ([step(*["a"] * 10_001)], "[0].results[0].parts has 10,001 entries; at most 10,000"),
    ([Step(usage=Usage(output=80))], " has 80 output tokens, but the reply's usage.output is 70."),
]


@pytest.mark.parametrize(("steps", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_wrong_field_of_a_step_is_refused_by_name(steps: Any, message: str) -> None:
    reply = Reply(text="A", usage=Usage(output=70), steps=steps)
    with pytest.raises(Rejected) as refusal:
        check_reply(reply, "mine", "s1")
    assert str(refusal.value).startswith(f"mine: sample s1: Reply.steps{message}")


def test_a_reply_with_wrong_steps_fails_and_has_no_score(tmp_path: Path) -> None:
    def wrong(request: Request) -> Reply:
        return Reply(text="yes", steps=(step(Image(b"no picture")),))

    finished = run(tmp_path, Says(wrong), benchmark(3))
    assert finished.result is not None
    report = finished.result.report
    assert report.replies == {"failed": 3}
    assert report.scorings["official"].metrics["accuracy"].value is None
    record = records(finished)[0]
    assert record.error is not None and record.steps is None
    assert record.error.message.startswith("says: sample s0: Reply.steps[0].results[0].parts[0] ")


@pytest.mark.parametrize("kind", [np.array, deque], ids=["an array", "a deque"])
def test_steps_that_are_no_list_fail_one_question(
    tmp_path: Path, kind: Callable[[Any], Any]
) -> None:
    def wrong(request: Request) -> Reply:
        return Reply(text="yes", steps=kind(["a", "b"]))

    finished = run(tmp_path, Says(wrong), benchmark(1))
    assert finished.result is not None and finished.result.report.replies == {"failed": 1}
    assert "Reply.steps" in str(records(finished)[0].error)


def test_pictures_may_be_files_or_digests_alone(tmp_path: Path) -> None:
    path = tmp_path / "crop.png"
    path.write_bytes(png())
    digest = f"sha256:{sha256(png()).hexdigest()}"
    known = Image(b"", digest=digest, width=30, height=20)
    reply = check_reply(Reply(steps=(step(Image(path), known),)), "mine")
    assert reply.steps is not None
    of_file, of_digest = reply.steps[0].results[0].parts
    assert isinstance(of_file, Image) and isinstance(of_digest, Image)
    assert (of_file.digest, of_file.size, of_file.source) == (digest, (30, 20), b"")
    assert (of_digest.digest, of_digest.size) == (digest, (30, 20))


def test_a_stated_digest_does_not_replace_that_of_the_bytes() -> None:
    forged = Image(png(), digest=f"sha256:{'0' * 64}")
    reply = check_reply(Reply(steps=[step(forged)]), "mine")  # type: ignore[arg-type]
    assert reply.steps is not None
    (picture,) = reply.steps[0].results[0].parts
    assert isinstance(picture, Image)
    assert picture.digest == f"sha256:{sha256(png()).hexdigest()}"


def test_a_class_in_a_file_hands_over_its_steps(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "from snellen.core import Reply, Step, ToolCall, ToolResult\n"
        "class Agent:\n"
        "    def generate(self, messages):\n"
        "        call = ToolCall(id='1', name='think', arguments='{}')\n"
        "        steps = [Step(text='Hm.', results=[ToolResult(call=call, parts=['nothing'])])]\n"
        "        return Reply(text='ABCDE', steps=steps)\n"
    )
    result = snellen.evaluate(
        "eyechart:tasks=letters,n=2", f"python:{tmp_path / 'agent.py'}:Agent", out=tmp_path / "runs"
    )
    assert result.report.tools is not None and result.report.tools.steps is not None
    assert result.report.tools.steps.value == 2


def test_steps_of_each_turn_are_counted(tmp_path: Path) -> None:
    def two_turns(sample: Sample, history: History) -> tuple[Message, ...]:
        return () if len(history) == 2 else (user(f"{sample.question} {len(history)}"),)

    turns = benchmark(2, prompt=two_turns, conversation=Conversation(turns=2))
    reply = Reply(text="yes", steps=(step("a"),))
    finished = run(tmp_path, Says(lambda request: reply), turns)
    assert finished.result is not None
    tools = finished.result.report.tools
    assert tools is not None and tools.steps is not None
    assert tools.steps.value == 4


def test_ask_returns_the_steps() -> None:
    model = Says(lambda request: Reply(text="A", steps=(Step(text="I look closer."),)))
    reply = snellen.ask(model, "What is it?")
    assert reply.steps == (Step(text="I look closer."),)
