"""AI2D's files, and how lmms-eval compares a reply."""

from pathlib import Path

import pytest

from snellen import registry
from snellen.benchmarks.ai2d import ai2d, published
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.media.content import Image

SAMPLE = Sample(id="0", question="Which?", choices=("x", "y", "z", "w"), target="B")


def test_a_row_of_the_hub_has_an_index_as_answer(tmp_path: Path) -> None:
    benchmark = ai2d(data=tmp_path)
    fields = {
        "question": "Which?",
        "options": ["2", "3", "1", "0"],
        "answer": "2",
        "image": Image(b"x", "image"),
    }
    sample = benchmark.sample(7, Row(fields, 7))
    assert (sample.id, sample.choices, sample.target) == ("7", ("2", "3", "1", "0"), "C")


def test_questions_about_a_diagram_are_one_cluster() -> None:
    folder = Path(ai2d.__code__.co_filename).parent / "rows" / "ai2d"
    benchmark = ai2d(data=folder)
    assert benchmark.cluster_by is not None
    read = (benchmark.sample(row.position, row) for row in benchmark.data)
    clusters = {sample.id: benchmark.cluster_by(sample) for sample in read}
    assert {clusters["101"], clusters["102"]} == {"1"}
    assert clusters["201"] == "2"


def test_each_version_has_its_file() -> None:
    assert [published(version)[0].name for version in ("mask", "no-mask")] == [
        "AI2D_TEST.tsv",
        "AI2D_TEST_NO_MASK.tsv",
    ]
    assert registry.benchmark("AI2D_TEST_NO_MASK").provenance.options["version"] == "no-mask"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("B", "B"),
        ("b", "B"),
        (" (B) ", "B"),
        ("B. y", "B"),
        ("b. y", None),
        ("B y", None),
        ("B) y", None),
        ("The answer is B", None),
        ("E", None),
        ("E. The answer is B", None),
        ("", None),
    ],
)
def test_lmms_eval_reads_a_letter_with_a_period_or_alone(reply: str, answer: str | None) -> None:
    # What exact_match of the filtered reply gives: lmms_eval/tasks/ai2d/utils.py#L52-L79
    scoring = ai2d().scorings["lmms-eval"]
    assert scoring.parse(Reply(text=reply), SAMPLE).answer == answer


def test_the_prompt_of_lmms_eval_has_one_line_for_each_choice() -> None:
    (message,) = ai2d(prompt="lmms-eval").prompt(SAMPLE, ())
    assert message.content == (
        "Which?\nA. x\nB. y\nC. z\nD. w\n"
        "Answer with the option's letter from the given choices directly.",
    )
