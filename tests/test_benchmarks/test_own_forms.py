"""Rows in the forms of other tools: spreadsheets, numbered answers, VLMEvalKit's folder."""

import base64
import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from snellen import registry
from snellen.core.sample import Sample
from snellen.errors import CatalogError, DataError, UsageError
from snellen.media import images
from snellen.media.content import Image
from snellen.media.drawing import Canvas
from tests.test_cli.conftest import Snellen
from tests.test_cli.conftest import snellen as snellen_fixture

snellen = snellen_fixture
RED = Canvas(8, 8, (200, 0, 0)).png()
BLUE = Canvas(8, 8, (0, 0, 200)).png()
HEAD = ["id", "question", "A", "B", "answer", "image"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two pictures."""
    (tmp_path / "red.png").write_bytes(RED)
    (tmp_path / "blue.png").write_bytes(BLUE)
    return tmp_path


def samples(file: Path, **options: Any) -> list[Sample]:
    benchmark = registry.benchmark(f"{file}", **options)
    return [benchmark.read(row) for row in benchmark.data]


def pictures(sample: Sample) -> list[object]:
    return [images.load(m).source for m in sample.media if isinstance(m, Image)]


def workbook(file: Path, *sheets: Sequence[Sequence[Any]]) -> Path:
    book = xlsxwriter.Workbook(file)
    style = book.add_format({"num_format": "yyyy-mm-dd"})
    for sheet_rows in sheets:
        sheet = book.add_worksheet()
        for i, cells in enumerate(sheet_rows):
            for j, cell in enumerate(cells):
                if isinstance(cell, date):
                    sheet.write_datetime(i, j, cell, style)
                elif cell is not None:
                    sheet.write(i, j, cell)
    book.close()
    return file


def jsonl(file: Path, *rows: dict[str, Any]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def tsv(file: Path, head: Sequence[str], *rows: Sequence[object]) -> Path:
    file.write_text("".join("\t".join(map(str, row)) + "\n" for row in (head, *rows)))
    return file


# -- spreadsheets


def test_a_spreadsheet_is_a_file_of_rows(folder: Path) -> None:
    rows: list[list[Any]] = [
        HEAD,
        [1, "Which?", "cat", 3, "A", "red.png"],
        [],
        [2, "Why?", 4.5, "b", "B", None],
    ]
    first, second = samples(workbook(folder / "mine.xlsx", rows))
    assert (first.id, first.choices, first.target) == ("1", ("cat", "3"), "A")
    assert (second.id, second.choices, second.media) == ("2", ("4.5", "b"), ())
    assert pictures(first) == [RED]


def test_a_spreadsheet_is_run_and_scored_again(folder: Path, snellen: Snellen) -> None:
    rows: list[list[Any]] = [
        HEAD,
        *([i, f"q{i}", "cat", "dog", "AB"[i % 2], "red.png"] for i in range(12)),
    ]
    file = workbook(folder / "mine.xlsx", rows)
    done = snellen("run", "-b", file, "-m", "baseline/first", "--json")
    assert done.code == 0, done.err
    [run] = Path("runs").glob("*/*/*")
    assert run.parts[1] == done.json["benchmark"] == "mine"
    file.unlink()
    assert snellen("score", run).code == 0


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        (
            [[HEAD, [1, "q", "a", "b", "=1+1", None]]],
            "'answer' in row 2 of the sheet contains a formula",
        ),
        (
            [[HEAD, [1, date(2026, 1, 2), "a", "b", "A", None]]],
            "'question' in row 2 .* contains a date",
        ),
        ([[HEAD, [1, "q", "a", "b", "A", None]], [["x"]]], "has 2 sheets that are not empty"),
        ([[HEAD]], "has no rows below the first one"),
        ([[]], "has no rows below the first one"),
    ],
)
def test_a_spreadsheet_that_cannot_be_read_is_an_error(
    folder: Path, sheets: list[list[list[object]]], message: str
) -> None:
    with pytest.raises((DataError, UsageError), match=message):
        samples(workbook(folder / "mine.xlsx", *sheets))


def test_a_text_file_by_the_name_of_a_spreadsheet_is_an_error(folder: Path) -> None:
    (folder / "mine.xlsx").write_text("id,question\n1,why\n")
    with pytest.raises(DataError, match=r"not a complete \.xlsx file \(it begins with b'id,quest'"):
        samples(folder / "mine.xlsx")


def test_a_spreadsheet_of_results_does_not_hide_the_rows_of_a_folder(folder: Path) -> None:
    (folder / "data").mkdir()
    jsonl(folder / "data/rows.jsonl", {"question": "q", "answer": "yes"})
    workbook(folder / "data/results.xlsx", [["id", "reply"], [0, "yes"]])
    [sample] = samples(folder / "data")
    assert sample.target == "yes"


# -- numbered answers


def test_answers_are_numbers_from_0_on_request(folder: Path) -> None:
    rows = [{"question": "q", "choices": ["1", "0"], "label": i} for i in (0, "1", None)]
    file = jsonl(folder / "mine.jsonl", *rows)
    targets = [sample.target for sample in samples(file, columns={"label": "answer0"})]
    assert targets == ["A", "B", None]


def test_a_column_may_have_the_fields_name(folder: Path) -> None:
    file = jsonl(folder / "mine.jsonl", {"question": "q", "A": "a", "B": "b", "answer0": 1})
    assert samples(file)[0].target == "B"


def test_a_number_is_no_answer_unless_it_is_said_to_be(folder: Path) -> None:
    file = jsonl(folder / "mine.jsonl", {"question": "q", "A": "a", "B": "b", "answer": 1})
    with pytest.raises(DataError, match=r"use --map answer=answer0\."):
        samples(file)


@pytest.mark.parametrize("value", [2, -1, "A", 0.0, True, "01234"])
def test_a_number_that_is_no_choice_is_an_error(folder: Path, value: object) -> None:
    file = jsonl(folder / "mine.jsonl", {"question": "q", "A": "a", "B": "b", "answer0": value})
    with pytest.raises(DataError, match="not the number of a choice, from 0 to 1"):
        samples(file)


def test_two_columns_of_answers_are_an_error(folder: Path) -> None:
    row = {"question": "q", "A": "a", "B": "b", "answer": "A", "answer0": 0}
    with pytest.raises(DataError, match="has both 'answer' and 'answer0'"):
        samples(jsonl(folder / "mine.jsonl", row))


def test_numbered_answers_need_choices(folder: Path) -> None:
    file = jsonl(folder / "mine.jsonl", {"question": "q", "answer0": 0})
    with pytest.raises(DataError, match="vqa has no choices"):
        samples(file, task="vqa")


# -- lists and references


@pytest.mark.parametrize("cell", ["['red.png', 'blue.png']", '["red.png", "blue.png"]'])
def test_a_list_of_paths_may_be_json_or_pythons(folder: Path, cell: str) -> None:
    file = tsv(folder / "mine.tsv", ["id", "question", "answer", "image_path"], [1, "q", "a", cell])
    assert pictures(samples(file)[0]) == [RED, BLUE]


def test_a_bracket_alone_begins_no_list(folder: Path) -> None:
    rows = [[1, "q", "[3, 4)", "red.png"], [2, "q", "['x', 1]", "red.png"]]
    file = tsv(folder / "mine.tsv", ["id", "question", "answer", "image_path"], *rows)
    assert [sample.target for sample in samples(file)] == ["[3, 4)", "['x', 1]"]


def test_an_image_may_be_the_index_of_another_row(folder: Path) -> None:
    encoded = base64.b64encode(RED).decode()
    rows = [[0, "q", "yes", encoded, "blue.png"], [1, "r", "no", "0", "blue.png"]]
    head = ["index", "question", "answer", "image", "image_path"]
    assert [pictures(s) for s in samples(tsv(folder / "mine.tsv", head, *rows))] == [[RED], [RED]]


def test_a_reference_to_no_picture_is_an_error(folder: Path) -> None:
    encoded = base64.b64encode(RED).decode()
    rows = [[0, "q", "yes", encoded], [1, "r", "no", "1"]]
    file = tsv(folder / "mine.tsv", ["index", "question", "answer", "image"], *rows)
    with pytest.raises(DataError, match="nor the index of a row with a picture"):
        samples(file)


# -- VLMEvalKit's folder


@pytest.fixture
def lmu(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """VLMEvalKit's folder with a sheet of somebody's."""
    head = ["index", "question", "A", "B", "answer", "image"]
    row = [0, "q", "a", "b", "A", base64.b64encode(RED).decode()]
    tsv(folder / "MyMCQ.tsv", head, row)
    monkeypatch.setenv("LMUData", f"{folder}")
    return folder


def test_a_sheet_in_vlmevalkits_folder_goes_by_its_name(lmu: Path) -> None:
    benchmark = registry.benchmark("MyMCQ")
    assert benchmark.name == "MyMCQ"
    assert f"the rows are in {lmu / 'MyMCQ.tsv'}" in benchmark.notes
    assert [pictures(benchmark.read(row)) for row in benchmark.data] == [[RED]]


def test_a_benchmark_of_that_name_comes_first(lmu: Path) -> None:
    (lmu / "MyMCQ.tsv").rename(lmu / "MME.tsv")
    assert registry.benchmark("MME").name == "mme"


@pytest.mark.usefixtures("lmu")
@pytest.mark.parametrize("name", ["Gone", "mymcq", ".."])
def test_another_name_is_unknown(name: str) -> None:
    with pytest.raises(CatalogError, match="no benchmark"):
        registry.benchmark(name)
