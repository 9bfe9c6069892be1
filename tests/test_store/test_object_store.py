"""The files of a run on an object store: two machines, one run, and all that goes wrong between."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from snellen.core.model import Reply
from snellen.errors import StoreError
from snellen.store import (
    ReplyRecord,
    Run,
    data_at,
    mirror,
    mirrored,
    path_of,
    pull,
    reply_record,
    runs_at,
)
from snellen.store import remote_lock as locks
from snellen.store.remote import Remote, reason_of
from tests.stores import Bucket
from tests.viewers import question


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uploads every tenth of a second; a lease is a second long."""
    monkeypatch.setattr(locks, "EVERY", 0.1)
    monkeypatch.setattr(locks, "RENEWED", 0.2)
    monkeypatch.setattr(locks, "LEASE", 1.0)
    monkeypatch.setattr(locks, "AT_THE_END", 1)


def run_at(url: str, machine: Path) -> Run:
    """A run as a machine sees it: the folder is that of its mirrors."""
    local = mirror(url, machine)
    assert local is not None
    return Run(local)


def answer(run: Run, name: str, text: str, *, position: int = 0) -> None:
    run.append_question(question(name, position))
    run.append_reply(reply_record((name, 0, 0), f"d-{name}", "2026-01-01", reply=Reply(text=text)))


def texts(run: Run) -> dict[str, str]:
    """The final reply to each question that has one; no question may be there twice."""
    pull(run.path)
    run.load()
    try:
        actual = {}
        for question in run.questions():
            record = run.final(question.key)
            assert question.key[0] not in actual
            if record is not None:
                actual[question.key[0]] = record.reply
        return actual
    finally:
        run.close()


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)


def test_what_one_machine_writes_another_reads(bucket: Bucket, tmp_path: Path) -> None:
    url = f"{bucket.url}/runs/b/m/0"
    run = run_at(url, tmp_path / "a")
    with run.folder.lock():
        run.put_manifest({"benchmark": "b"})
        answer(run, "s0", "yes")
        run.folder.put_atomic("scores.jsonl", b"{}\n")
        run.close()

    there = run_at(url, tmp_path / "b")
    assert texts(there) == {"s0": "yes"}
    assert there.manifest()["benchmark"] == "b"
    assert there.folder.get("scores.jsonl") == b"{}\n"


def test_parts_that_were_written_here_and_copied_are_read_elsewhere(
    bucket: Bucket, tmp_path: Path
) -> None:
    url = f"{bucket.url}/runs/b/m/0"
    run = run_at(url, tmp_path / "a")
    with run.folder.lock():
        run.put_manifest({"benchmark": "b"})
        answer(run, "s0", "yes")
        run.close()
    local = Run(tmp_path / "local")
    local.path.mkdir()
    local.put_manifest({"benchmark": "b"})
    for number in (1, 2):
        part = local.part(number, 2)
        answer(part, f"s{number}", "no", position=number)
        part.close()
    for path in local.path.iterdir():
        shutil.copy(path, run.path)
    with run.folder.lock():
        pass

    there = run_at(url, tmp_path / "b")
    assert texts(there) == {"s0": "yes", "s1": "no", "s2": "no"}
    assert there.manifest()["format"] == 1


def test_lines_reach_the_store_while_the_run_goes_on(bucket: Bucket, tmp_path: Path) -> None:
    url = f"{bucket.url}/r"
    run, there = run_at(url, tmp_path / "a"), run_at(url, tmp_path / "b")
    with run.folder.lock():
        run.put_manifest({})
        answer(run, "s0", "yes")
        until(lambda: "r/replies-1000001.jsonl" in bucket.objects())
        until(lambda: texts(there) == {"s0": "yes"})
        answer(run, "s1", "no", position=1)
        until(lambda: len(texts(there)) == 2)
        inode = (tmp_path / "b" / "s3:" / bucket.name / "r" / "replies-1000001.jsonl").stat().st_ino
        answer(run, "s2", "no", position=2)
        until(lambda: len(texts(there)) == 3)
    assert (
        inode
        == (tmp_path / "b" / "s3:" / bucket.name / "r" / "replies-1000001.jsonl").stat().st_ino
    ), "what was there is not written again: readers keep their places in it"


def test_a_journal_is_cut_into_segments_that_are_read_in_order(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirrored, "SEGMENT", 2_000)
    url = f"{bucket.url}/r"
    run = run_at(url, tmp_path / "a")
    with run.folder.lock():
        run.put_manifest({})
        for position in range(12):
            answer(run, f"s{position}", "x" * 500, position=position)
            assert run.final((f"s{position}", 0, 0)) is not None
        run.close()

    segments = [key for key in bucket.objects() if "replies" in key]
    assert segments == [f"r/replies-{number}.jsonl" for number in (1000001, 1000002, 1000003)]
    there = run_at(url, tmp_path / "b")
    assert [*texts(there)] == [f"s{position}" for position in range(12)]
    records = [reply for reply in there.replies() if isinstance(reply, ReplyRecord)]
    assert [reply.key[0] for reply in records] == [f"s{position}" for position in range(12)]


def test_a_segment_that_was_put_often_is_followed_by_another(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirrored, "PUTS", 2)
    run, there = (
        run_at(f"{bucket.url}/r", tmp_path / "a"),
        run_at(f"{bucket.url}/r", tmp_path / "b"),
    )
    with run.folder.lock():
        run.put_manifest({})
        for position in range(3):
            answer(run, f"s{position}", "yes", position=position)
            until(lambda request=position + 1: len(texts(there)) == request)  # type: ignore[misc]
        run.close()
    assert len([key for key in bucket.objects() if "replies" in key]) == 2


def test_a_second_writer_elsewhere_is_refused(bucket: Bucket, tmp_path: Path) -> None:
    url = f"{bucket.url}/r"
    with run_at(url, tmp_path / "a").folder.lock():
        with pytest.raises(StoreError) as caught, run_at(url, tmp_path / "b").folder.lock():
            pass
        with pytest.raises(StoreError) as here, run_at(url, tmp_path / "a").folder.lock():
            pass
    for item in map(str, (caught.value, here.value)):
        assert item.startswith(f"{url}: process {os.getpid()} on ")
        assert item.endswith(
            "is writing this run. Wait until it ends, or stop it, and start again."
        )
    with run_at(url, tmp_path / "b").folder.lock():
        pass  # it was given back


def asleep(run: Run, monkeypatch: pytest.MonkeyPatch) -> locks.RemoteLock:
    """The lock of a run whose holder sends and renews nothing."""
    with monkeypatch.context() as patch:
        patch.setattr(locks.RemoteLock, "_send", lambda self: None)
        patch.setattr(locks.RemoteLock, "_renew_until_left", lambda self: None)
        lock = run.folder.lock()
        lock.__enter__()
    assert isinstance(lock, locks.RemoteLock)
    return lock


def dies(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that holds a run's lock is no more: it sends nothing, and the system has taken
    its file lock away."""
    lock = asleep(run, monkeypatch)
    run.put_manifest({})
    assert lock._local._fd is not None
    os.close(lock._local._fd)
    mirrored._writing.clear()


def test_who_was_killed_goes_on_at_once_where_it_was(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{bucket.url}/r"
    killed = run_at(url, tmp_path / "a")
    dies(killed, monkeypatch)
    answer(killed, "s0", "yes")
    assert not any("replies" in key for key in bucket.objects())

    again = run_at(url, tmp_path / "a")
    monkeypatch.setattr(locks, "LEASE", 1_000.0)
    with again.folder.lock():
        assert any("replies-1000001" in key for key in bucket.objects()), (
            "what was left is sent first"
        )
        again.load()
        assert again.has_reply(("s0", 0, 0))
        again.close()


def test_a_lock_that_nobody_renews_is_taken_over(
    bucket: Bucket,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = f"{bucket.url}/r"
    dies(run_at(url, tmp_path / "a"), monkeypatch)
    held = bucket.get("r/lock-1.json").decode()
    bucket.put("r/lock-1.json", held.replace(" on ", "\\u001b[31m on ").encode())
    began = time.monotonic()
    with run_at(url, tmp_path / "b").folder.lock():
        assert time.monotonic() - began >= 1.0
    assert f"{url}: process {os.getpid()}\ufffd[31m on " in capsys.readouterr().err
    assert [key for key in bucket.objects() if "lock" in key] == ["r/lock-2.json"]


def test_both_sides_of_a_split_are_kept_and_a_key_counts_once(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{bucket.url}/r"
    killed = run_at(url, tmp_path / "a")
    dies(killed, monkeypatch)
    answer(killed, "s0", "first")
    answer(killed, "s1", "alone", position=1)

    other = run_at(url, tmp_path / "b")
    with other.folder.lock():
        other.put_manifest({})
        answer(other, "s0", "second")
        other.close()

    again = run_at(url, tmp_path / "a")
    with again.folder.lock():
        again.load()
        assert again.has_reply(("s0", 0, 0)) and again.has_reply(("s1", 0, 0))
        again.close()
    # The last that is no failure counts, and the later holder's segments are the later ones.
    for machine in ("a", "b", "c"):
        assert texts(run_at(url, tmp_path / machine)) == {"s0": "second", "s1": "alone"}
    segments = [key for key in bucket.objects() if "replies" in key]
    assert segments == ["r/replies-1000001.jsonl", "r/replies-2000001.jsonl"]


def test_a_holder_that_was_thought_dead_stops(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{bucket.url}/r"
    sleeper = run_at(url, tmp_path / "a")
    awake = locks.RemoteLock._renew
    monkeypatch.setattr(locks.RemoteLock, "_renew", lambda self: None)
    with pytest.raises(StoreError, match="has taken over this run"), sleeper.folder.lock():
        sleeper.put_manifest({})
        answer(sleeper, "s0", "asleep")
        other = run_at(url, tmp_path / "b")
        with other.folder.lock():
            answer(other, "s1", "awake", position=1)
            monkeypatch.setattr(locks.RemoteLock, "_renew", awake)
            until(lambda: _is_lost(sleeper))
            other.close()
    assert texts(run_at(url, tmp_path / "c"))["s1"] == "awake"


def _is_lost(run: Run) -> bool:
    try:
        run.folder.flush()
    except StoreError:
        return True
    return False


def test_a_torn_line_is_not_sent(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{bucket.url}/r"
    killed = run_at(url, tmp_path / "a")
    dies(killed, monkeypatch)
    answer(killed, "s0", "yes")
    with (killed.path / "replies-1000001.jsonl").open("ab") as file:
        file.write(b'{"format":0,"key":["s1"')

    again = run_at(url, tmp_path / "a")
    with again.folder.lock():
        again.load()
        again.close()
    assert bucket.get("r/replies-1000001.jsonl").endswith(b"\n")
    assert texts(run_at(url, tmp_path / "b")) == {"s0": "yes"}


@pytest.mark.parametrize(
    "key",
    [
        "r/../../escaped/manifest.json",
        "r/..",
        "//absolute/manifest.json",
        "r//manifest.json",
        f"r/{'x' * 300}/manifest.json",
        "r/manifest.json/manifest.json/",
        "r/program.py",
        "r/.remote.lock",
        "r/lock",
        "r/replies-99999999999999999999999.jsonl",
    ],
)
def test_an_object_that_is_no_runs_file_is_passed_over(
    bucket: Bucket, tmp_path: Path, key: str
) -> None:
    run = run_at(f"{bucket.url}/r", tmp_path / "home" / "a")
    bucket.put("r/m/0/manifest.json", b'{"format":0}')
    bucket.put(key, b"evil")
    pull(run.path)

    actual = [path for path in tmp_path.rglob("*") if path.is_file()]
    kept = {"manifest.json", ".remote.json", ".remote.lock"}
    assert {path.name for path in actual} == kept
    assert {path.parent for path in actual} == {Path(run.path / "m" / "0")}
    assert b"evil" not in b"".join(path.read_bytes() for path in actual)


def test_a_run_that_was_removed_from_the_store_is_gone(bucket: Bucket, tmp_path: Path) -> None:
    run = run_at(f"{bucket.url}/r", tmp_path / "a")
    with run.folder.lock():
        run.put_manifest({})
        answer(run, "s0", "yes")
        run.close()
    for key in bucket.objects():
        bucket.remove(key)
    pull(run.path)

    with pytest.raises(StoreError, match=f"{run.path} is not a run folder"):
        run.manifest()
    assert run.folder.segments("replies") == []


def test_a_lock_and_a_record_that_are_garbage_are_no_end(bucket: Bucket, tmp_path: Path) -> None:
    url = f"{bucket.url}/r"
    bucket.put("r/lock-7.json", b"\xff\x00 garbage")
    bucket.put("r/replies-12000003.jsonl", b"")
    run = run_at(url, tmp_path / "a")
    run.path.mkdir(parents=True)
    (run.path / ".remote.json").write_bytes(b"[]")
    with run.folder.lock():
        run.put_manifest({})
        answer(run, "s0", "yes")
        run.close()
    assert "r/replies-13000001.jsonl" in bucket.objects()
    assert texts(run_at(url, tmp_path / "b")) == {"s0": "yes"}


def test_a_whole_file_that_was_not_sent_is_sent_by_the_next(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{bucket.url}/r"
    killed = run_at(url, tmp_path / "a")
    dies(killed, monkeypatch)
    killed.folder.root.joinpath("scores.jsonl").write_bytes(b"{}\n")
    with run_at(url, tmp_path / "a").folder.lock():
        pass
    assert bucket.get("r/scores.jsonl") == b"{}\n"


def test_what_another_machine_scored_replaces_what_was_scored_here(
    bucket: Bucket, tmp_path: Path
) -> None:
    url = f"{bucket.url}/r"
    for machine, score in ("a", b"1"), ("b", b"2"), ("a", b"3"):
        with run_at(url, tmp_path / machine).folder.lock() as _:
            run_at(url, tmp_path / machine).folder.put_atomic("report.json", score)
        for reader in "ab":
            run = run_at(url, tmp_path / reader)
            pull(run.path)
            assert run.folder.get("report.json") == score


def test_a_bucket_that_is_not_there_is_said(bucket: Bucket, tmp_path: Path) -> None:
    run = run_at("s3://no-such-bucket/r", tmp_path / "a")
    with pytest.raises(StoreError) as caught:
        pull(run.path)
    assert str(caught.value) == (
        "s3://no-such-bucket/r cannot be listed: The specified bucket does not exist. Check "
        "the bucket's name. The bucket must exist: Snellen creates no buckets."
    )


def test_mirrors_that_cannot_be_made_are_named_by_their_place_here(
    bucket: Bucket, tmp_path: Path
) -> None:
    bucket.put("r/manifest.json", b"{}")
    (tmp_path / "a").write_text("a file where the mirrors were to be")
    with pytest.raises(StoreError) as caught:
        pull(run_at(f"{bucket.url}/r", tmp_path / "a").path)
    assert str(tmp_path / "a" / "s3:") in str(caught.value)


def test_mirrors_that_may_not_be_written_say_where_others_can_be(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.put("r/manifest.json", b"{}")

    def refuse(path: Path, **_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(StoreError, match="Choose another folder for mirrors with SNELLEN_MIRROR"):
        pull(run_at(f"{bucket.url}/r", tmp_path / "a").path)


def test_a_lock_whose_making_was_not_answered_is_held(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = Remote.create

    def unanswered(remote: Remote, name: str, data: bytes) -> bool:
        create(remote, name, data)
        return create(remote, name, data)  # as the package tries again

    monkeypatch.setattr(Remote, "create", unanswered)
    with run_at(f"{bucket.url}/r", tmp_path / "a").folder.lock():
        assert b'"released":false' in bucket.get("r/lock-1.json")


def test_a_holder_whose_upload_takes_long_keeps_the_lock(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{bucket.url}/r"
    run = run_at(url, tmp_path / "a")
    monkeypatch.setattr(mirrored.RemoteFolder, "send_grown", lambda self: time.sleep(2.5))
    with run.folder.lock():
        time.sleep(1.5)
        with pytest.raises(StoreError, match="is writing this run"):
            run_at(url, tmp_path / "b").folder.lock().__enter__()


def test_the_runs_of_judges_come_with_the_run(bucket: Bucket, tmp_path: Path) -> None:
    url = f"{bucket.url}/r"
    verdicts = run_at(f"{url}/judged/b.gpt/m/1", tmp_path / "a")
    with run_at(url, tmp_path / "a").folder.lock(), verdicts.folder.lock():
        verdicts.put_manifest({})
        answer(verdicts, "s0", "right")
        verdicts.close()
    again = run_at(url, tmp_path / "b")
    with again.folder.lock():
        assert (again.path / "judged/b.gpt/m/1/manifest.json").exists()
        assert texts(run_at(f"{url}/judged/b.gpt/m/1", tmp_path / "b")) == {"s0": "right"}
        again.close()


def test_rows_that_are_fetched_leave_a_run_beside_them_as_it_is(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`-b s3://b/mine.jsonl --out s3://b/runs`: the folder of the rows has the run in it."""
    monkeypatch.setenv("SNELLEN_MIRROR", str(tmp_path / "a"))
    bucket.put("mine.jsonl", b"{}\n")
    run = Run(path_of(f"{bucket.url}/runs/b/m/0"))
    dies(run, monkeypatch)
    answer(run, "s0", "yes")
    assert isinstance(run.folder, mirrored.RemoteFolder)
    run.folder.send(["replies-1000001.jsonl"])
    answer(run, "s1", "no", position=1)

    assert data_at(f"{bucket.url}/mine.jsonl").read_bytes() == b"{}\n"
    score = runs_at(f"{bucket.url}/runs/b/m/0/replies-1000001.jsonl")
    assert score.read_bytes().count(b"\n") == 1, "what the store has"
    again = Run(run.path)
    with again.folder.lock():
        again.load()
        assert again.has_reply(("s1", 0, 0))
        again.close()


def test_data_that_were_removed_from_the_store_are_gone(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SNELLEN_MIRROR", str(tmp_path / "a"))
    for key in ("set/mine.jsonl", "set/a.png", "replies.csv", "all/rows.jsonl"):
        bucket.put(key, b"{}\n")
    names = ("set/mine.jsonl", "replies.csv", "all")
    rows, replies, folder = (f"{bucket.url}/{name}" for name in names)
    actual = data_at(rows), runs_at(replies), data_at(folder) / "rows.jsonl"
    assert all(path.exists() for path in actual)
    bucket.remove("set/mine.jsonl")
    bucket.remove("replies.csv")
    bucket.remove("all/rows.jsonl")
    again = data_at(rows), runs_at(replies), data_at(folder) / "rows.jsonl"
    assert not any(path.exists() for path in (*actual, *again))
    bucket.remove("set/a.png")


def test_a_lock_that_others_have_had_since_it_was_free_is_theirs(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{bucket.url}/r"
    with run_at(url, tmp_path / "a").folder.lock():
        pass
    wait = locks.RemoteLock._wait_for

    def others_are_faster(lock: locks.RemoteLock, number: Mapping[str, int]) -> None:
        wait(lock, number)
        monkeypatch.setattr(locks.RemoteLock, "_wait_for", wait)
        with run_at(url, tmp_path / "b").folder.lock():
            pass
        held.enter_context(run_at(url, tmp_path / "c").folder.lock())

    monkeypatch.setattr(locks.RemoteLock, "_wait_for", others_are_faster)
    with ExitStack() as held:
        with pytest.raises(StoreError, match="is writing this run"):
            run_at(url, tmp_path / "d").folder.lock().__enter__()
        assert [key for key in bucket.objects() if "lock" in key] == ["r/lock-3.json"]


def test_a_holder_that_was_thought_dead_replaces_no_file(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{bucket.url}/r"
    sleeper = run_at(url, tmp_path / "a")
    lock = asleep(sleeper, monkeypatch)
    sleeper.folder.put_atomic("report.json", b"old")
    awake = run_at(url, tmp_path / "b")
    with awake.folder.lock():
        awake.folder.put_atomic("report.json", b"new")

    with pytest.raises(StoreError, match="has taken over this run"):
        lock._send_once()
    assert bucket.get("r/report.json") == b"new"
    with pytest.raises(StoreError, match="has taken over this run"):
        lock.__exit__(None, None, None)


def test_a_holder_whose_lock_passed_through_other_hands_stops(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{bucket.url}/r"
    lock = asleep(run_at(url, tmp_path / "a"), monkeypatch)
    for machine in "bc":
        with run_at(url, tmp_path / machine).folder.lock():
            pass
    assert [key for key in bucket.objects() if "lock" in key] == ["r/lock-3.json"]
    with pytest.raises(StoreError, match="another process has taken over this run"):
        lock.__exit__(None, None, None)
    assert [key for key in bucket.objects() if "lock" in key] == ["r/lock-3.json"]


def test_a_lock_that_was_given_back_is_renewed_no_more(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{bucket.url}/r"
    run = run_at(url, tmp_path / "a")
    lock = asleep(run, monkeypatch)
    lock.__exit__(None, None, None)
    with run_at(url, tmp_path / "b").folder.lock():
        lock._renew()  # as a renewer that was about to
        run.folder.flush()
        assert [key for key in bucket.objects() if "lock" in key] == ["r/lock-2.json"]


def test_a_reader_here_leaves_a_run_that_is_written_here_as_it_is(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_at(f"{bucket.url}/r", tmp_path / "a")
    lock = asleep(run, monkeypatch)
    run.folder.put_atomic("report.json", b"of here")
    bucket.put("r/report.json", b"of before")
    pull(run_at(f"{bucket.url}/r", tmp_path / "a").path)
    assert run.folder.get("report.json") == b"of here"
    lock.__exit__(None, None, None)
    assert bucket.get("r/report.json") == b"of here"


def test_what_was_left_is_sent_from_the_disk_and_the_manifest_last(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{bucket.url}/r"
    killed = run_at(url, tmp_path / "a")
    dies(killed, monkeypatch)
    answer(killed, "s0", "yes")
    killed.folder.root.joinpath("scores.jsonl").write_bytes(b"{}\n")
    happened: list[str] = []
    sync, put, put_file = os.fsync, Remote.put, Remote.put_file

    def on_disk(fd: int) -> None:
        happened.append(Path(f"/proc/self/fd/{fd}").readlink().name)
        sync(fd)

    def sent(remote: Remote, name: str, data: bytes) -> None:
        happened.append(f"{name} is sent")
        put(remote, name, data)

    def file_sent(remote: Remote, name: str, path: Path) -> None:
        happened.append(f"{name} is sent")
        put_file(remote, name, path)

    monkeypatch.setattr(os, "fsync", on_disk)
    monkeypatch.setattr(Remote, "put", sent)
    monkeypatch.setattr(Remote, "put_file", file_sent)
    with run_at(url, tmp_path / "a").folder.lock():
        pass
    seen = [event for event in happened if not event.startswith((".", "lock"))]
    assert seen == [
        "questions-1000001.jsonl",
        "questions-1000001.jsonl is sent",
        "replies-1000001.jsonl",
        "replies-1000001.jsonl is sent",
        "scores.jsonl is sent",
        "manifest.json is sent",
    ]


def test_what_was_sent_since_the_store_was_listed_is_not_taken_for_removed(
    bucket: Bucket, tmp_path: Path
) -> None:
    run = run_at(f"{bucket.url}/r", tmp_path / "a")
    with run.folder.lock():
        run.put_manifest({})
        answer(run, "s0", "yes")
        run.close()
    assert isinstance(run.folder, mirrored.RemoteFolder)
    run.folder.fetch({})  # as it was listed before
    assert run.folder.segments("replies") == ["replies-1000001.jsonl"]
    assert run.folder.get("manifest.json") is not None


def test_lines_that_the_disk_took_in_part_are_no_success(tmp_path: Path) -> None:
    path, fresh = tmp_path / "here", tmp_path / "there"
    path.write_bytes(b"x" * 1000)
    fresh.write_bytes(b"x" * 5000)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            mirrored._grown(path, fresh)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert mirrored._grown(path, fresh)  # what was taken is a beginning, and is gone on with
    assert path.read_bytes() == fresh.read_bytes()


def test_objects_that_cannot_both_be_files_are_said(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SNELLEN_MIRROR", str(tmp_path / "a"))
    bucket.put("set/mine.jsonl", b"{}\n")
    bucket.put("set/a", b"")
    data_at(f"{bucket.url}/set/mine.jsonl")
    bucket.put("set/a/one.png", b"")
    with pytest.raises(StoreError, match=r"/set/a/one\.png cannot be written: "):
        data_at(f"{bucket.url}/set/mine.jsonl")
    bucket.remove("set/a/one.png")


def test_what_a_store_says_does_not_repeat_keys_of_an_address() -> None:
    text = "Could not connect to: http://who:hunter2@host:9000/b/r?sig=hunter3 (is it there?)"
    assert reason_of(OSError(text)) == (
        "Could not connect to: http://host:9000/b/r (is it there?). (OSError)"
    )


def test_lines_that_never_reached_a_run_that_was_begun_anew_are_set_aside(
    bucket: Bucket,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = f"{bucket.url}/r"
    killed = run_at(url, tmp_path / "a")
    dies(killed, monkeypatch)
    answer(killed, "s0", "never sent")
    for key in bucket.objects():
        bucket.remove(key)
    anew = run_at(url, tmp_path / "b")
    with anew.folder.lock():
        anew.put_manifest({})
        answer(anew, "s0", "sent")
        anew.close()

    assert texts(run_at(url, tmp_path / "a")) == {"s0": "sent"}
    kept = [path.read_text() for path in killed.path.glob("replies-1000001.jsonl.*.kept")]
    assert len(kept) == 1 and "never sent" in kept[0]
    assert "replies-1000001.jsonl has different lines than its mirror" in capsys.readouterr().err
    assert [*texts(run_at(url, tmp_path / "a"))] == ["s0"]
    assert capsys.readouterr().err == ""
