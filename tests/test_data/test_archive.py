"""Archives: what is in them comes out under its name, and nothing leaves the folder."""

import asyncio
import gzip
import io
import os
import signal
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from snellen.data import archive as _archive
from snellen.data import file_records, published, verification
from snellen.data.archive import Member, unpack
from snellen.data.published import File
from snellen.errors import DataError
from tests.servers_download import Served, serving_files

MEMBERS = {"images/1.jpg": b"one", "images/deep/2.jpg": b"two" * 1000, "rows.tsv": b"a\tb\n"}


def zipped(members: dict[str, bytes], path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def tarred(members: dict[str, bytes], path: Path, mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def tar_of(path: Path, *entries: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w") as archive:
        for entry in entries:
            archive.addfile(entry, io.BytesIO(b"x" * entry.size))
    return path


def entry(
    name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0
) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.size = kind, link, size
    return member


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def refused(archive: Path, folder: Path) -> str:
    """What is said; nothing may be there afterwards."""
    with pytest.raises(DataError) as caught:
        unpack([archive], folder)
    assert list(folder.iterdir()) == []
    assert {path.name for path in folder.parent.iterdir()} == {"data", archive.name}
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.zip", zipped),
        ("a.tar", tarred),
        ("a.tar.gz", lambda members, path: tarred(members, path, "w:gz")),
        ("a.tar.bz2", lambda members, path: tarred(members, path, "w:bz2")),
        ("a.tar.xz", lambda members, path: tarred(members, path, "w:xz")),
    ],
)
def test_members_keep_their_names_and_bytes(
    tmp_path: Path, folder: Path, name: str, make: Callable[[dict[str, bytes], Path], Path]
) -> None:
    unpacked = unpack([make(MEMBERS, tmp_path / name)], folder)

    assert files(folder) == MEMBERS
    assert unpacked == {
        name: Member(len(data), sha256(data).hexdigest()) for name, data in MEMBERS.items()
    }


def test_a_tar_with_a_zip_at_its_end_is_a_tar(tmp_path: Path, folder: Path) -> None:
    inner = zipped({"x": b"x"}, tmp_path / "inner.zip").read_bytes()
    unpack([tarred({"a": b"a", "inner.zip": inner}, tmp_path / "a.tar")], folder)

    assert set(files(folder)) == {"a", "inner.zip"}


@pytest.mark.parametrize("size", [7, 100, 1000, 10**6])
def test_parts_are_read_as_one_whatever_their_size(tmp_path: Path, folder: Path, size: int) -> None:
    members = {"a": os.urandom(1500), "b": b"b" * 9000}
    data = zipped(members, tmp_path / "a.zip").read_bytes()
    parts = []
    for start in range(0, len(data), size):
        parts.append(tmp_path / f"a.zip.{start}")
        parts[-1].write_bytes(data[start : start + size])
    unpack(parts, folder)

    assert files(folder) == members


def test_a_member_replaces_what_lay_there(tmp_path: Path, folder: Path) -> None:
    (folder / "rows.tsv").write_bytes(b"older")
    unpack([zipped(MEMBERS, tmp_path / "a.zip")], folder)

    assert files(folder) == MEMBERS


def test_a_member_cannot_replace_what_is_kept(tmp_path: Path, folder: Path) -> None:
    (folder / "files.json").write_bytes(b"{}")
    archive = zipped({"a": b"a", "./files.json": b"evil"}, tmp_path / "a.zip")
    with pytest.raises(DataError, match=r"its member 'files\.json' would replace an existing file"):
        unpack([archive], folder, kept={"files.json"})

    assert files(folder) == {"files.json": b"{}"}


@pytest.mark.parametrize("make", [zipped, tarred])
@pytest.mark.parametrize(
    "name",
    ["../evil", "a/../../evil", "/evil", "//evil", "a/../evil", ".."],
)
def test_a_path_that_climbs_out_is_refused(
    tmp_path: Path, folder: Path, name: str, make: Callable[[dict[str, bytes], Path], Path]
) -> None:
    message = refused(make({"good": b"good", name: b"evil"}, tmp_path / "a"), folder)

    assert message == f"a: its member {name!r} would be outside the folder"


def link_zip(path: Path, name: str, target: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        member = zipfile.ZipInfo(name)
        member.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(member, target)
        archive.writestr(f"{name}/evil", b"evil")
    return path


@pytest.mark.parametrize("target", ["..", "../..", "/etc", "deep/../..", "nowhere"])
@pytest.mark.parametrize("kind", ["zip", "symbolic", "hard"])
def test_a_link_to_what_is_no_member_is_refused(
    tmp_path: Path, folder: Path, target: str, kind: str
) -> None:
    path = tmp_path / "a"
    if kind == "zip":
        link_zip(path, "link", target)
    else:
        type_ = tarfile.SYMTYPE if kind == "symbolic" else tarfile.LNKTYPE
        tar_of(path, entry("link", type_, target), entry("link/evil", size=4))

    message = refused(path, folder)

    assert "would be outside the folder" in message or "is a link to" in message


def test_a_link_to_a_member_becomes_that_file(tmp_path: Path, folder: Path) -> None:
    entries = [
        entry("d/a", size=3),
        entry("d/soft", tarfile.SYMTYPE, "a"),
        entry("hard", tarfile.LNKTYPE, "d/a"),
        entry("d/up", tarfile.SYMTYPE, "../hard"),
    ]
    unpacked = unpack([tar_of(tmp_path / "a.tar", *entries)], folder)

    assert files(folder) == dict.fromkeys(("d/a", "d/soft", "hard", "d/up"), b"xxx")
    assert not any(path.is_symlink() for path in folder.rglob("*"))
    assert set(unpacked) == set(files(folder))


def test_a_file_that_comes_twice_changes_no_file_that_was_linked_to_it(
    tmp_path: Path, folder: Path
) -> None:
    entries = [entry("a", size=3), entry("b", tarfile.LNKTYPE, "a"), entry("a", size=5)]
    unpack([tar_of(tmp_path / "a.tar", *entries)], folder)

    assert files(folder) == {"a": b"xxxxx", "b": b"xxx"}


@pytest.mark.parametrize("kind", [tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE])
def test_what_is_neither_a_file_nor_a_folder_is_refused(
    tmp_path: Path, folder: Path, kind: bytes
) -> None:
    message = refused(tar_of(tmp_path / "a.tar", entry("pipe", kind)), folder)

    assert message == "a.tar: 'pipe' is neither a file nor a folder"


def bomb(path: Path, size: int) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("z", "w") as out:
        for _ in range(size >> 20):
            out.write(bytes(1 << 20))
    return path


def test_a_bomb_that_says_what_it_is_writes_nothing(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_archive, "AND_BYTES", 1 << 20)
    wrote: list[int] = []
    with pytest.raises(DataError, match=r"unpacks to more than .* bytes \(20 times its size"):
        unpack([bomb(tmp_path / "a.zip", 8 << 20)], folder, came=wrote.append)

    assert wrote == []


@pytest.mark.parametrize("mode", ["w:gz", "w:xz"])
def test_a_bomb_that_does_not_say_stops_at_the_limit(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(_archive, "AND_BYTES", 1 << 20)
    archive = tarred({f"{n}": bytes(1 << 20) for n in range(8)}, tmp_path / "a", mode)
    wrote: list[int] = []
    with pytest.raises(DataError, match="unpacks to more than"):
        unpack([archive], folder, came=wrote.append)

    assert sum(wrote) <= (1 << 20) + 20 * archive.stat().st_size
    assert files(folder) == {}


def test_more_members_than_anybody_needs_are_refused(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_archive, "MOST_ENTRIES", 2)

    assert "more than 2 members" in refused(zipped(MEMBERS, tmp_path / "a.zip"), folder)


@pytest.mark.parametrize("make", [zipped, tarred])
def test_a_thousand_folders_in_each_other_are_refused(
    tmp_path: Path, folder: Path, make: Callable[[dict[str, bytes], Path], Path]
) -> None:
    message = refused(make({"d/" * 1000 + "f": b"x"}, tmp_path / "a"), folder)

    assert "is 1,001 folders deep" in message
    assert len(message) < 200


def test_a_name_too_long_for_a_disk_is_refused(tmp_path: Path, folder: Path) -> None:
    message = refused(zipped({"é" * 200: b"x"}, tmp_path / "a.zip"), folder)

    assert "has a name of 400 bytes" in message


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path, folder: Path) -> None:
    message = refused(tarred({"caf\udce9.jpg": b"x"}, tmp_path / "a.tar"), folder)

    assert "has a name that is not UTF-8" in message


def test_an_encrypted_archive_is_said_to_be_one(tmp_path: Path, folder: Path) -> None:
    archive = zipped({"a": b"secret"}, tmp_path / "a.zip")
    raw = bytearray(archive.read_bytes())
    # The first bit of the flags, in the local header and in the directory (APPNOTE 4.4.4).
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(mark) + at] |= 1
    archive.write_bytes(raw)

    assert refused(archive, folder) == (
        "a.zip: 'a' is encrypted. Unpack it with the password from its publishers"
    )


@pytest.mark.parametrize("keep", [0, 1, 0.5, 0.9])
@pytest.mark.parametrize("mode", ["zip", "w", "w:gz", "w:bz2", "w:xz"])
def test_an_archive_that_is_cut_off_is_said_to_be_broken(
    tmp_path: Path, folder: Path, mode: str, keep: float
) -> None:
    members = {"a": os.urandom(50_000), "b": os.urandom(50_000)}
    path = tmp_path / "a"
    data = (zipped(members, path) if mode == "zip" else tarred(members, path, mode)).read_bytes()
    path.write_bytes(data[: int(len(data) * keep) if keep != 1 else 1])

    assert "a cannot be unpacked: " in refused(path, folder)


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["tar", "tar.gz"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda raw, header: raw[:header],
        lambda raw, header: raw[: header + 100],
        lambda raw, header: raw[:header] + b"?" + raw[header + 1 :],
    ],
    ids=["cut before it", "cut in it", "changed"],
)
def test_a_tar_whose_second_header_is_not_whole_is_broken(
    tmp_path: Path,
    folder: Path,
    damage: Callable[[bytes, int], bytes],
    packed: Callable[[bytes], bytes],
) -> None:
    path = tarred({"a": b"a" * 600, "b": b"b"}, tmp_path / "a")
    # A header and two blocks of content are before it, of 512 bytes each.
    path.write_bytes(packed(damage(path.read_bytes(), 1536)))

    assert "a cannot be unpacked: " in refused(path, folder)


def test_a_packed_tar_is_compared_with_its_own_digest(tmp_path: Path, folder: Path) -> None:
    path = tarred(MEMBERS, tmp_path / "a", "w:gz")
    raw = bytearray(path.read_bytes())
    raw[-8] ^= 1  # the CRC-32 is in the eight last bytes (RFC 1952)
    path.write_bytes(raw)

    assert "a cannot be unpacked: CRC check failed" in refused(path, folder)


def test_a_damaged_member_is_found(tmp_path: Path, folder: Path) -> None:
    archive = zipped({"a": os.urandom(5000)}, tmp_path / "a.zip")
    raw = bytearray(archive.read_bytes())
    raw[2500] ^= 1
    archive.write_bytes(raw)

    assert "cannot be unpacked: Bad CRC-32" in refused(archive, folder)


# -- fetched and unpacked


def get(files: Sequence[File], folder: Path) -> list[file_records.Known]:
    return asyncio.run(published.get(files, folder, again="snellen data get mine", pause=0.0))


def test_a_fetched_archive_goes_once_it_is_unpacked_and_is_not_fetched_again(
    tmp_path: Path, folder: Path
) -> None:
    body = zipped(MEMBERS, tmp_path / "a.zip").read_bytes()
    with serving_files({"/a.zip": Served(body)}) as server:
        file = File(name="a.zip", url=f"{server.url}/a.zip", unpack=True)
        [record] = get([file], folder)
        get([file], folder)
        assert len(server.requests) == 1
        (folder / "rows.tsv").unlink()
        get([file], folder)

    assert {name for name in files(folder) if name not in (".lock", "files.json")} == set(MEMBERS)
    assert record.members["images/1.jpg"] == (3, sha256(b"one").hexdigest())
    assert len(server.requests) == 2


def test_an_archive_that_was_put_there_by_hand_stays(tmp_path: Path, folder: Path) -> None:
    zipped(MEMBERS, folder / "a.zip")
    get([File(name="a.zip", url="http://127.0.0.1:1/a.zip", unpack=True)], folder)

    assert {*MEMBERS, "a.zip"} <= set(files(folder))


@pytest.mark.parametrize(
    "names",
    [
        [f"a.zip.part{n}" for n in range(1, 12)],
        [f"a.tar.gz.{n:03}" for n in range(1, 12)],
        [f"a.tar.a{letter}" for letter in "abcdefghijk"],
        [f"a.zip.part_a{letter}" for letter in "abcdefghijk"],
    ],
)
def test_the_parts_of_an_archive_are_fetched_and_unpacked_as_one(
    tmp_path: Path, folder: Path, names: list[str]
) -> None:
    full = tmp_path / "whole"
    mode = "w:gz" if ".gz." in names[0] else "w"
    archive = zipped(MEMBERS, full) if ".zip" in names[0] else tarred(MEMBERS, full, mode)
    body = archive.read_bytes()
    step = -(-len(body) // 11)
    served = {f"/{name}": Served(body[n * step : (n + 1) * step]) for n, name in enumerate(names)}
    with serving_files(served) as server:
        # In the order of a listing, part10 is before part2.
        inputs = [File(name=n, url=f"{server.url}/{n}", unpack=True) for n in sorted(names)]
        get(inputs, folder)
        get(inputs, folder)
        assert len(server.requests) == 11

    assert {name for name in files(folder) if name not in (".lock", "files.json")} == set(MEMBERS)
    assert {fault.state for fault in verification.verify(inputs, (folder, tmp_path))} == {"ok"}


def test_two_archives_of_one_name_are_no_parts() -> None:
    files = [File(name=name, url="x", unpack=True) for name in ("a.tar.gz", "a.tar.xz")]

    assert file_records.only(files, ["a.tar.gz"]) == files[:1]


def test_an_archive_that_cannot_be_unpacked_is_kept_and_said(tmp_path: Path, folder: Path) -> None:
    body = zipped(MEMBERS, tmp_path / "a.zip").read_bytes()[:-30]
    with serving_files({"/a.zip": Served(body)}) as server:
        file = File(name="a.zip", url=f"{server.url}/a.zip", unpack=True)
        with pytest.raises(DataError) as caught:
            get([file], folder)

    text = str(caught.value)
    assert text.startswith("a.zip cannot be unpacked: ")
    assert f"The archive is kept as {folder / 'a.zip'}. Delete it to download it again," in text
    assert f"save {server.url}/a.zip as {folder / 'a.zip'} (no digest is published)" in text


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from snellen.data import published
url, folder, event, end = sys.argv[1:]

def killing(happens, given):
    if happens == event and any(str(one).endswith(end) for one in given):
        os.kill(os.getpid(), signal.SIGKILL)

file = published.File(name="a.zip", url=url, unpack=True)
sys.addaudithook(killing)
asyncio.run(published.get([file], Path(folder), again="again"))
"""


@pytest.mark.parametrize(
    ("event", "end"),
    [
        ("os.rename", "/a.zip"),  # it is whole, and has not its name yet
        ("open", ".a.zip.unpacking/images/2.jpg"),
        ("os.rename", ".a.zip.unpacking/images/2.jpg"),  # one is in its place, the other is not
        ("os.remove", "/a.zip"),  # all are in their places
    ],
)
def test_what_a_killed_process_left_is_ended_by_the_next_and_nothing_is_left_over(
    tmp_path: Path, folder: Path, event: str, end: str
) -> None:
    members = {"images/1.jpg": b"one", "images/2.jpg": b"two", "rows.tsv": b"rows"}
    body = zipped(members, tmp_path / "a.zip").read_bytes()
    with serving_files({"/a.zip": Served(body)}) as server:
        url = f"{server.url}/a.zip"
        killed = subprocess.run([sys.executable, "-c", KILLED, url, str(folder), event, end])
        assert killed.returncode == -signal.SIGKILL
        get([File(name="a.zip", url=url, unpack=True)], folder)

        assert len(server.requests) == 1

    left = {name: data for name, data in files(folder).items() if name in members}
    assert left == members
    assert {path.name for path in folder.iterdir()} == {".lock", "files.json", "images", "rows.tsv"}


@pytest.mark.parametrize("by_hand", [False, True])
def test_an_archive_that_was_not_unpacked_to_its_end_is_not_taken_for_whole(
    tmp_path: Path, folder: Path, by_hand: bool
) -> None:
    body = zipped({"1.jpg": b"one", "2.jpg": b"two"}, tmp_path / "a.zip").read_bytes()
    if by_hand:
        (folder / "a.zip").write_bytes(body)
    with serving_files({"/a.zip": Served(body)}) as server:
        url = f"{server.url}/a.zip"
        event, end = "os.rename", ".a.zip.unpacking/2.jpg"
        subprocess.run([sys.executable, "-c", KILLED, url, str(folder), event, end])

        [checked] = verification.verify([File(name="a.zip", url=url, unpack=True)], [folder])

    assert (folder / "1.jpg").is_file()
    assert checked.state == "wrong"
    assert checked.why == "it was not unpacked completely; run `snellen data get` to unpack it"


def test_an_archive_that_nobody_unpacked_is_not_taken_for_its_members(
    tmp_path: Path, folder: Path
) -> None:
    body = zipped(MEMBERS, folder / "a.zip").read_bytes()
    file = File(name="a.zip", url="x", sha256=sha256(body).hexdigest(), unpack=True)

    assert [fault.state for fault in verification.verify([file], [folder])] == ["wrong"]


def test_members_of_another_revision_are_not_taken_for_those_that_are_published_now(
    tmp_path: Path, folder: Path
) -> None:
    body = zipped(MEMBERS, tmp_path / "a.zip").read_bytes()
    with serving_files({"/1/a.zip": Served(body)}) as server:
        get([File(name="a.zip", url=f"{server.url}/1/a.zip", unpack=True)], folder)
        newer = File(name="a.zip", url=f"{server.url}/2/a.zip", unpack=True)
        [checked] = verification.verify([newer], [folder])

    assert checked.state == "wrong"
    assert checked.why.startswith(
        f"the files unpacked from it are outdated: the archive came from {server.url}/1/a.zip "
        "and may not"
    )


def test_an_archive_of_which_a_part_was_published_since_is_not_whole(
    tmp_path: Path, folder: Path
) -> None:
    body = zipped(MEMBERS, tmp_path / "a.zip").read_bytes()
    with serving_files({"/1": Served(body[:200]), "/2": Served(body[200:])}) as server:
        parts = [File(name=f"a.zip.{n}", url=f"{server.url}/{n}", unpack=True) for n in (1, 2, 3)]
        get(parts[:2], folder)
        checked = verification.verify(parts, [folder])

    assert {member.name: member.state for member in checked} == {
        "a.zip.1": "wrong",
        "a.zip.2": "missing",
        "a.zip.3": "missing",
    }


INTERRUPTED = """
import asyncio, fcntl, os, signal, sys, time
from pathlib import Path
from snellen.data import published
url, folder = sys.argv[1:]

def held():
    with open(Path(folder) / ".lock") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False

def interrupting(happens, given):
    if happens == "os.rename" and str(given[0]).endswith(".unpacking/2.jpg"):
        os.kill(os.getpid(), signal.SIGINT)
        deadline = time.monotonic() + 1
        while held() and time.monotonic() < deadline:
            time.sleep(0.05)
        print("held" if held() else "free", flush=True)

file = published.File(name="a.zip", url=url, unpack=True)
sys.addaudithook(interrupting)
asyncio.run(published.get([file], Path(folder), again="again"))
"""


def test_an_interrupted_unpacking_keeps_others_out_until_it_has_ended(
    tmp_path: Path, folder: Path
) -> None:
    body = zipped({"1.jpg": b"one", "2.jpg": b"two"}, tmp_path / "a.zip").read_bytes()
    with serving_files({"/a.zip": Served(body)}) as server:
        command = [sys.executable, "-c", INTERRUPTED, f"{server.url}/a.zip", str(folder)]
        done = subprocess.run(command, capture_output=True)

    assert b"KeyboardInterrupt" in done.stderr
    assert done.stdout == b"held\n"
