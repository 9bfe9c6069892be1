"""V*Bench: its rows in each published form, its prompts, and each rule of its scorings.

Expected letters are those of lmms-eval's utils.py at the commit that the benchmark names.
"""

import json
from pathlib import Path

import pytest

from snellen.benchmarks import vstar as file
from snellen.benchmarks.vstar import vstar
from snellen.core.model import Ranked, Reply
from snellen.core.sample import Sample
from snellen.errors import DataError

BUNDLED = Path(file.__file__).parent / "rows" / "vstar"
QUESTION = Sample(id="1", question="?", choices=("a", "b", "c", "d"), target="B")


def text_of(prompt: str, ask: str = "generate") -> object:
    benchmark = vstar(ask, prompt, BUNDLED)  # type: ignore[arg-type]
    sample = benchmark.read(next(iter(benchmark.data)))
    return benchmark.messages(sample)[0].content[1]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("BECAUSE", "B"),
        ("because", "B"),
        ("CHOICE: A", "C"),
        ("The choice is A", "A"),
        ("the answer\n\nD", "D"),
        ("Look (b) or (c)", "B"),
        ("I see b) there", "B"),
        ("It is [D ]", "D"),
        ("either d then", "D"),
        ("Madrid, this", None),
        ("In Java-", None),
        ("Is it in LyonA?", "A"),  # the only letter A to D
        ("選A。", "A"),
        ("none of the above", None),
        ("\\boxed{D} then \\boxed{C}", None),
        ("", None),
    ],
)
def test_lmms_eval_takes_the_first_letter_or_the_first_form(reply: str, answer: str | None) -> None:
    parse = vstar(data=BUNDLED).scorings["lmms-eval"].parse
    assert parse(Reply(text=reply), QUESTION).answer == answer


def test_the_authors_take_the_choice_with_the_smallest_loss_of_a_token() -> None:
    parse = vstar("rank", data=BUNDLED).scorings["official"].parse
    short, long = Ranked(-2.0, 1), Ranked(-3.0, 3)
    assert parse(Reply(choices=(short, long)), QUESTION).answer == "B"
    assert parse(Reply(choices=(long, long)), QUESTION).answer == "A"
    assert parse(Reply(text="B"), QUESTION).answer is None


CHOICES = "A. blue\nB. red\nC. green\nD. yellow\n"
ASK = "Answer with the option's letter from the given choices directly."


def test_lmms_evals_prompt_has_the_line_of_the_data_set_and_its_own() -> None:
    assert text_of("lmms-eval") == f"What is the color of the disc?\n{CHOICES}{ASK}\n{ASK}"


def test_vlmevalkits_prompt_has_neither() -> None:
    assert text_of("vlmevalkit") == (
        f"Question: What is the color of the disc?\nOptions:\n{CHOICES}"
        "Please select the correct answer from the options above. \n"
    )


def test_choices_are_ranked_after_the_bare_question() -> None:
    assert text_of("lmms-eval", "rank") == "What is the color of the disc?"


def test_vlmevalkits_rows_have_the_choices_in_columns(tmp_path: Path) -> None:
    path = tmp_path / "VStarBench.tsv"
    path.write_text(
        "index\timage\tquestion\tA\tB\tC\tD\tanswer\tcategory\n"
        f"3\t{'QUJD' * 20}\tWhich?\tx\ty\t\t\tB\trelative_position\n"
    )
    benchmark = vstar(data=path)
    (sample,) = map(benchmark.read, benchmark.data)
    assert (sample.id, sample.choices, sample.target) == ("3", ("x", "y"), "B")
    assert benchmark.messages(sample)[0].content[1] == f"Which?\nA. x\nB. y\n{ASK}"


def test_a_text_without_choices_is_refused(tmp_path: Path) -> None:
    row = {"image": "0.jpg", "text": "Which color?", "category": "direct_attributes", "label": "A"}
    (tmp_path / "test_questions.jsonl").write_text(json.dumps(row) + "\n")
    benchmark = vstar(data=tmp_path)
    with pytest.raises(DataError, match=r"row 1 of .* no choices such as \(A\) red"):
        benchmark.read(next(iter(benchmark.data)))
