"""Run folders made through the store, and viewers of them in processes of their own."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from snellen.core.model import ReplyState
from snellen.store import FORMAT, Failure, Key, Question, ReplyRecord, Run, ScoreRow

SCORING = "official"


def question(sample: str, row_index: int = 0, *, turn: int = 0, **other: Any) -> Question:
    """A question of text alone, unless `other` says more."""
    fields: dict[str, Any] = {
        "question": f"What is {sample}?",
        "messages": [("user", [f"What is {sample}?"])],
        **other,
    }
    key = Key(sample, fields.pop("repeat", 0), turn, fields.pop("step", 0))
    return Question(format=FORMAT, key=key, place=row_index, row="0" * 32, **fields)


def reply(
    sample: str, text: str = "", state: ReplyState = "ok", *, turn: int = 0, **other: Any
) -> ReplyRecord:
    """A reply, or with the state `failed` a failure of which `text` is the reason."""
    error = Failure(type="Overloaded", message=text) if state == "failed" else None
    return ReplyRecord(
        format=FORMAT,
        key=Key(sample, other.pop("repeat", 0), turn, other.pop("step", 0)),
        kind="reply",
        request="1" * 32,
        state=state,
        at="2026-01-01T00:00:00.000Z",
        reply="" if error else text,
        error=error,
        **other,
    )


def score(sample: str, value: float | None, scoring: str = SCORING, **other: Any) -> ScoreRow:
    """What a scoring made of a sample's reply."""
    known: dict[str, Any] = {"state": "answered", "rule": "a letter", "repeat": 0, **other}
    return ScoreRow(
        format=FORMAT, sample=sample, scoring=scoring, version=1, reply="ok", score=value, **known
    )


def run_in(
    path: Path,
    questions: Sequence[Question] = (),
    replies: Sequence[ReplyRecord] = (),
    scores: Sequence[ScoreRow] = (),
    **manifest: Any,
) -> Run:
    """A run folder with these records, still open for appending."""
    run = Run(path)
    path.mkdir(parents=True, exist_ok=True)
    model = path.parent.name
    run.put_manifest(
        {
            "benchmark": "mine",
            "model": model,
            "identity": {"benchmark": "mine", "asks": 1, "options": {}, "model": model},
            "data": "mine.jsonl",
            "rows": len(questions),
            "repeats": 1,
            "missing": None,
            "notes": [],
            "sessions": [],
            **manifest,
        }
    )
    for record in questions:
        run.append_question(record)
    for other in replies:
        run.append_reply(other)
    put_scores(run, scores)
    return run


def put_scores(run: Run, scores: Sequence[ScoreRow]) -> None:
    """The run's scores, in the place of earlier ones."""
    if scores:
        encode = msgspec.json.Encoder().encode
        run.folder.put_atomic("scores.jsonl", b"".join(encode(row) + b"\n" for row in scores))


class Got(NamedTuple):
    """An answer of a viewer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


class Viewer(NamedTuple):
    """A viewer that runs."""

    address: str
    folder: Path
    process: subprocess.Popen[bytes]

    def get(self, path: str, method: str = "GET", **headers: str) -> Got:
        request = urllib.request.Request(
            self.address + path.removeprefix("/"), method=method, headers=headers
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return Got(answer.status, dict(answer.headers), answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Got(error.code, dict(error.headers), error.read())


@contextlib.contextmanager
def viewing(folder: Path, *more: Path, options: Sequence[str] = ()) -> Iterator[Viewer]:
    """`snellen view` of folders."""
    folders = map(str, (folder, *more))
    command = [
        sys.executable,
        "-m",
        "snellen",
        "view",
        *folders,
        "--port",
        "0",
        "--no-open",
        *options,
    ]
    with subprocess.Popen(
        [*command, "--no-open", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        try:
            started = msgspec.json.decode(process.stdout.readline())
            yield Viewer(started["address"], folder, process)
        finally:
            process.terminate()
            process.wait(10)
