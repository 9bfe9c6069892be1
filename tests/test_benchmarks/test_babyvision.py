"""BabyVision: its questions, the boxes in replies, and the authors' results."""

import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks import babyvision as file
from snellen.benchmarks.babyvision import babyvision, judge_prompt, last_box, layout, verdict
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError

BUNDLED = Path(file.__file__).parent / "rows" / "babyvision"


def samples() -> dict[str, Sample]:
    benchmark = babyvision(data=BUNDLED)
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def test_a_question_lists_its_choices_and_asks_for_a_box() -> None:
    prompt = babyvision(data=BUNDLED).prompt
    form = "Think about the question and give your final answer in \\boxed{Answer} format."
    assert prompt(samples()["0"], ())[0].text == (
        f"Which has no corner?\nChoices:\n(A) disc\n(B) square\n(C) triangle\n{form}"
    )
    assert prompt(samples()["3"], ())[0].text == f"How many segments does the line have?\n{form}"
    assert (samples()["1"].target, samples()["3"].target) == ("B", "3")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("So \\boxed{(5,9)}.", "(5,9)"),
        ("\\boxed{1} or \\boxed{ 2 }", " 2 "),
        ("\\boxed{\\frac{1}{2}}", "\\frac{1}{2}"),
        ("\\boxed{a \\boxed{b}}", "a \\boxed{b}"),
        ("\\boxed{1} \\boxed{2", "1"),
        ("\\boxed{1 \\boxed{2}", "2"),
        ("} \\boxed{1}", "1"),
        ("<|begin_of_box|> 4 <|end_of_box|>", "4"),
        ("<|begin_of_box|>4<|end_of_box|> \\boxed{5}", "5"),
        ("5", None),
        ("", None),
        ("\\boxed{" * 50_000, None),
    ],
)
def test_the_last_box_is_the_answer(text: str, content: str | None) -> None:
    assert last_box(text) == content


def test_a_reply_without_a_box_is_none_to_the_judge() -> None:
    sample = samples()["3"]
    assert judge_prompt(sample, Reply(text="It is 3.")).endswith(
        "Ground Truth Answer: 3,\nModel Output: None\n"
    )


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("True", "true"),
        ("**TRUE**", "true"),
        ("It is untrue.", "true"),
        ("False", "false"),
        ("1", "false"),
        ("", None),
    ],
)
def test_a_text_without_true_is_false(words: str, answer: str | None) -> None:
    # UniPat-AI/BabyVision@7f92fd4:babyvision_eval/evaluate_model.py#L68-L77
    assert verdict(words, samples()["0"]).answer == answer


def test_a_failed_request_counts_as_wrong_in_the_authors_results(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"Id": 0, "ModelResult": "\\boxed{A}", "LLMJudgeResult": True},
        {"Id": 1, "ModelResult": "\\boxed{A}", "LLMJudgeResult": False},
        {"Id": 2, "ModelResult": "", "LLMJudgeResult": False, "Error": "timeout"},
    ]
    path = tmp_path / "model_results_run_1.json"
    path.write_text(json.dumps(rows))
    published = layout(path)
    assert published is not None
    assert published.replies["2"] is None

    report = snellen.score(path, babyvision(data=BUNDLED)).scoring()
    assert report.metrics["accuracy"].value == pytest.approx(1 / 3)
    assert report.readings["no-reply"] == 1


def test_two_results_of_a_task_are_refused(tmp_path: Path) -> None:
    row = {"Id": 0, "ModelResult": "\\boxed{A}", "LLMJudgeResult": True}
    path = tmp_path / "model_results_run_1.json"
    path.write_text(json.dumps([row, {**row, "LLMJudgeResult": False}]))
    with pytest.raises(DataError, match="row 2 is a second row of 0"):
        layout(path)


def test_another_list_is_left_to_the_general_reader(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    contents: list[Any] = [[], [1], [{"Id": 1}], {}]
    for content in contents:
        path.write_text(json.dumps(content))
        assert layout(path) is None
