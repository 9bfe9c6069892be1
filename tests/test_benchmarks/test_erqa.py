"""ERQA: its rows in each published form, its prompts, and each rule of its scorings.

Expected letters of `lmms-eval` are those of its mcq_extract.py at the commit that the benchmark
names.
"""

import json
from pathlib import Path

import pytest

from snellen.benchmarks import erqa as file
from snellen.benchmarks.erqa import erqa
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "erqa"
END = "Please answer directly with only the letter of the correct option and nothing else."
QUESTION = Sample(id="1", question="?", choices=("Left", "Right", "Up", "Down"), target="B")


def letter(scoring: str, reply: str) -> object:
    return erqa(data=BUNDLED).scorings[scoring].parse(Reply(text=reply), QUESTION).answer


def samples(benchmark: Benchmark) -> list[Sample]:
    return [benchmark.read(row) for row in benchmark.data]


def shown(benchmark: Benchmark, sample: Sample) -> list[object]:
    content = benchmark.messages(sample)[0].content
    return ["*" if isinstance(part, Image) else part for part in content]


@pytest.mark.parametrize(
    ("reply", "official", "lmms_eval", "vlmevalkit"),
    [
        ("B", "B", "B", "B"),
        (" b ", "B", None, "B"),
        ("B.", "B", "B", None),
        (".b..", "B", None, None),
        ("(B)", None, "B", None),
        ("B. Right", None, "B", None),
        ("I considered A, but the answer is B.", None, "B", None),
        ("E", None, None, None),
        ("AB", None, "B", None),
        ("", None, None, None),
    ],
)
def test_the_authors_take_the_letter_alone_and_lmms_eval_seeks_it(
    reply: str, official: str | None, lmms_eval: str | None, vlmevalkit: str | None
) -> None:
    assert letter("official", reply) == official
    assert letter("lmms-eval", reply) == lmms_eval
    assert letter("vlmevalkit", reply) == vlmevalkit


def test_lmms_eval_never_reads_the_fifth_letter() -> None:
    # tasks/erqa/utils.py calls extract_mcq_answer(response, choices=["A", "B", "C", "D"]).
    question = Sample(id="1", question="?", choices=("1", "2", "3", "4", "5"), target="E")
    scorings = erqa(data=BUNDLED).scorings
    assert scorings["lmms-eval"].parse(Reply(text="E"), question).answer is None
    assert scorings["lmms-eval"].parse(Reply(text="E, not A."), question).answer == "A"
    assert scorings["robust"].parse(Reply(text="E"), question).answer == "E"


def test_choices_are_read_in_the_question() -> None:
    sample = samples(erqa(data=BUNDLED))[1]
    assert sample.question.endswith(f"Choices: A. Left. B. Right. C. Up. D. Down. {END}")
    assert sample.choices == ("Left", "Right", "Up", "Down")


@pytest.mark.parametrize(
    ("question", "choices"),
    [
        (f"Is vitamin C. here? Choices: A. Yes. B. No. {END}", ("Yes", "No")),
        ("Where? Choices: A. On the lower B. shelf. C. Up.", ("On the lower", "shelf", "Up")),
        ("Where? Choices: A. Left. C. Up.", ("A", "B", "C", "D")),
        ("Where is it?", ("A", "B", "C", "D")),
    ],
)
def test_a_question_in_another_form_has_the_letters_as_choices(
    question: str, choices: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "ERQA.tsv"
    path.write_text(f"index\timage\tquestion\tanswer\n0\t{'QUJD' * 20}\t{question}\tA\n")
    (sample,) = samples(erqa(data=path))
    assert sample.choices == choices


def test_pictures_are_inserted_at_their_indices() -> None:
    benchmark = erqa(data=BUNDLED)
    sample = samples(benchmark)[6]
    *parts, last = shown(benchmark, sample)
    assert parts == ["The first view is this one.", "*", " The second view is this one.", "*"]
    assert str(last).startswith(" Which cup is in both? Choices: A. ")


def test_pictures_come_first_if_their_indices_are_0_and_in_lmms_eval() -> None:
    benchmark, other = erqa(data=BUNDLED), erqa("lmms-eval", BUNDLED)
    assert shown(benchmark, samples(benchmark)[5])[:2] == ["*", "*"]
    assert shown(other, samples(other)[6])[:2] == ["*", "*"]


def test_marks_in_the_question_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "ERQA.tsv"
    images = json.dumps(["QUJD" * 20, "QUJE" * 20]).replace('"', '""')
    path.write_text(
        "index\timage\tquestion\tanswer\tcategory\n"
        f'0\t"{images}"\tFrom <image> to <image>?\tA\tPointing\n'
    )
    benchmark = erqa(data=path)
    (sample,) = samples(benchmark)
    assert shown(benchmark, sample) == ["From ", "*", " to ", "*", "?"]
    assert sample.tags == {"question_type": "Pointing", "pictures": "multiple"}


def test_parquet_has_its_indices_as_numbers(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    row = {
        "question_id": "ERQA_1",
        "question": "Here it is. Where?",
        "question_type": "Pointing",
        "answer": "A",
        "visual_indices": [11],
        "images": [{"bytes": b"GIF89a", "path": None}],
    }
    parquet.write_table(arrow.Table.from_pylist([row]), tmp_path / "test-00000-of-00001.parquet")
    benchmark = erqa(data=tmp_path)
    (sample,) = samples(benchmark)
    assert sample.id == "ERQA_1"
    assert shown(benchmark, sample) == ["Here it is.", "*", " Where?"]
