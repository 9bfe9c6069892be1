"""Folders as tables: of the images in them, or of the one file of rows."""

from pathlib import Path

import pytest

from snellen.data import rows_of
from snellen.errors import DataError


def put(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b'{"id": 1}\n' if name.endswith(".jsonl") else b"picture")


def test_images_are_rows_by_their_names(tmp_path: Path) -> None:
    put(tmp_path, "b.png", "a.JPG", "notes.txt", ".hidden.png")

    assert [dict(row) for row in rows_of(tmp_path)] == [
        {"id": "a.JPG", "image": "a.JPG"},
        {"id": "b.png", "image": "b.png"},
    ]


def test_folders_of_images_are_categories(tmp_path: Path) -> None:
    put(tmp_path, "cats/1.png", "dogs/1.png", "dogs/old/2.webp", "3.png", ".git/4.png")

    assert [dict(row) for row in rows_of(tmp_path)] == [
        {"id": "3.png", "image": "3.png", "category": ""},
        {"id": "cats/1.png", "image": "cats/1.png", "category": "cats"},
        {"id": "dogs/1.png", "image": "dogs/1.png", "category": "dogs"},
        {"id": "dogs/old/2.webp", "image": "dogs/old/2.webp", "category": "dogs/old"},
    ]


def test_another_image_makes_another_table(tmp_path: Path) -> None:
    put(tmp_path, "a.png")
    before = rows_of(tmp_path).facts()
    put(tmp_path, "b.png")

    assert rows_of(tmp_path).facts() != before


def test_a_folder_with_one_file_of_rows_is_that_file(tmp_path: Path) -> None:
    put(tmp_path, "rows.jsonl", "images/1.png", "README.md")

    assert [dict(row) for row in rows_of(tmp_path)] == [{"id": 1}]


def test_hidden_files_are_no_rows(tmp_path: Path) -> None:
    put(tmp_path, "rows.jsonl", ".fetched.json")

    assert [dict(row) for row in rows_of(tmp_path)] == [{"id": 1}]


def test_a_folder_with_several_files_of_rows_names_them(tmp_path: Path) -> None:
    put(tmp_path, "test.jsonl", "train.jsonl")

    with pytest.raises(DataError, match=r"2 files of rows: test\.jsonl, train\.jsonl\. Pass the"):
        rows_of(tmp_path)


def test_a_folder_with_neither_is_named(tmp_path: Path) -> None:
    put(tmp_path, "notes.txt")

    with pytest.raises(DataError, match=r"neither a file of rows .* nor images"):
        rows_of(tmp_path)
