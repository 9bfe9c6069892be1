"""DocVQA: its rows in each published form, its prompts, and its scorings."""

import base64
import json
from pathlib import Path

import pytest

from snellen import registry
from snellen.benchmarks import docvqa as file
from snellen.benchmarks.docvqa import docvqa
from snellen.benchmarks.families.documents import Preset
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image
from snellen.scoring import score_predictions

BUNDLED = Path(file.__file__).parent / "rows" / "docvqa"
QUESTIONS = BUNDLED / "val_v1.0_withQT.json"
PICTURE = BUNDLED / "documents" / "aabb0001_1.png"


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def score(scoring: str, reply: str, *references: str) -> float | None:
    sample = Sample(id="1", question="Who?", references=references)
    actual = docvqa(data=BUNDLED).scorings[scoring]
    return total_score(actual.score(actual.parse(Reply(text=reply), sample), sample))


# -- data


def test_a_row_of_the_organisers_file_becomes_a_question() -> None:
    sample = samples(docvqa(data=BUNDLED))["90001"]
    assert sample.question == "What is the date on the letter?"
    assert sample.references == ("May 5, 1970", "5 May 1970")
    assert {tag for tag, label in sample.tags.items() if label} == {"layout", "last"}
    assert sample.tags["last"] == "layout"


def test_a_question_of_several_types_counts_for_each() -> None:
    tags = samples(docvqa(data=BUNDLED))["90015"].tags
    assert (tags["layout"], tags["others"], tags["form"]) == ("layout", "others", "")
    assert tags["last"] == "others"


def test_questions_on_one_page_share_a_cluster() -> None:
    benchmark = docvqa(data=BUNDLED)
    assert benchmark.cluster_by is not None
    assert len({benchmark.cluster_by(sample) for sample in samples(benchmark).values()}) == 3


def test_the_test_split_hides_its_answers() -> None:
    actual = samples(docvqa(split="test", data=BUNDLED))
    assert len(actual) == 3
    assert all(sample.hidden for sample in actual.values())


@pytest.mark.parametrize(
    ("name", "picture"),
    [
        ("val_v1.0_withQT.json", "documents/aabb0001_1.png"),
        ("val/val_v1.0.json", "val/documents/aabb0001_1.png"),
        ("spdocvqa_qas/val_v1.0_withQT.json", "spdocvqa_images/aabb0001_1.png"),
    ],
)
def test_pictures_are_found_where_the_organisers_archives_put_them(
    tmp_path: Path, name: str, picture: str
) -> None:
    for path, source in ((tmp_path / name, QUESTIONS), (tmp_path / picture, PICTURE)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.read_bytes())
    (media,) = samples(docvqa(data=tmp_path))["90001"].media
    assert isinstance(media, Image)
    assert images.load(media).width == 180


def test_vlmevalkits_sheet_has_the_same_questions_by_its_index(tmp_path: Path) -> None:
    picture = base64.b64encode(PICTURE.read_bytes()).decode()
    (tmp_path / "DocVQA_VAL.tsv").write_text(
        "index\timage\tquestion\tanswer\n"
        f"""0\t{picture}\tWhat is the date?\t['May 5, 1970', "Lamp Makers' Day"]\n"""
        "1\t0\tWho signed?\tI. Moss\n"
        "2\t0\tIs [x] set?\t[x] yes\n",
        encoding="utf-8",
    )
    benchmark = docvqa(data=tmp_path)
    actual = samples(benchmark)
    assert [sample.references for sample in actual.values()] == [
        ("May 5, 1970", "Lamp Makers' Day"),
        ("I. Moss",),
        ("[x] yes",),
    ]
    assert benchmark.cluster_by is not None
    assert len({benchmark.cluster_by(sample) for sample in actual.values()}) == 1


def test_a_sheets_row_has_its_index_for_its_id_and_its_number_for_the_server(
    tmp_path: Path,
) -> None:
    picture = base64.b64encode(PICTURE.read_bytes()).decode()
    (tmp_path / "DocVQA_VAL.tsv").write_text(
        f"index\tquestionId\timage\tquestion\tanswer\n0\t90001\t{picture}\tWhen?\t['1970']\n"
    )
    benchmark = docvqa(data=tmp_path)
    assert benchmark.interop.submission is not None
    (sample,) = samples(benchmark).values()
    assert sample.id == "0"
    assert benchmark.interop.submission.row(sample, " 1970") == (90001, " 1970")


def test_the_hubs_parquet_has_the_same_questions_in_parts(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = json.loads(QUESTIONS.read_bytes())["data"]
    for part, some in enumerate((rows[:4], rows[4:])):
        table = pyarrow.Table.from_pylist(
            [
                {
                    **{key: row[key] for key in ("question", "question_types", "answers", "docId")},
                    "questionId": str(row["questionId"]),
                    "image": {
                        "bytes": (BUNDLED / row["image"]).read_bytes(),
                        "path": None,
                    },
                    "ucsf_document_id": row["ucsf_document_id"],
                    "ucsf_document_page_no": row["ucsf_document_page_no"],
                }
                for row in some
            ]
        )
        parquet.write_table(table, tmp_path / f"validation-{part:05}-of-00002.parquet")
    benchmark, own = docvqa(data=tmp_path), samples(docvqa(data=BUNDLED))
    actual = samples(benchmark)
    assert list(actual) == list(own)
    for name, sample in actual.items():
        assert (sample.question, sample.references, sample.tags) == (
            own[name].question,
            own[name].references,
            own[name].tags,
        )
    assert benchmark.cluster_by is not None
    assert len({benchmark.cluster_by(sample) for sample in actual.values()}) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"data": [{"que', "not complete, valid JSON"),
        ("[]", "not in the format"),
        ("{}", "not in the format"),
    ],
)
def test_a_file_that_is_not_the_organisers_is_said_to_be_none(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "val_v1.0.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        list(docvqa(data=path).data)


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("DocVQA_VAL", "val"),
        ("DocVQA_TEST", "test"),
        ("docvqa_val", "val"),
        ("docvqa_test", "test"),
    ],
)
def test_other_toolkits_names_are_known(name: str, split: str) -> None:
    assert registry.benchmark(name, data=BUNDLED).provenance.options["split"] == split


# -- prompts

ASK = "Answer the question using a single word or phrase."


@pytest.mark.parametrize("number", ["90001", "90029", "90057"])
@pytest.mark.parametrize(
    ("preset", "behind"),
    [
        # EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
        # lmms_eval/tasks/docvqa/_default_template_docvqa_yaml#L13-L16
        ("lmms-eval", f"\n{ASK}"),
        # open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:
        # vlmeval/dataset/image_vqa.py#L64-L69
        ("vlmevalkit", f"\n{ASK}"),
        # QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:eval_mm/evaluate_vqa.py#L281
        ("qwen-vl", " Answer:"),
    ],
)
def test_a_prompt_is_the_page_and_the_published_text(
    preset: Preset, behind: str, number: str
) -> None:
    questions = {
        "90001": "What is the date on the letter?",
        "90029": "What does a lamp cost?",
        "90057": "What is drawn beside the word yes?",
    }
    benchmark = docvqa(prompt=preset, data=BUNDLED)
    sample = samples(benchmark)[number]
    (message,) = benchmark.prompt(sample, ())
    assert (message.role, message.content) == (
        "user",
        (*sample.media, questions[number] + behind),
    )


# -- scoring


def test_official_scores_the_whole_reply() -> None:
    assert score("official", "May 5, 1970", "May 5, 1970", "5 May 1970") == 1.0
    assert score("official", "The answer is May 5, 1970.", "May 5, 1970") == 0.0


def test_official_counts_blanks_for_the_length() -> None:
    # 100 blanks are 98 % "ab": nobody strips a reply before the evaluator.
    assert score("official", " " * 100, "ab") == pytest.approx(0.98)


def test_official_finds_an_empty_reply_right_where_an_empty_answer_is() -> None:
    assert score("official", "", "") == 1.0


@pytest.mark.parametrize(
    ("reply", "reference", "worth"),
    [
        # One letter of two is wrong. The organisers' length has the reference's two blanks, to
        # pix2struct they are wrong signs, and to the others nothing.
        ("ax", "ab  ", {"official": 0.75, "mmpretrain": 0.5, "pix2struct": 0.0, "m4c": 0.5}),
        # A reply's two blanks count for mmpretrain's length, too.
        ("ax  ", "ab", {"official": 0.75, "mmpretrain": 0.75, "pix2struct": 0.0, "m4c": 0.5}),
        # One blank too many between words, of four signs.
        ("a  b", "a b", {"official": 1.0, "mmpretrain": 1.0, "pix2struct": 0.75, "m4c": 0.75}),
        ("ab", "ax", {"official": 0.5, "mmpretrain": 0.5, "pix2struct": 0.0, "m4c": 0.5}),
        # Four of the five signs that "ABCSS" has, and of the four of "abc\u00df" three.
        (
            "abc\u00df",
            "abcd",
            {"official": 0.8, "mmpretrain": 0.8, "pix2struct": 0.75, "m4c": 0.75},
        ),
    ],
)
def test_each_scoring_is_by_the_rule_of_its_name(
    reply: str, reference: str, worth: dict[str, float]
) -> None:
    assert {name: score(name, reply, reference) for name in worth} == pytest.approx(worth)


def test_m4cs_accuracy_is_of_answers_as_textvqa_writes_them() -> None:
    report = score_predictions(docvqa(data=BUNDLED), {"90001": "The may 5 1970!"}, where="here")
    metric = report.scorings["m4c"].metrics["accuracy"]
    assert (metric.value, metric.n) == (1.0, 1)


def test_robust_scores_the_phrase_that_a_reply_settles_on() -> None:
    assert score("robust", "The answer is **May 5, 1970**.", "May 5, 1970") == 1.0
    assert score("robust", "The answer is x. No, the answer is y.", "x") == 0.0


def test_robust_gives_nothing_for_blanks() -> None:
    assert score("robust", " " * 100, "ab") == 0.0


# -- figures, submission


def test_figures_are_broken_down_by_question_type() -> None:
    actual = samples(docvqa(data=BUNDLED))
    replies = {name: sample.references[0] for name, sample in actual.items()}
    replies["90043"] = "555-0140"  # one of eight signs: 7/8
    replies["90029"] = "nothing of the kind"
    del replies["90022"]  # "Yes/No": a question without a reply counts as an empty answer
    report = score_predictions(docvqa(data=BUNDLED), replies, where="here")
    metrics = report.scorings["official"].metrics
    assert {name: (metric.value, metric.n) for name, metric in metrics.items()} == {
        "anls": (pytest.approx((6 + 7 / 8) / 9), 9),
        "anls/handwritten": (pytest.approx((1 + 7 / 8) / 2), 2),
        "anls/form": (pytest.approx((1 + 7 / 8) / 2), 2),
        "anls/layout": (1.0, 2),
        "anls/table/list": (0.5, 2),
        "anls/free_text": (1.0, 1),
        "anls/figure/diagram": (1.0, 1),
        "anls/Image/Photo": (1.0, 1),
        "anls/Yes/No": (0.0, 1),
        "anls/others": (1.0, 1),
    }


@pytest.mark.parametrize(
    ("scoring", "expected"),
    [
        # Six are right, one but for a sign of eight, and one is wrong; one has no reply, which the
        # organisers and Pix2Struct count.
        ("official", {"anls": ((6 + 7 / 8) / 9, 9)}),
        ("pix2struct", {"anls": ((6 + 7 / 8) / 9, 9)}),
        ("mmpretrain", {"anls": ((6 + 7 / 8) / 8, 8)}),
        ("m4c", {"anls": ((6 + 7 / 8) / 8, 8), "accuracy": (6 / 8, 8)}),
    ],
)
def test_figures_of_named_scorings_are_those_worked_out_by_hand(
    scoring: str, expected: dict[str, tuple[float, int]]
) -> None:
    actual = samples(docvqa(data=BUNDLED))
    replies = {name: sample.references[0] for name, sample in actual.items()}
    replies["90043"] = "555-0140"
    replies["90029"] = "nothing of the kind"
    del replies["90022"]
    report = score_predictions(docvqa(data=BUNDLED), replies, where="here")
    metrics = report.scorings[scoring].metrics
    for metric, (value, n) in expected.items():
        assert metrics[metric].value == pytest.approx(value)
        assert metrics[metric].n == n


def test_the_server_is_sent_ids_as_numbers() -> None:
    benchmark = docvqa(split="test", data=BUNDLED)
    assert benchmark.interop.submission is not None
    assert benchmark.interop.submission.columns == ("questionId", "answer")
    sample = samples(benchmark)["90001"]
    assert benchmark.interop.submission.row(sample, " May 5\n") == (90001, " May 5\n")
