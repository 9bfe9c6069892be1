"""EmbSpatial-Bench: its rows in each format, and its prompts.

The letters that its scorings find in generated replies are in tests/parity.
"""

import json
from pathlib import Path

import pytest

from snellen.benchmarks import embspatial_bench as file
from snellen.benchmarks.embspatial_bench import Preset, embspatial_bench
from snellen.core.benchmark import Benchmark
from snellen.core.sample import Sample
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "embspatial_bench"
ROWS = json.loads((BUNDLED / "embspatial_bench.json").read_bytes())
CHOICES = (
    "The disc is left of the square.",
    "The disc is inside of the square.",
    "The disc is under the square.",
    "The disc is right of the square.",
)


def samples(benchmark: Benchmark) -> list[Sample]:
    return [benchmark.read(row) for row in benchmark.data]


def test_the_bundled_rows_are_of_every_relation_and_their_pictures_open() -> None:
    actual = samples(embspatial_bench(data=BUNDLED))
    assert {sample.tags["relation"] for sample in actual} == {
        *("above", "close", "far", "left", "right", "under")
    }
    assert {sample.tags["data_source"] for sample in actual} == {"mp3d", "ai2thor", "scannet"}
    first = actual[0]
    assert (first.id, first.choices, first.target) == ("snellen_0", CHOICES, "A")
    for sample in actual:
        (picture,) = sample.media
        assert isinstance(picture, Image)
        assert images.load(picture).width == 64


def test_a_file_with_an_object_in_a_line_is_read_alike(tmp_path: Path) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "embspatial_bench.json").write_text(lines)
    assert [sample.target for sample in samples(embspatial_bench(data=tmp_path))] == [
        sample.target for sample in samples(embspatial_bench(data=BUNDLED))
    ]


def test_vlmevalkits_sheet_has_letters_and_a_list_of_options(tmp_path: Path) -> None:
    cells = ("3", ROWS[0]["image"], "Where?", '["left", "right"]', "B", "left", "mp3d")
    columns = ("index", "image", "question", "options", "answer", "relation", "data_source")
    text = "\t".join(columns) + "\n" + "\t".join(cells) + "\n"
    (tmp_path / "EmbSpatialBench.tsv").write_text(text)
    (sample,) = samples(embspatial_bench(data=tmp_path))
    assert (sample.id, sample.choices, sample.target) == ("3", ("left", "right"), "B")


@pytest.mark.parametrize("answer", [4, -1])
def test_an_index_of_no_choice_is_refused(answer: int, tmp_path: Path) -> None:
    rows = [{**ROWS[0], "answer": answer}]
    (tmp_path / "embspatial_bench.json").write_text(json.dumps(rows))
    with pytest.raises(DataError, match=f"answer {answer} is not an index of the 4 choices"):
        samples(embspatial_bench(data=tmp_path))


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        # VLMEvalKit@e8e78f05:vlmeval/dataset/embspatialbench.py#L53-L65
        (
            "vlmevalkit",
            "Question: How are the disc and the square positioned?\nOptions:\n"
            f"A: {CHOICES[0]}\nB: {CHOICES[1]}\nC: {CHOICES[2]}\nD: {CHOICES[3]}\n"
            "Give me the answer letter directly. The best answer is:",
        ),
        # lmms-eval@75571cfe:lmms_eval/tasks/embspatial/utils.py#L44-L55
        (
            "lmms-eval",
            "Note: You only need to respond with A, B, C, D without providing any additional "
            "information.\nHow are the disc and the square positioned?\n"
            f"A) {CHOICES[0]}\nB) {CHOICES[1]}\nC) {CHOICES[2]}\nD) {CHOICES[3]}",
        ),
    ],
)
def test_the_picture_comes_first(prompt: Preset, text: str) -> None:
    benchmark = embspatial_bench(prompt=prompt, data=BUNDLED)
    (message,) = benchmark.prompt(samples(benchmark)[0], ())
    assert isinstance(message.content[0], Image)
    assert message.content[1:] == (text,)
    assert benchmark.headline == prompt
