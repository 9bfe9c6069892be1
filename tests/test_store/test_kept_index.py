"""The index that a large run keeps gives what its files give, whatever happened to either."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from snellen.core.model import Reply
from snellen.store import FORMAT, Failure, Key, Question, ReplyRecord, Run, reply_record

N = 300
LONG = "a long reply " * 1_500
AT = "2026-01-01T00:00:00.000Z"


def question(name: str, row_index: int, repeat: int = 0) -> Question:
    return Question(
        format=FORMAT,
        key=Key(name, repeat, 0),
        place=row_index,
        row="0" * 32,
        question="?",
        messages=[("user", ["?"])],
    )


def answer(run: Run, name: str, text: str | None, repeat: int = 0) -> None:
    error = None if text is not None else Failure(type="Rejected", message="no")
    reply = None if text is None else Reply(text=text)
    run.append_reply(reply_record(Key(name, repeat, 0), "0", AT, reply=reply, error=error))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a run of 6 MB: 300 questions, of which one failed at first, one failed, and one
    has no reply."""
    run = Run(tmp_path)
    run.put_manifest({"identity": {}})
    answer(run, "sample 5", None)
    for number in range(N):
        run.append_question(question(f"sample {number}", number))
        if number < N - 2:
            answer(run, f"sample {number}", f"{number} {LONG}")
    answer(run, f"sample {N - 2}", None)
    run.append_question(question("sample 0", 0, repeat=1))
    answer(run, "sample 0", f"again {LONG}", repeat=1)
    kept(run)
    return tmp_path


def kept(run: Run) -> None:
    with run.folder.lock():
        run.keep_index()
    run.close()


def contents(folder: Path) -> dict[str, Any]:
    """Everything that a loaded run says."""
    run = Run(folder)
    run.load()
    keys = [Key(f"sample {number}", repeat, 0) for number in range(N + 3) for repeat in range(2)]
    finals = {key: run.final(key) for key in keys}
    facts = {
        "finals": finals,
        "replied": [key for key in keys if run.has_reply(key)],
        "rendered": [key for key in keys if run.was_rendered(key)],
        "lacking": [key for key in keys if run.lacks_question(key)],
        "finished": [run.finished_at(number) for number in range(N + 3)],
        "finished rows": [run.finished_rows(repeats) for repeats in (1, 2)],
        "rows": [run.has_row(number) for number in range(N + 3)],
        "questions": [question.key for question in run.questions()],
        "notes": run.notes,
    }
    run.close()
    return facts


def without_index(folder: Path) -> dict[str, Any]:
    index = folder / ".index"
    content = index.read_bytes()
    index.unlink()
    facts = contents(folder)
    index.write_bytes(content)
    return facts


def test_an_index_gives_what_the_files_give(folder: Path) -> None:
    assert (folder / ".index").exists()
    facts = contents(folder)
    assert facts == without_index(folder)
    assert len(facts["replied"]) == N - 2 + 1
    assert facts["finished"][:2] == [2, 1]


def test_a_small_run_keeps_no_index(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.append_question(question("a", 0))
    kept(run)
    assert not (tmp_path / ".index").exists()


def append(folder: Path) -> None:
    run = Run(folder)
    answer(run, f"sample {N - 2}", "at last")
    run.append_question(question("new", N))
    answer(run, "new", "yes")
    run.close()


def cut_journal(folder: Path) -> None:
    journal = folder / "replies.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-10]))


def cut_almost_all(folder: Path) -> None:
    """Only the failure of a question is left, which has a reply later in the journal."""
    os.truncate(folder / "replies.jsonl", (folder / "replies.jsonl").read_bytes().index(b"\n") + 1)


def tear_last_line(folder: Path) -> None:
    os.truncate(folder / "replies.jsonl", (folder / "replies.jsonl").stat().st_size - 7)


def cut_questions(folder: Path) -> None:
    questions = folder / "questions.jsonl"
    questions.write_bytes(b"".join(questions.read_bytes().splitlines(keepends=True)[:-20]))


def overwrite_text(folder: Path) -> None:
    """Another sample gets a reply; the size, the inode, and the time of the file stay the same."""
    journal = folder / "replies.jsonl"
    status = journal.stat()
    content = journal.read_bytes()
    with journal.open("r+b") as file:
        file.write(content.replace(b'"sample 7"', b'"sample X"', 1))
    os.utime(journal, ns=(status.st_atime_ns, status.st_mtime_ns))


def damage_a_line(folder: Path) -> None:
    journal = folder / "replies.jsonl"
    content = journal.read_bytes()
    journal.write_bytes(content.replace(b'"state":"ok"', b'"state":"no"', 1))


def reorder(folder: Path) -> None:
    journal = folder / "replies.jsonl"
    journal.write_bytes(b"".join(reversed(journal.read_bytes().splitlines(keepends=True))))


def add_a_part(folder: Path) -> None:
    run = Run(folder).part(1, 2)
    run.append_question(question("of a part", N + 1))
    answer(run, "of a part", "yes")
    run.close()


CHANGES = (
    *(append, cut_journal, cut_almost_all, tear_last_line, cut_questions, overwrite_text),
    *(damage_a_line, reorder, add_a_part),
)


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_is_read_as_it_is_now(folder: Path, change: Callable[[Path], None]) -> None:
    change(folder)
    assert contents(folder) == without_index(folder)


@pytest.mark.parametrize("change", CHANGES)
def test_an_index_that_is_kept_after_a_change_gives_what_the_files_give(
    folder: Path, change: Callable[[Path], None]
) -> None:
    change(folder)
    kept(Run(folder))
    assert contents(folder) == without_index(folder)
    append(folder)
    assert contents(folder) == without_index(folder)


def test_a_copied_run_uses_its_index_or_its_files(folder: Path, tmp_path: Path) -> None:
    facts = contents(folder)
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in folder.glob("*.jsonl"):
        (copy / path.name).write_bytes(path.read_bytes())
    (copy / ".index").write_bytes((folder / ".index").read_bytes())
    assert contents(copy) == facts


@pytest.mark.parametrize("end", [0, 10, 32, 33, 5_000, -1])
def test_a_truncated_index_is_not_used(folder: Path, end: int) -> None:
    facts = contents(folder)
    index = folder / ".index"
    index.write_bytes(index.read_bytes()[:end])
    assert contents(folder) == facts
    kept(Run(folder))
    assert len(index.read_bytes()) > 5_000


def test_the_index_of_another_version_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later version may index lines that this version must refuse."""
    from snellen.store import kept_index

    facts = contents(folder)
    (folder / ".index").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(kept_index, "NEWEST", kept_index.NEWEST + 1)
        kept(Run(folder))
    later = (folder / ".index").read_bytes()
    assert contents(folder) == facts
    kept(Run(folder))
    assert (folder / ".index").read_bytes() != later


def test_replies_that_may_be_asked_again_are_read_from_the_journal(folder: Path) -> None:
    run = Run(folder)
    seen: list[ReplyRecord] = []

    def asks_again(record: ReplyRecord) -> bool:
        seen.append(record)
        return record.key.sample == "sample 3"

    run.load(asks_again)
    assert len(seen) == N - 2 + 1
    assert not run.has_reply(("sample 3", 0, 0))
    assert run.finished_rows(1) == {*range(N - 2)} - {3}
    run.close()
