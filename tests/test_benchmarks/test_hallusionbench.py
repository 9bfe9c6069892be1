"""HallusionBench: its rows, its judge, its groups, files of results, and each rule."""

import base64
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import hallusionbench as file
from snellen.benchmarks.hallusionbench import Preset, hallusionbench, published
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image
from snellen.scoring import MetricReport, Scored, Tally

BUNDLED = Path(file.__file__).parent / "rows" / "hallusionbench"
ROWS: list[dict[str, Any]] = json.loads((BUNDLED / "HallusionBench.json").read_bytes())


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    actual = (benchmark.sample(row.position, row) for row in benchmark.data)
    return {sample.id: sample for sample in actual}


def bundled() -> dict[str, Sample]:
    return samples(hallusionbench(data=BUNDLED))


# -- data


def test_a_row_becomes_a_question_with_or_without_its_picture() -> None:
    samples = bundled()
    assert len(samples) == 14
    with_picture, without = samples["VD_illusion_0_1_0"], samples["VS_chart_0_0_1"]
    assert (with_picture.target, without.target) == ("no", "no")
    assert without.media == ()
    assert without.tags == {
        "category": "VS",
        "subcategory": "VS_chart",
        "input": "none",
        "figure": "figure 0",
        "question": "question 1",
    }
    (picture,) = with_picture.media
    assert isinstance(picture, Image)
    assert images.load(picture).width == 64


@pytest.mark.parametrize("inside", ["hallusion_bench/", ""])
def test_pictures_lie_where_the_archive_unpacks_or_beside_the_questions(
    tmp_path: Path, inside: str
) -> None:
    (tmp_path / "HallusionBench.json").write_text(json.dumps(ROWS))
    (tmp_path / inside).mkdir(exist_ok=True)
    (picture,) = samples(hallusionbench(data=tmp_path))["VD_math_1_0_0"].media
    assert isinstance(picture, Image)
    assert picture.source == tmp_path / f"{inside}VD/math/1_0.png"


def test_questions_with_a_picture_can_be_asked_alone() -> None:
    actual = samples(hallusionbench(questions="image", data=BUNDLED))
    assert len(actual) == 12
    assert all(sample.media for sample in actual.values())


def test_vlmevalkits_sheet_is_read(tmp_path: Path) -> None:
    picture = base64.b64encode((BUNDLED / "hallusion_bench/VD/math/1_0.png").read_bytes()).decode()
    (tmp_path / "HallusionBench.tsv").write_text(
        "index\timage\tquestion\tanswer\tcategory\tl2-category\n"
        f"VD_math_1_4_0_2\t{picture}\tIs it?\tYes\tVD\tVD_math\n"
        "VS_map_2_4_2_0\tVD_math_1_4_0_2\tIs it not?\tNo\tVS\tVS_map\n"
    )
    values, other = samples(hallusionbench(questions="image", data=tmp_path)).values()
    assert (values.id, values.target, values.data["set"]) == ("VD_math_1_4_0_2", "yes", "4")
    assert (other.tags["input"], other.tags["figure"], other.tags["question"]) == (
        "edited",
        "figure 2",
        "question 0",
    )
    assert other.tags["subcategory"] == "VS_map"


def test_no_judge_is_asked_without_a_reference() -> None:
    judge = hallusionbench(data=BUNDLED).scorings["official"].judge
    sample = Sample(id="VD_math_1_4_0_2", question="Is it?", data={"reference": ""})
    assert judge is not None
    with pytest.raises(DataError, match="VD_math_1_4_0_2 lacks"):
        judge.prompt(sample, Reply(text="Yes"))


def test_each_part_has_its_published_file() -> None:
    (every,), (image,) = published(), published("image")
    assert (every.name, len(every.sha256 or "")) == ("HallusionBench.json", 64)
    assert (image.name, len(image.md5 or "")) == ("HallusionBench.tsv", 32)


def test_other_toolkits_names_are_known() -> None:
    every, *images = (
        registry.benchmark(name, data=BUNDLED)
        for name in ("hallusionbench", "HallusionBench", "hallusion_bench_image")
    )
    assert every.provenance.options["questions"] == "all"
    assert [image.provenance.options["questions"] for image in images] == ["image", "image"]


# -- prompts


@pytest.mark.parametrize("preset", ["official", "vlmevalkit", "lmms-eval"])
@pytest.mark.parametrize(
    ("sample", "text"),
    [
        ("VD_illusion_0_0_1", "Is the right disc the larger one?"),
        ("VD_math_1_1_0", "Does the shape have three corners?"),
        ("VS_chart_0_0_0", "Is the sun a star?"),
    ],
)
def test_a_prompt_is_the_question_behind_the_picture_if_there_is_one(
    preset: Preset, sample: str, text: str
) -> None:
    request = bundled()[sample]
    (message,) = hallusionbench(prompt=preset, data=BUNDLED).prompt(request, ())
    assert message.content == (*request.media, text)


# -- the judge


def test_the_judge_is_asked_in_the_authors_words() -> None:
    judge = hallusionbench(data=BUNDLED).scorings["official"].judge
    assert judge is not None
    (message,) = judge.prompt(bundled()["VD_math_1_0_1"], Reply(text="{no}, three"))
    assert message.text == (
        "Imagine you are an intelligent teacher. Thoroughly read the question, reference answer "
        "and the prediction answer to ensure a clear understanding of the information provided. "
        "Assess the correctness of the predictions. If the prediction answer does not conflict "
        "with the reference answer, please generate “correct”. If the prediction answer conflict "
        "with the reference answer, please generate “incorrect”. If the prediction answer is "
        'unclear about the answer, please generate "unclear". \n\n Question:Does the shape have '
        "four corners?\nReference answer: A triangle has three corners.\nPrediction answer:{no}, "
        "three\nOutput:"
    )


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("correct", "correct"),
        ("“Correct”.", "correct"),
        ("Incorrect", "incorrect"),
        ("It is not incorrect, but correct", "incorrect"),
        ("unclear", "unclear"),
        ("I cannot say", "unclear"),
        ("", None),
        (" \n", None),
    ],
)
def test_a_verdict_is_read_as_the_authors_read_it(words: str, answer: str | None) -> None:
    judge = hallusionbench(data=BUNDLED).scorings["official"].judge
    assert judge is not None
    assert judge.parse(words, bundled()["VD_math_1_0_1"]).answer == answer


@pytest.mark.parametrize(
    ("sample", "answer", "score"),
    [
        ("VS_chart_0_0_0", "correct", 1.0),
        ("VS_chart_0_0_0", "unclear", 1.0),
        ("VS_chart_0_0_0", "incorrect", 0.0),
        ("VS_chart_0_1_0", "unclear", 0.0),
        ("VD_math_1_0_0", "unclear", 0.0),
        ("VD_math_1_0_0", "incorrect, different", 0.0),
    ],
)
def test_unclear_is_right_where_there_is_no_figure(sample: str, answer: str, score: float) -> None:
    scoring = hallusionbench(data=BUNDLED).scorings["official"]
    assert scoring.score(Reading(answer=answer, rule="said"), bundled()[sample]) == score


# -- scoring by rules


@pytest.mark.parametrize(
    ("scoring", "sample", "reply", "score"),
    [
        ("vlmevalkit", "VD_math_1_0_0", "Yes, three.", 1.0),
        ("vlmevalkit", "VD_math_1_0_0", "Yes, no four", 0.0),
        ("vlmevalkit", "VS_chart_0_0_0", "Yes", None),
        ("robust", "VD_math_1_0_0", "Yes, no four", 1.0),
        ("robust", "VS_chart_0_0_0", "Yes", 1.0),
        ("robust", "VS_chart_0_0_0", "I cannot tell.", 1.0),
        ("robust", "VS_chart_0_1_0", "I cannot tell.", 0.0),
        ("robust", "VS_chart_0_0_0", "", 0.0),
        ("robust", "VS_chart_0_0_0", "Yes and no", 0.0),
    ],
)
def test_rules_read_what_a_reply_says(
    scoring: str, sample: str, reply: str, score: float | None
) -> None:
    actual = hallusionbench(data=BUNDLED).scorings[scoring]
    request = bundled()[sample]
    assert actual.score(actual.parse(Reply(text=reply), request), request) == score


# -- figures


def judged(
    folder: Path, message: str, requests: Sequence[dict[str, Any]] = ROWS, **more: Any
) -> dict[str, float | None]:
    """The official figures of one verdict a row: 0 incorrect, 1 correct, 2 unclear."""
    rows = [
        {**row, "model_prediction": "so", "gpt4v_output_gpt_check": item, **more}
        for row, item in zip(requests, message, strict=True)
    ]
    path = folder / "out.json"
    path.write_text(json.dumps(rows))
    (folder / "data").mkdir()
    (folder / "data" / "HallusionBench.json").write_text(json.dumps(requests))
    result = snellen.score(path, "hallusionbench", data=folder / "data", scorings=["official"])
    metrics = result.report.scorings["official"].metrics
    return {name: metric.value for name, metric in metrics.items()}


def test_groups_are_right_where_all_of_them_is(tmp_path: Path) -> None:
    """VD illusion: figure 0 right, figure 1 half. VD math: all. VS: unclear and wrong without a
    figure, right with figure 1, half with figure 2."""
    actual = judged(tmp_path, "1110" + "1111" + "20" + "11" + "01")
    assert actual["aacc"] == pytest.approx(11 / 14)
    # figures: illusion 0, 1; math 0, 1; chart 1, 2. One without a figure is none.
    assert actual["facc"] == pytest.approx(4 / 6)
    assert actual["figure_wrong"] == 0
    assert actual["figure_inconsistent"] == pytest.approx(2 / 6)
    assert actual["figure_score"] == pytest.approx(5 / 6)
    # questions in all their figures: illusion 0; math 0, 1
    assert actual["qacc"] == pytest.approx(3 / 6)
    # without the edited figures all but chart 1
    assert actual["easy_aacc"] == pytest.approx(5 / 6)
    assert actual["hard_aacc"] == pytest.approx(4 / 6)
    assert actual["average"] == pytest.approx((11 / 14 + 4 / 6 + 3 / 6) / 3)
    assert actual["aacc/VD"] == pytest.approx(7 / 8)
    assert not {name for name in actual if "figure=" in name or "/question" in name}


def test_questions_without_a_figure_are_in_no_share_of_figures(tmp_path: Path) -> None:
    """utils.py#L135-L136 leaves figure 0 of VS out."""
    actual = judged(tmp_path, "1" * 8 + "00" + "1111")
    figures = ("facc", "figure_score", "figure_wrong", "figure_inconsistent")
    assert [actual[name] for name in figures] == [1.0, 1.0, 0.0, 0.0]


def test_groups_count_the_same_however_many_questions_they_have(tmp_path: Path) -> None:
    """A second edited figure of the chart, and a third question on the triangle, which is wrong; so
    is the first question on the first edited chart."""
    chart, math = ROWS[12:], ROWS[4]
    more = [{**row, "figure_id": "3"} for row in chart] + [{**math, "question_id": "2"}]
    actual = judged(tmp_path, "1" * 12 + "01" + "11" + "0", [*ROWS, *more])
    # figures: illusion 0, 1; math 0 with two of three, 1; chart 1, 2 with one of two, 3
    assert actual["figure_score"] == pytest.approx((5 + 2 / 3 + 1 / 2) / 7)
    assert actual["facc"] == pytest.approx(5 / 7)
    # questions: illusion 0, 1; math 0, 1, 2; chart 0, 1
    assert actual["qacc"] == pytest.approx(5 / 7)
    assert actual["easy_aacc"] == pytest.approx(6 / 7)
    # of the edited figures alone all but math 2
    assert actual["hard_aacc"] == pytest.approx(5 / 6)


def test_bias_takes_correctness_for_the_answer(tmp_path: Path) -> None:
    """The right answers are 1000, 1001, 10, 10 and 01; unclear is correct without a figure."""
    actual = judged(tmp_path, "0100" + "1111" + "22" + "11" + "11")
    # Six are yes. The first, wrong, was no then; the third and fourth were yes.
    assert actual["yes_diff"] == pytest.approx((6 - 1 + 2) / 14 - 6 / 14)
    assert actual["yes_fp"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("reason", "verdicts", "kind"),
    [
        ("the figure as it is, not seen", "0111" + "1" * 10, "vi"),
        ("nor clearly", "2111" + "1" * 10, "vi"),
        ("the edit not seen, and the same as before", "1101" + "1" * 10, "mixed"),
        ("the edit unclear", "1121" + "1" * 10, "vi"),
        ("neither the figure as it is nor the edit seen", "0101" + "1" * 10, "vi"),
        ("made up without a figure", "1" * 8 + "01" + "1111", "lh"),
        ("right without, wrong with the figure as it is", "1" * 10 + "0111", "vi"),
        ("right without, the edit not seen", "1" * 10 + "1101", "lh"),
        ("right without, unclear with a figure", "1" * 10 + "1121", "vi"),
        ("unclear without, wrong with", "1" * 8 + "21" + "1101", "vi"),
    ],
)
def test_who_is_to_blame_for_one_wrong_reply(
    tmp_path: Path, reason: str, verdicts: str, kind: str
) -> None:
    actual = judged(tmp_path, verdicts)
    assert {name: actual[name] for name in ("lh", "vi", "mixed")} == {
        "lh": 0.0,
        "vi": 0.0,
        "mixed": 0.0,
        kind: 1.0,
    }


def test_unclear_after_wrong_without_a_figure_is_mixed(tmp_path: Path) -> None:
    """utils.py#L261-L262; the wrong one itself is made up."""
    actual = judged(tmp_path, "1" * 8 + "01" + "2111")
    assert (actual["lh"], actual["vi"], actual["mixed"]) == (1 / 2, 0.0, 1 / 2)


def test_who_is_to_blame_does_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    actual = judged(tmp_path, ("1101" + "1" * 10)[::-1], ROWS[::-1])
    assert (actual["lh"], actual["vi"], actual["mixed"]) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("reason", "verdicts", "shares"),
    [
        ("the edit of VD not seen, otherwise", "1101" + "1" * 10, (0, 1, 0)),
        ("the edit of VS not seen, otherwise", "1" * 10 + "1101", (0, 1, 0)),
        ("wrong with and without, otherwise", "1" * 8 + "01" + "1101", (1 / 2, 0, 1 / 2)),
    ],
)
def test_a_published_reply_that_differs_from_that_without_an_edit(
    tmp_path: Path, reason: str, verdicts: str, shares: tuple[float, ...]
) -> None:
    actual = judged(tmp_path, verdicts, same="0")
    assert (actual["lh"], actual["vi"], actual["mixed"]) == pytest.approx(shares)


def test_without_the_question_without_a_figure_nobody_is_to_blame(tmp_path: Path) -> None:
    """As in the 951 questions with a picture, on which the authors' script fails."""
    actual = judged(tmp_path, "1" * 8 + "0111", [*ROWS[:8], *ROWS[10:]])
    assert (actual["lh"], actual["vi"], actual["mixed"]) == (None, None, None)


def test_nothing_wrong_leaves_nobody_to_blame(tmp_path: Path) -> None:
    actual = judged(tmp_path, "1" * 14)
    assert (actual["lh"], actual["yes_fp"], actual["aacc"]) == (None, None, 1.0)


# -- the authors' files of results


def written(path: Path, *rows: dict[str, Any]) -> Path:
    raw = json.dumps(rows).encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


def answered(row: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**row, "model_prediction": "Yes", **more}


@pytest.mark.parametrize("name", ["HallusionBench_result.json", "out.json.gz"])
def test_results_without_verdicts_wait_for_a_judge(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, *map(answered, ROWS))
    report = snellen.score(path, "hallusionbench", data=BUNDLED).report
    assert report.scorings["official"].readings == {"not-judged": 14}
    assert report.scorings["robust"].metrics["aacc"].value == pytest.approx(6 / 14)


@pytest.mark.parametrize("message", ["model_prediction", "gpt4v_output", "llava_1_5_output"])
@pytest.mark.parametrize("check", ["gpt4v_output_gpt_check", "llava_1_5_output_gpt_check"])
def test_replies_and_verdicts_are_known_by_the_names_of_the_published_files(
    tmp_path: Path, message: str, check: str
) -> None:
    layout = hallusionbench(data=BUNDLED).interop.layout
    assert layout is not None
    published = layout(written(tmp_path / "out.json", {**ROWS[0], message: "Yes", check: "1"}))
    assert published is not None
    assert published.replies == {"VD_illusion_0_0_0": "Yes"}
    assert published.verdicts == {"official": {"VD_illusion_0_0_0": ("correct",)}}


def test_a_folder_has_the_judged_files_of_both_kinds(tmp_path: Path) -> None:
    for kind in ("VD", "VS"):
        rows = [
            answered(row, gpt4v_output_gpt_check="1") for row in ROWS if row["category"] == kind
        ]
        written(tmp_path / f"hallusion_output_{kind.lower()}_model.json", *rows)
    report = snellen.score(tmp_path, "hallusionbench", data=BUNDLED).report
    assert report.scorings["official"].metrics["aacc"].value == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gpt4v_output_gpt_check": "3"}, "must be 0, 1, or 2"),
        ({"model_prediction": 7}, "must be text"),
    ],
)
def test_a_file_of_results_that_goes_wrong_says_where(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = written(tmp_path / "out.json", answered(ROWS[0]), answered(ROWS[1], **change))
    with pytest.raises(DataError, match=rf"row 2: .*{message}"):
        snellen.score(path, "hallusionbench", data=BUNDLED)
    written(path, answered(ROWS[0]), answered(ROWS[0]))
    with pytest.raises(DataError, match="row 2 is a second reply to VD_illusion_0_0_0"):
        snellen.score(path, "hallusionbench", data=BUNDLED)


def test_another_file_of_rows_is_left_to_others(tmp_path: Path) -> None:
    layout = hallusionbench(data=BUNDLED).interop.layout
    assert layout is not None
    path = tmp_path / "replies.jsonl"
    path.write_text('{"id": "VD_math_1_0_0", "reply": "Yes"}\n')
    assert layout(path) is None
    assert layout(written(tmp_path / "data.json", *ROWS)) is None


def test_a_figure_whose_question_failed_is_in_no_share_of_figures() -> None:
    benchmark = registry.benchmark("hallusionbench", data=Path(registry.SYNTHETIC))
    read_samples = [benchmark.read(row) for row in benchmark.data]
    shown = next(sample for sample in read_samples if sample.tags["input"] != "none")

    def facc(failed: str | None) -> MetricReport:
        tally = Tally(benchmark, ["robust"])
        for sample in read_samples:
            reply = None if sample.id == failed else Reply(text=str(sample.target))
            tally.add([Scored(sample, 0, "failed" if reply is None else "ok", reply)])
        return tally.report(model="", identity={}).scorings["robust"].metrics["facc"]

    every, some = facc(None), facc(shown.id)
    assert (every.value, some.value) == (1.0, 1.0)
    assert some.n == every.n - 1
    assert some.bounds is not None and some.bounds[0] < 1.0
