"""MathVista: its rows, prompts, what its judge is asked, and each rule of its scorings.

Expected prompts and predictions are those of the authors' and lmms-eval's code at the commits that
the benchmark names; all of their forms were compared with it on the 1,000 problems of testmini, the
rules on 60,000 made extractions.
"""

import gzip
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks import mathvista as file
from snellen.benchmarks.mathvista import Preset, layout, mathvista
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Judge, Reading
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "mathvista"


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    actual = (benchmark.read(row) for row in benchmark.data)
    return {sample.id: sample for sample in actual}


def bundled() -> dict[str, Sample]:
    return samples(mathvista(data=BUNDLED))


def problem(target: str, *choices: str, form: str = "integer", precision: int = 2) -> Sample:
    return Sample(
        id="1",
        question="How many?",
        choices=choices,
        target=target,
        tags={"answer_type": "text" if choices else form},
        data={"precision": precision if form == "float" else None},
    )


def judge(scoring: str = "official") -> Judge:
    judge_report = mathvista(data=BUNDLED).scorings[scoring].judge
    assert judge_report is not None
    return judge_report


def read(reply: str, sample: Sample, scoring: str = "official") -> Reading:
    return mathvista(data=BUNDLED).scorings[scoring].parse(Reply(text=reply), sample)


def extracted(words: str, sample: Sample, scoring: str = "official") -> tuple[object, object]:
    """What becomes of a judge's extraction, and whether that is right."""
    reading = judge(scoring).parse(words, sample)
    return reading.answer, mathvista(data=BUNDLED).scorings[scoring].score(reading, sample)


# -- data


def test_the_bundled_rows_are_of_every_task_skill_and_form() -> None:
    values = bundled().values()
    assert {sample.tags["answer_type"] for sample in values} == {"text", "integer", "float", "list"}
    assert {sample.tags["language"] for sample in values} == {"english", "chinese"}
    assert len({sample.tags["task"] for sample in values}) == 5
    assert all(any(sample.tags[skill] for sample in values) for skill in file.SKILLS)
    assert {sample.data["precision"] for sample in values} == {None, 1, 2}


def test_a_sample_has_the_tags_that_the_authors_break_down_by() -> None:
    sample = bundled()["8"]
    assert {name: tag for name, tag in sample.tags.items() if tag} == {
        "question_type": "multi_choice",
        "answer_type": "text",
        "language": "english",
        "source": "snellen",
        "category": "math-targeted-vqa",
        "task": "math word problem",
        "context": "table",
        "grade": "elementary school",
        "arithmetic reasoning": "arithmetic reasoning",
        "statistical reasoning": "statistical reasoning",
    }
    assert sample.target == "B"


def test_each_bundled_picture_opens() -> None:
    for sample in bundled().values():
        (picture,) = sample.media
        assert isinstance(picture, Image)
        assert images.load(picture).width == 120


def test_answers_of_test_are_hidden() -> None:
    actual = samples(mathvista(split="test", data=BUNDLED))
    assert list(actual) == ["2", "9", "12"]
    assert all(sample.hidden for sample in actual.values())


@pytest.mark.parametrize("name", ["testmini.json", "data/testmini.json", "annotations.json"])
def test_the_authors_folder_is_found_in_its_layouts(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((BUNDLED / "testmini.json").read_bytes())
    (picture,) = samples(mathvista(data=tmp_path))["3"].media
    assert isinstance(picture, Image)
    assert picture.source == path.parent / "images" / "3.jpg"


def test_the_hubs_parquet_is_read_with_its_query_and_picture(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    row = json.loads((BUNDLED / "testmini.json").read_bytes())["12"]
    raw = (BUNDLED / row["image"]).read_bytes()
    picture = {"bytes": raw, "path": "12.jpg"}
    row |= {"precision": 1.0, "query": "As it is stored.", "decoded_image": picture}
    path = tmp_path / file.PARQUET
    path.parent.mkdir()
    parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    benchmark = mathvista(data=tmp_path)
    (sample,) = samples(benchmark).values()
    assert (sample.data["precision"], sample.target) == (1, "2.5")
    (message,) = benchmark.prompt(sample, ())
    shown, text = message.content
    assert isinstance(shown, Image)
    assert images.load(shown).width == 120
    assert text == "As it is stored."


def test_another_file_in_its_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "testmini.json").write_text("[]")
    with pytest.raises(DataError, match=r"testmini\.json is not a JSON object"):
        samples(mathvista(data=tmp_path))


def test_of_choices_with_the_same_text_the_first_is_the_right_one(tmp_path: Path) -> None:
    """As problem 781; calculate_score.py#L79-L94 compares texts."""
    row = json.loads((BUNDLED / "testmini.json").read_bytes())["1"]
    row |= {"choices": ["9", "12", "18", "18"], "answer": "18"}
    (tmp_path / "testmini.json").write_text(json.dumps({"1": row}))
    (sample,) = samples(mathvista(data=tmp_path)).values()
    assert sample.target == "C"
    assert extracted("(D)", sample) == ("C", 1.0)


def test_a_skill_that_nobody_knows_is_no_blank(tmp_path: Path) -> None:
    row = json.loads((BUNDLED / "testmini.json").read_bytes())["1"]
    row["metadata"]["skills"] = ["juggling"]
    (tmp_path / "testmini.json").write_text(json.dumps({"1": row}))
    with pytest.raises(DataError, match="unknown skills: juggling"):
        samples(mathvista(data=tmp_path))


# -- prompts: lupantech/MathVista@53d5258, README.md#L407-L427, evaluation/build_query.py#L200-L271;
# lmms-eval@75571cf, lmms_eval/tasks/mathvista/mathvista_evals.py#L411-L560

LETTER = (
    "Hint: Please answer the question and provide the correct option letter, e.g., A, B, C, D, at "
    "the end."
)
CENTS = (
    "Hint: Please answer the question requiring a floating-point number with two decimal places "
    "and provide the final value, e.g., 1.23, 1.34, 1.45, at the end."
)
LIST = (
    "Hint: Please answer the question requiring a Python list as an answer and provide the final "
    "list, e.g., [1, 2, 3], [1.2, 1.3, 1.4], at the end."
)
MOST = "Question: Who has the most?\nChoices:\n(A) Ada\n(B) Bo\n(C) Cy"
FRUIT = "What do a pear and a plum cost together? (Unit: $)"
YEARS = "Between which two years does the line fall?"


@pytest.mark.parametrize(
    ("preset", "name", "text"),
    [
        ("official", "1", f"{LETTER}\n{MOST}"),
        ("official", "11", f"{CENTS}\nQuestion: {FRUIT}"),
        ("official", "13", f"{LIST}\nQuestion: {YEARS}"),
        ("solution", "1", f"{MOST}\n{LETTER}\nSolution:"),
        ("solution", "11", f"Question: {FRUIT}\n{CENTS}\nSolution:"),
        ("solution", "13", f"Question: {YEARS}\n{LIST}\nSolution:"),
        ("lmms-eval-cot", "1", f"{MOST}\n{LETTER}"),
        ("lmms-eval-cot", "11", f"Question: {FRUIT}\n{CENTS}"),
        ("lmms-eval-cot", "13", f"Question: {YEARS}\n{LIST}"),
        (
            "lmms-eval-format",
            "1",
            "Who has the most?\nA. Ada\nB. Bo\nC. Cy\n"
            "Answer with the option's letter from the given choices directly.",
        ),
        (
            "lmms-eval-format",
            "11",
            f"{FRUIT}\nAnswer the question using a single floating-point number with two decimal "
            "places.",
        ),
        ("lmms-eval-format", "13", f"{YEARS}\nAnswer the question using a Python list."),
        (
            "lmms-eval-reason",
            "1",
            "First perform reasoning, then finally select the question from the choices in the "
            f"following format: Answer: xxx.\n{MOST}",
        ),
        (
            "lmms-eval-reason",
            "11",
            "First perform reasoning, then finally answer the question requiring a floating-point "
            "number with two decimal places and provide the final value, e.g., 1.23, 1.34, 1.45, "
            f"at the end in the following format: Answer: xxx.\nQuestion: {FRUIT}",
        ),
        (
            "lmms-eval-reason",
            "13",
            "First perform reasoning, then finally answer the question requiring a Python list as "
            "an answer and provide the final list, e.g., [1, 2, 3], [1.2, 1.3, 1.4], at the end in "
            f"the following format: Answer: xxx.\nQuestion: {YEARS}",
        ),
    ],
)
def test_a_prompt_is_the_authors_text_behind_the_picture(
    preset: Preset, name: str, text: str
) -> None:
    benchmark = mathvista(prompt=preset, data=BUNDLED)
    (message,) = benchmark.prompt(samples(benchmark)[name], ())
    picture, parts = message.content
    assert isinstance(picture, Image)
    assert (picture.label, parts) == (f"images/{name}.jpg", text)


# -- the judge


def test_the_judge_is_asked_in_the_authors_words_about_the_reply_without_blanks() -> None:
    """As evaluation/extract_answer.py#L22-L26 builds it of prompts/ext_ans.py."""
    (message,) = judge().prompt(bundled()["1"], Reply(text=" It is Bo.\n"))
    assert message.text.startswith("Please read the following example. Then extract")
    assert message.text.endswith(f"{LETTER}\n{MOST}\n\nIt is Bo.\n\nExtracted answer: ")
    digest = "df85dcf0b27b92a6ff6d4e413fed64f9df4afe5ee8b6ed3c85ef398ddf8c76c7"
    assert sha256(message.text.encode()).hexdigest() == digest


def test_the_judge_is_shown_the_query_that_the_model_was_asked() -> None:
    scoring = mathvista(prompt="solution", data=BUNDLED).scorings["official"]
    assert scoring.judge is not None
    (message,) = scoring.judge.prompt(bundled()["1"], Reply(text="Bo"))
    assert f"{MOST}\n{LETTER}\nSolution:\n\nBo" in message.text


@pytest.mark.parametrize(
    ("reply", "sample", "answer"),
    [
        ("yes", problem("A", "yes", "no"), "A"),
        (" no\n", problem("A", "yes", "no"), "B"),
        ("12", problem("12"), "12"),
        (" 12\n", problem("12"), "12"),
        ("1_000", problem("1000"), "1000"),
        ("1.25", problem("1.2", form="float", precision=1), "1.2"),
        ("1.25", problem("1.25", form="float"), "1.25"),
        ("1e2", problem("100.0", form="float"), "100.0"),
        ("nan", problem("1.2", form="float"), "nan"),
    ],
)
def test_a_reply_that_is_all_answer_is_not_put_to_the_judge(
    reply: str, sample: Sample, answer: str
) -> None:
    reading = read(reply, sample)
    assert reading.answer == answer
    assert not judge().when(reading)


@pytest.mark.parametrize(
    ("reply", "sample"),
    [
        ("A", problem("A", "yes", "no")),
        ("Yes", problem("A", "yes", "no")),
        ("12.0", problem("12")),
        ("1,000", problem("1000")),
        ("12 cm", problem("12")),
        ("7" * 5_000, problem("12")),
        ("about 1.2", problem("1.2", form="float")),
        ("[1, 2]", problem("[1, 2]", form="list")),
        ("12", problem("[12]", form="list")),
        ('The answer is "yes".', problem("A", "yes", "no")),
    ],
)
def test_any_other_reply_is_for_the_judge(reply: str, sample: Sample) -> None:
    for scoring in ("official", "official-2023"):
        reading = read(reply, sample, scoring)
        assert reading.answer is None
        assert judge(scoring).when(reading)


def test_an_empty_reply_to_choices_is_the_shortest_of_them_and_else_unparsed() -> None:
    for reply in ("", " \n"):
        assert read(reply, problem("A", "three", "ten", "six")).answer == "B"
        assert read(reply, problem("12")).answer is None
        assert read(reply, problem("1.2", form="float")).answer is None
        assert read(reply, problem("[1]", form="list")).answer is None
        assert not judge().when(read(reply, problem("12")))


# -- what becomes of an extraction

THREE = ("p", "q", "r")
COLORS = ("white one", "white two", "white three")


@pytest.mark.parametrize(
    ("rule", "words", "choices", "letter"),
    [
        ("a letter", "B", ("x", "y"), "B"),
        ("a letter in brackets", "(b) y", ("x", "y"), "B"),
        ("the first in brackets", "The answer is (C) or (A)", THREE, "C"),
        ("wherever it stands", "not (B) but", ("not B but", "z"), "B"),
        ("blanks around it", " B\n", ("x", "y"), "B"),
        ("a small letter is text", "b", ("yes", "no"), "B"),
        ("a letter beyond the choices is text", "D", ("yes", "no"), "B"),
        ("so is one in brackets", "(e)", ("pear", "plum", "E"), "C"),
        ("a full stop makes it text", "B.", ("xxxx", "yyy", "z"), "C"),
        ("the nearest text", "white twos", COLORS, "B"),
        ("by case too", "WHITE TWO", (*COLORS, "WHITE"), "D"),
        ("the first of the nearest", "s", THREE, "A"),
        ("a sign changed is as far as one added", "ab", ("cd", "abcde"), "A"),
        ("nothing is near the shortest", "", ("three", "ten", "six"), "B"),
        ("None is a text", "None", ("yes", "no"), "B"),
        ("the first of the same", "B", ("same", "same", "x"), "A"),
        ("two letters are text", "AB", ("xxx", "AC", "y"), "B"),
    ],
)
def test_an_extraction_for_choices_always_means_one(
    rule: str, words: str, choices: tuple[str, ...], letter: str
) -> None:
    assert extracted(words, problem("A", *choices))[0] == letter


@pytest.mark.parametrize(
    ("words", "now", "in_2023"),
    [
        ("7", "7", "7"),
        (" 7 ", "7", "7"),
        ("7.9", "7", None),
        ("-0.005", "0", None),
        ("10.0", "10", None),
        ("1e3", "1000", None),
        ("1_000", "1000", "1000"),
        ("1,000", None, None),
        ("7%", None, None),
        ("inf", None, None),
        ("nan", None, None),
        ("The answer cannot be extracted.", None, None),
    ],
)
def test_an_integer_is_cut_off_at_its_point_and_in_2023_refused(
    words: str, now: str | None, in_2023: str | None
) -> None:
    for scoring, answer in (("official", now), ("official-2023", in_2023)):
        actual, score = extracted(words, problem(answer or "3"), scoring)
        assert (actual, score) == ((answer, 1.0) if answer else (words, 0.0))


@pytest.mark.parametrize(
    ("words", "precision", "answer"),
    [
        ("1.2", 2, "1.2"),
        ("1.20", 2, "1.2"),
        ("2.675", 2, "2.67"),
        ("1.25", 1, "1.2"),
        ("1.35", 1, "1.4"),
        ("5", 1, "5.0"),
        ("inf", 1, "inf"),
        ("$1.45", 2, None),
    ],
)
def test_a_number_is_rounded_as_python_rounds_and_writes(
    words: str, precision: int, answer: str | None
) -> None:
    actual = extracted(words, problem("1.45", form="float", precision=precision))
    assert actual == (answer or words, 0.0)


def test_numbers_are_compared_as_texts() -> None:
    assert extracted("1.20", problem("1.2", form="float")) == ("1.2", 1.0)
    assert extracted("1.20", problem("1.20", form="float")) == ("1.2", 0.0)


def test_a_list_is_compared_as_it_is_written() -> None:
    target = problem("[2007, 2008]", form="list")
    assert extracted("[2007, 2008]", target) == ("[2007, 2008]", 1.0)
    assert extracted("[2007,2008]", target) == ("[2007,2008]", 0.0)
    assert extracted("[2007, 2008] ", target)[1] == 0.0


# -- scoring, robust


@pytest.mark.parametrize(
    ("reply", "sample", "score"),
    [
        ("The answer is (B).", problem("B", "yes", "no"), 1.0),
        ("b", problem("B", "yes", "no"), 1.0),
        ("", problem("B", "yes", "no"), 0.0),
        ("A or B", problem("B", "yes", "no"), 0.0),
        ("18", problem("C", "9", "12", "18", "18"), 1.0),  # as problem 781
        ("The answer is (D).", problem("C", "9", "12", "18", "18"), 1.0),
        ("C or D", problem("C", "9", "12", "18", "18"), 1.0),
        ("B or D", problem("C", "9", "12", "18", "18"), 0.0),
        ("B", problem("C", "9", "12", "18", "18"), 0.0),
        ("So there are 12.", problem("12"), 1.0),
        ("12.0", problem("12"), 1.0),
        ("12.9", problem("12"), 0.0),
        ("1,000", problem("1000"), 1.0),
        ("It costs $1.954.", problem("1.95", form="float"), 1.0),
        ("It costs $1.96.", problem("1.95", form="float"), 0.0),
        ("2.46", problem("2.5", form="float", precision=1), 1.0),
        ("[3,4]", problem("[3, 4]", form="list"), 1.0),
        ("1 2 3", problem("2"), 0.0),
    ],
)
def test_robust_takes_what_a_reply_settles_on(reply: str, sample: Sample, score: float) -> None:
    scoring = mathvista(data=BUNDLED).scorings["robust"]
    assert scoring.score(scoring.parse(Reply(text=reply), sample), sample) == score


# -- published results


def results(tmp_path: Path, rows: dict[str, Any]) -> Path:
    path = tmp_path / "output.json.gz"
    with gzip.open(path, "wt") as out:
        json.dump(rows, out)
    return path


def row(name: str, **reply: Any) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads((BUNDLED / "testmini.json").read_bytes())[name]
    return {**entry, **reply}


def test_extractions_decide_and_only_problems_in_the_file_are_counted(tmp_path: Path) -> None:
    """By hand: of three, 1 is right by its letter, 9 by 2023's rule not."""
    path = results(
        tmp_path,
        {
            "1": row("1", response="It is Bo.", extraction="B"),
            "9": row("9", response="9 or so", extraction="9.4"),
            "12": row("12", response="long", extraction="cannot say"),
        },
    )
    report = snellen.score(path, "mathvista", data=BUNDLED).report
    for scoring, value in (("official", 2 / 3), ("official-2023", 1 / 3)):
        actual = report.scorings[scoring]
        assert actual.metrics["accuracy"].value == pytest.approx(value)
        assert actual.metrics["accuracy"].n == 3
        assert actual.readings["answered"] == 3
    assert report.scorings["official"].metrics["accuracy/college"].value == 0.0


def test_without_an_extraction_a_long_reply_is_not_judged(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    path.write_text(json.dumps({"1": "It is Bo.", "9": "9"}))
    scoring = snellen.score(path, "mathvista", data=BUNDLED).report.scorings["official"]
    assert (scoring.readings["not-judged"], scoring.readings["answered"]) == (1, 1)
    assert scoring.metrics["accuracy"].value == 1.0


def test_of_a_program_what_it_printed_is_the_reply(tmp_path: Path) -> None:
    rows = {"9": row("9", response="print(9)", execution="9", error="", extraction="9")}
    published = layout(results(tmp_path, rows))
    assert published is not None
    assert published.replies == {"9": "9"}


def test_a_response_that_is_no_text_is_no_reply(tmp_path: Path) -> None:
    published = layout(results(tmp_path, {"9": row("9", response=None, extraction="9")}))
    assert published is not None
    assert published.replies == {"9": None}


def test_a_row_without_an_extraction_and_one_with_none_are_told_apart(tmp_path: Path) -> None:
    rows = {"1": row("1", response="x"), "2": row("2", response="y", extraction=None)}
    published = layout(results(tmp_path, rows))
    assert published is not None
    assert published.verdicts["official"] == {"2": ("None",)}
    assert published.notes == ("1 rows have no extraction; `official` counts them as wrong",)


@pytest.mark.parametrize("response", ["unsure", "{right}"])
def test_a_row_without_an_extraction_is_wrong_whatever_its_response(
    tmp_path: Path, response: str
) -> None:
    """Its shortest choice is right, which an empty extraction would stand for."""
    name, right = next(
        (sample.id, min(sample.choices, key=len))
        for sample in bundled().values()
        if sample.choices
        and sample.target == "ABCDEFGH"[sample.choices.index(min(sample.choices, key=len))]
    )
    path = results(tmp_path, {name: row(name, response=response.format(right=right))})
    report = snellen.score(path, "mathvista", data=BUNDLED).report
    for scoring in ("official", "official-2023"):
        scored = report.scorings[scoring]
        assert (scored.metrics["accuracy"].value, scored.metrics["accuracy"].n) == (0.0, 1)
        assert scored.readings["unparsed"] == 1


def test_problems_are_grouped_by_the_metadata_in_the_authors_file(tmp_path: Path) -> None:
    """calculate_score.py#L222-L262; the data set's own has other skills and grades."""
    problem = row("1", response="It is Bo.", extraction="B")
    skills = ["logical reasoning", "scientific reasoning"]
    problem["metadata"] = {**problem["metadata"], "skills": skills, "grade": "college"}
    report = snellen.score(results(tmp_path, {"1": problem}), "mathvista", data=BUNDLED).report
    metrics = report.scorings["official"].metrics
    skills_counted = {name.removeprefix("accuracy/") for name in metrics if "reasoning" in name}
    assert skills_counted == set(skills)
    assert metrics["accuracy/college"].n == 1
    assert any(note.startswith("1 samples have different categories in") for note in report.notes)


@pytest.mark.parametrize("content", ["[]", "{}", '{"1": "B"}', "{", '{"1": {"answer": "B"}}'])
def test_other_files_are_left_to_others(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    assert layout(tmp_path / "a.json") is None
    assert layout(tmp_path) is None


def test_the_data_set_itself_is_no_result() -> None:
    assert layout(BUNDLED / "testmini.json") is None
