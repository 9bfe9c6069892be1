"""CC-OCR: each rule of its scoring, and its averages.

Expected scores are those of the authors' code at the commit that the benchmark names, or of the
golden pack's README.
"""

import json
from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import cc_ocr as file
from snellen.benchmarks.cc_ocr import cc_ocr
from snellen.benchmarks.families.html_tables import teds
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError

BUNDLED = Path(file.__file__).parent / "rows" / "cc_ocr"


def score(reply: str, right: str, track: str, kind: str = "", name: str = "x") -> float:
    tags = {"track": track, "dataset": f"{track}/{name}", "kind": kind or track}
    sample = Sample(id="1", question="?", target=right, tags=tags)
    rule = cc_ocr(data=BUNDLED).scorings["official"]
    value = rule.score(rule.parse(Reply(text=reply), sample), sample)
    assert isinstance(value, float | int)
    return value


@pytest.mark.parametrize(
    ("track", "name", "reply", "right", "expected"),
    [
        ("multi_lan_ocr", "Korean", "こんにちは 中x", "こんにちは 世界", 0.7142857129693877),
        ("multi_lan_ocr", "French", "le port", "le Port", 0.99999999),  # not exactly 1
        ("multi_lan_ocr", "French", "port, le", "le port", 0.5),
        ("multi_lan_ocr", "French", "le le le", "le port", 0.4),  # a multiset
        ("multi_scene_ocr", "IC15", "*** $5 OPEN", "5 ###open!", 1.0),
        ("multi_scene_ocr", "IC15", "Öl", "l", 1.0),  # accents vanish
        ("multi_scene_ocr", "IC15", "北京", "北京", 0.0),  # and other scripts
        ("multi_scene_ocr", "scene_zh", "北 京", "京北", 1.0),
        ("multi_scene_ocr", "IC15", "", "", 0.0),
    ],
)
def test_text_is_compared_by_words_or_characters(
    track: str, name: str, reply: str, right: str, expected: float
) -> None:
    assert score(reply, right, track, name=name) == pytest.approx(expected, abs=2e-8)


@pytest.mark.parametrize(
    ("kind", "reply", "right", "expected"),
    [
        ("doc", "\\documentclass{a}\\begin{document}A b\n\\end{document}", "A b", 1.0),
        ("doc", "Sure: ```latex\nAb``` done", "A b", 1.0),
        ("doc", "Sure: ```latex\nAb", "A b", 1.0),  # the fence may be open
        ("doc", "Ab", "\\noindent Ab", 2 / 11),  # commands stay in the reference
        ("formula", "```latex\nx ^\t2```", "x^2", 1.0),
        ("formula", "$x^2$", "x^2", 3 / 5),
        ("molecular", "<smiles>C C\nO</smiles>", "CCO", 1.0),
        ("molecular", "", "CCO", 0.0),
    ],
)
def test_documents_formulas_and_molecules_are_compared_by_edit_distance(
    kind: str, reply: str, right: str, expected: float
) -> None:
    assert score(reply, right, "doc_parsing", kind) == pytest.approx(expected, abs=1e-12)


CELLS = "<table><tr><td>{}</td><td>b</td></tr></table>"


@pytest.mark.parametrize(
    ("reply", "right", "expected"),
    [
        ("```html\n" + CELLS.format("a") + "```", CELLS.format("a"), 1.0),
        ("<table border='1'><tr><td>1 2\n</td><td>b</td></tr>", CELLS.format("12"), 1.0),
        (CELLS.format("\uff11\uff12"), CELLS.format("12"), 1.0),  # full width
        ("no table", CELLS.format("a"), 0.0),
        (CELLS.format("a") + CELLS.format("b"), CELLS.format("a"), 1.0),  # the first only
        ("<table><tr><th>a</th><td>b</td></tr></table>", CELLS.format("a"), 2 / 3),
        ("<table><tr><td colspan='2'>a</td><td>b</td></tr></table>", CELLS.format("a"), 2 / 3),
        ("<table><tr><td>a<td>b</table>", CELLS.format("a"), 1.0),  # cells close by themselves
        ("<table><tr><td colspan='x'>a</td></tr></table>", CELLS.format("a"), 0.0),
    ],
)
def test_tables_are_compared_by_teds(reply: str, right: str, expected: float) -> None:
    assert score(reply, right, "doc_parsing", "table") == pytest.approx(expected, abs=1e-12)


def test_a_hostile_table_is_scored_in_bounds() -> None:
    page = "<html><body>"
    right = f"{page}<table><tr><td>a</td></tr></table>"
    assert teds(f"{page}<table>" + "<b>" * 50_000, right) <= 0.01
    many = f"{page}<table>" + "</td></tr></table><table>" * 1000
    assert teds(many, f"{page}<table></table>") == 1.0


@pytest.mark.parametrize(
    ("reply", "right", "expected"),
    [
        (
            '```json\n{"menu": [{"nm": "Latte", "price": "12.00"}], "地址": "北京 市", '
            '"total": "12kg"}\n``` ok ```json\n{}\n```',
            '{"menu": [{"nm": "Latte", "price": "12.00"}, {"nm": "红茶", "price": "12.00"}], '
            '"地址": "北京 市", "total": "12kg"}',
            0.7058823529411765,
        ),
        ('```json\n{"a": "b"}', '{"a": "b"}', 0.0),  # the fence must be closed
        ('```\n{"a": "b"}\n```', '{"a": "b"}', 0.0),
        ('{"a": ["b"]}', '{"a": "b"}', 1.0),
        ('{"a": "北京 市，"}', '{"a": "北京市, "}', 1.0),
        ('{"a": ["北京 市"]}', '{"a": ["北京市"]}', 3 / 4),  # texts in lists stay
        ("null", '{"a": "b"}', 0.0),
        ("[" * 100_000, '{"a": "b"}', 0.0),
        ("[" * 300 + "]" * 300, '{"a": "b"}', 0.0),
    ],
)
def test_key_information_is_compared_as_trees(reply: str, right: str, expected: float) -> None:
    assert score(reply, right, "kie") == pytest.approx(expected, abs=1e-12)


def test_the_score_is_the_mean_of_tracks_of_means_of_data_sets(tmp_path: Path) -> None:
    replies = {"0": "exit 12", "1": "open", "3": "rue du Port", "8": "O=O", "9": '{"date": "x"}'}
    path = tmp_path / "replies.json"
    rows = [{"index": name, "prediction": text} for name, text in replies.items()]
    path.write_text(json.dumps(rows))
    result = snellen.score(path, cc_ocr(data=BUNDLED), scorings=["official"])
    metrics = result.report.scorings["official"].metrics
    kie = metrics["score/kie"].value
    assert kie is not None
    scene, lan, doc = (1 + 2 / 3 + 0) / 3, (1 + 0) / 2, (0 + 0 + 0 + 1) / 4
    assert metrics["score"].value == pytest.approx((scene + lan + doc + kie) / 4, abs=2e-8)
    assert metrics["score/multi_scene_ocr"].value == pytest.approx(scene, abs=2e-8)
    assert metrics["micro_f1/multi_scene_ocr"].value == pytest.approx(2 * 3 / (3 + 8), abs=2e-8)
    # No field is right, one is extra, and six are missing.
    assert metrics["kie_f1"].value == 0.0


def test_a_label_that_is_no_json_is_an_error(tmp_path: Path) -> None:
    lines = (BUNDLED / "CCOCR.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    cells = next(line for line in lines if "\tkie\t" in line).split("\t")
    cells[3] = "{broken"
    (tmp_path / "CCOCR.tsv").write_text(lines[0] + "\t".join(cells), encoding="utf-8")
    path = tmp_path / "replies.json"
    path.write_text(json.dumps([{"index": cells[0], "prediction": "{}"}]))
    with pytest.raises(DataError, match="the answer is not valid JSON"):
        snellen.score(path, cc_ocr(data=tmp_path))
