"""Where files are looked for, and where paths in their rows start from."""

from pathlib import Path

import pytest

from snellen.data import find, jsonl
from snellen.data.published import File
from snellen.errors import DataError, MediaError
from snellen.home import home
from snellen.media import images

NAMES = ["test.jsonl", "annotations.jsonl", "data/test.jsonl"]


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b'{"image": "images/1.jpg"}\n')
    return path


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without data, and a cache folder in it."""
    folder = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("SNELLEN_HOME", str(folder / "home"))
    monkeypatch.delenv("LMUData", raising=False)
    return folder


def test_the_first_name_that_is_there_is_taken(tmp_path: Path) -> None:
    put(tmp_path / "data/test.jsonl")
    second = put(tmp_path / "annotations.jsonl")

    assert find(tmp_path, "mathvision", NAMES).path == second


def test_a_file_that_the_user_names_is_taken_whatever_its_name(tmp_path: Path) -> None:
    mine = put(tmp_path / "mine.jsonl")

    assert find(mine, "mathvision", NAMES).path == mine


def test_without_a_folder_the_cache_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path))
    cached = put(tmp_path / "data/mathvision/test.jsonl")

    assert find(None, "mathvision", NAMES).path == cached


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"SNELLEN_HOME": "/a", "XDG_CACHE_HOME": "/b"}, "/a"),
        ({"XDG_CACHE_HOME": "/b"}, "/b/snellen"),
        ({"HOME": "/c"}, "/c/.cache/snellen"),
    ],
)
def test_the_cache_folder_is_ours_else_the_platforms(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for variable in ("SNELLEN_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)

    assert str(home()) == expected


def test_nothing_is_looked_for_before_it_is_needed(tmp_path: Path) -> None:
    table = jsonl(find(tmp_path, "mathvision", NAMES))
    put(tmp_path / "test.jsonl")

    assert len(list(table)) == 1


@pytest.mark.parametrize("published", [True, False])
def test_what_is_missing_is_said_with_all_places_and_what_to_do(
    elsewhere: Path, published: bool
) -> None:
    files = [File(name="test.jsonl", url="https://example.org/test.jsonl")] if published else []
    with pytest.raises(DataError) as error:
        list(jsonl(find(None, "mathvision", NAMES, files)))

    get = "Get it with `snellen data get mathvision`. " if published else ""
    assert str(error.value) == (
        "mathvision: no test.jsonl or annotations.jsonl or data/test.jsonl in "
        f"{elsewhere}/home/data/mathvision. {get}"
        "If you have it elsewhere, pass the file or its folder as --data PATH."
    )


def test_vlmevalkits_folder_is_named_where_it_is_searched(elsewhere: Path) -> None:
    with pytest.raises(DataError) as error:
        assert find(None, "mmbench", ["MMBench.tsv"]).path

    assert f"/home/data/mmbench, nor in {elsewhere}/LMUData. " in str(error.value)


def test_a_spreadsheet_is_not_read_as_rows(tmp_path: Path) -> None:
    sheet = put(tmp_path / "m_MMStar.xlsx")

    with pytest.raises(DataError, match=r"is a spreadsheet.*own file \(MMStar\.tsv\)"):
        assert find(sheet, "vlmevalkit", ["MMStar.tsv"]).path


def test_what_is_not_in_the_cache_is_looked_for_where_vlmevalkit_puts_it(elsewhere: Path) -> None:
    theirs = put(elsewhere / "LMUData/MMBench.tsv")
    assert find(None, "mmbench", ["MMBench.tsv"]).path == theirs

    cached = put(elsewhere / "home/data/mmbench/MMBench.tsv")
    assert find(None, "mmbench", ["MMBench.tsv"]).path == cached


def test_a_folder_that_is_named_is_the_only_one_that_is_searched(
    tmp_path: Path, elsewhere: Path
) -> None:
    put(elsewhere / "home/data/mmbench/MMBench.tsv")
    with pytest.raises(DataError, match=f"no MMBench.tsv in {tmp_path}. "):
        assert find(tmp_path, "mmbench", ["MMBench.tsv"]).path

    mine = put(tmp_path / "MMBench.tsv")
    assert find(tmp_path, "mmbench", ["MMBench.tsv"]).path == mine


def test_vlmevalkits_folder_is_the_one_it_is_told_where_that_is_one(
    tmp_path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = put(elsewhere / "LMUData/a.tsv")
    name = put(tmp_path / "lmu/a.tsv")

    monkeypatch.setenv("LMUData", str(tmp_path / "lmu"))
    assert find(None, "x", ["a.tsv"]).path == name

    monkeypatch.setenv("LMUData", str(tmp_path / "nowhere"))
    assert find(None, "x", ["a.tsv"]).path == theirs


def test_a_name_that_says_nothing_is_not_taken_from_a_folder_of_all_data_sets(
    elsewhere: Path,
) -> None:
    put(elsewhere / "LMUData/test.jsonl")

    with pytest.raises(DataError):
        assert find(None, "mathvision", NAMES).path


def test_vlmevalkits_folder_is_searched_for_all_names_where_it_is_named(elsewhere: Path) -> None:
    there = put(elsewhere / "LMUData/test.jsonl")

    assert find(elsewhere / "LMUData", "mathvision", NAMES).path == there


def test_a_missing_folder_is_said_to_be_missing_whatever_is_elsewhere(
    tmp_path: Path, elsewhere: Path
) -> None:
    put(elsewhere / "home/data/mathvision/test.jsonl")

    with pytest.raises(DataError, match="nowhere does not exist"):
        assert find(tmp_path / "nowhere", "mathvision", NAMES).path


@pytest.mark.parametrize("rows", ["test.jsonl", "data/test.jsonl"])
@pytest.mark.parametrize("has_names", [False, True])
def test_images_are_named_relative_to_where_the_names_start(
    tmp_path: Path, rows: str, has_names: bool
) -> None:
    path = put(tmp_path / rows)

    image = find(path if has_names else tmp_path, "mathvision", NAMES).image("images/1.jpg")

    assert image.source == tmp_path / "images/1.jpg"
    assert image.label == "images/1.jpg"


def test_an_image_cannot_be_named_outside_the_folder(tmp_path: Path) -> None:
    put(tmp_path / "data" / "test.jsonl")
    (tmp_path / "secret.jpg").write_bytes(b"\xff\xd8\xff")

    with pytest.raises(MediaError, match="outside the folder of the data"):
        images.load(find(tmp_path / "data", "x", ["test.jsonl"]).image("../secret.jpg"))
