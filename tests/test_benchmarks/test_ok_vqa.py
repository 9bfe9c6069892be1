"""OK-VQA: its files, prompts, categories of knowledge, and where its scorings differ."""

import json
from pathlib import Path

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import ok_vqa as file
from snellen.benchmarks.ok_vqa import Preset, ok_vqa
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "ok_vqa"
ASK = "Answer the question using a single word or phrase."
UNANSWERABLE = "When the provided information is insufficient, respond with 'Unanswerable'."
GAME = "Which game is played with the smaller ball?"


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def score(scoring: str, reply: str, references: list[str]) -> float | None:
    sample = Sample(id="1", question="What?", references=tuple(references))
    actual = ok_vqa(data=BUNDLED).scorings[scoring]
    return total_score(actual.score(actual.parse(Reply(text=reply), sample), sample))


def test_a_question_has_its_answers_and_its_category() -> None:
    sample = samples(ok_vqa(data=BUNDLED))["255"]
    assert sample.question == GAME
    assert sample.references == ("golf",) * 4 + ("tennis",) * 4 + ("ping pong",) * 2
    assert sample.tags == {"category": "Sports and Recreation"}


def test_the_answers_are_those_of_the_release_and_not_the_raw_ones(tmp_path: Path) -> None:
    answers = [{"answer": "surf", "raw_answer": "surfing", "answer_id": 1}] * 10
    annotation = {"question_id": 95, "question_type": "four", "answers": answers}
    row = {"image_id": 9, "question": "?", "question_id": 95}
    (tmp_path / file.QUESTIONS).write_text(json.dumps({"questions": [row]}))
    (tmp_path / file.ANNOTATIONS).write_text(json.dumps({"annotations": [annotation]}))
    (sample,) = samples(ok_vqa(data=tmp_path)).values()
    assert set(sample.references) == {"surf"}


def test_every_category_has_a_bundled_question_with_its_picture() -> None:
    values = samples(ok_vqa(data=BUNDLED)).values()
    assert {sample.tags["category"] for sample in values} == set(file.CATEGORIES.values())
    for sample in values:
        (image,) = sample.media
        assert isinstance(image, Image)
        assert images.load(image).width == 96


def test_blips_list_is_read(tmp_path: Path) -> None:
    listed = [
        {
            "question_id": 255,
            "question": GAME,
            "answer": ["golf"] * 10,
            "image": "val2014/COCO_val2014_000000000025.jpg",
        }
    ]
    (tmp_path / "okvqa_val_eval.json").write_text(json.dumps(listed))
    (sample,) = samples(ok_vqa(data=tmp_path)).values()
    assert sample.references == ("golf",) * 10
    assert sample.tags == {"category": ""}


def test_the_hubs_parquet_is_read(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra parquet")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")
    picture = (BUNDLED / "val2014/COCO_val2014_000000000025.jpg").read_bytes()
    row = {
        "question_id": "255",
        "image": {"bytes": picture, "path": None},
        "question": GAME,
        "answers": ["golf"] * 10,
        "question_type": "Sports and Recreation",
        "answer_type": "other",
    }
    again = {**row, "question_id": "256"}
    pq.write_table(pa.Table.from_pylist([row, again]), tmp_path / "val2014.parquet")
    benchmark = ok_vqa(data=tmp_path / "val2014.parquet")
    sample, other = samples(benchmark).values()
    assert sample.id == "255"
    assert sample.references == ("golf",) * 10
    assert sample.tags == {"category": "Sports and Recreation"}
    assert benchmark.cluster_by is not None
    assert benchmark.cluster_by(sample) == benchmark.cluster_by(other)  # one picture


def test_of_parquets_objects_too_the_answers_are_those_of_the_release(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra parquet")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")
    picture = (BUNDLED / "val2014/COCO_val2014_000000000025.jpg").read_bytes()
    row = {
        "question_id": 255,
        "image": {"bytes": picture, "path": None},
        "question": GAME,
        "answers": [{"answer": "surf", "raw_answer": "surfing", "answer_id": 1}] * 10,
        "question_type": "four",
        "answer_type": "other",
    }
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "validation.parquet")
    (sample,) = samples(ok_vqa(data=tmp_path / "validation.parquet")).values()
    assert sample.references == ("surf",) * 10
    assert sample.tags == {"category": "Sports and Recreation"}


def test_of_two_of_blips_lists_the_one_of_this_data_set_is_read(tmp_path: Path) -> None:
    picture = "val2014/COCO_val2014_000000000025.jpg"
    for name, number in (("vqa_val_eval.json", 7), ("okvqa_val_eval.json", 255)):
        listed = [{"question_id": number, "question": GAME, "answer": ["golf"], "image": picture}]
        (tmp_path / name).write_text(json.dumps(listed))
    assert [*samples(ok_vqa(data=tmp_path))] == ["255"]


def test_other_toolkits_names_are_known() -> None:
    assert (
        registry.benchmark("ok_vqa_val2014", data=BUNDLED).provenance.options["prompt"]
        == "lmms-eval"
    )
    assert registry.benchmark("OKVQA", data=BUNDLED).name == "ok-vqa"


@pytest.mark.parametrize(
    ("preset", "sample", "text"),
    [
        ("llava", "255", f"{GAME}\n{ASK}"),
        ("llava", "305", f"In which language is the sign?\n{ASK}"),
        ("llava", "425", f"Where do these animals go in winter?\n{ASK}"),
        ("lmms-eval", "255", f"{GAME}\n{UNANSWERABLE}\n{ASK}"),
        ("lmms-eval", "305", f"In which language is the sign?\n{UNANSWERABLE}\n{ASK}"),
        ("lmms-eval", "425", f"Where do these animals go in winter?\n{UNANSWERABLE}\n{ASK}"),
        ("blip2", "255", f"Question: {GAME.lower()} Short answer:"),
        ("blip2", "305", "Question: in which language is the sign? Short answer:"),
        ("blip2", "425", "Question: where do these animals go in winter? Short answer:"),
        ("qwen-vl", "255", f"{GAME} Answer:"),
        ("qwen-vl", "305", "In which language is the sign? Answer:"),
        ("qwen-vl", "425", "Where do these animals go in winter? Answer:"),
    ],
)
def test_a_prompt_is_the_published_text_behind_the_picture(
    preset: Preset, sample: str, text: str
) -> None:
    benchmark = ok_vqa(prompt=preset, data=BUNDLED)
    request = samples(benchmark)[sample]
    (message,) = benchmark.prompt(request, ())
    assert message.content == (*request.media, text)


@pytest.mark.parametrize(
    ("scoring", "reply", "references", "worth"),
    [
        ("official", "Golf", ["golf"] * 10, 0.0),
        ("lmms-eval", "Golf", ["golf"] * 10, 1.0),
        ("official", "joe's", ["joe's"] * 9 + ["joe s"], 1.0),
        ("official", "joe 's", ["joe's"] * 9 + ["joe s"], 0.0),
        ("lmms-eval", "joe 's", ["joe's"] * 9 + ["joe s"], 1.0),
        ("official", "It is golf.", ["golf"] * 5 + ["tennis"] * 5, 0.0),
        ("official", "Answer: golf", ["golf"] * 5 + ["tennis"] * 5, 0.0),
        # Each of ten is left out in turn: of three, 0.9.
        ("official", "golf", ["golf"] * 3 + ["tennis"] * 7, 0.9),
        ("lmms-eval", "golf", ["golf"] * 3 + ["tennis"] * 7, 0.9),
        # A full stop stays only before a digit.
        ("official", "3.", ["3"] * 9 + ["4"], 1.0),
        ("robust", "Answer: golf", ["golf"] * 5 + ["tennis"] * 5, 1.0),
    ],
)
def test_scorings_differ_as_their_code_does(
    scoring: str, reply: str, references: list[str], worth: float
) -> None:
    assert score(scoring, reply, references) == worth


def test_figures_are_broken_down_by_category(tmp_path: Path) -> None:
    entries = [
        {"question_id": int(name), "answer": "stop"} for name in samples(ok_vqa(data=BUNDLED))
    ]
    results = tmp_path / "results.json"
    results.write_text(json.dumps(entries))
    metrics = snellen.score(results, "ok-vqa", data=BUNDLED).report.scorings["official"].metrics
    assert metrics["accuracy"].value == pytest.approx(1 / 11)
    assert metrics["accuracy/People and Everyday life"].value == 1.0
    assert metrics["accuracy/Sports and Recreation"].value == 0.0
    assert len(metrics) == 12


def test_a_question_that_a_file_lacks_is_wrong_under_the_authors_rule(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    results.write_text(json.dumps([{"question_id": 305, "answer": "english"}]))
    metrics = snellen.score(results, "ok-vqa", data=BUNDLED).report.scorings["official"].metrics
    assert metrics["accuracy"].value == pytest.approx(1 / 11)
    assert metrics["accuracy"].n == 11


def test_under_lmms_evals_rule_such_a_question_is_in_no_mean(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    results.write_text(json.dumps([{"question_id": 305, "answer": "english"}]))
    metrics = snellen.score(results, "ok-vqa", data=BUNDLED).report.scorings["lmms-eval"].metrics
    assert (metrics["accuracy"].value, metrics["accuracy"].n) == (1.0, 1)
