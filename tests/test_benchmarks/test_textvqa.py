"""TextVQA: its files, prompts with and without OCR, LLaVA's answers, and where scorings differ."""

import base64
import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import textvqa as file
from snellen.benchmarks.textvqa import Ocr, Preset, textvqa
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "textvqa"
VAL = "TextVQA_0.5.1_val.json"
SIGN, CAFE = "00aa11bb22cc33dd", "0123456789abcdef"
ASK = "Answer the question using a single word or phrase."
SEEN = "Reference OCR token: STOP, 24, HOURS, OPEN"


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def score(scoring: str, reply: str, references: list[str]) -> float | None:
    sample = Sample(id="1", question="What?", references=tuple(references))
    actual = textvqa(data=BUNDLED).scorings[scoring]
    return total_score(actual.score(actual.parse(Reply(text=reply), sample), sample))


# -- data


def test_a_question_has_ten_answers_and_a_picture() -> None:
    sample = samples(textvqa(data=BUNDLED))["34602"]
    assert sample.question == "what does the sign say?"
    assert sample.references == ("stop",) * 8 + ("STOP",) * 2
    (image,) = sample.media
    assert isinstance(image, Image)
    assert image.label == f"train_images/{SIGN}.jpg"
    assert images.load(image).width == 112


def test_the_test_set_has_pictures_of_its_own_and_no_answers() -> None:
    actual = samples(textvqa("test", data=BUNDLED))
    assert all(sample.hidden for sample in actual.values())
    (image,) = actual["39602"].media
    assert isinstance(image, Image)
    assert images.load(image).label.startswith("test_images/")


def test_questions_about_one_picture_share_a_cluster() -> None:
    benchmark = textvqa(data=BUNDLED)
    assert benchmark.cluster_by is not None
    assert {benchmark.cluster_by(sample) for sample in samples(benchmark).values()} == {SIGN, CAFE}


def test_vlmevalkits_sheet_is_read_by_its_index(tmp_path: Path) -> None:
    picture = base64.b64encode((BUNDLED / f"train_images/{SIGN}.jpg").read_bytes()).decode()
    lines = (
        "index\timage\tquestion\tanswer",
        f"0\t{picture}\twhat does the sign say?\t['stop', \"joe's\"]",
        "1\t0\tis the shop open?\tyes",
    )
    (tmp_path / "TextVQA_VAL.tsv").write_text("\n".join(lines) + "\n")
    benchmark = textvqa(prompt="vlmevalkit", data=tmp_path)
    actual = samples(benchmark)
    assert actual["0"].references == ("stop", "joe's")
    assert actual["1"].references == ("yes",)
    assert actual["0"].data["image"] == actual["1"].data["image"]


def test_the_hubs_parquet_is_read_with_its_tokens(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra parquet")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")
    row: dict[str, Any] = {
        "image_id": SIGN,
        "question_id": 34602,
        "question": "what does the sign say?",
        "image": {"bytes": (BUNDLED / f"train_images/{SIGN}.jpg").read_bytes(), "path": None},
        "answers": ["stop"] * 10,
        "ocr_tokens": ["STOP", "24"],
    }
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "val.parquet")
    benchmark = textvqa(ocr="rosetta", data=tmp_path / "val.parquet")
    (sample,) = samples(benchmark).values()
    assert sample.references == ("stop",) * 10
    (message,) = benchmark.prompt(sample, ())
    assert "\nReference OCR token: STOP, 24\n" in message.text


def test_answers_that_are_all_empty_are_hidden(tmp_path: Path) -> None:
    """As the hub's copy of the test set has them."""
    row = {"question_id": 39602, "image_id": SIGN, "question": "where?", "answers": [""] * 10}
    (tmp_path / "TextVQA_0.5.1_test.json").write_text(json.dumps({"data": [row]}))
    (sample,) = samples(textvqa("test", data=tmp_path)).values()
    assert sample.hidden


def test_an_answer_that_is_empty_among_others_is_one_of_the_ten(tmp_path: Path) -> None:
    row = {"question_id": 7, "image_id": SIGN, "question": "?", "answers": ["stop"] * 9 + [""]}
    (tmp_path / VAL).write_text(json.dumps({"data": [row]}))
    (sample,) = samples(textvqa(data=tmp_path)).values()
    assert sample.references == ("stop",) * 9 + ("",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"data": [{"que', "not complete, valid JSON"),
        ("[]", "not a JSON object with a list"),
        ('{"data": 7}', "not a JSON object with a list"),
        ('{"data": [7]}', "not a JSON object with a list"),
    ],
)
def test_a_file_that_is_none_of_textvqas_is_said_to_be_none(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / VAL).write_text(text)
    with pytest.raises(DataError, match=message):
        list(textvqa(data=tmp_path).data)


def test_tokens_that_are_not_there_are_asked_for(tmp_path: Path) -> None:
    shutil.copy(BUNDLED / VAL, tmp_path)
    with pytest.raises(DataError, match=r"ocr=rosetta needs TextVQA_Rosetta_OCR_v0\.2_val\.json"):
        samples(textvqa(ocr="rosetta", data=tmp_path))


@pytest.mark.parametrize(
    ("name", "split"),
    [("TextVQA_VAL", "val"), ("textvqa_val", "val"), ("textvqa_test", "test")],
)
def test_other_toolkits_names_are_known(name: str, split: str) -> None:
    assert registry.benchmark(name, data=BUNDLED).provenance.options["split"] == split


# -- prompts


@pytest.mark.parametrize(
    ("preset", "ocr", "sample", "text"),
    [
        ("llava", "none", "34602", f"What does the sign say?\n{ASK}"),
        ("llava", "none", "34604", f"How many hours is it open?\n{ASK}"),
        ("llava", "none", "34608", f"What number is on the bus?\n{ASK}"),
        ("llava", "rosetta", "34602", f"What does the sign say?\n{SEEN}\n{ASK}"),
        ("llava", "rosetta", "34604", f"How many hours is it open?\n{SEEN}\n{ASK}"),
        # LLaVA's own has the line where nothing was seen, too.
        (
            "llava",
            "rosetta",
            "34608",
            f"What number is on the bus?\nReference OCR token: \n{ASK}",
        ),
        ("vlmevalkit", "none", "34602", f"what does the sign say?\n{ASK}"),
        ("vlmevalkit", "none", "34604", f"how many hours is it open?\n{ASK}"),
        ("vlmevalkit", "none", "34608", f"what number is on the bus?\n{ASK}"),
        ("qwen-vl", "none", "34602", "what does the sign say? Answer:"),
        ("qwen-vl", "none", "34604", "how many hours is it open? Answer:"),
        ("qwen-vl", "none", "34608", "what number is on the bus? Answer:"),
    ],
)
def test_a_prompt_is_the_published_text_behind_the_picture(
    preset: Preset, ocr: Ocr, sample: str, text: str
) -> None:
    benchmark = textvqa(prompt=preset, ocr=ocr, data=BUNDLED)
    request = samples(benchmark)[sample]
    (message,) = benchmark.prompt(request, ())
    assert message.content == (*request.media, text)


def test_llavas_prompt_has_no_capitals_but_the_first() -> None:
    sample = Sample(id="1", question="is this Denny's?", data={"ocr_tokens": None})
    (message,) = textvqa(data=BUNDLED).prompt(sample, ())
    assert message.text == f"Is this denny's?\n{ASK}"


# -- scoring


@pytest.mark.parametrize(
    ("scoring", "reply", "references", "worth"),
    [
        ("official", "STOP", ["stop"] * 10, 1.0),
        ("official", "3.", ["3"] * 10, 1.0),
        ("vlmevalkit", "3.", ["3"] * 10, 0.0),
        ("official", "joe 's", ["joe's"] * 10, 1.0),
        ("vlmevalkit", "joe 's", ["joe's"] * 10, 0.0),
        ("official", "1000", ["1,000"] * 3 + ["2"] * 7, 0.9),
        ("official", "The answer is stop.", ["stop"] * 10, 0.0),
        ("robust", "The answer is stop.", ["stop"] * 10, 1.0),
        ("official", "", ["a"] * 2 + ["stop"] * 8, 0.6),
        # Capitals go first: "'S" is set off as "'s" is, and so it is within a word, and where a
        # comma or question mark stood between.
        ("official", "JOE'S", ["joe 's"] * 10, 1.0),
        ("official", "O 'Sullivan", ["o'sullivan"] * 10, 1.0),
        ("official", "joe',s", ["joe 's"] * 10, 1.0),
        # Commas are gone before the rule for numbers, which would delete the hyphen.
        ("official", "1000 5", ["1,000-5"] * 10, 1.0),
        # A line end is a blank before signs are looked at: "- " deletes both hyphens.
        ("official", "xy c d", ["x-y c-\nd"] * 10, 1.0),
        # Digits of any script are digits.
        ("vlmevalkit", "\u0663.", ["\u0663"] * 10, 0.0),
        ("robust", "", ["a"] * 2 + ["stop"] * 8, 0.0),
    ],
)
def test_scorings_differ_as_their_code_does(
    scoring: str, reply: str, references: list[str], worth: float
) -> None:
    assert score(scoring, reply, references) == worth


def test_questions_that_a_file_lacks_are_in_no_mean(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    results.write_text(json.dumps([{"question_id": 34602, "answer": "stop"}]))
    scorings = snellen.score(results, "textvqa", data=BUNDLED).report.scorings
    metric = scorings["official"].metrics["accuracy"]
    assert (metric.value, metric.n) == (1.0, 1)
    # VLMEvalKit's files have a row for every question.
    metric = scorings["vlmevalkit"].metrics["accuracy"]
    assert (metric.value, metric.n) == (1 / 8, 8)


def test_the_server_gets_the_number_of_the_question() -> None:
    benchmark = textvqa("test", data=BUNDLED)
    assert benchmark.interop.submission is not None
    assert benchmark.interop.submission.row(samples(benchmark)["39602"], "Exit ") == (39602, "Exit")


def sheet(folder: Path, columns: str = "", cells: str = "") -> Benchmark:
    """VLMEvalKit's, of one row, with more columns."""
    picture = base64.b64encode((BUNDLED / f"train_images/{SIGN}.jpg").read_bytes()).decode()
    text = f"index\timage\tquestion\tanswer{columns}\n0\t{picture}\tIs the shop open?\tyes{cells}\n"
    (folder / "TextVQA_VAL.tsv").write_text(text)
    return textvqa(prompt="vlmevalkit", data=folder)


def test_a_row_that_does_not_say_the_questions_number_is_none_for_the_server(
    tmp_path: Path,
) -> None:
    benchmark = sheet(tmp_path)
    assert benchmark.interop.submission is not None
    with pytest.raises(DataError, match="do not have the server's id for question 0"):
        benchmark.interop.submission.row(samples(benchmark)["0"], "yes")


def test_a_sheets_row_has_its_index_for_its_id_and_its_number_for_the_server(
    tmp_path: Path,
) -> None:
    benchmark = sheet(tmp_path, "\tquestion_id", "\t34603")
    assert benchmark.interop.submission is not None
    (sample,) = samples(benchmark).values()
    assert sample.id == "0"
    assert benchmark.interop.submission.row(sample, "yes") == (34603, "yes")


# -- LLaVA's answers


def llava(image: str, prompt: str, text: str) -> dict[str, Any]:
    return {
        "question_id": image,
        "prompt": prompt,
        "text": text,
        "answer_id": "x",
        "model_id": "llava",
        "metadata": {},
    }


@pytest.mark.parametrize(
    "prompt",
    [
        f"Is the shop open?\n{SEEN}\n{ASK}",
        f"Reference OCR token: STOP\nIs the SHOP open?\n{ASK}",
        f"Is the shop open?\n{ASK}",
        "OCR tokens: STOP. Question: is the shop open? Short answer:",
        "OCR tokens: STOP. Question: Is the shop open? Short answer: Short answer:",
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_llavas_answers_belong_to_the_picture_and_the_question_in_the_prompt(
    tmp_path: Path, prompt: str, packed: bool
) -> None:
    lines = json.dumps(llava(SIGN, prompt, "Yes")).encode() + b"\n"
    path = tmp_path / ("llava.jsonl.gz" if packed else "llava.jsonl")
    path.write_bytes(gzip.compress(lines) if packed else lines)
    benchmark = textvqa(data=BUNDLED)
    assert benchmark.interop.layout is not None
    published = benchmark.interop.layout(path)
    assert published is not None
    assert published.replies == {"34603": "Yes"}


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        ("OCR tokens: STOP. Question: Is the shop\nopen? Short answer:", "is the shop\nopen?"),
        # Only a prompt that begins so is of that form.
        (f"Which OCR tokens: are these?\n{ASK}", "which ocr tokens: are these?"),
    ],
)
def test_a_question_is_read_from_the_prompt_whole(prompt: str, question: str) -> None:
    """eval_textvqa.py#L17-L32."""
    assert file.question_of(prompt) == question


def test_llavas_answers_belong_to_a_sheets_rows_that_name_their_pictures(tmp_path: Path) -> None:
    path = tmp_path / "llava.jsonl"
    path.write_text(json.dumps(llava(SIGN, f"Is the shop open?\n{ASK}", "Yes")) + "\n")
    with_names = sheet(tmp_path, "\timage_id", f"\t{SIGN}").interop.layout
    assert with_names is not None
    published = with_names(path)
    assert published is not None
    assert published.replies == {"0": "Yes"}
    without = sheet(tmp_path).interop.layout
    assert without is not None
    assert without(path) is None


def test_llavas_answers_are_scored(tmp_path: Path) -> None:
    rows = [
        llava(SIGN, f"Is the shop open?\n{SEEN}\n{ASK}", "Yes"),
        llava(CAFE, f"Whose cafe is this?\nReference OCR token: \n{ASK}", "Luna's"),
    ]
    path = tmp_path / "llava.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = snellen.score(path, "textvqa", data=BUNDLED)
    metric = result.report.scorings["official"].metrics["accuracy"]
    # Yes: nine of ten; Luna's: three of ten.
    assert metric.value == pytest.approx((1.0 + 0.9) / 2)
    assert metric.n == 2


@pytest.mark.parametrize(
    "prompt",
    [
        f"Is it late?\n{ASK}",
        "Is the shop open?",
        f"Is the shop open?\n{ASK}\n\n",
        f"Is the shop open?\n{SEEN}\n{ASK}\n",
        f"Is the shop open?\nLook.\n{ASK}",
    ],
)
def test_an_answer_to_no_question_of_the_split_is_refused(tmp_path: Path, prompt: str) -> None:
    path = tmp_path / "llava.jsonl"
    path.write_text(json.dumps(llava(SIGN, prompt, "Yes")) + "\n")
    layout = textvqa(data=BUNDLED).interop.layout
    assert layout is not None
    with pytest.raises(DataError, match=r"row 1 of .* asks"):
        layout(path)


@pytest.mark.parametrize(
    "row",
    [
        {"question_id": 34602, "answer": "stop"},
        {"question_id": "34602", "prompt": "?", "text": "stop"},
        llava("9" * 16, f"Is the shop open?\n{ASK}", "Yes"),
    ],
)
def test_files_of_other_forms_are_left_to_others(tmp_path: Path, row: dict[str, Any]) -> None:
    layout = textvqa(data=BUNDLED).interop.layout
    assert layout is not None
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n")
    assert layout(path) is None
    assert layout(tmp_path) is None
    (tmp_path / "rows.json").write_text(json.dumps([row]))
    assert layout(tmp_path / "rows.json") is None
