"""OCR-VQA: covers in every form, prompts, and each scoring's rule."""

import json
from pathlib import Path
from typing import Any

import pytest

from snellen.benchmarks import ocr_vqa as file
from snellen.benchmarks.ocr_vqa import Preset, Split, ocr_vqa
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image
from snellen.scoring import score_predictions

BUNDLED = Path(file.__file__).parent / "rows" / "ocr_vqa"
COVER: dict[str, Any] = {
    "imageURL": "https://example.org/I/61Y.jpg",
    "questions": ["Who wrote this book?", "Is this book related to Travel?"],
    "answers": ["Jane Doe", "No"],
    "title": "Invented Title",
    "authorName": "Jane Doe",
    "genre": "Cookbooks",
    "split": 3,
}


def written(folder: Path, name: str = "dataset.json", **covers: dict[str, Any]) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(covers or {"0761183272": COVER}), encoding="utf-8")
    return folder


def samples(benchmark: Benchmark) -> list[Sample]:
    return [benchmark.sample(row.position, row) for row in benchmark.data]


def worth(scoring: str, reply: str, right: str, folder: Path) -> float | None:
    cover = {**COVER, "questions": ["?"], "answers": [right]}
    benchmark = ocr_vqa(data=written(folder, c1=cover))
    (sample,) = samples(benchmark)
    actual = benchmark.scorings[scoring]
    return total_score(actual.score(actual.parse(Reply(text=reply), sample), sample))


# -- rows


def test_a_cover_has_a_sample_for_each_question(tmp_path: Path) -> None:
    first, second = samples(ocr_vqa(data=written(tmp_path)))
    assert (first.id, first.question, first.target) == (
        "0761183272_0",
        "Who wrote this book?",
        "Jane Doe",
    )
    assert (second.id, second.target) == ("0761183272_1", "No")
    assert first.tags == second.tags == {"genre": "Cookbooks"}
    assert first.media == second.media


@pytest.mark.parametrize(("split", "n"), [("test", 16), ("val", 3)])
def test_a_split_is_the_covers_of_its_number(split: Split, n: int) -> None:
    assert len(samples(ocr_vqa(split=split, data=BUNDLED))) == n


def test_each_bundled_cover_opens() -> None:
    for sample in [*samples(ocr_vqa(data=BUNDLED)), *samples(ocr_vqa("testcore", data=BUNDLED))]:
        (picture,) = sample.media
        assert isinstance(picture, Image)
        assert (images.load(picture).width, images.load(picture).height) == (96, 128)


@pytest.mark.parametrize("split", ["test", "testcore"])
def test_questions_about_one_cover_are_a_cluster(split: Split) -> None:
    benchmark = ocr_vqa(split=split, data=BUNDLED)
    assert benchmark.cluster_by is not None
    assert len({benchmark.cluster_by(sample) for sample in samples(benchmark)}) == 4


@pytest.mark.parametrize(
    ("address", "name", "key"),
    [
        ("https://example.org/I/61Y.jpg", "images/c1.jpg", "images/c1.jpg"),
        ("https://example.org/I/61Y.gif", "images/c1.gif", "images/c1.gif"),
        ("https://example.org/I/61Y.gif", "images/c1.jpg", "images/c1.jpg"),
        ("https://example.org/I/61Y.png", "c1.png", "c1.png"),
        ("", "c1.jpg", "c1.jpg"),
    ],
)
def test_a_cover_is_found_by_its_id_and_its_address_ending(
    tmp_path: Path, address: str, name: str, key: str
) -> None:
    """The site's loader keeps the ending; others have all covers as JPEG."""
    written(tmp_path, c1={**COVER, "imageURL": address})
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"")
    picture = samples(ocr_vqa(data=tmp_path))[0].media[0]
    assert isinstance(picture, Image)
    assert picture.source == tmp_path / key


@pytest.mark.parametrize("name", ["dataset.json", "annotations/dataset.json"])
def test_the_file_is_found_where_it_is_usually_put(tmp_path: Path, name: str) -> None:
    assert len(samples(ocr_vqa(data=written(tmp_path, name)))) == 2


def test_an_answer_that_looks_like_a_list_is_a_title(tmp_path: Path) -> None:
    cover = {**COVER, "questions": ["What is the title of this book?"], "answers": ["[1984]"]}
    (sample,) = samples(ocr_vqa(data=written(tmp_path, c1=cover)))
    assert (sample.target, sample.references) == ("[1984]", ())


def test_vlmevalkits_sheet_has_its_covers_in_the_rows() -> None:
    first, second, *_ = samples(ocr_vqa(split="testcore", data=BUNDLED))
    assert (first.id, first.target, first.tags) == ("0", "Ada Stone", {"genre": "Travel"})
    assert (second.id, second.question) == ("1", "What is the title of this book?")


def test_a_sheets_cell_that_is_a_list_is_several_answers(tmp_path: Path) -> None:
    (tmp_path / "OCRVQA_TESTCORE.tsv").write_text(
        f"index\timage\tquestion\tanswer\n3\t{'AAAA' * 30}\tWho?\t['Jane Doe', 'J. Doe']\n"
    )
    benchmark = ocr_vqa(split="testcore", data=tmp_path)
    (sample,) = samples(benchmark)
    assert (sample.target, sample.references) == (None, ("Jane Doe", "J. Doe"))
    for scoring in benchmark.scorings.values():
        scores = [
            scoring.score(scoring.parse(Reply(text=text), sample), sample)
            for text in ("Jane Doe", "J. Doe", "Doe")
        ]
        assert scores == [1.0, 1.0, 0.0]


def test_parquet_has_a_row_for_each_cover(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    cell = {"bytes": (BUNDLED / "images/0000000017.jpg").read_bytes(), "path": None}
    row = {"image": cell, "image_id": "0761183272", "set_name": "test"}
    row |= {key: COVER[key] for key in ("questions", "answers", "genre", "title")}
    parquet.write_table(
        arrow.Table.from_pylist([row, {**row, "image_id": "2"}]),
        tmp_path / "test-00000-of-00001-45d65f5057dd1a9e.parquet",
    )
    benchmark = ocr_vqa(data=tmp_path)
    actual = samples(benchmark)
    assert [sample.id for sample in actual] == ["0761183272_0", "0761183272_1", "2_0", "2_1"]
    assert benchmark.data.facts().rows == 4
    assert len({row.digest for row in benchmark.data}) == 4
    (picture,) = actual[0].media
    assert isinstance(picture, Image)
    assert images.load(picture).width == 96


def test_a_cover_with_fewer_answers_than_questions_is_said(tmp_path: Path) -> None:
    data = written(tmp_path, c1={**COVER, "answers": ["Jane Doe"]})
    with pytest.raises(DataError, match="cover c1 has 2 questions but 1 answers"):
        samples(ocr_vqa(data=data))


def test_another_object_is_said_not_to_be_the_authors(tmp_path: Path) -> None:
    data = written(tmp_path, c1={"questions": []})
    with pytest.raises(DataError, match="not in the format that the data set's authors publish"):
        samples(ocr_vqa(data=data))


def test_nothing_is_opened_before_the_first_row(tmp_path: Path) -> None:
    benchmark = ocr_vqa(data=tmp_path / "absent")
    with pytest.raises(DataError, match=r"dataset\.json or OCRVQA_TEST\.tsv"):
        next(iter(benchmark.data))


# -- prompts

SHORT = "\nAnswer the question using a single word or phrase."


@pytest.mark.parametrize(
    ("preset", "number", "text"),
    [
        # haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:docs/Evaluation.md#L13-L18
        ("llava", 0, f"Who wrote this book?{SHORT}"),
        ("llava", 1, f"What is the title of this book?{SHORT}"),
        ("llava", 3, f"Is this a sci-fi book?{SHORT}"),
        # open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:
        # vlmeval/dataset/image_vqa.py#L64-L69
        ("vlmevalkit", 0, f"Who wrote this book?{SHORT}"),
        ("vlmevalkit", 1, f"What is the title of this book?{SHORT}"),
        ("vlmevalkit", 3, f"Is this a sci-fi book?{SHORT}"),
        # QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:eval_mm/evaluate_vqa.py#L281
        ("qwen-vl", 0, "Who wrote this book? Answer:"),
        ("qwen-vl", 1, "What is the title of this book? Answer:"),
        ("qwen-vl", 3, "Is this a sci-fi book? Answer:"),
    ],
)
def test_a_prompt_is_the_cover_and_then_its_sources_words(
    preset: Preset, number: int, text: str
) -> None:
    benchmark = ocr_vqa(prompt=preset, data=BUNDLED)
    sample = samples(benchmark)[number]
    (message,) = benchmark.prompt(sample, ())
    assert message.role == "user"
    assert message.content == (*sample.media, text)


@pytest.mark.parametrize(
    ("preset", "headline"),
    [("llava", "official"), ("vlmevalkit", "vlmevalkit"), ("qwen-vl", "vlmevalkit")],
)
def test_the_headline_belongs_to_the_prompt(preset: Preset, headline: str) -> None:
    assert ocr_vqa(prompt=preset, data=BUNDLED).headline == headline


# -- scoring


@pytest.mark.parametrize(
    ("reply", "by"),
    [
        ("The Red Tent", {"official", "vlmevalkit", "robust"}),
        ("the red tent", {"vlmevalkit", "robust"}),
        (" The Red Tent\n", {"vlmevalkit", "robust"}),
        ("The Red Tent.", {"robust"}),
        ('The title is "The Red Tent".', set()),
        ('The answer is "The Red Tent".', {"robust"}),
        ("Red Tent", {"robust"}),
        ("Red Tents", set()),
        ("", set()),
    ],
)
def test_each_scoring_compares_in_its_own_way(tmp_path: Path, reply: str, by: set[str]) -> None:
    actual = {
        name
        for name in ("official", "vlmevalkit", "robust")
        if worth(name, reply, "The Red Tent", tmp_path)
    }
    assert actual == by


def test_capitals_and_blanks_of_the_answer_count_for_vlmevalkit_as_little(tmp_path: Path) -> None:
    assert worth("vlmevalkit", "stars at noon", " STARS at Noon ", tmp_path) == 1.0
    assert worth("official", "stars at noon", " STARS at Noon ", tmp_path) == 0.0
    # Small letters, which "\u00df" is; not folded.
    assert worth("vlmevalkit", "STRASSE", "stra\u00dfe", tmp_path) == 0.0
    assert worth("official", "Stars", " Stars", tmp_path) == 0.0
    assert worth("official", "Stars", "STARS", tmp_path) == 0.0


def test_a_question_without_a_reply_is_wrong(tmp_path: Path) -> None:
    report = score_predictions(
        ocr_vqa(data=written(tmp_path)), {"0761183272_1": "No"}, where="here"
    )
    for scoring in report.scorings.values():
        metric = scoring.metrics["accuracy"]
        assert (metric.value, metric.n) == (0.5, 2)


def test_figures_are_broken_down_by_genre() -> None:
    benchmark = ocr_vqa(data=BUNDLED)
    replies = {sample.id: sample.target or "" for sample in samples(benchmark)}
    replies["0000000017_0"] = "nobody"
    metrics = score_predictions(benchmark, replies, where="here").scorings["official"].metrics
    assert metrics["accuracy"].value == pytest.approx(15 / 16)
    assert metrics["accuracy/Travel"].value == pytest.approx(3 / 4)
    assert metrics["accuracy/Science & Math"].value == 1.0


# -- published files


@pytest.mark.parametrize(
    ("split", "name", "md5"),
    [
        ("test", "OCRVQA_TEST.tsv", "ca46a6d74b403e9d6c0b670f6fc00db9"),
        ("testcore", "OCRVQA_TESTCORE.tsv", "c5239fe77db8bdc1f2ad8e55e0d1fe97"),
    ],
)
def test_the_published_file_is_vlmevalkits_sheet(split: Split, name: str, md5: str) -> None:
    (sheet,) = file.published(split)
    assert (sheet.name, sheet.md5) == (name, md5)
    assert sheet.url == f"https://opencompass.openxlab.space/utils/VLMEval/{name}"


@pytest.mark.parametrize("split", ["val", "train"])
def test_other_splits_are_in_the_authors_file_alone(split: Split) -> None:
    assert file.published(split) == ()
