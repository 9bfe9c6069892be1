"""MME-RealWorld: its rows in each published form, its prompts, and each rule of its scorings.

Expected letters are those of the authors' eval_your_results.py, lmms-eval's utils.py, and
VLMEvalKit's image_mcq.py at the commits that the benchmark names.
"""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks import mme_realworld as file
from snellen.benchmarks.mme_realworld import Preset, Version, mme_realworld
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "mme_realworld"
OPTIONS = ("none of the above", "Yes", "red car", "left", "The image does not feature the object.")
HEADS = ["(A) ", "(B) ", "(C) ", "(D) ", "(E) "]
QUESTION = Sample(id="1", question="?", choices=OPTIONS, target="A", data={"heads": HEADS})


def letter(scoring: str, reply: str) -> object:
    return mme_realworld(data=BUNDLED).scorings[scoring].parse(Reply(text=reply), QUESTION).answer


def samples(data: Path, version: Version = "en") -> list[Sample]:
    benchmark = mme_realworld(version, data=data)
    return [benchmark.read(row) for row in benchmark.data]


# -- scoring


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Both C and D", "B"),
        ("Answer: C", "A"),
        ("The best answer is C", "C"),
        ("Best answer: C", "B"),
        ("Best option: C", "B"),
        ("The best option is c", None),
        ("选A。", "A"),
        ("none of the above", "A"),
        ("car", "C"),
        ("Red caR", "C"),
        ("b", "A"),  # it is in "none of the above"
        ("", "A"),
        (" \n", "A"),
        ("(", "A"),
        ("purple", None),
        ("in this picture there is no way to see what it is", None),
    ],
)
def test_the_authors_take_the_first_capital_letter_or_the_first_choice_with_the_reply(
    reply: str, answer: str | None
) -> None:
    assert letter("official", reply) == answer


def test_a_long_reply_without_a_letter_is_not_sought_in_the_choices() -> None:
    long = "one two three four five six seven eight nine ten eleven"
    sample = Sample(id="1", question="?", choices=(long,), target="A", data={"heads": ["(A) "]})
    parse = mme_realworld(data=BUNDLED).scorings["official"].parse
    assert parse(Reply(text=long), sample).answer is None
    assert parse(Reply(text=long.removesuffix(" eleven")), sample).answer == "A"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("Best answer: C", "C"), ("The best option is D", "D"), ("red car", None), ("", "A")],
)
def test_lmms_eval_has_the_commas_and_no_texts_of_the_choices(
    reply: str, answer: str | None
) -> None:
    assert letter("lmms-eval", reply) == letter("vlmevalkit", reply) == answer


def test_vlmevalkit_reads_the_text_between_answer_tags() -> None:
    reply = "<think>Could be B.</think><answer> d </answer>"
    assert letter("vlmevalkit", reply) == "D"
    assert letter("lmms-eval", reply) == "C"  # of "Could"


def test_the_report_counts_replies_that_are_read_as_e(tmp_path: Path) -> None:
    rows = json.loads((BUNDLED / "MME_RealWorld.json").read_text())
    path = tmp_path / "results.json"
    path.write_text(json.dumps([{**row, "Output": "E"} for row in rows]))
    scored = snellen.score(path, mme_realworld(data=BUNDLED)).report.scorings["official"]
    assert scored.metrics["e_share"].value == 1
    assert scored.metrics["accuracy"].value == pytest.approx(1 / 12)
    assert scored.metrics["accuracy/Reasoning"].value == pytest.approx(1 / 4)
    assert scored.metrics["e_share/Perception/Monitoring"].n == 1


def test_categories_with_attributes_are_joined() -> None:
    tags = {sample.tags["category"] for sample in samples(BUNDLED)}
    assert "Perception/Monitoring/vehicle/attribute" in tags
    assert "Reasoning/Autonomous_Driving/intention/ego" in tags


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"Question_id": "1", "Output": "A"}] * 2, "second row of 1"),
        ([{"Question_id": "1", "Output": ["A"]}], "type list as Output. It must be text"),
    ],
)
def test_results_that_cannot_be_scored_say_so(
    rows: list[dict[str, Any]], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(DataError, match=message):
        snellen.score(path, mme_realworld(data=BUNDLED))


# -- data and prompts


def text_of(version: Version, prompt: Preset) -> str:
    benchmark = mme_realworld(version, prompt, BUNDLED)
    first = benchmark.read(next(iter(benchmark.data)))
    image, text = benchmark.messages(first)[0].content
    assert isinstance(image, Image) and isinstance(text, str)
    return text


ENGLISH = (
    "Which word is at the top left? The choices are listed below:\n(A) STOP\n(B) GO\n(C) WAIT\n"
    "(D) SLOW\n(E) The image does not feature this.\nSelect the best answer to the above "
    "multiple-choice question based on the image. Respond with only the letter (A, B, C, D, or E) "
    "of the correct option."
)
IN_CHINESE = (
    "左上角是什么词？ 选项如下所示:\n(A) STOP\n(B) GO\n(C) WAIT\n(D) SLOW\n(E) 图中没有。\n"
    "根据图像选择上述多项选择题的最佳答案。"
    "只需回答正确选项的字母（A, B, C, D 或 E）。\n最佳答案为："
)


@pytest.mark.parametrize(
    ("version", "prompt", "text"),
    [
        ("en", "official", f"{ENGLISH} \nThe best answer is:"),
        ("lite", "lmms-eval", f"{ENGLISH}\nThe best answer is: "),
        ("cn", "official", IN_CHINESE),
        ("cn", "lmms-eval", f"{IN_CHINESE} "),
    ],
)
def test_the_prompts_are_those_of_the_authors_and_of_lmms_eval(
    version: Version, prompt: Preset, text: str
) -> None:
    assert text_of(version, prompt) == text


KIT = {"index": "7", "question": "Q?", "answer": "B", "category": "Perception/Monitoring"}


@pytest.mark.parametrize(
    "cell", ["The choices are listed below:\n(A) x\n（B） y", "['(A) x', '（B） y']"]
)
def test_vlmevalkits_rows_have_the_choices_in_a_cell(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "MME-RealWorld.tsv"
    picture = base64.b64encode(bytes(range(60))).decode()
    cells = {**KIT, "image": picture, "multi-choice options": cell, "l2-category": "Vehicle/color"}
    quoted = [f'"{value}"' for value in cells.values()]
    path.write_text("\t".join(cells) + "\n" + "\t".join(quoted) + "\n", encoding="utf-8")
    (sample,) = samples(path)
    assert (sample.id, sample.choices, sample.target) == ("7", ("x", "y"), "B")
    assert sample.data["heads"] == ["(A) ", "（B） "]
    assert sample.tags["category"] == "Perception/Monitoring/vehicle/color"


def test_parquet_for_lmms_eval_has_its_pictures_as_base64(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    options = {"multi-choice options": ["(A) x", "(B) y"], "l2-category": "count"}
    row = {**KIT, **options, "bytes": base64.b64encode(b"GIF89a" + bytes(60)).decode()}
    path = tmp_path / "train-00000-of-00001.parquet"
    parquet.write_table(arrow.Table.from_pylist([row]), path)
    (sample,) = samples(path)
    assert isinstance(sample.media[0], Image)
    assert sample.choices == ("x", "y")


def test_the_pictures_of_the_lite_version_are_where_its_archive_has_them(tmp_path: Path) -> None:
    (tmp_path / "data/imgs").mkdir(parents=True)
    content = (BUNDLED / "MME-RealWorld-Lite.json").read_bytes()
    (tmp_path / "data/MME-RealWorld-Lite.json").write_bytes(content)
    picture = tmp_path / "data/imgs/signs.png"
    picture.write_bytes((BUNDLED / "signs.png").read_bytes())
    image = samples(tmp_path, "lite")[0].media[0]
    assert isinstance(image, Image)
    assert image.source == picture


def test_a_file_in_another_format_is_an_error_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "MME_RealWorld.json"
    path.write_text('[{"Question_id": "1"}]')
    with pytest.raises(DataError, match="not in the format that the data set's authors publish"):
        samples(path)
