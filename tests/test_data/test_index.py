"""What is kept of a file in the cache folder so that it is read once: never wrong, never needed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import pytest

from snellen.data import jsonl, row_index, rows_at, sheets, tsv, vlmevalkit_tsv
from snellen.data.row_index import Learnt
from snellen.data.table import facts_of
from snellen.errors import DataError

ROWS = 20_000


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "home"))
    return tmp_path / "home/index"


def written(path: Path, word: str = "first") -> Path:
    """A file of over a megabyte that was last changed a minute ago."""
    line = '{{"id": {}, "text": "{} ' + "x" * 40 + '"}}\n'
    path.write_text("".join(line.format(n, word) for n in range(ROWS)))
    aged(path)
    return path


def aged(path: Path) -> None:
    then = time.time_ns() - 60 * 10**9
    os.utime(path, ns=(then, then))


def kept(cache: Path) -> list[Path]:
    return sorted(cache.iterdir()) if cache.is_dir() else []


def test_a_file_is_read_once(tmp_path: Path, cache: Path) -> None:
    path = written(tmp_path / "a.jsonl")
    first = jsonl(path).facts()
    assert len(kept(cache)) == 1

    # Another file under the same name, size, time and inode: only one who reads it could tell.
    when = path.stat().st_mtime_ns
    path.write_text(path.read_text().replace("first", "other"))
    os.utime(path, ns=(when, when))

    assert jsonl(path).facts() == first


def test_the_index_has_the_rows_own_number_and_digests(tmp_path: Path, cache: Path) -> None:
    path = written(tmp_path / "a.jsonl")
    expected = facts_of(iter(jsonl(path)))

    table = jsonl(path)
    for _ in range(2):
        assert table.facts() == expected
        assert facts_of(iter(table)) == expected
        table = jsonl(path)


@pytest.mark.parametrize("change", ["content", "time", "inode", "longer"])
def test_a_file_that_has_changed_is_read_again(tmp_path: Path, cache: Path, change: str) -> None:
    path = written(tmp_path / "a.jsonl")
    table = jsonl(path)
    table.facts()
    if change == "content":
        path.write_text(path.read_text().replace("first", "other"))
    elif change == "time":
        path.write_text(path.read_text().replace("first", "other"))
        os.utime(path, ns=(1, 1))
    elif change == "inode":
        when = path.stat().st_mtime_ns
        written(tmp_path / "new", "other").replace(path)
        os.utime(path, ns=(when, when))
    else:
        when = path.stat().st_mtime_ns
        with path.open("a") as file:
            file.write('{"id": -1}\n')
        os.utime(path, ns=(when, when))

    expected = facts_of(iter(jsonl(path)))
    assert table.facts() == jsonl(path).facts() == expected


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:100],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: b"x" + data[1:],
        lambda data: data[:1_000] + b"\0" + data[1_001:],
        lambda data: data[36:],
        lambda data: data.replace(b'"format":1', b'"format":9'),
        lambda data: data.replace(b'"rows":', b'"sows":'),
        lambda data: b"SQLite format 3\0" * 1_000,
    ],
)
def test_an_index_that_is_not_whole_is_made_anew(
    tmp_path: Path, cache: Path, damage: Callable[[bytes], bytes]
) -> None:
    path = written(tmp_path / "a.jsonl")
    facts = jsonl(path).facts()
    (index,) = kept(cache)
    full = index.read_bytes()
    index.write_bytes(damage(full))

    table = jsonl(path)
    assert table.facts() == facts
    assert [row["id"] for row in rows_at(table, [0, ROWS - 1])] == [0, ROWS - 1]
    assert kept(cache) == [index]
    assert index.read_bytes() == full


def test_the_index_of_another_file_is_not_taken(tmp_path: Path, cache: Path) -> None:
    item, other = written(tmp_path / "a.jsonl"), written(tmp_path / "b.jsonl", "other")
    facts = jsonl(other).facts()
    (index_of_other,) = kept(cache)
    jsonl(item).facts()
    (index,) = set(kept(cache)) - {index_of_other}
    index_of_other.write_bytes(index.read_bytes())

    assert jsonl(other).facts() == facts


def test_without_a_place_for_it_all_is_read_all_the_same(tmp_path: Path, cache: Path) -> None:
    path = written(tmp_path / "a.jsonl")
    cache.parent.write_text("a file where the folder would be")

    table = jsonl(path)
    assert table.facts() == facts_of(iter(jsonl(path)))
    assert [row["id"] for row in rows_at(table, [7])] == [7]


def test_a_cache_that_is_cleared_meanwhile_is_not_missed(tmp_path: Path, cache: Path) -> None:
    table = jsonl(written(tmp_path / "a.jsonl"))
    facts = table.facts()
    for index in kept(cache):
        index.unlink()

    assert facts_of(iter(table)) == facts
    assert [row["id"] for row in rows_at(table, [7])] == [7]


KILLED = """
import os, signal, sys
from pathlib import Path
from snellen.data import jsonl

def killing(happens, given):
    if happens == "os.rename" and "/index/" in str(given[1]):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(killing)
jsonl(Path(sys.argv[1])).facts()
"""


def test_what_a_killed_process_left_goes_after_a_day(tmp_path: Path, cache: Path) -> None:
    path = written(tmp_path / "a.jsonl")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)])
    assert killed.returncode == -signal.SIGKILL
    (left,) = kept(cache)

    jsonl(path).facts()  # that process may be at it still, for all that is known
    assert left in kept(cache)

    before = time.time() - 2 * 24 * 3600
    os.utime(left, (before, before))
    jsonl(written(tmp_path / "b.jsonl")).facts()
    assert left not in kept(cache)
    assert len(kept(cache)) == 2


def test_a_small_file_leaves_nothing_in_the_cache(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1}\n')
    aged(path)
    jsonl(path).facts()

    assert kept(cache) == []


def test_a_file_that_was_changed_just_now_is_not_trusted_to_stay(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_index, "SETTLED", 3_600 * 10**9)
    path = written(tmp_path / "a.jsonl")

    table = jsonl(path)
    assert table.facts().rows == ROWS
    assert kept(cache) == []
    assert [row["id"] for row in rows_at(table, [7])] == [7]


def test_a_fault_in_the_rows_leaves_nothing_in_the_cache(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("id\tx\n" + f"1\t{'x' * 60}\n" * ROWS + "2\n")
    aged(path)

    with pytest.raises(DataError, match="line 20002"):
        tsv(path).facts()
    assert kept(cache) == []


def test_a_sheet_and_one_with_pictures_are_kept_apart(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("index\timage\n" + "".join(f"{n}\t{'QUJD' * 100}\n" for n in range(3_000)))
    aged(path)

    assert tsv(path).facts() == vlmevalkit_tsv(path).facts()
    assert len(kept(cache)) == 2
    assert isinstance(next(rows_at(tsv(path), [5]))["image"], str)
    assert isinstance(next(rows_at(vlmevalkit_tsv(path), [5]))["image"], tuple)


def test_long_and_short_rows_have_the_digests_of_their_own_bytes(tmp_path: Path) -> None:
    cells = ["y" * (30_000 if n % 7 < 2 else 3) + str(n) for n in range(1_500)]
    path = tmp_path / "t.tsv"
    path.write_text("id\ttext\n" + "".join(f"{n}\t{cell}\n" for n, cell in enumerate(cells)))
    index = tsv(path).index()
    rows = [f"{n}\t{cell}".encode() for n, cell in enumerate(cells)]
    assert list(index.digests()) == [
        blake2b(b"id\ttext" + row, digest_size=16).digest() for row in rows
    ]
    assert [entry.length for entry in index] == list(map(len, rows))


def test_a_file_that_is_cut_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheets, "AHEAD", 1)
    monkeypatch.setattr(sheets, "HASHED_AT_ONCE", 1)
    path = tmp_path / "t.tsv"
    path.write_text("id\ttext\n" + "".join(f"{n}\t{'y' * 8_000}\n" for n in range(10)))
    entries = tsv(path)._scan(path, Learnt())
    next(entries)
    os.truncate(path, 0)
    with pytest.raises(DataError, match="became shorter while it was read"):
        list(entries)
