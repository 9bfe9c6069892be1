"""Whether the rows that a benchmark reads are the published rows of its split."""

from hashlib import sha256
from pathlib import Path

import pytest

from snellen import registry
from snellen.data import find
from snellen.data.locations import File
from snellen.data.mismatches import is_mismatch
from snellen.data.verification import mismatch
from snellen.run.data_notes import size_notes

MINI = b'{"1": {"question": "one"}}'
PUBLISHED = (
    File(name="data/mini.json", url="", sha256=sha256(MINI).hexdigest(), size=len(MINI)),
    File(name="test.json", url=""),
)


def note(path: Path, content: bytes, names: tuple[str, ...]) -> str | None:
    path.write_bytes(content)
    return mismatch(find(path, "bench", names, PUBLISHED))


def test_the_published_file_of_the_split_needs_no_note_under_any_name(tmp_path: Path) -> None:
    assert note(tmp_path / "mini.json", MINI, ("mini.json",)) is None
    assert note(tmp_path / "renamed.json", MINI, ("mini.json",)) is None


@pytest.mark.parametrize("name", ["mini.json", "test.json", "renamed.json"])
def test_the_published_file_of_another_split_is_noted_under_any_name(
    tmp_path: Path, name: str
) -> None:
    text = note(tmp_path / name, MINI, ("test.json",))

    assert text is not None and is_mismatch(text)
    expected = "is not the published test.json: it is the published data/mini.json"
    assert text == f"{tmp_path / name} {expected}"


def test_other_rows_are_noted_under_the_name_of_another_split_and_of_no_split(
    tmp_path: Path,
) -> None:
    for name in ("mini.json", "mine.json"):
        text = note(tmp_path / name, b"{}", ("test.json",))
        assert text is not None and is_mismatch(text)
        assert "has another name than the published files of bench (test.json)" in text


def test_a_file_without_a_published_digest_is_taken_by_its_name(tmp_path: Path) -> None:
    assert note(tmp_path / "test.json", b"{}", ("test.json",)) is None


def test_a_name_is_checked_if_no_file_is_published(tmp_path: Path) -> None:
    (tmp_path / "val.json").write_bytes(b"{}")
    text = mismatch(find(tmp_path / "val.json", "bench", ("test.json",)))
    assert text is not None and "another name than the published files of bench" in text
    assert mismatch(find(tmp_path / "val.json", "bench", ("val.json",))) is None


def test_rows_beyond_the_number_of_the_split_are_noted(tmp_path: Path) -> None:
    rows = ", ".join(f'"{n}": {{}}' for n in range(1_001))
    (tmp_path / "testmini.json").write_text(f"{{{rows}}}")
    benchmark = registry.benchmark("mathvista", data=tmp_path)

    (text,) = size_notes(benchmark, benchmark.data.facts().rows)
    assert is_mismatch(text)
    assert "the data have 1,001 questions, but mathvista with these options has 1,000" in text
    assert size_notes(benchmark, 1_000) == []
