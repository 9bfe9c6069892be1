"""Writes sample files in the format of lmms-eval's --log_samples, `{date}_samples_{task}.jsonl`.
Also writes the results file that lmms-eval writes next to a sample file.

Source: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
lmms_eval/loggers/evaluation_tracker.py, in `save_results_samples`. Fields that need lmms-eval's own
data are absent: the hash of the row in lmms-eval's data set, and lmms-eval's token counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from snellen.data import placed
from snellen.interop.exchange import RunFacts, RunSample, questions_of
from snellen.interop.lm_eval import (
    errors_of,
    mean_score,
    replies_of,
    scoring_facts,
    write_results,
)
from snellen.store import STEM, safe_name


def file_name(task: str, when: datetime) -> str:
    """The name of the sample file, which belongs in a folder named after the model."""
    before = f"{when:%Y%m%d_%H%M%S}_samples_"
    return f"{before}{safe_name(task, room=STEM - len(before))}.jsonl"


def write(
    path: Path, facts: RunFacts, samples: Iterable[RunSample], when: datetime, results: Path
) -> list[str]:
    """Write the samples to `path`, one line per question, and the metrics to `results`.

    The field `id` contains the sample's id, so that Snellen can read the file again. A failed reply
    is null. The field `resps` contains the replies to all repeats. The score and the reading of
    each scoring are stored under the scoring's name.

    Returns notes on what the files cannot represent.

    Raises:
        DataError: a file cannot be written.
    """
    several = False
    with placed(path) as part, open(part, "wb") as file:
        for repeats in questions_of(facts, samples):
            several |= len(repeats[0].turns) > 1
            file.write(orjson.dumps(_line(facts, repeats)) + b"\n")
    notes = []
    if facts.figures:
        write_results(results, facts, when)
        notes.append(f"the results of all samples are in {results}")
    if several:
        notes.append("only the last reply of each conversation is in the file")
    return notes


def _line(facts: RunFacts, repeats: list[RunSample]) -> dict[str, Any]:
    first, replies = repeats[0], replies_of(repeats)
    line: dict[str, Any] = {
        "doc_id": first.question.place,
        "target": first.question.target or "",
        "filtered_resps": replies if len(replies) > 1 else replies[0],
        "input": first.question.question,
        "id": first.id,
    }
    if facts.repeats > 1:
        line |= {"resps": [replies], "repeats": [sample.repeat for sample in repeats]}
    if errors := errors_of(repeats):
        line["errors"] = errors
    for figure in facts.first_figures:
        rows = [row for sample in repeats for row in sample.scores if row.scoring == figure.scoring]
        line[figure.scoring] = {
            "metric": figure.metric,
            "score": mean_score(rows),
            "readings": scoring_facts(repeats, figure.scoring),
        }
    return line


def results_name(when: datetime) -> str:
    """The name of the file of metrics."""
    return f"{when:%Y%m%d_%H%M%S}_results.json"
