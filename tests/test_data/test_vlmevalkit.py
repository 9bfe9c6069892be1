"""TSVs in VLMEvalKit's form: cells stay text, pictures are references to where their bytes lie."""

import base64
import csv
import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from snellen.data import missing_note, rows_at, tsv, vlmevalkit_tsv
from snellen.errors import DataError, MediaError
from snellen.media.content import Image, Slice
from snellen.media.images import load

# A PNG of one pixel; `picture(n)` is another one for each n, by a comment behind its end.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)


def picture(n: int) -> str:
    """The base64 of a picture."""
    return base64.b64encode(PNG + bytes([n])).decode()


def write(
    path: Path, names: Sequence[str], rows: Sequence[Sequence[str]], quote_all: bool = False
) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(
            file,
            delimiter="\t",
            quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL,
            lineterminator="\n",
        )
        writer.writerows([names, *rows])
    return path


def shown(images: tuple[Image, ...]) -> list[bytes]:
    """What a model gets of some images."""
    loaded = [load(image).source for image in images]
    assert all(isinstance(source, bytes) for source in loaded)
    return [source for source in loaded if isinstance(source, bytes)]


def pixel(n: int) -> bytes:
    return PNG + bytes([n])


@pytest.mark.parametrize("quote_all", [False, True])
def test_a_picture_is_where_its_base64_lies_in_the_file(tmp_path: Path, quote_all: bool) -> None:
    rows = [["1", "é what?", picture(1), "x"], ["2", 'say "hi"', picture(2), "two\nlines"]]
    path = write(tmp_path / "a.tsv", ["index", "question", "image", "comment"], rows, quote_all)

    read = list(vlmevalkit_tsv(path))

    assert [list(row.values())[:2] for row in read] == [["1", "é what?"], ["2", 'say "hi"']]
    assert [row["comment"] for row in read] == ["x", "two\nlines"]
    for n, row in enumerate(read, 1):
        (image,) = row["image"]
        assert isinstance(image.source, Slice)
        assert image.label == f"row {n} of a.tsv, image"
        assert shown(row["image"]) == [pixel(n)]


def test_windows_line_ends_and_a_byte_order_mark_move_no_picture(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(f"\ufeffindex\timage\r\n1\t{picture(1)}\r\n\r\n2\t{picture(2)}".encode())

    assert [shown(row["image"]) for row in vlmevalkit_tsv(path)] == [[pixel(1)], [pixel(2)]]


@pytest.mark.parametrize("word", ["None", "NA", "nan", "null", "", "1.0"])
def test_cells_are_text_whatever_they_say(tmp_path: Path, word: str) -> None:
    path = write(tmp_path / "a.tsv", ["index", "A", "image"], [["1", word, picture(1)]])

    assert next(iter(vlmevalkit_tsv(path)))["A"] == word


def test_digests_are_those_of_the_same_file_as_a_plain_sheet(tmp_path: Path) -> None:
    rows = [["1", picture(1)], ["2", "1"], ["3", str([picture(2), picture(3)])]]
    path = write(tmp_path / "a.tsv", ["index", "image"], rows)

    assert vlmevalkit_tsv(path).facts() == tsv(path).facts()
    assert [row.digest for row in vlmevalkit_tsv(path)] == [row.digest for row in tsv(path)]


def test_a_cell_that_is_an_index_is_the_picture_of_that_row(tmp_path: Path) -> None:
    # The last row's name stands before the row that it is, and the first one's names a borrower.
    rows = [["7", "1000001"], ["1", picture(1)], ["1000001", "1"], ["x", "y"], ["y", picture(2)]]
    path = write(tmp_path / "a.tsv", ["index", "image"], rows)

    read = list(vlmevalkit_tsv(path))

    assert [shown(row["image"]) for row in read] == [
        [pixel(1)],
        [pixel(1)],
        [pixel(1)],
        [pixel(2)],
        [pixel(2)],
    ]
    assert read[2]["image"] == read[1]["image"]


@pytest.mark.parametrize("write_list", [str, json.dumps])
def test_a_list_of_pictures_can_be_borrowed(
    tmp_path: Path, write_list: Callable[[list[str]], str]
) -> None:
    rows = [["1", write_list([picture(1), picture(2)])], ["2", "1"]]
    path = write(tmp_path / "a.tsv", ["index", "image"], rows)

    first, second = vlmevalkit_tsv(path)

    assert shown(first["image"]) == shown(second["image"]) == [pixel(1), pixel(2)]
    assert all(isinstance(image.source, Slice) for image in first["image"])
    assert [image.label for image in first["image"]] == [
        "row 1 of a.tsv, image 1",
        "row 1 of a.tsv, image 2",
    ]


@pytest.mark.parametrize("cell", ["2", "cat.png"])
def test_a_cell_that_names_no_row_with_a_picture_is_named(tmp_path: Path, cell: str) -> None:
    path = write(tmp_path / "a.tsv", ["index", "image"], [["1", cell], ["2", ""]])

    with pytest.raises(DataError, match=rf"row 1 of a\.tsv, image is '{cell}'.*image_path"):
        list(vlmevalkit_tsv(path))


def test_rows_that_name_each_other_are_no_endless_search(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", ["index", "image"], [["1", "2"], ["2", "1"]])

    with pytest.raises(DataError, match=r"row 1 of a\.tsv, image is '2'"):
        list(vlmevalkit_tsv(path))


@pytest.mark.parametrize("cell", ["", "nan", "None"])
def test_a_row_without_a_picture_has_none(tmp_path: Path, cell: str) -> None:
    path = write(tmp_path / "a.tsv", ["index", "image"], [["1", cell], ["2", picture(2)]])

    assert next(iter(vlmevalkit_tsv(path)))["image"] == ()


def test_rows_of_text_alone_have_no_pictures(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", ["index", "question"], [["1", "What?"]])

    assert [dict(row) for row in vlmevalkit_tsv(path)] == [
        {"index": "1", "question": "What?", "image": ()}
    ]


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("mine.tsv", "images/mine"),
        ("mine_local.tsv", "images/mine"),
        ("MMBench_DEV_EN.tsv", "images/MMBench"),
        ("MMBench_DEV_EN_V11.tsv", "images/MMBench_V11"),
        ("COCO_VAL.tsv", "images/COCO"),
        ("OCRVQA_TESTCORE.tsv", "images/OCRVQA"),
        ("mine.tsv", "."),
    ],
)
def test_names_of_files_start_from_the_data_sets_folder(
    tmp_path: Path, name: str, folder: str
) -> None:
    there = tmp_path / folder
    there.mkdir(parents=True, exist_ok=True)
    (there / "1.png").write_bytes(pixel(1))
    (there / "it's.png").write_bytes(pixel(2))
    rows = [["1", "1.png"], ["2", str(["1.png", "it's.png"])], ["3", str(there / "1.png")]]
    path = write(tmp_path / name, ["index", "image_path"], rows)

    read = list(vlmevalkit_tsv(path))

    assert [shown(row["image"]) for row in read] == [[pixel(1)], [pixel(1), pixel(2)], [pixel(1)]]
    assert read[0]["image_path"] == "1.png"


def test_a_name_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(pixel(1))
    (tmp_path / "data").mkdir()
    path = write(tmp_path / "data/a.tsv", ["index", "image_path"], [["1", "../secret.png"]])

    (image,) = next(iter(vlmevalkit_tsv(path)))["image"]
    with pytest.raises(MediaError, match="outside"):
        load(image)


def test_a_packed_file_holds_the_pictures_of_its_rows(tmp_path: Path) -> None:
    rows = [["1", picture(1)], ["2", str([picture(1), picture(2)])], ["3", ""]]
    plain = write(tmp_path / "a.tsv", ["index", "image"], rows)
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))

    read = list(vlmevalkit_tsv(path))

    assert [shown(row["image"]) for row in read] == [[pixel(1)], [pixel(1), pixel(2)], []]
    assert vlmevalkit_tsv(path).facts() == vlmevalkit_tsv(plain).facts()


def test_a_packed_file_whose_rows_name_rows_must_be_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(gzip.compress(f"index\timage\n1\t{picture(1)}\n2\t1\n".encode(), mtime=0))

    with pytest.raises(DataError, match=r"row 2 of a\.tsv\.gz, image is '1'.* gunzip"):
        list(vlmevalkit_tsv(path))


@pytest.mark.parametrize("cell", ["['abc", "[1, 2]", "[__import__('os')]"])
def test_a_list_of_other_things_is_named(tmp_path: Path, cell: str) -> None:
    path = write(tmp_path / "a.tsv", ["index", "image"], [["1", cell]])

    with pytest.raises(DataError, match=r"row 1 of a\.tsv, image .*list"):
        list(vlmevalkit_tsv(path))


def test_a_row_is_had_by_its_place_with_its_pictures(tmp_path: Path) -> None:
    rows = [["1", picture(1)], ["2", "1"], ["3", picture(3)]]
    table = vlmevalkit_tsv(write(tmp_path / "a.tsv", ["index", "image"], rows))
    read = list(table)

    assert list(rows_at(table, [1, 2])) == read[1:]


def test_a_missing_picture_is_in_no_note(tmp_path: Path) -> None:
    rows = [["1", "None", "nan"], ["2", "no", picture(1)]]
    table = vlmevalkit_tsv(write(tmp_path / "a.tsv", ["index", "A", "image"], rows))

    assert missing_note(table) == (
        "1 cell, 'None' in A, is text here; pandas would read it as missing"
    )


def test_a_long_row_is_read_as_a_short_one(tmp_path: Path) -> None:
    long = base64.b64encode(PNG + bytes(20_000)).decode()
    rows = [["1", "NA", long, "b"], ["2", "A", "1", "c"], ["3", "A", str([long, long]), "d"]]
    table = vlmevalkit_tsv(write(tmp_path / "a.tsv", ["index", "A", "image", "B"], rows))

    read = list(table)

    assert [(row["index"], row["A"], row["B"]) for row in read] == [
        ("1", "NA", "b"),
        ("2", "A", "c"),
        ("3", "A", "d"),
    ]
    assert [len(row["image"]) for row in read] == [1, 1, 2]
    assert {data for row in read for data in shown(row["image"])} == {PNG + bytes(20_000)}
    assert missing_note(table) is not None
