"""MMStar's two layouts, its prompts, and the quirks of its rule."""

from pathlib import Path

import pytest

from snellen.benchmarks.mmstar import Preset, mmstar
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample

BUNDLED = Path(mmstar.__code__.co_filename).parent / "rows" / "mmstar"
PICTURE = "A" * 80
QUESTION = "Which animal is shown?\nOptions: A: a cat, B: a dog, brown, C: a cow"


def samples(folder: Path, *rows: tuple[str, ...]) -> tuple[Benchmark, list[Sample]]:
    lines = ["\t".join(row) for row in rows]
    (folder / "MMStar.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    benchmark = mmstar(data=folder / "MMStar.tsv")
    return benchmark, [benchmark.sample(row.position, row) for row in benchmark.data]


HEADER = ("index", "question", "image", "answer", "category", "l2_category")


def test_the_authors_choices_are_read_out_of_the_question(tmp_path: Path) -> None:
    row = ("0", f'"{QUESTION}"', PICTURE, "B", "math", "geometry")
    _, (sample,) = samples(tmp_path, HEADER, row)
    assert sample.question == "Which animal is shown?"
    assert sample.choices == ("a cat", "a dog, brown", "a cow")
    assert (sample.target, sample.tags) == ("B", {"category": "math", "l2_category": "geometry"})


def test_choices_in_parentheses_are_read_too(tmp_path: Path) -> None:
    text = "Hint: Answer.\nQuestion: What is x?\nChoices:\n(A) 1\n(B) 2"
    row = ("0", f'"{text}"', PICTURE, "B", "math", "geometry")
    _, (sample,) = samples(tmp_path, HEADER, row)
    assert sample.choices == ("1", "2")


def test_a_question_without_choices_in_it_is_answered_with_a_letter(tmp_path: Path) -> None:
    row = ("0", "What is x?", PICTURE, "D", "math", "geometry")
    _, (sample,) = samples(tmp_path, HEADER, row)
    assert (sample.choices, sample.target) == (("A", "B", "C", "D"), "D")


def test_a_right_letter_without_a_readable_choice_is_kept(tmp_path: Path) -> None:
    row = ("0", f'"{QUESTION}"', PICTURE, "E", "math", "geometry")
    _, (sample,) = samples(tmp_path, HEADER, row)
    assert (sample.question, sample.choices, sample.target) == (QUESTION, tuple("ABCDE"), "E")


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("official", f"{QUESTION}\nAnswer the question directly."),
        (
            "lmms-eval",
            f"{QUESTION}\nAnswer with the option's letter from the given choices directly",
        ),
        (
            "vlmevalkit",
            "Question: Which animal is shown?\nOptions:\nA. a cat\nB. a dog, brown\nC. a cow\n"
            "Please select the correct answer from the options above. \n",
        ),
    ],
)
def test_prompts_are_the_same_for_both_layouts(prompt: Preset, text: str, tmp_path: Path) -> None:
    authors = (HEADER, ("0", f'"{QUESTION}"', PICTURE, "B", "math", "geometry"))
    columns = ("index", "question", "A", "B", "C", "image", "answer")
    kits = ("0", "Which animal is shown?", "a cat", "a dog, brown", "a cow", PICTURE, "B")
    for rows in (authors, (columns, kits)):
        _, (sample,) = samples(tmp_path, *rows)
        (message,) = mmstar(prompt).prompt(sample, ())
        assert message.content[1:] == (text,)


def test_the_scoring_of_the_prompt_is_the_headline() -> None:
    assert [mmstar(prompt).headline for prompt in ("official", "vlmevalkit", "lmms-eval")] == [
        "official",
        "vlmevalkit",
        "lmms-eval",
    ]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("A dog is shown", "A"),
        ("(b)", "B"),
        ("Option C", "C"),
        ("Answer: B", "A"),
        ("It is B", None),
    ],
)
def test_the_official_rule_reads_the_reply_from_its_beginning(
    reply: str, answer: str | None
) -> None:
    sample = Sample(id="0", question="Which?", choices=("a", "b", "c", "d"), target="A")
    scoring = mmstar().scorings["official"]
    assert scoring.parse(Reply(text=reply), sample).answer == answer


def test_the_bundled_rows_are_of_the_authors_axes() -> None:
    benchmark = mmstar(data=BUNDLED)
    assert benchmark.presentation.capabilities is not None
    leaves = benchmark.presentation.capabilities.leaves
    bundled = [benchmark.sample(row.position, row) for row in benchmark.data]
    assert all(sample.tags["l2_category"] in leaves for sample in bundled)
