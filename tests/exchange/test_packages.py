"""Exports are read by the other tools' own packages, of constraints-exchange.txt."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import snellen
from snellen.core.model import Reply, Request, Step
from snellen.core.tools import ToolResult
from snellen.interop.hub import HubTarget
from snellen.media.content import ToolCall
from snellen.report.export import export
from tests.exchanged import FAILED, choice_rows, choice_run, conversation_run, report_of
from tests.tiny import Says

pytestmark = [
    pytest.mark.exchange,
    # Inspect's own tasks leave streams open, and call other packages in deprecated ways.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return choice_run(tmp_path_factory.mktemp("repeated"), repeats=2)


def inspect_log(run: Path, folder: Path) -> Any:
    from inspect_ai.log import read_eval_log

    path, _ = export(run, "inspect", folder)
    return read_eval_log(str(path))


def test_inspect_reads_samples_scores_output_and_usage(repeated: Path, tmp_path: Path) -> None:
    log = inspect_log(repeated, tmp_path)
    metric = report_of(repeated)["scorings"]["default"]["metrics"]["accuracy"]

    assert (log.status, log.eval.task, log.eval.model) == ("success", "mine", "org/maker")
    assert log.eval.config.epochs == 2
    assert len(log.samples) == 24
    [score] = [score for score in log.results.scores if score.name == "default"]
    assert score.metrics["accuracy"].value == metric["value"]
    assert score.metrics["accuracy"].metadata["stderr"] == metric["stderr"]
    samples = {(sample.id, sample.epoch): sample for sample in log.samples}
    first = samples["q1", 2]
    assert first.output.completion == "The answer is A"
    assert first.output.stop_reason == "stop"
    assert first.output.usage.input_tokens == 101
    assert first.output.usage.reasoning_tokens == 2
    assert first.scores["default"].value == 1.0
    assert log.stats.model_usage["org/maker"].output_tokens == 7 * 22


def test_inspect_sees_a_failed_sample_as_an_error_without_a_score(
    repeated: Path, tmp_path: Path
) -> None:
    from inspect_ai.log import read_eval_log_sample_summaries

    log = inspect_log(repeated, tmp_path)
    [path] = tmp_path.glob("*.eval")

    failed = [sample for sample in log.samples if sample.id == f"q{FAILED}"]
    assert [sample.error.message for sample in failed] == ["the server cut the connection"] * 2
    assert all(not sample.scores and sample.output.empty for sample in failed)
    assert (log.results.total_samples, log.results.completed_samples) == (24, 22)
    summaries = read_eval_log_sample_summaries(str(path))
    assert sum(summary.error is not None for summary in summaries) == 2


def test_inspect_reads_a_conversation(tmp_path: Path) -> None:
    [sample] = inspect_log(conversation_run(tmp_path), tmp_path).samples

    assert [message.role for message in sample.messages] == ["user", "assistant"] * 3
    assert sample.messages[-1].text == "the first"


def test_what_inspect_writes_again_scores_as_before(repeated: Path, tmp_path: Path) -> None:
    from inspect_ai.log import write_eval_log

    path = tmp_path / "again.eval"
    write_eval_log(inspect_log(repeated, tmp_path), str(path))
    report = snellen.score(path, str(choice_rows(tmp_path))).report

    before = report_of(repeated)["scorings"]["default"]["metrics"]["accuracy"]
    metric = report.scorings["default"].metrics["accuracy"]
    assert (metric.value, metric.n) == (before["value"], before["n"])
    assert report.replies == {"ok": 22, "absent": 2}


def test_a_multiple_choice_task_of_inspect_is_scored_as_inspect_scores_it(tmp_path: Path) -> None:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import choice
    from inspect_ai.solver import multiple_choice

    def output(*_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", "ANSWER: B")
        # With counts of its own, the model needs no tokenizer, which it would download.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    rows = yaml.safe_load_all("\n---\n".join(choice_rows(tmp_path).read_text().splitlines()))
    dataset = [
        Sample(
            id=row["id"],
            input=row["question"],
            choices=[row["A"], row["B"]],
            target=row["answer"],
        )
        for row in rows
    ]
    task = Task(dataset=MemoryDataset(dataset), solver=multiple_choice(), scorer=choice())
    model = get_model("mockllm/model", custom_outputs=output)
    [log] = eval(task, model=model, log_dir=str(tmp_path / "logs"), display="none")

    assert log.status == "success", log.error
    report = snellen.score(log.location, str(tmp_path / "mine.jsonl")).report

    theirs = log.results.scores[0].metrics["accuracy"].value
    assert report.scorings["default"].metrics["accuracy"].value == theirs == pytest.approx(1 / 3)


def test_the_hubs_package_reads_an_entry(repeated: Path, tmp_path: Path) -> None:
    from huggingface_hub import eval_result_entries_to_yaml, parse_eval_result_entries

    target = HubTarget(dataset="org/set", task="main", revision="abc", source="https://x.org")
    path, _ = export(repeated, "hf-results", tmp_path, hub=target)
    document = yaml.safe_load(path.read_text())

    [entry] = parse_eval_result_entries(document)
    assert (entry.dataset_id, entry.task_id, entry.dataset_revision) == ("org/set", "main", "abc")
    assert entry.source_url == "https://x.org"
    assert isinstance(entry.date, str)
    assert eval_result_entries_to_yaml([entry]) == document


def test_inspect_reads_tool_calls_as_events(tmp_path: Path) -> None:
    result = snellen.evaluate(
        "eyechart:tasks=far,n=4",
        "baseline/zoomer",
        tools=["zoom"],
        image_size=336,
        out=tmp_path / "runs",
    )
    assert result.run is not None
    log = inspect_log(result.run, tmp_path)
    for sample in log.samples:
        [event] = [event for event in sample.events if event.event == "tool"]
        question, call, answer, reply = sample.messages
        assert [question.role, call.role, answer.role] == ["user", "assistant", "tool"]
        assert reply.role == "assistant" and reply.text == sample.output.completion
        [called] = call.tool_calls
        assert (called.id, called.function) == (event.id, event.function) == (event.id, "zoom")
        assert called.arguments == event.arguments and len(event.arguments["box"]) == 4
        assert answer.tool_call_id == event.id
        assert answer.function == "zoom"
        assert event.result == answer.text
        assert "<image: sha256:" in event.result and event.error is None


def test_inspect_reads_the_steps_that_a_model_hands_over_as_events(tmp_path: Path) -> None:
    def agent(request: Request) -> Reply:
        call = ToolCall(id="0", name="look", arguments='{"at": 1}')
        step = Step(text="I look.", results=(ToolResult(call=call, parts=("a cat",)),))
        return Reply(text="ABCDE", stop="stop", steps=(step, step))

    result = snellen.evaluate("eyechart:tasks=letters,n=2", Says(agent), out=tmp_path / "runs")
    assert result.run is not None
    for sample in inspect_log(result.run, tmp_path).samples:
        events = [event for event in sample.events if event.event == "tool"]
        assert [(event.function, event.result) for event in events] == [("look", "a cat")] * 2
        assert [message.role for message in sample.messages] == [
            "user", "assistant", "tool", "assistant", "tool", "assistant",
        ]  # fmt: skip
        calls = [call for message in sample.messages[1:5:2] for call in message.tool_calls]
        answers = sample.messages[2:5:2]
        assert [call.id for call in calls] == [event.id for event in events]
        assert [call.id for call in calls] == [answer.tool_call_id for answer in answers]
        assert sample.output.completion == "ABCDE"
