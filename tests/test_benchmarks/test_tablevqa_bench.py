"""TableVQA-Bench: its rows in each published form, its prompts, and each rule of its scorings."""

import base64
import json
from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import tablevqa_bench as file
from snellen.benchmarks.tablevqa_bench import Part, tablevqa_bench
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "tablevqa_bench"
PICTURE = BUNDLED / "images" / "harbors.png"


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def score(scoring: str, part: str, reply: str, target: str) -> float | None:
    sample = Sample(id="1", question="?", target=target, tags={"part": part})
    actual = tablevqa_bench(data=BUNDLED).scorings[scoring]
    return total_score(actual.score(actual.parse(Reply(text=reply), sample), sample))


# -- data


def test_the_hubs_parquet_is_read_with_the_part_of_each_file(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (tmp_path / "data").mkdir()
    for name, answer in (("vwtq-00000-of-00001-764eb826ab450a91", "2"), ("vwtq_syn-0", "3")):
        row = {
            "qa_id": "nu-1",
            "question": "how many?",
            "gt": answer,
            "image": {"bytes": PICTURE.read_bytes(), "path": None},
        }
        parquet.write_table(pyarrow.Table.from_pylist([row]), tmp_path / "data" / f"{name}.parquet")
    (sample,) = samples(tablevqa_bench(part="vwtq", data=tmp_path)).values()
    assert (sample.id, sample.target, sample.tags["part"]) == ("vwtq-nu-1", "2", "vwtq")
    (media,) = sample.media
    assert isinstance(media, Image)
    assert images.load(media).width == 272
    (synthetic,) = samples(tablevqa_bench(part="vwtq_syn", data=tmp_path))
    assert synthetic == "vwtq_syn-nu-1"


def test_vlmevalkits_sheet_is_read(tmp_path: Path) -> None:
    picture = base64.b64encode(PICTURE.read_bytes()).decode()
    (tmp_path / "TableVQABench.tsv").write_text(
        "index\timage\tquestion\tanswer\tsplit\n"
        f"0\t{picture}\tvik is in norway\t1\tvtabfact\n1\t0\thow many?\t12\tvwtq\n"
    )
    actual = samples(tablevqa_bench(data=tmp_path))
    assert {name: (it.target, it.tags["part"]) for name, it in actual.items()} == {
        "0": ("true", "vtabfact"),
        "1": ("12", "vwtq"),
    }
    assert [*samples(tablevqa_bench(part="vwtq", data=tmp_path))] == ["1"]


def test_a_part_without_a_file_is_missed(tmp_path: Path) -> None:
    (tmp_path / "vwtq.json").write_bytes((BUNDLED / "vwtq.json").read_bytes())
    with pytest.raises(DataError, match="has no file of vwtq_syn, vtabfact, fintabnetqa"):
        samples(tablevqa_bench(data=tmp_path))
    assert len(samples(tablevqa_bench(part="vwtq", data=tmp_path))) == 3
    assert len(samples(tablevqa_bench(data=tmp_path / "vwtq.json"))) == 3


@pytest.mark.parametrize("content", ['{"rows": []}', "[1, 2]", "[]", '{"instances": 3}'])
def test_a_file_without_a_list_of_rows_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "vwtq.json").write_text(content)
    with pytest.raises(DataError, match=r"vwtq.json is not a list of rows"):
        samples(tablevqa_bench(part="vwtq", data=tmp_path))


# -- prompts


@pytest.mark.parametrize(
    ("part", "begins", "ends"),
    [
        ("vwtq", "You are asked to answer questions asked on an image.\n", "Question: Q\nAnswer:"),
        (
            "vwtq_syn",
            "You are asked to answer questions asked on an",
            "Tomato\n\nQuestion: Q\nAnsw",
        ),
        ("vtabfact", "You are asked to answer whether", "False\n\nStatement: Q\nAnswer:"),
        ("fintabnetqa", "You are asked to answer questions asked on a image.\n", "34.2%\nQuestion"),
    ],
)
def test_each_part_has_the_authors_examples(part: Part, begins: str, ends: str) -> None:
    sample = Sample(id="1", question="Q", tags={"part": part})
    text = file.text(sample, "official")
    assert text.startswith(begins)
    assert ends in text


def test_vlmevalkit_writes_true_or_false_with_capitals() -> None:
    sample = Sample(id="1", question="Q", tags={"part": "vtabfact"})
    assert "only answer true or false.\n" in file.text(sample, "official")
    assert "only answer True or False.\n" in file.text(sample, "vlmevalkit")


# -- official: the worked examples of the authors' rules


@pytest.mark.parametrize(
    ("reply", "target", "expected"),
    [
        ("3.0", "3", 1.0),
        ("1000", "1,000", 0.0),  # "1,000" is a text
        ("1000", "1_000", 1.0),  # and "1_000" a number, as Python's int reads it
        ("1e3", "1000", 1.0),
        ("b|a", "a||b", 0.0),  # only the reply's "||" means "|"
        ("b||a", "a|b", 1.0),
        ("a|a", "a", 1.0),  # sets
        ("Oslo", "Oslo (Norway)", 1.0),
        ("3", "3 points", 0.0),
        ("2001", "2001-xx-xx", 1.0),
        ("2001-05-06", "2001-5-6", 1.0),
        ("2001-13-06", "2001-13-6", 0.0),
        ("0", "0.9999999", 1.0),  # int() cuts
        ("1", "0.9999999", 0.0),
        ("1.0000004", "1", 1.0),
        ("caf\u00e9.[3]\u2020", "Cafe", 1.0),
        ("a\\pb", "a|b", 0.0),
        ("nan", "nan", 1.0),  # where the authors' script stops
        ("9" * 400, "3.5", 0.0),
        ("", "3", 0.0),
    ],
)
def test_answers_of_vwtq_are_compared_as_sets_of_values(
    reply: str, target: str, expected: float
) -> None:
    assert score("official", "vwtq", reply, target) == expected
    assert score("official", "vwtq_syn", reply, target) == expected


@pytest.mark.parametrize(
    ("reply", "target", "exact", "relieved"),
    [
        ("$3 million", "3000000", 1.0, 1.0),
        ("$3 million", "3", 0.0, 1.0),
        ("12.5", "12.5%", 0.0, 1.0),
        ("12.5 percent", "12.5%", 0.0, 0.0),
        ("two million", "twoe6", 1.0, 1.0),
        ("two million", "two", 0.0, 1.0),
        ("5million", "5", 0.0, 0.0),
        ("(45)", "45", 1.0, 1.0),
        ("(45)", "-45", 0.0, 0.0),
        ("net (loss)", "net", 1.0, 1.0),
        ("1,250 shares", "1250", 1.0, 1.0),
        ("7 square feet", "7", 1.0, 1.0),
        ("3 milestones", "3", 0.0, 0.0),
        ("thousand thousand", "thousand", 0.0, 1.0),
    ],
)
def test_a_unit_may_be_missing_in_fintabnetqa_but_not_in_exact(
    reply: str, target: str, exact: float, relieved: float
) -> None:
    assert score("exact", "fintabnetqa", reply, target) == exact
    assert score("official", "fintabnetqa", reply, target) == relieved


@pytest.mark.parametrize(
    ("reply", "target", "expected"),
    [
        ("True.", "true", 1.0),
        ("It is untrue", "true", 1.0),
        ("FALSE", "false", 1.0),
        ("true or false", "true", 0.0),
        ("none", "false", 0.0),
        ("", "false", 0.0),
    ],
)
def test_a_statement_is_judged_by_the_word_in_the_reply(
    reply: str, target: str, expected: float
) -> None:
    assert score("official", "vtabfact", reply, target) == expected


def test_the_average_is_rounded_by_part_and_weighted_by_size(tmp_path: Path) -> None:
    # By hand: vwtq round((1 + 1e-9) / (3 + 1e-9), 8) = 0.33333333, the others 0, 1, and 1.
    replies = {"vwtq": ["31", "?", "?"], "vwtq_syn": ["?"] * 3, "vtabfact": ["True", "False"]}
    for part, texts in (replies | {"vtabfact": ["True", "False", "true"]}).items():
        rows = [{"qa_id": f"s-{n}", "pred": text} for n, text in enumerate(texts, 1)]
        (tmp_path / f"{part}.json").write_text(json.dumps(rows))
    result = snellen.score(tmp_path, tablevqa_bench(data=BUNDLED))
    metrics = result.report.scorings["official"].metrics
    assert metrics["average"].n == 9  # only the rows in the files
    assert metrics["average"].value == pytest.approx((0.33333333 * 3 + 3) / 9, abs=1e-12)
    assert metrics["accuracy"].value == pytest.approx(4 / 9)


def test_a_row_without_a_reply_is_wrong_and_the_authors_verdicts_are_read_over(
    tmp_path: Path,
) -> None:
    rows = [
        {"qa_id": "s-1", "pred": "true", "scores": {"a": 1}},
        {"qa_id": "s-2", "pred": None, "scores": {"a": 0}},
    ]
    path = tmp_path / "vtabfact.json"
    path.write_text(json.dumps({"instances": rows, "evaluation_meta": {}}))
    result = snellen.score(path, tablevqa_bench(part="vtabfact", data=BUNDLED))
    assert result.report.scorings["official"].metrics["accuracy"].value == 0.5
    assert result.report.scorings["official"].metrics["accuracy"].n == 2
    assert result.report.scorings["robust"].metrics["accuracy"].n == 1


# -- the other scorings


def test_vlmevalkit_removes_answer_at_the_start_of_a_reply() -> None:
    assert score("vlmevalkit", "vwtq", "Answer: 3", "3") == 1.0
    assert score("official", "vwtq", "Answer: 3", "3") == 0.0
    assert score("vlmevalkit", "vwtq", "answer: 3", "3") == 0.0


@pytest.mark.parametrize(
    ("part", "reply", "target", "expected"),
    [
        ("vwtq", "The answer is **1,000**.", "1000", 1.0),
        ("vwtq", "Answer: Vik||Moss", "Moss|Vik", 1.0),
        ("vwtq", "Answer: 3. Or rather: the answer is 4.", "3", 0.0),
        ("fintabnetqa", "The answer is $3.2 million.", "3.2", 1.0),
        ("vtabfact", "The statement is true.", "true", 1.0),
        ("vtabfact", "The statement is not true.", "true", 0.0),
        ("vtabfact", "No, that is wrong.", "false", 1.0),
        ("vtabfact", "True or false? I cannot say.", "true", 0.0),
    ],
)
def test_robust_takes_what_a_reply_settles_on(
    part: str, reply: str, target: str, expected: float
) -> None:
    assert score("robust", part, reply, target) == expected
