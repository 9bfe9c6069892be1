"""What the store tells who reads a run while another process writes it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from snellen.errors import StoreError
from snellen.store import Folder, Placed, Run
from snellen.store import folder as _posix
from snellen.store.folder import HELD
from snellen.view.runs import is_being_written
from tests.viewers import question, reply, run_in


def test_records_can_be_read_from_where_an_earlier_look_ended(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", [question("a")], [reply("a", "A")])
    ((first, _),) = run.appended_replies({})
    run.append_reply(reply("b", "B"))
    later = list(run.appended_replies({first.file: first.offset + first.size}))
    assert [record.key[0] for _, record in later] == ["b"]
    assert run.reply_at(later[0][0]) == later[0][1]
    assert later[0][0].offset == first.size


def test_a_line_that_is_not_there_any_more_is_said_in_words(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", [question("a")], [reply("a", "A")])
    with pytest.raises(StoreError, match=r"replies.jsonl: the line at byte 7 is not a record"):
        run.reply_at(Placed("replies.jsonl", 7, 10))
    (tmp_path / "other.jsonl").write_bytes((run.path / "replies.jsonl").read_bytes())
    with pytest.raises(StoreError, match=r"\.\./other.jsonl is not a file of the run"):
        run.reply_at(Placed("../other.jsonl", 0, 10))


def test_a_file_that_was_replaced_has_another_stamp(tmp_path: Path) -> None:
    folder = Folder.create(tmp_path / "run")
    assert folder.stamp("a") is None
    folder.put_atomic("a", b"one")
    before = folder.stamp("a")
    folder.put_atomic("a", b"two")
    assert folder.stamp("a") != before


@pytest.mark.skipif(not HELD.exists(), reason="only Linux says who holds which lock")
def test_a_lock_that_another_process_holds_is_seen_and_left_alone(tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    run.path.mkdir()
    assert run.folder.is_locked() is False
    script = (
        "import sys; from pathlib import Path; from snellen.store import Folder\n"
        f"with Folder(Path({str(run.path)!r})).lock(): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == b"held\n"
        assert run.folder.is_locked() is True
        process.stdin.close()
    assert not run.folder.is_locked()


@pytest.mark.skipif(not HELD.exists(), reason="only Linux says who holds which lock")
def test_where_nobody_holds_any_lock_a_run_is_not_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OwnLocks:
        """The system's list as it is where no other process has a lock."""

        def read_text(self) -> str:
            lines = HELD.read_text().splitlines(keepends=True)
            return "".join(line for line in lines if f" {os.getpid()} " in line)

    monkeypatch.setattr(_posix, "HELD", OwnLocks())
    run = run_in(tmp_path / "run", [question("a")], [reply("a", "A")])
    run.close()
    with run.folder.lock():
        assert run.folder.is_locked() is True

    assert run.folder.is_locked() is False
    assert is_being_written(run.path) is False, "though it was written a moment ago"
