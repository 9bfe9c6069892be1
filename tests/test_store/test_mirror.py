"""Addresses of object stores, and the folders that mirror them."""

import os
from pathlib import Path

import pytest

from snellen.errors import UsageError
from snellen.store import Mirror, is_address, mirror


def test_a_mirror_is_opened_here_and_named_there(tmp_path: Path) -> None:
    actual = mirror("s3://bucket/runs//one/", tmp_path)
    assert isinstance(actual, Mirror)
    assert os.fspath(actual) == f"{tmp_path}/s3:/bucket/runs/one"
    assert f"{actual}" == "s3://bucket/runs/one"


def test_what_is_made_from_a_mirror_is_one(tmp_path: Path) -> None:
    actual = mirror("s3://bucket/runs", tmp_path)
    assert actual is not None
    (actual / "a" / "b").mkdir(parents=True)
    (actual / "a" / "b" / "manifest.json").touch()
    mirrors = [
        actual / "a",
        (actual / "a").parent,
        actual.resolve(),
        *actual.glob("*/*/manifest.json"),
        *actual.rglob("b"),
        *actual.iterdir(),
        (actual / "a" / "b.json").with_name("c"),
    ]
    assert all(isinstance(path, Mirror) for path in mirrors)
    assert f"{next(actual.glob('*/*/manifest.json'))}" == "s3://bucket/runs/a/b/manifest.json"


@pytest.mark.parametrize("location", ["runs", "/runs", "a:b", "C:/runs", "http://a/b", "s3x://a"])
def test_a_path_of_this_machine_has_no_mirror(tmp_path: Path, location: str) -> None:
    assert mirror(location, tmp_path) is None
    assert not is_address(location)


def test_a_path_that_lost_a_slash_is_the_address(tmp_path: Path) -> None:
    assert mirror(Path("s3://bucket/runs"), tmp_path) == mirror("s3://bucket/runs", tmp_path)


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("s3://", "s3:// names no bucket. Write s3://BUCKET/FOLDER."),
        ("s3://b/../../x", "s3://b/../../x: '..' cannot be the name of a folder."),
        ("s3://b/a\nb", "s3://b/a\nb: 'a\\nb' cannot be the name of a folder."),
        (
            "s3://KEY:SECRET@b/x",
            "a s3:// address contains a key or a name before an @. Remove it. s3fs finds "
            "credentials in the environment and in its profile files.",
        ),
    ],
)
def test_an_address_that_cannot_be_read_is_refused(
    tmp_path: Path, location: str, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        mirror(location, tmp_path)
    assert str(caught.value) == message
