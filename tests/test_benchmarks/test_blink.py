"""BLINK: its rows, prompts, what its judge is asked, and each rule of its scorings.

Expected letters follow the rules of the authors' test_benchmark.py at the commit that the benchmark
names. What the judge is asked equals what the authors' multiple_choice.py asks.
"""

import io
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import PIL.Image
import pytest

import snellen
from snellen.analysis.result import Result
from snellen.benchmarks import blink as file
from snellen.benchmarks.blink import Preset, blink, layout
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Judge
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "blink"


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    actual = [benchmark.read(row) for row in benchmark.data]
    return {sample.id: sample for sample in actual}


def question(target: str = "A", n: int = 4, text: str = "Which?") -> Sample:
    choices = ("one", "two", "three", "four", "five")[:n]
    return Sample(id="1", question=text, choices=choices, target=target)


def read(reply: str, n: int = 4, scoring: str = "official") -> object:
    return blink().scorings[scoring].parse(Reply(text=reply), question(n=n)).answer


def judge() -> Judge:
    judge = blink().scorings["official"].judge
    assert judge is not None
    return judge


# -- data and prompts


def test_the_bundled_rows_are_of_every_subtask_and_their_pictures_open() -> None:
    actual = samples(blink(data=BUNDLED)).values()
    assert {sample.tags["subtask"] for sample in actual} == set(file.LEAVES)
    assert {len(sample.media) for sample in actual} == {1, 2, 3, 4}
    for sample in actual:
        for picture in sample.media:
            assert isinstance(picture, Image)
            assert images.load(picture).width == 64


def on_the_hub(folder: Path, name: str, subtask: str, answer: str) -> Path:
    """Write a row of two pictures as the hub has it."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    with io.BytesIO() as content:
        PIL.Image.new("RGB", (8, 8)).save(content, format="PNG")
        picture = {"bytes": content.getvalue(), "path": None}
    row = {
        "idx": name,
        "question": "Which is it?",
        "sub_task": subtask,
        **{"image_1": picture, "image_2": picture, "image_3": None, "image_4": None},
        "choices": ["this", "that"],
        "answer": answer,
        "prompt": "In full: which is it?\nSelect from the following choices.\n(A) this\n(B) that\n",
    }
    path = folder / subtask / f"{name.partition('_')[0]}-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    return folder


def content(benchmark: Benchmark, sample: Sample) -> list[str]:
    (message,) = benchmark.prompt(sample, ())
    return ["<picture>" if isinstance(part, Image) else str(part) for part in message.content]


def test_the_hubs_folders_are_read_and_their_prompt_comes_before_the_pictures(
    tmp_path: Path,
) -> None:
    on_the_hub(tmp_path, "val_Multi-view_Reasoning_7", "Multi-view_Reasoning", "(B)")
    on_the_hub(tmp_path, "val_Counting_3", "Counting", "(A)")
    benchmark = blink(data=tmp_path)
    actual = samples(benchmark)
    sample = actual["val_Multi-view_Reasoning_7"]
    assert len(actual) == 2
    assert (sample.target, sample.tags) == ("B", {"subtask": "Multi-view_Reasoning"})
    assert content(benchmark, sample) == [
        "In full: which is it?\nSelect from the following choices.\n(A) this\n(B) that\n",
        "<picture>",
        "<picture>",
    ]


@pytest.mark.parametrize("subtask", ["Forensic_Detection", "Jigsaw", "Art_Style"])
def test_three_subtasks_have_a_disclaimer_first(subtask: str, tmp_path: Path) -> None:
    # eval/test_benchmark.py#L10 and #L175
    benchmark = blink(data=on_the_hub(tmp_path, f"val_{subtask}_1", subtask, "(A)"))
    (sample,) = samples(benchmark).values()
    text = content(benchmark, sample)[0]
    assert text.startswith("Disclaimer: This is not to make unfair assumptions about the people in")
    assert "based on the information I gave you.\n\nIn full: which is it?" in text


def test_answers_of_test_are_hidden(tmp_path: Path) -> None:
    on_the_hub(tmp_path, "test_Counting_1", "Counting", "hidden")
    (sample,) = samples(blink(split="test", data=tmp_path)).values()
    assert sample.hidden


def test_a_sheets_prompt_is_built_from_question_and_choices() -> None:
    benchmark = blink(data=BUNDLED)
    assert content(benchmark, samples(benchmark)["11"]) == [
        "Is the disc to the left of the square?\nSelect from the following choices.\n"
        "(A) yes\n(B) no",
        "<picture>",
    ]


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        # VLMEvalKit@e8e78f05:vlmeval/dataset/image_mcq.py#L212-L247
        (
            "vlmevalkit",
            "Question: Is the disc to the left of the square?\nOptions:\nA. yes\nB. no\n"
            "Please select the correct answer from the options above. \n",
        ),
        # lmms-eval@75571cfe:lmms_eval/tasks/blink/utils.py#L31-L38
        (
            "lmms-eval",
            "Note: You only need to respond with A, B without providing any additional "
            "information.\nIs the disc to the left of the square?\nSelect from the following "
            "choices.\n(A) yes\n(B) no",
        ),
    ],
)
def test_toolkits_put_pictures_first_and_have_their_own_words(prompt: Preset, text: str) -> None:
    benchmark = blink(prompt=prompt, data=BUNDLED)
    assert content(benchmark, samples(benchmark)["11"]) == ["<picture>", text]
    assert benchmark.headline == prompt


def test_an_answer_that_is_no_choice_is_refused(tmp_path: Path) -> None:
    on_the_hub(tmp_path, "val_Counting_1", "Counting", "(C)")
    with pytest.raises(DataError, match=r"answer '\(C\)' is not one of the letters A, B"):
        samples(blink(data=tmp_path))


def test_the_file_of_answers_is_for_scoring_alone(tmp_path: Path) -> None:
    (tmp_path / "val_answers.json").write_text('{"val_Counting_1": "(D)"}')
    benchmark = blink(data=tmp_path)
    (sample,) = samples(benchmark).values()
    assert (sample.target, sample.tags) == ("D", {"subtask": "Counting"})
    with pytest.raises(DataError, match="not to ask a model or a judge"):
        benchmark.prompt(sample, ())
    with pytest.raises(DataError, match="not to ask a model or a judge"):
        judge().prompt(sample, Reply(text="It is the last."))


# -- official: eval/test_benchmark.py#L12-L45


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("B", "(B)"),
        ("(D)", "(D)"),
        (" (B)", "(B)"),
        ("There is one blue float visible.\n\nThe correct answer is:\n(D) 1", "(D)"),
        ("(D) 0\n\nThe toilet in the image is white, not black.", "(D)"),
        ("(A) is near.\n(B) is far.\n\nSo it is (B) that", "(B)"),
        ("(A) (A)", "(A)"),
        # None of these is decided: no choice stands alone, or several do.
        ("B.", None),
        ("(B).", None),
        ("the answer is B", None),
        ("(A) or (B)", None),
        ("(A) or\n\n(B) or (C)", None),
        ("(b)", None),
        ("", None),
    ],
)
def test_words_must_equal_a_single_choice(reply: str, answer: str | None) -> None:
    assert read(reply) == answer


def test_a_choice_that_the_question_does_not_have_counts_only_alone() -> None:
    assert read("E", n=2) == "(E)"
    assert read("(E)", n=2) == "(E)"
    assert read("It is (C) or so", n=2) is None
    assert read("Not (C) but (B)", n=2) == "(B)"


def test_the_judge_gets_the_authors_words() -> None:
    # The digest of what multiple_choice.py builds for these rows.
    rows = (
        ("How many blue floats are there?", ("0", "3", "2", "1"), "There are {two} of them."),
        ("Which is closer?\nLook.", ("A is closer", "B is closer"), "I'm sorry."),
        ("", ("x",) * 5, ""),
        ("Ünï?", ("{a}", "%s"), "(A) or (B)\n\nYour output: (A)"),
    )
    texts = ""
    for text, choices, reply in rows:
        sample = Sample(id="1", question=text, choices=choices)
        (message,) = judge().prompt(sample, Reply(text=reply))
        (words,) = message.content
        texts += str(words)
    digest = "275f1f7cb41a5daf3628aaddbc43e0b955eb63f03fb9328b2241affa3e0a0678"
    assert sha256(texts.encode()).hexdigest() == digest


@pytest.mark.parametrize(
    ("words", "score"), [("(C)", 1.0), ("(C) Point C", 0.0), ("C", 0.0), ("(Z)", 0.0)]
)
def test_a_verdict_must_equal_the_right_answer(words: str, score: float) -> None:
    sample = question("C")
    reading = judge().parse(words, sample)
    assert reading.answer == words
    assert blink().scorings["official"].score(reading, sample) == score


# -- the other scorings


@pytest.mark.parametrize(
    ("reply", "letter"),
    [("(B) that", "B"), ("b", "B"), ("The first", "T"), ("( C", "C"), ("1", None), ("**A**", None)],
)
def test_lmms_eval_takes_the_letter_at_the_beginning(reply: str, letter: str | None) -> None:
    assert read(reply, scoring="lmms-eval") == letter


def test_robust_reads_what_the_authors_leave_to_their_judge() -> None:
    assert read("The answer is (B).", scoring="robust") == "B"
    assert read("A or B", scoring="robust") is None


def test_the_file_for_the_server_has_choices_in_parentheses() -> None:
    submission = blink(split="test").interop.submission
    assert submission is not None
    assert (submission.name, submission.by_id) == ("test_predictions.json", True)
    rows = [submission.row(question(), reply) for reply in ("B", "The answer is C.", "who knows")]
    assert rows == [("1", "(B)"), ("1", "(C)"), ("1", "(Z)")]


# -- the authors' files

ANSWERS = {
    "val_Counting_1": "(D)",
    "val_Counting_2": "(D)",
    "val_Counting_69": "(C)",
    "val_Jigsaw_1": "(A)",
}


def results(folder: Path, rows: list[dict[str, Any]], subtask: str = "Counting") -> Path:
    folder.mkdir(exist_ok=True)
    content = {"val": rows, "test": [{"idx": "test_Counting_1", "full_prediction": "A"}]}
    (folder / f"{subtask}.json").write_text(json.dumps(content))
    return folder


def result(name: str, reply: object, prediction: object) -> dict[str, Any]:
    return {"idx": name, "full_prediction": reply, "prediction": prediction}


def score(folder: Path) -> Result:
    data = folder.parent / "val_answers.json"
    data.write_text(json.dumps(ANSWERS))
    return snellen.score(folder, blink(data=data), scorings=["official"])


def test_the_stored_predictions_count_and_subtasks_weigh_the_same(tmp_path: Path) -> None:
    rows = [
        result("val_Counting_1", "It is:\n(D) 1", "(D)"),
        result("val_Counting_2", "(D) 0", "(D)"),
        result("val_Counting_69", "C", "(Z)"),  # from other code: the rule gives (C)
    ]
    folder = results(tmp_path / "GPT4o", rows)
    results(folder, [result("val_Jigsaw_1", "Look.", "(A) the second image")], "Jigsaw")
    report = score(folder).report.scorings["official"]
    assert report.metrics["accuracy"].value == pytest.approx(2 / 3 / 2)
    assert report.metrics["micro_accuracy"].value == pytest.approx(2 / 4)
    assert report.metrics["accuracy"].n == 4


def test_missing_null_and_other_predictions_are_wrong_and_the_last_row_counts(
    tmp_path: Path,
) -> None:
    rows = [
        result("val_Counting_1", "(D)", None),
        result("val_Counting_2", None, "(A)"),
        result("val_Counting_2", None, "(D)"),
        result("val_Counting_69", ["(C)"], 3),
    ]
    report = score(results(tmp_path / "model", rows)).report.scorings["official"]
    assert report.metrics["micro_accuracy"].value == 1 / 4
    assert report.metrics["micro_accuracy"].n == 4


def test_replies_without_stored_predictions_are_left_to_rules_and_judge(tmp_path: Path) -> None:
    rows = [
        {"idx": "val_Counting_1", "full_prediction": "(D)"},
        {"idx": "val_Counting_2", "full_prediction": "It is none of these."},
    ]
    report = score(results(tmp_path / "model", rows)).report.scorings["official"]
    assert report.readings["not-judged"] == 1


def test_a_row_without_an_id_is_named(tmp_path: Path) -> None:
    folder = results(tmp_path / "model", [{"full_prediction": "A"}])
    with pytest.raises(DataError, match=r"Counting\.json, val, row 1 has no idx"):
        layout(folder)


def test_other_folders_and_files_are_not_in_the_authors_format(tmp_path: Path) -> None:
    (tmp_path / "replies.json").write_text('{"val_Counting_1": "(A)"}')
    assert layout(tmp_path) is None
    assert layout(tmp_path / "replies.json") is None
    assert layout(tmp_path / "absent.json") is None
