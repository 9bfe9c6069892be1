"""Rows from files: what is read, what its digest is, what is said of files that are not right."""

import csv as quoting
import gzip
import json
from hashlib import blake2b
from pathlib import Path

import pytest

from snellen.data import (
    Filtered,
    csv,
    json_list,
    jsonl,
    missing_note,
    read_as_missing,
    rows_at,
    rows_of,
    tsv,
)
from snellen.data.lines import MAX_ROW_BYTES
from snellen.data.table import facts_of
from snellen.errors import DataError


def write(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def digest(raw: bytes) -> str:
    return blake2b(raw, digest_size=16).hexdigest()


def test_a_row_has_its_fields_its_place_and_the_digest_of_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b'{"id": 1}\n{"id": 2}\n')

    rows = list(jsonl(path))

    assert [dict(row) for row in rows] == [{"id": 1}, {"id": 2}]
    assert [row.position for row in rows] == [0, 1]
    assert [row.digest for row in rows] == [digest(b'{"id": 1}'), digest(b'{"id": 2}')]


def test_nothing_is_opened_before_the_first_iteration(tmp_path: Path) -> None:
    table = jsonl(tmp_path / "later.jsonl")
    write(tmp_path, "later.jsonl", b'{"id": 1}\n')

    assert len(list(table)) == 1


def test_a_table_can_be_read_again(tmp_path: Path) -> None:
    table = tsv(write(tmp_path, "a.tsv", b"id\n1\n2\n"))

    assert [row["id"] for row in table] == [row["id"] for row in table] == ["1", "2"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b'{"id": "1"}\n\n{"id": "2"}\n'),
        ("a.jsonl", b'{"id": "1"}\r\n{"id": "2"}\r\n'),
        ("a.jsonl", b'\xef\xbb\xbf{"id": "1"}\n{"id": "2"}'),
        ("a.tsv", b"id\tx\n1\ta\n2\tb\n"),
        ("a.tsv", b"\xef\xbb\xbfid\tx\r\n1\ta\r\n2\tb"),
        ("a.csv", b'id,x\n1,"a\nb"\n2,"c"\n'),
        ("a.csv", b"id\n1\n\n2\n"),
        ("a.json", b'[{"id": "1"},\n {"id": "2"}]\n'),
        ("a.json", b'\xef\xbb\xbf [ {"id": "1"} , {"id": "2"} ] '),
    ],
)
def test_every_format_gives_the_same_rows_and_facts_that_fit_them(
    tmp_path: Path, name: str, content: bytes
) -> None:
    table = rows_of(write(tmp_path, name, content))

    assert [row["id"] for row in table] == ["1", "2"]
    assert table.facts() == facts_of(iter(table))
    assert table.facts().rows == 2


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.tsv"])
def test_gzipped_files_have_the_rows_of_what_is_packed(tmp_path: Path, name: str) -> None:
    content = {"a.jsonl": b'{"id": "1"}\n', "a.json": b'[{"id": "1"}]'}.get(name, b"id\n1\n")
    plain = rows_of(write(tmp_path, name, content))
    packed = rows_of(write(tmp_path, f"{name}.gz", gzip.compress(content, mtime=0)))

    assert [row.digest for row in plain] == [row.digest for row in packed]


def test_line_ends_do_not_change_digests(tmp_path: Path) -> None:
    unix = write(tmp_path, "unix.tsv", b"id\tx\n1\ta\n")
    windows = write(tmp_path, "windows.tsv", b"id\tx\r\n1\ta\r\n")

    assert tsv(unix).facts() == tsv(windows).facts()


@pytest.mark.parametrize("word", ["None", "NA", "nan", "null", "", " ", "N/A"])
def test_cells_are_text_whatever_they_say(tmp_path: Path, word: str) -> None:
    path = write(tmp_path, "a.tsv", f"id\tanswer\n1\t{word}\n".encode())

    assert next(iter(tsv(path)))["answer"] == word


def test_quoted_cells_are_what_the_csv_module_reads(tmp_path: Path) -> None:
    rows = [
        ["1", 'say "hi"', "a,b"],
        ["2", "two\nlines", "tab\there"],
        ["3", "", '""'],
        ["4", "crlf\r\ninside", "é"],
    ]
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as file:
        quoting.writer(file).writerows([["id", "x", "y"], *rows])

    assert [list(row.values()) for row in csv(path)] == rows


def test_the_digest_of_a_row_over_several_lines_is_of_all_of_them(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", b'id,x\r\n1,"a\r\n\r\nb"\r\n2,c\r\n')

    assert [row.digest for row in csv(path)] == [
        digest(b'id\tx1,"a\r\n\r\nb"'),
        digest(b"id\tx2,c"),
    ]


def test_a_json_list_is_read_across_the_blocks_it_comes_in(tmp_path: Path) -> None:
    # é is two bytes, so that block ends fall inside a character too.
    rows = [{"id": i, "text": 'é"[{' * (i % 7) * 40_000} for i in range(40)]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")

    assert [dict(row) for row in json_list(path)] == rows


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", b"", "has no rows"),
        ("a.jsonl", b"\n \n", "has no rows"),
        ("a.json", b"[]", "has no rows"),
        ("a.json", b"", "has no rows"),
        ("a.json", b"\n \n", "has no rows"),
        ("a.tsv", b"", "has no rows"),
        ("a.tsv", b"id\tx\n", "has no rows"),
        (
            "a.jsonl",
            b'{"id": 1}\n{"id": 2, "x": "to',
            r"row 2 of .*a\.jsonl \(line 2\) is not valid",
        ),
        ("a.jsonl", b'{"id": NaN}\n', "row 1 .* is not valid JSON"),
        ("a.jsonl", b'{"id": 1}\n[1, 2]\n', r"row 2 .* \(line 2\) is a list, not an object"),
        ("a.json", b'[{"id": 1},\n\n{"id"', r"row 2 .* \(line 3\) is not valid JSON"),
        ("a.json", b'[\n{"id": 1}\n', "after row 1, in line 3"),
        ("a.json", b'[{"id": 1} {"id": 2}]', "after row 1"),
        ("a.json", b'[{"id": 1}]\n[', "has more text after its list, in line 2"),
        ("a.json", b"[1]", "row 1 .* is a int, not an object"),
        ("a.json", b'[{"id": NaN}]', "row 1 .* NaN is not a JSON value"),
        ("a.json", b'[{"id": 1}, {"id": "\\ud83d"}]', "row 2 .* is not valid JSON: .*surrogate"),
        ("a.json", b'[{"id": ' + b"[" * 100_000, "row 1 .* nested too deeply"),
        (
            "a.json",
            b'[{"id": ' + b"1" * 5_000 + b"}]",
            "row 1 .* a number with thousands of digits",
        ),
        ("a.tsv", b"id\tx\tid\n1\t2\t3\n", "more than one column named 'id'"),
        (
            "a.tsv",
            b"id\tx\n1\ta\n2\n",
            r"row 2 of .*a\.tsv \(line 3\) has 1 cells, but the header has 2",
        ),
        ("a.tsv", b"id\tx\n1\ta\tb\n", "row 1 .* has 3 cells"),
        ("a.csv", b'id,x\n1,a\n2,"torn\nand', r"row 2 of .*a\.csv \(line 3\) cannot be split"),
        ("a.csv", b'id,x\n1,"a"b\n', "row 1 .* cannot be split"),
        ("a.csv", b"id,x\r1,a\r", "the header .* cannot be split"),
    ],
)
def test_a_file_that_is_not_right_is_named_with_the_row(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = write(tmp_path, name, content)

    with pytest.raises(DataError, match=words) as error:
        list(rows_of(path))
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "a.csv",
            b"id;question\n1;What?\n",
            "line 1 .* contains no comma but 1 semicolon: it begins with",
        ),
        (
            "a.csv",
            b"id\tquestion\tA\n1\tWhat?\tb\n",
            r"contains no comma but 2 tabs: .*rename it to \.tsv",
        ),
        ("a.tsv", b"id,question\n1,What?\n", r"contains no tab but 1 comma: .*rename it to \.csv"),
        (
            "a.jsonl",
            b'[{"id": 1},\n {"id": 2}]\n',
            r"row 1 .* \(line 1\) is a JSON list.* rename it to a\.json",
        ),
        (
            "a.jsonl",
            b'[{"id": 1}, {"id": 2}]\n',
            r"row 1 .* is a JSON list, .* rename it to a\.json\.",
        ),
        ("a.jsonl", b'\n{\n  "id": 1\n}\n', r"\(line 2\) .* Each line must be a complete object"),
        (
            "a.json",
            b'{"id": 1}\n{"id": 2}\n',
            r"the second begins in line 2\. .* rename it to a\.jsonl",
        ),
        ("a.json", b'{"version": 1, "rows": [{"id": 1}]}', "Save the list in its field 'rows'"),
        ("a.json", b'{"id": 1}', r"Save its rows as one list, or one object per line"),
        ("a.json", b'"id"', "is not a list of objects"),
        ("a.json", b"id,question\n", "is not a list of objects"),
    ],
)
def test_a_common_mistake_is_named_with_what_to_do(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    with pytest.raises(DataError, match=words):
        list(rows_of(write(tmp_path, name, content)))


def test_a_sheet_of_one_column_is_no_mistake(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", b"question\nWhat; and why?\n")

    assert [dict(row) for row in csv(path)] == [{"question": "What; and why?"}]


@pytest.mark.parametrize("name", ["a.jsonl", "a.tsv", "a.csv"])
def test_facts_and_rows_find_the_same_fault(tmp_path: Path, name: str) -> None:
    content = {"a.jsonl": b"\n", "a.tsv": b"id\tx\n1\n", "a.csv": b'id\n"1\n'}[name]
    table = rows_of(write(tmp_path, name, content))

    with pytest.raises(DataError) as by_rows:
        list(table)
    with pytest.raises(DataError) as by_facts:
        table.facts()
    assert str(by_rows.value) == str(by_facts.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b'\xef\xbb\xbf{"id": "1"}\r\n\r\n{"id": "2"}\n{"id": "3"}'),
        ("a.tsv", b"\xef\xbb\xbfid\tx\r\n1\ta\r\n\r\n2\tb\r\n3\tc"),
        ("a.csv", b'id,x\n1,"a\n""b"""\r\n\n"2",c\n3,"d"'),
        ("a.json", b'[{"id": "1"}, {"id": "2"}, {"id": "3"}]'),
    ],
)
def test_rows_are_had_by_their_place(tmp_path: Path, name: str, content: bytes) -> None:
    plain = rows_of(write(tmp_path, name, content))
    packed = rows_of(write(tmp_path, f"{name}.gz", gzip.compress(content, mtime=0)))
    rows = list(plain)

    for table in (plain, packed):
        items = list(rows_at(table, [2, 0, 2]))
        assert items == [rows[0], rows[2]]
        assert [row.digest for row in items] == [rows[0].digest, rows[2].digest]
        assert [row.position for row in items] == [0, 2]
        with pytest.raises(IndexError, match="no row 3"):
            list(rows_at(table, [1, 3]))
    assert list(rows_at(plain, [])) == []


def test_rows_of_a_plain_file_of_lines_are_sought(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b'{"id": 1}\nno JSON\n{"id": 2}\n')

    assert [row["id"] for row in rows_at(jsonl(path), [2])] == [2]


def test_what_is_left_out_is_not_had_by_its_place_either(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b'{"id": 1}\n{"id": 2}\n')
    table = Filtered(jsonl(path), lambda row: row["id"] == 2)

    assert [row["id"] for row in rows_at(table, [1])] == [2]
    with pytest.raises(IndexError, match="left out"):
        list(rows_at(table, [0]))


def test_cells_that_pandas_takes_for_missing_are_counted(tmp_path: Path) -> None:
    rows = b'id\tA\tB\n1\tNone\tNone\n2\tNA\t"null"\n3\t\tnone\n'
    table = tsv(write(tmp_path, "a.tsv", rows))

    assert read_as_missing(table) == {"A": 2, "B": 2}
    assert missing_note(Filtered(table, bool)) == (
        "4 cells such as 'None' in A, B are text here; pandas would read them as missing"
    )


def test_one_cell_that_pandas_takes_for_missing_is_in_the_singular(tmp_path: Path) -> None:
    table = csv(write(tmp_path, "a.csv", b"id,answer\n1,N/A\n"))

    assert missing_note(table) == (
        "1 cell, 'N/A' in answer, is text here; pandas would read it as missing"
    )


def test_tables_that_pandas_reads_alike_have_no_note(tmp_path: Path) -> None:
    assert missing_note(tsv(write(tmp_path, "a.tsv", b"id\tA\n1\t\n"))) is None
    assert missing_note(jsonl(write(tmp_path, "a.jsonl", b'{"A": "None"}\n'))) is None


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", '{"x": "a"}\n{"x": "é"}\n'.encode("latin-1"), "row 2 .* byte 18 .0xe9."),
        ("a.json", '[{"x": "a"},\n{"x": "é"}]'.encode("latin-1"), "byte 20 .0xe9."),
        ("a.tsv", "id\tx\n1\té\n".encode("latin-1"), "row 1 .* byte 7 .0xe9."),
        ("a.csv", 'id,x\n1,"é"\n'.encode("latin-1"), "row 1 .* byte 8 .0xe9."),
        ("a.csv", "id,é\n1,2\n".encode("latin-1"), "the header .* byte 3 .0xe9."),
        ("a.jsonl", '{"x": 1}\n'.encode("utf-16"), "is UTF-16"),
        ("a.json", "[]".encode("utf-16"), "is UTF-16"),
        ("a.tsv", "id\tx\n1\ta\n".encode("utf-16"), "is UTF-16"),
        ("a.csv", "id,x\n".encode("utf-32"), "is UTF-32"),
    ],
)
def test_another_encoding_is_named_with_the_byte(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    with pytest.raises(DataError, match=words) as error:
        list(rows_of(write(tmp_path, name, content)))
    assert "iconv" in str(error.value)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.json"])
def test_a_row_of_more_than_100_megabytes_is_refused(tmp_path: Path, name: str) -> None:
    start = {"a.jsonl": b'{"x": "', "a.csv": b'x\n"', "a.json": b'[{"x": "'}[name]
    path = tmp_path / name
    with path.open("wb") as file:
        file.write(start)
        for _ in range(MAX_ROW_BYTES // 10**6 + 5):
            file.write(b"x" * 999_999 + b"\n" if name == "a.csv" else b"x" * 10**6)

    with pytest.raises(DataError, match="100 MB"):
        list(rows_of(path))


def test_a_cell_of_a_megabyte_is_read(tmp_path: Path) -> None:
    picture = "x" * 10**6
    path = write(tmp_path, "a.csv", f'id,image\n1,"{picture}"\n'.encode())

    assert next(iter(csv(path)))["image"] == picture


def test_a_gzip_file_that_was_cut_off_is_named(tmp_path: Path) -> None:
    packed = gzip.compress(b'{"id": 1}\n' * 1000, mtime=0)
    path = write(tmp_path, "a.jsonl.gz", packed[: len(packed) // 2])

    with pytest.raises(DataError, match=r"a\.jsonl\.gz cannot be read to its end"):
        list(jsonl(path))


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.jsonl cannot be opened: No such file"):
        list(jsonl(tmp_path / "a.jsonl"))
    with pytest.raises(DataError, match="cannot be opened: it is a folder, not a regular file"):
        list(tsv(tmp_path))


def test_a_name_that_says_nothing_of_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"rows\.docx: rows cannot be read from a file with this suffix"
    ):
        rows_of(tmp_path / "rows.docx")


def test_rows_under_another_header_are_other_rows(tmp_path: Path) -> None:
    table = csv(write(tmp_path, "a.csv", b"id,A,B\n1,cat,dog\n"))
    other = csv(write(tmp_path, "b.csv", b"id,B,A\n1,cat,dog\n"))

    assert table.facts() != other.facts()
