"""MMSI-Bench: its rows, prompts, and the letters that its scorings find.

Expected letters follow the authors' mmsi_bench.py; generated replies are in tests/parity.
"""

from pathlib import Path

import pytest

from snellen.benchmarks import mmsi_bench as file
from snellen.benchmarks.mmsi_bench import Preset, category_of, mmsi_bench
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "mmsi_bench"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgABSK+kcQAAAABJRU5ErkJg"
ASK = (
    "Answer with the option's letter from the given choices directly. Enclose the option's letter "
    "within ``."
)


def samples(benchmark: Benchmark) -> list[Sample]:
    return [benchmark.read(row) for row in benchmark.data]


def sheet(folder: Path, question: str, answer: str = "A", **cells: str) -> Path:
    """Write a sheet of a single row."""
    row = {"index": "7", "image": PIXEL, "question": f'"{question}"', "answer": answer, **cells}
    row.setdefault("category", "MSR")
    text = "\t".join(row) + "\n" + "\t".join(row.values()) + "\n"
    (folder / "MMSI_bench.tsv").write_text(text)
    return folder


def read(reply: str, scoring: str) -> object:
    sample = Sample(id="1", question="Where?", choices=("left", "right", "up", "down"))
    return mmsi_bench().scorings[scoring].parse(Reply(text=reply), sample).answer


def test_the_bundled_rows_have_their_pictures_choices_and_categories() -> None:
    actual = samples(mmsi_bench(data=BUNDLED))
    assert {len(sample.media) for sample in actual} == {2, 3}
    assert actual[2].choices == ("9", "12", "17", "21")
    assert (actual[2].question, actual[2].target) == (
        "How many dots do both images have together?",
        "C",
    )
    assert {sample.tags["category"] for sample in actual} <= set(file.LEAVES)
    for sample in actual:
        for picture in sample.media:
            assert isinstance(picture, Image)
            assert images.load(picture).width == 64


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Positional Relationship (Cam.\u2013Reg.)", "Pos-Cam-Reg"),
        ("Positional Relationship (Obj.-Obj.)", "Pos-Obj-Obj"),
        ("Pos-Reg-Reg", "Pos-Reg-Reg"),
        ("Attribute (Meas.)", "Attr-Meas"),
        ("Motion (Cam.)", "Motion-Cam"),
        ("MSR", "MSR"),
    ],
)
def test_the_files_spellings_of_a_category_are_the_same(text: str, name: str) -> None:
    assert category_of(text) == name
    assert name in file.LEAVES


@pytest.mark.parametrize(
    ("listed", "choices"),
    [
        ("A: one, B: two, C: three, D: four", ("one", "two", "three", "four")),
        ("A:one B: two, or so C:three D: four\n", ("one", "two, or so", "three", "four")),
        ("A: one, C: three", ("A", "B", "C", "D")),
        ("see the image", ("A", "B", "C", "D")),
    ],
)
def test_choices_are_split_off_the_question(
    listed: str, choices: tuple[str, ...], tmp_path: Path
) -> None:
    (sample,) = samples(mmsi_bench(data=sheet(tmp_path, f"Which?\nOptions: {listed}")))
    assert (sample.question, sample.choices) == ("Which?", choices)


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("official", f" Which?\nOptions: A: one, B: two\n\n{ASK}"),
        ("vlmevalkit", f" Which?\nOptions: A: one, B: two\n\n{ASK}"),
        ("lmms-eval", f"Which?\nOptions: A: one, B: two\n{ASK}"),
    ],
)
def test_the_question_is_sent_with_its_choices_and_only_lmms_eval_strips_it(
    prompt: Preset, text: str, tmp_path: Path
) -> None:
    data = sheet(tmp_path, " Which?\nOptions: A: one, B: two\n")
    benchmark = mmsi_bench(prompt=prompt, data=data)
    (message,) = benchmark.prompt(samples(benchmark)[0], ())
    assert isinstance(message.content[0], Image)
    assert message.content[1] == text
    assert benchmark.headline == prompt


def test_choices_in_columns_are_each_followed_by_a_comma(tmp_path: Path) -> None:
    # VLMEvalKit@e8e78f05:vlmeval/dataset/mmsibench.py#L72-L91
    benchmark = mmsi_bench(data=sheet(tmp_path, "Which?", A="one", B="two"))
    (sample,) = samples(benchmark)
    (message,) = benchmark.prompt(sample, ())
    assert sample.choices == ("one", "two")
    assert message.content[1] == f"Which?\nOptions: A: one, B: two, \n{ASK}"


def test_an_answer_that_is_no_choice_is_refused(tmp_path: Path) -> None:
    data = sheet(tmp_path, "Which?\nOptions: A: one, B: two", answer="C")
    with pytest.raises(DataError, match="answer 'C' is not one of the letters A, B"):
        samples(mmsi_bench(data=data))


@pytest.mark.parametrize(
    ("reply", "official", "lmms"),
    [
        ("``B``", "B", "B"),
        ("A or `C`", "C", "C"),
        ("``see `D` ``", None, None),  # the first quotes are empty
        ("A bike, so B.", "B", "B"),
        ("A B C D", "D", "D"),
        ("``the left one``, A", None, None),
        ("b", None, "B"),
        ("{C} or A", "C", "C"),
        ("A. {C}", "A", "C"),
        ("E", None, "E"),
        ("", None, None),
    ],
)
def test_letters_are_looked_for_in_quotes_first(
    reply: str, official: str | None, lmms: str | None
) -> None:
    assert (read(reply, "official"), read(reply, "lmms-eval")) == (official, lmms)
