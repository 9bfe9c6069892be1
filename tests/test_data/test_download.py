"""Published files come whole and as published, or the reason is said, and what to do by hand."""

import asyncio
import errno
import fcntl
import io
import json
import os
import resource
import shutil
import ssl
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from snellen.data import file_records, published, verification
from snellen.data.file_records import Known
from snellen.data.published import File
from snellen.errors import DataError, Overloaded, UsageError
from snellen.transport import Downloads
from tests.servers import Answer, refusing, serving
from tests.servers_download import ETAG, ReceivedRequest, Served, in_turn, moved, serving_files
from tests.test_transport import CERTIFICATE

BODY = bytes(range(256)) * 400  # 102,400 bytes
# By `sha256sum` and `md5sum`.
SHA256 = "27783e87963a4efb6829b531c9ba57b44f45797f6770bd637fbf0d807cbdbae0"
MD5 = "44d088cef136d178e9c8ba84c3fdf6ca"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
AGAIN = "snellen data get mine"


class Notices:
    """What was said meanwhile."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, text: str) -> None:
        self.lines.append(text)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def get(*files: File, folder: Path, **settings: Any) -> list[Known]:
    settings = {"again": AGAIN, "pause": 0.0, **settings}
    return asyncio.run(published.get(files, folder, **settings))


def error_of(*files: File, folder: Path, **settings: Any) -> str:
    with pytest.raises(DataError) as caught:
        get(*files, folder=folder, **settings)
    return str(caught.value)


def listed(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "files.json").read_bytes())["files"]  # type: ignore[no-any-return]


def names(folder: Path) -> set[str]:
    """What lies there but for the lock and the list."""
    actual = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return actual - {".lock", "files.json"}


@pytest.fixture(autouse=True)
def no_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HF_ENDPOINT", "HF_HUB_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))


# -- what comes


@pytest.mark.parametrize(
    "digest", [{"sha256": SHA256}, {"md5": MD5}, {"sha256": SHA256.upper()}, {}]
)
def test_a_file_comes_whole_and_is_written_down(tmp_path: Path, digest: dict[str, Any]) -> None:
    with serving_files({"/a.tsv": Served(BODY)}) as server:
        file = File(name="data/a.tsv", url=f"{server.url}/a.tsv", size=len(BODY), **digest)
        get(file, folder=tmp_path)

    assert (tmp_path / "data/a.tsv").read_bytes() == BODY
    assert names(tmp_path) == {"data/a.tsv"}
    [record] = listed(tmp_path)
    assert record.pop("when").startswith("20")
    assert record == {
        "name": "data/a.tsv",
        "url": file.url,
        "size": 102_400,
        "sha256": SHA256,
        **({"md5": MD5} if "md5" in digest else {}),
    }


def test_a_file_that_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    with serving_files({"/a": Served(BODY)}) as server:
        file = File(name="a", url=f"{server.url}/a", md5=MD5)
        get(file, folder=tmp_path)
        get(file, folder=tmp_path)

    assert len(server.requests) == 1


def test_a_file_that_was_put_there_by_hand_is_taken_if_it_is_the_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(BODY)
    get(File(name="a", url="http://127.0.0.1:1/a", md5=MD5), folder=tmp_path)

    assert listed(tmp_path)[0]["sha256"] == SHA256


def test_a_file_that_was_put_there_by_hand_and_is_another_stays_and_is_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "a").write_bytes(b"mine")
    error = error_of(File(name="a", url="http://127.0.0.1:1/a", md5=MD5), folder=tmp_path)

    assert (
        f"{tmp_path / 'a'} (which was not downloaded by Snellen) is not the published file" in error
    )
    assert (tmp_path / "a").read_bytes() == b"mine"


def test_a_file_of_another_revision_is_put_aside_and_fetched(tmp_path: Path) -> None:
    notices = Notices()
    with serving_files({"/1": Served(b"one"), "/2": Served(b"two")}) as server:
        get(File(name="a", url=f"{server.url}/1"), folder=tmp_path)
        get(File(name="a", url=f"{server.url}/2"), folder=tmp_path, say=notices)

    assert (tmp_path / "a").read_bytes() == b"two"
    assert (tmp_path / "a.wrong").read_bytes() == b"one"
    assert "the existing file is not the published one" in notices.text


def test_a_file_of_another_revision_is_verified_by_its_published_digest_alone(
    tmp_path: Path,
) -> None:
    with serving_files({"/1": Served(BODY)}) as server:
        get(File(name="a", url=f"{server.url}/1"), folder=tmp_path)
        files = [
            File(name="a", url=f"{server.url}/2", sha256=SHA256),
            File(name="a", url=f"{server.url}/2"),
        ]
        same, other = (verification.verify([file], [tmp_path])[0] for file in files)

    assert same.state == "ok"
    assert other.state == "wrong"
    assert other.why.startswith(f"it came from {server.url}/1 and may not be the version that is")


def test_another_file_at_the_same_address_without_a_digest_is_said(tmp_path: Path) -> None:
    notices = Notices()
    with serving_files({"/a": in_turn(Served(b"one"), Served(b"two"))}) as server:
        file = File(name="a", url=f"{server.url}/a")
        get(file, folder=tmp_path)
        (tmp_path / "a").unlink()
        get(file, folder=tmp_path, say=notices)

    assert "a: NOT the same file as on 20" in notices.text


def test_four_files_come_at_once_and_no_more(tmp_path: Path) -> None:
    four = threading.Barrier(4)

    def together(request: ReceivedRequest) -> Served:
        four.wait(10)  # broken, and the test with it, where fewer than four are there
        sleep(0.2)  # a fifth would come now
        return Served(BODY)

    files = {f"/{n}": together for n in range(8)}
    with serving_files(files) as server:
        get(*(File(name=str(n), url=f"{server.url}/{n}") for n in range(8)), folder=tmp_path)

    assert server.most == 4
    assert names(tmp_path) == {str(n) for n in range(8)}


def test_of_several_files_those_that_can_be_had_come(tmp_path: Path) -> None:
    with serving_files({"/a": Served(b"a"), "/d": Served(b"d")}) as server:
        files = [File(name=name, url=f"{server.url}/{name}") for name in "abcd"]
        error = error_of(*files, folder=tmp_path)

    assert names(tmp_path) == {"a", "d"}
    assert [line[:2] for line in error.splitlines()] == ["b:", "c:"]


def test_how_far_it_is_is_told_from_the_start_to_the_end(tmp_path: Path) -> None:
    seen = []
    with serving_files({"/a": Served(BODY)}) as server:
        file = File(name="a", url=f"{server.url}/a")
        get(file, folder=tmp_path, report=lambda files: seen.append(replace(files[0])))

    assert (seen[0].done, seen[0].phase) == (0, "waiting")
    assert (seen[-1].done, seen[-1].phase) == (102_400, "there")


# -- what breaks


def test_a_download_that_breaks_off_goes_on_where_it_was(tmp_path: Path) -> None:
    notices = Notices()
    with serving_files({"/a": in_turn(Served(BODY, cut=1000), Served(BODY))}) as server:
        get(File(name="a", url=f"{server.url}/a", sha256=SHA256), folder=tmp_path, say=notices)

    assert server.requests[1].headers["range"] == "bytes=1000-"
    assert server.requests[1].headers["if-range"] == ETAG
    assert (
        "the connection broke in the middle of a reply. Trying again in 0 s; 4 tries left"
        in notices.text
    )


def test_the_next_command_goes_on_where_the_last_one_was(tmp_path: Path) -> None:
    with serving_files({"/a": lambda request: Served(BODY, cut=1000)}) as server:
        error = error_of(File(name="a", url=f"{server.url}/a"), folder=tmp_path)
        assert len(server.requests) == 5
        # Each try brought a thousand bytes more.
        assert "(5 tries). 5,000 bytes are kept. Run `snellen data get mine` to continue" in error
        assert f"save {server.url}/a as {tmp_path / 'a'} (no digest is published)" in error
        port = server.url

    with serving_files({"/a": Served(BODY)}) as server:
        # The same address, as far as the note beside the part can tell.
        note = tmp_path / "a.part.json"
        note.write_text(note.read_text().replace(port, server.url))
        get(File(name="a", url=f"{server.url}/a", sha256=SHA256), folder=tmp_path)

    assert server.requests[0].headers["range"] == "bytes=5000-"
    assert names(tmp_path) == {"a"}


@pytest.mark.parametrize(
    "second",
    [
        Served(BODY[::-1], etag='"second"'),
        Served(BODY[::-1], etag='"second"', trusting=True),
        Served(BODY[::-1][:500], etag='"second"', trusting=True),
    ],
    ids=["sent anew", "its rest sent", "shorter"],
)
def test_a_file_that_changes_between_its_parts_is_begun_anew(
    tmp_path: Path, second: Served
) -> None:
    notices = Notices()
    with serving_files({"/a": in_turn(Served(BODY, cut=1000), second)}) as server:
        get(File(name="a", url=f"{server.url}/a"), folder=tmp_path, say=notices)

    assert (tmp_path / "a").read_bytes() == second.body
    assert "the download starts over" in notices.text


@pytest.mark.parametrize(
    "served",
    [
        Served(BODY, etag='W/"weak"'),
        Served(BODY, etag=None),
        Served(BODY, ranges=False),
    ],
    ids=["weak", "none", "no ranges"],
)
def test_without_a_sure_version_or_ranges_a_file_is_begun_anew(
    tmp_path: Path, served: Served
) -> None:
    notices = Notices()
    with serving_files({"/a": in_turn(replace(served, cut=1000), served)}) as server:
        get(File(name="a", url=f"{server.url}/a", sha256=SHA256), folder=tmp_path, say=notices)

    assert "the download starts over" in notices.text


def test_a_date_vouches_for_a_part_where_there_is_no_strong_etag(tmp_path: Path) -> None:
    served = {"body": BODY, "etag": 'W/"weak"', "modified": "Wed, 21 Oct 2015 07:28:00 GMT"}
    with serving_files({"/a": in_turn(Served(**served, cut=1000), Served(**served))}) as server:  # type: ignore[arg-type]
        get(File(name="a", url=f"{server.url}/a", sha256=SHA256), folder=tmp_path)

    assert server.requests[1].headers["if-range"] == served["modified"]


def test_a_part_without_its_note_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "a.part").write_bytes(b"of something else")
    with serving_files({"/a": Served(BODY)}) as server:
        get(File(name="a", url=f"{server.url}/a", sha256=SHA256), folder=tmp_path)

    assert "range" not in server.requests[0].headers


def test_a_server_that_is_busy_is_asked_again(tmp_path: Path) -> None:
    busy = Served(status=503, headers={"Retry-After": "0"})
    with serving_files({"/a": in_turn(busy, busy, Served(BODY))}) as server:
        get(File(name="a", url=f"{server.url}/a"), folder=tmp_path)

    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("served", "words"),
    [
        (Served(status=404), "404: the file does not exist. To download it by hand"),
        (Served(status=403), "403: the server denies access to the file"),
        (Served(status=418), "418: the reply is not a file"),
        (Served(BODY, headers={"Content-Encoding": "gzip"}), "sends the file compressed"),
        (moved("file:///etc/passwd"), "redirects to file:///etc/passwd, which is not the address"),
        (moved("/a"), "redirects more than 10 times"),
        (moved(""), "redirects to nowhere"),
    ],
)
def test_what_cannot_be_had_is_said_at_once(tmp_path: Path, served: Served, words: str) -> None:
    with serving_files({"/a": served}) as server:
        error = error_of(File(name="a", url=f"{server.url}/a", md5=MD5), folder=tmp_path)

    assert words in error
    assert (
        f"To download it by hand, save {server.url}/a as {tmp_path / 'a'} (MD5 {MD5}), "
        f"then run `{AGAIN}`"
    ) in error
    assert len(server.requests) == (11 if "10 times" in words else 1)
    assert names(tmp_path) == set()


def test_a_server_that_is_not_there_is_tried_and_said(tmp_path: Path) -> None:
    notices = Notices()
    with refusing() as url:
        error = error_of(File(name="a", url=url, sha256=SHA256), folder=tmp_path, say=notices)

    assert "nothing accepts connections there (" in error
    assert "(5 tries)" in error
    assert f"as {tmp_path / 'a'} (SHA-256 {SHA256})" in error
    assert len(notices.lines) == 4


def test_a_name_that_no_server_has_is_said(tmp_path: Path) -> None:
    error = error_of(File(name="a", url="http://nowhere.invalid/a"), folder=tmp_path)

    assert "there is no host of that name" in error


def test_another_file_than_the_published_one_is_kept_aside_with_both_digests(
    tmp_path: Path,
) -> None:
    with serving_files({"/a": Served(BODY)}) as server:
        error = error_of(File(name="a", url=f"{server.url}/a", md5="0" * 32), folder=tmp_path)

    assert f"the downloaded file is not the published file: its MD5 is {MD5}" in error
    assert f"the published one is {'0' * 32}. It is kept as {tmp_path / 'a.wrong'}." in error
    assert names(tmp_path) == {"a.wrong"}
    assert file_records.known(tmp_path) == {}


def test_a_page_in_place_of_a_file_is_not_fetched_to_its_end(tmp_path: Path) -> None:
    with serving_files({"/a": Served(b"<html>Moved!</html>")}) as server:
        error = error_of(File(name="a", url=f"{server.url}/a", size=999), folder=tmp_path)

    assert (
        "has 19 bytes, but the published file has 999. "
        "The server sends a different file or a web page"
    ) in error


def test_a_reply_that_is_shorter_than_it_says_is_no_file(tmp_path: Path) -> None:
    with serving_files({"/a": Served(BODY, says=len(BODY) + 1, ranges=False)}) as server:
        error = error_of(File(name="a", url=f"{server.url}/a"), folder=tmp_path)

    assert "the connection broke in the middle of a reply (5 tries)" in error
    assert "a" not in names(tmp_path)


def test_a_reply_that_is_longer_than_it_says_is_found_by_its_digest(tmp_path: Path) -> None:
    with serving_files({"/a": Served(BODY, says=1000)}) as server:
        error = error_of(File(name="a", url=f"{server.url}/a", md5=MD5), folder=tmp_path)

    # What is too much is taken for the next reply, if it is there by then; else the digest of the
    # first 1,000 bytes (by `md5sum`) tells.
    assert "is not HTTP" in error or "its MD5 is cbecbdb0fdd5cec1e242493b6008cc79" in error


def test_a_reply_of_unknown_length_ends_at_the_published_one(tmp_path: Path) -> None:
    with serving_files({"/a": Served(BODY, unsaid=True)}) as server:
        error = error_of(File(name="a", url=f"{server.url}/a", size=1000), folder=tmp_path)

    assert "sends more than 1,000 bytes" in error
    assert names(tmp_path) == set()


def test_a_file_that_the_disk_has_no_room_for_is_not_begun(tmp_path: Path) -> None:
    with serving_files({"/a": Served(BODY, says=10**17)}) as server:
        error = error_of(File(name="a", url=f"{server.url}/a"), folder=tmp_path)

    assert (
        f"the download needs 100,000,000,000,000,000 more bytes, but the disk of {tmp_path} has"
        in error
    )
    assert names(tmp_path) == set()


def test_a_disk_that_is_full_leaves_the_part(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with serving_files({"/a": Served(BODY)}) as server:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
        try:
            error = error_of(File(name="a", url=f"{server.url}/a"), folder=tmp_path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert f"a.part cannot be written: {os.strerror(errno.EFBIG)}. Free disk space" in error
        assert "50,000 bytes are kept" in error
        get(File(name="a", url=f"{server.url}/a", sha256=SHA256), folder=tmp_path)

    assert server.requests[-1].headers["range"] == "bytes=50000-"


def test_a_second_process_is_kept_out(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from snellen.data.download import locked\n"
        "with locked(Path(sys.argv[1])):\n    print('in', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"in\n"
        error = error_of(File(name="a", url="http://127.0.0.1:1/a"), folder=tmp_path)
        other.communicate(b"")

    assert error.startswith(f"{tmp_path}: process {other.pid} on ")


def test_a_file_system_without_locks_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    error = error_of(File(name="a", url="http://127.0.0.1:1/a"), folder=tmp_path)

    assert error == (
        f"{tmp_path / '.lock'} cannot be locked: {os.strerror(errno.ENOLCK)}. "
        "To use another folder, set SNELLEN_HOME."
    )


STOPPED = """
import asyncio, sys
from pathlib import Path
from snellen.data import published

async def stop(folder):
    file = published.File(name="a", url="http://127.0.0.1:1/a", md5="0" * 32)
    getting = asyncio.create_task(published.get([file], folder, again="again"))
    await asyncio.sleep(0.2)
    getting.cancel()
    await asyncio.wait([getting])

asyncio.run(stop(Path(sys.argv[1])))
"""


def test_a_check_that_is_interrupted_is_not_gone_through_with(tmp_path: Path) -> None:
    with open(tmp_path / "a", "wb") as file:
        file.truncate(1 << 38)  # which takes minutes to read, and no room
    subprocess.run([sys.executable, "-c", STOPPED, str(tmp_path)], timeout=30, check=True)


def test_a_list_that_is_damaged_is_said(tmp_path: Path) -> None:
    (tmp_path / "files.json").write_bytes(b'{"format": 2, "files": []}')
    error = error_of(File(name="a", url="http://127.0.0.1:1/a"), folder=tmp_path)

    assert f"{tmp_path / 'files.json'} cannot be read" in error


# -- redirections and the hub


def test_a_redirection_is_followed_and_the_key_stays_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/datasets/ORG/NAME/resolve/{COMMIT}/data/a%20b.zip"
    with (
        serving_files({"/cdn/a.zip": Served(BODY)}) as store,
        serving_files(
            {path: moved("/there"), "/there": moved(f"{store.url}/cdn/a.zip?sig=s")}
        ) as hub,
    ):
        monkeypatch.setenv("HF_ENDPOINT", f"{hub.url}/")
        file = File(name="a b.zip", url=f"hf://datasets/ORG/NAME@{COMMIT}/data/a%20b.zip")
        get(file, folder=tmp_path, token="hf_a_secret")

    assert [request.headers.get("authorization") for request in hub.requests] == [
        "Bearer hf_a_secret"
    ] * 2
    assert "authorization" not in store.requests[0].headers
    assert store.requests[0].path == "/cdn/a.zip?sig=s"
    assert (tmp_path / "a b.zip").read_bytes() == BODY


def test_the_hubs_key_goes_to_no_other_server(tmp_path: Path) -> None:
    with serving_files({"/a": Served(BODY)}) as server:
        get(File(name="a", url=f"{server.url}/a"), folder=tmp_path, token="hf_a_secret")

    assert "authorization" not in server.requests[0].headers


def test_no_key_goes_over_plain_http_to_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://mirror.invalid")
    file = File(name="a", url=f"hf://datasets/ORG/NAME@{COMMIT}/a")

    assert "the key was not sent, because the address is not https" in error_of(
        file, folder=tmp_path, token="hf_a_secret"
    )


def test_a_redirection_from_https_to_plain_http_is_not_followed(tmp_path: Path) -> None:
    pem = tmp_path / "server.pem"
    pem.write_text(CERTIFICATE)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    # In a process of its own: whom to trust is read once.
    script = (
        "import asyncio, sys; from pathlib import Path; from snellen.data import published;"
        "file = published.File(name='a', url=sys.argv[1]);"
        "asyncio.run(published.get([file], Path(sys.argv[2]), again='it'))"
    )
    with serving_files({"/a": Served(BODY)}) as plain:
        to = Answer(302, b"", {"Location": f"{plain.url}/a"})
        with serving(to, tls=context) as server:
            out = subprocess.run(
                [sys.executable, "-c", script, server.url, str(tmp_path / "data")],
                capture_output=True,
                env={**os.environ, "SSL_CERT_FILE": str(pem)},
            )

    assert len(server.requests) == 1
    assert plain.requests == []
    assert b"redirects from https to http. Snellen does not follow such redirections" in out.stderr


def test_a_signature_in_an_address_is_not_shown(tmp_path: Path) -> None:
    with serving_files({"/a": moved("/b?signature=secret")}) as server:
        error = error_of(File(name="a", url=f"{server.url}/a"), folder=tmp_path)

    assert "/b: 404" in error
    assert "secret" not in error


def test_a_file_of_the_hub_is_taken_from_the_cache_of_its_own_tools(tmp_path: Path) -> None:
    cached = tmp_path / "hf/hub/datasets--ORG--NAME/snapshots" / COMMIT / "data/a b.tsv"
    blob = tmp_path / "hf/hub/datasets--ORG--NAME/blobs/1"
    for path in (cached, blob):
        path.parent.mkdir(parents=True)
    blob.write_bytes(BODY)
    cached.symlink_to(blob)
    file = File(name="a.tsv", url=f"hf://datasets/ORG/NAME@{COMMIT}/data/a%20b.tsv", md5=MD5)
    get(file, folder=tmp_path / "data")
    shutil.rmtree(tmp_path / "hf")

    assert (tmp_path / "data/a.tsv").read_bytes() == BODY


def in_cache(tmp_path: Path) -> File:
    """A file of the hub that is in the cache."""
    cached = tmp_path / "hf/hub/datasets--ORG--NAME/snapshots" / COMMIT / "a"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(BODY)
    return File(name="b/a", url=f"hf://datasets/ORG/NAME@{COMMIT}/a")


def test_a_copy_from_the_cache_on_another_disk_has_its_name_once_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: Path, path: Path) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "link", refuse)
    file, folder = in_cache(tmp_path), tmp_path / "data"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        error = error_of(file, folder=folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert error == f"{folder / 'b/a'} cannot be written: {os.strerror(errno.EFBIG)}."
    assert names(folder) == set()
    get(file, folder=folder)
    assert (folder / "b/a").read_bytes() == BODY


def test_a_file_where_a_folder_should_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"mine")
    error = error_of(in_cache(tmp_path), folder=tmp_path)

    assert error.startswith(f"{tmp_path / 'b/a'} cannot be written: ")


def test_a_branch_of_the_hub_is_no_revision(tmp_path: Path) -> None:
    error = error_of(File(name="a", url="hf://datasets/ORG/NAME@main/a"), folder=tmp_path)

    assert "does not have the form hf://" in error and "branches change" in error


# -- servers that cannot be trusted, and file systems that fail


@pytest.mark.parametrize(
    "to",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.1/a",
        "data:text/plain,a",
        "javascript:1",
        "http://[::1",
        "http://127.0.0.1:99999/a",
        "",
    ],
)
def test_a_redirection_that_leads_to_no_server_is_not_followed(tmp_path: Path, to: str) -> None:
    with serving_files({"/a": moved(to)}) as server:
        error = error_of(File(name="a", url=f"{server.url}/a"), folder=tmp_path)

    assert "a: " in error and "redirects to" in error
    assert len(server.requests) == 1
    assert names(tmp_path) == set()


def test_a_redirection_without_end_is_left(tmp_path: Path) -> None:
    with serving_files({"/a": moved("/a")}) as server:
        error = error_of(File(name="a", url=f"{server.url}/a"), folder=tmp_path)

    assert "redirects more than 10 times" in error
    assert len(server.requests) == 11


def test_what_another_host_sends_has_the_published_digest_or_is_not_taken(tmp_path: Path) -> None:
    with (
        serving_files({"/a": Served(BODY[:-1] + b"!")}) as other,
        serving_files({"/a": moved(f"{other.url}/a")}) as server,
    ):
        error = error_of(File(name="a", url=f"{server.url}/a", sha256=SHA256), folder=tmp_path)

    assert f"the published one is {SHA256}" in error
    assert names(tmp_path) == {"a.wrong"}


async def test_a_server_that_stalls_is_left_after_a_silence() -> None:
    reached = threading.Event()
    downloads = Downloads(silence=0.2)
    with serving_files({"/a": Served(BODY, stop=1000, reached=reached)}) as server:
        try:
            with pytest.raises(Overloaded, match=r"the server sent nothing for 0\.2 s"):
                async with downloads.get(f"{server.url}/a") as (_, blocks):
                    async for _ in blocks:
                        pass
        finally:
            await downloads.close()

    assert reached.is_set()


@pytest.mark.parametrize("fault", [errno.EXDEV, errno.ESTALE, errno.EBUSY, errno.ENOSPC])
@pytest.mark.parametrize("name", ["a", "files.json"])
def test_a_rename_that_fails_is_said_and_the_next_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: int, name: str
) -> None:
    rename = os.replace

    def failing(source: str, target: str) -> None:
        if Path(target) == tmp_path / name:
            raise OSError(fault, os.strerror(fault), str(source), None, str(target))
        rename(source, target)

    with serving_files({"/a": Served(BODY)}) as server:
        file = File(name="a", url=f"{server.url}/a", sha256=SHA256)
        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", failing)
            error = error_of(file, folder=tmp_path)
        assert str(tmp_path / name) in error
        assert os.strerror(fault) in error
        assert not (tmp_path / "a").exists()
        get(file, folder=tmp_path)

    assert len(server.requests) == 1
    assert (tmp_path / "a").read_bytes() == BODY
    assert names(tmp_path) == {"a"}


@pytest.mark.parametrize("fault", [errno.EXDEV, errno.ESTALE, errno.EBUSY, errno.ENOSPC])
def test_a_rename_that_fails_leaves_nothing_half_of_an_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: int
) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("one.txt", "1")
        packed.writestr("two.txt", "2")
    rename = os.replace

    def failing(source: str, target: str) -> None:
        if Path(target).name == "two.txt":
            raise OSError(fault, os.strerror(fault))
        rename(source, target)

    with serving_files({"/a.zip": Served(archive.getvalue())}) as server:
        file = File(name="a.zip", url=f"{server.url}/a.zip", unpack=True)
        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", failing)
            error = error_of(file, folder=tmp_path)
        assert "a.zip cannot be unpacked" in error and os.strerror(fault) in error
        get(file, folder=tmp_path)

    assert len(server.requests) == 1
    assert names(tmp_path) == {"one.txt", "two.txt"}


def test_a_token_that_no_header_carries_is_refused_unseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_files({}) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        file = File(name="a", url=f"hf://datasets/ORG/NAME@{COMMIT}/a")
        with pytest.raises(UsageError, match="header Authorization cannot be sent") as caught:
            get(file, folder=tmp_path, token="hf_a_\nsecret")

    assert "secret" not in str(caught.value)
    assert server.requests == []
