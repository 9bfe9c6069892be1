"""The viewer's index of a run's samples, built from the run's files alone.

The file `view.sqlite` can be deleted at any time, because the viewer rebuilds it. While a run
appends records to its files, the viewer adds these records to the index. The index contains the
file offsets of questions and replies, the columns for sorting and filtering, the beginnings of the
texts, and a full-text index. The index does not contain full replies.
"""

from __future__ import annotations

import math
import re
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import orjson

from snellen.core.answer import Answer, AnswerKind, ChoiceAnswer, answer_words
from snellen.errors import StoreError
from snellen.store import EventRecord, Key, Placed, Question, ReplyRecord, Run, ScoreRow
from snellen.view._text import excerpt

VERSION = 5
FILE = "view.sqlite"
HEAD = 1024
"""The number of bytes at the beginning of a file that identify the file."""
SHOWN = 160
"""The maximum number of a text's characters that a list shows."""
TYPED = 100_000
"""The maximum size of an answer's JSON, in bytes, that is indexed in full."""
EVENT_TEXT = 2_000
"""The maximum number of an event's characters that are indexed."""
PATIENCE = 5.0
"""The time in seconds to wait for another viewer's lock."""
SLICE = 0.5
"""The time in seconds between two commits, which is also the longest time that another viewer
waits."""
SCORES = "scores.jsonl"
TEXTS = 10
"""The number of low bits in a rowid of `words`. The low bits contain the number of a text within a
sample, and the high bits contain the sample's row. Search covers a sample's first 1,024 texts."""

TABLES = """
CREATE TABLE IF NOT EXISTS known (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS taken (part TEXT, file TEXT, upto INTEGER, head BLOB,
    PRIMARY KEY (part, file)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS samples (
    row INTEGER PRIMARY KEY, sample TEXT, repeat INTEGER, turn INTEGER, step INTEGER, place INTEGER,
    state TEXT, length INTEGER, seconds REAL, tokens INTEGER, attempts INTEGER,
    texts INTEGER DEFAULT 0, earlier INTEGER DEFAULT 0,
    question_file TEXT, question_at INTEGER, question_size INTEGER,
    reply_file TEXT, reply_at INTEGER, reply_size INTEGER);
CREATE UNIQUE INDEX IF NOT EXISTS keys ON samples (sample, repeat, turn, step);
-- The last step of a turn stands for the question. `earlier` is 1 for the steps before it, which
-- are not in lists and counts.
CREATE INDEX IF NOT EXISTS places ON samples (place, repeat, turn, step, row, earlier);
CREATE INDEX IF NOT EXISTS states ON samples (state, row, earlier);
CREATE INDEX IF NOT EXISTS steps ON samples (earlier) WHERE earlier = 1;
-- If a key has several records: all of these records, in order.
CREATE TABLE IF NOT EXISTS attempts (
    row INTEGER, number INTEGER, file TEXT, at INTEGER, size INTEGER,
    PRIMARY KEY (row, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shown (row INTEGER PRIMARY KEY, question TEXT, target TEXT, reply TEXT,
    pictures INTEGER);
CREATE TABLE IF NOT EXISTS tags (tag TEXT, value TEXT, row INTEGER,
    PRIMARY KEY (tag, value, row)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS scores (
    scoring TEXT, row INTEGER, score REAL, state TEXT, rule TEXT, answer TEXT,
    candidates TEXT, key INTEGER, typed TEXT, PRIMARY KEY (scoring, row)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS readings ON scores (scoring, state, row);
CREATE INDEX IF NOT EXISTS worths ON scores (scoring, score, row, key);
-- For joins between two runs: `key` is a digest of the sample's key, equal in every run.
CREATE INDEX IF NOT EXISTS pairs ON scores (scoring, key, score);
-- For online runs: what was shown (frame), asked, and said (emit), and at which media time.
CREATE TABLE IF NOT EXISTS sessions (sample TEXT, session TEXT,
    PRIMARY KEY (sample, session)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    session TEXT, seq INTEGER, ev TEXT, at REAL, sample TEXT, said TEXT,
    PRIMARY KEY (session, seq)) WITHOUT ROWID;
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
    said, content = '', tokenize = "unicode61 remove_diacritics 2");
-- 32 MB of words are kept in memory until a commit. With the default of 1 MB, building the index
-- takes three times as long.
INSERT INTO words (words, rank) VALUES ('hashsize', 33554432);
"""
CLOSE_WRITTEN = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ud7af\uf900-\ufaff]")
"""Matches characters of scripts that have no spaces between words. Each character is indexed as a
word."""


ROW_OF_KEY = "SELECT row FROM samples WHERE sample = ? AND repeat = ? AND turn = ? AND step = ?"
EARLIER_STEPS = "SELECT row FROM samples WHERE earlier = 1"
"""The rows of all steps before the last step of their turn."""


class Stale(Exception):
    """The index was built from other files or by another version. It is then rebuilt."""


class Index:
    """The index of one run. `connect` opens a new connection for every reader."""

    def __init__(self, run: Path, file: Path) -> None:
        self.run = run
        self.file = file
        self._lock = threading.Lock()
        self.complete = -math.inf
        """The time at which the index was last complete, on the monotonic clock."""
        self.has_more = True
        """Whether the run's files have records that are not indexed yet."""

    @contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """Open a connection for reading. Another thread may extend the index at the same time.

        Raises:
            StoreError: the index was damaged. The next page that needs the index rebuilds it.
        """
        try:
            with closing(_opened(self.file)) as connection:
                yield connection
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:
                raise
            self._remove()
            raise StoreError(
                f"The viewer's index {self.file} was damaged ({error}). Reload the page to rebuild "
                "it."
            ) from error

    def extend(self, seconds: float = SLICE) -> bool:
        """Index new records for at most this many seconds. Returns whether records are left.

        Raises:
            StoreError: the run's files cannot be read, or a later version of Snellen wrote them.
        """
        if not self._lock.acquire(blocking=False):
            return True  # another thread is extending it
        try:
            now = time.monotonic()
            self.has_more = self._extended(seconds)
            self.complete = self.complete if self.has_more else now
            return self.has_more
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                self.has_more = True
                return True  # another viewer is extending it
            raise StoreError(
                f"The viewer's index {self.file} cannot be written: {error}. Free disk space, or "
                "delete the file."
            ) from error
        except (Stale, sqlite3.DatabaseError):
            self._remove()
            return True
        finally:
            self._lock.release()

    def catch_up(self) -> None:
        """Index all new records."""
        while self.extend():
            pass

    def share(self) -> tuple[float, float]:
        """How much of the run's files is indexed, as two fractions: for the lists of samples and
        scores, and for full-text search."""
        run = Run(self.run)
        sizes = {
            name: stamp.size
            for stem in ("questions", "replies", "events", "scores")
            for name in run.folder.segments(stem)
            if (stamp := run.folder.stamp(name)) is not None
        }
        with self.connect() as connection:
            taken = {
                (part, file): upto
                for part, file, upto in connection.execute("SELECT part, file, upto FROM taken")
            }
        core = sum(min(taken.get(("samples", name), 0), size) for name, size in sizes.items())
        worded = {
            name: size for name, size in sizes.items() if name.startswith(("questions", "replies"))
        }
        words = sum(min(taken.get(("words", name), 0), size) for name, size in worded.items())
        return core / (sum(sizes.values()) or 1), words / (sum(worded.values()) or 1)

    def _remove(self) -> None:
        self.complete = -math.inf
        for ending in ("", "-wal", "-shm"):
            self.file.with_name(self.file.name + ending).unlink(missing_ok=True)

    def _extended(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        with closing(_opened(self.file)) as connection, closing(Run(self.run)) as run:
            connection.execute("BEGIN IMMEDIATE")
            left = _Taking(connection, run, until).all()
            connection.commit()  # if this is not reached, closing rolls back
        return left


def _opened(file: Path) -> sqlite3.Connection:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return _open(file)
        except sqlite3.OperationalError as error:
            # SQLite's own timeout does not apply while another process creates the file.
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.02)


def _open(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        file, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    with ExitStack() as stack:
        stack.callback(connection.close)
        # The index is derived data, so it need not survive a power cut: it can be rebuilt. The file
        # may have been copied together with somebody else's run, so it is not trusted.
        connection.executescript(
            "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; "
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
        )
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise Stale("another version wrote the index")
        if version == 0:
            # Another thread or viewer may be creating the index at the same time.
            connection.executescript(
                f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;"
            )
        stack.pop_all()
    return connection


class _Taking:
    """Adds records to the index in one transaction."""

    def __init__(self, connection: sqlite3.Connection, run: Run, until: float) -> None:
        self._do = connection.execute
        self._many = connection.executemany
        self._run = run
        self._until = until
        self._changed = False

    def all(self) -> bool:
        """Index records until the deadline. Returns whether records are left."""
        self._check_files()
        left = (
            self._take("samples", self._run.appended_questions, self._question)
            or self._take("samples", self._run.appended_replies, self._reply)
            or self._scores()
            or self._take("samples", self._run.appended_events, self._event)
            or self._take("words", self._run.appended_questions, self._index_question)
            or self._take("words", self._run.appended_replies, self._index_reply)
        )
        if self._changed:
            self._do(
                "INSERT INTO known VALUES ('changes', 1) "
                "ON CONFLICT DO UPDATE SET value = value + 1"
            )
        return left

    def _check_files(self) -> None:
        """Check that each indexed file is still the same file.

        Raises:
            Stale: a file was replaced, so the index must be rebuilt.
        """
        for file, upto, head in self._do(
            "SELECT file, upto, head FROM taken WHERE part = 'samples' AND file != ?", (SCORES,)
        ).fetchall():
            stamp = self._run.folder.stamp(file)
            begins = b"" if stamp is None else self._run.folder.beginning(file, len(head))
            if stamp is None or stamp.size < upto or begins != head:
                raise Stale(f"{file} was replaced")

    def _take(self, part: str, appended: Any, use: Any) -> bool:
        since = {
            file: upto
            for file, upto in self._do("SELECT file, upto FROM taken WHERE part = ?", (part,))
        }
        upto: dict[str, int] = {}
        left = False
        for n, (placed, record) in enumerate(appended(since)):
            try:
                use(placed, record)
            except OverflowError as error:
                raise StoreError(
                    f"{self._run.path / placed.file}: the line at byte {placed.offset} contains a "
                    "number with more than 64 bits, which Snellen does not write. The file was "
                    "changed by hand or by another program. Restore the line."
                ) from error
            upto[placed.file] = placed.offset + placed.size
            if n % 64 == 63 and time.monotonic() > self._until:
                left = True
                break
        for file, end in upto.items():
            self._changed = True
            self._do(
                "INSERT INTO taken VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET upto = excluded.upto, head = excluded.head",
                (part, file, end, self._run.folder.beginning(file, min(end, HEAD))),
            )
        return left

    def _row(self, key: Key) -> int:
        values = (key.sample, key.repeat, key.turn, key.step)
        known = self._do(ROW_OF_KEY, values).fetchone()
        if known is None:
            added = self._do(
                "INSERT INTO samples (sample, repeat, turn, step, earlier) VALUES (?1, ?2, ?3, ?4, "
                "EXISTS (SELECT 1 FROM samples WHERE sample = ?1 AND repeat = ?2 AND turn = ?3 "
                "AND step > ?4))",
                values,
            )
            row = int(added.lastrowid or 0)
            if key.step:
                self._do(
                    "UPDATE samples SET earlier = 1 WHERE sample = ? AND repeat = ? AND turn = ? "
                    "AND step < ? AND earlier = 0",
                    values,
                )
            return row
        return int(known[0])

    def _question(self, placed: Placed, question: Question) -> None:
        row = self._row(question.key)
        first = self._do(
            "UPDATE samples SET place = ?, question_file = ?, question_at = ?, question_size = ? "
            "WHERE row = ? AND question_file IS NULL",
            (question.place, *placed, row),
        ).rowcount
        if not first:
            return  # for each key, only the first question counts
        pictures = sum(medium.kind == "image" for medium in question.media[:1])
        target = question.target if question.target is not None else "; ".join(question.references)
        self._do(
            "INSERT INTO shown (row, question, target, pictures) VALUES (?, ?, ?, ?) ON CONFLICT "
            "DO UPDATE SET question = excluded.question, target = excluded.target, "
            "pictures = excluded.pictures",
            (row, excerpt(question.question, SHOWN), excerpt(target, SHOWN), pictures),
        )
        self._many(
            "INSERT OR IGNORE INTO tags VALUES (?, ?, ?)",
            [(tag, value, row) for tag, value in question.tags.items() if value != ""],
        )

    def _reply(self, placed: Placed, record: ReplyRecord) -> None:
        row = self._row(record.key)
        (before, number, *where) = self._do(
            "SELECT state, coalesce(attempts, 0), reply_file, reply_at, reply_size FROM samples "
            "WHERE row = ?",
            (row,),
        ).fetchone()
        if number == 1:
            self._do(
                "INSERT INTO attempts SELECT row, 0, reply_file, reply_at, reply_size FROM samples "
                "WHERE row = ?",
                (row,),
            )
        if number:
            self._do("INSERT INTO attempts VALUES (?, ?, ?, ?, ?)", (row, number, *placed))
        self._do("UPDATE samples SET attempts = ? WHERE row = ?", (number + 1, row))
        if before is not None:
            # The final record of a key is the last one that did not fail. The journal's parts are
            # read in any order, so the positions in the journal are compared.
            ranks = (before != "failed", Placed(*where).order)
            if (record.state != "failed", placed.order) < ranks:
                return
        self._do(
            "UPDATE samples SET state = ?, length = ?, seconds = ?, tokens = ?, reply_file = ?, "
            "reply_at = ?, reply_size = ? WHERE row = ?",
            (
                record.state,
                len(record.reply),
                record.times and record.times.total,
                record.usage and record.usage.output,
                *placed,
                row,
            ),
        )
        text = record.error.message if record.error is not None else record.reply
        self._do(
            "INSERT INTO shown (row, reply) VALUES (?, ?) "
            "ON CONFLICT DO UPDATE SET reply = excluded.reply",
            (row, excerpt(text, SHOWN)),
        )

    def _scores(self) -> bool:
        """Index the scores. Every scoring replaces the file of scores, so all scores are read again
        when the file has changed."""
        stamp = self._run.folder.stamp(SCORES)
        now = None if stamp is None else orjson.dumps([*stamp])
        known = self._do("SELECT value FROM known WHERE name = 'scores'").fetchone()
        if known is None or known[0] != now:
            self._do("DELETE FROM scores")
            self._do("DELETE FROM taken WHERE file = ?", (SCORES,))
            self._do("INSERT OR REPLACE INTO known VALUES ('scores', ?)", (now,))
            self._changed = True
        return self._take("samples", self._run.appended_scores, self._score)

    def _score(self, placed: Placed, score: ScoreRow) -> None:
        scored = self._scored(score.sample, score.repeat, score.step)
        if scored is None:
            return  # the sample is no longer in this run's files
        row, key = scored
        shown = None if score.answer is None else _words(score.answer)
        candidates = [*map(answer_words, score.candidates)]
        self._do(
            "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(score.scoring, row, score.score, score.state, score.rule),
                None if shown is None else excerpt(shown, 2 * SHOWN),
                orjson.dumps(candidates).decode() if candidates else None,
                _digest(key[:3]),
                _typed(score.answer),
            ),
        )

    def _scored(self, sample: str, repeat: int, step: int) -> tuple[int, Key] | None:
        """The row and key of the record that a score refers to: in the last turn of the sample, the
        step with the number `step`, or the last step if there is no such step. If turns are scored
        separately, `ID#2` stands for the second turn of the sample `ID`."""
        this = f"step = {step:d} DESC, " if step else ""
        last = f"ORDER BY turn DESC, {this}step DESC LIMIT 1"
        columns = "SELECT row, sample, repeat, turn, step FROM samples"
        values = self._do(
            f"{columns} WHERE sample = ? AND repeat = ? {last}", (sample, repeat)
        ).fetchone()
        conversation, mark, turn = sample.rpartition("#")
        if values is None and mark and turn.isdecimal() and turn.isascii():
            values = self._do(
                f"{columns} WHERE sample = ? AND repeat = ? AND turn = ? {last}",
                (conversation, repeat, int(turn[:9]) - 1),
            ).fetchone()
        return None if values is None else (values[0], Key(*values[1:]))

    def _event(self, placed: Placed, event: EventRecord) -> None:
        if event.ev == "open":
            self._many(
                "INSERT OR IGNORE INTO sessions VALUES (?, ?)",
                [(str(sample), event.session) for sample in event.data.get("samples", ())],
            )
        elif event.ev in ("frame", "ask", "emit", "end"):
            data = event.data
            at = data.get({"frame": "pts", "end": "media"}.get(event.ev, "at"))
            text = {"emit": data.get("text"), "end": data.get("reason")}.get(event.ev)
            if event.ev == "frame" and not data.get("delivered", True):
                text = "dropped"
            self._do(
                "INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?, ?, ?)",
                (
                    *(event.session, event.seq, event.ev),
                    at if isinstance(at, int | float) else None,
                    *(data.get("query"), text and str(text)[:EVENT_TEXT]),
                ),
            )

    def _index_question(self, placed: Placed, question: Question) -> None:
        prompts = (
            part for _, parts in question.messages for part in parts if isinstance(part, str)
        )
        answers = (question.target or "", *question.references, *question.choices)
        self._index_text(question.key, "\n".join((question.question, *prompts, *answers)))

    def _index_reply(self, placed: Placed, record: ReplyRecord) -> None:
        error = "" if record.error is None else record.error.message
        self._index_text(record.key, "\n".join((record.reply, record.reasoning or "", error)))

    def _index_text(self, key: Key, text: str) -> None:
        row = self._row(key)
        (number,) = self._do("SELECT texts FROM samples WHERE row = ?", (row,)).fetchone()
        if text.strip() and number < 1 << TEXTS:
            self._do("UPDATE samples SET texts = texts + 1 WHERE row = ?", (row,))
            doc = row << TEXTS | number
            self._do("INSERT INTO words (rowid, said) VALUES (?, ?)", (doc, apart(text)))


def _words(answer: Answer) -> str:
    """An answer as text. Strings stay unchanged, numbers and lists become JSON, and other answers
    become readable text."""
    plain = isinstance(answer, float | tuple)
    return orjson.dumps(answer).decode() if plain else answer_words(answer)


def _typed(answer: Answer | None) -> str | None:
    """The JSON of an answer that a line of text does not show in full: a box, a table, a long text.
    None for other answers, and for those that are too large."""
    is_long = isinstance(answer, str) and len(answer) > 2 * SHOWN
    is_typed = isinstance(answer, AnswerKind) and not isinstance(answer, ChoiceAnswer)
    if not (is_long or is_typed):
        return None
    text = msgspec.json.encode(answer)
    return text.decode() if len(text) <= TYPED else None


def _digest(key: Sequence[Any]) -> int:
    """A 64-bit digest of a key, for joins between runs."""
    return int.from_bytes(blake2b(orjson.dumps(key), digest_size=8).digest(), signed=True)


def apart(text: str) -> str:
    """Put spaces around each character that belongs to a script without spaces between words."""
    text = text.replace("\0", " ")  # SQLite would end the text at a NUL
    return text if text.isascii() else CLOSE_WRITTEN.sub(r" \g<0> ", text)


def phrase(text: str) -> str | None:
    """The full-text query for a text. A match contains the text's words in order, and the last word
    may be incomplete. None if the text contains no word."""
    words = re.findall(r"\w+", apart(text))
    return f'"{" ".join(words)}"*' if words else None
