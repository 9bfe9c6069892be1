"""Decoys for OVO-Bench's standing questions: questions to which a model should say nothing.

A model that speaks all the time hits many windows. A decoy is the question of another video, asked
about this video, so that any message is a false alarm. Decoys are Snellen's own: the event of
each forward question of OVO-Bench, and of each proactive question of StreamingBench, happens.
PaSBench-Video (arXiv 2606.02443) counts false alarms on videos without risk for the same reason.

Each decoy has a session of its own, so it does not change what the model says to other questions.
A decoy is asked at the time of the video's own question, and stays open as long. Among the
questions of the same task about other videos, it is one of those that share the fewest words with
the questions about this video. Nobody has checked that the event of a decoy does not happen by
chance.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import Any

from snellen.benchmarks.families import ovo_proactive
from snellen.core import Reading, Sample, Scoring
from snellen.errors import DataError
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
COMMON, FEW = 0.25, 2
"""A word is common in a task if it occurs in the questions about more than this share of the task's
videos, and about more than this number of videos."""


def with_decoys(every: Sequence[Row], tasks: Sequence[str]) -> Iterator[Row]:
    """Yield each question of these tasks, followed by its decoy. A decoy is taken from `every`
    question of the file, so that it does not depend on the selected tasks."""
    words = _words_of_questions(every)
    about: dict[str, set[str]] = {}
    for row in every:
        about.setdefault(row["video"], set()).update(words[row["id"]])
    uses: Counter[Any] = Counter()
    used: set[tuple[str, Any]] = set()

    def rank(row: Row, other: Row) -> tuple[bool, int, int, bytes]:
        """The sort key of a question as the decoy of `row`: whether it was used for this video, how
        many of its words occur in the questions about this video, how often it was used, and a
        random number."""
        name, video = other["id"], row["video"]
        drawn = blake2b(f"{row['id']} {name}".encode(), digest_size=8).digest()
        return (video, name) in used, len(words[name] & about[video]), uses[name], drawn

    for row in every:
        if row["task"] not in tasks:
            continue
        yield row
        others = [
            other
            for other in every
            if other["task"] == row["task"] and other["video"] != row["video"]
        ]
        if others:
            decoy = min(others, key=partial(rank, row))
            uses[decoy["id"]] += 1
            used.add((row["video"], decoy["id"]))
            yield _decoy(row, decoy)


def _words_of_questions(rows: Sequence[Row]) -> dict[Any, set[str]]:
    """The words of each question, keyed by its id. Words that are common in the questions of a task
    are left out, since they do not say what a question is about."""
    words: dict[Any, set[str]] = {}
    videos: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        text = _text_of(row)
        words[row["id"]] = {*WORD.findall(text.lower())}
        for word in words[row["id"]]:
            videos.setdefault((row["task"], word), set()).add(row["video"])
    for row in rows:
        n = len({other["video"] for other in rows if other["task"] == row["task"]})
        most = max(FEW, COMMON * n)
        words[row["id"]] = {w for w in words[row["id"]] if len(videos[row["task"], w]) <= most}
    return words


def _text_of(row: Row) -> str:
    """The own text of a question.

    Raises:
        DataError: the question has no text, no video, or no id.
    """
    name, field = row.get("id"), FIELDS[row["task"]]
    content = row.get(field)
    texts: list[Any] = [*content] if isinstance(content, list | tuple) else [content]
    for part, is_right in (
        ("id", isinstance(name, int | str)),
        ("video", isinstance(row.get("video"), str)),
        (field, all(isinstance(text, str) for text in texts)),
    ):
        if not is_right:
            shown = repr(row.get(part))[:80]
            raise DataError(
                f"question {name!r} of OVO-Bench has the {part} {shown}, so decoys cannot be "
                "chosen. Check that the annotation file is the right one."
            )
    return " ".join(texts)


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
