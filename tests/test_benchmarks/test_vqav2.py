"""VQAv2: its files in the forms that they come in, prompts, break-downs, submission, scorings."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import vqav2 as file
from snellen.benchmarks.vqav2 import Preset, Split, vqav2
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "vqav2"
QUESTIONS = "v2_OpenEnded_mscoco_val2014_questions.json"
ANNOTATIONS = "v2_mscoco_val2014_annotations.json"
ASK = "Answer the question using a single word or phrase."


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def scored(scoring: str, reply: str, *references: str) -> tuple[object, float | None]:
    sample = Sample(id="1", question="What?", references=references)
    actual = vqav2(data=BUNDLED).scorings[scoring]
    reading = actual.parse(Reply(text=reply), sample)
    return reading.answer, total_score(actual.score(reading, sample))


# -- data


def test_a_question_has_the_ten_answers_of_the_other_file() -> None:
    sample = samples(vqav2(data=BUNDLED))["25000"]
    assert sample.question == "How many balls are there?"
    assert sample.references == ("2",) * 6 + ("two",) * 3 + ("3",)
    assert sample.tags == {"answer_type": "number", "question_type": "how many"}
    assert not sample.hidden


@pytest.mark.parametrize(("split", "ids"), [("test-dev", 2), ("test", 3)])
def test_test_sets_have_no_answers(split: Split, ids: int) -> None:
    actual = samples(vqav2(split, data=BUNDLED))
    assert len(actual) == ids
    assert all(sample.hidden for sample in actual.values())


@pytest.mark.parametrize(("split", "count"), [("val", 5), ("test-dev", 1)])
def test_pictures_are_cocos_and_questions_about_one_share_a_cluster(
    split: Split, count: int
) -> None:
    benchmark = vqav2(split, data=BUNDLED)
    assert benchmark.cluster_by is not None
    values = samples(benchmark).values()
    assert len({benchmark.cluster_by(sample) for sample in values}) == count
    for sample in values:
        (image,) = sample.media
        assert isinstance(image, Image)
        assert images.load(image).width == 96


@pytest.mark.parametrize("inside", ["", "Images/mscoco/", "images/"])
@pytest.mark.parametrize("apart", [True, False])
def test_the_authors_folders_are_found_in_their_layouts(
    tmp_path: Path, inside: str, apart: bool
) -> None:
    questions, annotations = ("Questions", "Annotations") if apart else ("", "")
    for folder in (questions, annotations, inside):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    shutil.copy(BUNDLED / QUESTIONS, tmp_path / questions)
    shutil.copy(BUNDLED / ANNOTATIONS, tmp_path / annotations)
    shutil.copytree(BUNDLED / "val2014", tmp_path / inside / "val2014")
    actual = samples(vqav2(data=tmp_path))
    assert len(actual) == 12
    for sample in actual.values():
        (image,) = sample.media
        assert isinstance(image, Image)
        assert images.load(image).width == 96


@pytest.mark.parametrize("field", ["answer", "gt_answers"])
def test_blips_list_is_the_same_questions_without_the_types(tmp_path: Path, field: str) -> None:
    listed = [
        {
            "question_id": 9001,
            "question": "Is the bus moving?",
            field: ["no"] * 8 + ["yes"] * 2,
            "image": "val2014/COCO_val2014_000000000009.jpg",
            "dataset": "vqa",
        }
    ]
    (tmp_path / "vqa_val.json").write_text(json.dumps(listed))
    (sample,) = samples(vqav2(data=tmp_path)).values()
    same = samples(vqav2(data=BUNDLED))["9001"]
    assert sample.references == same.references
    assert sample.data == same.data
    assert sample.tags == {"answer_type": "", "question_type": ""}


def test_blips_list_of_the_test_set_has_no_answers(tmp_path: Path) -> None:
    listed = [{"question_id": 7, "question": "?", "image": "test2015/a.jpg", "dataset": "vqa"}]
    (tmp_path / "vqa_test.json").write_text(json.dumps(listed))
    (sample,) = samples(vqav2("test", data=tmp_path)).values()
    assert sample.hidden


def test_the_hubs_parquet_is_read(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra parquet")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")
    picture = (BUNDLED / "val2014/COCO_val2014_000000000009.jpg").read_bytes()
    row: dict[str, Any] = {
        "question_type": "is the",
        "multiple_choice_answer": "no",
        "answers": [
            {"answer": answer, "answer_confidence": "yes", "answer_id": position}
            for position, answer in enumerate(["no"] * 8 + ["yes"] * 2, 1)
        ],
        "image_id": 9,
        "answer_type": "yes/no",
        "question_id": 9001,
        "question": "Is the bus moving?",
        "image": {"bytes": picture, "path": None},
    }
    hidden = {**row, "question_id": 9002, "answers": None, "answer_type": None}
    pq.write_table(pa.Table.from_pylist([row, hidden]), tmp_path / "validation.parquet")
    actual = samples(vqav2(data=tmp_path / "validation.parquet"))
    same = samples(vqav2(data=BUNDLED))["9001"]
    assert actual["9001"].references == same.references
    assert actual["9001"].tags == same.tags
    assert actual["9001"].data == {"image": "9"}
    assert actual["9002"].hidden
    assert actual["9002"].tags["answer_type"] == ""


def test_questions_without_their_file_of_answers_are_refused(tmp_path: Path) -> None:
    shutil.copy(BUNDLED / QUESTIONS, tmp_path)
    with pytest.raises(DataError, match=ANNOTATIONS):
        list(vqav2(data=tmp_path).data)


def test_answers_to_other_questions_are_refused(tmp_path: Path) -> None:
    shutil.copy(BUNDLED / ANNOTATIONS, tmp_path)
    document = {"questions": [{"image_id": 9, "question": "?", "question_id": 9009}]}
    (tmp_path / QUESTIONS).write_text(json.dumps(document))
    with pytest.raises(DataError, match="no answers to question 9009"):
        list(vqav2(data=tmp_path).data)


@pytest.mark.parametrize("name", [QUESTIONS, ANNOTATIONS])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"questions": [{"ques', "not complete, valid JSON"),
        ('{"data": []}', "not a file of VQA's questions or annotations"),
        (
            '{"questions": [7], "annotations": [7]}',
            "not a file of VQA's questions or annotations",
        ),
    ],
)
def test_a_file_that_is_none_of_vqas_is_said_to_be_none(
    tmp_path: Path, name: str, text: str, reason: str
) -> None:
    for parts in (QUESTIONS, ANNOTATIONS):
        shutil.copy(BUNDLED / parts, tmp_path)
    (tmp_path / name).chmod(0o644)
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=reason) as error:
        list(vqav2(data=tmp_path).data)
    assert name in str(error.value)


@pytest.mark.parametrize(("name", "split"), [("vqav2_val", "val"), ("vqav2_test", "test")])
def test_other_toolkits_names_are_known(name: str, split: str) -> None:
    assert registry.benchmark(name, data=BUNDLED).provenance.options["split"] == split


# -- prompts


@pytest.mark.parametrize(
    ("preset", "sample", "text"),
    [
        ("llava", "9000", f"What color is the bus?\n{ASK}"),
        ("llava", "30001", f"What shape is the sign?\n{ASK}"),
        ("llava", "61000", f"What time is it?\n{ASK}"),
        ("blip2", "9000", "Question: what color is the bus? Short answer:"),
        ("blip2", "30001", "Question: what shape is the sign? Short answer:"),
        ("blip2", "61000", "Question: what time is it? Short answer:"),
        ("qwen-vl", "9000", "What color is the bus? Answer:"),
        ("qwen-vl", "30001", "What shape is the sign? Answer:"),
        ("qwen-vl", "61000", "What time is it? Answer:"),
    ],
)
def test_a_prompt_is_the_published_text_behind_the_picture(
    preset: Preset, sample: str, text: str
) -> None:
    benchmark = vqav2(prompt=preset, data=BUNDLED)
    request = samples(benchmark)[sample]
    (message,) = benchmark.prompt(request, ())
    assert message.role == "user"
    assert message.content == (*request.media, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ('Is "Dr. No" (1962) on? ', "is dr no 1962 on?"),
        ("A*b#c:d;e~f!", "abcdef"),
        (" ".join(["Who"] * 60), " ".join(["who"] * 50)),
    ],
)
def test_blip_2_got_questions_without_signs_and_of_fifty_words(question: str, text: str) -> None:
    (message,) = vqav2(prompt="blip2", data=BUNDLED).prompt(Sample(id="1", question=question), ())
    assert message.text == f"Question: {text} Short answer:"


# -- scoring


@pytest.mark.parametrize(
    ("scoring", "reply", "references", "score"),
    [
        ("official", "Red", ["red"] * 10, 0.0),
        ("lmms-eval", "Red", ["red"] * 10, 1.0),
        ("mmpretrain", "Red", ["red"] * 10, 1.0),
        ("lavis", "Red", ["red"] * 10, 1.0),
        ("lavis", "red", ["Red"] * 10, 0.0),
        ("official", "2", ["two"] * 3 + ["3"] * 7, 0.9),
        ("mmpretrain", "2", ["two"] * 3 + ["3"] * 7, 1.0),
        ("lavis", "2", ["two"] * 3 + ["3"] * 7, 0.0),
        ("official", "The answer is red.", ["red"] * 9 + ["pink"], 0.0),
        ("robust", "The answer is red.", ["red"] * 9 + ["pink"], 1.0),
        ("robust", "**Red**", ["red"] * 10, 1.0),
    ],
)
def test_scorings_differ_as_their_code_does(
    scoring: str, reply: str, references: list[str], score: float
) -> None:
    assert scored(scoring, reply, *references)[1] == score


@pytest.mark.parametrize(
    ("scoring", "reply", "references", "score"),
    [
        # "this" is not an article.
        ("official", "this cat", ["cat"] * 9 + ["cats"], 0.0),
        # The sign that has a blank beside it goes first, and a digit stands behind the full stop.
        ("official", "1.5 x", ["1.-5 -x"] * 9 + ["y"], 1.0),
        # A digit of any script keeps it: under Python 3 `\d` means all of them.
        ("official", "v\u0663", ["v.\u0663"] * 9 + ["y"], 0.0),
        # A line end is a blank before signs are looked at: "- " deletes both hyphens.
        ("official", "xy c d", ["x-y c-\nd"] * 9 + ["e"], 1.0),
        # Where all agree, too, line ends and blanks around go.
        ("official", "red", ["red\n"] * 10, 1.0),
        # LAVIS compares people as they stand, and then drops the hyphen; all but one say this.
        ("lavis", "t-shirt", ["t-shirt"] * 9 + ["t-shirt\n"], 1.0),
        # A tenth by 0.3, to the last digit, and of five people a fifth.
        ("mmpretrain", "cat", ["cat"] + ["dog"] * 9, 0.1 / 0.3),
        ("mmpretrain", "cat", ["cat"] + ["dog"] * 4, 0.2 / 0.3),
    ],
)
def test_what_a_plainer_rule_would_score_otherwise(
    scoring: str, reply: str, references: list[str], score: float
) -> None:
    assert scored(scoring, reply, *references)[1] == score


def test_the_whole_reply_is_the_answer() -> None:
    assert scored("official", " Red\tbus\n", "red") == ("Red bus", 0.0)


def test_an_empty_reply_has_no_answer_and_is_worth_what_normalizes_to_nothing() -> None:
    assert scored("official", "\n", "the", "the", *["cat"] * 8) == (None, 0.6)
    assert scored("robust", "\n", "the", "the", *["cat"] * 8) == (None, 0.0)


def test_a_reply_that_answers_twice_is_unparsed_by_ours() -> None:
    text = "The answer is red. No, the answer is blue."
    assert scored("robust", text, *["red"] * 5, *["blue"] * 5) == (None, 0.0)


@pytest.mark.parametrize("reply", ["x" * 50_000, "9**9**9", "__import__('os')", "." * 5_000])
def test_a_reply_of_any_kind_is_text(reply: str) -> None:
    for name in vqav2(data=BUNDLED).scorings:
        assert scored(name, reply, "cat", "dog")[1] == 0.0


# -- figures


def test_figures_are_broken_down_by_answer_and_question_type(tmp_path: Path) -> None:
    entries = [
        {"question_id": int(name), "answer": "2" if "How many" in sample.question else "red"}
        for name, sample in samples(vqav2(data=BUNDLED)).items()
    ]
    results = tmp_path / "results.json"
    results.write_text(json.dumps(entries))
    result = snellen.score(results, "vqav2", data=BUNDLED)
    metrics = result.report.scorings["official"].metrics
    actual = {name: round(metric.value or 0, 4) for name, metric in metrics.items()}
    # Red: 9000. 2: all of 25000 but one; 9002, whose ten say "two", not; 42000 not.
    assert actual["accuracy"] == round(2 / 12, 4)
    assert actual["accuracy/number"] == round(1 / 3, 4)
    assert actual["accuracy/other"] == round(1 / 5, 4)
    assert actual["accuracy/yes/no"] == 0.0
    assert actual["accuracy/how many"] == round(1 / 3, 4)
    assert actual["accuracy/what color is the"] == 1.0
    assert metrics["accuracy"].n == 12


def test_a_question_that_a_file_lacks_is_wrong_under_the_authors_rule(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    results.write_text(json.dumps([{"question_id": 9000, "answer": "red"}]))
    result = snellen.score(results, "vqav2", data=BUNDLED)
    metric = result.report.scorings["official"].metrics["accuracy"]
    assert (metric.value, metric.n) == (1 / 12, 12)
    assert any("11 rows without a reply scored 0" in note for note in result.report.notes)


@pytest.mark.parametrize(
    ("scoring", "value", "n"),
    [
        ("official", 1 / 12, 12),
        ("lavis", 1 / 12, 12),
        # Theirs are means over the questions that their models were asked.
        ("mmpretrain", 1.0, 1),
        ("lmms-eval", 1.0, 1),
    ],
)
def test_each_scoring_has_its_rule_for_a_question_that_a_file_lacks(
    tmp_path: Path, scoring: str, value: float, n: int
) -> None:
    results = tmp_path / "results.json"
    results.write_text(json.dumps([{"question_id": 9000, "answer": "red"}]))
    report = snellen.score(results, "vqav2", data=BUNDLED).report
    metric = report.scorings[scoring].metrics["accuracy"]
    assert (metric.value, metric.n) == (value, n)


def test_the_server_gets_every_question_with_its_answer() -> None:
    benchmark = vqav2("test-dev", data=BUNDLED)
    assert benchmark.interop.submission is not None
    assert benchmark.interop.submission.columns == ("question_id", "answer")
    assert benchmark.interop.submission.row(samples(benchmark)["70001"], " Yes\n") == (70001, "Yes")
