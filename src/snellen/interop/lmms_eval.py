"""Writes sample files like those of lmms-eval's --log_samples, `{date}_samples_{task}.jsonl`, and
the file of results that lmms-eval writes with them. Reads the repeats in such files.

Source: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
lmms_eval/loggers/evaluation_tracker.py, in `save_results_samples`, and lmms_eval/evaluator.py for
the fields of a sample. `doc_hash` is absent, because it is a digest of lmms-eval's own data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from snellen.data import placed
from snellen.interop.exchange import RunFacts, RunSample, media_of, questions_of
from snellen.interop.lm_eval import (
    errors_of,
    mean_score,
    replies_of,
    scoring_facts,
    write_results,
)
from snellen.store import STEM, safe_name

SCORE = "score"
"""The field that lmms-eval's --baseline reads as a sample's score. If the field is absent,
--baseline compares `filtered_resps` with `target` (lmms_eval/baselines/loader.py#L136-L157)."""
RANKED = re.compile(r"\(-?[\d.]+(e[-+]?\d+)?, (True|False)\)")
"""A log-probability, and whether the model would have chosen the text, as one text."""


def file_name(task: str, when: datetime) -> str:
    """The name of the file. It belongs in a folder named after the model."""
    before = f"{_date(when)}_samples_"
    return f"{before}{safe_name(task, room=STEM - len(before))}.jsonl"


def write(
    path: Path, facts: RunFacts, samples: Iterable[RunSample], when: datetime, results: Path
) -> list[str]:
    """Write the samples to `path`, one line per question, and the metrics to `results`.

    `id` is the sample's id, so that the file can be read again. `score` is the headline's score; a
    question without a score lacks the field. A failed reply is null. If questions are repeated,
    `filtered_resps` has the first reply, and `resps` has all replies. The score and the reading of
    each scoring are stored under the scoring's name.

    Returns notes on what the files cannot hold, and on how lmms-eval reads the samples.

    Raises:
        DataError: a file cannot be written.
    """
    several = False
    unscored = 0
    with placed(path) as part, open(part, "wb") as file:
        for repeats in questions_of(facts, samples):
            several |= len(repeats[0].turns) > 1
            line = _line(facts, repeats)
            unscored += SCORE not in line and bool(line["filtered_resps"] and line["target"])
            file.write(orjson.dumps(line) + b"\n")
    notes = []
    if facts.figures:
        write_results(results, facts, _date(when))
        notes.append(f"the results of all samples are in {results}")
    if unscored:
        notes.append(
            f"{unscored:,} lines have a reply but no score. lmms-eval's --baseline scores these "
            "replies itself, by comparing them with the target"
        )
    if facts.scores_turns:
        notes.append(
            "the turns of a conversation have the same doc_id. lmms-eval's --baseline reads only "
            "the last of them"
        )
    if several:
        notes.append("only the last reply of each conversation is in the file")
    return notes


def _line(facts: RunFacts, repeats: list[RunSample]) -> dict[str, Any]:
    first, replies = repeats[0], replies_of(repeats)
    line: dict[str, Any] = {
        "doc_id": first.question.place,
        "target": first.question.target or "",
        "filtered_resps": replies[0],
        "token_counts": [_token_counts(first)],
        "input": first.question.question,
        "id": first.id,
    }
    if facts.repeats > 1:
        line |= {"resps": replies, "repeats": [sample.repeat for sample in repeats]}
    if media := media_of(first):
        line["media"] = media
    if errors := errors_of(repeats):
        line["errors"] = errors
    for figure in facts.first_figures:
        rows = [row for sample in repeats for row in sample.scores if row.scoring == figure.scoring]
        score = mean_score(rows)
        if figure is facts.headline and score is not None:
            line[SCORE] = score
        line[figure.scoring] = {
            "metric": figure.metric,
            "score": score,
            "readings": scoring_facts(repeats, figure.scoring),
        }
    return line


def _token_counts(sample: RunSample) -> dict[str, int] | None:
    """The token counts of the only turn; None if the server did not report any."""
    record = sample.last
    if len(sample.turns) > 1 or record is None or record.usage is None:
        return None
    counts = {
        "input_tokens": record.usage.input,
        "output_tokens": record.usage.output,
        "reasoning_tokens": record.usage.reasoning,
    }
    return {kind: count for kind, count in counts.items() if count is not None}


def results_name(when: datetime) -> str:
    """The name of the file of metrics."""
    return f"{_date(when)}_results.json"


def _date(when: datetime) -> str:
    return f"{when:%Y%m%d_%H%M%S}"


# -- reading


def responses(row: Mapping[str, Any]) -> list[tuple[object, str | None]] | None:
    """The responses to a repeated question, as pairs (repeat, response); None if the row has only
    one response or another structure.

    In `resps`, lmms-eval stores the responses to a repeated question as a flat list, and its
    filters keep the first of them in `filtered_resps`. If both fields are lists, they may also be
    the rounds of one conversation, or choices that were ranked.
    """
    texts = row.get("resps")
    if "doc_id" not in row or isinstance(row.get("filtered_resps"), list):
        return None
    if not isinstance(texts, list) or not all(
        text is None or isinstance(text, str) for text in texts
    ):
        return None
    numbers = row.get("repeats")
    if isinstance(numbers, list) and len(numbers) == len(texts):
        return [*zip(numbers, texts, strict=True)]  # in our own files
    return [*enumerate(texts)] if len(texts) > 1 and not _ranked(texts) else None


def _ranked(texts: Sequence[str | None]) -> bool:
    return all(text is not None and RANKED.fullmatch(text) for text in texts)
