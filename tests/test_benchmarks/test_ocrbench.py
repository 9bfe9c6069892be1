"""OCRBench: its rows in each published form, its prompts, and each rule of its scorings."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.benchmarks import ocrbench as file
from snellen.benchmarks.families import authors_files
from snellen.benchmarks.ocrbench import Preset, layout, ocrbench
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image
from snellen.scoring import score_predictions

BUNDLED = Path(file.__file__).parent / "rows" / "ocrbench"
QUESTIONS = BUNDLED / "OCRBench" / "OCRBench.json"


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def score(scoring: str, reply: str, *answers: str, formula: bool = False) -> float | None:
    sample = Sample(id="1", question="?", references=answers, data={"formula": formula})
    actual = ocrbench(data=BUNDLED).scorings[scoring]
    return total_score(actual.score(actual.parse(Reply(text=reply), sample), sample))


# -- data


def test_a_row_becomes_a_question() -> None:
    sample = samples(ocrbench(data=BUNDLED))["ctw-9002"]
    assert sample.references == ("ANTONIOS", "ANTONIO'S")
    assert sample.tags == {
        "type": "Irregular Text Recognition",
        "recognition": "Text Recognition",
        "dataset": "ctw",
    }


def test_ids_of_different_data_sets_may_be_the_same() -> None:
    assert {"IIIT5K-9001", "HME100k-9001"} <= samples(ocrbench(data=BUNDLED)).keys()


@pytest.mark.parametrize("name", ["OCRBench/OCRBench.json", "OCRBench.json"])
def test_pictures_lie_in_their_folder_beside_the_questions(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(QUESTIONS.read_bytes())
    picture = "OCRBench_Images/IIIT5K/test/1_1.png"
    (tmp_path / picture).parent.mkdir(parents=True)
    (tmp_path / picture).write_bytes((BUNDLED / picture).read_bytes())
    for data in (tmp_path, path):
        (media,) = samples(ocrbench(data=data))["IIIT5K-9001"].media
        assert isinstance(media, Image)
        assert images.load(media).width == 112


def test_a_formula_of_the_authors_that_looks_like_a_list_is_one_answer(tmp_path: Path) -> None:
    # Of the 1,000 one begins so: HME100k, 20952.
    row = {
        "dataset_name": "HME100k",
        "id": 1,
        "question": "?",
        "answers": "[ 4 , 5 ]",
        "image_path": "1.png",
        "type": "Handwritten Mathematical Expression Recognition",
    }
    (tmp_path / "OCRBench.json").write_text(json.dumps([row]))
    (sample,) = samples(ocrbench(data=tmp_path)).values()
    assert sample.references == ("[ 4 , 5 ]",)


@pytest.mark.parametrize("answer", ["[" + "-" * 100_000 + "1]", "[1, {[]: 2}]", "[ 4 , x ]"])
def test_a_cell_that_is_no_list_but_begins_as_one_is_one_answer(answer: str) -> None:
    assert authors_files.texts(answer) == (answer,)


@pytest.mark.parametrize(
    ("dataset", "kind", "formula"),
    [
        ("HME100k", "Handwritten Mathematical Expression Recognition", True),
        ("HME100k", "Handwriting Recognition", True),
        ("IAM", "Handwritten Mathematical Expression Recognition", False),
    ],
)
def test_formulas_are_known_by_their_data_set(
    tmp_path: Path, dataset: str, kind: str, formula: bool
) -> None:
    # OCRBench/example.py#L127
    row = json.loads(QUESTIONS.read_bytes())[0] | {"dataset_name": dataset, "type": kind}
    (tmp_path / "OCRBench.json").write_text(json.dumps([row]))
    (sample,) = samples(ocrbench(data=tmp_path)).values()
    assert sample.data["formula"] is formula


def test_vlmevalkits_sheet_is_read_and_knows_formulas_by_their_kind(tmp_path: Path) -> None:
    picture = base64.b64encode((BUNDLED / "OCRBench_Images/IIIT5K/test/1_1.png").read_bytes())
    (tmp_path / "OCRBench.tsv").write_text(
        "index\timage\tquestion\tanswer\tcategory\n"
        f"""0\t{picture.decode()}\twhat?\t['HOTEL', "the 'HOTEL'"]\tRegular Text Recognition\n"""
        "1\t0\tformula?\t['y_2 = - 1\\n']\tHandwritten Mathematical Expression Recognition\n",
        encoding="utf-8",
    )
    values, two = samples(ocrbench(data=tmp_path)).values()
    assert (values.references, values.data["formula"]) == (("HOTEL", "the 'HOTEL'"), False)
    assert (two.references, two.data["formula"]) == (("y_2 = - 1\n",), True)


def test_the_hubs_parquet_is_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    row = {
        "dataset": "HME100k",
        "question": "formula?",
        "question_type": "Handwritten Mathematical Expression Recognition",
        "answer": ["y_2 = - 1\n"],
        "image": {
            "bytes": (BUNDLED / "OCRBench_Images/IIIT5K/test/1_1.png").read_bytes(),
            "path": None,
        },
    }
    path = tmp_path / "test-00000-of-00001.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    (sample,) = samples(ocrbench(data=tmp_path)).values()
    assert (sample.references, sample.data["formula"]) == (("y_2 = - 1\n",), True)


def test_vlmevalkits_name_is_known() -> None:
    assert registry.benchmark("OCRBench", data=BUNDLED).name == "ocrbench"


# -- prompts

FORMULA = "Please write out the expression of the formula in the image using LaTeX format."
QUESTION_TEXTS = {
    "IIIT5K-9001": "what is written in the image?",
    "SROIE-9009": "what is the total amount of this receipt? "
    "Answer this question using the text in the image directly.",
    "HME100k-9001": FORMULA,
}


@pytest.mark.parametrize("name", list(QUESTION_TEXTS))
@pytest.mark.parametrize(
    ("preset", "before", "behind"),
    [
        # Yuliang-Liu/MultimodalOCR@794c36d6423cf1d5764081128bcaeb46b240def6:
        # OCRBench/scripts/monkey.py#L58-L59, LLaVA1_5.py#L68-L69
        ("monkey", " ", " Answer: "),
        ("llava", "", "\nAnswer the question using a single word or phrase."),
        # open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:
        # vlmeval/dataset/image_base.py, build_prompt; EvolvingLMMs-Lab/lmms-eval@
        # 75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/ocrbench/utils.py#L39-L44
        ("vlmevalkit", "", ""),
        ("lmms-eval", "", ""),
    ],
)
def test_a_prompt_is_the_picture_and_the_published_text(
    preset: Preset, before: str, behind: str, name: str
) -> None:
    benchmark = ocrbench(prompt=preset, data=BUNDLED)
    sample = samples(benchmark)[name]
    (message,) = benchmark.prompt(sample, ())
    assert message.content == (*sample.media, before + QUESTION_TEXTS[name] + behind)


@pytest.mark.parametrize("name", list(QUESTION_TEXTS))
def test_the_authors_script_puts_the_question_before_the_picture(name: str) -> None:
    # Yuliang-Liu/MultimodalOCR@794c36d6423cf1d5764081128bcaeb46b240def6:
    # OCRBench/scripts/GPT4V.py#L66-L81
    benchmark = ocrbench(data=BUNDLED)
    sample = samples(benchmark)[name]
    (message,) = benchmark.prompt(sample, ())
    assert message.content == (QUESTION_TEXTS[name], *sample.media)


def test_lmms_eval_takes_blanks_off_a_question() -> None:
    sample = Sample(id="1", question=" what? ", data={"formula": False})
    texts = {
        preset: ocrbench(prompt=preset, data=BUNDLED).prompt(sample, ())[0].text
        for preset in ("vlmevalkit", "lmms-eval")
    }
    assert texts == {"vlmevalkit": " what? ", "lmms-eval": "what?"}


# -- scoring


@pytest.mark.parametrize("reply", ["HOTEL", "hotel", " It says Hotel. ", "hotels", "motel, hotel"])
def test_official_finds_an_answer_anywhere_in_a_reply(reply: str) -> None:
    assert score("official", reply, "HOTEL") == 1.0


@pytest.mark.parametrize("reply", ["", "h o t e l", "HOT-EL"])
def test_official_wants_it_whole(reply: str) -> None:
    assert score("official", reply, "HOTEL") == 0.0


def test_any_answer_will_do() -> None:
    assert score("official", "ANTONIO'S", "ANTONIOS", "ANTONIO'S") == 1.0


def test_line_ends_are_blanks() -> None:
    assert score("official", "Lower\nTown", "lower town") == 1.0
    assert score("official", "Lower Town", "lower\ntown\n") == 1.0
    assert score("official", "Lower  Town", "lower town") == 0.0


def test_in_a_formula_capitals_count_and_no_blank_does() -> None:
    assert score("official", "A=4 B", "A = 4 B\n", formula=True) == 1.0
    assert score("official", "$ A\n= 4B $", "A = 4 B\n", formula=True) == 1.0
    assert score("official", "a=4b", "A = 4 B\n", formula=True) == 0.0
    assert score("official", "A=4 B", "A = 4 B\n", formula=False) == 0.0


def test_a_tab_in_a_formula_is_no_blank() -> None:
    assert score("official", "A\t= 4 B", "A = 4 B", formula=True) == 0.0


def test_a_tab_at_the_ends_of_a_formula_goes() -> None:
    assert score("official", "A = 4 B", "\tA = 4\t", formula=True) == 1.0


def test_lmms_eval_reads_full_width_signs_as_ascii() -> None:
    wide = "\uff28\uff2f\uff34\uff25\uff2c\u3000\uff11"
    assert score("lmms-eval", wide, "hotel 1") == 1.0
    assert score("official", wide, "hotel 1") == 0.0
    assert score("lmms-eval", "hotel 1", wide) == 1.0
    assert score("lmms-eval", wide, "HOTEL1", formula=True) == 0.0


@pytest.mark.parametrize(("wide", "sign"), [("\uff01", "!"), ("\uff0e", "."), ("\uff5e", "~")])
def test_lmms_eval_reads_all_signs_of_ascii_so(wide: str, sign: str) -> None:
    # lmms_eval/tasks/ocrbench/utils.py#L20-L31
    assert score("lmms-eval", f"a{wide}b", f"a{sign}b") == 1.0
    assert score("lmms-eval", f"a{sign}b", f"a{wide}b") == 1.0


def test_to_lmms_eval_a_formula_is_what_it_is_to_the_authors() -> None:
    assert score("lmms-eval", "A=4 B", "A = 4 B\n", formula=True) == 1.0
    assert score("lmms-eval", "a=4b", "A = 4 B\n", formula=True) == 0.0
    assert score("lmms-eval", "\uff21", "A", formula=True) == 0.0


@pytest.mark.parametrize("reply", ["HOTEL", "It says: HOTEL!", 'The answer is "Hotel".'])
def test_robust_finds_whole_words(reply: str) -> None:
    assert score("robust", reply, "HOTEL") == 1.0


@pytest.mark.parametrize(
    "reply", ["hotels", "", "The answer is motel, not hotels.", "answer: motel\nanswer: hotel"]
)
def test_robust_finds_no_parts_of_words_and_no_two_answers(reply: str) -> None:
    assert score("robust", reply, "HOTEL") == 0.0


# -- figures


def test_points_are_counted_by_kind_and_text_recognition_is_the_sum_of_six() -> None:
    actual = samples(ocrbench(data=BUNDLED))
    replies = {name: sample.references[0] for name, sample in actual.items()}
    replies["IIIT5K-9001"] = "MOTEL"
    del replies["SROIE-9009"], replies["HME100k-9001"]
    report = score_predictions(ocrbench(data=BUNDLED), replies, where="here")
    metrics = report.scorings["official"].metrics
    assert {
        name: (metric.value, metric.n, metric.unit)
        for name, metric in metrics.items()
        if name.startswith("final_score") and name.count(" ")
    } == {
        "final_score/Text Recognition": (5, 6, "points"),
        "final_score/Regular Text Recognition": (0, 1, "points"),
        "final_score/Irregular Text Recognition": (1, 1, "points"),
        "final_score/Artistic Text Recognition": (1, 1, "points"),
        "final_score/Digit String Recognition": (1, 1, "points"),
        "final_score/Handwriting Recognition": (1, 1, "points"),
        "final_score/Non-Semantic Text Recognition": (1, 1, "points"),
        "final_score/Scene Text-centric VQA": (1, 1, "points"),
        "final_score/Doc-oriented VQA": (1, 1, "points"),
        "final_score/Key Information Extraction": (0, 1, "points"),
        "final_score/Handwritten Mathematical Expression Recognition": (1, 2, "points"),
    }
    assert (metrics["final_score"].value, metrics["accuracy"].value) == (8, 8 / 11)
    assert metrics["accuracy/HME100k"].value == 0.5


@pytest.mark.parametrize("scoring", ["official", "lmms-eval"])
def test_a_question_without_a_reply_has_no_point(scoring: str) -> None:
    replies = {"ctw-9002": "ANTONIOS"}
    report = score_predictions(ocrbench(data=BUNDLED), replies, where="here")
    metrics = report.scorings[scoring].metrics
    assert (metrics["final_score"].value, metrics["accuracy"].value) == (1, 1 / 11)


def test_the_full_test_has_accuracies_of_its_data_sets(tmp_path: Path) -> None:
    (tmp_path / "FullTest.json").write_bytes(QUESTIONS.read_bytes())
    benchmark = ocrbench(split="full", data=tmp_path)
    replies = {"HME100k-9001": "y_2=-1", "HME100k-9002": ""}
    report = score_predictions(benchmark, replies, where="here")
    metrics = report.scorings["official"].metrics
    assert "final_score" not in metrics
    assert metrics["accuracy/HME100k"].value == 0.5


# -- the authors' results


def results(**changed: Any) -> list[dict[str, Any]]:
    rows = json.loads(QUESTIONS.read_bytes())
    for number, row in enumerate(rows):
        row["predict"] = f"reply {number}"
    rows[2] |= changed
    return list(rows)


@pytest.mark.parametrize("packed", [False, True])
def test_the_authors_results_are_read(tmp_path: Path, packed: bool) -> None:
    rows = results(predict=0)
    del rows[3]["predict"]
    path = tmp_path / f"model.json{'.gz' if packed else ''}"
    text = json.dumps(rows).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    published = layout(path)
    assert published is not None
    assert len(published.replies) == 11
    assert published.replies["ctw-9002"] == "reply 1"
    # What was not asked, or has failed.
    assert (published.replies["WordArt-9003"], published.replies["IAM-9004"]) == (None, None)


@pytest.mark.parametrize("content", ['{"1": "a"}', "[]", '[{"id": "1", "reply": "a"}]', "{tor"])
def test_another_file_is_not_theirs(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    assert layout(path) is None
    assert layout(tmp_path) is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"predict": 7}, "row 3 has a value of type int as predict"),
        ({"dataset_name": "ctw", "id": 9002}, "row 3 is a second row of ctw-9002"),
    ],
)
def test_a_row_that_is_wrong_is_named(
    tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(results(**changed)))
    with pytest.raises(DataError, match=message):
        layout(path)


def test_a_row_without_an_id_is_named(tmp_path: Path) -> None:
    rows = results()
    del rows[4]["id"]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(DataError, match="row 5 has no 'id'"):
        layout(path)
