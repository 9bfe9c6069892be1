"""GQA: its rows in every form, its prompts, each scoring's rule, and the authors' further metrics.

Figures "of the script" are those of the authors' eval.py 1.1, run on the same files (the copy that
the benchmark names).
"""

import json
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import snellen
from snellen.benchmarks import gqa as file
from snellen.benchmarks.gqa import Preset, Split, gqa
from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image
from snellen.metrics.gqa import TAGS
from snellen.scoring import Report, score_predictions

BUNDLED = Path(file.__file__).parent / "rows" / "gqa"
QUESTION: dict[str, Any] = {
    "question": "Is the cup to the left of the plate?",
    "imageId": "n900001",
    "isBalanced": True,
    "answer": "no",
    "fullAnswer": "No.",
    "groups": {"global": None, "local": "13-cup_plate"},
    "entailed": [],
    "equivalent": ["0201"],
    "types": {"structural": "verify", "semantic": "rel", "detailed": "relVerify"},
    "semantic": [{"operation": "select", "argument": "plate (1)", "dependencies": []}],
    "annotations": {"question": {}, "answer": {}, "fullAnswer": {}},
}


def written(folder: Path, content: object, name: str = "testdev_balanced_questions.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return folder


def samples(benchmark: Benchmark) -> list[Sample]:
    return [benchmark.sample(row.position, row) for row in benchmark.data]


def only_sample(folder: Path, **fields: Any) -> Sample:
    (sample,) = samples(gqa(data=written(folder, {"0201": {**QUESTION, **fields}})))
    return sample


# -- rows


def test_a_sample_is_tagged_as_the_authors_break_down() -> None:
    (sample, *_) = samples(gqa(data=BUNDLED))
    assert (sample.id, sample.target) == ("020000011", "yes")
    assert sample.tags == {
        "answer": "binary",
        "structural": "verify",
        "semantic": "rel",
        "types": "verify rel",
        "steps": "2 steps",
        "words": "9 words",
        "balanced": "balanced",
        "question": "020000011",
        "detailed": "existRelS",
        "group": "",
        "entailed": "020000011 020000012",
    }


def test_a_query_is_open_and_all_else_binary() -> None:
    actual = {
        sample.tags["structural"]: sample.tags["answer"] for sample in samples(gqa(data=BUNDLED))
    }
    assert actual.pop("query") == "open"
    assert set(actual) == {"verify", "choose", "logical", "compare"}
    assert set(actual.values()) == {"binary"}


@pytest.mark.parametrize(
    ("steps", "n"),
    [
        ((("select", "cup"), ("query", "color")), 2),
        ((("select", "cup"), ("query", "name")), 1),
        ((("select", "cup"), ("exist", "?")), 1),
        ((("select", "cup"), ("choose name", "cup|jug")), 1),
        ((("select", "nonexistent"), ("verify", "x")), 1),
        ((("choose", "name"), ("query", "names")), 1),
    ],
)
def test_a_step_that_only_asks_is_not_counted(
    tmp_path: Path, steps: tuple[tuple[str, str], ...], n: int
) -> None:
    """The authors look for `exist`, `query: name` and `choose name` in "operation: argument"."""
    semantic = [{"operation": operation, "argument": argument} for operation, argument in steps]
    assert only_sample(tmp_path, semantic=semantic).tags["steps"] == f"{n} steps"


def test_words_are_what_blanks_part(tmp_path: Path) -> None:
    assert only_sample(tmp_path, question="Is it  a T-shirt?").tags["words"] == "4 words"


def test_zeros_at_the_beginning_of_an_id_stay() -> None:
    assert all(sample.id.startswith("0") for sample in samples(gqa(data=BUNDLED)))


def test_each_bundled_picture_opens() -> None:
    for sample in samples(gqa(data=BUNDLED)):
        (picture,) = sample.media
        assert isinstance(picture, Image)
        assert images.load(picture).width == 96


def test_questions_about_one_picture_are_a_cluster() -> None:
    benchmark = gqa(data=BUNDLED)
    assert benchmark.cluster_by is not None
    assert len({benchmark.cluster_by(sample) for sample in samples(benchmark)}) == 4


def test_the_larger_split_has_the_balanced_questions_and_others() -> None:
    actual = samples(gqa(split="testdev_all", data=BUNDLED))
    even = {sample.id for sample in actual if sample.tags["balanced"]}
    assert len(actual) == 15
    assert even == {sample.id for sample in samples(gqa(data=BUNDLED))}


def test_answers_to_test_are_hidden() -> None:
    actual = samples(gqa(split="test_balanced", data=BUNDLED))
    assert len(actual) == 12
    assert all(sample.hidden for sample in actual)


@pytest.mark.parametrize("folder", ["", "questions1.2/", "questions/", "annotations/"])
def test_the_file_is_found_where_it_is_usually_put(tmp_path: Path, folder: str) -> None:
    written(tmp_path, {"0201": QUESTION}, f"{folder}testdev_balanced_questions.json")
    (sample,) = samples(gqa(data=tmp_path))
    (picture,) = sample.media
    assert isinstance(picture, Image)
    assert picture.source == tmp_path / "images/n900001.jpg"


@pytest.mark.parametrize("answer", ["answer", "gt_answers", "gt_answer"])
@pytest.mark.parametrize("right", ["no", ["no"]])
def test_laviss_list_is_read_with_its_own_names(tmp_path: Path, answer: str, right: object) -> None:
    row = {"question_id": 262148000, "image": "n9.jpg", "question": "Is it?", answer: right}
    (sample,) = samples(gqa(data=written(tmp_path, [row])))
    assert (sample.id, sample.target, sample.question) == ("262148000", "no", "Is it?")
    assert sample.tags["structural"] == sample.tags["steps"] == ""
    assert sample.tags["balanced"] == "balanced"
    (picture,) = sample.media
    assert isinstance(picture, Image)
    assert picture.source == tmp_path / "images/n9.jpg"


def test_vlmevalkits_sheet_has_its_pictures_in_the_rows(tmp_path: Path) -> None:
    rows = f"index\timage\tquestion\tanswer\n5\t{'AAAA' * 30}\tIs it?\tno\n6\t5\tIsn't it?\tyes\n"
    (tmp_path / "GQA_TestDev_Balanced.tsv").write_text(rows)
    benchmark = gqa(data=tmp_path)
    first, second = samples(benchmark)
    assert (first.id, first.target, second.id, second.target) == ("5", "no", "6", "yes")
    assert benchmark.cluster_by is not None
    assert benchmark.cluster_by(first) == benchmark.cluster_by(second)


def test_the_hubs_mirror_has_questions_and_pictures_in_two_folders(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    request, shown = (
        tmp_path / "testdev_balanced_instructions",
        tmp_path / "testdev_balanced_images",
    )
    for folder in (request, shown):
        folder.mkdir()
    image = {"bytes": (BUNDLED / "images/n900017.jpg").read_bytes(), "path": None}
    row = {"id": "0201", **{key: QUESTION[key] for key in QUESTION if key != "annotations"}}
    row |= {"entailed": "['0202', '0203']"}
    parquet.write_table(arrow.Table.from_pylist([row]), request / "testdev-00000-of-00001.parquet")
    parquet.write_table(
        arrow.Table.from_pylist([{"id": "n900001", "image": image}]),
        shown / "testdev-00000-of-00001.parquet",
    )
    (sample,) = samples(gqa(data=tmp_path))
    assert (sample.id, sample.tags["structural"]) == ("0201", "verify")
    assert sample.tags["entailed"] == "0202 0203"
    (picture,) = sample.media
    assert isinstance(picture, Image)
    assert images.load(picture).width == 96


def test_another_object_is_said_not_to_be_the_authors(tmp_path: Path) -> None:
    benchmark = gqa(data=written(tmp_path, {"questions": [1, 2]}))
    with pytest.raises(DataError, match="not in the format that the data set's authors publish"):
        samples(benchmark)


def test_nothing_is_opened_before_the_first_row(tmp_path: Path) -> None:
    benchmark = gqa(data=tmp_path / "absent")
    with pytest.raises(DataError, match=r"testdev_balanced_questions\.json"):
        next(iter(benchmark.data))


# -- prompts

SHORT = "\nAnswer the question using a single word or phrase."


@pytest.mark.parametrize(
    ("preset", "number", "text"),
    [
        # haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:docs/Evaluation.md#L13-L18
        ("llava", 0, f"Is the apple to the left of the cup?{SHORT}"),
        ("llava", 1, f"What is to the right of the apple?{SHORT}"),
        ("llava", 5, f"Do the car and the light have the same color?{SHORT}"),
        # open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:
        # vlmeval/dataset/image_vqa.py#L64-L69
        ("vlmevalkit", 0, f"Is the apple to the left of the cup?{SHORT}"),
        # EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
        # lmms_eval/tasks/gqa/gqa.yaml#L27-L30
        ("lmms-eval", 0, f"Is the apple to the left of the cup?{SHORT}"),
        # salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7:
        # lavis/projects/blip2/eval/gqa_zeroshot_flant5xl_eval.yaml#L38
        ("blip2", 0, "Question: is the apple to the left of the cup? Short answer:"),
        ("blip2", 1, "Question: what is to the right of the apple? Short answer:"),
        ("blip2", 5, "Question: do the car and the light have the same color? Short answer:"),
        # QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:eval_mm/evaluate_vqa.py#L281
        ("qwen-vl", 0, "Is the apple to the left of the cup? Answer:"),
        ("qwen-vl", 1, "What is to the right of the apple? Answer:"),
        ("qwen-vl", 5, "Do the car and the light have the same color? Answer:"),
    ],
)
def test_a_prompt_is_the_picture_and_then_its_sources_words(
    preset: Preset, number: int, text: str
) -> None:
    benchmark = gqa(prompt=preset, data=BUNDLED)
    sample = samples(benchmark)[number]
    (message,) = benchmark.prompt(sample, ())
    assert message.role == "user"
    assert message.content == (*sample.media, text)


@pytest.mark.parametrize(
    ("preset", "headline"),
    [
        ("llava", "llava"),
        ("vlmevalkit", "vlmevalkit"),
        ("lmms-eval", "lmms-eval"),
        ("blip2", "lavis"),
        ("qwen-vl", "qwen-vl"),
    ],
)
def test_the_headline_belongs_to_the_prompt(preset: Preset, headline: str) -> None:
    benchmark = gqa(prompt=preset, data=BUNDLED)
    assert benchmark.headline == headline
    assert benchmark.check is not None
    assert set(benchmark.check.expect) == set(benchmark.scorings)


# -- scoring

READ_BY = ("official", "llava", "lavis", "lavis-2023", "mmpretrain", "vlmevalkit", "lmms-eval")


@pytest.mark.parametrize(
    ("reply", "right", "by"),
    [
        (
            "t-shirt",
            "t-shirt",
            {"official", "llava", "vlmevalkit", "lmms-eval", "lavis", "mmpretrain"},
        ),
        ("t shirt", "t-shirt", {"lavis", "mmpretrain"}),
        ("tshirt", "t-shirt", {"lmms-eval"}),
        ("No", "no", set(READ_BY) - {"official"}),
        ("no.", "no", set(READ_BY) - {"official", "vlmevalkit"}),
        ("no..", "no", set(READ_BY) - {"official", "vlmevalkit"}),
        # Blanks go before the full stops, of which only those at the end go, and no blanks after.
        ("no. ", "no", {"llava", "lavis", "lavis-2023", "mmpretrain"}),
        ("no .", "no", {"lavis", "lavis-2023", "mmpretrain"}),
        (".no", "no", {"lavis", "lavis-2023", "mmpretrain", "lmms-eval"}),
        (" no", "no", set(READ_BY) - {"official", "lmms-eval"}),
        ("no\n", "no", set(READ_BY) - {"official", "lmms-eval"}),
        ("no!", "no", {"lavis", "lavis-2023", "mmpretrain", "lmms-eval"}),
        ("a cat", "cat", {"lavis", "lavis-2023", "mmpretrain"}),
        ("cat", "a cat", {"lavis", "mmpretrain"}),
        ("two", "2", {"lavis", "lavis-2023", "mmpretrain"}),
        ("İ.", "İ", {"lavis", "mmpretrain"}),
        ("no", " No", {"lavis", "mmpretrain", "vlmevalkit"}),
        # Unlike VQA's evaluation they see the line end behind the hyphen, and no blank.
        ("x-y c-\nd", "x y c d", {"lavis", "lavis-2023", "mmpretrain"}),
        ("cats", "cat", set()),
        ("", "no", set()),
    ],
)
def test_each_scoring_compares_in_its_own_way(
    tmp_path: Path, reply: str, right: str, by: set[str]
) -> None:
    benchmark = gqa(data=written(tmp_path, {"0201": {**QUESTION, "answer": right}}))
    (sample,) = samples(benchmark)
    names = set()
    for name in READ_BY:
        scoring = benchmark.scorings[name]
        if scoring.score(scoring.parse(Reply(text=reply), sample), sample):
            names.add(name)
    assert names == by


@pytest.mark.parametrize(
    ("reply", "right", "worth"),
    [
        ("No", "no", 1.0),
        ("Yes, it is red.", "yes", 1.0),
        ("It is a dog.", "dog", 1.0),
        ("They are the trees", "trees", 1.0),
        ("bottle of wine", "bottle", 1.0),
        ("stop! now", "stop", 1.0),
        ("dog", " Dog", 1.0),
        ("banana tree", "tree", 1.0),
        ("banana tree", "banana tree", 0.0),
        ("it is what is", "what", 0.0),
        ("it is what is", "what is", 1.0),
        ("it is what is red", "what", 1.0),
        # evaluate_vqa.py#L401-L420: no question mark, words in this order, " of" in a word, too.
        ("no? maybe", "no", 0.0),
        ("They are trees", "trees", 1.0),
        ("an owl", "owl", 1.0),
        ("a bus an ox a cat", "ox", 1.0),
        ("a red office", "red", 1.0),
        ("bottle of glass of wine", "bottle", 1.0),
        (" of wood", "of wood", 1.0),
        ("", "no", 0.0),
    ],
)
def test_qwen_vls_script_cuts_a_reply_to_a_word(
    tmp_path: Path, reply: str, right: str, worth: float
) -> None:
    benchmark = gqa(data=written(tmp_path, {"0201": {**QUESTION, "answer": right}}))
    (sample,) = samples(benchmark)
    scoring = benchmark.scorings["qwen-vl"]
    assert scoring.score(scoring.parse(Reply(text=reply), sample), sample) == worth


@pytest.mark.parametrize(
    ("reply", "worth"),
    [
        ("The answer is **No**.", 1.0),
        ("No.", 1.0),
        ("no", 1.0),
        ("There is no cup.", 0.0),
        ("", 0.0),
    ],
)
def test_robust_takes_the_phrase_that_a_reply_settles_on(
    tmp_path: Path, reply: str, worth: float
) -> None:
    benchmark = gqa(data=written(tmp_path, {"0201": QUESTION}))
    (sample,) = samples(benchmark)
    scoring = benchmark.scorings["robust"]
    assert scoring.score(scoring.parse(Reply(text=reply), sample), sample) == worth


@pytest.mark.parametrize(
    ("scoring", "figure"),
    [
        # The authors' script stops there.
        ("official", (0.5, 2)),
        ("llava", (0.5, 2)),
        ("robust", (0.5, 2)),
        # Its files have a row for each question, and the failed ones are scored.
        ("vlmevalkit", (0.5, 2)),
        # The others score the questions that their own models were asked.
        ("lavis", (1.0, 1)),
        ("lavis-2023", (1.0, 1)),
        ("mmpretrain", (1.0, 1)),
        ("lmms-eval", (1.0, 1)),
        ("qwen-vl", (1.0, 1)),
    ],
)
def test_a_question_without_a_reply_is_wrong_or_not_counted(
    tmp_path: Path, scoring: str, figure: tuple[float, int]
) -> None:
    data = written(tmp_path, {"0201": QUESTION, "0202": QUESTION})
    report = score_predictions(gqa(data=data), {"0201": "no"}, where="here")
    metric = report.scorings[scoring].metrics["accuracy"]
    assert (metric.value, metric.n) == figure


# -- the authors' further metrics

ANSWERS = {
    "020000012": "no",
    "020000014": "green",
    "020000022": "no",
    "020000023": "Yes",
    "020000031": "sand",
    "020000032": "red.",
    "020000042": "material",
    "020000043": "no",
}
WORDS = ["cup", "blue", "green", "red", "beach", "sand", "chair"]


def answers(changed: dict[str, str]) -> dict[str, str]:
    rows = json.loads((BUNDLED / "testdev_all_questions.json").read_text())
    return {name: changed.get(name, row["answer"]) for name, row in rows.items()}


def with_choices(folder: Path) -> Path:
    """The bundled questions, and what is valid and plausible for them, as the authors write it."""
    rows = json.loads((BUNDLED / "testdev_all_questions.json").read_text())
    choices = {
        name: {
            "valid": ["yes", "no"] if row["answer"] in ("yes", "no") else WORDS,
            "plausible": [row["answer"]],
        }
        for name, row in rows.items()
    }
    written(folder, choices, "testdev_choices.json")
    return written(folder, rows, "testdev_all_questions.json")


def report(folder: Path, replies: dict[str, str], split: Split = "testdev_all") -> Report:
    """A report in which metrics see every tag that they need."""
    benchmark = gqa(split=split, data=folder)
    tags = dict.fromkeys((*benchmark.presentation.break_down_by, *TAGS))
    return score_predictions(vary(benchmark, break_down_by=tuple(tags)), replies, where="here")


def test_every_figure_is_the_scripts(tmp_path: Path) -> None:
    metrics = report(with_choices(tmp_path), answers(ANSWERS)).scorings["official"].metrics
    script = {
        "accuracy": 50.0,
        "accuracy/binary": 50.0,
        "accuracy/open": 50.0,
        "validity": 75.0,
        "plausibility": 58.333333333333336,
        "consistency": 16.666666666666664,
        "accuracy/verify": 100.0,
        "accuracy/query": 50.0,
        "accuracy/choose": 100.0,
        "accuracy/logical": 0.0,
        "accuracy/compare": 50.0,
        "accuracy/rel": 100.0,
        "accuracy/attr": 40.0,
        "accuracy/obj": 0.0,
        "accuracy/global": 0.0,
        "accuracy/cat": 100.0,
        "accuracy/1 steps": 100.0,
        "accuracy/2 steps": 57.14285714285714,
        "accuracy/3 steps": 25.0,
        "accuracy/6 words": 100.0,
        "accuracy/11 words": 0.0,
    }
    assert {name: metrics[name].value for name in script} == {
        name: pytest.approx(value / 100, abs=1e-12) for name, value in script.items()
    }
    assert metrics["distribution"].value == pytest.approx(0.007857142857142858, abs=1e-15)
    assert (metrics["accuracy"].n, metrics["consistency"].n) == (12, 3)


def test_further_metrics_read_replies_as_their_scoring_does(tmp_path: Path) -> None:
    """LLaVA's "red." and "Yes" are "red" and "yes": both right, and "yes" is valid."""
    metrics = report(with_choices(tmp_path), answers(ANSWERS)).scorings["llava"].metrics
    assert metrics["accuracy"].value == pytest.approx(8 / 12)
    assert metrics["validity"].value == pytest.approx(11 / 12)
    assert metrics["consistency"].n == 4


def test_only_a_common_attribute_is_valid_where_one_is_asked_for(tmp_path: Path) -> None:
    folder = with_choices(tmp_path)
    common = dict.fromkeys(("color", "material", "shape"), 1.0)
    for reply, worth in {**common, "size": 11 / 12, "cup": 11 / 12}.items():
        metrics = report(folder, answers({"020000042": reply})).scorings["official"].metrics
        # "t-shirt" is not among the made valid words.
        assert metrics["validity"].value == pytest.approx(worth - 1 / 12)


def test_without_the_choices_nothing_is_said_of_validity(tmp_path: Path) -> None:
    """The authors' script says 0 %."""
    rows = json.loads((BUNDLED / "testdev_all_questions.json").read_text())
    folder = written(tmp_path, rows, "testdev_all_questions.json")
    metrics = report(folder, answers({})).scorings["official"].metrics
    for name in ("validity", "plausibility"):
        assert (metrics[name].value, metrics[name].n) == (None, 0)
        assert metrics[name].reason == "it needs the authors' testdev_choices.json"


def test_choices_of_another_release_are_told(tmp_path: Path) -> None:
    folder = with_choices(tmp_path)
    choices = json.loads((folder / "testdev_choices.json").read_text())
    del choices["020000011"], choices["020000014"]
    written(folder, choices, "eval/testdev_choices.json")
    (folder / "testdev_choices.json").unlink()
    metrics = report(folder, answers({})).scorings["official"].metrics
    assert metrics["validity"].value is None
    assert metrics["validity"].reason == (
        "testdev_choices.json lacks 2 questions, such as 020000011"
    )


def test_consistency_needs_the_questions_that_follow() -> None:
    metrics = report(BUNDLED, answers({}), "testdev_balanced").scorings["official"].metrics
    assert metrics["consistency"].value is None
    assert metrics["consistency"].reason == (
        "it needs the answers to all questions: 020000012, which follows from 020000011, is not "
        "among them"
    )


def test_consistency_asks_nothing_of_wrong_answers(tmp_path: Path) -> None:
    wrong = {name: "neither" for name in answers({})}
    metrics = report(with_choices(tmp_path), wrong).scorings["official"].metrics
    assert metrics["consistency"].value is None
    assert metrics["consistency"].reason == "no right answer entails another"


def test_a_question_does_not_follow_from_itself(tmp_path: Path) -> None:
    alone = {**QUESTION, "entailed": ["0201"]}
    folder = written(tmp_path, {"0201": alone}, "testdev_all_questions.json")
    metrics = report(folder, {"0201": "no"}).scorings["official"].metrics
    assert metrics["consistency"].value is None


def test_answers_that_are_right_nowhere_in_a_group_count_for_nothing(tmp_path: Path) -> None:
    """Of red, red, blue: red once and green twice. (1-2)²/2 + (0-1)²/1 = 1.5, by 100."""
    rows = {
        name: {**QUESTION, "answer": right, "groups": {"global": "color", "local": None}}
        for name, right in (("1", "red"), ("2", "red"), ("3", "blue"))
    }
    folder = written(tmp_path, rows, "testdev_all_questions.json")
    replies = {"1": "red", "2": "green", "3": "green"}
    metric = report(folder, replies).scorings["official"].metrics["distribution"]
    assert metric.value == pytest.approx(0.015)
    assert (metric.unit, metric.n) == ("chi-square", 3)
    assert metric.ci95 is None
    assert metric.reason is not None


def test_the_distribution_is_that_of_balanced_questions(tmp_path: Path) -> None:
    """Red and blue are right once each, and said: nothing is off. The other question is not."""
    rows = {
        name: {**QUESTION, "answer": right, "groups": {"global": "color"}, "isBalanced": balanced}
        for name, right, balanced in (("1", "red", True), ("2", "blue", True), ("3", "red", False))
    }
    folder = written(tmp_path, rows, "testdev_all_questions.json")
    replies = {"1": "red", "2": "blue", "3": "green"}
    metric = report(folder, replies).scorings["official"].metrics["distribution"]
    assert (metric.value, metric.n) == (0.0, 2)


def test_only_balanced_questions_count(tmp_path: Path) -> None:
    rows = {"1": QUESTION, "2": {**QUESTION, "isBalanced": False}}
    folder = written(tmp_path, rows, "testdev_all_questions.json")
    report = score_predictions(
        gqa(split="testdev_all", data=folder), {"1": "no", "2": "yes"}, where="here"
    )
    for scoring in report.scorings.values():
        metric = scoring.metrics["accuracy"]
        assert (metric.value, metric.n) == (1.0, 1)


# -- files in and out


def test_who_asks_in_vlmevalkits_way_gets_its_sheet(tmp_path: Path) -> None:
    (sheet,) = file.published(prompt="vlmevalkit")
    assert (sheet.name, sheet.md5) == (
        "GQA_TestDev_Balanced.tsv",
        "99b62f22e224d9b2f32dcbe41359d1c9",
    )
    rows = f"index\timage\tquestion\tanswer\n5\t{'AAAA' * 30}\tIs it?\tno\n"
    (tmp_path / sheet.name).write_text(rows)
    written(tmp_path, {"0201": QUESTION})
    actual = {preset: samples(gqa(prompt=preset, data=tmp_path))[0].id for preset in file.PROMPTS}
    assert actual.pop("vlmevalkit") == "5"
    assert set(actual.values()) == {"0201"}


def test_all_others_get_the_authors_archives() -> None:
    assert [entry.name for entry in file.published()] == ["questions1.2.zip", "images.zip"]
    assert file.published("val_all", "vlmevalkit") == file.published()


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("testdev_balanced_predictions.json", [{"questionId": "020000011", "prediction": "yes"}]),
        (
            "merge.jsonl",
            [{"question_id": "020000011", "prompt": "?", "text": "Yes", "answer_id": "a"}],
        ),
    ],
)
def test_the_authors_and_llavas_files_are_read(
    tmp_path: Path, name: str, rows: list[dict[str, str]]
) -> None:
    lines = [json.dumps(row) for row in rows]
    path = tmp_path / name
    path.write_text("\n".join(lines) if name.endswith("l") else f"[{','.join(lines)}]")
    result = snellen.score(path, "gqa", data=BUNDLED)
    assert result.report.scorings["llava"].metrics["accuracy"].value == pytest.approx(1 / 12)


def test_the_servers_file_has_llavas_words() -> None:
    benchmark = gqa(split="submission_all")
    assert benchmark.interop.submission is not None
    assert benchmark.interop.submission.name == "submission_all_predictions.json"
    assert benchmark.interop.submission.columns == ("questionId", "prediction")
    sample = Sample(id="020000011", question="?")
    assert benchmark.interop.submission.row(sample, "Yes.") == ("020000011", "yes")


# -- stored replies, scored again


def test_a_run_is_scored_again_with_the_choices_next_to_its_questions(tmp_path: Path) -> None:
    folder, spec = tmp_path / "gqa", "gqa:split=testdev_all"
    copytree(BUNDLED, folder)
    with_choices(folder)
    runs = [
        snellen.evaluate(spec, lambda _, word=word: word, data=folder, out=tmp_path / word)
        for word in ("yes", "cup")
    ]
    every = json.loads((BUNDLED / "testdev_all_questions.json").read_text()).values()
    rows = [row for row in every if row["isBalanced"]]
    valid = sum(row["answer"] in ("yes", "no") for row in rows) / len(rows)
    (pair,) = snellen.compare(*runs).comparisons.comparisons
    assert pair.metrics["validity"].a.value == pytest.approx(valid)
    (folder / "testdev_choices.json").unlink()
    (folder / "testdev_all_questions.json").unlink()
    (pair,) = snellen.compare(*runs).comparisons.comparisons
    assert pair.metrics["validity"].a.reason == "it needs the authors' testdev_choices.json"
    assert pair.metrics["accuracy"].difference.n == len(rows)


def test_runs_on_the_bundled_rows_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SNELLEN_HOME", f"{tmp_path}")  # without the published files
    runs = [
        snellen.evaluate("gqa", f"baseline/{name}", data="synthetic", out=tmp_path / "runs")
        for name in ("first", "random")
    ]
    (pair,) = snellen.compare(*runs).comparisons.comparisons
    assert pair.metrics["accuracy"].difference.n == 12
