"""MathVerse: versions, the judge's two questions, and the authors' files of results.

The judge's questions are compared with the authors' prompts at the commit that the benchmark names.
"""

import json
from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import mathverse as file
from snellen.benchmarks.mathverse import mathverse
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Judge
from snellen.errors import DataError
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "mathverse"


def samples(**options: str) -> list[Sample]:
    benchmark = mathverse(data=BUNDLED, **options)  # type: ignore[arg-type]
    return [benchmark.read(row) for row in benchmark.data]


def judge() -> Judge:
    judge = mathverse(data=BUNDLED).scorings["official"].judge
    assert judge is not None
    return judge


def test_all_versions_are_the_five_with_a_picture() -> None:
    versions = [sample.tags["version"] for sample in samples()]
    assert len(versions) == 10
    assert "Text Only" not in versions
    assert all(sample.media for sample in samples())


def test_one_version_has_only_its_questions() -> None:
    assert {sample.tags["version"] for sample in samples(version="vision-only")} == {"Vision Only"}
    text_only = samples(version="text-only")
    assert {sample.tags["version"] for sample in text_only} == {"Text Only"}
    assert not any(sample.media for sample in text_only)


def test_the_prompt_is_the_stored_query_after_the_picture() -> None:
    sample = samples(version="vision-only")[0]
    benchmark = mathverse(data=BUNDLED, version="vision-only", prompt="cot")
    (message,) = benchmark.messages(sample)
    assert isinstance(message.content[0], Image)
    assert message.content[1:] == (sample.data["cot"],)


def test_the_first_stage_asks_about_the_last_thirty_words() -> None:
    reply = " ".join(["before", *map(str, range(30))])
    (message,) = judge().prompt(samples()[0], Reply(text=reply))
    assert message.text.startswith("I am providing you a response from a model to a math problem,")
    assert message.text.endswith(
        "Extracted answer: f(x) = -x^2 - 2x + 1\n\n7.\n\nModel response: "
        f"'{' '.join(map(str, range(30)))}'\nExtracted Answer: "
    )


def test_the_second_stage_compares_what_the_first_extracted() -> None:
    then = judge().then
    assert then is not None
    (message,) = then(samples()[0], Reply(text=""), "Extracted Answer: {12} ")
    assert message.text.startswith("Below are two answers to a math question.")
    assert "B:2√{3}\nC:√{3}\n" in message.text
    assert message.text.endswith(
        "\n\n[Question]: The side is 3. What is the perimeter?\n[Standard Answer]: 12\n"
        "[Model_answer] : {12}\nJudgement:"
    )


@pytest.mark.parametrize(
    ("words", "answer"),
    [("1", "1"), ("0", "0"), ("Judgement: 1", "1"), (" 1 \n", "1"), ("1.", None), ("yes", None)],
)
def test_a_verdict_is_0_or_1(words: str, answer: str | None) -> None:
    assert judge().parse(words, samples()[0]).answer == answer


def results(tmp_path: Path, *rows: dict[str, object]) -> Path:
    path = tmp_path / "results.json"
    every = json.loads((BUNDLED / "data/testmini.json").read_text())
    path.write_text(json.dumps([{**every[number], **row} for number, row in enumerate(rows)]))
    return path


def test_stored_verdicts_count_for_the_questions_in_the_file(tmp_path: Path) -> None:
    path = results(
        tmp_path,
        {"model_answer": "so 12", "extraction": "12", "judgement": 1},
        {"extraction": "", "judgement": 0},
        {"model_answer": "9", "judgement": 0},
    )
    result = snellen.score(path, mathverse(data=BUNDLED))
    metrics = result.report.scorings["official"].metrics
    assert metrics["accuracy"].value == pytest.approx(1 / 3)
    assert metrics["accuracy"].n == 3
    assert metrics["accuracy/Text Dominant"].value == 1
    assert metrics["accuracy/Plane Geometry-Length"].n == 3


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"model_answer": 3}], "row 1 has a model_answer that is not text"),
        ([{"model_answer": "3"}, {"sample_index": "10"}], "row 2 repeats sample '10'"),
    ],
)
def test_a_broken_file_of_results_is_an_error(
    tmp_path: Path, rows: list[dict[str, object]], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        snellen.score(results(tmp_path, *rows), mathverse(data=BUNDLED))
