"""SimpleVQA: its prompts, how verdicts are read, and the figures of rounded shares."""

import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks import simplevqa as file
from snellen.benchmarks.simplevqa import Preset, label, simplevqa, verdict
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "simplevqa"
ANY = Sample(id="1", question="Who?", target="Ada")


def samples(prompt: Preset = "official") -> dict[str, Sample]:
    benchmark = simplevqa(prompt, data=BUNDLED)
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def text(prompt: Preset, name: str) -> str:
    return simplevqa(prompt, data=BUNDLED).prompt(samples()[name], ())[0].text


def written(path: Path, verdicts: list[Any], model: str = "m_response") -> Path:
    rows = [
        {"data_id": number, model: "this", "judge_res": {model: value}}
        for number, value in enumerate(verdicts)
    ]
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return path


def test_a_question_is_asked_in_the_words_of_its_language_or_of_another_toolkit() -> None:
    assert text("official", "0") == (
        "假如你是一个计算机视觉专家，请理解图片内容，并回答给出的问题，要求只能回答一个命名实体：\n"
        "## 下面我们提出问题: \n图中的天体叫什么名字？\n"
    )
    assert text("official", "4").startswith("If you are a computer vision expert, please underst")
    assert text("vlmevalkit", "4") == "Which planet does the body in this picture orbit?"
    assert text("lmms-eval", "4") == (
        "Which planet does the body in this picture orbit?\n"
        "Answer the question using a short phrase."
    )


@pytest.mark.parametrize(("number", "language"), [(1011, "Chinese"), (1012, "English")])
def test_a_row_of_the_hub_has_its_language_from_its_number_and_its_picture_in_base64(
    number: int, language: str
) -> None:
    row = next(iter(simplevqa(data=BUNDLED).data))
    lines = (BUNDLED / "SimpleVQA.tsv").read_text(encoding="utf-8").splitlines()
    fields = {**row, "data_id": number, "image": lines[1].split("\t")[1]}
    sample = file.to_sample(Row(fields, 0))

    assert (sample.id, sample.tags["language"]) == (str(number), language)
    (picture,) = sample.media
    assert isinstance(picture, Image)
    assert images.load(picture).width == 120


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("正确", "correct"),
        ("错误", "incorrect"),
        ("未尝试", "not attempted"),
        ("**正确**", "correct"),
        ("正确，因为答案一致", "not attempted"),
        ("结论：错误", "not attempted"),
        ("Not attempted here", "not attempted"),
        ("正 确", None),
        ("", None),
        ({"conclusion": "**错误**"}, "incorrect"),
        ({"conclusion": "正确，因为答案一致"}, None),
        ({"reason": "x"}, None),
        (None, None),
        (1, None),
        (["正确"], None),
    ],
)
def test_a_long_text_is_not_attempted_whatever_it_says(value: object, expected: str | None) -> None:
    # SimpleVQA/SimpleVQA@b94d1f3:simpleVQA_eval.py#L33-L49
    assert label(value) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ('```json\n{"预测答案0": "正确"}\n```', "correct"),
        ('{"预测答案0": "正确"', "correct"),
        ('{"a": "错误", "b": "正确"}', "incorrect"),
        ("正确", None),
        ("{}", None),
        ('["正确"]', None),
        ("", None),
    ],
)
def test_the_judges_reply_is_its_first_verdict(words: str, expected: str | None) -> None:
    assert verdict(words, ANY).answer == expected


def test_figures_are_of_shares_with_four_digits(tmp_path: Path) -> None:
    """4 of 7 replies are right and 2 are wrong: 0.5714 and 0.2857 (by hand)."""
    path = written(tmp_path / "judged.json", ["正确"] * 4 + ["错误"] * 2 + ["未尝试"])
    metrics = snellen.score(path, simplevqa(data=BUNDLED)).scoring().metrics
    values = {name: metric.value for name, metric in metrics.items()}

    assert values["accuracy"] == 4 / 7
    assert values["is_correct"] == 0.5714
    assert values["is_incorrect"] == 0.2857
    assert values["is_not_attempted"] == 0.1429
    assert values["is_given_attempted"] == pytest.approx(0.8571, abs=1e-12)
    precision = 0.5714 / 0.8571
    assert values["accuracy_given_attempted"] == pytest.approx(precision, abs=1e-12)
    assert values["f1"] == pytest.approx(2 * precision * 0.5714 / (precision + 0.5714), abs=1e-12)


def test_a_verdict_that_stops_the_authors_script_leaves_its_reply_unjudged(tmp_path: Path) -> None:
    path = written(tmp_path / "judged.json", ["正确", "正 确", None])
    report = snellen.score(path, simplevqa(data=BUNDLED)).scoring()
    assert report.metrics["accuracy"].n == 1
    assert report.readings["not-judged"] == 2


def test_without_a_correct_reply_f_is_zero(tmp_path: Path) -> None:
    path = written(tmp_path / "judged.json", ["未尝试"] * 2)
    metrics = snellen.score(path, simplevqa(data=BUNDLED)).scoring().metrics
    assert (metrics["accuracy_given_attempted"].value, metrics["f1"].value) == (0.0, 0.0)


def test_a_file_about_several_models_is_refused(tmp_path: Path) -> None:
    rows = [{"data_id": 0, "judge_res": {"a": "正确", "b": "错误"}}]
    path = tmp_path / "judged.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(DataError, match="verdicts on several models: a, b"):
        snellen.score(path, simplevqa(data=BUNDLED))


def test_two_verdicts_on_a_question_are_refused(tmp_path: Path) -> None:
    rows = [{"data_id": 0, "judge_res": {"a": verdict}} for verdict in ("正确", "错误")]
    path = tmp_path / "judged.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(DataError, match="several rows with the same data_id"):
        snellen.score(path, simplevqa(data=BUNDLED))


def test_lmms_eval_compares_normalized_texts(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    path.write_text(json.dumps({"4": "the Earth.", "5": "Euclid"}))
    benchmark = simplevqa(data=BUNDLED)
    result = snellen.score(path, benchmark, scorings=["lmms-eval"])
    assert (result.headline.value, result.headline.n) == (0.5, 2)
