"""Several processes write one run at once, each a part of it, and the whole is read."""

import itertools
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from snellen.core.model import Reply
from snellen.errors import StoreError
from snellen.store import Failure, Key, ReplyRecord, Run, reply_record
from snellen.view.index import Index
from snellen.view.samples import find, reply_of

AT = "2026-01-01T00:00:00.000Z"
MANIFEST = {"benchmark": "b", "model": "m", "identity": {}}
WRITER = """
import sys
from pathlib import Path
from snellen.core.model import Reply
from snellen.store import Key, Question, Run, mirror, reply_record

path, part, parts = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
run = Run(path).part(part, parts)
with run.folder.lock():
    run.load()
    print("locked", flush=True)
    for row in range(part - 1, 40, parts):
        key = Key(f"s{row}")
        if run.has_reply(key):
            continue
        if sys.argv[4] == str(row):
            print("waiting", flush=True)
            sys.stdin.read()
        run.append_question(Question(
            format=0, key=key, place=row, row="", question="?", messages=[("user", ["?"])]))
        run.append_reply(reply_record(key, "digest", "", reply=Reply(text=f"{row} of {part}")))
    run.close()
"""


def writer(path: Path, part: int, *, parts: int = 2, waits_at: int = -1) -> subprocess.Popen[str]:
    """A process that writes one part, and waits to be ended before a row."""
    command = [sys.executable, "-c", WRITER, str(path), str(part), str(parts), str(waits_at)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "locked\n", process.communicate()[1]
    return process


def loaded(path: Path) -> Run:
    run = Run(path)
    run.load()
    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Run(tmp_path).put_manifest(MANIFEST)
    return tmp_path


def test_two_processes_write_at_once_and_what_a_killed_part_stored_is_kept(folder: Path) -> None:
    killed, other = writer(folder, 1, waits_at=20), writer(folder, 2)
    assert killed.stdout is not None and killed.stdout.readline() == "waiting\n"
    with pytest.raises(StoreError, match="is writing this run"), Run(folder).folder.lock():
        pass
    with (
        pytest.raises(StoreError, match="is writing part 1 of this run"),
        Run(folder).part(1, 2).folder.lock(),
    ):
        pass
    assert Run(folder).folder.is_locked() is not False
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    with (folder / "replies.part-00001.jsonl").open("ab") as journal:
        journal.write(b'{"torn')
    assert other.communicate("")[1] == ""

    run = loaded(folder)

    present = {row for row in range(40) if run.has_reply(Key(f"s{row}"))}
    assert present == {*range(0, 20, 2), *range(1, 40, 2)}
    run.close()

    resumed = writer(folder, 1)
    assert resumed.communicate("")[1] == ""

    run = loaded(folder)
    assert [question.key.sample for question in run.questions()] == [f"s{n}" for n in range(40)]
    records = [record for record in run.replies() if isinstance(record, ReplyRecord)]
    assert len(records) == 40
    assert {record.key.sample: record.reply for record in records} == {
        f"s{row}": f"{row} of {row % 2 + 1}" for row in range(40)
    }
    assert run.lost_questions == 0
    run.close()


def test_a_reply_replaces_a_failure_in_whatever_part_and_order_they_came(tmp_path: Path) -> None:
    outcomes = {
        0: ["failed"],
        1: ["first", "failed"],
        2: ["failed", "second"],
    }
    finals = set()
    for order in itertools.permutations(outcomes):
        path = tmp_path / "".join(map(str, order))
        path.mkdir()
        Run(path).put_manifest(MANIFEST)
        index = Index(path, path / "view.sqlite")
        live = loaded(path)
        for part in order:
            run = Run(path).part(part, 9) if part else live
            for text in outcomes[part]:
                run.append_reply(outcome(text, part))
            run.close()
            index.catch_up()
        final = loaded(path).final(Key("a"))
        assert final is not None
        with index.connect() as connection:
            row = find(connection, Key("a"))
            assert row is not None
            assert reply_of(index, connection, row) == final
        finals.add(final.reply)

    assert finals == {"second"}


def outcome(text: str, part: int) -> ReplyRecord:
    if text == "failed":
        error = Failure(type="Overloaded", message=f"part {part}")
        return reply_record(Key("a"), "digest", AT, error=error)
    return reply_record(Key("a"), "digest", AT, reply=Reply(text=text))


def test_a_run_with_parts_has_the_format_that_knows_them(folder: Path) -> None:
    assert Run(folder).manifest()["format"] == 0

    part = Run(folder).part(3, 4)
    with part.folder.lock():
        part.append_reply(outcome("yes", 3))
        part.close()
    Run(folder).put_manifest(MANIFEST)

    assert json.loads((folder / "manifest.json").read_text())["format"] == 1
    assert Run(folder).manifest()["benchmark"] == "b"


def test_a_part_needs_a_manifest_and_a_number(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"it has no manifest\.json"):
        Run(tmp_path).part(1, 2).append_reply(outcome("yes", 1))
    with pytest.raises(StoreError, match="there is no part 0 of 2"):
        Run(tmp_path).part(0, 2)
