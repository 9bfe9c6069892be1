"""MMVP: its rows in each published form, its prompts, its pairs, and each rule of its scorings.

Expected letters are those of lmms-eval's utils.py at the commit that the benchmark names.
"""

import json
from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import mmvp as file
from snellen.benchmarks.mmvp import Preset, mmvp
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import csv

BUNDLED = Path(file.__file__).parent / "rows" / "mmvp"
QUESTION = Sample(id="1", question="Is it on?", choices=("On", "Off"), target="B")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("a", "A"),
        ("(B).", "B"),
        ("B. Off", "B"),
        ("b off", "B"),
        ("The answer is b, I think", "B"),
        ("Option A it is", "A"),
        ("the cab", "B"),  # inside a word
        ("no mammals (b) here", "B"),
        ("Because", "B"),  # the first character
        ("selection: [b]", None),
        ("none of the above", None),
        ("选A。", None),
        ("", None),
    ],
)
def test_lmms_eval_takes_a_letter_even_inside_a_word(reply: str, answer: str | None) -> None:
    assert mmvp(data=BUNDLED).scorings["lmms-eval"].parse(Reply(text=reply), QUESTION).answer == (
        answer
    )


def scored(folder: Path, letters: str, data: Path) -> dict[str, tuple[float | None, int]]:
    path = folder / "replies.jsonl"
    lines = (
        json.dumps({"question_id": number, "response": letter})
        for number, letter in enumerate(letters, 1)
    )
    path.write_text("\n".join(lines))
    result = snellen.score(path, mmvp("lmms-eval", data), scorings=["lmms-eval"])
    metrics = result.report.scorings["lmms-eval"].metrics
    return {name: (metrics[name].value, metrics[name].n) for name in metrics}


def test_a_pair_is_right_if_both_of_its_rows_are(tmp_path: Path) -> None:
    answers = [row["Correct Answer"] for row in csv(BUNDLED / "Questions.csv")]
    assert answers == ["(a)", "(b)", "(b)", "(a)", "(a)", "(b)", "(b)", "(a)"]
    metrics = scored(tmp_path, "ABBBBAAA", BUNDLED)
    assert metrics["pair_accuracy"] == (0.25, 4)
    assert metrics["accuracy"] == (0.5, 8)


def test_a_pair_without_its_second_row_is_left_out(tmp_path: Path) -> None:
    lines = (BUNDLED / "Questions.csv").read_text().splitlines(keepends=True)
    (tmp_path / "Questions.csv").write_text("".join(lines[:4]))
    metrics = scored(tmp_path, "ABB", tmp_path)
    assert metrics["pair_accuracy"] == (1.0, 1)
    assert metrics["accuracy"] == (1.0, 3)


# -- the judge


def test_the_judge_is_asked_in_the_authors_words() -> None:
    judge = mmvp(data=BUNDLED).scorings["official"].judge
    assert judge is not None
    first, second = judge.prompt(QUESTION, Reply(text="Perhaps {off}"))
    assert (first.role, first.text) == (
        "system",
        "You are a helpful and precise assistant for checking the quality of the answer. Please "
        "answer in only yes or no.",
    )
    assert second.text == (
        "Given the following question Is it on? (a) On (b) Off, the correct answer is (b). Does "
        "the following answer correctly answers the question, answer:Perhaps {off}?"
    )


@pytest.mark.parametrize(
    ("words", "answer", "score"),
    [
        ("Yes", "yes", 1.0),
        ("no", "no", 0.0),
        ("Yes.", "no", 0.0),
        ("yes\n", "no", 0.0),
        ("", None, 0.0),
    ],
)
def test_only_yes_is_a_right_answer(words: str, answer: str | None, score: float) -> None:
    official = mmvp(data=BUNDLED).scorings["official"]
    assert official.judge is not None
    reading = official.judge.parse(words, QUESTION)
    assert (reading.answer, official.score(reading, QUESTION)) == (answer, score)


# -- data and prompts


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("official", "Is the square red or blue? (a) Red (b) Blue"),
        (
            "lmms-eval",
            "Is the square red or blue?\nA. Red\nB. Blue\n"
            "Answer with the option's letter from the given choices directly.",
        ),
    ],
)
def test_the_prompts_are_those_of_the_authors_and_of_lmms_eval(prompt: Preset, text: str) -> None:
    benchmark = mmvp(prompt, BUNDLED)
    sample = [benchmark.read(row) for row in benchmark.data][2]
    assert sample.id == "3"
    assert benchmark.messages(sample)[0].content[1] == text
    assert benchmark.headline == prompt


def test_vlmevalkits_rows_are_pairs_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "MMVP.tsv"
    rows = (f"{n}\t{'QUJD' * 20}\tWhich?\tx\ty\t{right}" for n, right in enumerate("ABBA"))
    path.write_text("index\timage\tquestion\tA\tB\tanswer\n" + "\n".join(rows) + "\n")
    benchmark = mmvp(data=path)
    samples = [benchmark.read(row) for row in benchmark.data]
    assert [sample.tags["pair"] for sample in samples] == ["pair 0", "pair 0", "pair 1", "pair 1"]
    assert [sample.target for sample in samples] == ["A", "B", "B", "A"]
