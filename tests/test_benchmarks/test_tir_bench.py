"""TIR-Bench: the authors' rules, with examples worked out by hand, and the rules of our own."""

import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks import tir_bench as file
from snellen.benchmarks.families.tir_judge import extraction, layout
from snellen.benchmarks.families.tir_rules import (
    MATH_VERIFY,
    form_of,
    robust_answer,
    robust_score,
    score,
)
from snellen.benchmarks.tir_bench import tir_bench, to_sample
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import DataFile, Row
from snellen.errors import DataError, UsageError, install

BUNDLED = Path(file.__file__).parent / "rows" / "tir_bench"
FILE = DataFile(BUNDLED / "TIR-Bench.json", "tir-bench", ())
COLORS = "Which?\nA. red\nB. blue\nC. green"


def sample(task: str, answer: Any, prompt: str = COLORS, **fields: Any) -> Sample:
    row = {"id": 1, "task": task, "prompt": prompt, "answer": answer, "image_1": "data/ruler.png"}
    return to_sample(Row({**row, "meta_data": {"difficulty": 2}, **fields}, 0), FILE)


def scored(task: str, answer: Any, words: str, prompt: str = COLORS, **fields: Any) -> float | None:
    item = sample(task, answer, prompt, **fields)
    reading = extraction(words, item)
    assert isinstance(reading.answer, str)
    return score(reading.answer, item)


def robust(task: str, answer: Any, reply: str) -> float | None:
    item = sample(task, answer)
    return robust_score(robust_answer(Reply(text=reply), item), item)


def test_a_question_shows_its_pictures_first() -> None:
    benchmark = tir_bench(BUNDLED)
    samples = [*map(benchmark.read, benchmark.data)]
    (message,) = benchmark.prompt(samples[11], ())
    assert [getattr(part, "label", part) for part in message.content] == [
        "data/first.png",
        "data/second.png",
        "In how many places do the two pictures differ? Answer with an integer.",
    ]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("B", 1.0),
        ("Extracted answer: B", 1.0),
        ("**B**", 1.0),
        ("blue", 1.0),
        ("B. blue", 1.0),
        ("A or B", 0.0),
        ("none", 0.0),
    ],
)
def test_an_answer_is_the_letter_before_it_in_the_question(words: str, value: float) -> None:
    # tools.py#L160-L170
    assert scored("color", "B", words) == value


def test_an_answer_that_is_no_letter_is_a() -> None:
    assert scored("color", "A", "none") == 1.0
    assert scored("color", "A", "?") == 1.0


def test_a_right_letter_that_is_not_offered_is_never_right() -> None:
    assert scored("color", "K", "K") == 0.0


def test_letters_are_compared_without_order_but_with_commas() -> None:
    # tools.py#L171-L176
    assert scored("symbolic", "BC", "CB") == 1.0
    assert scored("symbolic", "BC", "B, C") == 0.0


@pytest.mark.parametrize(
    ("right", "words", "value"),
    [
        ("72", "72 yen", 1.0),
        (72, "Extracted answer: 72", 1.0),
        ("72", "72°", 1.0),
        ("7", "7 2", 0.0),
        ("72", "7 2", 1.0),
        ("310", "3 of 10", 1.0),
        ("10", "3 of 10", 1.0),
        ("3", "3 of 10", 0.0),
        ("72", "[72]", 0.0),
        (4.5, "4.50", 1.0),
        ("4.50", "$4.5", 1.0),
        ("0.5", "1/2", 1.0),
        ("1/2", "1/2", 0.0),
    ],
)
def test_letters_and_blanks_are_taken_out_of_a_number(right: Any, words: str, value: float) -> None:
    # tools.py#L108-L151
    assert scored("math", right, words) == value


def test_a_place_is_the_first_pair_of_numbers() -> None:
    assert scored("word_search", "[2, 3]", "(2,3) or (3,2)") == 1.0
    assert scored("word_search", "[2, 3]", "row 2, column 3") == 0.0
    assert scored("word_search", "no pair", "no pair") == 0.0


def test_patches_get_the_intersection_over_the_union() -> None:
    assert scored("spot_difference", "[1, 4]", '{"different_patches": [1, 2]}') == 1 / 3
    assert scored("spot_difference", "[]", "none") == 1.0
    assert scored("spot_difference", "[1]", "9" * 5000) == 0.0
    assert scored("spot_difference", "2", "2 places") == 1.0


def test_a_jigsaw_gets_the_share_of_pieces_in_their_place() -> None:
    # The first stretch of digits, blanks, and commas with four numbers counts.
    assert scored("jigsaw", "4, 3, 2, 1", "Row 1: 4, 3. All: 4, 3, 1,\n2") == 0.5
    assert scored("jigsaw", "[4, 3, 2, 1]", "4, 3, 2") == 0.0
    assert scored("jigsaw", "4, 3", "4, 3, 2, 1") == 0.0


def test_a_text_must_be_in_the_whole_reply() -> None:
    benchmark = tir_bench(BUNDLED)
    item = next(item for item in map(benchmark.read, benchmark.data) if item.tags["task"] == "ocr")
    assert item.target == "mobi"  # the data have MOBI, and the authors' script corrects 60.jpg
    scoring = benchmark.scorings["official"]
    assert scoring.judge is not None
    for text, value in (("It says mobi.", 1.0), ("It says MOBI.", 0.0), ("", 0.0)):
        reading = scoring.parse(Reply(text=text), item)
        assert not scoring.judge.when(reading)
        assert scoring.score(reading, item) == value


def test_the_judge_is_asked_in_a_task_without_texts() -> None:
    benchmark = tir_bench(BUNDLED)
    scoring = benchmark.scorings["official"]
    assert scoring.judge is not None
    item = sample("math", "5")
    assert scoring.judge.when(scoring.parse(Reply(text="5"), item))
    assert scoring.judge.parse("  ", item).answer is None
    system, user = scoring.judge.prompt(item, Reply(text="It is 5."))
    assert system.text == " Assistant is a large language model trained by OpenAI."
    assert user.text.endswith(
        f"\n\nQuestion: {COLORS}\n\nModel response: It is 5.\n\nExtracted answer: "
    )


@pytest.mark.parametrize(
    ("text", "forms"),
    [("A", "letters"), ("是", "letters"), ("-5", "integer"), ("0.5", "decimal"), ("[1]", "other")],
)
def test_the_form_of_the_right_answer_decides_the_rule(text: str, forms: str) -> None:
    assert form_of(text) == forms


@pytest.mark.parametrize(
    ("right", "words", "value"),
    [
        ("0.5", "50%", 1.0),
        ("1234", "1,234", 1.0),
        ("3", "12 / 4 = 3", 1.0),
        ("5", "$x=5$", 1.0),
        ("1.414214", r"$\sqrt{2}$", 1.0),
        ("3", r"$\log_2 8$", 1.0),
        ("9", "$8$ and $9$", 0.0),
        ("5", "5/0", 0.0),
        ("5", f"{'It is hard to say. ' * 200}The answer is 5, after 1 try.", 1.0),
    ],
)
def test_math_verify_decides_whether_other_numbers_are_equal(
    right: str, words: str, value: float
) -> None:
    assert scored("math", right, words) == value


def test_a_number_on_which_math_verify_stops_for_the_time_is_wrong() -> None:
    assert not MATH_VERIFY.same(answer="9^9^9^9", right="3", limit_s=0.1)


def test_a_reply_on_which_math_verify_does_not_stop_counts_as_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("snellen.benchmarks.families.worker_process.LIMIT_S", 0.1)
    path = tmp_path / "model.json"
    row = {"task": "math", "model_response": "It is 9^9^9^9.", "extracted_answer": "9^9^9^9"}
    path.write_text(json.dumps({"4": row}))
    official = snellen.score(path, tir_bench(BUNDLED)).report.scorings["official"]
    assert official.readings == {"not-judged": 1}
    assert official.metrics["accuracy"].value is None


def test_without_math_verify_no_number_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "math_verify.py").write_text("import package_that_is_nowhere")
    monkeypatch.syspath_prepend(tmp_path)
    MATH_VERIFY.close()
    with pytest.raises(UsageError) as error:
        score("12/4", sample("math", "3"))
    assert str(error.value) == (
        "TIR-Bench's numbers are compared with math-verify, which cannot be used: No module named "
        f"'package_that_is_nowhere'. Run `{install('latex')}`."
    )


@pytest.mark.parametrize(
    ("task", "right", "reply", "value"),
    [
        ("color", "B", "The answer is (B).", 1.0),
        ("color", "B", "A or B", 0.0),
        ("symbolic", "BC", "The answer is B, C.", 1.0),
        ("symbolic", "BC", "The answer is B.", 0.0),
        ("math", "72", "The answer is 72 minutes.", 1.0),
        ("math", 4.5, "Answer: 4.50", 1.0),
        ("word_search", "[2, 3]", "Not [3, 2], but [2, 3].", 1.0),
        ("spot_difference", "[1, 4]", "Patches [1, 2] differ.", 1 / 3),
        ("spot_difference", "[4]", "The answer is [4].", 1.0),
        ("jigsaw", "4, 3, 2, 1", "So: 4, 3, 1, 2", 0.5),
        ("jigsaw", "4, 3, 2, 1", "I cannot tell.", 0.0),
        ("ocr", "mobi", "It says MO BI.", 1.0),
    ],
)
def test_robust_reads_the_reply_itself(task: str, right: Any, reply: str, value: float) -> None:
    assert robust(task, right, reply) == value


def test_the_authors_results_are_read(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    rows = {
        "0": {"task": "math", "model_response": "It is 5.", "extracted_answer": "5"},
        "1": {"category": "maze", "model_response": "?", "extracted_answer": None},
        "2": {"task": "ocr", "model_response": ["mobi", "aires"]},
    }
    path.write_text(json.dumps(rows))
    published = layout(path)
    assert published is not None
    assert published.replies == {"0": "It is 5.", "1": "?", "2": "mobi"}
    assert published.verdicts == {"official": {"0": ("5",)}}
    assert [*published.readings["official"]] == ["1"]


def test_a_reply_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"0": {"task": "math", "model_response": 5}}))
    with pytest.raises(DataError, match="row 1 has a value of type int as model_response"):
        layout(path)


def test_other_files_are_left_to_the_general_reader(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    contents: list[Any] = [[], {}, {"0": 1}, {"0": {"task": "math"}}]
    for content in contents:
        path.write_text(json.dumps(content))
        assert layout(path) is None


def test_a_row_of_an_unknown_task_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown task 'chess'"):
        sample("chess", "A")
