"""Decoys for OVO-Bench's standing questions: questions to which a model should say nothing.

A model that speaks all the time hits many windows. A decoy is the question of another video, asked
about this video, so that any message is a false alarm. Decoys are Snellen's own: in OVO-Bench and
StreamingBench, the event of each question happens. PaSBench-Video (arXiv 2606.02443) counts false
alarms on videos without risk for the same reason.

Each decoy has a session of its own, so it does not change what the model says to other questions.
A decoy is asked at the time of the video's own question, and stays open as long. Among the
questions of the same task about other videos, it is one of those that share the fewest words with
the questions about this video. Nobody has checked that the event of a decoy does not happen by
chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from snellen.benchmarks.families import ovo_proactive
from snellen.core import Reading, Sample, Scoring
from snellen.metrics import streaming
from snellen.metrics.only_tagged import only_tagged
from snellen.metrics.streaming import Watch

Row = Mapping[str, Any]
"""A complete question from the annotation file, or a decoy."""
TAG = "decoy"
"""The tag of a sample that says whether it is a decoy: `yes` or `no`."""
FIELDS = {"REC": "activity", "SSR": "all_steps", "CRR": "question"}
"""For each task, the field with the question's own text."""
WORD = re.compile(r"[^\W\d_]{4,}")
"""Matches a word that may name a thing or an action. Most shorter words are articles and the
like."""


def with_decoys(every: Sequence[Row], tasks: Sequence[str]) -> Iterator[Row]:
    """Yield each question of these tasks, followed by its decoy. A decoy is taken from `every`
    question of the file, so that it does not depend on the selected tasks."""
    words_about: dict[str, set[str]] = {}
    for row in every:
        words_about.setdefault(row["video"], set()).update(_words(row))
    for row in every:
        if row["task"] in tasks:
            yield row
            others = [
                other
                for other in every
                if other["task"] == row["task"] and other["video"] != row["video"]
            ]
            if others:
                about = words_about[row["video"]]
                yield _decoy(row, min(others, key=lambda other: _rank(row, other, about)))


def _rank(row: Row, other: Row, about: set[str]) -> tuple[int, bytes]:
    """The sort key of a question as the decoy of `row`: the number of its words that occur in the
    questions about the video of `row`, and a random number."""
    drawn = blake2b(f"{row['id']} {other['id']}".encode(), digest_size=8).digest()
    return len(_words(other) & about), drawn


def _words(row: Row) -> set[str]:
    content = row[FIELDS[row["task"]]]
    text = content if isinstance(content, str) else " ".join(content)
    return {*WORD.findall(text.lower())}


def _decoy(row: Row, other: Row) -> Row:
    field = FIELDS[row["task"]]
    query = ovo_proactive.watch(row)
    return {
        "id": f"{row['id']}_decoy",
        "task": row["task"],
        "video": row["video"],
        "taken_from": other["id"],
        field: other[field],
        "ask_time": query.asked,
        "end": query.end,
    }


def watch(row: Row) -> Watch:
    """Return the windows of a question. A decoy has none."""
    if "taken_from" not in row:
        return ovo_proactive.watch(row)
    return Watch(task=row["task"], asked=row["ask_time"], end=row["end"], slots=())


def tags(row: Row) -> dict[str, str]:
    """Return the tag that says whether a question is a decoy."""
    return {TAG: "yes" if "taken_from" in row else "no"}


def is_decoy(sample: Sample) -> bool:
    return sample.tags.get(TAG) == "yes"


def score(reading: Reading, sample: Sample) -> float | None:
    """Return the score of a question. For a decoy, the score is 1 if the model said nothing while
    the decoy was open, and 0 if it said something or the reply is unparsed."""
    if not is_decoy(sample):
        return ovo_proactive.score(reading, sample)
    if not isinstance(reading.answer, str):
        return 0.0
    assert sample.target is not None
    return streaming.score_of_decoy(sample.target, reading.answer)


def scoring() -> Scoring:
    """The scoring of runs with decoys. Decoys have metrics of their own, and no other metric
    includes them."""
    own = {name: only_tagged(of, TAG, ("no",)) for name, of in streaming.METRICS.items()}
    of_decoys = {
        name: only_tagged(of, TAG, ("yes",)) for name, of in streaming.DECOY_METRICS.items()
    }
    return replace(ovo_proactive.scoring(), score=score, metrics=own | of_decoys)
