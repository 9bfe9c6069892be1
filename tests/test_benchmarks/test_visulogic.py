"""VisuLogic: each rule of its scorings, its judge, and its prompts.

Expected letters are those of the authors' eval_model.py, lmms-eval's utils.py, and VLMEvalKit's
visulogic.py at the commits that the benchmark names.
"""

import json
from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import visulogic as file
from snellen.benchmarks.visulogic import visulogic
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.errors import DataError

BUNDLED = Path(file.__file__).parent / "rows" / "visulogic"
QUESTION = Sample(id="1", question="?", choices=("A", "B", "C", "D"), target="B")


def letter(scoring: str, reply: str) -> object:
    return visulogic(data=BUNDLED).scorings[scoring].parse(Reply(text=reply), QUESTION).answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("\\boxed{D} then \\boxed{C}", "C"),
        ("\\boxed{\\text{B}}", "B"),
        ("so $\\boxed{$B$}$", "B"),
        ("\\boxed{A \\boxed{C}}", None),  # the outer box is longer than a letter
        ("\\boxed{A\\} B}", None),
        ("\\boxed{}", None),
        ("\\boxed{A or B}", None),
        ("\\boxed{LETTER}\nAnswer: C", "C"),
        ("\\boxed{cat} Answer: C", "C"),
        ("B", "B"),
        (" B", "B"),
        ("b", None),
        (" B \n", None),
        ("It is B.", "B"),
        ("It is (B).", "B"),
        ("B\nbecause", "B"),
        ("(B)\nbecause", "B"),
        ("(B) B\nbecause", "B"),
        ("D\nIt is A.", "A"),  # letters are tried in order
        ("A<|endoftext|>", "A"),
        ("Answer: C", "C"),
        ("Answer: c. It is", "C"),
        ("answer: C answer: D", "D"),
        ("The answer is option: D", "D"),
        ("The answer is: A\nThe final answer is: B", "B"),
        ("The answer is: E. The final answer is B", None),
        ("The final answer is the answer is D", "D"),  # in what the first phrase leaves
        ("the answer is B!", None),
        ("none of the above", None),
        ("选A。", None),
        ("", None),
    ],
)
def test_the_authors_take_a_box_or_a_stated_letter_and_leave_the_rest_to_a_judge(
    reply: str, answer: str | None
) -> None:
    assert letter("official", reply) == answer


def test_vlmevalkit_reads_a_reply_without_a_box_as_if_it_were_the_box() -> None:
    assert letter("vlmevalkit", " B \n") == "B"
    assert letter("vlmevalkit", "\\boxed{C}") == "C"
    assert letter("vlmevalkit", "perhaps B") is None


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("<answer> (b) </answer>", "B"),
        ("\\boxed{D} then \\boxed{C}", "C"),
        ("<answer>A</answer> \\boxed{C}", "A"),
        ("The answer is C", "C"),
        ("option a", "A"),
        ("(D)", "D"),
        ("c.", "C"),
        ("c..", "C"),
        ("C ...", None),
        ("选A。", None),
        ("", None),
    ],
)
def test_lmms_eval_takes_the_last_letter_of_the_first_form(reply: str, answer: str | None) -> None:
    assert letter("lmms-eval", reply) == answer


def test_the_judge_is_asked_in_the_authors_words() -> None:
    judge = visulogic(data=BUNDLED).scorings["official"].judge
    assert judge is not None
    first, second = judge.prompt(QUESTION, Reply(text="Perhaps {B}"))
    assert (first.role, first.text) == (
        "system",
        "You are a helpful and precise assistant for extract the final option in the answer.",
    )
    assert second.text == (
        "Extract the option in the solution. Just answer only capital letters. If solution have "
        "multi options or has no clear option just answer None.\nSolution: Perhaps {B}\n"
    )


@pytest.mark.parametrize(
    ("words", "answer", "score"),
    [
        (" b.\nBecause", "B", 1.0),
        ("None", "N", 0.0),
        ("Option B", "OPTION B", 0.0),
        ("  ", None, 0.0),
    ],
)
def test_a_verdict_is_the_first_line_up_to_a_full_stop(
    words: str, answer: str | None, score: float
) -> None:
    official = visulogic(data=BUNDLED).scorings["official"]
    assert official.judge is not None
    reading = official.judge.parse(words, QUESTION)
    assert (reading.answer, official.score(reading, QUESTION)) == (answer, score)


def test_the_authors_file_of_results_has_the_judges_letters(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (BUNDLED / "data.jsonl").read_text().splitlines()]
    outcomes = [("It is B.", "lang", "B"), ("Perhaps so", "gpt", "C"), ("?", "gpt", "N")]
    path = tmp_path / "results.jsonl"
    path.write_text(
        "".join(
            json.dumps(
                {**row, "model_response": text, "extractor": by, "extracted_answer": extracted}
            )
            + "\n"
            for row, (text, by, extracted) in zip(rows, outcomes, strict=False)
        )
    )
    result = snellen.score(path, visulogic(data=BUNDLED), missing="excluded")
    official = result.report.scorings["official"].metrics["accuracy"]
    assert official.value == pytest.approx(2 / 3)
    assert official.n == 3


@pytest.mark.parametrize(
    ("prompt", "end"),
    [
        (
            "official",
            "step-by-step reasoning. Think about the reasoning process first and answer the "
            "question following this format: Answer: \\boxed{$LETTER}.",
        ),
        (
            "vlmevalkit",
            "step-by-step reasoning.Think about the reasoning process first and answer the "
            "question following this format: Answer: \\boxed{$LETTER}",
        ),
        ("lmms-eval", "shapes?\nAnswer with the option letter only."),
    ],
)
def test_a_prompt_ends_as_its_source_has_it(prompt: str, end: str) -> None:
    benchmark = visulogic(prompt, data=BUNDLED)  # type: ignore[arg-type]
    sample = benchmark.read(next(iter(benchmark.data)))
    _, text = benchmark.messages(sample)[0].content
    assert isinstance(text, str)
    assert text.endswith(end)
    assert text.startswith("Which frame has three shapes?\n")


def test_a_reading_without_a_letter_is_wrong() -> None:
    official = visulogic(data=BUNDLED).scorings["official"]
    assert official.score(Reading(answer=None, rule="none"), QUESTION) == 0


def test_an_answer_that_is_no_letter_is_refused(tmp_path: Path) -> None:
    row = {"id": "0", "question": "?", "image_path": "0.png", "tag": "Other", "label": "12"}
    (tmp_path / "data.jsonl").write_text(json.dumps(row) + "\n")
    benchmark = visulogic(data=tmp_path)
    with pytest.raises(DataError, match=r"row 1 of .* the answer '12' is not one of the letters"):
        benchmark.read(next(iter(benchmark.data)))
