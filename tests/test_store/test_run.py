"""A run folder loses nothing, whatever happens to it."""

import copy
import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from snellen.core.model import Ranked, Reply, Usage
from snellen.errors import StoreError, UsageError
from snellen.store import (
    EventRecord,
    Failure,
    Folder,
    Key,
    Question,
    ReplyRecord,
    Run,
    Unknown,
    differences,
    identity_digest,
    open_run,
    reply_record,
    runs_below,
    runs_elsewhere,
    safe_name,
)

AT = "2026-01-01T00:00:00.000Z"


def replied(
    sample: str, text: str, *, repeat: int = 0, turn: int = 0, step: int = 0
) -> ReplyRecord:
    key = Key(sample, repeat, turn, step)
    return reply_record(key, "digest", AT, reply=Reply(text=text, stop="stop"))


def failed(sample: str, message: str = "refused") -> ReplyRecord:
    error = Failure(type="Overloaded", message=message)
    return reply_record((sample, 0, 0), "digest", AT, error=error)


def question(sample: str, position: int) -> Question:
    return Question(
        format=0,
        key=Key(sample),
        place=position,
        row="row",
        question=f"What is {sample}?",
        messages=[("user", [f"What is {sample}?"])],
    )


def stored(path: Path, *records: ReplyRecord) -> Run:
    path.mkdir(exist_ok=True)
    run = Run(path)
    for record in records:
        run.append_reply(record)
    run.close()
    return loaded(path)


def loaded(path: Path) -> Run:
    run = Run(path)
    run.load()
    return run


def test_a_reply_comes_back_as_it_was_stored(tmp_path: Path) -> None:
    reply = Reply(
        text="ångström\n\x00",
        reasoning="because",
        stop="stop",
        usage=Usage(input=3, output=1),
        choices=(Ranked(-0.5, 2),),
    )
    run = stored(tmp_path, reply_record(("a", 0, 0), "digest", AT, reply=reply))

    record = run.final(("a", 0, 0))

    assert record is not None
    assert record.as_reply() == reply


def test_a_later_failure_does_not_hide_a_reply(tmp_path: Path) -> None:
    run = stored(tmp_path, failed("a"), replied("a", "yes"), failed("a", "later"))

    final = run.final(("a", 0, 0))

    assert final is not None
    assert final.reply == "yes"
    assert run.has_reply(("a", 0, 0))


def test_the_last_failure_is_final_where_no_reply_came(tmp_path: Path) -> None:
    run = stored(tmp_path, failed("a", "one"), failed("a", "two"))

    final = run.final(("a", 0, 0))

    assert final is not None and final.error is not None
    assert final.error.message == "two"
    assert not run.has_reply(("a", 0, 0))


def test_repeats_and_turns_are_keys_of_their_own(tmp_path: Path) -> None:
    run = stored(
        tmp_path, replied("a", "0"), replied("a", "1", repeat=1), replied("a", "2", turn=1)
    )

    texts = [run.final(key) for key in (("a", 0, 0), ("a", 1, 0), ("a", 0, 1))]

    assert [record and record.reply for record in texts] == ["0", "1", "2"]


def test_a_journal_cut_at_every_byte_of_its_last_line_loses_that_line_alone(tmp_path: Path) -> None:
    stored(tmp_path, replied("a", "first"), replied("b", "second"))
    data = (tmp_path / "replies.jsonl").read_bytes()
    last = data.rindex(b"\n", 0, -1) + 1
    for cut in range(last, len(data)):
        (tmp_path / "replies.jsonl").write_bytes(data[:cut])

        run = loaded(tmp_path)
        assert run.has_reply(("a", 0, 0))
        assert not run.has_reply(("b", 0, 0))
        run.append_reply(replied("b", "again"))
        run.close()

        again = loaded(tmp_path)
        texts = [record.reply for record in again.replies() if isinstance(record, ReplyRecord)]
        assert texts == ["first", "again"], f"cut at byte {cut}"
        assert bool(cut > last) == any("incomplete last line" in note for note in run.notes)


def test_a_foreign_line_is_passed_over_and_reported(tmp_path: Path) -> None:
    stored(tmp_path, replied("a", "yes"))
    size = (tmp_path / "replies.jsonl").stat().st_size
    with (tmp_path / "replies.jsonl").open("ab") as file:
        file.write(b"\xff\xfe not json\n{}\n[1]\n")

    run = loaded(tmp_path)

    assert run.has_reply(("a", 0, 0))
    (note,) = run.notes
    assert note == (
        "replies.jsonl: 3 lines are not records and were skipped: those at bytes "
        f"{size}, {size + 12}, {size + 15}"
    )


def test_records_of_unknown_kinds_and_fields_are_kept(tmp_path: Path) -> None:
    stored(tmp_path, replied("a", "yes"))
    line = b'{"format":0,"kind":"smell","key":["a",0,0],"state":"ok"}'
    extended = (
        b'{"format":0,"key":["b",0,0],"kind":"reply","request":"d","state":"ok","at":"","aura":1}'
    )
    with (tmp_path / "replies.jsonl").open("ab") as file:
        file.write(line + b"\n" + extended + b"\n")

    run = loaded(tmp_path)

    assert Unknown("smell", line) in list(run.replies())
    assert run.has_reply(("b", 0, 0))
    run.append_reply(replied("c", "more"))
    run.close()
    assert extended in (tmp_path / "replies.jsonl").read_bytes()


def test_a_newer_format_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").write_bytes(b'{"format":9,"kind":"reply","key":["a",0,0]}\n')

    with pytest.raises(StoreError, match=r"format 9.*Install the version"):
        loaded(tmp_path)


def test_segments_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name, text in [("replies-10", "c"), ("replies", "a"), ("replies-2", "b")]:
        line = msgspec.json.encode(replied("a", text))
        (tmp_path / f"{name}.jsonl").write_bytes(line + b"\n")

    run = loaded(tmp_path)

    final = run.final(("a", 0, 0))
    assert final is not None
    assert final.reply == "c"


def test_questions_come_in_the_data_sets_order_and_the_first_row_of_a_key_counts(
    tmp_path: Path,
) -> None:
    run = Run(tmp_path)
    run.append_question(question("b", 1))
    run.append_question(question("a", 0))
    run.append_question(msgspec.structs.replace(question("a", 0), question="changed"))
    run.close()

    assert [q.question for q in loaded(tmp_path).questions()] == ["What is a?", "What is b?"]


def test_events_go_through_the_same_store(tmp_path: Path) -> None:
    run = Run(tmp_path)
    event = EventRecord(format=0, session="v1", seq=3, ev="frame", data={"t": 1.5})
    run.append_event(event)
    run.close()

    assert list(Run(tmp_path).events()) == [event]


def test_a_second_process_is_kept_out_and_told_by_whom(tmp_path: Path) -> None:
    script = (
        "from pathlib import Path; from snellen.store import Folder; from snellen.errors "
        "import StoreError\n"
        f"try:\n    Folder(Path({str(tmp_path)!r})).lock().__enter__()\n"
        "except StoreError as error:\n    print(error)\n"
    )
    with Folder(tmp_path).lock():
        out = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )

    assert "is writing this run" in out.stdout
    assert "process " in out.stdout


def test_the_lock_is_free_again_when_it_is_left(tmp_path: Path) -> None:
    with Folder(tmp_path).lock():
        pass
    with Folder(tmp_path).lock():
        pass


def test_a_full_disk_loses_no_whole_line(tmp_path: Path) -> None:
    script = f"""
import resource
from pathlib import Path
from snellen.errors import StoreError
from snellen.core.model import Reply
from snellen.store import Run, reply_record
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
run = Run(Path({str(tmp_path)!r}))
n = 0
try:
    while True:
        reply = Reply(text="x" * 100, stop="stop")
        run.append_reply(reply_record((str(n), 0, 0), "digest", "now", reply=reply))
        n += 1
except StoreError as error:
    print(n, error)
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    n, _, message = out.stdout.partition(" ")

    stored = (tmp_path / "replies.jsonl").read_bytes()
    run = loaded(tmp_path)

    assert "cannot be written" in message
    assert stored.endswith(b"\n"), "nothing of the line that did not fit"
    assert int(n) > 10
    assert len(list(run.replies())) == int(n)
    assert not run.notes, "what was written of the last line has been cut off again"


def test_too_many_open_files_are_told_with_what_to_do(tmp_path: Path) -> None:
    script = f"""
import os, resource
from pathlib import Path
from snellen.errors import StoreError
from snellen.store import Folder
folder = Folder(Path({str(tmp_path)!r}))
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
try:
    while True:
        os.dup(0)
except OSError:
    pass
try:
    folder.append("replies.jsonl", b"x")
except StoreError as error:
    print(error)
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert "Too many open files" in out.stdout
    assert "ulimit -Hn" in out.stdout and "--concurrency" in out.stdout


def test_a_whole_file_is_replaced_or_left_alone(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.put_atomic("report.json", b"old")

    def broken() -> list[bytes]:
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        folder.put_atomic("report.json", (chunk for chunk in broken()))

    assert folder.get("report.json") == b"old"
    assert folder.names() == ["report.json"]


def test_what_is_no_run_folder_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"not a run folder: it has no manifest\.json"):
        Run(tmp_path).manifest()
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(StoreError, match="is not a manifest"):
        Run(tmp_path).manifest()


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ('"identity": 3', r"got `int` - at `\$.identity`"),
        ('"identity": {"options": []}', r"`\$.identity.options`"),
        ('"rows": "5"', r"`\$.rows`"),
        ('"sessions": [{"command": "run"}]', r"`\$.sessions\[0\].command`"),
    ],
)
def test_a_manifest_of_odd_kinds_says_which_field(tmp_path: Path, fields: str, why: str) -> None:
    (tmp_path / "manifest.json").write_text(f'{{"format": 0, {fields}}}')
    with pytest.raises(StoreError, match=f"manifest.json is not a manifest: .*{why}"):
        Run(tmp_path).manifest()


REPLY = '{"format":0,"key":["a",0,0],"kind":"reply","request":"d","state":"ok","at":"","reply":%s}'
QUESTION = '{"format":0,"key":%s,"place":%s,"row":"d","question":"?","messages":[],"data":%s}'
CALL = '{"id":"1","name":"zoom","arguments":"{}"}'
DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("file", "line", "reason"),
    [
        ("replies", REPLY % 3, r"Expected `str`, got `int` - at `$.reply`"),
        ("replies", REPLY.replace('"ok"', '"fine"') % '"x"', "Invalid enum value 'fine'"),
        *(
            (
                "replies",
                REPLY % f'"x","steps":[{{"results":[{{"call":{CALL},"parts":["a",{part}]}}]}}]',
                f"a step has 0 media, so it has no media[{part}] - at `$.steps[0]`",
            )
            for part in (0, -1)
        ),
        (
            "replies",
            REPLY.replace("0,0]", "0,-1]") % '"x"',
            "['a', 0, -1] is not a key",
        ),
        ("questions", QUESTION % ('["a",0,0]', '"1"', "{}"), "at `$.place`"),
        ("questions", QUESTION % ('["a",0,0]', "-1", "{}"), r"Expected `int` >= 0 - at `$.place`"),
        ("questions", QUESTION % ('["a",0,0]', 10**15, "{}"), r"at `$.place`"),
        ("questions", QUESTION % ('["a",0]', "0", "{}"), "at `$.key`"),
        ("questions", QUESTION % ('["a",0,0]', "0", f'{{"x":{DEEP}}}'), "recursion"),
        ("events", '{"format":0,"session":"s","seq":"1","ev":"open"}', "at `$.seq`"),
        ("scores", '{"format":0,"sample":7}', "at `$.sample`"),
    ],
)
def test_a_line_that_is_no_record_is_set_aside_and_named_once(
    tmp_path: Path, file: str, line: str, reason: str
) -> None:
    (tmp_path / f"{file}.jsonl").write_text(f"{line}\n")
    run = Run(tmp_path)
    run.load()
    assert not run.has_reply(("a", 0, 0)) and run.final(("a", 0, 0)) is None
    assert [*run.replies(), *run.questions(), *run.first_questions(1)] == []
    assert [*run.events(), *run.scores()] == []
    run.close()
    (note,) = run.notes
    assert note.startswith(f"{file}.jsonl: the line at byte 0 is not a record and was skipped: ")
    assert reason in note


def test_an_earlier_reply_stands_where_a_later_line_is_damaged(tmp_path: Path) -> None:
    stored(tmp_path, replied("a", "yes"))
    with (tmp_path / "replies.jsonl").open("a") as file:
        file.write(REPLY % 3 + "\n")
    run = loaded(tmp_path)
    record = run.final(("a", 0, 0))
    assert record is not None and record.reply == "yes"


def test_a_file_is_no_run_folder_and_what_scores_it_is_said(tmp_path: Path) -> None:
    file = tmp_path / "theirs.jsonl"
    file.write_text("{}")

    with pytest.raises(StoreError, match=r"is a file, not .* `snellen score .*theirs\.jsonl`"):
        Run(file).manifest()


def test_the_same_identity_is_continued_and_another_says_what_differs(tmp_path: Path) -> None:
    identity = {"benchmark": "b", "generation": {"max_tokens": 512}}
    run, was, nearest = open_run(tmp_path, "b", "openai/x/y", identity)
    run.put_manifest({"identity": identity})
    assert (was, nearest) == ("new", [])
    assert run.path.parent == tmp_path / "b" / "openai__x__y"

    assert open_run(tmp_path, "b", "openai/x/y", identity)[1] == "continued"

    changed = {"benchmark": "b", "generation": {"max_tokens": 64}}
    _, was, nearest = open_run(tmp_path, "b", "openai/x/y", changed)
    assert was == "new"
    assert nearest == [identity_digest(identity), "generation.max_tokens (64, was 512)"]


def test_a_number_that_cannot_be_stored_is_refused() -> None:
    with pytest.raises(UsageError, match=r"cannot be stored: .*64-bit"):
        identity_digest({"generation": {"max_tokens": 2**64}})


def test_the_order_of_an_identitys_fields_does_not_matter() -> None:
    assert identity_digest({"a": 1, "b": 2}) == identity_digest({"b": 2, "a": 1})
    assert differences({"a": 1}, {"b": ""}) == ["a (1, was not set)", "b (not set, was empty)"]


def test_names_cannot_leave_the_runs_folder() -> None:
    assert safe_name("../../etc") == "__..__etc"
    assert safe_name("..") == "__"
    assert "/" not in safe_name("a/b\\c:d")


def test_a_name_that_no_file_system_takes_is_cut_and_told_apart_by_its_whole(
    tmp_path: Path,
) -> None:
    longest = "a" * 255
    item, other = safe_name(f"/weights/{longest}/1"), safe_name(f"/weights/{longest}/2")

    assert safe_name(longest) == longest
    assert item != other
    (tmp_path / item).mkdir()
    (tmp_path / other).mkdir()


def test_a_name_in_another_script_is_cut_too(tmp_path: Path) -> None:
    (tmp_path / safe_name("é/a" * 200)).mkdir()


def placed(folder: Path, *names: str) -> list[Path]:
    """Folders that look like runs, as far as finding them goes."""
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / "manifest.json").write_text("{}")
    return [folder / name for name in names]


def test_runs_are_found_below_any_folder_but_not_without_end(tmp_path: Path) -> None:
    actual = placed(
        tmp_path, "runs/b/m/1", "of/may/runs/b/m/2", "one", "runs/b/.old/3", "1/2/3/4/5/6/7",
        "one/judged/b/m/4",
    )  # fmt: skip

    assert runs_below(tmp_path) == sorted(actual[:3])
    assert runs_below(tmp_path / "of/may") == [actual[1]]
    assert runs_below(tmp_path / "nothing") == []


def test_a_link_to_other_runs_is_followed_once_and_upwards_never(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    mine, theirs = *placed(here, "b/m/1"), *placed(there, "b/m/2")
    for name, to in (("theirs", there), ("again", there), ("up", tmp_path), ("b/self", here / "b")):
        (here / name).symlink_to(to)
    (there / "back").symlink_to(here)

    assert [run.resolve() for run in runs_below(here)] in ([mine, theirs], [theirs, mine])
    assert runs_below(here, links=False) == [mine]


def test_runs_that_lie_elsewhere_than_in_a_runs_folder_are_named(tmp_path: Path) -> None:
    runs = placed(tmp_path, "b/m/1", "old/b/m/2")

    assert runs_elsewhere(tmp_path, runs[:1]) is None
    assert runs_elsewhere(tmp_path, runs) == f"found in {tmp_path}: b/m/1, old/b/m/2"
    assert runs_elsewhere(tmp_path, [runs[1]] * 12) == (
        f"found in {tmp_path}: {', '.join(['old/b/m/2'] * 10)} and 2 more"
    )


def test_a_file_that_is_flushed_is_not_closed_under_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Folder(tmp_path)
    folder.append("replies.jsonl", b"x")
    syncing, on = threading.Event(), threading.Event()
    order: list[str] = []

    def slow(fd: int) -> None:
        syncing.set()
        on.wait(10)
        os.fstat(fd)  # it is a file still
        order.append("flushed")

    monkeypatch.setattr(os, "fsync", slow)
    flushing = threading.Thread(target=folder.flush)
    flushing.start()
    assert syncing.wait(10)

    def close() -> None:
        folder.close()
        order.append("closed")

    closing = threading.Thread(target=close)
    closing.start()
    closing.join(0.2)
    assert order == []
    on.set()
    flushing.join(10)
    closing.join(10)
    assert order == ["flushed", "closed"]


def test_a_key_of_step_0_is_stored_as_three_and_any_other_as_four(tmp_path: Path) -> None:
    run = stored(tmp_path, replied("a", "calls"), replied("a", "answer", step=1))

    journal = (tmp_path / "replies.jsonl").read_text()
    keys = [json.loads(line)["key"] for line in journal.splitlines()]

    assert keys == [["a", 0, 0], ["a", 0, 0, 1]]
    records = [record for record in run.replies() if isinstance(record, ReplyRecord)]
    assert [(record.key.turn, record.key.step) for record in records] == [(0, 0), (0, 1)]
    final = run.final(Key("a", step=1))
    assert final is not None and final.reply == "answer"


def test_a_step_without_a_reply_leaves_its_row_unfinished(tmp_path: Path) -> None:
    run = stored(tmp_path, replied("a", "calls"), replied("b", "answer"))
    for row, key in enumerate((Key("a"), Key("b"), Key("a", step=1))):
        run.append_question(msgspec.structs.replace(question(key.sample, row % 2), key=key))
    run.close()

    again = loaded(tmp_path)

    assert [again.finished_at(row) for row in (0, 1)] == [0, 1]
    assert again.was_rendered(Key("a", step=1)) and not again.was_rendered(Key("a"))
    assert [item.key for item in again.questions()] == [("a", 0, 0), ("a", 0, 0, 1), ("b", 0, 0)]
    assert [item.key for item in again.first_questions(3)] == [("a", 0, 0), ("b", 0, 0)]


@pytest.mark.parametrize("key", [Key("a"), Key("a", 1, 2), Key("a", 1, 2, 3)])
def test_a_copied_key_is_the_same_key(key: Key) -> None:
    for copied in (pickle.loads(pickle.dumps(key)), copy.deepcopy(key), Key.of([*key])):
        assert type(copied) is Key
        assert (copied, copied.sample, copied.step) == (key, "a", key.step)
