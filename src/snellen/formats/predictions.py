"""Anybody's predictions: a file of rows with an id and a reply, in JSONL, JSON, CSV or TSV, gzipped
or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snellen.datasets import rows_of
from snellen.errors import DataError

IDS = ("id", "index", "question_id", "questionId", "sample", "pid", "qid")
REPLIES = ("response", "prediction", "reply", "output", "answer", "text", "model_output")


@dataclass(frozen=True)
class Predictions:
    """Replies by sample id, and what had to be said while reading them."""

    replies: Mapping[str, str]
    where: str
    notes: Sequence[str]


def read(path: Path) -> Predictions:
    """The predictions of a file.

    Raises:
        DataError: the file cannot be read, has no column of ids or of replies, or gives one id two
        replies.
    """
    replies: dict[str, str] = {}
    notes: list[str] = []
    columns: tuple[str, str] | None = None
    doubled = without = 0
    for row in rows_of(path):
        if columns is None:
            columns = (_column(path, row, IDS, "ids"), _column(path, row, REPLIES, "replies"))
            notes.append(f"ids read from {columns[0]!r}, replies from {columns[1]!r}")
        name, text = row.get(columns[0]), row.get(columns[1])
        if name is None:
            raise DataError(f"{path.name}: row {row.place} has no {columns[0]!r}.")
        if text is None:
            without += 1
            continue
        if not isinstance(text, str):
            text = str(text)
        if (before := replies.get(str(name))) is None:
            replies[str(name)] = text
        elif before == text:
            doubled += 1
        else:
            raise DataError(
                f"{path.name}: the id {name!r} has two replies, the second in row "
                f"{row.place}. Keep one of them."
            )
    if not replies:
        raise DataError(f"{path.name}: no row has a reply.")
    if doubled:
        notes.append(f"{doubled:,} rows say again what an earlier row said: counted once")
    if without:
        notes.append(f"{without:,} rows have an id and no reply")
    return Predictions(replies, path.name, notes)


def _column(path: Path, row: Mapping[str, Any], names: Iterable[str], what: str) -> str:
    for name in names:
        if name in row:
            return name
    raise DataError(
        f"{path.name}: no column of {what}. It has {', '.join(row)}; {what} are looked for in "
        f"{', '.join(names)}."
    )
