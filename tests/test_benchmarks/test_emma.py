"""EMMA: prompts as the authors' scripts build them, and each rule of their scoring.

Expected extractions and verdicts are those of the authors' evaluate.py and utils.py at the commit
that the benchmark names, run with latex2sympy2 1.9.1, sympy 1.14, and word2number 1.1.
"""

import json
from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import emma as file
from snellen.benchmarks.emma import emma
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.errors import DataError, MediaError
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "emma"
DIRECT = (
    "Please ensure that your output only contains the final answer without any additional content "
    "(such as intermediate reasoning steps)."
)


def question(answer: str, content: str) -> Sample:
    return Sample(id="1", question="?", target=answer, data={"answer": answer, "content": content})


def official(reply: str, answer: str, content: str) -> tuple[object, float | None]:
    scoring = emma(data=BUNDLED).scorings["official"]
    sample = question(answer, content)
    reading = scoring.parse(Reply(text=reply), sample)
    return reading.answer, total_score(scoring.score(reading, sample))


def samples(**options: str) -> dict[str, Sample]:
    benchmark = emma(data=BUNDLED, **options)  # type: ignore[arg-type]
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def parts(name: str, **options: str) -> list[str]:
    """The parts of a prompt; a picture is the name of its file."""
    benchmark = emma(data=BUNDLED, **options)  # type: ignore[arg-type]
    (message,) = benchmark.messages(samples(**options)[name])
    return [part.label if isinstance(part, Image) else str(part) for part in message.content]


# -- prompts


def test_each_picture_replaces_its_mark_also_in_a_choice() -> None:
    assert parts("Math_1") == [
        "\nWhich picture has no corner?\n",
        "images/square.png",
        "\nA: ",
        "images/square.png",
        "\nB: ",
        "images/disc.png",
        "\nC: ",
        "images/bars.png",
        "\n\nAnswer with the option's letter from the given choices and put the letter in one "
        '"\\boxed{}". Please solve the problem step by step.',
    ]


def test_an_open_question_asks_for_a_word_in_a_box() -> None:
    assert parts("Math_2", mode="direct") == [
        "\nHow many discs are there?\n",
        "images/discs.png",
        "\nAnswer the question using a single word or phrase and put the answer in one "
        f'"\\boxed{{}}". {DIRECT}',
    ]


def test_vlmevalkit_leaves_out_the_box_and_an_empty_context() -> None:
    assert parts("Math_2", prompt="vlmevalkit", mode="direct")[0] == "How many discs are there?\n"
    assert parts("Physics_1", prompt="vlmevalkit")[0] == (
        "The ball starts at rest.\n\nWhere does the ball of "
    )
    assert parts("Physics_1", prompt="vlmevalkit")[-1].endswith(
        "C: nowhere\n\n\nAnswer with the option's letter from the given choices. Please solve the "
        "problem step by step. "
    )


def test_a_file_of_results_has_no_pictures_to_ask_about(tmp_path: Path) -> None:
    rows = json.loads((BUNDLED / "EMMA.json").read_text())
    row = {key: value for key, value in rows["Math_1"].items() if "image" not in key}
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"Math_1": row}))
    benchmark = emma(data=path)
    (sample,) = map(benchmark.read, benchmark.data)
    with pytest.raises(MediaError, match="can be used to score replies, but not to ask"):
        benchmark.messages(sample)


def test_a_subject_has_only_its_rows() -> None:
    assert {sample.tags["subject"] for sample in samples(subject="Coding").values()} == {"Coding"}


# -- official


@pytest.mark.parametrize(
    ("reply", "answer", "content", "extraction", "right"),
    [
        (r"\boxed{Three}", "3", "3", "Three", 1),
        ("the correct answer is D: 2.23.", "D", "2.23", "d: 2", 0),
        (r"\boxed{\frac{1}{2}}", "A", "0.5", r"\frac{1}{2}", 1),
        ("a", "A", "x", "A", 1),
        ("a.", "A", "x", None, 0),
        ("B: because", "B", "x", "B", 1),
        ("The answer is B. Then", "B", "x", "b", 1),
        ("The answer is (B).", "B", "x", "(b)", 0),
        ("**B**", "B", "x", None, 0),
        (r"\boxed{B} or \boxed{C}", "C", "x", "C", 1),
        (r"\boxed{\text{A} and \text{ B }}", "B", "x", "B", 1),
        (r"\boxed{C} then \boxed{B", "C", "x", "C", 1),
        (r"\boxed{C then \boxed{B}", "B", "x", None, 0),
        (r"\boxd{A}", "A", "x", None, 0),
        ("boxed{A} the final answer is A", "A", "x", "a", 1),
        ("answer: no. The answer is 4\nyes", "4", "4", "4", 1),
        ("1.004", "1", "1", "1.004", 1),
        ("1.006", "1", "1", "1.006", 0),
        ("nan", "nan", "x", "nan", 1),
        ("1e3", "1000", "x", "1e3", 0),
        (r"\boxed{x=3}", "3", "3", "x=3", 1),
        (r"\boxed{50%}", "50", "50", "50%", 0),
        (r"\boxed{3 cm}", "3", "3", "3 cm", 0),
        (r"\boxed{\frac12}", "0.5", "0.5", r"\frac12", 0),
        (r"\boxed{1,000}", "1000", "x", "1,000", 1),
        (r"\boxed{2.718}", "E", "x", "2.718", 1),
        (r"\boxed{no one}", "1", "1", "no one", 1),
        (r"\boxed{ten}", "10.0", "10.0", "ten", 0),
        (r"\boxed{x+1}", "1+x", "1+x", "x+1", 0),
        ("", "A", "x", None, 0),
        (" ", "A", "x", None, 0),
    ],
)
def test_a_reply_is_read_as_the_authors_read_it(
    reply: str, answer: str, content: str, extraction: str | None, right: int
) -> None:
    assert official(reply, answer, content) == (extraction, right)


# -- judged


def test_the_judges_prompt_is_the_authors() -> None:
    judge = emma(data=BUNDLED).scorings["judged"].judge
    assert judge is not None
    (message,) = judge.prompt(question("d", "x"), Reply(text="It is D."))
    assert message.text.startswith(
        "Please read the following example. Then determine whether the response is correct and "
        "type it \nat the end of the prompt. It is worth"
    )
    assert message.text.endswith(
        "Answer: C\n\nCorrect_or_not: Incorrect\nResponse: It is D.\nAnswer: d\nCorrect_or_not:"
    )


@pytest.mark.parametrize(
    ("words", "right"),
    [("Correct", 1), ("correct", 1), ("Correct.", 0), ("**Correct_or_not: Correct**", 0), ("", 0)],
)
def test_only_the_word_correct_alone_counts(words: str, right: int) -> None:
    scoring = emma(data=BUNDLED).scorings["judged"]
    assert scoring.judge is not None
    sample = question("A", "x")
    assert scoring.score(scoring.judge.parse(words, sample), sample) == right


# -- files of results


def results(tmp_path: Path, **changes: object) -> Path:
    rows = json.loads((BUNDLED / "EMMA.json").read_text())
    responses = {"Math_1": "B", "Coding_1": "A", "Coding_2": r"\boxed{A}"}
    every = {name: {**rows[name], "response": responses[name], **changes} for name in responses}
    path = tmp_path / "model.json"
    path.write_text(json.dumps(every))
    return path


def test_only_the_questions_in_a_file_count_and_code_has_several_categories(tmp_path: Path) -> None:
    result = snellen.score(results(tmp_path), emma(data=BUNDLED), scorings=["official"])
    metrics = result.report.scorings["official"].metrics
    assert {name: (metric.value, metric.n) for name, metric in metrics.items()} == {
        "accuracy": (pytest.approx(2 / 3), 3),
        "accuracy/Coding_3D": (0, 1),
        "accuracy/Coding_Legend": (0.5, 2),
        "accuracy/Math_2D Transformation": (1, 1),
        "accuracy/Coding": (0.5, 2),
        "accuracy/Math": (1, 1),
        "accuracy/multiple choice": (pytest.approx(2 / 3), 3),
        "accuracy/Coding_Code Choose Vis": (1, 1),
        "accuracy/Coding_Vis Choose Code": (0, 1),
    }


@pytest.mark.parametrize("response", ["", None])
def test_a_question_without_a_response_is_wrong(tmp_path: Path, response: str | None) -> None:
    path = results(tmp_path, response=response, true_false=False)
    result = snellen.score(path, emma(data=BUNDLED), scorings=["official", "judged"])
    for scoring in result.report.scorings.values():
        assert (scoring.metrics["accuracy"].value, scoring.metrics["accuracy"].n) == (0, 3)


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        ({"true_false": True}, 1),
        ({"true_false": False}, 0),
        ({"true_false": True, "gpt_eval": "Correct."}, 0),
        ({"true_false": False, "gpt_eval": "Correct"}, 1),
    ],
)
def test_stored_verdicts_count_and_a_judges_words_first(
    tmp_path: Path, stored: dict[str, object], value: float
) -> None:
    path = results(tmp_path, **stored)
    result = snellen.score(path, emma(data=BUNDLED), scorings=["judged"])
    assert result.report.scorings["judged"].metrics["accuracy"].value == value


def test_a_response_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"model\.json: question 'Math_1' has a response of type"):
        snellen.score(results(tmp_path, response=3), emma(data=BUNDLED))
