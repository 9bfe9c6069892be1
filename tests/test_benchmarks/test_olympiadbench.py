"""OlympiadBench: rows of each form, prompts, and the quirks of its comparison.

Expected values are worked out from the authors' math_judger.py, judge.py, and evaluator.py at the
commit that the benchmark names. Formulas are compared in tests/parity.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks import olympiadbench as file
from snellen.benchmarks.families.olympiad_judge import is_right
from snellen.benchmarks.olympiadbench import olympiadbench
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "olympiadbench"
FIELDS = {
    "question": "?",
    "is_multiple_answer": False,
    "unit": None,
    "error": None,
    "answer_type": "Numerical",
    "subfield": "Algebra",
}


@pytest.mark.parametrize(
    ("reply", "right", "precisions", "score"),
    [
        ("\\boxed{9}", "$9$", [1e-8], True),
        ("$9.0$", "9", [1e-8], True),
        ("900", "9", [1e-8], True),  # a hundred times the right number, as if it were a percentage
        ("0.09", "9", [1e-8], True),
        ("8.95", "9", [0.05], True),  # the limit is 1.01 times the precision
        ("8.94", "9", [0.05], False),
        ("\\boxed{\\boxed{4}}", "4", [1e-8], False),  # read as "\boxed{4},4,"
        ("\\boxed{4}, no, \\boxed{5}", "4", [1e-8], False),  # all boxes count
        ("\\boxed{4}, no, \\boxed{5}", "5,4", [1e-8], True),  # in any order
        ("\\boxed{4", "\\boxed{4", [1e-8], False),  # the box is not closed
        ("It is $3$.\nSo $4$ or $5$", "4,5", [1e-8], True),  # formulas on the last line only
        ("\\pm2", "2,-2", [1e-8], True),
        ("不能", "能", [1e-8], True),  # nothing is left of either
        ("1，2", "2,1", [1e-8], True),
        ("1,2", "1,2,3", [1e-8], False),
        ("x \\in 4", "4", [1e-8], True),
        ("1,2", "1.04,2.4", [0.05, 0.5], True),
        ("2,1", "1.04,2.4", [0.05, 0.5], False),  # precisions follow the reply's order
        ("1,2,3", "1,2,4", [0.1, 0.1], False),  # the authors' script stops
    ],
)
def test_an_answer_is_compared_as_by_the_authors(
    reply: str, right: str, precisions: list[float], score: bool
) -> None:
    assert is_right(reply, right, precisions) is score


def test_a_formula_is_compared_by_its_value() -> None:
    assert is_right("\\frac{16}{25}", "0.64", [1e-8])
    assert is_right("2 \\times 3", "6", [1e-8])
    assert is_right("x=1-y", "$y=1-x$", [1e-8])
    assert not is_right("2^{10^{6}}", "3", [1e-8])


def test_a_formula_that_takes_too_long_has_no_score_and_the_next_one_is_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("snellen.benchmarks.families.worker_process.LIMIT_S", 1.0)
    sample = replace(next(samples()), target="$7x$")
    tower = Reply(text="So the final answer is \\boxed{x^{9^{9^{9}}}}")
    official = olympiadbench(data=BUNDLED).scorings["official"]

    assert official.score(official.parse(tower, sample), sample) is None
    assert is_right("2 \\times 3", "6", [1e-8])


@pytest.mark.parametrize(
    ("text", "answer", "rule"),
    [
        ("So the final answer is 3", "3", "announced"),
        ("So the final answer is 3\nSo the final answer is  4 \nend", "4", "announced"),
        ("so the final answer is 3", "so the final answer is 3", "whole reply"),
        ("所以最终答案是3", "所以最终答案是3", "whole reply"),  # an English question
        ("", None, "nothing said"),
        ("<No response>", None, "nothing said"),
        ("error code: 1, message: no", None, "nothing said"),
        ("code: 1", "code: 1", "whole reply"),
    ],
)
def test_the_answer_follows_its_last_announcement(text: str, answer: str | None, rule: str) -> None:
    scoring = olympiadbench(data=BUNDLED).scorings["official"]
    reading = scoring.parse(Reply(text=text), next(samples()))
    assert (reading.answer, reading.rule) == (answer, rule)
    if answer is None:
        assert scoring.score(reading, next(samples())) is None


def samples(**options: Any) -> Iterator[Sample]:
    benchmark = olympiadbench(**{"data": BUNDLED, **options})
    return (benchmark.sample(index, row) for index, row in enumerate(benchmark.data))


def test_options_select_sets_of_the_authors_folder() -> None:
    assert len([*samples()]) == 8
    assert [sample.tags["set"] for sample in samples(modality="TO")] == ["OE_TO_maths_en_COMP"]
    ids = [sample.id for sample in samples(subject="physics", language="zh")]
    assert ids == ["OE_MM_physics_zh_CEE-108"]


def test_a_physics_question_has_its_context_and_each_picture_its_place() -> None:
    (sample, _) = samples(subject="physics", language="en")
    assert sample.data["precisions"] == [1e-3]
    system, user = olympiadbench(data=BUNDLED).prompt(sample, ())
    assert system.text == (
        "You are an AI assistant. Please answer the following Physics competition problems as "
        "required."
    )
    first, picture, last = user.content
    assert isinstance(picture, Image) and picture.label == "images/img_7.jpg"
    assert str(first).endswith("in \\boxed{}.\nA cube of wood has sides of 0.5 m.")
    assert '"So the final answer is \\boxed{answer}(unit)."' in str(first)
    assert str(last) == "What is its volume?"
    (message,) = olympiadbench(prompt="vlmevalkit", data=BUNDLED).prompt(sample, ())
    text, picture = message.content
    assert str(text).endswith("A cube of wood has sides of 0.5 m. <img_7>\nWhat is its volume?")
    assert isinstance(picture, Image)


def test_rows_of_a_tsv_have_their_pictures_in_them(tmp_path: Path) -> None:
    picture = base64.b64encode((BUNDLED / "images/img_1.jpg").read_bytes()).decode()
    columns = ("index", "source", "question", "final_answer", "image", "context", "subfield")
    more = ("unit", "error", "answer_type", "is_multiple_answer")
    cells = ("5", "OE_MM_maths_zh_CEE", "边长是多少？", "['$3$']", picture, "", "几何")
    path = tmp_path / "OlympiadBench.tsv"
    path.write_text(
        "\t".join((*columns, *more))
        + "\n"
        + "\t".join((*cells, "", "", "Numerical", "False"))
        + "\n",
        encoding="utf-8",
    )
    (sample,) = samples(data=tmp_path)
    assert (sample.id, sample.target, len(sample.media)) == ("5", "$3$", 1)
    assert sample.data["precisions"] == [1e-8]


def test_the_authors_results_are_read(tmp_path: Path) -> None:
    path = tmp_path / "OE_MM_maths_zh_CEE.json"
    rows = [{"id": 104, "model_output": {"gpt": {"raw_output": "16", "correctness": True}}}]
    path.write_text(json.dumps(rows))
    metrics = snellen.score(path, olympiadbench(data=BUNDLED)).report.scorings["official"].metrics
    assert (metrics["accuracy"].value, metrics["accuracy"].n) == (1.0, 1)
    path.write_text(json.dumps(rows * 2))
    with pytest.raises(DataError, match="row 2 repeats question OE_MM_maths_zh_CEE-104"):
        snellen.score(path, olympiadbench(data=BUNDLED))


def test_a_row_that_cannot_be_asked_says_what_is_wrong(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    fields = {**FIELDS, "id": 1, "final_answer": ["1"]}
    path = folder / "OE_MM_maths_en_COMP.json"
    wrong: tuple[dict[str, object], ...] = ({"final_answer": []}, {"answer_type": "Proof"})
    for bad in wrong:
        path.write_text(json.dumps([{**fields, **bad}]))
        benchmark = olympiadbench(data=tmp_path)
        with pytest.raises(DataError, match=f"row 1.*{next(iter(bad))}"):
            benchmark.read(next(iter(benchmark.data)))
    path.rename(folder / "rows.json")
    with pytest.raises(DataError, match="does not have the name of a set"):
        [*samples(data=folder / "rows.json")]
