"""Rows of parquet files, as they are on Hugging Face's hub."""

import datetime
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from snellen.data import parquet, rows_at, rows_of
from snellen.data.parquet_files import Parquet
from snellen.data.table import facts_of
from snellen.errors import DataError, MediaError, install
from snellen.media.content import Image
from snellen.media.images import load

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = None

needs_pyarrow = pytest.mark.skipif(pa is None, reason="needs pyarrow, of the extra `parquet`")


def write(path: Path, rows: Sequence[Mapping[str, Any]], group: int = 2) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=group)
    return path


def seen(data: bytes | None, path: str | None = None) -> dict[str, Any]:
    """A picture, as Hugging Face's Image feature has it."""
    return {"bytes": data, "path": path}


@needs_pyarrow
def test_rows_come_in_order_with_their_places(tmp_path: Path) -> None:
    rows = [{"id": n, "choices": ["a", "b"], "hint": None} for n in range(5)]
    table = rows_of(write(tmp_path / "a.parquet", rows))

    assert [dict(row) for row in table] == rows
    assert [row.position for row in table] == [0, 1, 2, 3, 4]


@needs_pyarrow
def test_pictures_are_images_of_their_rows_bytes(tmp_path: Path) -> None:
    rows: list[Mapping[str, Any]] = [
        {"image": seen(b"one", "1.png"), "images": [seen(b"two"), seen(b"three")]},
        {"image": None, "images": []},
        {"image": seen(None, "4.png"), "images": [seen(b"five")]},
    ]

    first, second, third = parquet(write(tmp_path / "a.parquet", rows))

    assert first["image"] == Image(b"one", "row 1 of a.parquet, image")
    assert first["images"] == (
        Image(b"two", "row 1 of a.parquet, images 1"),
        Image(b"three", "row 1 of a.parquet, images 2"),
    )
    assert (second["image"], second["images"]) == (None, [])
    assert third["image"] == Image(tmp_path / "4.png", "4.png", within=tmp_path)


@needs_pyarrow
def test_a_path_in_a_row_may_not_leave_the_folder(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", [{"image": seen(None, "../../etc/hostname")}])

    with pytest.raises(MediaError, match="outside"):
        load(next(iter(parquet(path)))["image"])


@needs_pyarrow
def test_digests_depend_on_the_row_alone(tmp_path: Path) -> None:
    rows = [
        {
            "id": n,
            "image": seen(bytes([n])),
            "at": datetime.datetime(2024, 1, n + 1),
            "x": Decimal(n),
        }
        for n in range(6)
    ]
    table = parquet(write(tmp_path / "one.parquet", rows, group=6))
    other = parquet(write(tmp_path / "other.parquet", rows[::-1], group=1))

    assert [row.digest for row in table] == [row.digest for row in other][::-1]
    assert len({row.digest for row in table}) == 6
    assert table.facts() == facts_of(iter(table))
    assert table.facts() != other.facts()


@needs_pyarrow
def test_the_bytes_of_a_picture_are_in_the_digest(tmp_path: Path) -> None:
    table = parquet(write(tmp_path / "one.parquet", [{"image": seen(b"one")}]))
    other = parquet(write(tmp_path / "other.parquet", [{"image": seen(b"two")}]))

    assert table.facts() != other.facts()


@needs_pyarrow
def test_the_parts_of_one_set_are_one_table(tmp_path: Path) -> None:
    rows = [{"id": n} for n in range(9)]
    table = parquet(write(tmp_path / "whole.parquet", rows))
    for n in range(3):
        write(tmp_path / f"data/test-0000{n}-of-00003.parquet", rows[3 * n : 3 * n + 3])
    parts = rows_of(tmp_path / "data")

    assert [row["id"] for row in parts] == list(range(9))
    assert [row.position for row in parts] == list(range(9))
    assert parts.facts() == table.facts()
    assert [row["id"] for row in rows_at(parts, [8, 0, 4])] == [0, 4, 8]
    with pytest.raises(IndexError):
        list(rows_at(parts, [9]))


@needs_pyarrow
def test_a_missing_part_is_named(tmp_path: Path) -> None:
    write(tmp_path / "test-00000-of-00003-0123abcd.parquet", [{"id": 1}])
    write(tmp_path / "test-00002-of-00003-4567cdef.parquet", [{"id": 1}])

    with pytest.raises(DataError, match=r"2 of the 3 parts of test: test-00001-of-00003\.parquet"):
        list(parquet(tmp_path))


@needs_pyarrow
def test_of_several_sets_one_must_be_named(tmp_path: Path) -> None:
    write(tmp_path / "test-00000-of-00001.parquet", [{"id": "test"}])
    write(tmp_path / "train-00000-of-00001.parquet", [{"id": "train"}])

    with pytest.raises(DataError, match="2 data sets: test, train"):
        list(parquet(tmp_path))


@needs_pyarrow
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ["test", "test-00000-of-00002", "test-00001-of-00002"],
            "test-00000-of-00002.parquet and test.parquet",
        ),
        (
            ["test-00000-of-00001", "test-00000-of-00002", "test-00001-of-00002"],
            "test-00000-of-00001.parquet and test-00000-of-00002.parquet",
        ),
        (
            ["test-00000-of-00001-0123abcd", "test-00000-of-00001-4567cdef"],
            "test-00000-of-00001-0123abcd.parquet and test-00000-of-00001-4567cdef.parquet",
        ),
    ],
)
def test_two_sets_of_the_same_rows_are_not_mixed(
    tmp_path: Path, names: list[str], message: str
) -> None:
    for name in names:
        write(tmp_path / f"{name}.parquet", [{"id": 1}])

    with pytest.raises(DataError) as caught:
        list(parquet(tmp_path))
    assert (
        str(caught.value)
        == f"{tmp_path} has two versions of test, with {message}. Delete the files of one version."
    )


@needs_pyarrow
@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: b"id\n1\n", "cannot be read as parquet"),
        (lambda data: data[: len(data) // 2], "cannot be read as parquet"),
        (lambda data: data[:20] + b"\xff" * 200 + data[220:], "cannot be read as parquet"),
        (lambda data: b"", "cannot be read as parquet"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, damage: Callable[[bytes], bytes], words: str
) -> None:
    path = write(tmp_path / "a.parquet", [{"image": seen(bytes(range(256)) * 400)}] * 4)
    path.write_bytes(damage(path.read_bytes()))

    for read in (list, Parquet.facts):
        with pytest.raises(DataError, match=rf"a\.parquet {words}"):
            read(parquet(path))


@needs_pyarrow
def test_a_missing_file_and_one_without_rows_are_named(tmp_path: Path) -> None:
    for read in (list, Parquet.facts):
        with pytest.raises(DataError, match=r"b\.parquet cannot be opened: No such file"):
            read(parquet(tmp_path / "b.parquet"))
        with pytest.raises(DataError, match=r"a\.parquet has no rows"):
            read(parquet(write(tmp_path / "a.parquet", [])))


def test_without_the_extra_its_name_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")

    with pytest.raises(DataError, match=re.escape(install("parquet"))):
        list(parquet(tmp_path / "a.parquet"))
