"""SEED-Bench: its rows, prompts, rankings, letters, and the authors' files of results."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import seed_bench as file
from snellen.benchmarks.seed_bench import published, results, seed_bench
from snellen.core.benchmark import Benchmark
from snellen.core.exchange import Published
from snellen.core.model import Ranked, Reply, Request
from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.errors import DataError, UsageError
from snellen.media import images, video
from snellen.media.content import Image, Video
from snellen.scoring import score_predictions
from tests import videos

BUNDLED = Path(file.__file__).parent / "rows" / "seed_bench"
ASK = "Answer with the option's letter from the given choices directly."
COLORS = "A. red\nB. green\nC. black\nD. blue"
PLACES = "A. right\nB. left\nC. top\nD. bottom"


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    actual = (benchmark.read(row) for row in benchmark.data)
    return {sample.id: sample for sample in actual}


def write_questions(folder: Path, *rows: dict[str, Any], name: str = "SEED-Bench.json") -> Path:
    """A file of questions with what is left out filled in."""
    usual = {
        "answer": "B", "choice_a": "a cat", "choice_b": "a dog", "choice_c": "a cow",
        "choice_d": "a hen", "data_id": "1", "data_type": "image", "question": "Which?",
        "question_type_id": 1,
    }  # fmt: skip
    path = folder / name
    path.write_text(json.dumps({"questions": [usual | row for row in rows]}))
    return path


def read(scoring: str, reply: Reply, **options: Any) -> Reading:
    sample = Sample(
        id="1", question="Which?", choices=("a cat", "a dog", "a cow", "a hen"), target="B"
    )
    return seed_bench(data=BUNDLED, **options).scorings[scoring].parse(reply, sample)


# -- data


def test_questions_on_pictures_are_kept_and_those_on_videos_left_out() -> None:
    request = samples(seed_bench(data=BUNDLED))
    assert len(request) == 12
    assert set(samples(seed_bench(part="all", data=BUNDLED))) - set(request) == {"v7"}


def test_a_row_becomes_a_question_with_its_dimension() -> None:
    sample = samples(seed_bench(data=BUNDLED))["104"]
    assert sample.question == "What colour is the disc?"
    assert sample.choices == ("red", "green", "black", "blue")
    assert sample.target == "D"
    assert sample.tags == {"dimension": "Instance Attributes", "subpart": ""}
    (shown,) = sample.media
    assert isinstance(shown, Image)
    assert shown.label == "SEED-Bench-image/0_disc"
    assert images.load(shown).width == 96


def test_questions_on_one_picture_are_one_cluster() -> None:
    benchmark = seed_bench(data=BUNDLED)
    actual = samples(benchmark)
    assert benchmark.cluster_by is not None
    assert benchmark.cluster_by(actual["105"]) == benchmark.cluster_by(actual["109"])
    assert len({benchmark.cluster_by(sample) for sample in actual.values()}) == 10


def test_the_second_version_has_pictures_of_two_archives() -> None:
    actual = samples(seed_bench(version="2", data=BUNDLED))
    assert set(actual) == {"5_0", "12_1", "17_2", "23_3"}
    places = {name: [shown.label for shown in sample.media] for name, sample in actual.items()}
    assert places == {
        "5_0": ["SEED-Bench-image/0_bars"],
        "12_1": ["SEED-Bench-2-image/task12/0.png"],
        "17_2": ["SEED-Bench-2-image/task17/0_1.png", "SEED-Bench-2-image/task17/0_2.png"],
        "23_3": ["SEED-Bench-2-image/task23/0/1.png", "SEED-Bench-2-image/task23/0/2.png"],
    }
    assert actual["12_1"].tags == {
        "dimension": "Chart Understanding",
        "subpart": "Single-Image & Text Comprehension",
    }
    assert actual["23_3"].tags["dimension"] == "In-Context Captioning"


def test_2_plus_names_its_choices_in_capitals() -> None:
    actual = samples(seed_bench(version="2-plus", data=BUNDLED))
    assert actual["map_2"].choices == ("Q", "N", "P", "none")
    assert actual["map_2"].target == "C"
    assert {sample.tags["dimension"] for sample in actual.values()} == {"chart", "map", "web"}
    assert [shown.label for shown in actual["web_3"].media] == ["text_rich/4.png"]


def test_vlmevalkits_sheet_has_the_same_questions() -> None:
    ours = samples(seed_bench(data=BUNDLED))
    sheet = samples(seed_bench(rows="vlmevalkit", data=BUNDLED))
    assert set(sheet) == set(ours)
    for name, sample in sheet.items():
        assert (sample.question, sample.choices, sample.target, sample.tags) == (
            ours[name].question,
            ours[name].choices,
            ours[name].target,
            ours[name].tags,
        )
    assert sheet["105"].data["shown"] == sheet["109"].data["shown"]
    assert len({str(sample.data["shown"]) for sample in sheet.values()}) == 10


def test_a_question_id_that_comes_again_is_a_question_of_its_own(tmp_path: Path) -> None:
    path = write_questions(tmp_path, {"question_id": "7"}, {"question_id": "7", "answer": "C"})
    actual = samples(seed_bench(data=path))
    assert {name: sample.target for name, sample in actual.items()} == {"7": "B", "7#2": "C"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"questions": [{"que', "neither a JSON object with a list of questions"),
        ('{"answers": []}', "neither a JSON object with a list of questions"),
        ('{"questions": [7]}', "a question cannot be read"),
        ('{"questions": [{"question_id": "1", "question_type_id": 99}]}', "cannot be read"),
        ('{"question_id": "1", "prediction": "A"}', "gt_answer"),
    ],
)
def test_a_file_without_questions_is_said_to_be_none(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "SEED-Bench.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        list(seed_bench(data=path).data)


def test_a_file_of_results_says_what_is_right(tmp_path: Path) -> None:
    path = tmp_path / "GPT-4V.json"
    path.write_text(
        '{"question_id": "9", "prediction": "A", "gt_answer": "C"},\n'
        '{"question_id": "v3", "prediction": "B", "gt_answer": "B"},\n'
    )
    actual = samples(seed_bench(data=path))
    assert {name: sample.target for name, sample in actual.items()} == {"9": "C"}
    assert set(samples(seed_bench(part="all", data=path))) == {"9", "v3"}


def test_a_file_of_results_of_the_second_version_says_the_dimension(tmp_path: Path) -> None:
    path = tmp_path / "GPT-4V.json"
    path.write_text(
        '{"question_id": "9_85", "prediction": "D", "gt_answer": "D"},\n'
        '{"question_id": "22_1", "prediction": "A", "gt_answer": "A"},\n'
        '{"question_id": "23_1", "prediction": "A", "gt_answer": "B"}\n'
    )
    actual = samples(seed_bench(version="2", data=path))
    assert {name: sample.tags["dimension"] for name, sample in actual.items()} == {
        "9_85": "Text Understanding",
        "23_1": "In-Context Captioning",
    }


def test_of_a_question_that_a_file_of_results_has_twice_the_last_line_says_what_is_right(
    tmp_path: Path,
) -> None:
    path = tmp_path / "GPT-4V.json"
    path.write_text(
        '{"question_id": "9", "prediction": "A", "gt_answer": "C"},\n'
        '{"question_id": "9", "prediction": "B", "gt_answer": "D"},\n'
    )
    assert {name: item.target for name, item in samples(seed_bench(data=path)).items()} == {
        "9": "D"
    }


def test_in_a_file_of_results_dimensions_19_to_22_are_videos(tmp_path: Path) -> None:
    # DATASET.md: Global Video Understanding to Procedure Understanding
    path = tmp_path / "GPT-4V.json"
    ids = [f"{dimension}_1" for dimension in range(17, 25)]
    lines = [{"question_id": name, "prediction": "A", "gt_answer": "A"} for name in ids]
    path.write_text("\n".join(map(json.dumps, lines)))
    actual = samples(seed_bench(version="2", data=path))
    assert set(actual) == {"17_1", "18_1", "23_1", "24_1"}


def test_kinds_of_data_that_are_pictures_to_look_at_are_kept(tmp_path: Path) -> None:
    kinds = (
        *("Single Image", "Multiple Images", "Interleaved Image", "Video"),
        *("Image Generation", "Image & Text Generation"),
    )
    rows = ({"question_id": kind, "data_type": kind} for kind in kinds)
    path = write_questions(tmp_path, *rows, name="SEED-Bench_v2_level1_2_3.json")
    assert set(samples(seed_bench(version="2", data=path))) == set(kinds[:3])
    assert set(samples(seed_bench(version="2", part="all", data=path))) == set(kinds)


def test_what_has_no_words_or_is_a_choice_of_pictures_is_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "GPT-4V.json"
    path.write_text('{"question_id": "9", "prediction": "A", "gt_answer": "C"}')
    row = {"question_id": "25_0", "data_type": "Image Generation", "data_id": ["1.jpg", "2.jpg"]}
    second = write_questions(tmp_path, row, name="SEED-Bench_v2_level1_2_3.json")
    for benchmark in (seed_bench(data=path), seed_bench(version="2", part="all", data=second)):
        (sample,) = samples(benchmark).values()
        with pytest.raises(DataError, match="can be scored, but not asked"):
            benchmark.prompt(sample, ())


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("SEEDBench_IMG", {"version": "1", "rows": "vlmevalkit", "prompt": "vlmevalkit"}),
        ("seedbench", {"version": "1", "ask": "generate", "prompt": "lmms-eval"}),
        ("seedbench_ppl", {"version": "1", "ask": "rank", "prompt": "lmms-eval"}),
        ("seedbench_2", {"version": "2", "prompt": "lmms-eval"}),
        ("seedbench_2_plus", {"version": "2-plus", "prompt": "lmms-eval"}),
        ("seed-bench", {"version": "1", "part": "image", "ask": "generate"}),
    ],
)
def test_other_toolkits_names_are_known(name: str, wanted: dict[str, str]) -> None:
    options = registry.benchmark(name, data=BUNDLED).provenance.options
    assert {key: options[key] for key in wanted} == wanted


def test_the_files_of_each_version_are_known() -> None:
    assert [entry.name for entry in published("2-plus")] == [
        "SEED-Bench-2-plus-text-rich.json",
        "text_rich.zip",
    ]
    (sheet,) = published(rows="vlmevalkit", prompt="official")
    assert sheet.md5 == "68017231464752261a2526d6ca3a10c0"
    with pytest.raises(UsageError, match="needs version=1"):
        published("2", "vlmevalkit")


# -- prompts


# Sources: repository, commit and line of each stand in the benchmark's sheet.
@pytest.mark.parametrize(
    ("options", "name", "text"),
    [
        ({}, "104", f"What colour is the disc?\n{COLORS}\n{ASK}"),
        ({}, "106", f"Where in the frame is the disc?\n{PLACES}\n{ASK}"),
        ({"version": "2-plus"}, "map_2", "Which island is farther north?\nA. Q\nB. N\nC. P\n"
                                         f"D. none\n{ASK}"),
        ({"prompt": "lmms-eval"}, "104", f"What colour is the disc?\n{COLORS}\n{ASK}"),
        ({"prompt": "lmms-eval"}, "106", f"Where in the frame is the disc?\n{PLACES}\n{ASK}"),
        ({"prompt": "lmms-eval"}, "101", "What kind of picture is this?\nA. a map\nB. a chart\n"
                                         f"C. a portrait\nD. a clock\n{ASK}"),
        ({"prompt": "vlmevalkit"}, "104", f"Question: What colour is the disc?\nOptions:\n{COLORS}"
         "\nPlease select the correct answer from the options above. \n"),
        ({"prompt": "vlmevalkit"}, "106", "Question: Where in the frame is the disc?\nOptions:\n"
         f"{PLACES}\nPlease select the correct answer from the options above. \n"),
        ({"prompt": "vlmevalkit", "version": "2-plus"}, "map_2",
         "Question: Which island is farther north?\nOptions:\nA. Q\nB. N\nC. P\nD. none\n"
         "Please select the correct answer from the options above. \n"),
        ({"ask": "rank"}, "104", "Question: What colour is the disc?\nAnswer:"),
        ({"ask": "rank"}, "106", "Question: Where in the frame is the disc?\nAnswer:"),
        ({"ask": "rank"}, "101", "Question: What kind of picture is this?\nAnswer:"),
        ({"ask": "rank", "version": "2"}, "5_0", "How many bars are there?"),
        ({"ask": "rank", "version": "2-plus"}, "map_2", "Which island is farther north?"),
        ({"ask": "rank", "prompt": "lmms-eval"}, "104", "What colour is the disc? Answer :"),
        ({"ask": "rank", "prompt": "lmms-eval"}, "106",
         "Where in the frame is the disc? Answer :"),
        ({"ask": "rank", "prompt": "lmms-eval"}, "101", "What kind of picture is this? Answer :"),
    ],
)  # fmt: skip
def test_a_prompt_is_the_published_text_behind_the_picture(
    options: dict[str, Any], name: str, text: str
) -> None:
    benchmark = seed_bench(data=BUNDLED, **options)
    sample = samples(benchmark)[name]
    (message,) = benchmark.prompt(sample, ())
    assert message.content == (*sample.media, text)


def test_pictures_stand_where_they_are_marked() -> None:
    benchmark = seed_bench(version="2", ask="rank", data=BUNDLED)
    sample = samples(benchmark)["23_3"]
    (message,) = benchmark.prompt(sample, ())
    media, other = sample.media
    assert message.content == (media, ": The disc is blue. ", other, ":")


def test_several_pictures_without_marks_stand_before_the_words() -> None:
    benchmark = seed_bench(version="2", ask="rank", data=BUNDLED)
    sample = samples(benchmark)["17_2"]
    (message,) = benchmark.prompt(sample, ())
    assert message.content == (*sample.media, "What are the differences between the two images?")


def test_lmms_eval_leaves_the_marks_of_version_2_in_the_words_behind_the_pictures(
    tmp_path: Path,
) -> None:
    # EvolvingLMMs-Lab/lmms-eval@75571cf: lmms_eval/tasks/seedbench_2/utils.py#L8-L25, whose
    # question.replace(...) is lost, and seedbench_2.yaml#L13
    row = {"question_id": "7", "data_id": ["1", "2"], "question": "Is <img> it?",
           "choice_d": "d.png", "data_type": "Interleaved Image"}  # fmt: skip
    path = write_questions(tmp_path, row, name="SEED-Bench_v2_level1_2_3.json")
    benchmark = seed_bench(version="2", prompt="lmms-eval", data=path)
    sample = samples(benchmark)["7"]
    (message,) = benchmark.prompt(sample, ())
    text = f"Is <img> it?\nA. a cat\nB. a dog\nC. a cow\nD. <image>\n{ASK}"
    assert message.content == (*sample.media, text)
    assert benchmark.max_answer_tokens == 16
    assert seed_bench(prompt="lmms-eval", data=BUNDLED).max_answer_tokens == 128


@pytest.mark.parametrize(
    ("version", "name", "choices"),
    [
        ("1", "SEED-Bench.json", "A. 1.jpg\nB. jpg or not\nC. 3.png\nD. 4.gif"),
        (
            "2",
            "SEED-Bench_v2_level1_2_3.json",
            "A. <image>\nB. <image>\nC. <image>\nD. 4.gif",
        ),
    ],
)
def test_to_lmms_eval_a_choice_with_jpg_or_png_is_a_picture_but_in_version_1(
    tmp_path: Path, version: str, name: str, choices: str
) -> None:
    # lmms_eval/tasks/seedbench_2/utils.py#L8-L11, seedbench/utils.py#L8-L14
    row = {"choice_a": "1.jpg", "choice_b": "jpg or not", "choice_c": "3.png", "choice_d": "4.gif"}
    path = write_questions(tmp_path, {"question_id": "7", **row}, name=name)
    options: dict[str, Any] = {"version": version, "prompt": "lmms-eval"}
    benchmark = seed_bench(data=path, **options)
    (message,) = benchmark.prompt(samples(benchmark)["7"], ())
    assert message.text == f"Which?\n{choices}\n{ASK}"


def test_more_pictures_than_marks_stand_before_the_words(tmp_path: Path) -> None:
    path = write_questions(
        tmp_path, {"question_id": "7", "data_id": ["1", "2"], "question": "So <img>?"}
    )
    benchmark = seed_bench(ask="rank", data=path)
    sample = samples(benchmark)["7"]
    (message,) = benchmark.prompt(sample, ())
    media, other = sample.media
    assert message.content == (other, "Question: So ", media, "?\nAnswer:")


def test_a_request_to_rank_has_the_choices_texts() -> None:
    benchmark = seed_bench(ask="rank", data=BUNDLED)
    request = benchmark.request(samples(benchmark)["104"])
    assert request is not None
    assert (request.kind, request.choices) == ("rank", ("red", "green", "black", "blue"))


def test_vlmevalkit_ranks_nothing() -> None:
    with pytest.raises(UsageError, match="does not rank choices"):
        seed_bench(ask="rank", prompt="vlmevalkit", data=BUNDLED)


# -- scoring

# Log-probabilities by which the sum of a long choice is the least, and its mean the greatest.
LONG = Reply(choices=(Ranked(-4.0, 2), Ranked(-5.0, 10), Ranked(-4.5, 3), Ranked(-9.0, 3)))


def test_the_first_version_ranks_by_the_sum_over_a_choices_tokens() -> None:
    assert read("official", LONG, ask="rank").answer == "A"
    assert read("mean", LONG, ask="rank").answer == "B"


@pytest.mark.parametrize("version", ["2", "2-plus"])
def test_the_later_versions_rank_by_the_mean_over_a_choices_tokens(version: str) -> None:
    assert read("official", LONG, ask="rank", version=version).answer == "B"


def test_of_equal_choices_the_first_is_taken() -> None:
    equal = Reply(choices=(Ranked(-3.0, 3), Ranked(-1.0, 1), Ranked(-1.0, 1), Ranked(-1.0, 1)))
    assert read("official", equal, ask="rank").answer == "B"
    assert read("mean", equal, ask="rank").answer == "A"


def test_a_published_ranking_has_no_more_than_its_letter() -> None:
    assert read("official", Reply(text="C"), ask="rank").answer == "C"
    assert read("official", Reply(text="a cow"), ask="rank").answer is None


def test_the_scorings_that_read_what_was_asked_for_come_first() -> None:
    assert seed_bench(data=BUNDLED).headline == "letters"
    assert seed_bench(ask="rank", data=BUNDLED).headline == "official"
    assert seed_bench(prompt="lmms-eval", data=BUNDLED).headline == "lmms-eval"
    assert seed_bench(prompt="vlmevalkit", data=BUNDLED).headline == "vlmevalkit"
    assert seed_bench(ask="rank", prompt="lmms-eval", data=BUNDLED).headline == "official"
    names = {"letters", "robust", "lmms-eval", "vlmevalkit", "official", "mean"}
    assert set(seed_bench(data=BUNDLED).scorings) == names
    assert set(seed_bench(ask="rank", version="2", data=BUNDLED).scorings) == names - {"mean"}


@pytest.mark.parametrize(
    ("reply", "letters", "first", "kit", "robust"),
    [
        ("B", "B", "B", "B", "B"),
        (" B\n", "B", "B", "B", "B"),
        ("b", None, "B", None, "B"),
        ("B.", None, "B", "B", "B"),
        ("B. a dog", None, "B", "B", "B"),
        ("a dog", None, "A", "B", "B"),
        ("The answer is B", None, None, "B", "B"),
        ("A or B", None, "A", None, None),
        ("E", None, None, None, None),
        ("", None, None, None, None),
    ],
)
def test_each_scoring_reads_a_reply_by_its_rule(
    reply: str, letters: str | None, first: str | None, kit: str | None, robust: str | None
) -> None:
    names = ("letters", "lmms-eval", "vlmevalkit", "robust")
    actual = [read(name, Reply(text=reply)).answer for name in names]
    assert actual == [letters, first, kit, robust]


def test_lmms_eval_reads_a_words_first_letter() -> None:
    # lmms_eval/tasks/seedbench/utils.py#L18-L20
    assert read("lmms-eval", Reply(text="Because it is")).answer == "B"


@pytest.mark.parametrize(("version", "answer"), [("1", "B"), ("2", None), ("2-plus", "B")])
def test_a_small_letter_is_none_to_lmms_eval_in_version_2_alone(
    version: str, answer: str | None
) -> None:
    # EvolvingLMMs-Lab/lmms-eval@75571cf: lmms_eval/tasks/seedbench_2/utils.py#L44,
    # seedbench_2_plus/utils.py#L43
    assert read("lmms-eval", Reply(text="b"), version=version).answer == answer


# -- results


def test_results_are_lines_with_or_without_a_comma(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    text = '{"question_id": "1", "prediction": "A"},\n\n{"question_id": 2, "prediction": "B"}'
    path.write_text(text)
    assert results(path) == Published(replies={"1": "A", "2": "B"})
    packed = tmp_path / "results.json.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert results(packed) == results(path)


def test_of_a_question_that_comes_again_the_last_counts(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(
        '{"question_id": "1", "prediction": "A"},\n{"question_id": "2", "prediction": "C"},\n'
        '{"question_id": "1", "prediction": "B"},\n{"question_id": "2", "prediction": "C"},\n'
    )
    actual = results(path)
    assert actual is not None
    assert actual.replies == {"1": "B", "2": "C"}
    assert actual.notes == (
        "2 lines repeat a question, 1 with a different answer: the last line counts",
    )


def test_questions_of_the_same_id_have_the_one_reply_to_it(tmp_path: Path) -> None:
    data = write_questions(tmp_path, {"question_id": "7"}, {"question_id": "7", "answer": "C"})
    text = tmp_path / "results.json"
    text.write_text('{"question_id": "7", "prediction": "C"}')
    report = snellen.score(text, "seed-bench", data=data).report
    assert report.scorings["letters"].metrics["accuracy"].value == 1 / 2
    assert report.scorings["robust"].metrics["accuracy"].value == 1 / 2


def test_a_row_may_be_without_a_reply(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"question_id": "1", "prediction": null}')
    assert results(path) == Published(replies={"1": None})


@pytest.mark.parametrize(
    "text",
    ["", "[]", "no JSON", '{"question_id": "1", "text": "A"}', '[{"question_id": "1"}]', "7"],
)
def test_a_file_of_another_form_is_left_to_others(tmp_path: Path, text: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)
    assert results(path) is None
    assert results(tmp_path) is None


@pytest.mark.parametrize("name", ["model.xlsx", "log.eval"])
def test_a_spreadsheet_and_a_log_are_left_to_others(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"PK\x03\x04\x8f")
    assert results(path) is None


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ('{"question_id": "2", "pred', "line 2 is not a JSON"),
        ('{"question_id": "2"}', "line 2 lacks question_id or prediction"),
        ('{"question_id": "2", "prediction": 1}', "the prediction of result 2 must be text"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, second: str, message: str) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"question_id": "1", "prediction": "A"},\n' + second)
    with pytest.raises(DataError, match=message):
        results(path)


def test_a_packed_file_that_is_cut_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "results.json.gz"
    path.write_bytes(gzip.compress(b'{"question_id": "1", "prediction": "A"}')[:-9])
    with pytest.raises(DataError, match="cannot be read to its end"):
        results(path)


# -- figures


def test_accuracy_is_of_all_questions_and_also_averaged_over_dimensions(tmp_path: Path) -> None:
    """Four questions of one dimension, three right, and one of another, wrong; by hand."""
    path = write_questions(
        tmp_path,
        *({"question_id": str(n), "question_type_id": 1} for n in range(4)),
        {"question_id": "4", "question_type_id": 5},
    )
    replies = {"0": "B", "1": "B", "2": "B", "3": "A", "4": "A"}
    metrics = (
        score_predictions(seed_bench(data=path), replies, where="here").scorings["letters"].metrics
    )
    assert {name: metrics[name].value for name in metrics if "average" not in name} == {
        "accuracy": 3 / 5,
        "accuracy/Scene Understanding": 3 / 4,
        "accuracy/Instances Counting": 0.0,
    }
    assert metrics["dimension_average"].value == 3 / 8


def test_a_question_without_a_reply_is_wrong_to_letters_alone(tmp_path: Path) -> None:
    path = write_questions(tmp_path, {"question_id": "1"}, {"question_id": "2"})
    text = tmp_path / "results.json"
    text.write_text('{"question_id": "1", "prediction": "B"}')
    report = snellen.score(text, "seed-bench", data=path).report
    values = {name: item.metrics["accuracy"].value for name, item in report.scorings.items()}
    assert values == {"letters": 0.5, "robust": 1.0, "lmms-eval": 1.0, "vlmevalkit": 1.0}


# -- videos

PART = {"question_id": "v7", "data_type": "video", "data_id": "P03/P03_24.MP4"}


def film(folder: Path, row: dict[str, Any], **options: Any) -> Video:
    actual = samples(seed_bench(part="video", data=write_questions(folder, PART | row), **options))
    (shown,) = actual["v7"].media
    assert isinstance(shown, Video)
    return shown


def test_the_questions_on_videos_are_a_part() -> None:
    assert set(samples(seed_bench(part="video", data=BUNDLED))) == {"v7"}
    assert set(samples(seed_bench(part="video", version="2", data=BUNDLED))) == {"19_4"}


@pytest.mark.parametrize(
    ("row", "window"),
    [
        ({"question_type_id": 10}, (0.0, None)),
        ({"question_type_id": 10, "segment": []}, (0.0, None)),
        ({"question_type_id": 11, "segment": [648.0, 658.0]}, (648.0, 658.0)),
        ({"question_type_id": 11, "segment": [648, 658]}, (648.0, 658.0)),
        # Half a frame before the 18th and the 166th, at 15 a second.
        ({"question_type_id": 12, "segment": [18, 166]}, (17.5 / 15, 165.5 / 15)),
        ({"question_type_id": 12, "segment": [0, 3]}, (0.0, 2.5 / 15)),
    ],
)
def test_the_part_of_a_video_is_in_seconds_or_for_breakfast_in_frames(
    tmp_path: Path, row: dict[str, Any], window: tuple[float, float | None]
) -> None:
    shown = film(tmp_path, row)
    assert (shown.start, shown.end) == window


@pytest.mark.parametrize("fps", [15, 30])
def test_of_breakfast_the_frames_are_those_that_are_numbered(tmp_path: Path, fps: int) -> None:
    # At twice the rate the same part of a second has twice the frames.
    videos.mpeg4(tmp_path / "a.avi", n=200, fps=fps)
    row = {"question_type_id": 12, "segment": [18, 26], "data_id": "a.avi"}
    shown = film(tmp_path, row)
    times = video.facts(shown).times
    numbers = video.picked(video.policy("every"), times, shown.start, shown.end)
    assert numbers == list(range(18, 26) if fps == 15 else range(35, 51))


@pytest.mark.parametrize(
    ("dimension", "folder"),
    [
        (10, "SSV2/videos"),
        (11, "EPIC-KITCHENS/3h91syskeag572hl6tvuovwv4d/videos/test"),
        (12, "BreakfastII_15fps_qvga_sync"),
    ],
)
def test_videos_lie_in_folders_as_the_authors_have_them_or_beside_the_questions(
    tmp_path: Path, dimension: int, folder: str
) -> None:
    row = {"question_type_id": dimension, "segment": [1, 2]}
    assert film(tmp_path, row).source == tmp_path / "P03/P03_24.MP4"
    (tmp_path / folder).mkdir(parents=True)
    assert film(tmp_path, row).source == tmp_path / folder / "P03/P03_24.MP4"


@pytest.mark.parametrize(
    ("dimension", "folder"),
    [
        (10, "v1_video/task10/ssv2_8_frame"),
        (11, "v1_video/task11/kitchen_8_frame"),
        (12, "v1_video/task12/breakfast_8_frame"),
    ],
)
def test_the_authors_frames_are_pictures_by_question(
    tmp_path: Path, dimension: int, folder: str
) -> None:
    path = write_questions(tmp_path, PART | {"question_type_id": dimension, "segment": [1, 2]})
    benchmark = seed_bench(part="video", videos="frames", data=path)
    (sample,) = samples(benchmark).values()
    assert [medium.label for medium in sample.media] == [
        f"{folder}/v7/{n}.png" for n in range(1, 9)
    ]
    assert all(isinstance(medium, Image) for medium in sample.media)
    (message,) = benchmark.prompt(sample, ())
    assert message.content[:8] == sample.media
    assert benchmark.procedure.frames is None


def test_of_version_2_frames_of_a_video_are_its_pictures() -> None:
    benchmark = seed_bench(version="2", part="video", data=BUNDLED)
    (sample,) = samples(benchmark).values()
    (message,) = benchmark.prompt(sample, ())
    assert [image.label for image in message.images] == [
        "SEED-Bench-2-image/task19/0/1.png",
        "SEED-Bench-2-image/task19/0/2.png",
    ]
    assert message.text.startswith("What moved in the video?\nA. ")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, f"What is the action being carried out in the video?\nA. closing a lid\nB. lifting a "
             f"lid\nC. throwing a lid\nD. painting a lid\n{ASK}"),
        ({"ask": "rank"}, "Question: What is the action being carried out in the video?\nAnswer:"),
    ],
)  # fmt: skip
def test_a_video_is_asked_about_as_a_picture_is(options: dict[str, Any], text: str) -> None:
    benchmark = seed_bench(part="video", data=BUNDLED, **options)
    request = benchmark.request(samples(benchmark)["v7"])
    assert request is not None
    shown, parts = request.messages[0].content
    assert isinstance(shown, Video)
    assert shown.policy == "uniform:8,at=middles"
    assert parts == text


def test_pictures_alone_have_no_frame_policy() -> None:
    assert seed_bench(data=BUNDLED).procedure.frames is None
    assert seed_bench(version="2", part="all", data=BUNDLED).procedure.frames is None


def authors_numbers(n: int) -> list[int]:
    """AILab-CVC/SEED-Bench@991e849: model/instruct_blip_interface.py#L62-L74, of n frames."""
    if n < 8:
        return list(range(n))
    step = (n - 1) / 8
    return [int(step / 2) + round(step * number) for number in range(8)]


def test_the_eight_frames_are_the_authors_or_at_most_three_away() -> None:
    policy = video.policy("uniform:8,at=middles")
    for n in [*range(9, 300), 999, 5000, 17_998]:
        ours = video.picked(policy, range(n))
        for theirs in (authors_numbers(n), authors_numbers(n - 1)):
            assert max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) <= 3


def test_a_video_is_shown_in_eight_frames_and_scored(tmp_path: Path) -> None:
    videos.cfr(tmp_path / "a.mp4", n=120, fps=10)
    right, gone = (
        PART | {"question_id": name, "question_type_id": 11, "segment": [2.0, 6.0], "data_id": path}
        for name, path in (("v1", "a.mp4"), ("v2", "b.mp4"))
    )
    write_questions(tmp_path, right, gone)
    model = Counts()

    result = snellen.evaluate(
        "seed-bench:part=video", model=model, data=tmp_path, out=tmp_path / "runs"
    )

    # The middles of eight parts of frames 20 to 59.
    assert model.saw == [(2.2, 2.7, 3.2, 3.7, 4.2, 4.7, 5.2, 5.7)]
    assert (result.headline.value, result.headline.n, result.failed) == (1.0, 1, 1)


class Counts:
    """Says B; keeps the times of the frames that it saw."""

    def __init__(self) -> None:
        self.name = "counts"
        self.saw: list[tuple[float, ...]] = []

    async def generate(self, request: Request) -> Reply:
        (shown,) = request.messages[0].videos
        self.saw.append(tuple(frame.time for frame in shown.frames))
        return Reply(text="B")
