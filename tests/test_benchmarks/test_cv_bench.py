"""CV-Bench's parts and files, its prompts, and how its accuracy weighs the sources."""

from pathlib import Path

import pytest

from snellen.benchmarks.cv_bench import Part, cv_bench
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError

BUNDLED = Path(cv_bench.__code__.co_filename).parent / "rows" / "cv_bench"
HEADER = "index\tquestion\tprompt\tA\tB\tanswer\timage\tsplit\tsource\n"


def ids(part: Part, data: Path) -> list[str]:
    benchmark = cv_bench(part, data=data)
    return [benchmark.sample(row.position, row).id for row in benchmark.data]


def test_both_parts_are_asked_together_with_ids_of_their_own() -> None:
    assert ids("2d", BUNDLED) == ["0", "1", "2", "3", "4"]
    assert ids("all", BUNDLED) == [
        *(f"2D-{n}" for n in range(5)),
        *(f"3D-{n}" for n in range(5, 10)),
    ]


def test_a_file_is_read_alone() -> None:
    assert ids("all", BUNDLED / "test_3d.jsonl") == ["5", "6", "7", "8", "9"]


def test_a_missing_part_is_an_error_that_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "test_2d.jsonl").write_bytes((BUNDLED / "test_2d.jsonl").read_bytes())
    with pytest.raises(DataError, match=r"no test_3d.jsonl.*data get cv-bench:part=3d"):
        ids("all", tmp_path)


def test_a_sheet_has_choices_in_columns(tmp_path: Path) -> None:
    row = f"3\tWhere?\tWhere? (A) left (B) right\tleft\tright\tB\t{'A' * 80}\t2D\tCOCO\n"
    (tmp_path / "CV-Bench-2D.tsv").write_text(HEADER + row, encoding="utf-8")
    benchmark = cv_bench("2d", "vlmevalkit", tmp_path)
    sample = benchmark.sample(0, next(iter(benchmark.data)))
    assert (sample.id, sample.choices, sample.target) == ("3", ("left", "right"), "B")
    assert sample.tags == {"task": "", "source": "COCO", "type": "2D"}
    (message,) = benchmark.prompt(sample, ())
    assert message.content[1:] == ("Where? (A) left (B) right",)


def test_lmms_eval_names_the_letters_before_the_question() -> None:
    benchmark = cv_bench("3d", "lmms-eval", BUNDLED)
    sample = benchmark.sample(0, next(iter(benchmark.data)))
    (message,) = benchmark.prompt(sample, ())
    assert message.content[1:] == (
        "Note: You only need to respond with A, B without providing any additional information.\n\n"
        "Which disc is closer to the camera? Select from the following choices.\n(A) red\n"
        "(B) green",
    )


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("(B) right", "B"), ("because", "B"), ("Answer: B", "A"), ("1. B", None), ("Zebra", None)],
)
def test_lmms_eval_reads_the_first_letter_of_the_reply(reply: str, answer: str | None) -> None:
    sample = Sample(id="0", question="Where?", choices=("left", "right"), target="B")
    scoring = cv_bench().scorings["lmms-eval"]
    assert scoring.parse(Reply(text=reply), sample).answer == answer
