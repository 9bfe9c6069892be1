"""ChartQA: its rows in each published form, its prompts, and its scorings."""

import base64
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.benchmarks import chartqa as file
from snellen.benchmarks.chartqa import Preset, Questions, chartqa
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image
from snellen.scoring import score_predictions

BUNDLED = Path(file.__file__).parent / "rows" / "chartqa"
PICTURE = BUNDLED / "test" / "png" / "90001.png"


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def score(scoring: str, reply: str, target: str, question: str = "How much?") -> float | None:
    sample = Sample(id="1", question=question, target=target)
    actual = chartqa(data=BUNDLED).scorings[scoring]
    return total_score(actual.score(actual.parse(Reply(text=reply), sample), sample))


def write_parquet(path: Path, *rows: dict[str, Any]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)


# -- data


def test_a_row_of_either_file_becomes_a_question() -> None:
    actual = samples(chartqa(data=BUNDLED))
    assert [*actual] == [f"{kind}-{n}" for kind in ("human", "augmented") for n in range(5)]
    sample = actual["augmented-2"]
    assert (sample.question, sample.target) == ("What share did milk have?", "40%")
    assert sample.tags == {"questions": "augmented"}
    (picture,) = sample.media
    assert isinstance(picture, Image)
    assert images.load(picture).width == 90


@pytest.mark.parametrize(("questions", "n"), [("all", 10), ("human", 5), ("augmented", 5)])
def test_one_kind_can_be_asked_alone(questions: Questions, n: int) -> None:
    actual = samples(chartqa(questions=questions, data=BUNDLED))
    assert len(actual) == n
    assert all(questions in ("all", sample.tags["questions"]) for sample in actual.values())


def test_a_split_has_its_questions_alone() -> None:
    assert [*samples(chartqa(split="val", data=BUNDLED))] == ["human-0", "human-1", "augmented-0"]


def test_questions_about_one_chart_share_a_cluster() -> None:
    benchmark = chartqa(data=BUNDLED)
    assert benchmark.cluster_by is not None
    assert len({benchmark.cluster_by(sample) for sample in samples(benchmark).values()}) == 2


def test_vlmevalkits_sheet_is_read(tmp_path: Path) -> None:
    picture = base64.b64encode(PICTURE.read_bytes()).decode()
    (tmp_path / "ChartQA_TEST.tsv").write_text(
        "index\timage\tquestion\tanswer\tsplit\n"
        f"0\t{picture}\tHow many?\t3\ttest_human\n"
        "1\t0\tWhich two?\t['tea', 'milk']\ttest_augmented\n",
        encoding="utf-8",
    )
    actual = samples(chartqa(data=tmp_path))
    assert [(s.id, s.target, s.tags["questions"]) for s in actual.values()] == [
        ("0", "3", "human"),
        ("1", "['tea', 'milk']", "augmented"),
    ]
    assert [*samples(chartqa(questions="human", data=tmp_path))] == ["0"]


@pytest.mark.parametrize(
    "columns",
    [
        {"question": "How many?", "answer": "3", "type": "human_test"},
        {"query": "How many?", "label": ["3"], "human_or_machine": 0},
        {"imgname": "1.png", "query": "How many?", "label": "3", "type": "human"},
    ],
)
@pytest.mark.parametrize("plain", [False, True])
def test_each_of_the_hubs_copies_is_read(
    tmp_path: Path, columns: dict[str, Any], plain: bool
) -> None:
    picture = PICTURE.read_bytes()
    path = tmp_path / "test-00000-of-00001.parquet"
    write_parquet(
        path, {**columns, "image": picture if plain else {"bytes": picture, "path": None}}
    )
    for data in (path, tmp_path):
        (sample,) = samples(chartqa(data=data)).values()
        assert (sample.id, sample.question, sample.target) == ("0", "How many?", "3")
        assert sample.tags == {"questions": "human"}
        assert isinstance(sample.media[0], Image)


def test_rows_of_parquet_that_show_the_same_chart_share_a_cluster(tmp_path: Path) -> None:
    row = {"query": "How many?", "label": ["3"], "human_or_machine": 0}
    other = (BUNDLED / "test" / "png" / "90002.png").read_bytes()
    path = tmp_path / "test.parquet"
    write_parquet(path, *(
        {**row, "image": {"bytes": picture, "path": None}}
        for picture in (PICTURE.read_bytes(), PICTURE.read_bytes(), other)
    ))  # fmt: skip
    benchmark = chartqa(data=path)
    assert benchmark.cluster_by is not None
    items, same, another = map(benchmark.cluster_by, samples(benchmark).values())
    assert items == same != another


def test_a_kind_that_is_neither_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ChartQA_TEST.tsv").write_text(
        "index\timage_path\tquestion\tanswer\tsplit\n0\ta.png\t?\t3\tother\n"
    )
    with pytest.raises(DataError, match=r"row 1 .*neither"):
        samples(chartqa(data=tmp_path))


def test_a_file_of_one_kind_without_the_other_is_missed(tmp_path: Path) -> None:
    source = BUNDLED / "test" / "test_human.json"
    (tmp_path / "test_human.json").write_bytes(source.read_bytes())
    assert len(samples(chartqa(questions="human", data=tmp_path))) == 5
    with pytest.raises(DataError, match=r"test_augmented\.json"):
        samples(chartqa(data=tmp_path))


def test_other_toolkits_names_are_known() -> None:
    assert registry.benchmark("ChartQA_TEST", data=BUNDLED).provenance.options["split"] == "test"


# -- prompts


@pytest.mark.parametrize("number", ["human-0", "human-4", "augmented-2"])
@pytest.mark.parametrize(
    ("preset", "behind"),
    [
        # open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:
        # vlmeval/dataset/image_vqa.py#L64-L69
        ("vlmevalkit", "\nAnswer the question using a single word or phrase."),
        # EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
        # lmms_eval/tasks/chartqa/chartqa.yaml#L28-L30
        ("lmms-eval", "\nAnswer the question with a single word."),
        # QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:eval_mm/evaluate_vqa.py#L281
        ("qwen-vl", " Answer:"),
    ],
)
def test_a_prompt_is_the_chart_and_the_published_text(
    preset: Preset, behind: str, number: str
) -> None:
    questions = {
        "human-0": "How many bars are above 30?",
        "human-4": "What is the ratio of tea to milk?",
        "augmented-2": "What share did milk have?",
    }
    benchmark = chartqa(prompt=preset, data=BUNDLED)
    sample = samples(benchmark)[number]
    (message,) = benchmark.prompt(sample, ())
    assert message.content == (*sample.media, questions[number] + behind)


# -- scoring


def test_official_takes_a_reply_as_it_is() -> None:
    assert score("official", "Yes", "yes") == 1.0
    assert score("official", " Yes", "yes") == 0.0
    assert score("official", "['tea', 'milk']", "['tea', 'milk']") == 1.0
    assert score("official", "milk", "['tea', 'milk']") == 0.0


@pytest.mark.parametrize(
    ("reply", "target", "worth"),
    [
        # Exactly 5 % off, which binary numbers, divided, make a little more.
        ("14.805", "14.1", 0.0),
        ("105", "100", 1.0),
        # 9.45 and 9 by a hundred: times 0.01 the first would be a little too much.
        ("9.45%", "9%", 1.0),
        # The share is of the target's size, whatever its sign.
        ("-120", "-100", 0.0),
        # A blank behind the sign makes a text of it.
        ("20% ", "0.2", 0.0),
        # Small letters, which "\u00df" is; not folded.
        ("STRASSE", "stra\u00dfe", 0.0),
    ],
)
def test_official_compares_as_its_code_does_to_the_last_digit(
    reply: str, target: str, worth: float
) -> None:
    assert score("official", reply, target) == worth


def test_vlmevalkit_takes_blanks_off_a_reply() -> None:
    assert score("vlmevalkit", " Yes\n", "yes") == 1.0
    assert score("vlmevalkit", "Yes.", "yes") == 0.0


@pytest.mark.parametrize(("target", "reply"), [("['tea', 'milk']", "milk"), ("[22, 3]", "3.1")])
def test_vlmevalkit_takes_any_element_of_a_list(target: str, reply: str) -> None:
    assert score("vlmevalkit", reply, target) == 1.0


def test_vlmevalkit_leaves_blanks_around_the_answer() -> None:
    assert score("vlmevalkit", "yes", " yes") == 0.0
    assert score("vlmevalkit", "yes", "[' yes']") == 0.0


def test_vlmevalkit_leaves_what_only_begins_as_a_list() -> None:
    assert score("vlmevalkit", "[tea, milk]", "[tea, milk]") == 1.0
    assert score("vlmevalkit", "milk", "[tea, milk]") == 0.0


@pytest.mark.parametrize(
    ("reply", "target"),
    [
        ("1,000", "1000"),
        ("$5.10", "5"),
        ("The answer is 12%.", "12"),
        ("0.0", "0"),
        ("The colour is shown. Answer: Green.", "green"),
        ("the green bar", "Green bar"),
    ],
)
def test_robust_reads_what_a_reply_settles_on(reply: str, target: str) -> None:
    assert score("robust", reply, target) == 1.0


@pytest.mark.parametrize(
    ("reply", "target"),
    [("12 or 13", "12"), ("0.01", "0"), ("106", "100"), ("twelve", "12"), ("", "x"), ("red", "x")],
)
def test_robust_is_no_milder_than_five_per_cent(reply: str, target: str) -> None:
    assert score("robust", reply, target) == 0.0


def test_robust_takes_a_year_to_the_year() -> None:
    assert score("robust", "2015", "2010", "In which year was it?") == 0.0
    assert score("robust", "2010", "2010", "In which year was it?") == 1.0
    assert score("robust", "2015", "2010", "How many were sold?") == 1.0
    assert score("official", "2015", "2010", "In which year was it?") == 1.0


# -- figures


def test_figures_are_of_either_kind_and_a_missing_reply_is_wrong() -> None:
    replies = {name: sample.target or "" for name, sample in samples(chartqa(data=BUNDLED)).items()}
    replies["human-0"] = "7"
    del replies["augmented-0"], replies["augmented-1"]
    report = score_predictions(chartqa(data=BUNDLED), replies, where="here")
    for scoring in ("official", "vlmevalkit"):
        metrics = report.scorings[scoring].metrics
        assert {name: (metric.value, metric.n) for name, metric in metrics.items()} == {
            "relaxed_accuracy": (0.7, 10),
            "relaxed_accuracy/human": (0.8, 5),
            "relaxed_accuracy/augmented": (0.6, 5),
        }
