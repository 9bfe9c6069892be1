"""MME: its rows, prompts, sums, files of results, and each rule of its scorings."""

import base64
import gzip
import json
import shutil
from pathlib import Path

import pytest

import snellen
from snellen import registry
from snellen.analysis.result import Result
from snellen.benchmarks import mme as file
from snellen.benchmarks.mme import COGNITION, PERCEPTION, TASKS, Preset, mme
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "mme"
TABLES = BUNDLED / "eval_tool" / "Your_Results"
ROOT = "MME_Benchmark_release_version"
DOG = Sample(id="1", question="Is there a dog?", choices=("yes", "no"), target="no")


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    actual = (benchmark.sample(row.position, row) for row in benchmark.data)
    return {sample.id: sample for sample in actual}


def read(scoring: str, reply: str) -> str | None:
    reading: Reading = mme(data=BUNDLED).scorings[scoring].parse(Reply(text=reply), DOG)
    assert isinstance(reading.answer, str | None)
    return reading.answer


# -- data


def test_every_task_has_its_questions_two_to_an_image() -> None:
    actual = samples(mme(data=BUNDLED))
    assert list(actual)[:3] == ["existence/0001.jpg/1", "existence/0001.jpg/2", "count/0004.jpg/1"]
    assert [sample.tags["task"] for sample in actual.values()] == [t for t in TASKS for _ in "12"]
    assert [sample.target for sample in actual.values()] == ["yes", "no"] * 14


def test_there_are_ten_tasks_of_perception_and_four_of_cognition() -> None:
    assert (len(PERCEPTION), len(COGNITION), len(set(TASKS))) == (10, 4, 14)


def test_a_found_pictureopens_in_both_kinds_of_folders() -> None:
    actual = samples(mme(data=BUNDLED))
    for name, position in (
        ("existence/0001.jpg/1", "existence/0001.jpg"),
        ("artwork/square.jpg/2", "artwork/images/square.jpg"),
    ):
        (picture,) = actual[name].media
        assert isinstance(picture, Image)
        assert (picture.label, images.load(picture).width) == (position, 64)


@pytest.mark.parametrize(
    "tables",
    ["Your_Results", "eval_tool/Your_Results", f"{ROOT}/eval_tool/Your_Results"],
)
def test_the_authors_tables_are_found_in_their_layouts(tmp_path: Path, tables: str) -> None:
    folder = tmp_path / tables
    folder.mkdir(parents=True)
    for path in TABLES.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    assert len(samples(mme(data=tmp_path))) == 28


def test_the_archives_own_texts_are_read_where_there_are_no_tables(tmp_path: Path) -> None:
    for task in TASKS:
        apart = (BUNDLED / ROOT / task / "images").is_dir()
        inside, texts = ("images", "questions_answers_YN") if apart else ("", "")
        for folder in (inside, texts):
            (tmp_path / ROOT / task / folder).mkdir(parents=True, exist_ok=True)
        lines = [line.split("\t") for line in (TABLES / f"{task}.txt").read_text().splitlines()]
        name = lines[0][0]
        picture = (BUNDLED / ROOT / task / inside / name).read_bytes()
        (tmp_path / ROOT / task / inside / name).write_bytes(picture)
        text = "\n".join(f"{question}\t{answer}" for _, question, answer in lines)
        (tmp_path / ROOT / task / texts / name).with_suffix(".txt").write_text(text)
    ours, theirs = samples(mme(data=tmp_path)), samples(mme(data=BUNDLED))
    assert {n: (s.question, s.target, s.tags) for n, s in ours.items()} == {
        n: (s.question, s.target, s.tags) for n, s in theirs.items()
    }
    (shown_picture,) = ours["artwork/square.jpg/2"].media
    assert isinstance(shown_picture, Image)
    assert images.load(shown_picture).width == 64


def test_vlmevalkits_sheet_is_read(tmp_path: Path) -> None:
    picture = base64.b64encode((BUNDLED / ROOT / "existence/0001.jpg").read_bytes()).decode()
    rows = [
        "index\timage\timage_path\tquestion\tanswer\tcategory",
        f"0\t{picture}\texistence/a.jpg\tIs it? Please answer yes or no.\tYes\texistence",
        "1\t0\texistence/a.jpg\tIs it not? Please answer yes or no.\tNo\texistence",
    ]
    (tmp_path / "MME.tsv").write_text("\n".join(rows) + "\n")
    actual = samples(mme(data=tmp_path))
    assert list(actual) == ["0", "1"]
    assert [sample.tags["question"] for sample in actual.values()] == ["question 1", "question 2"]
    assert (actual["1"].target, actual["1"].tags["task"]) == ("no", "existence")
    (shown_picture,) = actual["1"].media
    assert isinstance(shown_picture, Image)
    assert images.load(shown_picture).width == 64


def test_a_table_that_is_cut_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "Your_Results").mkdir()
    (tmp_path / "Your_Results" / "existence.txt").write_text("a.jpg\tIs it?\n")
    with pytest.raises(DataError, match="line 1 has 2 columns"):
        samples(mme(data=tmp_path))


def test_what_tasks_share_of_cocos_pictures_is_one_cluster() -> None:
    cluster = mme(data=BUNDLED).cluster_by
    assert cluster is not None

    def of(task: str) -> str:
        return cluster(
            Sample(id="1", question="?", tags={"task": task}, data={"image": "0001.jpg"})
        )

    assert of("count") == of("existence") != of("OCR") != of("celebrity")


@pytest.mark.parametrize("name", ["MME", "mme"])
def test_other_toolkits_names_are_known(name: str) -> None:
    assert registry.benchmark(name, data=BUNDLED).name == "mme"


# -- prompts

SHORT = "\nAnswer the question using a single word or phrase."
ASK = " Please answer yes or no."


@pytest.mark.parametrize(
    ("preset", "behind"),
    [("official", ASK), ("vlmevalkit", ASK), ("llava", SHORT), ("lmms-eval", SHORT)],
)
@pytest.mark.parametrize(
    ("sample", "text"),
    [
        ("existence/0001.jpg/1", "Is there a disc in this image?"),
        ("OCR/0001.jpg/2", 'Is the word in the picture "SILK"?'),
        ("scene/hill.jpg/1", "Does this image show a hill?"),
    ],
)
def test_a_prompt_is_the_question_behind_the_picture(
    preset: Preset, behind: str, sample: str, text: str
) -> None:
    benchmark = mme(prompt=preset, data=BUNDLED)
    request = samples(benchmark)[sample]
    (message,) = benchmark.prompt(request, ())
    assert message.content == (*request.media, text + behind)


@pytest.mark.parametrize(("preset", "text"), [("llava", "Is it?"), ("lmms-eval", "Is it? ")])
def test_two_blanks_before_the_suffix_leave_one_to_lmms_eval(preset: Preset, text: str) -> None:
    sample = Sample(id="1", question="Is it?  Please answer yes or no.", target="no")
    (message,) = mme(prompt=preset, data=BUNDLED).prompt(sample, ())
    assert message.text == text + SHORT


# -- scoring


@pytest.mark.parametrize(
    ("reason", "reply", "official", "lmms"),
    [
        ("the word", "Yes", "yes", "yes"),
        ("the word with a line's end", "no\n", "no", "no"),
        ("small letters or large", "NO, there is none", "no", "no"),
        ("four signs alone", "noyes", "no", "no"),
        ("yes first where both are", "Yes and no", "yes", "yes"),
        ("inside a word", "eyes", "yes", "yes"),
        ("inside another", "Know it", "no", "no"),
        ("two blanks before", "  no", "no", "no"),
        ("three blanks before", "   no", None, "no"),
        ("a line's end counts", "\n\n\nyes", None, "yes"),
        ("behind the first four signs", "The answer is yes", None, None),
        ("full stops", "...no", None, "no"),
        ("full stops inside", "n.o", None, "no"),
        ("three blanks behind a full stop", ".   no", None, None),
        ("a letter", "y", None, "yes"),
        ("another letter", "N.", None, "no"),
        ("any letter", "x", None, None),
        ("nothing", "", None, None),
    ],
)
def test_a_reply_is_read_by_its_first_four_signs(
    reason: str, reply: str, official: str | None, lmms: str | None
) -> None:
    assert (read("official", reply), read("lmms-eval", reply)) == (official, lmms)


def test_vlmevalkit_and_robust_read_a_word_wherever_it_stands() -> None:
    assert read("vlmevalkit", "The answer is yes") == "yes"
    assert read("vlmevalkit", "**Yes**") is None
    assert read("robust", "**Yes**") == "yes"
    assert read("robust", "Yes and no") is None


# -- figures


def result_of(replies: dict[str, str], folder: Path) -> Result:
    path = folder / "replies.json"
    path.write_text(json.dumps(replies))
    return snellen.score(path, "mme", data=BUNDLED)


def test_points_are_a_hundred_times_both_shares_summed_over_tasks(tmp_path: Path) -> None:
    """Both right in existence and OCR, the first alone in count, all else wrong."""
    wrong = {"yes": "no", "no": "yes"}
    replies = {}
    for name, sample in samples(mme(data=BUNDLED)).items():
        task, first = sample.tags["task"], name.endswith("/1")
        right = task in ("existence", "OCR", "code_reasoning") or (task == "count" and first)
        assert sample.target is not None
        replies[name] = sample.target if right else wrong[sample.target]
    metrics = result_of(replies, tmp_path).report.scorings["official"].metrics
    assert {name: metrics[name].value for name in ("score", "perception", "cognition")} == {
        "score": 650.0,
        "perception": 450.0,
        "cognition": 200.0,
    }
    assert metrics["score"].unit == "points"
    assert metrics["acc"].value == pytest.approx(7 / 28)
    assert metrics["acc_plus"].value == pytest.approx(3 / 14)
    assert (metrics["acc"].n, metrics["acc_plus"].n) == (28, 14)
    assert metrics["score/count"].value == 50.0
    assert metrics["score/existence"].value == 200.0
    assert not {"perception/count", "score/question 1", "acc/question 1"} & set(metrics)


def test_a_sum_has_no_value_where_a_task_has_no_replies(tmp_path: Path) -> None:
    replies = {
        name: "yes"
        for name, sample in samples(mme(data=BUNDLED)).items()
        if sample.tags["task"] in PERCEPTION
    }
    metrics = result_of(replies, tmp_path).report.scorings["official"].metrics
    assert metrics["perception"].value == 10 * 50.0
    assert metrics["score"].value is None
    assert "4 of its 14 tasks: commonsense_reasoning" in (metrics["score"].reason or "")
    assert metrics["cognition"].value is None


def test_an_image_with_one_reply_is_in_acc_and_not_in_acc_plus(tmp_path: Path) -> None:
    replies = {name: "yes" for name in samples(mme(data=BUNDLED))}
    del replies["existence/0001.jpg/2"]
    metrics = result_of(replies, tmp_path).report.scorings["official"].metrics
    assert (metrics["acc"].n, metrics["acc_plus"].n) == (27, 13)


def sheet(folder: Path) -> Path:
    """VLMEvalKit's sheet with two images for the first task, one for each other, all of yes."""
    picture = base64.b64encode((BUNDLED / ROOT / "existence/0001.jpg").read_bytes()).decode()
    lines = ["index\timage\timage_path\tquestion\tanswer\tcategory"]
    for task in ("existence", *TASKS):
        n = len(lines) - 1
        lines += [
            f"{index}\t{picture}\t{task}/{n}.jpg\tIs it{'?' * (1 + index - n)}\tYes\t{task}"
            for index in (n, n + 1)
        ]
    path = folder / "MME.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("scoring", ["official", "lmms-eval"])
def test_tasks_count_the_same_however_many_images_they_have(tmp_path: Path, scoring: str) -> None:
    """One of the first task's two images is wrong: (100 + 100) / 2 and nine times 200."""
    replies = {str(index): "no" if index < 2 else "yes" for index in range(30)}
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(replies))
    report = snellen.score(path, "mme", data=sheet(tmp_path)).report
    metrics = report.scorings[scoring].metrics
    assert metrics["perception"].value == pytest.approx(1900)
    assert metrics["cognition"].value == pytest.approx(800)


def test_points_leave_an_image_with_one_reply_out_of_acc_plus(tmp_path: Path) -> None:
    """Of the first task one image is wrong twice, of the other one question is right: a third of
    the questions, and none of one image."""
    replies = {str(index): "no" if index < 2 else "yes" for index in range(30) if index != 3}
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(replies))
    report = snellen.score(path, "mme", data=sheet(tmp_path)).report
    metrics = report.scorings["official"].metrics
    assert metrics["score/existence"].value == pytest.approx(100 / 3)


# -- the authors' files of results


def test_a_reply_may_hold_what_ends_lines_elsewhere(tmp_path: Path) -> None:
    folder = results(tmp_path / "out", reply="yes\u2028or\x0bso")
    assert snellen.score(folder, "mme", data=BUNDLED).report.replies == {"ok": 28}


def results(folder: Path, reply: str = "Yes, it is.", packed: bool = False) -> Path:
    folder.mkdir()
    for path in TABLES.iterdir():
        text = "".join(f"{line}\t{reply}\n" for line in path.read_text().splitlines())
        if packed:
            (folder / f"{path.name}.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (folder / path.name).write_text(text)
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_of_results_is_read(tmp_path: Path, packed: bool) -> None:
    report = snellen.score(results(tmp_path / "out", packed=packed), "mme", data=BUNDLED).report
    assert report.replies == {"ok": 28}
    assert report.scorings["official"].metrics["score"].value == 700.0


def test_blanks_within_a_question_do_not_tell_it_apart(tmp_path: Path) -> None:
    folder = results(tmp_path / "out")
    path = folder / "count.txt"
    path.write_text(path.read_text().replace("two discs", "two  discs"))
    assert snellen.score(folder, "mme", data=BUNDLED).report.replies == {"ok": 28}


def test_a_file_whose_lines_are_not_paired_by_image_says_so(tmp_path: Path) -> None:
    """calculation.py#L99 pairs lines; here are two images whose lines are woven together."""
    path = results(tmp_path / "model")
    text = path / "count.txt"
    tables = tmp_path / "tables"
    shutil.copytree(TABLES, tables / "Your_Results")
    (first, second) = text.read_text().splitlines()
    others = [line.replace("0004.jpg", "0005.jpg") for line in (first, second)]
    questions = (tables / "Your_Results" / "count.txt").read_text().rstrip("\n")
    more = [line.rsplit("\t", 1)[0] for line in others]
    (tables / "Your_Results" / "count.txt").write_text("\n".join([questions, *more]) + "\n")

    def notes() -> list[str]:
        every_note = snellen.score(path, "mme", data=tables).report.notes
        return [note for note in every_note if "not in the authors' order" in note]

    text.write_text("\n".join([others[0], others[1], second, first]) + "\n")
    assert notes() == []
    text.write_text("\n".join([first, others[0], second, others[1]]) + "\n")
    (note,) = notes()
    assert note.startswith("official: ")
    assert "2 of 15 pairs of consecutive lines are not about the same image" in note
    assert "The authors' script pairs questions by line" in note


def test_what_the_authors_script_does_with_missing_lines_is_said(tmp_path: Path) -> None:
    path = results(tmp_path / "model")
    (path / "count.txt").write_text((path / "count.txt").read_text().splitlines()[0] + "\n")
    notes = snellen.score(path, "mme", data=BUNDLED).report.notes
    (note,) = [note for note in notes if note.startswith("official: 1 rows")]
    assert "stops if a task has no file, an odd number of lines" in note
    assert "by its rule" not in note


def test_a_row_of_three_columns_has_no_reply_and_one_of_five_is_refused(tmp_path: Path) -> None:
    folder = results(tmp_path / "out")
    path = folder / "count.txt"
    first, second = path.read_text().splitlines()
    path.write_text(first.rpartition("\t")[0] + "\n" + second + "\n")
    report = snellen.score(folder, "mme", data=BUNDLED).report
    assert report.replies == {"ok": 27, "absent": 1}
    path.write_text(f"{first}\tand so\n{second}\n")
    with pytest.raises(DataError, match="line 1 has 5 columns"):
        snellen.score(folder, "mme", data=BUNDLED)


def test_a_result_that_is_to_no_question_or_comes_twice_is_refused(tmp_path: Path) -> None:
    folder = results(tmp_path / "out")
    path = folder / "count.txt"
    text = path.read_text()
    path.write_text(text.replace("two discs", "ten discs"))
    with pytest.raises(DataError, match="has no question"):
        snellen.score(folder, "mme", data=BUNDLED)
    path.write_text(text + text)
    with pytest.raises(DataError, match="a second reply"):
        snellen.score(folder, "mme", data=BUNDLED)


def test_llavas_answers_have_both_questions_of_an_image_by_one_id(tmp_path: Path) -> None:
    rows = [
        {
            "question_id": name.rpartition("/")[0].replace("artwork/", "artwork/images/"),
            "prompt": sample.question.removesuffix(ASK) + SHORT,
            "text": (sample.target or "").capitalize(),
            "answer_id": "x",
            "model_id": "m",
            "metadata": {},
        }
        for name, sample in samples(mme(data=BUNDLED)).items()
    ]
    path = tmp_path / "llava.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    metrics = snellen.score(path, "mme", data=BUNDLED).report.scorings["official"].metrics
    assert metrics["score"].value == 2800.0
