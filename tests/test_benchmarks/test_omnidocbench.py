"""OmniDocBench: each rule of its parser, normalization, matching, and figures.

Expected values are those of VLMEvalKit's copy of the authors' code at the commit that the benchmark
names, or of the golden pack's README.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import snellen
from snellen import registry
from snellen.benchmarks import omnidocbench as file
from snellen.benchmarks.families.assignment import assignment
from snellen.benchmarks.families.html_source import rewritten
from snellen.benchmarks.families.html_tables import teds
from snellen.benchmarks.families.latex_text import LatexError, latex_text
from snellen.benchmarks.families.page_markdown import elements
from snellen.benchmarks.families.page_matching import merging_pairs, single_pairs
from snellen.benchmarks.families.page_metrics import page_mean
from snellen.benchmarks.families.page_scores import compared, reading_order, score_page
from snellen.benchmarks.families.page_texts import plain_formula, plain_table, plain_text
from snellen.cli import exit_code
from snellen.core import NamedAnswers
from snellen.core.model import Reply
from snellen.errors import DataError
from snellen.metrics import Category, Columns
from snellen.scoring import score_predictions

BUNDLED = Path(file.__file__).parent / "rows" / "omnidocbench"


def page(*items: Mapping[str, Any], cut: Sequence[tuple[int, int]] = ()) -> dict[str, Any]:
    relations = [
        {"relation_type": "truncated", "source_anno_id": first, "target_anno_id": second}
        for first, second in cut
    ]
    elements = [
        {"anno_id": number, "order": number + 1, "category_type": "text_block", **item}
        for number, item in enumerate(items)
    ]
    return {"layout_dets": elements, "extra": {"relation": relations}}


# -- texts, formulas, and tables


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("个度的基法方。", "个度的基法方"),
        ("**A** _b_ # C", "A_b_C"),
        ("energy $E=mc^2$ is", "energyEmc2is"),
        ("rate \\(k_{1}\\) grows by 5\\%", "ratek_1growsby5"),
        ("$100 to $200", "100to200"),
        ("\uff15 a\\t/n\\n b/t", "\uff15ab"),
        ("$\\frac{\\alpha}{t}$ $\\mathbf{x}_1$", "\u03b1\U0001d431_1"),
        ("$\\sqrt$ and $\\frac_$", "sqrtandss_"),
        ("!!! ---", ""),
    ],
)
def test_texts_lose_blanks_and_punctuation_and_formulas_become_unicode(
    text: str, plain: str
) -> None:
    assert plain_text(text) == plain


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        ("\\hat{a}\\v c", "\u00e2\u010d"),
        ("\\text{if }x\\mathbb R", "if x\u211d"),
        ("\\mathbb{R}\\mathcal{L}\\mathrm{d}x", "\u211d\u2112dx"),
        ("\\begin{array}{cc}a & b\\\\c\\end{array}", "[ a b; c ]"),
        ("x % y", "x "),
        ("\\frac{a}", "%s/%sa"),
        ("\\unknown{a}", "a"),
    ],
)
def test_formulas_become_the_text_that_pylatexenc_writes(latex: str, text: str) -> None:
    assert latex_text(latex) == text


@pytest.mark.parametrize("latex", ["x\\sqrt", "{x" * 500, "\\frac{" * 60 + "x"])
def test_a_formula_that_cannot_be_converted_stays(latex: str) -> None:
    with pytest.raises(LatexError):
        latex_text(latex)
    assert plain_text(f"${latex}$") == latex.replace("\\", "").replace("{", "")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\\begin{array}{cc} 1 & 2 \\end{array}", "{cc}1&2"),
        ("\\[\\sum_{i=1}^{n} x_{i}\\] and \\[y\\]", "\\sum_{i=1}^{n}x_{i}"),
        ("$$\\text{if } x > 0.$$", "$${if}x>0.$$"),
        ("\\[\\text{if } x > 0.\\]", "{if}x>0"),
        ("'\\HSPACE{2PT} A'", "'\\hspace{2pt}a'"),
        ("\\hspace{2pt} a \\tag{1}", "a"),
        ("\\qquad\\textbf{A}", "{a}"),
        ("\\[\\]", "\\[\\]"),
        ("\\[a\n\\]", "\\[a\n\\]"),
    ],
)
def test_formulas_lose_blanks_styles_and_capitals(text: str, plain: str) -> None:
    assert plain_formula(text) == plain


def table(body: str) -> str:
    return f'<html><body><table border="1" >{body}</table></body></html>'


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("<table><thead><tr><th>\uff11</th></tr></thead></table>", "<tr><td>1</td></tr>"),
        ("A\n<table><tr><td class='x'>a", "<tr><td>a</td></tr>"),
        ('<table><tr><td rowspan="2" colspan=3>', '<tr><td colspan="3" rowspan="2"></td></tr>'),
        ("<table><tbody><tr>\n<td>a<sup>1</sup> <p>q</p></td>", "<tr><td>a1 q</td></tr>"),
        ("<table><colgroup><col></colgroup><td>a &amp;amp; b</td>", "<td>a &amp; b</td>"),
        ("<table><td><math alttext='x'><mi>y</mi></math>", "<td>$x$</td>"),
        ("<table>a</table> and <table>b</table>", "a</table> and <table>b"),
    ],
)
def test_tables_are_rewritten(text: str, body: str) -> None:
    assert plain_table(text) == table(body)


@pytest.mark.parametrize("text", ["<TABLE><tr><td>a</td></tr></TABLE>", "a", ""])
def test_a_text_without_a_table_tag_in_lowercase_has_no_table(text: str) -> None:
    assert plain_table(text) == ""
    assert teds(text, table("<tr><td>a</td></tr>")) == 0.0


def test_teds_and_its_form_for_structure() -> None:
    reply = '<table><tr><td rowspan="2">a</td><td>Total</td><td>A &amp; B</td></tr>'
    right = "<table><tr><th>a</th><th>Total</th><th>A &amp; B</th></tr></table>"
    pages = plain_table(reply), plain_table(right)

    assert teds(*pages) == teds(*pages, structure_only=True) == 0.75
    cells = table("<tr><td>ab</td></tr>"), table("<tr><td>ax</td></tr>")
    assert (teds(*cells), teds(*cells, structure_only=True)) == (0.75, 1.0)


def test_if_nothing_is_left_of_a_text_the_text_itself_is_compared() -> None:
    pair = compared("!!! ---", "year (see Fig.", plain_text)
    assert (pair.reference, pair.prediction, pair.share) == ("!!! ---", "yearseeFig", 1.0)
    assert compared("个度的基法方", "个度基法方", plain_text).share == 1 / 6


# -- the elements of a reply


@pytest.mark.parametrize(
    ("reply", "kinds"),
    [
        ("a\n\nb\nc", "text:a text:b\nc"),
        ("a\nb", "text:a text:b"),
        ("$$x$$\n\nb", "formula:\\[x\\] text:b"),
        ("$100 to $200 all", "formula:\\[100to\\] text:$100 to $200 all"),
        ("```markdown\na\n```", "text:a"),
        ("![a](b) c", "text:c"),
        ("________", "text:____"),
        ("<table><tr></tr></table> a", "html_table:<table><tr></tr></table> text:a"),
        ("<table></table>", "html_table:<table></table>"),
        ("<table><tr><td>a", "text:<table><tr><td>a"),
        (
            "\\begin{tabular}{c}a\\end{tabular} b",
            "latex_table:\\begin{tabular}{c}a\\end{tabular}  text:b",
        ),
        ("\\section*{One} \\title{\n Two}", "text:One Two"),
        ("```python\nx\n``` b", "text:x text:b"),
    ],
)
def test_a_reply_is_split_into_elements(reply: str, kinds: str) -> None:
    assert " ".join(f"{part.kind}:{part.text}" for part in elements(reply)) == kinds


def test_markdown_tables_become_html_and_lose_rows_with_colons() -> None:
    (part,) = elements("| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3:00 | 4 |\n")
    cells = plain_table(part.text).count("<td colspan")

    assert part.kind == "html_table"
    assert cells == 5  # the authors drop the line with the colon: "4" stays, "3:00" does not


@pytest.mark.parametrize(
    "unit",
    ["<table>", "<table", "\\begin{tabular}", "\\[", "\\(", "![", "|", "| a |\n", "\\title{",
     "<!--", "```a\n", "\\tag{", "\\text {", "$", "</table>", "<td>", "&lt;", "\\frac{"],
)  # fmt: skip
def test_a_hostile_reply_is_scored(unit: str) -> None:
    annotation = page({"text": "one"}, {"category_type": "table", "html": "<table><td>a</table>"})
    for reply in (unit * 2000, f"<table>{unit * 2000}</table>", f"${unit * 2000}$"):
        assert score_page(annotation, reply).parts()["text"][1] > 0


# -- matching


@pytest.mark.parametrize(
    "part", ['<td a="{}">', "<td><!--{}-->", "<td><script>{}</script>", "<a{}>", "<td b{}=1>"]
)
def test_a_table_with_a_reference_that_python_cannot_read_is_no_table(part: str) -> None:
    table = part.format(f"&#{'9' * 5000};").join(("<table><tr>", "</tr></table>"))

    assert rewritten(table) == ""
    assert elements(table)[0].kind == "html_table"
    assert 0 <= teds(f"<html><body>{table}</body></html>", "<html><body><table></table>") <= 1


def test_the_assignment_is_scipys_where_several_are_cheapest() -> None:
    equal = np.zeros((2, 3))
    assert assignment(equal) == [(0, 0), (1, 1)]
    assert assignment(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])) == [
        (0, 2),
        (1, 1),
        (2, 0),
    ]
    assert assignment(np.array([[2.0], [1.0]])) == [(1, 0)]


def test_neighbors_in_a_reply_are_merged_and_annotated_texts_inside_of_one_too() -> None:
    (pair,) = merging_pairs(["abcdefghij"], ["abcde", "fghij"])
    assert pair.predictions == (0, 1)
    (pair,) = merging_pairs(["abcdefghij", "klmno"], ["abcdefghijklmno"])
    assert pair.references == (0, 1)


def test_an_annotated_text_without_match_counts_twice_if_the_reply_has_no_other_text() -> None:
    pairs = merging_pairs(["abcdefghij", "0123456789"], ["abcdefghij"])
    assert [pair.references for pair in pairs] == [(0,), (1,), (1,)]

    pairs = merging_pairs(["abcdefghij", "0123456789"], ["abcdefghij", "xyzwvuts", "rqponml"])
    assert [(pair.references, pair.predictions) for pair in pairs] == [
        ((0,), (0,)),
        ((1,), (1,)),
    ]  # the last text of the reply is dropped


def test_the_first_prediction_of_a_simple_match_has_no_place() -> None:
    first, second, rest = single_pairs(["a", "b"], ["a", "b", "c"])
    assert (first.predictions, first.first) == ((0,), None)
    assert (second.predictions, second.first) == ((1,), 1)
    assert (rest.references, rest.predictions) == ((), (2,))


def test_positions_of_zero_do_not_count_in_the_reading_order() -> None:
    places = [([1], 10.0), ([2], 20.0), ([3, 4], 0.0), ([0], 5.0), ([], 7.0), ([6], None)]
    assert reading_order(places) == ((1, 2, 3, 4, 6), (3, 4, 1, 2))
    assert reading_order([([0], 1.0)]) is None


def test_cut_texts_are_joined_and_a_middle_part_is_there_twice() -> None:
    annotation = page({"text": "ab"}, {"text": "cd"}, {"text": "ef"}, cut=[(0, 1), (1, 2)])
    (pair,) = score_page(annotation, "abcdef").texts
    assert pair.reference == "abcdcdef"


def test_captions_are_matched_and_not_scored() -> None:
    annotation = page({"text": "alpha"}, {"text": "page 17", "category_type": "page_number"})
    (pair,) = score_page(annotation, "alpha\n\npage 17").texts
    assert pair.reference == "alpha"


def test_unmatched_predictions_are_errors_of_texts_only() -> None:
    formula = {"category_type": "equation_isolated", "latex": "x^2"}
    scored = score_page(page({"text": "alpha"}, formula), "alpha\n\nomega\n\n$$x^2$$\n\n$$y^9$$")
    assert [pair.prediction for pair in scored.texts] == ["alpha", "omega"]
    assert [pair.prediction for pair in scored.formulas] == ["x^2"]


def test_a_reply_with_very_many_lines_is_matched_one_to_one() -> None:
    annotation = page(*({"text": f"line number {number} of the page"} for number in range(30)))
    scored = score_page(annotation, "\n\n".join(f"line {number}" for number in range(7000)))
    assert len(scored.texts) == 31  # all other lines together are one text


# -- the benchmark


def replies(tmp_path: Path, texts: Mapping[str, str]) -> Path:
    folder = tmp_path / "md"
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


def test_the_authors_folder_of_markdown_files_is_scored(tmp_path: Path) -> None:
    benchmark = registry.benchmark("omnidocbench", data=BUNDLED)
    samples = {sample.id: sample for sample in map(benchmark.read, benchmark.data)}
    texts = {name: sample.target or "" for name, sample in samples.items()}
    texts["page_1"] = "?"
    result = snellen.score(replies(tmp_path, texts), replace(benchmark, check=None))
    metrics = result.report.scorings["official"].metrics

    assert metrics["text_edit"].value == pytest.approx(1 / 8)
    assert metrics["text_edit/book"].value == pytest.approx(1 / 2)
    assert metrics["overall_v1.0_en"].value == pytest.approx((1 / 5 + 0 + 0 + 1 / 5) / 4)
    assert metrics["overall_v1.0_zh"].value == 0.0
    assert (metrics["teds"].value, metrics["teds"].n) == (1.0, 2)
    assert metrics["formula_edit"].n == 2


def test_an_empty_reply_is_wrong_in_all_parts_of_its_page(tmp_path: Path) -> None:
    benchmark = registry.benchmark("omnidocbench", data=BUNDLED)
    result = snellen.score(
        replies(tmp_path, {"page_3": "", "page_2": ""}), replace(benchmark, check=None)
    )
    metrics = result.report.scorings["official"].metrics

    for name in ("text_edit", "formula_edit", "table_edit", "order_edit", "overall_v1.0_en"):
        assert metrics[name].value == 1.0
    assert metrics["overall_v1.0_zh"].value is None
    assert metrics["teds_by_table"].value == metrics["teds_s"].value == 0.0


def test_pages_without_a_file_are_counted_in_a_note(tmp_path: Path) -> None:
    benchmark = replace(registry.benchmark("omnidocbench", data=BUNDLED), check=None)
    folder = replies(tmp_path, {"page_1": "Hi", "page_2": "Hi"})
    report = snellen.score(folder, benchmark).report

    assert (
        "6 questions without a reply in md are left out, as in the authors' code; --missing wrong "
        "counts them as wrong"
    ) in report.notes
    metrics = report.scorings["official"].metrics
    assert metrics["teds"].reason == "no scored page has a table to compare"
    assert metrics["overall_v1.0_zh"].reason == (
        "no scored page has the language simplified_chinese"
    )
    notes = snellen.score(folder, benchmark, missing="wrong").report.notes
    assert not any("left out" in note for note in notes)


def test_a_page_in_another_encoding_is_an_error_with_its_path(tmp_path: Path) -> None:
    folder = replies(tmp_path, {"page_1": "Hi"})
    (folder / "page_2.md").write_bytes("Café".encode("latin-1"))
    with pytest.raises(DataError, match=r"page_2\.md is not UTF-8 at byte 3.*iconv"):
        snellen.score(folder, "omnidocbench", data=BUNDLED)

    (folder / "page_2.md").write_bytes("Hi".encode("utf-16"))
    with pytest.raises(DataError, match=r"page_2\.md is UTF-16 text.*iconv -f UTF-16"):
        snellen.score(folder, "omnidocbench", data=BUNDLED)


def test_a_byte_order_mark_is_kept_and_line_ends_are_normalized(tmp_path: Path) -> None:
    folder = replies(tmp_path, {})
    (folder / "page_1.md").write_bytes(b"\xef\xbb\xbfa\r\nb")
    published = file.markdown_files(folder)
    assert published is not None
    assert published.replies == {"page_1": "\ufeffa\nb"}


def test_the_suffix_of_a_page_has_any_case_and_hidden_files_are_skipped(tmp_path: Path) -> None:
    folder = replies(tmp_path, {"page_1": "Hi", "._page_1": "\0"})
    (folder / "page_2.MD").write_text("there", encoding="utf-8")
    published = file.markdown_files(folder)
    assert published is not None
    assert published.replies == {"page_1": "Hi", "page_2": "there"}


def test_two_files_for_a_page_are_an_error(tmp_path: Path) -> None:
    folder = replies(tmp_path, {"page_1": "Hi"})
    (folder / "page_1.MD").write_text("there", encoding="utf-8")
    if len([*folder.iterdir()]) == 1:
        pytest.skip("the file system ignores case")
    with pytest.raises(DataError, match=r"page 'page_1': page_1\.MD and page_1\.md"):
        file.markdown_files(folder)


def test_a_folder_without_pages_is_an_error_that_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"md has no files that end in \.jsonl.*authors"):
        snellen.score(replies(tmp_path, {}), "omnidocbench", data=BUNDLED)


def test_vlmevalkits_sheet_has_the_same_pages(tmp_path: Path) -> None:
    pages = json.loads((BUNDLED / "OmniDocBench.json").read_text(encoding="utf-8"))
    pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7" * 2
    answer = json.dumps(pages[2]).replace('"', '""')
    (tmp_path / "OmniDocBench.tsv").write_text(
        f'index\timage\tanswer\n7\t{pixel}\t"{answer}"\n', encoding="utf-8"
    )
    benchmark = registry.benchmark("omnidocbench", data=tmp_path)
    (sample,) = map(benchmark.read, benchmark.data)
    rule = benchmark.scorings["official"]

    assert (sample.id, sample.tags["parts"]) == ("7", "text order table")
    assert rule.score(rule.parse(Reply(text=sample.target or ""), sample), sample) == 1.0


def test_a_row_without_annotation_is_named(tmp_path: Path) -> None:
    (tmp_path / "OmniDocBench.json").write_text('[{"page_info": {}}]', encoding="utf-8")
    benchmark = registry.benchmark("omnidocbench", data=tmp_path)
    with pytest.raises(DataError, match="row 1"):
        [*map(benchmark.read, benchmark.data)]


def test_end_tags_without_start_and_entities_are_read_as_beautiful_soup_does() -> None:
    assert rewritten("</b><p>&foo &#65;&lt;<br><i>") == "<p>&foo A<<br/><i></i></p>"


def test_hedging_is_not_called_better_than_chance_where_lower_is_better(
    capsys: pytest.CaptureFixture[str],
) -> None:
    exit_code(["show", "omnidocbench"])
    assert "more than chance" not in capsys.readouterr().out


def test_tables_of_rows_have_the_distance_of_any_trees() -> None:
    rows = ("<td>ab</td><td>c</td>", "<td>x</td><td>c</td><td>d</td>", "<td></td>", "")
    tables = [table("".join(f"<tr>{row}</tr>" for row in order)) for order in permutations(rows, 2)]
    # A caption with an element is no row of cells: these tables are compared as any trees.
    nested = [text.replace('1" >', '1" ><x><y></y></x>') for text in tables]
    for number, other in product(range(len(tables)), repeat=2):
        count = max(text.count("<t") for text in (tables[number], tables[other])) - 1
        distance = (1 - teds(tables[number], tables[other])) * count
        as_trees = (1 - teds(nested[number], nested[other])) * (count + 2)
        assert distance == pytest.approx(as_trees)


def pages_with_tables(n: int, with_table: int) -> Columns:
    """Scored pages, of which only the first have a table, each on a page of its own."""
    answers = np.empty(n, dtype=object)
    answers[:] = [
        NamedAnswers(
            answers={"text": 0.5, **({"table": number % 3 / 4} if number < with_table else {})}
        )
        for number in range(n)
    ]
    none = Category(codes=np.zeros(n, dtype=np.int32), names=("",))
    return Columns(
        score=np.zeros(n),
        cluster=np.arange(n, dtype=np.int32),
        tags={"parts": none},
        answer=answers,
        target=answers,
        references=answers,
        state=none,
    )


def test_only_pages_with_a_table_are_clusters_of_a_metric_of_tables() -> None:
    table_edit = page_mean("table")

    few = table_edit(pages_with_tables(40, with_table=2))
    assert (few.value, few.n) == (0.125, 2)
    assert few.reason == "2 independent clusters: an interval needs at least 10"
    many = table_edit(pages_with_tables(40, with_table=12))
    alone = table_edit(pages_with_tables(12, with_table=12))
    assert (many.value, many.ci95, many.reason) == (alone.value, alone.ci95, alone.reason)


@pytest.mark.parametrize("name", ["omnidocbench", "olmocr_bench"])
def test_no_metric_of_pages_has_more_clusters_than_values(name: str) -> None:
    bench = registry.benchmark(name.replace("_", "-"), data=registry.bundled(name))
    replies = {
        bench.read(row).id: "A page. $x^2$ <table><tr><td>1</td></tr></table>" for row in bench.data
    }
    for metric, result in (
        score_predictions(bench, replies, where="here").scorings["official"].metrics.items()
    ):
        number, sign, _ = (result.reason or "").partition(" independent cluster")
        assert not sign or int(number) <= result.n, metric
