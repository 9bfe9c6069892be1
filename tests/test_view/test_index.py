"""The index says what the run's files say, however it came to be, and changes none of them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import re
import sqlite3
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import StoreError
from snellen.scoring.judge import judged_id
from snellen.store import EventRecord, Key, Run
from snellen.view import index as _index
from snellen.view import pages as _pages
from snellen.view.index import FILE, TEXTS, Index, phrase
from snellen.view.pages import Pages
from snellen.view.query import Wanted
from snellen.view.samples import find, key_of, question_of, reply_of, states
from tests.viewers import put_scores, question, reply, run_in, score


def index_of(run: Run) -> Index:
    index = Index(run.path, run.path / FILE)
    index.catch_up()
    return index


def rows_of(index: Index) -> list[Any]:
    """All that is known of all samples, in the data set's order."""
    with index.connect() as connection:
        return connection.execute(
            "SELECT s.sample, s.repeat, s.turn, s.place, s.state, s.length, s.attempts, "
            "h.question, h.target, h.reply, x.score, x.state, x.rule, x.answer "
            "FROM samples s LEFT JOIN shown h ON h.row = s.row "
            "LEFT JOIN scores x ON x.row = s.row ORDER BY s.place, s.repeat, s.turn"
        ).fetchall()


def matching(index: Index, words: str) -> set[str]:
    with index.connect() as connection:
        rows = connection.execute(
            f"SELECT sample FROM samples WHERE row IN "
            f"(SELECT rowid >> {TEXTS} FROM words WHERE words MATCH ?)",
            (phrase(words),),
        )
        return {name for (name,) in rows}


def of(index: Index, sample: str, turn: int = 0) -> Any:
    with index.connect() as connection:
        row = find(connection, Key(sample, 0, turn))
        assert row is not None
        return reply_of(index, connection, row)


def digests(path: Path) -> dict[str, str]:
    """Of the run's own files."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in path.iterdir()
        if not file.name.startswith(FILE)
    }


def test_a_sample_is_found_with_its_question_reply_and_score(tmp_path: Path) -> None:
    run = run_in(
        tmp_path / "run",
        [question("a", 0, target="B"), question("b", 1)],
        [reply("b", "a cat"), reply("a", "B, I think")],
        [score("a", 1.0, answer="B"), score("b", 0.0, answer="A", rule="the last letter")],
    )
    assert rows_of(index_of(run)) == [
        ("a", 0, 0, 0, "ok", 10, 1, "What is a?", "B", "B, I think", 1.0, "answered", "a letter",
         "B"),
        ("b", 0, 0, 1, "ok", 5, 1, "What is b?", "", "a cat", 0.0, "answered", "the last letter",
         "A"),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_what_is_appended_bit_by_bit_gives_the_same_as_all_at_once(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    names = [f"s{n}" for n in range(30)]
    records: list[Any] = []
    for number, name in enumerate(names):
        records.append(question(name, number))
        for _ in range(draw.choice((0, 1, 1, 3))):
            failed = draw.random() < 0.4
            records.append(reply(name, f"said {draw.random()}", "failed" if failed else "ok"))
    run = run_in(tmp_path / "run")
    bit_by_bit = Index(run.path, tmp_path / "bit.sqlite")
    for record in records:
        if hasattr(record, "place"):
            run.append_question(record)
        else:
            run.append_reply(record)
        if draw.random() < 0.3:
            bit_by_bit.catch_up()
    bit_by_bit.catch_up()
    at_once = Index(run.path, tmp_path / "once.sqlite")
    at_once.catch_up()

    assert rows_of(bit_by_bit) == rows_of(at_once)
    run.load()
    for name in names:  # the store itself says which record is the final one
        assert of(at_once, name) == run.final((name, 0, 0))
    run.close()


def test_a_failure_after_a_reply_leaves_the_reply_and_both_are_kept(tmp_path: Path) -> None:
    run = run_in(
        tmp_path / "run",
        [question("a")],
        [reply("a", "busy", "failed"), reply("a", "B", attempt=2), reply("a", "late", "failed")],
    )
    index = index_of(run)
    assert of(index, "a").reply == "B"
    with index.connect() as connection:
        assert states(connection) == {"ok": 1}
        assert connection.execute("SELECT count(*) FROM attempts").fetchone() == (3,)


def test_a_torn_last_line_is_taken_in_once_it_is_whole(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", [question("a"), question("b", 1)], [reply("a", "A")])
    run.close()
    complete = run_in(tmp_path / "other", [], [reply("b", "B")])
    line = (complete.path / "replies.jsonl").read_bytes()
    with (run.path / "replies.jsonl").open("ab") as journal:
        journal.write(line[:40])
        journal.flush()
        index = index_of(run)
        with index.connect() as connection:
            assert states(connection) == {"ok": 1, "waiting": 1}
        journal.write(line[40:])
    index.catch_up()
    assert of(index, "b").reply == "B"


def test_the_first_row_of_a_key_counts(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", [question("a", target="A"), question("a", target="B")])
    index = index_of(run)
    with index.connect() as connection:
        row = find(connection, Key("a"))
        assert row is not None
        stored_question = question_of(index, connection, row)
    assert stored_question is not None and stored_question.target == "A"


def test_segments_are_read_in_order(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", [question("a")], [reply("a", "first")])
    run.close()
    later = run_in(tmp_path / "later", [], [reply("a", "second")])
    (later.path / "replies.jsonl").rename(run.path / "replies-2.jsonl")
    assert of(index_of(run), "a").reply == "second"


def test_scores_that_are_replaced_are_read_again(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", [question("a")], [reply("a", "A")], [score("a", 0.0)])
    index = index_of(run)
    put_scores(run, [score("a", 1.0), score("a", 0.5, "robust")])
    index.catch_up()
    with index.connect() as connection:
        rows = connection.execute("SELECT scoring, score FROM scores").fetchall()
    assert rows == [("official", 1.0), ("robust", 0.5)]


def test_the_score_of_a_conversation_is_its_last_turns_and_of_a_turn_that_turns(
    tmp_path: Path,
) -> None:
    run = run_in(
        tmp_path / "run",
        [question("a"), question("a", turn=1), question("b", 1), question("b", 1, turn=1)],
        [reply("a", "1"), reply("a", "2", turn=1), reply("b", "1"), reply("b", "2", turn=1)],
        [score("a", 1.0), score("b#1", 0.0), score("b#2", 0.5)],
    )
    scores = {row[:3]: row[10] for row in rows_of(index_of(run))}
    assert scores == {("a", 0, 0): None, ("a", 0, 1): 1.0, ("b", 0, 0): 0.0, ("b", 0, 1): 0.5}


@pytest.mark.parametrize("damage", ["gone", "rubbish", "torn", "older"])
def test_an_index_that_is_gone_or_damaged_is_made_again(tmp_path: Path, damage: str) -> None:
    many = [f"s{n}" for n in range(300)]
    run = run_in(
        tmp_path / "run",
        [question(name, number) for number, name in enumerate(many)],
        [reply(name, f"reply {name}") for name in many],
    )
    index = index_of(run)
    before = rows_of(index)
    for ending in ("-wal", "-shm"):
        index.file.with_name(index.file.name + ending).unlink(missing_ok=True)
    if damage == "gone":
        index.file.unlink()
    elif damage == "rubbish":
        index.file.write_bytes(b"no database" * 1000)
    elif damage == "torn":
        data = index.file.read_bytes()
        index.file.write_bytes(data[: len(data) // 2])
    else:
        with index.connect() as connection:
            connection.execute("PRAGMA user_version = 99999")
    index.catch_up()
    assert rows_of(index) == before


def test_another_run_in_the_place_of_one_is_read_anew(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", [question("a")], [reply("a", "A")])
    index = index_of(run)
    for name in ("questions.jsonl", "replies.jsonl"):
        (run.path / name).unlink()
    run.close()
    run = run_in(run.path, [question("b")], [reply("b", "B" * 500)])
    index.catch_up()
    assert [row[0] for row in rows_of(index)] == ["b"]


def test_the_runs_own_files_and_its_lock_are_left_alone(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", [question("a")], [reply("a", "A")], [score("a", 1.0)])
    run.close()
    before = digests(run.path)
    with run.folder.lock():  # the runner has it
        held = digests(run.path)["lock"]
        index_of(run)
        assert digests(run.path)["lock"] == held
    after = digests(run.path)
    after.pop("lock")
    assert after == before


def test_lines_that_are_no_records_are_passed_over(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", [question("a"), question("b", 1)], [reply("a", "A")])
    run.close()
    with (run.path / "replies.jsonl").open("ab") as journal:
        journal.write(b"\n{}\n[1]\n\xff\xfe\n" + b'{"format":0,"kind":"new","key":["b",0,0]}\n')
        journal.write(b'{"format":0,"key":["b",0,0],"kind":"reply","reply":"\\ud800"}\n')
    run.append_reply(reply("b", "B"))
    run.close()
    assert of(index_of(run), "b").reply == "B"


def test_a_run_of_a_later_version_is_refused_in_words(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", [question("a")])
    run.close()
    with (run.path / "replies.jsonl").open("ab") as journal:
        journal.write(b'{"format":99,"key":["a",0,0],"kind":"reply","state":"ok"}\n')
    with pytest.raises(StoreError, match="has format 99"):
        index_of(run)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("cat", {"a"}),
        ("CAT", {"a"}),
        ("a black cat", {"a"}),
        ("cat black", set()),
        ("bla", {"a"}),
        ("lack", set()),
        ("naive", {"b"}),
        ("灯笼", {"c"}),
        ("笼灯", set()),
        ("timed out", {"d"}),
        ("What is", {"a", "b", "c", "d"}),
        ('cat" OR "naive', set()),
        ("cat*", {"a"}),
        ("hidden", {"b"}),
    ],
)
def test_words_are_found_in_questions_replies_thoughts_and_errors(
    tmp_path: Path, words: str, expected: set[str]
) -> None:
    run = run_in(
        tmp_path / "run",
        [question(name, number) for number, name in enumerate("abcd")],
        [
            reply("a", "It is a black cat."),
            reply("b", "A naïve answer", reasoning="with a hidden\0thought"),
            reply("c", "图中的物品是灯笼。"),
            reply("d", "the request timed out", "failed"),
        ],
    )
    assert matching(index_of(run), words) == expected


def test_an_online_runs_moments_are_there(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", [question("a")], [reply("a", "yes")])
    events: Sequence[tuple[str, dict[str, Any]]] = [
        ("open", {"samples": ["a"]}),
        ("frame", {"pts": 0.0, "delivered": True}),
        ("ask", {"query": "a", "at": 0.5}),
        ("call", {"kind": "feed"}),
        ("frame", {"pts": 1.0, "delivered": False}),
        ("emit", {"query": "a", "at": 2.0, "text": "yes"}),
    ]
    for seq, (ev, data) in enumerate(events):
        run.append_event(EventRecord(format=0, session="x", seq=seq, ev=ev, data=data))
    index = index_of(run)
    with index.connect() as connection:
        rows = connection.execute("SELECT ev, at, said FROM events ORDER BY seq").fetchall()
        assert key_of(connection, 1) == ("a", 0, 0)
    assert rows == [
        ("frame", 0.0, None),
        ("ask", 0.5, None),
        ("frame", 1.0, "dropped"),
        ("emit", 2.0, "yes"),
    ]


def test_two_viewers_and_their_threads_can_make_it_at_once(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", [question("a")], [reply("a", "A")])
    for number in range(5):
        file = tmp_path / f"{number}.sqlite"
        indexes = [Index(run.path, file) for _ in range(2)]
        ready = threading.Barrier(6)

        def look(index: Index, ready: threading.Barrier = ready) -> int:
            ready.wait()
            index.extend()
            with index.connect() as connection:
                return int(connection.execute("SELECT count(*) FROM samples").fetchone()[0])

        with ThreadPoolExecutor(6) as pool:
            assert all(n in (0, 1) for n in pool.map(look, indexes * 3))


def test_one_that_is_damaged_where_it_is_read_is_made_again(tmp_path: Path) -> None:
    questions = [question(f"s{n}", n) for n in range(500)]
    run = run_in(tmp_path / "run", questions, [])
    index = index_of(run)
    with index.connect() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page, root = connection.execute(
            "SELECT p.page_size, s.rootpage FROM pragma_page_size p, sqlite_schema s "
            "WHERE s.name = 'places'"
        ).fetchone()
    with index.file.open("r+b") as file:
        file.seek(page * (root - 1))
        file.write(b"\xff" * page)
    with (
        pytest.raises(StoreError, match=r"was damaged .* Reload the page to rebuild it"),
        index.connect() as connection,
    ):
        connection.execute("SELECT place FROM samples INDEXED BY places").fetchall()
    index.catch_up()
    with index.connect() as connection:
        assert states(connection) == {"waiting": 500}


def test_a_row_number_that_no_data_set_has_is_passed_over(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run", [question("a", 10**30), question("b", 1)])
    with index_of(run).connect() as connection:
        assert states(connection) == {"waiting": 1}


def test_choices_are_not_counted_on_every_page_while_a_runner_appends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_in(tmp_path / "b" / "m" / "1", [question(f"s{n}", n) for n in range(500)])
    pages = Pages(tmp_path)
    index = pages.indexes.of(run.path)
    index.catch_up()
    pages.samples("b/m/1", Wanted())

    def counted() -> list[tuple[str, int]]:
        ((_, known),) = pages._counted.items()
        return next([*facet.choices] for facet in known.facets if facet.name == "state")

    run.append_question(question("later", 500))
    run.append_question(question("even later", 501))
    index.catch_up()
    monkeypatch.setattr(_pages, "RESTED", 1e9)
    assert "502 samples" in pages.samples("b/m/1", Wanted())
    assert pages._counting == set()
    assert counted() == [("waiting", 500)]
    monkeypatch.setattr(_pages, "RESTED", 0)
    pages.samples("b/m/1", Wanted(state="waiting"))
    until = time.monotonic() + 30
    while counted() != [("waiting", 502)] and time.monotonic() < until:
        time.sleep(0.01)
    assert counted() == [("waiting", 502)]
    pages.stop()


def test_a_run_that_is_not_read_to_its_end_is_not_said_to_stand_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_index, "PATIENCE", 0.05)
    names = ["a", "b", "c"]
    run = run_in(
        tmp_path / "b" / "m" / "1",
        [question(name, n) for n, name in enumerate(names)],
        [reply("a"), reply("b")],
    )
    run.close()
    pages = Pages(tmp_path)
    index = pages.indexes.of(run.path)
    index.catch_up()
    assert "2 of 3</span>" in (page := pages.run_page("b/m/1")) and "the run has stopped" in page

    run_in(run.path, [], [reply("c"), *[reply("c", "again " * 50) for _ in range(9)]]).close()
    with contextlib.closing(sqlite3.connect(index.file, isolation_level=None)) as busy:
        busy.execute("BEGIN IMMEDIATE")  # another viewer is at it
        time.sleep(0.35)  # an index that had everything is taken as it is for a moment
        page = pages.run_page("b/m/1")
        assert "has stopped" not in page and "waiting" not in page
        assert "reading the run's files" in page
        assert "No samples match so far" in pages.samples("b/m/1", Wanted(state="failed"))
        busy.execute("ROLLBACK")
    index.catch_up()
    assert "has stopped" not in pages.run_page("b/m/1")
    pages.stop()


def test_a_run_that_ended_in_the_middle_of_a_line_stands_still(tmp_path: Path) -> None:
    run = run_in(tmp_path / "b" / "m" / "1", [question("a"), question("b", 1)], [reply("a")])
    run.close()
    with (run.path / "replies.jsonl").open("a") as journal:
        journal.write('{"format":0,"key":["b",0,0],"kind":"reply","request":"' + "1" * 99)
    pages = Pages(tmp_path)
    pages.indexes.of(run.path).catch_up()

    page = pages.run_page("b/m/1")

    assert "1 of 2</span>" in page and "the run has stopped" in page
    assert "reading the run's files" not in page
    pages.stop()


def test_what_a_judge_said_of_several_replies_stands_beside_each_of_them(tmp_path: Path) -> None:
    names = {
        name: judged_id(Sample(id=name, question=""), Reply(text="It is red."))
        for name in ("a", "b+c", "d")
    }
    run = run_in(tmp_path / "b" / "m" / "1", [*map(question, names)],
                 [reply(name, "It is red.") for name in names],
                 [score(name, 1.0) for name in names])  # fmt: skip
    batch = f"{names['a']}+{names['b+c']}"
    of = run.path / "judged" / "mine.official" / "judge" / "1"
    run_in(of, replies=[reply(batch, "yes, no")]).close()
    pages = Pages(tmp_path)

    shown = {
        name: re.findall("as judge: <q><bdi>(.*?)</bdi>", page)
        for name in names
        for page in [pages.sample("b/m/1", Key(name), Wanted())]
    }

    assert shown == {"a": ["yes, no"], "b+c": ["yes, no"], "d": []}
    run.close()
    pages.stop()


def test_what_judges_said_stands_beside_the_score(tmp_path: Path) -> None:
    judged_key = judged_id(Sample(id="a", question=""), Reply(text="It is red."))
    run = run_in(tmp_path / "b" / "m" / "1", [question("a")], [reply("a", "It is red.")],
                 [score("a", 1.0)])  # fmt: skip
    for name in ("judge", "piped", "linked"):
        of = run.path / "judged" / "mine.official" / name / "1"
        verdicts = [reply(judged_key, f"{name}: yes"), reply(judged_key, f"{name}: no", repeat=1)]
        run_in(of, replies=[*verdicts, reply("a~0", "of another reply")]).close()
    os.mkfifo(run.path / "judged" / "mine.official" / "piped" / "1" / "scores.jsonl")
    journal = run.path / "judged" / "mine.official" / "linked" / "1" / "replies.jsonl"
    journal.rename(tmp_path / "elsewhere.jsonl")
    journal.symlink_to(tmp_path / "elsewhere.jsonl")
    pages = Pages(tmp_path)

    page = pages.sample("b/m/1", Key("a"), Wanted())

    assert re.findall("(\\w+) as judge: <q><bdi>(.*?)</bdi>", page) == [
        ("judge", "judge: yes"),
        ("judge", "judge: no"),
    ]
    run.close()
    pages.stop()
