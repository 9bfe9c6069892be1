"""olmOCR-Bench: each rule of its tests, and its figures.

Expected results are those of the authors' code at the commit that the benchmark names.
"""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import olmocr_bench as file
from snellen.benchmarks.families.near_matches import near_matches
from snellen.benchmarks.families.page_tests import Test, passes, plain
from snellen.errors import DataError
from tests.test_long_replies import SECONDS, at_most

BUNDLED = Path(file.__file__).parent / "rows" / "olmocr_bench"
TABLE = "| day | wind | rain |\n|---|---|---|\n| Monday | 4 | 12 |\n| Tuesday | 6 | 0 |"
HTML = (
    "<table><tr><th></th><th colspan=2>2020</th></tr><tr><th rowspan=2>Mon</th><td>4</td>"
    "<td>12</td></tr><tr><td>6</td><td>0</td></tr></table>"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**a**  _b_\n\nc", "a b c"),
        ("\u201ca\u201d\u2014don\u2019t", '"a"-don\'t'),
        ("a<br/>b <b>c</b>", "a b c"),
        ("e\u0301 \u00b5", "\u00e9 \u03bc"),
        ("*a\nb*", "*a b*"),
        ("a_b_c and * _d", "abc and * _d"),
    ],
)
def test_texts_are_compared_without_marks_and_typography(text: str, expected: str) -> None:
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("test", "page", "expected"),
    [
        ({"type": "present", "text": "quick brown"}, "the **quick** brown fox", True),
        ({"type": "present", "text": "quick brown"}, "the quack brown fox", False),
        ({"type": "present", "text": "quick brown", "max_diffs": 1}, "a quack brown", True),
        ({"type": "present", "text": "QUICK", "case_sensitive": False}, "quick", True),
        ({"type": "present", "text": "fox", "first_n": 3}, "the fox", False),
        ({"type": "present", "text": "fox", "first_n": 3, "last_n": 3}, "a long fox", True),
        ({"type": "absent", "text": "page 9"}, "page 8", True),
        ({"type": "absent", "text": "page 9"}, "", True),
        ({"type": "absent", "text": "page 9"}, "Page 9 and page 9", False),
        ({"type": "order", "before": "left", "after": "right"}, "left right", True),
        ({"type": "order", "before": "left", "after": "right"}, "right left", False),
        ({"type": "order", "before": "left", "after": "right"}, "right left right", True),
        ({"type": "order", "before": "left", "after": "right", "max_diffs": 1}, "lft rght", True),
        ({"type": "table", "cell": "12", "up": "rain", "left": "4"}, TABLE, True),
        ({"type": "table", "cell": "12", "left_heading": "Monday", "down": "0"}, TABLE, True),
        ({"type": "table", "cell": "0", "top_heading": "wind"}, TABLE, False),
        ({"type": "table", "cell": "0", "up": "12", "ignore_markdown_tables": True}, TABLE, False),
        ({"type": "table", "cell": "0", "top_heading": "2020"}, HTML, True),
        ({"type": "table", "cell": "6", "left_heading": "Mon", "right": "0"}, HTML, True),
        ({"type": "table", "cell": "Mon", "right": "6"}, HTML, True),
        ({"type": "table", "cell": "a"}, "no table", False),
        ({"type": "baseline"}, "A page.", True),
        ({"type": "baseline"}, " ...", False),
        ({"type": "baseline"}, "a " + "ha " * 31, False),
        ({"type": "baseline"}, "a " + "ha " * 30, True),
        ({"type": "baseline"}, "A page \u8868", False),
        ({"type": "baseline", "check_disallowed_characters": False}, "A page \u8868", True),
        ({"type": "baseline", "max_length": 3}, "abc!", True),
        ({"type": "baseline", "max_length": 3}, "abcd", False),
        (
            {"type": "baseline", "max_length": 3, "max_length_skips_image_alt_tags": True},
            "![a picture](x.png) abc",
            True,
        ),
    ],
)
def test_a_page_passes_or_fails_a_test(test: Test, page: str, expected: bool) -> None:
    assert passes(test, page) is expected


def test_of_overlapping_near_matches_the_best_and_longest_counts() -> None:
    assert [*map(tuple, near_matches("abc", "xabcabx", 1))] == [(1, 4, 0), (4, 7, 1)]
    assert [*map(tuple, near_matches("abcdefgh", "abcdxfgh abcdefgh", 2))] == [
        (0, 8, 1),
        (9, 17, 0),
    ]


@pytest.mark.parametrize(
    "unit", ["<table><tr><td>", "| a |\n", "<td rowspan=999999 colspan=999999>", "**a", "![", "a"]
)
def test_a_hostile_page_is_tested(unit: str) -> None:
    page = "<table><tr>" + unit * 1500
    for test in (
        {"type": "table", "cell": "Z", "up": "b", "top_heading": "c"},
        {"type": "order", "before": "aaaaaaaZaaaaaaa", "after": "ab", "max_diffs": 1},
        {"type": "present", "text": "never there"},
        {"type": "baseline", "max_length": 1, "max_length_skips_image_alt_tags": True},
    ):
        assert passes(test, page) is False


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("|a|\n" * 9_000 + "|a" * 50_000, id="many short rows and a long one"),
        pytest.param(
            "<table><tr><td rowspan=1000 colspan=1000></table>" * 1_000, id="many large cells"
        ),
        pytest.param(
            f"<table>{'<tr><td></td></tr>' * 4_000}<tr>{'<td colspan=1000></td>' * 240}</table>",
            id="many short rows and a long one of wide cells",
        ),
    ],
)
def test_tables_of_very_many_positions_are_not_read(page: str) -> None:
    with at_most(SECONDS):
        assert not passes({"type": "table", "cell": "Z"}, page)


def test_a_table_is_read_before_tables_of_very_many_positions() -> None:
    page = "|Z|b|\n|-|-|\n|c|d|\n\n" + "|a|\n" * 9_000 + "|a" * 50_000

    assert passes({"type": "table", "cell": "Z", "right": "b"}, page)


def sheet(folder: Path, tests: list[dict[str, object]]) -> Path:
    pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7" * 2
    with (folder / "olmOCRBench.tsv").open("w", encoding="utf-8", newline="") as sink:
        writer = csv.writer(sink, delimiter="\t")
        writer.writerows([("index", "image", "answer"), (1, pixel, json.dumps(tests))])
    return folder


def test_the_score_is_the_mean_of_sources_and_baseline_without_formulas(tmp_path: Path) -> None:
    benchmark = registry.benchmark("olmocr-bench", data=BUNDLED)
    replies = {str(number): "left column ends and right column goes" for number in range(1, 9)}
    path = tmp_path / "replies.json"
    rows = [{"index": name, "prediction": text} for name, text in replies.items()]
    path.write_text(json.dumps(rows), encoding="utf-8")
    metrics = (
        snellen.score(path, replace(benchmark, check=None)).report.scorings["official"].metrics
    )

    # headers_footers 3 of 3, multi_column 1 of 3, tables 0, old_scans 0, tiny text 0, baseline 1
    assert metrics["score_without_math"].value == pytest.approx((1 + 1 / 3 + 1) / 6)
    assert metrics["score_without_math"].n == 3 + 3 + 2 + 2 + 1 + 8
    assert metrics["order"].value == pytest.approx(1 / 4)
    assert (metrics["math"].value, metrics["math"].n) == (None, 0)
    assert "1 tests of formulas need KaTeX" in (metrics["math"].reason or "")


def test_a_kind_of_test_that_is_not_known_is_named(tmp_path: Path) -> None:
    tests: list[dict[str, object]] = [{"type": "color", "pdf": "tables/1.pdf"}]
    benchmark = registry.benchmark("olmocr-bench", data=sheet(tmp_path, tests))
    with pytest.raises(DataError, match="no test of the kind 'color'"):
        [*map(benchmark.read, benchmark.data)]
