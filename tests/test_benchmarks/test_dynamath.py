"""DynaMath: its rows, its prompts, its verdict files, and the quirks of each scoring."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import dynamath as file
from snellen.benchmarks.dynamath import dynamath
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "dynamath"
JSON = '{{"solution": "s", "short answer": {}}}'
FORM = (
    "Example of expected JSON response format:\n\n"
    '{\n    "solution": "[Detailed step-by-step explanation]",\n'
    '    "short answer": "[Concise Answer]"\n}'
)


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def text_of(benchmark: Benchmark, sample: str) -> str:
    (message,) = benchmark.messages(samples(benchmark)[sample])
    image, text = message.content
    assert isinstance(image, Image)
    return str(text)


def score(scoring: str, kind: str, target: str, reply: str, question: str = "Which?") -> object:
    sample = Sample(id="1", question=question, target=target, data={"answer_type": kind})
    actual = dynamath(data=BUNDLED).scorings[scoring]
    return total_score(actual.score(actual.parse(Reply(text=reply), sample), sample))


def figures(replies: dict[str, str], data: Path, path: Path) -> dict[str, Any]:
    path.write_text(json.dumps(replies), encoding="utf-8")
    report = snellen.score(path, dynamath(data=data)).report
    return {name: figure.value for name, figure in report.scorings["official"].metrics.items()}


# -- data


def test_a_trial_has_a_variant_of_every_question() -> None:
    actual = samples(dynamath(data=BUNDLED))
    assert [*actual] == [f"{question}-{variant}" for variant in (1, 2) for question in range(1, 5)]
    sample = actual["2-2"]
    assert (sample.question, sample.target) == ("How long is a diagonal of the blue box?", "3.6056")
    assert sample.tags == {
        "topic": "plane geometry",
        "level": "high school",
        "variant": "variant 2",
        "question": "question 2",
    }
    (picture,) = sample.media
    assert isinstance(picture, Image)
    assert picture.label == "trial2/image/image2.png"
    assert images.load(picture).width == 96


def test_variants_of_a_question_share_a_cluster() -> None:
    benchmark = dynamath(data=BUNDLED)
    assert benchmark.cluster_by is not None
    assert len({*map(benchmark.cluster_by, samples(benchmark).values())}) == 4


@pytest.mark.parametrize("folder", ["10trials", "samples and result/10trials"])
def test_trials_are_in_the_order_of_their_numbers(tmp_path: Path, folder: str) -> None:
    row = {"question": "Which?", "answer": "A", "answer_type": "multiple choice", "level": "l"}
    for number in (10, 2, 1):
        path = tmp_path / folder / f"trial{number}" / "dataset.json"
        path.parent.mkdir(parents=True)
        rows = {"1": {**row, "image": "image/image1.png", "subject": "analytic     geometry"}}
        path.write_text(json.dumps(rows), encoding="utf-8")
    actual = samples(dynamath(data=tmp_path))
    assert [*actual] == ["1-1", "1-2", "1-10"]
    assert {sample.tags["topic"] for sample in actual.values()} == {"analytic geometry"}


def test_vlmevalkits_sheet_is_read(tmp_path: Path) -> None:
    picture = base64.b64encode((BUNDLED / "trial1/image/image1.png").read_bytes()).decode()
    header = "index\tqid\tvarid\tquestion\tanswer\tanswer_type\tsubject\tknowledge_level\timage\n"
    row = f"7\t3\t2\tHow many?\t4.0\tfloat\talgebra\thigh school\t{picture}\n"
    (tmp_path / "DynaMath.tsv").write_text(header + row, encoding="utf-8")
    (sample,) = samples(dynamath(data=tmp_path)).values()
    assert (sample.id, sample.target) == ("7", "4.0")
    assert sample.tags["question"] == "question 3"
    assert sample.tags["variant"] == "variant 2"
    assert sample.tags["level"] == "high school"


# -- prompts


def test_the_authors_ask_for_json() -> None:
    text = text_of(dynamath(data=BUNDLED), "1-1")
    # evaluation/opensource_json_eval.py#L52-L84
    assert text == (
        "## Question\nWhat is the area of the blue box?Please answer in a floating-point number.\n"
        "## Answer Instruction Please provide an answer to the question outlined above. Your "
        "response should adhere \nto the following JSON format, which includes two keys: "
        "'solution' and 'short answer'. The 'solution' key can contain \ndetailed steps needed to "
        "solve the question, and the 'short answer' key should provide a concise response. If the "
        "problem is a multiple choice problem, just provide the corresponing choice option, \n"
        "such as 'A', 'B', 'C', or 'D'. If the answer is a numerical value, format it as a "
        f"three-digit floating-point number.\n\n{FORM}"
    )
    assert "floating-point number.\n## Answer" not in text_of(dynamath(data=BUNDLED), "3-1")


def test_vlmevalkits_instruction_depends_on_the_answer() -> None:
    benchmark = registry.benchmark("DynaMath", data=BUNDLED)
    # vlmeval/dataset/dynamath.py#L123-L156
    assert text_of(benchmark, "1-1") == (
        "## Question\n What is the area of the blue box?\n"
        "## Answer Instruction Please provide an answer to the question outlined above. Your "
        "response should adhere to the following JSON format, which includes two keys: 'solution' "
        "and 'short answer'. The 'solution' key can contain detailed steps needed to solve the "
        "question, and the 'short answer' key should provide a concise response. Format the answer "
        "as a three-digit floating-point number and provide it in the 'short answer' key."
        f"\n\n{FORM}"
    )
    assert "Provide the corresponing choice option in" in text_of(benchmark, "3-1")
    assert "Float numbers in the answer should be" in text_of(benchmark, "4-1")
    bare = registry.benchmark("DynaMath_noprompt", data=BUNDLED)
    assert text_of(bare, "1-1") == "## Question\n What is the area of the blue box?"


def test_lmms_eval_asks_for_tags_in_a_system_message() -> None:
    benchmark = registry.benchmark("dynamath_reasoning", data=BUNDLED)
    first, second = benchmark.messages(samples(benchmark)["1-1"])
    assert (first.role, second.content[1]) == ("system", "What is the area of the blue box?")
    assert str(first.content[0]).endswith("tags that directly addresses the question.")
    assert (benchmark.max_answer_tokens, benchmark.headline) == (49_152, "robust")


# -- official


@pytest.mark.parametrize(
    ("kind", "target", "reply", "expected"),
    [
        # Numbers: the text before the first space, π allowed, and what follows π ignored.
        ("float", "29.113", "Reasoning\n9.2670π.", 1.0),
        ("float", "6.2832", JSON.format('"2π cm"'), 1.0),
        ("float", "0.99", JSON.format('"0.990 cm"'), 1.0),
        ("float", "0.99", JSON.format('"$0.990"'), 0.0),
        ("float", "12.5", JSON.format('"12.5009"'), 1.0),
        ("float", "12.5", JSON.format('"12.502"'), 0.0),
        ("float", "31.518", JSON.format("31.518"), 1.0),
        ("float", "31.518", JSON.format("null"), 0.0),
        ("float", "12", JSON.format('"NaN"'), 0.0),
        # In binary floats, 1.002 - 1.001 is more than 0.001.
        ("float", "1.001", JSON.format('"1.002"'), 0.0),
        # Without JSON, the last line loses its last character.
        ("float", "12.5", "Reasoning\n12.5", 0.0),
        ("float", "12.5", "Reasoning\n12.5.", 1.0),
        ("multiple choice", "B", "B", 0.0),
        # A reply that is a JSON value, but not an object, is wrong.
        ("float", "12", "12", 0.0),
        # A longer answer must have the letter among its first three characters.
        ("multiple choice", "B", JSON.format('"(B)"'), 1.0),
        ("multiple choice", "B", JSON.format('"Option B"'), 0.0),
        ("multiple choice", "A", JSON.format('"AB"'), 1.0),
        ("multiple choice", "B", JSON.format('"AB"'), 1.0),
        ("multiple choice", "A", JSON.format('"a"'), 0.0),
        ("multiple choice", "A", JSON.format('["A"]'), 1.0),
        # A text must be contained in the answer, in this case. A missing answer is "None".
        ("text", "No", JSON.format('"It is No."'), 1.0),
        ("text", "No", JSON.format('"it is no."'), 0.0),
        ("text", "No", '{"solution": "s"}', 1.0),
        # Backslashes are deleted: \n becomes n, and \frac becomes frac.
        ("text", "n1", JSON.format('"\\n1"'), 1.0),
        ("text", "frac12", 'Sure! {"short answer": "\\frac12"} Bye.', 1.0),
        ("text", "May", "", 0.0),
    ],
)
def test_the_authors_script_reads_a_reply(
    kind: str, target: str, reply: str, expected: float
) -> None:
    assert score("official", kind, target, reply) == expected


@pytest.mark.parametrize("reply", ["{" * 100_000, f"{{{'[' * 100_000}}}", "9" * 5000])
def test_a_hostile_reply_is_wrong(reply: str) -> None:
    for scoring in dynamath(data=BUNDLED).scorings:
        assert score(scoring, "float", "1", reply) == 0.0


def test_worst_case_best_case_and_robustness_are_by_question(tmp_path: Path) -> None:
    right = {name: sample.target for name, sample in samples(dynamath(data=BUNDLED)).items()}
    replies = {name: JSON.format(json.dumps(target)) for name, target in right.items()}
    replies |= dict.fromkeys(("1-2", "3-1", "3-2"), JSON.format('"nothing"'))
    actual = figures(replies, BUNDLED, tmp_path / "replies.json")
    # Question 1 has one variant right, 2 and 4 have both, and 3 has none.
    assert actual["average"] == 5 / 8
    assert actual["worst_case"] == 2 / 4
    assert actual["best_case"] == 3 / 4
    assert actual["robustness"] == pytest.approx((2 / 4) / (5 / 8))
    assert actual["worst_case/plane geometry"] == 1 / 2
    assert actual["average/variant 1"] == 3 / 4
    assert "worst_case/variant 1" not in actual


def test_a_question_without_all_replies_is_in_no_worst_case(tmp_path: Path) -> None:
    replies = {"1-1": JSON.format("20"), "1-2": JSON.format("6"), "2-1": JSON.format("1")}
    actual = figures(replies, BUNDLED, tmp_path / "replies.json")
    assert (actual["average"], actual["worst_case"]) == (2 / 3, 1.0)


def test_nothing_right_has_no_robustness(tmp_path: Path) -> None:
    replies = dict.fromkeys(samples(dynamath(data=BUNDLED)), "no idea")
    actual = figures(replies, BUNDLED, tmp_path / "replies.json")
    assert (actual["worst_case"], actual["robustness"]) == (0.0, None)


# -- vlmevalkit, robust


@pytest.mark.parametrize(
    ("kind", "target", "reply", "expected"),
    [
        # Exactly one of A to E may occur, anywhere and in any case.
        ("multiple choice", "B", JSON.format('"Option B"'), 1.0),
        ("multiple choice", "B", JSON.format('"red: B"'), 0.0),
        # If there are several or none, the reply's first three characters ("Rea") decide.
        ("multiple choice", "A", "Reasoning\n(C).", 1.0),
        ("multiple choice", "C", "Reasoning\n(C).", 0.0),
        ("multiple choice", "C", "C: red", 1.0),
        # A value that is not a text is not read. The whole reply is read instead.
        ("float", "31.518", JSON.format("31.518"), 0.0),
        ("float", "12", "12", 1.0),
        ("float", "29.113", "Reasoning\n9.2670π.", 0.0),
        # The answer must be contained in the target, so an empty answer is right.
        ("text", "(1, 2)", JSON.format('"(1,"'), 1.0),
        ("text", "Yes", JSON.format('"YES"'), 1.0),
        ("text", "No", JSON.format('"It is No."'), 0.0),
        ("text", "Yes", "", 1.0),
    ],
)
def test_vlmevalkit_reads_a_reply(kind: str, target: str, reply: str, expected: float) -> None:
    assert score("vlmevalkit", kind, target, reply) == expected


@pytest.mark.parametrize(
    ("kind", "target", "reply", "expected"),
    [
        ("multiple choice", "B", JSON.format('"Option B"'), 1.0),
        ("multiple choice", "B", "The answer is (B).", 1.0),
        ("multiple choice", "B", "A or B", 0.0),
        ("float", "12.5", "The answer is 12.5", 1.0),
        ("float", "12.5", "<think>{x} is 7</think>\n<answer>12.5</answer>", 1.0),
        ("text", "(1, 2)", "<think>?</think><answer>(1, 2)</answer>", 1.0),
        ("float", "0.5", JSON.format('"\\\\frac{1}{2}"'), 1.0),
        ("float", "1.001", JSON.format("1.002"), 1.0),
        ("float", "1.001", JSON.format("1.003"), 0.0),
        ("text", "May", "The answer is may.", 1.0),
        ("text", "May", "", 0.0),
    ],
)
def test_our_own_rule_reads_what_a_reply_settles_on(
    kind: str, target: str, reply: str, expected: float
) -> None:
    assert score("robust", kind, target, reply, "Is it? Choices: (A) yes (B) no") == expected


# -- verdicts


def write_verdicts(path: Path, *rows: str) -> Path:
    header = "Question ID,Variant 1,Variant 2,# of correct per question,Topic,Difficulty Level"
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    return path


def test_a_file_of_verdicts_has_a_value_in_the_authors_scoring_alone(tmp_path: Path) -> None:
    path = write_verdicts(
        tmp_path / "model-result.csv",
        *("Q1,correct,fail,1,t,l", "Q2,correct,correct,2,t,l", "Q3,fail,fail,0,t,l"),
        *(
            "Q4,fail,fail,0,t,l",
            "# of correct per variant,2,1,,,",
            "A_avg,50.00 ,25.00 ,,,",
            ",,,,,",
        ),
    )
    report = snellen.score(path, dynamath(data=BUNDLED)).report
    values = {name: of.metrics["average"].value for name, of in report.scorings.items()}
    assert values == {"official": 3 / 8, "vlmevalkit": None, "robust": None}
    assert report.scorings["official"].metrics["worst_case"].value == 1 / 4
    assert any("verdicts and no replies" in note for note in report.notes)
    assert not report.disagreements


@pytest.mark.parametrize("cell", ["", "Correct", "1"])
def test_an_unknown_verdict_is_refused(tmp_path: Path, cell: str) -> None:
    path = write_verdicts(tmp_path / "model-result.csv", f"Q1,correct,{cell},1,t,l")
    with pytest.raises(DataError, match=r"Q1, Variant 2, is .* It must be correct or fail"):
        snellen.score(path, dynamath(data=BUNDLED))


def test_another_csv_file_is_read_as_predictions(tmp_path: Path) -> None:
    path = tmp_path / "replies.csv"
    path.write_text("id,prediction\n1-1,no idea\n", encoding="utf-8")
    report = snellen.score(path, dynamath(data=BUNDLED)).report
    assert report.scorings["official"].metrics["average"].n == 1
