"""LogicVista: its rows, what its judges are asked, and each rule of its scorings.

Expected lists follow the rules of the authors' extract_accuracy.py at the commit that the benchmark
names, and of LangChain's parser, which it uses. What the judges are asked equals what the authors'
and VLMEvalKit's code ask.
"""

import csv
import json
from hashlib import sha256
from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import logicvista as file
from snellen.benchmarks.logicvista import layout, logicvista
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Judge, Reading
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "logicvista"
NO_CHOICE = ("zzzzz",)


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    actual = [benchmark.read(row) for row in benchmark.data]
    return {sample.id: sample for sample in actual}


def question(target: str = "C") -> Sample:
    return Sample(id="v1_0", question="Which of A-D?", target=target)


def judge(scoring: str = "official") -> Judge:
    judge = logicvista().scorings[scoring].judge
    assert judge is not None
    return judge


def read(reply: str, scoring: str = "official") -> Reading:
    return logicvista().scorings[scoring].parse(Reply(text=reply), question())


def score(reading: Reading, target: str) -> object:
    return logicvista().scorings["official"].score(reading, question(target))


# -- data and prompt


def test_the_bundled_rows_are_of_every_skill_and_their_pictures_open() -> None:
    benchmark = logicvista(data=BUNDLED)
    actual = samples(benchmark)
    assert {sample.tags["skill"] for sample in actual.values()} == set(file.SKILLS)
    assert actual["v1_1"].target == "A, B, D"
    for sample in actual.values():
        (message,) = benchmark.prompt(sample, ())
        picture, text = message.content
        assert isinstance(picture, Image)
        assert images.load(picture).width == 64
        assert text == sample.question


def test_a_question_without_text_is_its_picture_alone(tmp_path: Path) -> None:
    rows = json.loads((BUNDLED / "dataset.json").read_bytes())
    (tmp_path / "dataset.json").write_text(json.dumps({"v1_382": {**rows["v1_0"], "question": ""}}))
    benchmark = logicvista(data=tmp_path)
    (message,) = benchmark.prompt(samples(benchmark)["v1_382"], ())
    assert len(message.content) == 1


def test_a_capability_text_may_name_both() -> None:
    tags = {name: sample.tags for name, sample in samples(logicvista(data=BUNDLED)).items()}
    assert (tags["v1_0"]["diagram"], tags["v1_0"]["ocr"]) == ("diagram", "")
    assert (tags["v1_2"]["diagram"], tags["v1_2"]["ocr"]) == ("diagram", "ocr")


def test_vlmevalkits_sheet_is_read(tmp_path: Path) -> None:
    picture = (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgABSK+kcQAAAABJRU5ErkJg"
    )
    sheet = f"index\timage\tquestion\tanswer\tskill\n3\t{picture}\tWhich?\tB\t['spatial']\n"
    (tmp_path / "LogicVista.tsv").write_text(sheet)
    (sample,) = samples(logicvista(data=tmp_path)).values()
    assert (sample.id, sample.target, sample.tags["skill"]) == ("3", "B", "spatial")


def test_a_file_of_another_form_is_named(tmp_path: Path) -> None:
    (tmp_path / "dataset.json").write_text("[1]")
    with pytest.raises(DataError, match=r"dataset\.json is JSON, but not in the format"):
        samples(logicvista(data=tmp_path))


# -- official: eval/extract_accuracy.py#L74-L155


@pytest.mark.parametrize(
    ("reply", "answer", "rule"),
    [
        ("", None, "nothing said"),
        (" \n", None, "nothing said"),
        ("USER: Which? ASSISTANT:  ASSISTANT: A", None, "nothing said"),
        ("T", NO_CHOICE, "no letter from A to E"),
        (" g\n", NO_CHOICE, "no letter from A to E"),
        ("?", NO_CHOICE, "no letter from A to E"),
        ("USER: Which? ASSISTANT: T ASSISTANT: A", NO_CHOICE, "no letter from A to E"),
        ("B", None, "for the judge"),
        ("e", None, "for the judge"),
        ("3", None, "for the judge"),
        ("B, D", None, "for the judge"),
    ],
)
def test_rules_decide_only_about_nothing_and_single_signs(
    reply: str, answer: object, rule: str
) -> None:
    reading = read(reply)
    assert (reading.answer, reading.rule) == (answer, rule)
    assert judge().when(reading) == (rule == "for the judge")


@pytest.mark.parametrize(
    ("letters", "target", "right"),
    [
        (["D", "b"], "B, D", 1.0),
        (["B"], "A, C", 0.0),
        (["A"], "A, C", 0.0),  # no partial credit
        (["A", "A", "C"], "A, C", 0.0),  # duplicates stay
        (["C", "A"], "A, C", 1.0),
        (["3"], "3", 1.0),
        (["ZZZZZ"], "C", 0.0),
        ([], "C", 0.0),
        ([""], "", 1.0),  # v1_382 has no question and no answer
        ([], "", 0.0),
    ],
)
def test_the_lists_must_be_equal(letters: list[str], target: str, right: float) -> None:
    reading = judge().parse(json.dumps({"choices": letters}), question())
    assert score(reading, target) == right


def test_an_empty_reply_is_right_only_where_the_answer_is_empty() -> None:
    assert [score(read(""), target) for target in ("C", "")] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ('{"choices": ["A"]}', ("a",)),
        ('```json\n{"choices": ["D", "b"]}\n```', ("b", "d")),
        ('Here it is:\n```\n{"choices": ["A"]}```', ("a",)),
        ('{"choices": ["A"], "x": 1}', ("a",)),
        ('{"choices": []}', ()),
        ("ZZZZZ", NO_CHOICE),
        # The authors let another model repair these. Here, they are no verdicts.
        ('["A"]', None),
        ('{"choices": "A"}', None),
        ('{"choices": [3]}', None),
        ('{"choice": ["A"]}', None),
        ('{"choices": ["A"', None),
        ("A", None),
        ("", None),
        ("[" * 100_000, None),
    ],
)
def test_a_verdict_is_json_of_the_form_asked_for(words: str, answer: object) -> None:
    assert judge().parse(words, question()).answer == answer


def asks(scoring: str) -> str:
    """The digest of what a judge is asked about three rows."""
    rows = (
        ("Which of A-D comes next?", "The answer is B."),
        ("", '{a} "x"\n\n'),
        ('Ünï "quoted"?', " A "),
    )
    texts = ""
    for text, reply in rows:
        sample = Sample(id="v1_0", question=text, target="A")
        (message,) = judge(scoring).prompt(sample, Reply(text=reply))
        (words,) = message.content
        texts += str(words)
    return sha256(texts.encode()).hexdigest()


def test_the_judges_get_the_authors_and_vlmevalkits_words() -> None:
    """The digests are those of the authors' template with the instructions of langchain-core
    0.2.43, and of VLMEvalKit's build_prompt_logicvista."""
    official = "23b682c867e3a7661994aec6de628b63cdb39298e9e62ab2a75411c25b9aadfc"
    kit = "410a637ccb2bcb090a7a4df0d27e6c4ef9344ea5d61087224daa70715e96307c"
    assert (asks("official"), asks("vlmevalkit")) == (official, kit)


def test_the_judge_gets_what_follows_the_first_mark() -> None:
    (message,) = judge().prompt(question(), Reply(text="USER: Hi ASSISTANT: It is B ASSISTANT: C"))
    assert 'The answer is " It is B "' in str(message.content[0])


# -- the other scorings


@pytest.mark.parametrize(
    ("words", "answer"),
    [("A", ("a",)), ("DB", ("b", "d")), ("Z", ("z",)), ("B, D", None), ("a", None), ("", None)],
)
def test_vlmevalkits_verdict_is_capital_letters_alone(words: str, answer: object) -> None:
    # VLMEvalKit@e8e78f05:vlmeval/dataset/utils/logicvista.py#L56-L68
    assert judge("vlmevalkit").parse(words, question()).answer == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("b", ("b",)),
        ("B, D", ("b", "d")),
        ("D and B.", ("b", "d")),
        ("3", ("3",)),
        ("The answer is (C).", ("c",)),
        ("A or B", None),
        ("", None),
    ],
)
def test_robust_reads_letters_without_a_judge(reply: str, answer: object) -> None:
    assert read(reply, "robust").answer == answer


# -- the authors' files


def table(path: Path, rows: list[tuple[str, str, str, str]]) -> Path:
    """Write a table of results of rows with id, capability, letters, and reply."""
    columns = ("", "id", "reasoning skill", "capability", "true answer")
    model = ("M answer extracted", "M answer raw", "match?")
    with path.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        writer.writerow((*columns, *model))
        for number, (name, capability, letters, reply) in enumerate(rows):
            writer.writerow((number, name, "['inductive']", capability, "[]", letters, reply, 0))
    return path


def test_a_table_of_results_is_scored_by_its_lists_and_capabilities(tmp_path: Path) -> None:
    rows = [
        ("v1_0", "['diagram', 'ocr']", "['a']", "A"),
        ("v1_1", "['ocr']", "['']", ""),
        ("v1_2", "['ocr']", "['c']", "None"),
        ("v1_3", "['ocr']", "['zzzzz']", "no\nidea"),
        ("v1_4", "['graphs']", "[]", "All of them"),
    ]
    path = table(tmp_path / "M-accuracy-results.csv", rows)
    result = snellen.score(path, logicvista(data=BUNDLED), scorings=["official"])
    metrics = result.report.scorings["official"].metrics
    assert (metrics["accuracy"].value, metrics["accuracy"].n) == (2 / 5, 5)
    # In dataset.json, v1_1 is a diagram, and v1_0 has no text.
    assert (metrics["accuracy/ocr"].value, metrics["accuracy/ocr"].n) == (2 / 4, 4)
    assert metrics["accuracy/diagram"].n == 1


def test_a_file_of_replies_is_left_to_rules_and_judge(tmp_path: Path) -> None:
    path = tmp_path / "M-answers.json"
    rows = {"v1_0": {"answer": "It is A", "reasoning": "none"}, "v1_1": {"answer": None}}
    path.write_text(json.dumps(rows))
    assert layout(path) is None
    rows["v1_1"] = {"answer": None, "reasoning": "none"}
    path.write_text(json.dumps(rows))
    published = layout(path)
    assert published is not None
    assert (published.replies, published.verdicts) == ({"v1_0": "It is A", "v1_1": None}, {})


def test_other_tables_are_not_the_authors_and_repeated_ids_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "replies.csv"
    for text in ("id,prediction\n1,A\n", "", 'a"b\n"'):
        path.write_text(text)
        assert layout(path) is None
    row = ("v1_0", "['ocr']", "['a']", "A")
    with pytest.raises(DataError, match="several rows with the same id"):
        layout(table(tmp_path / "M-accuracy-results.csv", [row, row]))
