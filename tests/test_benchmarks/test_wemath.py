"""We-Math: its rows, its prompts, its results, and the quirks of the authors' rule."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import wemath as file
from snellen.benchmarks.wemath import choices, wemath
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image
from snellen.scoring import Report

BUNDLED = Path(file.__file__).parent / "rows" / "wemath"
ROWS: list[dict[str, Any]] = json.loads((BUNDLED / "testmini.json").read_bytes())
PICTURE = BUNDLED / "2steps/image/1-1.png"
ASK = (
    "Now, we require you to solve a multiple-choice math question. Please briefly describe your "
    "thought process and provide the final answer(option)."
)
FORM = (
    "Regarding the format, please answer following the template below, and be sure to include two "
    "<> symbols:\n<Thought process>: <<your thought process>> <Answer>: <<your option>>"
)


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def text_of(benchmark: Benchmark, sample: str) -> str:
    (message,) = benchmark.messages(samples(benchmark)[sample])
    image, text = message.content
    assert isinstance(image, Image)
    return str(text)


def answer(scoring: str, reply: str) -> object:
    sample = Sample(id="1", question="Which?", choices=("12 cm", "9 cm", "6 cm"), target="B")
    return wemath(data=BUNDLED).scorings[scoring].parse(Reply(text=reply), sample).answer


def scored(path: Path, rows: list[dict[str, Any]]) -> Report:
    path.write_text(json.dumps(rows), encoding="utf-8")
    return snellen.score(path, wemath(data=BUNDLED)).report


# -- data


def test_a_problem_has_a_question_for_each_step_and_a_composite_one() -> None:
    actual = samples(wemath(data=BUNDLED))
    problems = ["2steps_1", "2steps_2", "3steps_1"]
    parts = ["1", "2", "multi"], ["1", "2", "multi"], ["1", "2", "3", "multi"]
    assert [*actual] == [
        f"{problem}_{part}" for problem, of in zip(problems, parts, strict=True) for part in of
    ]
    sample = actual["3steps_1_2"]
    assert (sample.target, sample.choices) == ("B", ("3", "9", "12", "20", "No correct answer"))
    assert sample.tags == {
        "steps": "3",
        "part": "2",
        "key": "3steps_2",
        "concept": "Area of Rectangles",
        "domain": "Calculation of Plane Figures",
    }
    assert actual["3steps_1_multi"].tags["domain"] == ""
    (picture,) = sample.media
    assert isinstance(picture, Image)
    assert images.load(picture).width == 96


def test_questions_of_a_problem_share_a_cluster() -> None:
    benchmark = wemath(data=BUNDLED)
    assert benchmark.cluster_by is not None
    assert len({*map(benchmark.cluster_by, samples(benchmark).values())}) == 3


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("A. 300, 400;B. 400, 300; C. 3; E. No", ("300, 400", "400, 300", "3; E. No")),
        ("A. 45° B. 60° ;C. 120°; D. No", ("45°", "60°", "120°", "No")),
        ("A. ①;B\uff0e②;C. ③.; D. No", ("①", "②", "③.", "No")),
        ("", ()),
    ],
)
def test_choices_are_split_at_their_letters(option: str, expected: tuple[str, ...]) -> None:
    assert choices(option) == expected


def test_vlmevalkits_sheet_is_read(tmp_path: Path) -> None:
    picture = base64.b64encode(PICTURE.read_bytes()).decode()
    columns = (
        "index",
        "ID",
        "key",
        "knowledge concept",
        "question",
        "A",
        "B",
        "answer",
        "hint",
        "requirement",
    )
    cells = (
        "8",
        "2steps_7",
        "2steps_multi",
        "Area of Circles",
        "Which?",
        "one",
        "two",
        "B",
        "Ho.",
        "In tags.",
    )
    (tmp_path / "WeMath.tsv").write_text(
        "\t".join((*columns, "image")) + "\n" + "\t".join((*cells, picture)) + "\n",
        encoding="utf-8",
    )
    benchmark = registry.benchmark("WeMath", data=tmp_path)
    (sample,) = samples(benchmark).values()
    assert (sample.id, sample.choices, sample.target) == ("8", ("one", "two"), "B")
    # vlmeval/dataset/image_mcq.py#L1466-L1487
    text = "Hint: Ho.\nQuestion: Which?\nOptions:\nA. one\nB. two\n"
    assert text_of(benchmark, "8") == text
    benchmark = registry.benchmark("WeMath_COT", data=tmp_path)
    assert text_of(benchmark, "8") == f"{text}\nIn tags."


def test_the_hubs_copy_is_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    row = {**ROWS[0], "image_path": {"bytes": PICTURE.read_bytes(), "path": None}}
    path = tmp_path / "testmini-00000-of-00001-adbfe22dcd3558e6.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    for data in (path, tmp_path):
        (sample,) = samples(wemath(data=data)).values()
        assert (sample.id, sample.target) == ("2steps_1_1", "A")
        assert isinstance(sample.media[0], Image)


# -- prompts


def test_the_paper_asks_for_a_thought_process_and_an_answer() -> None:
    question = "Question: What is the area of both boxes?\n"
    option = "Option: A. 20 B. 11;C. 29; D. 9; E. No correct answer"
    text = text_of(wemath(data=BUNDLED), "3steps_1_multi")
    assert text == f"{ASK}\n{question}{option}\n{FORM}"
    bare = wemath(data=BUNDLED, answer_format=False)
    assert text_of(bare, "3steps_1_multi") == f"{ASK}\n{question}{option}"


def test_vlmevalkit_lists_the_choices() -> None:
    listed = "A. 20\nB. 11\nC. 29\nD. 9\nE. No correct answer\n"
    question = f"Hint: {ASK}\nQuestion: What is the area of both boxes?\nOptions:\n{listed}"
    benchmark = registry.benchmark("WeMath_COT", data=BUNDLED)
    assert text_of(benchmark, "3steps_1_multi") == f"{question}\n{FORM}"


def test_lmms_eval_asks_for_tags_in_a_system_message() -> None:
    benchmark = registry.benchmark("wemath_testmini_reasoning", data=BUNDLED)
    first, second = benchmark.messages(samples(benchmark)["2steps_2_1"])
    option = "A. Blue; B. Red; C. Both; D. Neither; E. No correct answer"
    assert (first.role, second.content[1]) == ("system", f"Which box is a square?\n{option}")
    assert (benchmark.max_answer_tokens, benchmark.headline) == (49_152, "robust")


# -- answers


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("<Thought process>: <<It is 9.>> <Answer>: <<B>>", "B"),
        ("<Answer>: B; because D", "B"),
        ("Answer:\nF", "F"),
        ("B", "B"),
        ("B. 9 cm", "B"),
        # The last "Answer" counts, whatever follows it.
        ("Answer: E. Answer: D", "D"),
        ("Answer: A line", "A"),
        ("Answer: The correct option is B", None),
        ("Answer: (B)", None),
        ("**Answer**: B", None),
        ("Answers: B", None),
        ("Answer: 12", None),
        ("Answer: b", None),
        ("Answer: I", None),
        ("Answer\uff1aB", None),
        # Without "Answer" in this case, the whole reply is read.
        ("the answer is B", None),
        ("Both. The answer is C", "B"),
        ("", None),
        ("Answer", None),
    ],
)
def test_the_authors_take_the_first_letter_after_answer(reply: str, expected: str | None) -> None:
    assert answer("official", reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("<Thought process>: <<It is A or 9 cm.>> <Answer>: <<B>>", "B"),
        ("**Answer**: B", "B"),
        ("Answer: (B)", "B"),
        ("the answer is B", "B"),
        ("<Answer>: <<9 cm>>", "B"),
        ("<think>A?</think> <answer>B</answer>", "B"),
        ("<Answer>: A or B", None),
        ("", None),
    ],
)
def test_our_own_rule_takes_what_a_reply_settles_on(reply: str, expected: str | None) -> None:
    assert answer("robust", reply) == expected


# -- results


def results(*wrong: str) -> list[dict[str, Any]]:
    """The rows of a file of results that is right but for these questions."""
    names = [*samples(wemath(data=BUNDLED))]
    return [
        {**row, "response": "Answer: H" if name in wrong else f"Answer: {row['answer']}"}
        for name, row in zip(names, ROWS, strict=True)
    ]


def test_the_authors_results_are_scored_by_problem(tmp_path: Path) -> None:
    report = scored(tmp_path / "model.json", results("2steps_1_2", "3steps_1_multi"))
    metrics = report.scorings["official"].metrics
    # The first problem is RM or, loosely, CM. The second is CM, and the third is IG.
    expected = {
        "score_strict": (1 + 0.5) / 3,
        "score_loose": (2 + 0.5) / 3,
        "ik": 0.0,
        "ig": 1 / 3,
        "cm_strict": 1 / 3,
        "cm_loose": 2 / 3,
        "rm_strict": 1 / 2,
        "rm_loose": 0.0,
        "one_step": 6 / 7,
        "two_steps": 1.0,
        "three_steps": 0.0,
        "score_strict/2": 1 / 2,
        "ig/3": 1.0,
    }
    actual = {name: metrics[name].value for name in expected}
    assert actual == pytest.approx(expected)
    # Two of three questions on the areas of rectangles are right, and the one on perimeters is.
    assert metrics["concepts/Calculation of Plane Figures"].value == pytest.approx(5 / 6)
    assert not any(name.startswith("ik/") and name[3:] not in "23" for name in metrics)


def test_other_than_525_problems_have_a_note(tmp_path: Path) -> None:
    notes = scored(tmp_path / "model.json", results()).notes
    assert (
        "official: 3 problems have a reply to each of their questions, and the rates are shares of "
        "these 3. The authors' code divides by 525 problems, however many there are, so its rates "
        "differ."
    ) in notes


def test_a_problem_that_lacks_a_response_is_left_out_with_a_note(tmp_path: Path) -> None:
    rows = results()
    rows[0]["response"] = None
    report = scored(tmp_path / "model.json", rows[:-1])
    assert report.scorings["official"].metrics["cm_strict"].n == 1
    assert any(note.startswith("official: 1 problems have a reply") for note in report.notes)


def test_525_problems_have_no_note(tmp_path: Path) -> None:
    rows = [
        {**row, "ID": f"2steps_{number}", "response": "Answer: A"}
        for number in range(525)
        for row in ROWS[:3]
    ]
    (tmp_path / "testmini.json").write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "model.json").write_text(json.dumps(rows), encoding="utf-8")
    report = snellen.score(tmp_path / "model.json", wemath(data=tmp_path)).report
    assert report.scorings["official"].metrics["ig"].value == 1.0
    assert not any("525" in note for note in report.notes)


def test_two_responses_to_a_question_are_refused(tmp_path: Path) -> None:
    rows = results()
    with pytest.raises(DataError, match=r"2steps_1_1 has two responses. Remove one of them"):
        scored(tmp_path / "model.json", [*rows, rows[0]])


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("answer", "12", "the answer '12' is not one of the letters A, B"),
        ("key", "multi", "the key 'multi' is not of the form 2steps_1 or 2steps_multi"),
    ],
)
def test_a_row_with_a_wrong_cell_is_refused(
    field: str, value: str, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "testmini.json").write_text(json.dumps([{**ROWS[0], field: value}]))
    benchmark = wemath(data=tmp_path)
    with pytest.raises(DataError, match=f"row 1 of .*: {problem}"):
        benchmark.read(next(iter(benchmark.data)))
