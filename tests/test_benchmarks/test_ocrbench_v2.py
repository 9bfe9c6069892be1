"""OCRBench v2: the quirks of its rules.

Expected scores are those of the golden pack's README, of the authors' code at the commit that the
benchmark names, or worked out by hand.
"""

import base64
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks import ocrbench_v2 as file
from snellen.benchmarks.families.ocrbench_v2_trees import document
from snellen.benchmarks.ocrbench_v2 import ocrbench_v2
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError
from tests.test_long_replies import SECONDS, at_most

BUNDLED = Path(file.__file__).parent / "rows" / "ocrbench_v2"
CELL = "<table><tr><td>{}</td></tr></table>"
WORDS = [[0, 0, 100, 100], [200, 0, 300, 100]]


def score(
    reply: str, kind: str, answers: object, tool: str = "official", question: str = "", **more: Any
) -> float:
    fields = {"eval": None, "bbox": None, "content": None, **more}
    sample = Sample(
        id="1",
        question=question,
        references=("?",),
        data={"type": kind, "answers": answers, "question": question, **fields},
    )
    rule = ocrbench_v2(data=BUNDLED).scorings[tool]
    value = rule.score(rule.parse(Reply(text=reply), sample), sample)
    assert isinstance(value, float)
    return value


@pytest.mark.parametrize(
    ("reply", "kind", "answers", "mode", "expected"),
    [
        ("A. red", "science QA en", ["A"], "multiple choice", 0.0),  # "Ared"
        ("(A)", "science QA en", ["A"], "multiple choice", 1.0),
        ("a", "science QA en", ["A"], "multiple choice", 0.0),
        ("12", "text recognition en", [12], None, 1.0),
        ("concatenate", "text recognition en", ["CAT"], None, 1.0),  # inside a word
        ("concatenate", "text recognition en", ["CAT"], "case sensitive", 0.0),
        ("a b c d xyzw", "text recognition en", ["a b c d e"], None, 2 / 3),  # 4 of 12 differ
        ("abcdefghij", "text recognition en", ["a b c d e"], None, 0.0),  # below 0.5
        ("a b c d e f g h i j", "text recognition en", ["a b c d e !!!!!!!!!!"], None, 0.5),
        ("上 司", "cognition VQA cn", ["上司"], None, 1.0),
        ("a,b,c,e", "cognition VQA cn", ["a,b,c,d"], None, 6 / 7),  # four pieces
        ("a,b,c,d", "cognition VQA cn", "a,b,c,d", None, 0.0),  # as a plain text
        ("ab", "cognition VQA cn", "ac", None, 0.5),  # short and plain: by edit distance
        ("11\n", "text counting en", [12], "regression", 1 - 1 / 12),
        ("24", "text counting en", [12], "regression", 0.0),
        ("6", "text counting en", [12], "regression", 0.0),  # exactly 0.5
        ("0", "text counting en", [12], "regression", 0.0),
        ("FOUR", "text counting en", ["four"], "exact match", 0.0),  # case counts in lists
        ("FOUR", "text counting en", "four", "exact match", 1.0),
        ("$$ x ^ 2 $$", "formula recognition en", ["x^2"], None, 1.0),
        ("x^{2}", "formula recognition en", ["x^2"], None, 0.0),
        (r"\text{kg}", "formula recognition cn", ["kg"], None, 1.0),
        ("nan", "formula recognition cn", ["n"], None, 0.0),
    ],
)
def test_short_answers_are_contained_and_long_ones_compared(
    reply: str, kind: str, answers: object, mode: str | None, expected: float
) -> None:
    assert score(reply, kind, answers, eval=mode) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("question", "reply", "answer", "expected"),
    [
        ("as HTML", f"Sure:\n{CELL.format('a')}", CELL.format("a"), 1.0),
        ("as HTML", "a", CELL.format("a"), 0.0),
        ("as HTML", f"<body><div>{CELL.format('a')}</div>", CELL.format("a"), 0.0),
        ("as HTML", f"<body><p>{CELL.format('a')}", CELL.format("a"), 1.0),
        ("as HTML", "<table></table>", "<table></table>", 0.0),  # nothing to divide by
        ("in Markdown", "|a|b|\n|-|-|\n|c|d|", "|a|b|\n|-|-|\n|c|e|", 5 / 6),
        # Letters of "markdown" are removed from the ends.
        ("in Markdown", "mad| x |n", "| x |", 1.0),
        ("in Markdown", "|a|\n|b|\n|c|", "|a|\n|-|\n|c|", 1.0),  # the second line is left out
    ],
)
def test_the_question_says_the_form_of_a_table(
    question: str, reply: str, answer: str, expected: float
) -> None:
    value = score(reply, "table parsing en", [answer], question=question)
    assert value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("```python\nx = {'Tea': 3, 'Cake': 'a b'}  # prices\n```", 1.0),
        ('{"Tea": 3, "Cake": null}', 0.0),  # JSON's null is no Python literal
        ("{'Tea': 3, 'Cake': 'a b'} and so on", 1.0),
        ("[1, 2]", 0.0),
    ],
)
def test_the_data_of_a_chart_are_a_python_literal(reply: str, expected: float) -> None:
    assert score(reply, "chart parsing en", [{"Tea": 3, "Cake": "a b"}]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("reply", "answer", "expected"),
    [
        ("# x\ny\nz", "# Menu\nTea\nCake", 1.0),  # only the structure counts
        ("~", "# Menu\nTea 3\nCake 9", 0.6),
        ("", "# Menu\nTea 3\nCake 9", 0.4),
        ("# A\nx\n# B\ny\n# A\nz", "# A\nx\nz\n# B\ny\n# A", 1.0),  # lines go to the first A
    ],
)
def test_a_page_is_a_tree_of_headings_and_lines(reply: str, answer: str, expected: float) -> None:
    assert score(reply, "document parsing en", [answer]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("reply", "kind", "answer", "expected"),
    [
        ('{"a": "X y", "b": "2"}', "key information extraction en", '{"a": "xY"}', 0.5),
        ("a: x\nb = 2", "key information mapping en", "{'a': 'x', 'b': '2'}", 1.0),
        ("```json\n{'a': 1}\n```", "key information extraction en", '{"a": ["2", "1"]}', 1.0),
        ("{'日期': '30'}", "key information extraction cn", "{'日期': '30', '总': ['1']}", 0.5),
        ("[]", "key information extraction en", '{"a": "x"}', 0.0),
        ("none", "key information extraction en", "no dictionary", 0.0),
    ],
)
def test_key_information_is_right_by_key(
    reply: str, kind: str, answer: str, expected: float
) -> None:
    assert score(reply, kind, [answer]) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("The box is (174,564,258,684).", 0.3149437600428495),
        ("[0, 0, 1, 1] or [114, 566, 259, 615]", 1.0),  # the last box
        ("(114,566,259,615) (114,566,259,1001)", 1.0),  # numbers over 1000 are no box
        ("(114, 566), (259, 615)", 0.0),
        ("(114.0, 566, 259, 615)", 0.0),
    ],
)
def test_the_last_box_of_whole_numbers_counts(reply: str, expected: float) -> None:
    value = score(reply, "text grounding en", [114, 566, 259, 615])
    assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"answer": "open", "bbox": "[0, 0, 10, 10]"}', 1.0),
        ("answer: OPEN\nbbox: [132.5, 540.5, 451.5, 814.5]", 0.5),  # cut at the first comma
        ('{"bbox": [0.9, 0, 10.9, 10]}', 0.5),  # int() cuts decimals
        ('{"bbox": [0, 0, 10]}', 0.0),
    ],
)
def test_an_answer_and_its_box_count_half_each(reply: str, expected: float) -> None:
    assert score(reply, "VQA with position en", ["open"], bbox=[0, 0, 10, 10]) == expected


@pytest.mark.parametrize(
    ("reply", "content", "expected"),
    [
        ("[[0, 0, 100, 100, 'EXIT'], [200, 0, 300, 100, 'no']]", ["exit!", "No"], 1.0),
        ("[[0, 0, 100, 100, 'exit']]", ["exit", "no"], 2 / 3),
        ("[[0, 0, 100, 50, 'exit']]", ["exit", "no"], 0.0),  # an IoU of exactly 0.5
        ("[0, 0, 100, 100, exit) (200, 0, 300, 100, no]", ["exit", "no"], 1.0),
        ("[[0, 0, 100, 100, 'x'], [200, 0, 300, 100, 'no']]", ["###", "no"], 1.0),
        ("[[0, 0, 100, 100, 'exit'], [0, 0, 2000, 9, 'a']]", ["exit", "###"], 1.0),
        ("[[100, 0, 0, 100, 'exit']]", ["exit", "no"], 0.0),
        ("[[0, 0, 100, 100, 'exit!']]", ["exit", "###"], 0.0),  # only the reference may have more
        ("none", ["exit", "no"], 0.0),
    ],
)
def test_words_are_spotted_by_place_and_text(
    reply: str, content: list[str], expected: float
) -> None:
    value = score(reply, "text spotting en", [], bbox=WORDS, content=content)
    assert value == pytest.approx(expected)


@pytest.mark.parametrize("reply", ["AC", "A. C", "答案是A、C", "A和C", "A C"])
def test_chosen_letters_may_have_ten_separators(reply: str) -> None:
    assert score(reply, "handwritten answer extraction cn", ["AC"]) == 1.0
    assert score("A/C", "handwritten answer extraction cn", ["AC"]) == 0.0


def test_copies_of_the_rules_differ_for_answers_in_plain_text() -> None:
    reply, answer = "sale 50% total sale invoice", "sale 50% total sale invoice"
    kind = "text recognition en"
    assert [score(reply, kind, answer, tool) for tool in ("official", "evalscope")] == [1.0, 1.0]
    assert [score(reply, kind, answer, tool) for tool in ("vlmevalkit", "lmms-eval")] == [0.0, 0.0]
    assert score("FOUR", "text counting en", ["four"], "evalscope", eval="exact match") == 1.0
    with pytest.raises(DataError, match="stops at answers that are a plain text"):
        score("7", "text counting en", "7", "vlmevalkit", eval="regression")


def test_tables_in_no_form_and_translations_without_reference_are_not_scored(
    tmp_path: Path,
) -> None:
    rows = [
        ("table parsing en", "Parse the table.", ["<table></table>"]),
        ("text translation cn", "翻译", [""]),
        ("table parsing en", "As HTML.", ["<table></table>"]),
    ]
    written = [
        {"id": number, "type": kind, "question": question, "answers": answers, "image_path": "a"}
        for number, (kind, question, answers) in enumerate(rows)
    ]
    samples = samples_of(tmp_path, written)
    assert [sample.hidden for sample in samples] == [True, True, False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "dancing"}, "no type of OCRBench v2's questions"),
        ({"type": "text counting en", "eval": "regression", "answers": ["few"]}, "row 1"),
        ({"type": None}, "category"),
    ],
)
def test_a_wrong_row_is_an_error(tmp_path: Path, change: dict[str, object], message: str) -> None:
    row = {"id": 1, "type": "math QA en", "question": "?", "answers": ["1"], "image_path": "a"}
    row = {name: value for name, value in (row | change).items() if value is not None}
    with pytest.raises(DataError, match=message):
        samples_of(tmp_path, [row])


def samples_of(folder: Path, rows: list[dict[str, Any]]) -> list[Sample]:
    (folder / "OCRBench_v2.json").write_text(json.dumps(rows), encoding="utf-8")
    benchmark = ocrbench_v2(data=folder)
    return [benchmark.read(row) for row in benchmark.data]


def test_vlmevalkits_sheet_has_literals_in_its_cells(tmp_path: Path) -> None:
    picture = base64.b64encode(bytes(range(60))).decode()
    lines = [
        "index\timage\tquestion\tanswer\tcategory\teval\tbbox\tcontent",
        f"0\t{picture}\t?\t['A']\tscience QA en\tmultiple choice\twithout bbox\twithout content",
        "1\t0\t?\t['']\ttext spotting en\twithout eval\t[[0, 0, 9, 9]]\t['exit']",
        "2\t0\t?\t[1, 2, 3, 4]\ttext grounding en\twithout eval\twithout bbox\twithout content",
    ]
    (tmp_path / "OCRBench_v2.tsv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    benchmark = ocrbench_v2(data=tmp_path)
    choice, spotting, box = (benchmark.read(row).data for row in benchmark.data)
    assert (choice["answers"], choice["eval"], choice["bbox"]) == (["A"], "multiple choice", None)
    assert (spotting["bbox"], spotting["content"]) == ([[0, 0, 9, 9]], ["exit"])
    assert (box["answers"], box["eval"]) == ([1, 2, 3, 4], None)


def test_the_hubs_rows_have_texts_and_lists_of_boxes(tmp_path: Path) -> None:
    pyarrow, parquet = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    common = {"question": "?", "image": {"bytes": bytes(range(60)), "path": ""}}
    rows = [
        {"id": 5, "type": "text spotting en", "answers": [], "eval": "None", "bbox": None,
         "bbox_list": [[0, 0, 9, 9]], "content": ["exit"], **common},
        {"id": 6, "type": "chart parsing en", "answers": ['{"Tea": 3}'], "eval": "None",
         "bbox": None, "bbox_list": None, "content": None, **common},
    ]  # fmt: skip
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "test-0.parquet")
    benchmark = ocrbench_v2(data=tmp_path)
    spotting, chart = (benchmark.read(row) for row in benchmark.data)
    assert (spotting.id, spotting.references) == ("5", ("exit",))
    rule = benchmark.scorings["official"]
    scores = [
        rule.score(rule.parse(Reply(text=text), sample), sample)
        for text, sample in (("[0, 0, 9, 9, exit]", spotting), ("{'Tea': 3}", chart))
    ]
    assert scores == [1.0, 1.0]


def test_the_authors_files_of_replies_are_read(tmp_path: Path) -> None:
    rows = json.loads((BUNDLED / "OCRBench_v2.json").read_text(encoding="utf-8"))
    path = tmp_path / "model.json"
    path.write_text(json.dumps([{**row, "predict": "maple cafe"} for row in rows[:1]]))
    result = snellen.score(path, ocrbench_v2(data=BUNDLED), missing="excluded")
    assert result.report.scorings["official"].metrics["score"].value == 1.0


def test_the_overall_scores_are_means_over_abilities(tmp_path: Path) -> None:
    if importlib.util.find_spec("nltk") is None or importlib.util.find_spec("jieba") is None:
        pytest.skip("the overall scores need nltk and jieba")
    replies = [{"id": str(number), "prediction": "~"} for number in range(30)]
    replies[0]["prediction"] = "maple cafe"
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(replies), encoding="utf-8")
    metrics = snellen.score(path, ocrbench_v2(data=BUNDLED)).report.scorings
    # Text recognition is right; element parsing has 0.6 and 1/6 of five.
    expected = (1 + (0.6 + 1 / 6) / 5) / 8
    assert metrics["official"].metrics["english"].value == pytest.approx(expected)
    assert metrics["lmms-eval"].metrics["english"].value == pytest.approx((1.6 + 1 / 6) / 21)


def test_pages_of_text_need_packages_that_the_error_names() -> None:
    if importlib.util.find_spec("nltk") is None or importlib.util.find_spec("jieba") is None:
        with pytest.raises(DataError, match=r"need the packages .*nltk.* not installed"):
            score("a", "full-page OCR en", ["a"])
        benchmark = ocrbench_v2(data=BUNDLED)
        assert "there are no overall scores" in benchmark.notes[0]
        assert list(benchmark.scorings["official"].metrics) == ["score"]
    else:
        # Four equal words: BLEU, F, and edit similarity 1, METEOR 1 - 0.5 / 4^3.
        value = score("a b c d", "full-page OCR en", ["a b c d"])
        assert value == pytest.approx(1 - 0.5 / 64 / 4)
        assert score("字责票", "full-page OCR cn", ["字责票"]) == 0.625


@pytest.mark.parametrize(
    ("reply", "kind", "answers", "expected"),
    [
        # Python refuses to write these numbers, or to read them.
        (f"{{'a': 0x{'f' * 5000}}}", "key information extraction en", {"a": ["1"]}, 0.0),
        (f"[[1, 2, 3, 4, 0x{'f' * 5000}]]", "text spotting en", [], 0.0),
        (CELL.format(f"&#{'9' * 5000};"), "table parsing cn", [CELL.format("a")], 0.5),
        (f'<table a="&#{"9" * 5000};"></table>', "table parsing cn", [CELL.format("a")], 0.0),
        # The tree of this page has 2,000 levels.
        ("\n".join(f"{n}\n#{n}" for n in range(2000)), "document parsing en", ["# a\nb"], 0.0),
    ],
)
def test_a_reply_that_python_or_a_recursion_stops_at_has_a_score(
    reply: str, kind: str, answers: object, expected: float
) -> None:
    assert score(reply, kind, answers) == pytest.approx(expected)


def test_a_page_of_many_headings_is_scored_in_little_time() -> None:
    page = "\n".join(f"# {number}" for number in range(10_000))

    with at_most(SECONDS):
        assert score(page, "document parsing en", ["# a\nb"]) < 0.01


def test_a_line_hangs_under_the_first_node_with_the_text_of_the_heading() -> None:
    # The second "b" stands before the first one, under an earlier heading.
    tree = document("#a\n#c\nb\n#a\nb\n#b\nd")

    first, other = tree.children[1].children, tree.children[2].children
    assert [node.label for node in first] == ["b"] and [node.label for node in other] == ["b"]
    assert [node.label for node in first[0].children] == ["d"]
    assert other[0].children == []
