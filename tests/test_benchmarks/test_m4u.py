"""M4U: its rows, its prompt, and the quirks of its parser."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import m4u as file
from snellen.benchmarks.m4u import m4u
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import MediaError
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "m4u"
ANIMALS = ("cat", "dog", "bird", "fish")


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def letter(scoring: str, reply: str, choices: Sequence[str] = ANIMALS) -> object:
    sample = Sample(
        id="1", question="?", choices=tuple(choices), target="C", data={"options": str([*choices])}
    )
    return m4u(data=BUNDLED).scorings[scoring].parse(Reply(text=reply), sample).answer


# -- the worked examples of the authors' parser


@pytest.mark.parametrize(
    ("reply", "official", "with_list"),
    [
        ("(A) no, (C)", "C", "C"),
        ("A. then C.", "A", "A"),  # neither has a space on both sides: the first
        ("it is the dog, of course yes it is", "H", "B"),  # the first space is character 7
        ("The answer is B", "B", "B"),
        ("(A) B. C", "A", "A"),
        ("A B", "B", "B"),
        ("I cannot say", "I", None),
        ("dog", None, None),
        ("**B** or **D**", "B", "B"),
        ("'B'!", "B", "B"),
        ("", None, None),
    ],
)
def test_the_letters_of_the_official_parser_are_those_of_the_characters(
    reply: str, official: str | None, with_list: str | None
) -> None:
    assert letter("official", reply) == official
    assert letter("list", reply) == with_list


def test_a_small_letter_counts_as_its_capital() -> None:
    # utils.py#L127
    benchmark = m4u(data=BUNDLED)
    sample = Sample(id="1", question="?", choices=ANIMALS, target="B", data={"options": "x" * 60})
    official = benchmark.scorings["official"]
    reading = official.parse(Reply(text="(b)"), sample)
    assert (reading.answer, official.score(reading, sample)) == ("b", 1.0)


def test_robust_takes_the_choice_that_a_reply_settles_on() -> None:
    assert letter("robust", "It is the dog, of course. The answer is B.") == "B"
    assert letter("robust", "I cannot say") is None


# -- data


def test_the_hubs_choices_become_the_text_that_the_authors_stored(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (tmp_path / "data").mkdir()
    row = {
        "image_type": ["diagrams"],
        "image_files": [{"bytes": (BUNDLED / "images/heart.png").read_bytes(), "path": None}],
        "question": "<image_1> Which?",
        "options": ["K=162", "\\omega=2.42", "it's 0"],
        "answer": "A",
        "discipline": "Automation",
        "subfield": "control",
        "field": "engineering",
        "answer_index": 0,
        "language": "en",
        "cross_lingual": True,
    }
    table = pyarrow.Table.from_pylist([row, row])
    parquet.write_table(table, tmp_path / "data" / "engineering_en-00000-of-00001.parquet")
    benchmark = m4u(field="engineering", language="en", data=tmp_path)
    first, second = samples(benchmark).values()
    assert (first.id, second.id) == ("engineering_en-0", "engineering_en-1")
    assert first.data["options"] == "['K=162', '\\\\omega=2.42', \"it's 0\"]"
    assert first.choices == ("K=162", "\\omega=2.42", "it's 0")
    assert first.tags["cross_lingual"] == "True"
    assert len(first.media) == 1


def test_a_language_and_a_field_are_chosen_by_options() -> None:
    assert len(samples(m4u(data=BUNDLED))) == 18
    assert [*samples(m4u(field="science", language="zh", data=BUNDLED))] == [
        "science_zh-0",
        "science_zh-1",
    ]


# -- prompt


def parts(sample: Sample) -> list[str]:
    return [part.label if isinstance(part, Image) else str(part) for part in file.prompt(sample)]


@pytest.mark.parametrize(
    ("language", "ask"),
    [
        ("en", "Answer with the option's letter from the given choices directly."),
        ("zh", "直接用给定选项的字母回答."),
        ("de", "Antworten Sie direkt mit dem Buchstaben der gegebenen Optionen."),
    ],
)
def test_each_language_has_its_own_instruction(language: str, ask: str) -> None:
    sample = samples(m4u(data=BUNDLED))[f"engineering_{language}-0"]
    picture, text = parts(sample)
    assert picture == "images/numbers.png"
    assert text.endswith(f"\nA. 5\nB. 6\nC. 7\nD. 8\n{ask}")


def test_pictures_follow_the_order_of_their_marks_and_the_last_is_shown_again() -> None:
    # evaluate_gpt4o.py#L60-L65
    media = tuple(Image(b"", label) for label in ("first", "second"))
    sample = Sample(
        id="1",
        question="<image_2> or <image_1>?",
        choices=("<image_1>", "none"),
        media=media,
        tags={"language": "en"},
    )
    assert parts(sample)[:5] == ["first", " or ", "second", "?\nA. ", "second"]


def test_rows_without_pictures_are_scored_but_not_asked(tmp_path: Path) -> None:
    rows = [
        {"question": "<image_1>?", "options": "['x', 'y']", "cross_lingual": False, "gt": "B"}
        | {"discipline": "Algebra", "predict": reply}
        for reply in ("(B)", "error", "(A)", "")
    ]
    path = tmp_path / "science_de.json"
    path.write_text(json.dumps({"model": "m", "total": 4, "record": rows}))
    benchmark = m4u(field="science", language="de", data=path)
    with pytest.raises(MediaError, match=r"science_de-0: the row has no pictures"):
        benchmark.request(samples(benchmark)["science_de-0"])
    result = snellen.score(path, benchmark)
    # A failed request counts as wrong by the authors' rules, and as missing by ours.
    assert result.report.scorings["official"].metrics["accuracy"].value == 0.25
    assert result.report.scorings["official"].metrics["accuracy"].n == 4
    assert result.report.scorings["robust"].metrics["accuracy"].n == 3


def test_the_average_gives_each_field_and_language_the_same_weight(tmp_path: Path) -> None:
    for part, replies in (("science_en", ["B", "A"]), ("healthcare_zh", ["C"])):
        rows = [{"predict": reply} for reply in replies]
        (tmp_path / f"{part}.json").write_text(json.dumps({"record": rows}))
    metrics = snellen.score(tmp_path, m4u(data=BUNDLED)).report.scorings["official"].metrics
    # By hand: both right in science, and the one in healthcare is wrong.
    assert metrics["accuracy"].value == pytest.approx(2 / 3)
    assert metrics["average"].value == pytest.approx(1 / 2)
