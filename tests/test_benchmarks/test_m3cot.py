"""M3CoT: prompts as in the published runs, and each rule of the authors' scoring.

Expected letters are those of the authors' judge_answer at the commit that the benchmark names.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import m3cot as file
from snellen.benchmarks.m3cot import m3cot
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError

BUNDLED = Path(file.__file__).parent / "rows" / "m3cot"
CHOICES = ("To honor a legend", "Selling food", "4", "None")
ALGEBRA = "algebra-1"


def samples() -> dict[str, Sample]:
    benchmark = m3cot(data=BUNDLED)
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("(A) or rather (b)", "B"),
        ("I like selling FOOD and 4", "C"),
        ("[Answer] (C) [Rationale] not (D)", "C"),
        ("[Answer] (A) [Answer] (C) [Context] not (D)", "C"),
        ("A dog", "A"),
        ("a dog", "A"),
        ("Answer: C.", "C"),
        ("B) 4", "C"),
        ("**B**", None),
        ("Option:D", None),
        ("The answer is A, because of 14 none", "D"),
        ("it is B, not C", "C"),
        ("it is C\nnot B", "C"),
        ("(s)", "S"),
        ("E", None),
        ("", None),
    ],
)
def test_a_letter_is_read_as_the_authors_read_it(text: str, letter: str | None) -> None:
    sample = Sample(id="1", question="?", choices=CHOICES, target="A")
    reading = m3cot(data=BUNDLED).scorings["official"].parse(Reply(text=text), sample)
    assert reading.answer == letter


def test_the_prompt_names_context_question_and_choices() -> None:
    benchmark = m3cot(data=BUNDLED, prompt="cot")
    (message,) = benchmark.messages(samples()["natural-science-1"])
    assert message.text == (
        "[Context]\nThe picture shows a plan.\n[Question]\nWhere does the ball go?\n[Choices]\n"
        "(A) Upward\n(B) Downward\n(C) Nowhere\n\nLet's think step-by-step!"
    )


def test_dsp_answers_in_a_second_turn() -> None:
    benchmark = m3cot(data=BUNDLED, prompt="dsp")
    sample = samples()[ALGEBRA]
    first = benchmark.messages(sample)
    assert first[0].text.endswith("Do not answer the choice question directly.")
    second = benchmark.messages(sample, ((first, Reply(text="Three discs.")),))
    assert [message.text for message in second[1:]] == [
        "Three discs.",
        "Then, provide your answer. Note, you must choose one option.",
    ]


def test_a_question_without_a_picture_is_asked_without_one() -> None:
    assert samples()["language-science-3"].media == ()


def scored(tmp_path: Path, *lines: Mapping[str, object]) -> tuple[float | None, int]:
    path = tmp_path / "direct.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    result = snellen.score(path, m3cot(data=BUNDLED), scorings=["official"])
    metric = result.report.scorings["official"].metrics["accuracy"]
    return metric.value, metric.n


def test_the_last_message_counts_with_the_choices_of_its_line(tmp_path: Path) -> None:
    line = {"id": ALGEBRA, "messages": ["?", "(A)", "Choose.", "it is 5"]}
    # 5 is the second choice of the data set, and the third of the line.
    assert scored(tmp_path, line) == (0, 1)
    assert scored(tmp_path, {**line, "choices": ["3", "6", "5"]}) == (1, 1)


def test_of_several_lines_for_a_question_the_first_counts(tmp_path: Path) -> None:
    lines = [{"id": ALGEBRA, "messages": ["?", text]} for text in ("(C)", "(A)")]
    assert scored(tmp_path, *lines) == (1, 1)


def test_a_line_for_another_split_does_not_count(tmp_path: Path) -> None:
    lines = [{"id": name, "messages": ["?", "(C)"]} for name in (ALGEBRA, "algebra-999")]
    assert scored(tmp_path, *lines) == (1, 1)


@pytest.mark.parametrize("messages", [[], None, ["?", None], "text"])
def test_a_line_without_a_reply_is_an_error(tmp_path: Path, messages: object) -> None:
    with pytest.raises(DataError, match=r"direct\.jsonl: line 1 has no reply"):
        scored(tmp_path, {"id": ALGEBRA, "messages": messages})
