"""Builds questions that ask a judge about several replies with one prompt.

The id of such a question, a batch, consists of the ids of the questions about single replies. The
verdict on a reply is therefore found by the reply's own id, whatever other replies shared its
prompt.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any
from weakref import WeakKeyDictionary

from snellen.core.sample import Sample
from snellen.data import Facts, Row, Table
from snellen.store import Run

_BETWEEN = re.compile(r"(?<=~[0-9a-f]{16})\+")
"""What separates two ids in the id of a batch. The id of a question about one reply ends in a
digest of the reply (`judged_id`)."""
Position = tuple[str, int, int]
"""The id of a batch, the position of a reply in the batch, and the number of its replies."""


class BatchTable:
    """A table of batches, made from a table with a question about each reply. The questions of a
    batch have the same key."""

    revision: str | None = None

    def __init__(self, questions: Table, key: Callable[[Sample], str]) -> None:
        self.where = questions.where
        self._questions = questions
        self._key = key

    def __iter__(self) -> Iterator[Row]:
        batches: dict[tuple[str, int], list[Row]] = {}
        rounds: Counter[str] = Counter()
        for row in self._questions:
            question = row["sample"]
            # Replies of several passes to one sample are in different batches.
            number = rounds[question.data["of"]]
            rounds[question.data["of"]] += 1
            batches.setdefault((self._key(question), number), []).append(row)
        for rows in batches.values():
            batch = _joined([row["sample"] for row in rows])
            digest = blake2b(batch.id.encode(errors="surrogatepass"), digest_size=8).hexdigest()
            yield Row({"sample": batch}, rows[0].position, digest)

    def facts(self) -> Facts:
        return Facts(rows=sum(1 for _ in self), digest=self._questions.facts().digest)


def _joined(questions: Sequence[Sample]) -> Sample:
    first = questions[0]
    members = [
        {
            "id": question.id,
            "question": question.question,
            "choices": list(question.choices),
            "target": question.target,
            "references": list(question.references),
            "tags": dict(question.tags),
            "data": dict(question.data),
        }
        for question in questions
    ]
    name = "+".join(question.id for question in questions)
    return replace(first, id=name, choices=(), data={"batch": members})


def members(question: Sample) -> Sequence[Sample]:
    """The questions about single replies that a question to a judge consists of."""
    batch: Any = question.data.get("batch")
    if batch is None:
        return (question,)
    return tuple(
        Sample(
            id=member["id"],
            question=member["question"],
            choices=tuple(member["choices"]),
            target=member["target"],
            references=tuple(member["references"]),
            tags=member["tags"],
            data=member["data"],
        )
        for member in batch
    )


_INDEXES: WeakKeyDictionary[Run, Mapping[str, Sequence[Position]]] = WeakKeyDictionary()


def positions(judging: Run, name: str) -> Sequence[Position]:
    """Where a judge's run asks about the reply with this id, the largest batch first."""
    if judging not in _INDEXES:
        index: dict[str, list[Position]] = {}
        for question in judging.questions():
            names = _BETWEEN.split(question.key.sample)
            for number, member in enumerate(names):
                index.setdefault(member, []).append((question.key.sample, number, len(names)))
        _INDEXES[judging] = {
            member: sorted(set(batches), key=lambda position: -position[2])
            for member, batches in index.items()
        }
    return _INDEXES[judging].get(name, ())
